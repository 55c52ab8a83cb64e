"""Small tables that people write by hand, as csv or in a workbook: code lists and layouts."""

from __future__ import annotations

import csv
import io
from pathlib import Path

from sdcensus.documents.toml.lines import plain_text, read_small_file
from sdcensus.documents.workbooks.files import LARGEST_UNPACKED
from sdcensus.documents.workbooks.ranges import check_workbook
from sdcensus.errors import DocumentError, InputError, MissingExtra, Mistake

#: A table that is larger was not written by hand.
LARGEST_TABLE = 64 * 1024 * 1024
EXCEL_ENDINGS = frozenset({".xlsx", ".xls", ".xlsm", ".ods"})

_DELIMITERS = (",", ";", "\t")

#: A line and its fields.
Row = tuple[int, list[str]]


def small_table(path: Path, *, what: str, content: bytes | None = None) -> list[Row]:
    """The rows of a csv file or of the first sheet of a workbook, with their lines.

    Args:
        path: The file; a workbook by its ending, csv otherwise (delimited by comma, semicolon or
            tab, in UTF-8).
        what: What the file is, for messages.
        content: What will stand in it, if it is not written yet.
    """
    if content is None:
        content = read_small_file(path, what=what, largest=LARGEST_TABLE)
    is_workbook = path.suffix.lower() in EXCEL_ENDINGS
    return _excel_rows(path, content, what) if is_workbook else _csv_rows(path, content)


def delimiter_of(text: str) -> str:
    """What separates the fields of a small table: what its first line has most of."""
    header = next((line for line in text.splitlines() if line.strip()), "")
    return max(_DELIMITERS, key=header.count)


def _csv_rows(path: Path, content: bytes) -> list[Row]:
    text = plain_text(path, content, save_as="csv UTF-8")
    delimiter = delimiter_of(text)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[Row] = []
    line = 1
    try:
        for fields in reader:
            rows.append((line, [field.strip() for field in fields]))
            line = reader.line_num + 1
    except csv.Error:
        text = "This line cannot be read as csv; a double quote may be missing."
        raise DocumentError(str(path), [Mistake(line, text)]) from None
    return rows


def _excel_rows(path: Path, content: bytes, what: str) -> list[Row]:
    check_workbook(io.BytesIO(content), name=str(path), largest=LARGEST_UNPACKED, what=what)
    try:
        import python_calamine
    except ImportError:
        raise MissingExtra("formats", needed_for=f"Reading the Excel file {path}") from None
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        sheet = book.get_sheet_by_index(0).to_python(skip_empty_area=False)
    except Exception:  # the reader has error types of its own for each of its file formats
        raise InputError(f"{path} cannot be read as an Excel file.") from None
    return [
        (number, [_excel_text(value) for value in values])
        for number, values in enumerate(sheet, start=1)
    ]


def _excel_text(value: object) -> str:
    """The text of a cell; whole numbers without the fraction that Excel gives them."""
    if isinstance(value, float) and value.is_integer():
        return str(int(value))
    return str(value).strip()
