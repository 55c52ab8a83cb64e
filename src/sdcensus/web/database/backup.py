"""Copies of a database: a SQLite file, or lines of JSON that any database can take in again."""

from __future__ import annotations

import base64
import hashlib
import json
import secrets
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, BinaryIO

from sqlalchemy import Connection, LargeBinary, Table, delete, func, insert, select, update
from sqlalchemy.exc import SQLAlchemyError

from sdcensus.errors import InputError, OutputError, SdcensusError
from sdcensus.model.text import parse_json
from sdcensus.session.office.private_files import make_private_file, open_private_file
from sdcensus.web.database.link import Link, open_link
from sdcensus.web.database.schema import (
    FLEETING,
    LASTING,
    METADATA,
    STEPS,
    Instant,
    audit_head,
    migrate,
    text_time,
    time_text,
)

_KIND = "sdcensus-database"
_FORMAT = 1
_ROWS_AT_ONCE = 1_000
_LONGEST_LINE = 4_000_000

Row = dict[str, Any]
Rows = Iterator[tuple[Table, Row]]


def write_backup(link: Link, target: Path) -> None:
    """Copy a database, while it is in use, to a new file that only its owner can read.

    A database of SQLite becomes one, unless the name of the file ends with ``.jsonl``. Sessions
    and the keys of pseudonyms are left out.

    Raises:
        OutputError: The file exists or cannot be written.
    """
    if target.exists():
        raise OutputError(f"{target} already exists. Choose another name or remove it first.")
    if not target.parent.is_dir():
        raise OutputError(f"The folder {target.parent} does not exist.")
    if link.file is None or target.suffix == ".jsonl":
        _write_lines(link, target)
    else:
        _copy_file(link.file, target)


def read_backup(link: Link, source: Path) -> tuple[tuple[str, int], ...]:
    """Fill an empty database from a backup; how many rows each table got.

    Raises:
        InputError: The file is not a backup, is damaged, or is of a newer version.
        OutputError: The database is not empty.
    """
    try:
        with source.open("rb") as file:
            head = file.read(16)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{source} cannot be read: {reason}.") from None
    if head.startswith(b"SQLite format 3"):
        with tempfile.TemporaryDirectory() as folder:
            # A copy, since reading an old version brings it to the newest.
            copy = Path(folder) / "backup.db"
            with source.open("rb") as old, open_private_file(copy) as new:
                shutil.copyfileobj(old, new)
            return _fill(link, source, _rows_of_file(source, copy, link))
    _check_lines(source)
    return _fill(link, source, _rows_of_lines(source))


# ---------------------------------------------------------------- SQLite


def _copy_file(file: Path, target: Path) -> None:
    beside = target.parent / f".{secrets.token_hex(8)}.part"
    try:
        make_private_file(beside)
        with (
            closing(sqlite3.connect(file, timeout=10)) as source,
            closing(sqlite3.connect(beside, isolation_level=None)) as copy,
        ):
            source.backup(copy)
            copy.execute("PRAGMA journal_mode = DELETE")
            copy.execute("PRAGMA secure_delete = ON")
            for table in FLEETING:
                copy.execute(f'DELETE FROM "{table.name}"')
            copy.execute("VACUUM")
            if copy.execute("PRAGMA integrity_check").fetchone() != ("ok",):
                raise OutputError(f"{file} is damaged; its copy cannot be used as a backup.")
        beside.replace(target)
    except (sqlite3.Error, OSError) as error:
        raise OutputError(f"The backup {target} cannot be written: {error}.") from None
    finally:
        with suppress(OSError):
            beside.unlink(missing_ok=True)


def _rows_of_file(source: Path, copy: Path, link: Link) -> Rows:
    old = open_link(copy, clock=link.clock)
    try:
        with old.writing() as connection:
            migrate(connection, where=str(source))
        with old.reading() as connection:
            yield from _rows_of(connection)
    except OutputError:
        raise InputError(f"{source} is a damaged file of SQLite, and no backup.") from None
    finally:
        old.close()


def _rows_of(connection: Connection) -> Rows:
    for table in LASTING:
        rows = connection.execute(
            select(table).order_by(*table.primary_key.columns),
            execution_options={"yield_per": _ROWS_AT_ONCE},
        )
        for row in rows:
            yield table, dict(row._mapping)


# ---------------------------------------------------------------- lines of JSON


def _write_lines(link: Link, target: Path) -> None:
    with link.reading() as connection, open_private_file(target) as file:
        written = _Lines(file)
        moment = time_text(link.clock())
        written.line({_KIND: _FORMAT, "version": len(STEPS), "made": moment})
        rows = 0
        for table, row in _rows_of(connection):
            written.line({"table": table.name, "row": _plain(table, row)})
            rows += 1
        written.line({"rows": rows, "sha256": written.digest()})


class _Lines:
    """Lines of JSON, and the hash of all of them so far."""

    def __init__(self, file: BinaryIO) -> None:
        self._file, self._hash = file, hashlib.sha256()

    def line(self, values: Row) -> None:
        data = json.dumps(values, ensure_ascii=False, sort_keys=True).encode("utf-8") + b"\n"
        self._hash.update(data)
        self._file.write(data)

    def digest(self) -> str:
        return self._hash.hexdigest()


def _check_lines(source: Path) -> None:
    """Refuse a file that is cut off or changed before a row of it is read."""
    known, rows, last = hashlib.sha256(), -2, b""
    with source.open("rb") as file:
        head = file.readline(_LONGEST_LINE)
        _check_head(source, head)
        line = head
        while line:
            if last:
                known.update(last)
            rows += 1
            last, line = line, file.readline(_LONGEST_LINE)
    end = _read_line(source, last)
    if end.get("sha256") != known.hexdigest() or end.get("rows") != rows:
        raise InputError(f"{source} is cut off or was changed. Take another backup.")


def _check_head(source: Path, line: bytes) -> None:
    head = _read_line(source, line)
    if _KIND not in head:
        raise InputError(f"{source} is not a backup of the accounts of a table builder.")
    if head[_KIND] != _FORMAT or not 0 < int(head.get("version", 0)) <= len(STEPS):
        raise InputError(
            f"{source} was written by a newer version of sdcensus. Install the newer version."
        )


def _read_line(source: Path, line: bytes) -> Row:
    try:
        values = parse_json(line)
    except (ValueError, UnicodeDecodeError):
        values = None
    if not isinstance(values, dict):
        raise InputError(f"{source} is not a backup of the accounts of a table builder.")
    return values


def _rows_of_lines(source: Path) -> Rows:
    with source.open("rb") as file:
        for line in file:
            values = _read_line(source, line)
            if "table" in values:
                table = METADATA.tables.get(values["table"])
                if table is None or not isinstance(values.get("row"), dict):
                    raise InputError(f"{source} holds a table that is not known.")
                yield table, _typed(table, values["row"])


def _plain(table: Table, row: Row) -> Row:
    """A row as values of JSON."""
    plain = {}
    for name, value in row.items():
        kind = table.c[name].type
        if value is not None and isinstance(kind, Instant):
            value = time_text(value)
        elif isinstance(kind, LargeBinary):
            value = base64.b64encode(value).decode("ascii")
        plain[name] = value
    return plain


def _typed(table: Table, plain: Row) -> Row:
    """The opposite."""
    row = {}
    for name, value in plain.items():
        kind = table.c[name].type
        if value is not None and isinstance(kind, Instant):
            value = text_time(value)
        elif isinstance(kind, LargeBinary):
            value = base64.b64decode(value)
        row[name] = value
    return row


# ---------------------------------------------------------------- into an empty database


def _fill(link: Link, source: Path, rows: Rows) -> tuple[tuple[str, int], ...]:
    counts = {table.name: 0 for table in LASTING}
    try:
        with link.writing() as connection:
            _require_empty(connection, link.shown)
            for table, group in _groups(rows):
                if table is audit_head:
                    # There is one already, and it may only grow.
                    if group[0]["sequence"]:
                        connection.execute(update(audit_head).values(**group[0]))
                else:
                    connection.execute(insert(table), group)
                counts[table.name] += len(group)
    except SdcensusError:
        raise
    except (SQLAlchemyError, ValueError, KeyError, TypeError):
        raise InputError(f"{source} holds rows that do not fit. Take another backup.") from None
    return tuple(counts.items())


def _require_empty(connection: Connection, shown: str) -> None:
    for table in LASTING:
        count = connection.execute(select(func.count()).select_from(table)).scalar_one()
        if count > (table is audit_head) and table.name != "keys":
            raise OutputError(
                f"{shown} is not empty (table {table.name}). A backup is restored into a new"
                " database: give another name with --database."
            )
    # The keys of the new database itself: those of the backup take their place.
    connection.execute(delete(METADATA.tables["keys"]))


def _groups(rows: Rows) -> Iterator[tuple[Table, list[Row]]]:
    """Rows of one table, some at a time."""
    current: Table | None = None
    group: list[Row] = []
    for table, row in rows:
        if table is not current or len(group) == _ROWS_AT_ONCE:
            if current is not None and group:
                yield current, group
            current, group = table, []
        group.append(row)
    if current is not None and group:
        yield current, group
