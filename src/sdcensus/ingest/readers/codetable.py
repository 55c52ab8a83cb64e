"""Small tables that people write by hand: code lists and layouts, as csv or in a workbook."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from pathlib import Path

from sdcensus.errors import InputError
from sdcensus.ingest.readers.csvfile import read_header
from sdcensus.ingest.readers.excel import read_sheet
from sdcensus.ingest.readers.files import check_file
from sdcensus.ingest.readers.transcode import Utf8Stream, first_invalid_utf8, undecodable
from sdcensus.model.source import FORMAT_OF_ENDING, FileFormat


def read_code_table(
    path: Path, *, sheet: str | None = None, encoding: str = "utf-8"
) -> list[tuple[int, dict[str, str]]]:
    """Read a small table whose first row names the columns.

    Names are lower-cased, values trimmed; numbers of a workbook are written without a fraction
    where they have none. Empty rows are left out.

    Args:
        path: A csv file (any delimiter among ``, ; tab |``), or a workbook by its ending.
        sheet: The sheet of a workbook; the first one if not given.
        encoding: The encoding of a csv file.

    Returns:
        For each row the number of its (first) line and its values by column.
    """
    kind = FORMAT_OF_ENDING.get(path.suffix.lower(), FileFormat.CSV)
    if kind is FileFormat.EXCEL:
        check_file(path, kind)
        rows = _sheet_rows(path, sheet)
    else:
        check_file(path, FileFormat.CSV)
        rows = _csv_rows(path, encoding)
    _, header = next(rows)
    names = [name.lower() for name in header]
    _check_names(names, path)
    table = []
    for line, row in rows:
        extra = [place for place, text in enumerate(row) if text and not _named(names, place)]
        if extra:
            raise InputError(
                f"{path.name}: line {line} has a value in column {extra[0] + 1}, which has no "
                "name. A text that contains the delimiter needs quotation marks around it."
            )
        table.append((line, {name: row[at] for at, name in enumerate(names) if name}))
    return table


def _named(names: list[str], place: int) -> bool:
    return place < len(names) and bool(names[place])


def _check_names(names: list[str], path: Path) -> None:
    twice = [name for place, name in enumerate(names) if name and name in names[:place]]
    if twice:
        raise InputError(f"{path.name}: two columns have the name {twice[0]!r}.")


def _csv_rows(path: Path, encoding: str) -> Iterator[tuple[int, list[str]]]:
    header = read_header(path, encoding, None)
    with Utf8Stream(path, encoding) as stream:
        text = io.TextIOWrapper(io.BufferedReader(stream, 1 << 16), "utf-8", newline="")
        reader = csv.reader(text, delimiter=header.delimiter, strict=True)
        line = 1
        try:
            for row in reader:
                values = [value.strip() for value in row]
                if any(values):
                    if len(values) < len(header.fields):
                        raise InputError(
                            f"{path.name}: line {line} has {len(values)} fields, the header has "
                            f"{len(header.fields)}. Write the delimiters of empty fields too."
                        )
                    yield line, values
                line = reader.line_num + 1
        except csv.Error as error:
            raise InputError(
                f"{path.name}: the quotation marks of line {line} do not match."
            ) from error
        except UnicodeDecodeError as error:
            place = first_invalid_utf8(path) or (error.start + 1, line)
            raise InputError(undecodable(path, "utf-8", *place)) from error


def _sheet_rows(path: Path, sheet: str | None) -> Iterator[tuple[int, list[str]]]:
    found = False
    for number, row in enumerate(read_sheet(path, sheet), start=1):
        values = ["" if value is None else str(value).strip() for value in row]
        if any(values):
            found = True
            yield number, values
    if not found:
        raise InputError(f"{path.name}: the sheet is empty.")
