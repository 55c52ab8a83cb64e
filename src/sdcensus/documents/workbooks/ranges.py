"""How large a workbook is before it is read: its used ranges, and its parts when unpacked.

Readers of workbooks make room for every cell between the first and the last one of a sheet. A file
of 1.5 kB with a cell in each of two corners asks for 17 thousand million of them, and one of a few
megabytes can hold terabytes of spaces; both end the process instead of raising an error. Nothing
that a file says about its own size is believed here.
"""

from __future__ import annotations

import re
import zipfile
import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO
from xml.parsers import expat

from sdcensus.errors import InputError

#: More cells than this are read of no sheet, full or empty.
MOST_CELLS = 100_000_000
#: Ranges of more cells than this must be filled at least to one cell in so many.
MOST_SPARSE, SPARSE = 10_000_000, 20
_COLUMNS, _ROWS = 16_384, 1_048_576
_CHUNK = 1 << 20
#: No cell of a spreadsheet holds a text as long as this.
_LONGEST_TEXT = 4 * _CHUNK
_MOST_PARTS = 10_000
_ZIP = b"PK\x03\x04"
_DAMAGED = (zipfile.BadZipFile, zlib.error, ValueError, OSError, EOFError, NotImplementedError)

_SHEET = re.compile(rb"<(?:[\w.-]+:)?worksheet[\s>]")
_CELL = re.compile(rb"<(?:[\w.-]+:)?c(?=[\s/>])")
#: A cell as all known programs write it: its place comes first.
_USUAL = re.compile(rb'<(?:[\w.-]+:)?c r="([A-Za-z]{1,3})([0-9]{1,7})"')
_ELEMENT = re.compile(rb"""<(?:[\w.-]+:)?(c|row)(?=[\s/>])((?:[^>"']|"[^"]*"|'[^']*')*)""")
_PLACE = re.compile(rb"""(?:^|\s)r\s*=\s*["']([A-Za-z]*)([0-9]*)["']""")


def check_workbook(
    source: Path | IO[bytes], *, name: str, largest: int, what: str = "table of this program"
) -> None:
    """Refuse a workbook whose sheets or parts are too large to be read.

    Files that are no packages (``.xls``) are left to their reader: such sheets have at most
    65,536 rows of 256 cells.

    Args:
        source: The file, or its content.
        name: The file in messages.
        largest: How many bytes it may have when it is unpacked.
        what: What it is meant to be.

    Raises:
        InputError: It is too large, damaged, or of a kind that is not read.
    """
    if not _is_package(source):
        return
    try:
        with zipfile.ZipFile(source) as package:
            parts = package.infolist()
            names = [part.filename for part in parts]
            if "xl/workbook.bin" in names:
                raise InputError(f"{name} is a binary workbook (.xlsb). Save it as .xlsx.")
            if any(part.flag_bits & 1 for part in parts):
                raise InputError(f"{name} is locked with a password. Save it without one.")
            if len(parts) > _MOST_PARTS or len(set(names)) != len(names):
                raise _damaged(name)
            room = largest
            sheets = _sheet_names(package, largest)
            for part in parts:
                room -= _check_part(package, part, name, sheets, room, largest, what)
    except _DAMAGED:
        raise _damaged(name) from None
    finally:
        if not isinstance(source, Path):
            source.seek(0)


def _damaged(name: str) -> InputError:
    return InputError(
        f"{name} cannot be read as an Excel file: it is no workbook, or a damaged one."
    )


def _is_package(source: Path | IO[bytes]) -> bool:
    if isinstance(source, Path):
        try:
            with source.open("rb") as file:
                return file.read(len(_ZIP)) == _ZIP
        except OSError:
            return False  # its reader says what is wrong
    start = source.read(len(_ZIP))
    source.seek(0)
    return start == _ZIP


def _check_part(
    package: zipfile.ZipFile,
    part: zipfile.ZipInfo,
    name: str,
    sheets: dict[str, str],
    room: int,
    largest: int,
    what: str,
) -> int:
    """Unpack a part without keeping it; how large it is."""
    size = 0
    rest = b""
    used: _Used | None = None
    tables = _OdsTables() if part.filename == "content.xml" else None
    for chunk in _chunks(package, part):
        size += len(chunk)
        if size > room:
            raise InputError(
                f"{name} is larger than {largest // 2**20:,} MB when it is unpacked, so it cannot"
                f" be a {what}. Save what is needed of it in a new file, or as csv."
            )
        if tables is not None:
            tables.feed(chunk)
        elif used is None and size == len(chunk) and _SHEET.search(chunk[:_CHUNK]):
            used = _Used()
        if used is not None:
            whole = rest + chunk
            at = whole.rfind(b"<")
            # What follows the last sign of an element may go on in the next chunk.
            whole, rest = (whole, b"") if at < 0 else (whole[:at], whole[at:])
            used.see(whole)
            if len(rest) > _LONGEST_TEXT or b"\x00" in chunk:
                raise _damaged(name)
    if tables is not None:
        tables.finish()
        for sheet, ods_used in tables.used.items():
            ods_used.check(name, sheet)
    if used is not None:
        used.see(rest)
        used.check(name, sheets.get(part.filename, part.filename))
    return size


def _chunks(package: zipfile.ZipFile, part: zipfile.ZipInfo) -> Iterator[bytes]:
    """A part as it really is: what the package says about its size is not believed."""
    declared = part.file_size
    real = zipfile.ZipInfo(part.filename, part.date_time)
    for attribute in ("CRC", "compress_size", "compress_type", "flag_bits", "header_offset"):
        setattr(real, attribute, getattr(part, attribute))
    real.orig_filename = part.orig_filename
    real.file_size = 1 << 62
    size = 0
    with package.open(real) as file:
        while chunk := file.read(_CHUNK):
            size += len(chunk)
            yield chunk
    if size != declared:
        raise zipfile.BadZipFile(part.filename)


@dataclass(slots=True)
class _Used:
    """The used range of a sheet, from 1 on, and how many cells of it are there."""

    row: int = 0
    column: int = 0
    cells: int = 0
    _columns: set[bytes] = field(default_factory=set)

    def see(self, text: bytes) -> None:
        """Take note of the cells in a piece of the part of a sheet."""
        cells = len(_CELL.findall(text))
        usual = _USUAL.findall(text)
        if len(usual) == cells:
            self._place({letters for letters, _ in usual}, (int(number) for _, number in usual))
        else:
            self._see_unusual(text)
        self.cells += cells

    def _see_unusual(self, text: bytes) -> None:
        for found in _ELEMENT.finditer(text):
            element, attributes = found.groups()
            if text[found.end() : found.end() + 1] != b">":
                raise ValueError("an element without an end")
            place = _PLACE.search(attributes)
            if place is not None and place[2]:
                self._place({place[1]} if element == b"c" else set(), [int(place[2])])
            elif element == b"c":
                # It stands behind the one before it, wherever that is.
                self.column = min(self.column + 1, _COLUMNS)
            else:
                self.row = min(self.row + 1, _ROWS)

    def _place(self, columns: set[bytes], rows: Iterable[int]) -> None:
        self.row = max(self.row, max(rows, default=0))
        for letters in columns - self._columns:
            number = 0
            for letter in letters.upper():
                number = 26 * number + letter - 64
            self.column = max(self.column, number)
        self._columns |= columns

    def check(self, name: str, sheet: str) -> None:
        """Refuse a range that is too large, or large and nearly empty."""
        area = self.row * self.column
        if area <= MOST_SPARSE or (area <= MOST_CELLS and area <= SPARSE * self.cells):
            return
        last = cell_name(self.row - 1, self.column - 1)
        why = (
            f"too many cells ({area:,}) to be read"
            if area > MOST_CELLS and area <= SPARSE * self.cells
            else f"{area:,} cells of which nearly all are empty"
        )
        raise InputError(
            f"{name}: the sheet {sheet!r} uses the range A1:{last}, {why}. Delete the rows and"
            " columns behind the last ones that are needed (whole, with Delete rows and Delete"
            " columns), and save it again; or save the sheet as csv."
        )


def _sheet_names(package: zipfile.ZipFile, largest: int) -> dict[str, str]:
    """The names of sheets by their parts, as far as they can be told; for messages."""
    texts = []
    for name in ("xl/workbook.xml", "xl/_rels/workbook.xml.rels"):
        if name not in package.namelist():
            return {}
        with package.open(name) as file:
            texts.append(file.read(min(_CHUNK, largest)))
    ids: dict[str, str] = {}
    for element in re.findall(rb"<(?:[\w.-]+:)?sheet\s([^>]*)>", texts[0]):
        title, known = _attribute(element, b"name"), _attribute(element, b"[\\w.-]+:id")
        ids[known] = title
    found = {}
    for element in re.findall(rb"<(?:[\w.-]+:)?Relationship\s([^>]*)>", texts[1]):
        target = _attribute(element, b"Target")
        part = target.lstrip("/") if target.startswith("/") else f"xl/{target}"
        if _attribute(element, b"Id") in ids:
            found[part] = ids[_attribute(element, b"Id")]
    return found


def _attribute(element: bytes, name: bytes) -> str:
    match = re.search(rb"(?:^|\s)" + name + rb"\s*=\s*[\"']([^\"']*)", element)
    return "" if match is None else match[1].decode("utf-8", "replace")[:100]


class _OdsTables:
    """The used ranges of the tables of an ``.ods`` file, repeated rows and cells included."""

    def __init__(self) -> None:
        self.used: dict[str, _Used] = {}
        self._table = ""
        self._row = self._repeat = self._column = 0
        self._filled: tuple[int, int] | None = None
        self._last: tuple[int, int] | None = None
        self._parser = expat.ParserCreate(namespace_separator=" ")
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.EntityDeclHandler = self._refuse

    def feed(self, chunk: bytes) -> None:
        """Read a piece of the content."""
        try:
            self._parser.Parse(chunk, False)
        except expat.ExpatError:
            raise ValueError("content") from None

    def finish(self) -> None:
        """Read the end."""
        try:
            self._parser.Parse(b"", True)
        except expat.ExpatError:
            raise ValueError("content") from None

    def _refuse(self, *_: object) -> None:
        raise ValueError("entities")

    def _start(self, element: str, attributes: dict[str, str]) -> None:
        name = element.rpartition(" ")[2]
        plain = {key.rpartition(" ")[2]: value for key, value in attributes.items()}
        if name == "table":
            self._table = plain.get("name", "")
            self._row = 0
            self.used.setdefault(self._table, _Used())
        elif name == "table-row":
            self._repeat = int(plain.get("number-rows-repeated", "1"))
            self._column, self._filled = 0, None
        elif name in ("table-cell", "covered-table-cell"):
            repeat = int(plain.get("number-columns-repeated", "1"))
            self._column += repeat
            self._last = (self._column, repeat)
            if "value-type" in plain:
                self._fill()
        elif name == "p" and self._last is not None:
            self._fill()

    def _fill(self) -> None:
        if self._last is not None:
            column, repeat = self._last
            self._filled = (column, repeat + (0 if self._filled is None else self._filled[1]))
            self._last = None

    def _end(self, element: str) -> None:
        if element.rpartition(" ")[2] != "table-row":
            return
        self._row += self._repeat
        used = self.used.get(self._table)
        if used is not None and self._filled is not None:
            used.row = max(used.row, self._row)
            used.column = max(used.column, self._filled[0])
            # A cell that is written once and repeated a million times is one cell.
            used.cells += 1


def cell_name(row: int, column: int) -> str:
    """A cell as spreadsheets call it, from positions that begin with 0.

    Examples:
        >>> cell_name(0, 0), cell_name(4, 27)
        ('A1', 'AB5')
    """
    return f"{column_name(column)}{row + 1}"


def column_name(column: int) -> str:
    """A column as spreadsheets call it, from a position that begins with 0."""
    letters = ""
    column += 1
    while column:
        column, rest = divmod(column - 1, 26)
        letters = chr(ord("A") + rest) + letters
    return letters
