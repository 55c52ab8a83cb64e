"""Cells of a sheet of an ``.xlsx`` package, found and changed without touching anything else.

The parser only tells where cells stand. What is changed is changed in the bytes, so that styles,
formulas, and whatever else a sheet holds stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat
from xml.sax.saxutils import escape

from sdcensus.documents.workbooks.ranges import column_name

_REF = re.compile(r"\$?([A-Z]{1,3})\$?([0-9]{1,7})")
_TYPE = re.compile(rb"""\s+t\s*=\s*("[^"]*"|'[^']*')""")
#: A tag; what stands in quotes may hold the sign that ends it.
_WHOLE_TAG = re.compile(rb"""<(?:[^"'>]|"[^"]*"|'[^']*')*>""")
_TAG = re.compile(rb"<((?:[\w.-]+:)?)c\b")
_ENCODING = re.compile(rb"""<\?xml[^>]*encoding\s*=\s*["']([A-Za-z0-9._-]+)["']""")
#: Kinds of formulas whose results fill a range, in which other cells hold results only.
_FILL_A_RANGE = ("array", "dataTable")
#: Signs that XML cannot hold, and one that no cell needs.
_UNWRITABLE = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]")


class NotReadableError(ValueError):
    """A part of the package cannot be read; the text says why."""


@dataclass(frozen=True, slots=True)
class SheetCell:
    """A cell that holds something.

    Attributes:
        name: Such as ``B5``.
        kind: What its type attribute says.
        text: Its value as it stands there; for shared texts their number.
        start, end: Where it stands in the part.
        formula: Whether a formula makes its value.
        value: Where its value element stands, if it has one.
    """

    name: str
    kind: str
    text: str
    start: int
    end: int
    formula: bool = False
    value: tuple[int, int] | None = None

    @property
    def is_number(self) -> bool:
        """Whether it holds a number."""
        return self.kind in ("", "n") and bool(self.text)


@dataclass(slots=True)
class Sheet:
    """The cells of a sheet that hold something, and its merged ranges.

    Attributes:
        content: The part as it stands in the package.
        cells: Its cells, by name.
        ranges: Its merged ranges, such as ``B4:D4``.
        results: The ranges that one formula fills with its results.
    """

    content: bytes
    cells: dict[str, SheetCell] = field(default_factory=dict)
    ranges: list[str] = field(default_factory=list)
    results: list[str] = field(default_factory=list)

    def at(self, name: str) -> SheetCell | None:
        """The cell of that name; within a merged range, the one that shows its text."""
        if name in self.cells:
            return self.cells[name]
        for merged in self.ranges:
            if _is_inside(name, merged):
                return self.cells.get(merged.partition(":")[0])
        return None

    def is_result(self, cell: SheetCell) -> bool:
        """Whether a formula makes the value of a cell: its own, or one that fills a range."""
        return cell.formula or any(_is_inside(cell.name, filled) for filled in self.results)


def _is_inside(name: str, cell_range: str) -> bool:
    first, _, last = cell_range.partition(":")
    if not last:
        return False
    (left, top), (right, bottom) = split_name(first), split_name(last)
    column, row = split_name(name)
    inside = column_number(left) <= column_number(column) <= column_number(right)
    return inside and top <= row <= bottom


def parser_for(content: bytes) -> Any:
    """A parser that expands no entities, for a part in UTF-8."""
    encoding = _ENCODING.match(content.removeprefix(b"\xef\xbb\xbf")[:200])
    if content[:2] in (b"\xff\xfe", b"\xfe\xff") or (
        encoding is not None and encoding[1].lower() not in (b"utf-8", b"utf8", b"us-ascii")
    ):
        raise NotReadableError("it is not written in UTF-8. Save it anew in a spreadsheet program")
    parser = expat.ParserCreate(namespace_separator=" ")
    parser.buffer_text = True

    def no_declarations(*_: object) -> None:
        raise NotReadableError("it has declarations that no workbook needs")

    parser.StartDoctypeDeclHandler = no_declarations
    return parser


def local(name: str) -> str:
    """The name of an element without its namespace."""
    return name.rpartition(" ")[2]


def parse(parser: Any, content: bytes) -> None:
    """Run a parser over a part."""
    try:
        parser.Parse(content, True)
    except expat.ExpatError:
        raise NotReadableError("it is damaged") from None


def read_sheet(content: bytes) -> Sheet:
    """Find the cells of a sheet."""
    finder = _Finder(content)
    parse(finder.parser, content)
    return finder.sheet


class _Finder:
    """Follows the parser through a sheet."""

    def __init__(self, content: bytes) -> None:
        self.content = content
        self.sheet = Sheet(content)
        self.parser = parser_for(content)
        self.parser.StartElementHandler = self.start
        self.parser.EndElementHandler = self.finish
        self.parser.CharacterDataHandler = self.characters
        self.row, self.column = 0, 0
        self.inside: list[str] = []
        self.name, self.kind, self.text, self.begin = "", "", "", 0
        self.formula, self.value_start = False, 0
        self.value: tuple[int, int] | None = None

    def start(self, element: str, attributes: dict[str, str]) -> None:
        name = local(element)
        self.inside.append(name)
        if name == "row":
            self.row = int(attributes["r"]) if attributes.get("r", "").isdecimal() else self.row + 1
            self.column = 0
        elif name == "c":
            self.name = attributes.get("r") or f"{column_name(self.column)}{self.row}"
            if _REF.fullmatch(self.name) is None:
                raise NotReadableError("it is damaged")
            self.column = column_number(split_name(self.name)[0])
            self.kind, self.text = attributes.get("t", ""), ""
            self.begin, self.formula, self.value = self.parser.CurrentByteIndex, False, None
        elif name == "v" and self._in_cell():
            self.value_start = self.parser.CurrentByteIndex
        elif name == "f" and self._in_cell():
            self.formula = True
            if attributes.get("t") in _FILL_A_RANGE:
                self.sheet.results.append(attributes.get("ref", ""))
        elif name == "mergeCell":
            self.sheet.ranges.append(attributes.get("ref", ""))

    def finish(self, element: str) -> None:
        name = local(element)
        self.inside.pop()
        if name == "v" and self._in_cell():
            self.value = (self.value_start, self._after(self.value_start))
        elif name == "c":
            cell = SheetCell(
                self.name,
                self.kind,
                self.text,
                self.begin,
                self._after(self.begin),
                self.formula,
                self.value,
            )
            if cell.text or cell.formula:
                self.sheet.cells[self.name] = cell

    def characters(self, text: str) -> None:
        # The text of a cell, or of its runs; not that of formulas or of readings in phonetic signs.
        last = self.inside[-1] if self.inside else ""
        if "c" not in self.inside or "rPh" in self.inside:
            return
        if last == "v" or (last == "t" and "is" in self.inside):
            self.text += text

    def _in_cell(self) -> bool:
        return "c" in self.inside

    def _after(self, start: int) -> int:
        """Where the element ends that starts there, and whose end the parser has reached."""
        end = tag_end(self.content, start)
        if self.content.endswith(b"/>", start, end):
            # Of an element without content the parser tells the place behind it.
            return end
        return tag_end(self.content, self.parser.CurrentByteIndex)


def tag_end(content: bytes, start: int) -> int:
    """Where the tag ends that starts there."""
    match = _WHOLE_TAG.match(content, start)
    if match is None:
        raise NotReadableError("it is damaged")
    return match.end()


def shared_texts(content: bytes) -> list[str]:
    """The texts that cells share."""
    texts: list[str] = []
    inside: list[str] = []
    parser = parser_for(content)

    def start(element: str, _: dict[str, str]) -> None:
        inside.append(local(element))
        if inside[-1] == "si":
            texts.append("")

    def characters(text: str) -> None:
        if inside and inside[-1] == "t" and "rPh" not in inside and texts:
            texts[-1] += text

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: inside.pop()
    parser.CharacterDataHandler = characters
    parse(parser, content)
    return texts


# ------------------------------------------------------------------ changing


def with_number(sheet: Sheet, cell: SheetCell, number: str) -> tuple[int, int, bytes]:
    """The change that makes a cell hold a number, in its own style."""
    prefix, head = _head(sheet, cell, b"")
    value = f"<{prefix}v>{number}</{prefix}v></{prefix}c>".encode()
    return cell.start, cell.end, head + value


def with_text(sheet: Sheet, cell: SheetCell, text: str) -> tuple[int, int, bytes]:
    """The change that makes a cell hold a text, in its own style."""
    prefix, head = _head(sheet, cell, b' t="inlineStr"')
    plain = escape(_UNWRITABLE.sub("", text))
    inner = f'<{prefix}is><{prefix}t xml:space="preserve">{plain}</{prefix}t></{prefix}is>'
    return cell.start, cell.end, head + f"{inner}</{prefix}c>".encode()


def without_value(sheet: Sheet, cell: SheetCell) -> Iterable[tuple[int, int, bytes]]:
    """The changes that take the last result of a formula away."""
    if cell.value is not None:
        _, head = _head(sheet, cell, b"")
        yield cell.start, tag_end(sheet.content, cell.start), head
        yield *cell.value, b""


def _head(sheet: Sheet, cell: SheetCell, kind: bytes) -> tuple[str, bytes]:
    """The prefix of a cell's element, and its first tag with another type."""
    tag = sheet.content[cell.start : tag_end(sheet.content, cell.start)]
    match = _TAG.match(tag)
    if match is None:
        raise NotReadableError("it is damaged")
    plain = _TYPE.sub(b"", tag).rstrip(b">").rstrip(b"/").rstrip()
    return match[1].decode(), plain + kind + b">"


def changed(content: bytes, changes: Iterable[tuple[int, int, bytes]]) -> bytes:
    """A part with some of its bytes changed."""
    made, at = [], 0
    for start, end, new in sorted(changes):
        made += [content[at:start], new]
        at = end
    return b"".join([*made, content[at:]])


def split_name(name: str) -> tuple[str, int]:
    """The column and the row of a cell."""
    match = _REF.fullmatch(name)
    if match is None:
        raise NotReadableError("it is damaged")
    return match[1], int(match[2])


def column_number(letters: str) -> int:
    """The number of a column, from 1."""
    number = 0
    for letter in letters:
        number = number * 26 + ord(letter) - ord("A") + 1
    return number
