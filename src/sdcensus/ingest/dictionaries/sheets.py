"""The cells of a dictionary that is a table: a csv file or the sheets of a workbook."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdcensus.documents.workbooks.small_tables import EXCEL_ENDINGS
from sdcensus.errors import InputError
from sdcensus.ingest.readers.excel import cell_text, read_book
from sdcensus.ingest.readers.files import check_file, text_encoding
from sdcensus.model.schema.source import FileFormat

#: A dictionary that is larger is none.
LARGEST_TEXT = 256 * 1024 * 1024
_DELIMITERS = (",", ";", "\t", "|")
_LINES_TO_TRY = 200


@dataclass(frozen=True, slots=True)
class Row:
    """A row with its number as the file shows it."""

    number: int
    cells: tuple[str, ...]

    def cell(self, column: int | None) -> str:
        """The text of a cell; empty beyond the end of the row."""
        return self.cells[column] if column is not None and column < len(self.cells) else ""


@dataclass(frozen=True, slots=True)
class Sheet:
    """The filled rows of a sheet; a csv file is one sheet without a title."""

    title: str
    rows: tuple[Row, ...]

    @property
    def width(self) -> int:
        """How many columns there are."""
        return max((len(row.cells) for row in self.rows), default=0)


def is_workbook(path: Path) -> bool:
    """Whether the ending is that of a workbook."""
    return path.suffix.lower() in EXCEL_ENDINGS


def read_sheets(path: Path, encoding: str | None = None) -> list[Sheet]:
    """All sheets that hold anything.

    Raises:
        InputError: The file cannot be read.
    """
    if is_workbook(path):
        check_file(path, FileFormat.EXCEL)
        sheets = [
            Sheet(title, tuple(_filled([cell_text(cell) or "" for cell in row] for row in rows)))
            for title, rows in read_book(path).items()
        ]
    else:
        check_file(path, FileFormat.CSV)
        sheets = [Sheet("", tuple(_filled(_csv_rows(path, encoding))))]
    filled = [sheet for sheet in sheets if sheet.rows]
    if not filled:
        raise InputError(f"{path.name}: the dictionary is empty.")
    return filled


def read_text(path: Path, encoding: str | None = None) -> str:
    """The text of a file: in the encoding that is named, or UTF-8, UTF-16, or that of Windows."""
    if path.stat().st_size > LARGEST_TEXT:
        raise InputError(
            f"{path.name}: a dictionary of more than {LARGEST_TEXT >> 20} MB is not read."
        )
    raw = path.read_bytes()
    wide = raw.startswith((b"\xff\xfe", b"\xfe\xff"))
    named = [text_encoding(encoding, file=path.name)] if encoding is not None else []
    for codec in ("utf-16" if wide else "utf-8-sig", *named, "cp1252", "latin-1"):
        try:
            return raw.decode(codec)
        except UnicodeError:
            continue
    raise InputError(f"{path.name}: the text cannot be read. Save it as UTF-8.")


def _filled(rows: Iterator[list[str]]) -> Iterator[Row]:
    for number, cells in enumerate(rows, start=1):
        plain = tuple(" ".join(cell.split(" ")).strip() for cell in cells)
        if any(plain):
            yield Row(number, plain)


def _csv_rows(path: Path, encoding: str | None) -> Iterator[list[str]]:
    text = read_text(path, encoding)
    if "\0" in text:
        raise InputError(f"{path.name}: this is no text, and no dictionary of a known kind.")
    delimiter = max(_DELIMITERS, key=lambda sign: _regularity(text, sign))
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    try:
        yield from reader  # an empty line is a row without fields, and keeps its number
    except csv.Error:
        raise InputError(
            f"{path.name}: line {reader.line_num} cannot be read as csv. A quotation mark may be"
            " missing."
        ) from None


def _regularity(text: str, delimiter: str) -> int:
    """How many rows a delimiter splits into the usual number of fields, if that is above one."""
    lines = text.splitlines()[:_LINES_TO_TRY]
    try:
        widths = [len(row) for row in csv.reader(lines, delimiter=delimiter) if row]
    except csv.Error:
        return 0
    several = [width for width in widths if width > 1]
    if not several:
        return 0
    usual = max(set(several), key=several.count)
    return several.count(usual) * min(usual, 6)
