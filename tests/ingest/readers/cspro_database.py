"""A small writer of CSPro databases, after the tables that CSPro 8 makes."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

_STATIC = """
CREATE TABLE meta (schema_version INTEGER NOT NULL, cspro_version TEXT NOT NULL,
  dictionary TEXT NOT NULL, dictionary_structure TEXT NOT NULL, dictionary_timestamp INT NOT NULL);
CREATE TABLE file_revisions (id INTEGER NOT NULL PRIMARY KEY, device_id TEXT NOT NULL,
  timestamp INTEGER NOT NULL default (strftime('%s','now')));
CREATE TABLE cases (id TEXT NOT NULL, `key` TEXT NOT NULL, label TEXT,
  questionnaire TEXT NOT NULL, last_modified_revision INTEGER NOT NULL,
  deleted INTEGER NOT NULL DEFAULT 0, file_order REAL NOT NULL UNIQUE,
  verified INTEGER NOT NULL DEFAULT 0, partial_save_mode TEXT NULL);
CREATE TABLE notes (case_id TEXT NOT NULL, field_name TEXT NOT NULL);
"""

#: The answers of a case: id items, then for each record type its occurrences.
Case = tuple[Mapping[str, Any], Mapping[str, Sequence[Mapping[str, Any]]]]


def write_csdb(
    path: Path,
    dictionary: Mapping[str, Any] | str,
    cases: Sequence[Case],
    *,
    deleted: Sequence[int] = (),
    version: int = 3,
) -> Path:
    """Write cases of one level; numbers are REAL, as CSPro binds them."""
    text = dictionary if isinstance(dictionary, str) else json.dumps(dictionary)
    level = json.loads(text)["levels"][0] if text.startswith("{") else {}
    database = sqlite3.connect(path)
    database.executescript(_STATIC)
    row = (version, "CSPro 8.0.1", text, "0" * 32, 0)
    database.execute("INSERT INTO meta VALUES (?, ?, ?, ?, ?)", row)
    ids = _columns(level.get("ids", {}).get("items", []))
    _create(database, "level-1", ['"case-id" TEXT NOT NULL'], ids)
    for record in level.get("records", []):
        occurs = ['"level-1-id" INTEGER NOT NULL', "occ INTEGER NOT NULL DEFAULT 1"]
        _create(database, record["name"].lower(), occurs, _columns(record["items"]))
    for number, (identity, records) in enumerate(cases, start=1):
        # The order of the cases is not that of the rows.
        case = (f"case-{number}", "k", "", "", 1, int(number - 1 in deleted), float(-number))
        database.execute(
            "INSERT INTO cases (id, key, label, questionnaire, last_modified_revision, deleted,"
            " file_order) VALUES (?, ?, ?, ?, ?, ?, ?)",
            case,
        )
        _insert(database, "level-1", {"case-id": f"case-{number}", **identity})
        for record, occurrences in records.items():
            for place, answers in enumerate(occurrences, start=1):
                _insert(database, record, {"level-1-id": number, "occ": place, **answers})
    database.commit()
    database.close()
    return path


def _columns(items: Sequence[Mapping[str, Any]]) -> dict[str, str]:
    columns: dict[str, str] = {}
    for item in items:
        kind = "INTEGER" if item.get("contentType", "numeric") == "numeric" else "TEXT"
        times = item.get("occurrences", {}).get("maximum", 1)
        name = item["name"].lower()
        names = [name] if times == 1 else [f"{name}({place})" for place in range(1, times + 1)]
        columns |= dict.fromkeys(names, kind)
    return columns


def _create(
    database: sqlite3.Connection, table: str, links: list[str], columns: Mapping[str, str]
) -> None:
    own = [f'"{table}-id" INTEGER NOT NULL PRIMARY KEY', *links]
    own += [f'"{name}" {kind}' for name, kind in columns.items()]
    database.execute(f'CREATE TABLE "{table}" ({", ".join(own)})')


def _insert(database: sqlite3.Connection, table: str, values: Mapping[str, Any]) -> None:
    names = ", ".join(f'"{name}"' for name in values)
    marks = ", ".join("?" for _ in values)
    floats = [float(value) if isinstance(value, int) else value for value in values.values()]
    database.execute(f'INSERT INTO "{table}" ({names}) VALUES ({marks})', floats)
