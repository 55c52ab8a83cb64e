"""The reader of workbooks (xlsx, xls, ods), for small files and code lists.

A column of integers becomes integers, one of numbers decimals, and one with any text is text
throughout, its numbers written as a code would be (``3``, not ``3.0``). TRUE and FALSE are 1 and
0, dates ISO text. Empty rows are left out. Rows are numbered as the sheet shows them.
"""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from sdcensus.documents.workbooks.ranges import check_workbook
from sdcensus.errors import InputError, MissingExtra, unknown
from sdcensus.ingest.readers.columns import (
    BATCH_ROWS,
    ColumnKind,
    SourceColumn,
    checked_names,
    in_slices,
    positions,
    same_columns,
)
from sdcensus.ingest.readers.files import check_file
from sdcensus.ingest.readers.text import LARGEST_WHOLE, canonical_number
from sdcensus.model.schema.source import FileSource

#: A sheet with a million rows of a hundred cells takes about so many bytes.
LARGEST_UNPACKED = 4 << 30

#: A cell after reading: an integer, a fraction, text, or nothing.
Cell = int | float | str | None


@dataclass(frozen=True, slots=True)
class _Sheet:
    path: Path
    values: dict[str, list[Cell]]


class ExcelReader:
    """Reads a sheet of one workbook, or of several with the same columns."""

    def __init__(self, source: FileSource) -> None:
        for path in source.paths:
            check_file(path, source.format)
        self._sheets = tuple(_table(path, source.sheet) for path in source.paths)
        names = tuple(self._sheets[0].values)
        for other in self._sheets[1:]:
            same_columns(names, tuple(other.values), file=other.path.name, as_in=self.name)
        self._kinds = {
            name: _kind([value for sheet in self._sheets for value in sheet.values[name]])
            for name in names
        }

    @property
    def name(self) -> str:
        """The name of the (first) file."""
        return self._sheets[0].path.name

    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(self._kinds)

    def columns(self) -> tuple[SourceColumn, ...]:
        """The columns that the first row names."""
        return tuple(SourceColumn(name, kind) for name, kind in self._kinds.items())

    def rows(self) -> int | None:
        """The number of rows below the header."""
        return sum(len(next(iter(sheet.values.values()))) for sheet in self._sheets)

    def batches(
        self, columns: Sequence[str], *, rows: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """The asked columns in the order of the sheet."""
        positions(columns, tuple(self._kinds), file=self.name)
        return self._batches(tuple(columns), rows)

    def _batches(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        for sheet in self._sheets:
            arrays = [_array(sheet.values[name], self._kinds[name]) for name in columns]
            batch = pa.RecordBatch.from_arrays(arrays, names=list(columns))
            yield from in_slices(batch, rows)


def read_sheet(path: Path, sheet: str | None) -> list[list[Cell]]:
    """All the cells of a sheet, from its first row and column on."""
    with _open_book(path) as book:
        names = list(book.sheet_names)
        if sheet is not None and sheet not in names:
            raise InputError(f"{path.name}: {unknown('sheet', sheet, names)}")
        if not names:
            raise InputError(f"{path.name}: the workbook has no sheet.")
        return _cells(book, sheet or names[0])


def read_book(path: Path) -> dict[str, list[list[Cell]]]:
    """All the cells of all sheets of a workbook by their titles."""
    with _open_book(path) as book:
        return {title: _cells(book, title) for title in book.sheet_names}


def _cells(book: Any, title: str) -> list[list[Cell]]:
    rows = book.get_sheet_by_name(title).to_python(skip_empty_area=False)
    return [[_cell(value) for value in row] for row in rows]


@contextmanager
def _open_book(path: Path) -> Iterator[Any]:
    """An open workbook; whatever the library raises about it becomes an InputError."""
    try:
        import python_calamine as calamine
    except ImportError as error:
        raise MissingExtra("formats", needed_for="Reading Excel files") from error
    check_workbook(path, name=path.name, largest=LARGEST_UNPACKED, what="census file")
    try:
        with calamine.CalamineWorkbook.from_path(path) as book:
            yield book
    except calamine.PasswordError as error:
        raise InputError(
            f"{path.name}: the workbook is protected by a password. Save it without one."
        ) from error
    except (calamine.CalamineError, OSError) as error:
        raise InputError(
            f"{path.name}: the workbook cannot be read. It is damaged, cut off or not a workbook."
        ) from error


def sheet_names(path: Path) -> list[str]:
    """The titles of the sheets of a workbook."""
    with _open_book(path) as book:
        return list(book.sheet_names)


def sheets_with(path: Path, columns: Sequence[str]) -> list[str]:
    """The sheets of a workbook whose first row names all these columns."""
    import python_calamine as calamine

    with calamine.CalamineWorkbook.from_path(path) as book:
        sheets = list(book.sheet_names)
    names = {sheet: next(iter(read_sheet(path, sheet)), []) for sheet in sheets}
    return [
        sheet
        for sheet, titles in names.items()
        if set(columns) <= {str(title).strip() for title in titles}
    ]


def _cell(value: Any) -> Cell:
    if isinstance(value, bool):
        return int(value)
    if isinstance(value, int | float):
        whole = value == value and abs(value) <= LARGEST_WHOLE and value == int(value)
        return int(value) if whole else float(value)
    if isinstance(value, str):
        return value if value.strip() else None
    if isinstance(value, datetime.date | datetime.time):
        return value.isoformat()
    return None if value is None else str(value)


def _table(path: Path, sheet: str | None) -> _Sheet:
    rows = [row for row in read_sheet(path, sheet) if any(value is not None for value in row)]
    if not rows:
        raise InputError(f"{path.name}: the sheet is empty. Its first row names the columns.")
    names = ["" if value is None else str(value).strip() for value in rows[0]]
    if not any(names):
        raise InputError(f"{path.name}: the first row of the sheet names no columns.")
    checked_names(names, file=path.name)
    body = rows[1:]
    return _Sheet(
        path,
        {name: [row[place] for row in body] for place, name in enumerate(names) if name},
    )


def _kind(values: list[Cell]) -> ColumnKind:
    if any(isinstance(value, str) for value in values):
        return ColumnKind.TEXT
    if any(isinstance(value, float) for value in values):
        return ColumnKind.DECIMAL
    return ColumnKind.INTEGER


def _array(values: list[Cell], kind: ColumnKind) -> pa.Array:
    if kind is ColumnKind.INTEGER:
        return pa.array(values, pa.int64())
    if kind is ColumnKind.DECIMAL:
        return pa.array([None if value is None else float(value) for value in values], pa.float64())
    return pa.array([cell_text(value) for value in values], pa.string())


def cell_text(value: Cell) -> str | None:
    """The text of a cell; a number is written as a code would be."""
    return value if value is None or isinstance(value, str) else canonical_number(value)
