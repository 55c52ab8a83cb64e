"""The CSPro database (``.csdb``): cases in the tables of an SQLite file, with their dictionary.

The dictionary stands in the table ``meta``. Each case is a row of ``cases``; the id items of level
N are columns of the table ``level-N``, and each record type has a table of its own name, in small
letters, whose rows point to their level. An item that occurs several times has the columns
``name(1)``, ``name(2)``; it is called ``NAME_1``, ``NAME_2`` here as in a text file. Values are
text in the form that the text file has: zeros in front where the dictionary asks for them. Cases
that were deleted are passed over.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa

from sdcensus.errors import InputError
from sdcensus.ingest.readers.dcf import Dictionary, Item, Record, dictionary_of
from sdcensus.ingest.readers.files import check_file
from sdcensus.ingest.readers.record_type import RecordTypeReader
from sdcensus.model.schema.source import FileSource

_BEGINNING = b"SQLite format 3\0"
#: From this version on the values of cases stand in tables; before, each case is one text.
_WITH_TABLES = 3


class CsdbReader(RecordTypeReader):
    """Reads the records of one type from one CSPro database, or from several."""

    def __init__(self, source: FileSource) -> None:
        super().__init__(source, read_csdb_dictionary(source.paths[0]))
        self._queries = tuple(_Query(path, self._record) for path in source.paths)

    def _batches(self, items: list[Item], rows: int) -> Iterator[pa.RecordBatch]:
        schema = pa.schema([(item.name, pa.string()) for item in items])
        for query in self._queries:
            for records in query.records(items, rows):
                arrays = [
                    pa.array([_text(record[at], item) for record in records], pa.string())
                    for at, item in enumerate(items)
                ]
                yield pa.RecordBatch.from_arrays(arrays, schema=schema)


def read_csdb_dictionary(path: Path) -> Dictionary:
    """The dictionary that a database holds.

    Raises:
        InputError: The file is no CSPro database, or one from before CSPro kept values in tables.
    """
    check_file(path)
    with path.open("rb") as stream:
        if stream.read(len(_BEGINNING)) != _BEGINNING:
            raise InputError(
                f"{path.name}: this is not a CSPro database. If it is locked with a password"
                " (.csdbe), export it from CSPro without one."
            )
    with _opened(path) as database:
        row = database.execute("SELECT schema_version, dictionary FROM meta").fetchone()
    if row is None or not isinstance(row[1], str):
        raise InputError(f"{path.name}: the database holds no CSPro dictionary.")
    if not isinstance(row[0], int) or row[0] < _WITH_TABLES:
        raise InputError(
            f"{path.name}: the database is of an early CSPro 7, which kept each case as one text."
            " Open it in a newer CSPro and save it again, or export it as text (.dat)."
        )
    return dictionary_of(row[1], path.name)


class _Query:
    """The tables of one database that hold the items of a record."""

    def __init__(self, path: Path, record: Record) -> None:
        self._path = path
        with _opened(path) as database:
            tables = {
                str(row[0]).lower(): str(row[0])
                for row in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
            }
            own = tables.get(record.name.lower())
            if own is None or "level-1" not in tables:
                raise InputError(
                    f"{path.name}: the database has no table for the record type {record.name!r}."
                    " Open it in CSPro and save it again."
                )
            columns = {own: _column_names(database, own)}
            links = [re.fullmatch(r"level-(\d)-id", name) for name in columns[own]]
            depth = max((int(link[1]) for link in links if link is not None), default=1)
            levels = [f"level-{number}" for number in range(depth, 0, -1)]
            columns |= {level: _column_names(database, level) for level in levels}
        self._columns = {item.name: _column(item, columns, path) for item in record.items}
        joins = "".join(
            f" JOIN {_quoted(level)} ON {_quoted(level)}.{_quoted(f'{level}-id')} ="
            f" {_quoted(inner)}.{_quoted(f'{level}-id')}"
            for inner, level in zip([own, *levels], levels, strict=False)
        )
        order = f"cases.file_order, {_quoted(own)}.rowid"
        self._from = (
            f' FROM {_quoted(own)}{joins} JOIN cases ON cases.id = "level-1"."case-id"'
            f" WHERE cases.deleted = 0 ORDER BY {order}"
        )

    def records(self, items: Sequence[Item], rows: int) -> Iterator[list[tuple[Any, ...]]]:
        """The values of the items, so many records at a time."""
        wanted = ", ".join(self._columns[item.name] for item in items)
        with _opened(self._path) as database:
            answer = database.execute(f"SELECT {wanted}{self._from}")
            while records := answer.fetchmany(rows):
                yield records


def _column(item: Item, columns: dict[str, set[str]], path: Path) -> str:
    """The column of an item: in the table of its record, or in that of a level."""
    plain = item.name.lower()
    repeated = re.fullmatch(r"(.+)_(\d+)", plain)
    names = [plain, *([f"{repeated[1]}({repeated[2]})"] if repeated else [])]
    for name in names:
        for table, known in columns.items():
            if name in known:
                return f"{_quoted(table)}.{_quoted(name)}"
    raise InputError(
        f"{path.name}: the item {item.name!r} of the dictionary has no column. Open the file in"
        " CSPro, which brings it up to date, and save it."
    )


def _column_names(database: sqlite3.Connection, table: str) -> set[str]:
    return {str(row[1]).lower() for row in database.execute(f"PRAGMA table_info({_quoted(table)})")}


def _quoted(name: str) -> str:
    doubled = name.replace('"', '""')
    return f'"{doubled}"'


@contextmanager
def _opened(path: Path) -> Iterator[sqlite3.Connection]:
    """The database, for reading only; what the library says about it becomes an InputError."""
    database = None
    try:
        database = sqlite3.connect(f"{path.absolute().as_uri()}?mode=ro&immutable=1", uri=True)
        yield database
    except sqlite3.Error:
        raise InputError(
            f"{path.name}: the database cannot be read. It is damaged, or no CSPro database."
        ) from None
    finally:
        if database is not None:
            database.close()


def _text(value: Any, item: Item) -> str | None:
    """A value as it stands in a text file, without blanks."""
    if value is None or isinstance(value, bytes):
        return None
    if isinstance(value, str):
        return value.strip() or None
    if item.decimals and item.numeric:
        return f"{value:.{item.decimals}f}"
    text = str(int(value)) if float(value).is_integer() else repr(value)
    return text.zfill(item.width) if item.zero_fill else text
