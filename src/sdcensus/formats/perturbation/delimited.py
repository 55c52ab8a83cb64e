"""Delimited text as other programs write it: which delimiter, header, lines, and mistakes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from sdcensus.documents.toml.lines import plain_text, read_small_file
from sdcensus.documents.workbooks.small_tables import LARGEST_TABLE
from sdcensus.errors import DocumentError, Mistake

_DELIMITERS = {";": "semicolons", ",": "commas", "\t": "tabs"}
_OTHERS = {"|": "vertical bars", ":": "colons", " ": "spaces"}
_BYTE_ORDER_MARK = b"\xef\xbb\xbf"

#: A line and its fields.
Line = tuple[int, list[str]]

#: A mistake that is made in every line is listed so often; of the rest, the number is.
MOST_OF_A_KIND = 20


@dataclass(slots=True)
class FileNotes:
    """The notes on one file; all mistakes are collected, so that they are shown at once."""

    path: Path
    listed: dict[Mistake, None] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    beyond: dict[str, Mistake] = field(default_factory=dict)
    observed: dict[str, Mistake] = field(default_factory=dict)

    def mistake(self, kind: str, line: int, text: str) -> None:
        """Note a mistake; ``kind`` tells which ones are alike."""
        mistake = Mistake(line, text)
        if mistake in self.listed:
            return
        self.counts[kind] = self.counts.get(kind, 0) + 1
        if self.counts[kind] <= MOST_OF_A_KIND:
            self.listed[mistake] = None
        else:
            self.beyond.setdefault(kind, mistake)

    def observe(self, kind: str, line: int, text: str) -> None:
        """Note something that is not wrong; of each kind the first is kept."""
        self.observed.setdefault(kind, Mistake(line, text))

    @property
    def mistakes(self) -> tuple[Mistake, ...]:
        """All mistakes in the order of their lines; the many of one kind end with a number."""
        more = []
        for kind, mistake in self.beyond.items():
            rest = self.counts[kind] - MOST_OF_A_KIND - 1
            end = f" There are {rest} more mistakes like this." if rest else ""
            more.append(Mistake(mistake.line, f"{mistake.text}{end}"))
        return tuple(sorted((*self.listed, *more), key=lambda one: one.line))

    def raise_if_any(self) -> None:
        """Stop here if there was any mistake."""
        if self.listed:
            raise DocumentError(str(self.path), self.mistakes)


@dataclass(frozen=True, slots=True)
class DelimitedText:
    """The text of a file, with the delimiter and the fields of its first line.

    Attributes:
        notes: Where what is found is written down.
        text: The whole text.
        delimiter: What stands between fields.
        header: The fields of the first line that is not blank.
        header_line: Its number.
    """

    notes: FileNotes
    text: str
    delimiter: str
    header: tuple[str, ...]
    header_line: int

    @property
    def comma(self) -> bool:
        """Whether a comma can be a decimal comma."""
        return self.delimiter != ","

    def lines(self, *, with_first: bool = False) -> Iterator[Line]:
        """The lines behind the header, without blank ones, each with the fields of the header.

        Lines with other numbers of fields are mistakes and left out.
        """
        width = len(self.header)
        for line, fields in _fields(self.notes, self.text, self.delimiter):
            if line < self.header_line or (line == self.header_line and not with_first):
                continue
            if not any(fields):
                self.notes.observe("blank", line, "Blank lines are left out.")
                continue
            if len(fields) != width:
                if len(fields) > width and not any(fields[width:]):
                    del fields[width:]
                    self.notes.observe("trailing", line, "Delimiters at the end are left out.")
                else:
                    self._wrong_width(line, fields, width)
                    continue
            yield line, fields

    def _wrong_width(self, line: int, fields: list[str], width: int) -> None:
        own = _DELIMITERS[self.delimiter]
        text = f"There are {len(fields)} fields instead of {width}."
        other = _likely_delimiter(fields[0], {**_DELIMITERS, **_OTHERS}, width)
        if len(fields) == 1 and other:
            text += f" This line seems to be delimited by {other}, and the header by {own}."
        elif self.delimiter == ",":
            text += (
                " Decimal commas are understood only where fields are delimited by semicolons or"
                " tabs: write decimal points, or delimit the file by semicolons."
            )
        else:
            text += f" Every line needs as many as the header, delimited by {own}."
        self.notes.mistake("width", line, text)


def open_text(path: Path, notes: FileNotes) -> DelimitedText:
    """Read a file and find its delimiter; what is no delimited text at all is an error."""
    content = read_small_file(path, what="perturbation file", largest=LARGEST_TABLE)
    text = plain_text(path, content, save_as="csv UTF-8")
    line, first = next(
        ((at, one) for at, one in enumerate(text.splitlines(), start=1) if one.strip()), (0, "")
    )
    if not first:
        raise _error(path, 0, "The file is empty. Write the perturbation table again.")
    if content.startswith(_BYTE_ORDER_MARK):
        notes.observe("mark", 1, "The file begins with a byte-order mark, which is left out.")
    if b"\r\n" in content:
        notes.observe("ends", 1, "The lines end as on Windows.")
    if '"' in first:
        notes.observe("quotes", line, "Fields stand in quotes, which are left out.")
    delimiter = max(_DELIMITERS, key=first.count)
    if delimiter not in first:
        raise _error(path, line, _no_delimiter(first))
    fields = next(
        (fields for at, fields in _fields(notes, first, delimiter) if at), first.split(delimiter)
    )
    while fields and not fields[-1]:
        fields.pop()
        notes.observe("trailing", line, "Delimiters at the end are left out.")
    return DelimitedText(notes, text, delimiter, tuple(fields), line)


def _fields(notes: FileNotes, text: str, delimiter: str) -> Iterator[Line]:
    source = io.StringIO(text, newline="")
    reader = csv.reader(source, delimiter=delimiter, skipinitialspace=True, strict=True)
    line = 1
    try:
        for fields in reader:
            yield line, [field.strip() for field in fields]
            line = reader.line_num + 1
    except csv.Error:
        notes.mistake(
            "csv", line, "This line cannot be read as csv; a double quote may be missing."
        )


def _no_delimiter(first: str) -> str:
    text = "The first line is not delimited by semicolons, commas or tabs"
    other = _likely_delimiter(first, _OTHERS, 2)
    if other:
        text += f"; it seems to be delimited by {other}"
    return f"{text}. Save the file with semicolons or commas between the fields."


def _likely_delimiter(line: str, names: dict[str, str], width: int) -> str:
    best = max(names, key=line.count)
    return names[best] if line.count(best) >= width - 1 and width > 1 else ""


def _error(path: Path, line: int, text: str) -> DocumentError:
    return DocumentError(str(path), [Mistake(line, text)])
