"""Delivered tables as workbooks for people: a table in rows and columns, notes on their own sheet.

A table with more rows or columns than a sheet holds goes on over further sheets.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.formats.shared import sheets
from sdcensus.formats.shared.sheets import Section, Styles, column_width, prepare, put_text
from sdcensus.formats.write import new_file
from sdcensus.model.published.delivery import NO_PARENT, DeliveredAxis, DeliveredTable
from sdcensus.model.published.table import Mark
from sdcensus.model.published.table_format import TableFormat
from sdcensus.model.quantities import number_text
from sdcensus.model.text import Text

#: Columns of numbers that people still read side by side.
MOST_ACROSS = 100


@dataclass(frozen=True, slots=True)
class PageLayout:
    """The axes that go down the rows and those that stand side by side, the first outermost."""

    down: tuple[int, ...]
    across: tuple[int, ...]

    def grid(self, array: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """The cells of a table in rows and columns."""
        rows = math.prod(array.shape[at] for at in self.down)
        return np.transpose(array, (*self.down, *self.across)).reshape(rows, -1)


def choose_layout(table: DeliveredTable) -> PageLayout:
    """Areas go down the rows, or the first axis where there are none; the others side by side.

    Of homes by places of work the first go down the rows. Where the others would make too many
    columns, the first of them go down the rows as well, below each area. A table that says how many
    of its axes stand in rows is laid out as it says.
    """
    every = range(len(table.axes))
    if table.rows is not None:
        if not 0 <= table.rows <= len(table.axes):
            raise SpecError(f"{table.name}: {table.rows} of {len(table.axes)} axes stand in rows.")
        return PageLayout(tuple(every[: table.rows]), tuple(every[table.rows :]))
    down = [at for at in every if table.axes[at].geography][:1] or list(every[:1])
    across = [at for at in every if at not in down]
    while across and math.prod(len(table.axes[at]) for at in across) > MOST_ACROSS:
        down.append(across.pop(0))
    return PageLayout(tuple(down), tuple(across))


def parts(axes: Sequence[DeliveredAxis], most: int) -> list[range]:
    """Combinations of codes in parts of at most so many, the last axis running fastest.

    A part ends where a code of the first axes ends, as far as that is possible: what belongs to
    one area stands on one sheet.
    """
    whole = math.prod(map(len, axes))
    step = max(1, most)
    for at in range(1, len(axes) + 1):
        inner = math.prod(map(len, axes[at:]))
        if 0 < inner <= step:
            step -= step % inner
            break
    return [range(start, min(start + step, whole)) for start in range(0, max(whole, 1), step)]


def combinations(axes: Sequence[DeliveredAxis], part: range) -> Iterator[tuple[int, ...]]:
    """For each combination of a part, the place of its code on each axis."""
    every = itertools.product(*(range(len(axis)) for axis in axes))
    return itertools.islice(every, part.start, part.stop)


def indents(axis: DeliveredAxis) -> list[int]:
    """How far each code is indented: not at all, unless parts stand below their whole."""
    depths: list[int] = []
    for at, above in enumerate(axis.parents):
        if above >= at:
            return [0] * len(axis)
        depths.append(0 if above in (NO_PARENT, axis.total) else depths[above] + 1)
    return depths


#: What a sheet can hold.
MOST_ROWS, MOST_COLUMNS = sheets.MOST_ROWS, 16_384

_HEAD = 3  # title, unit, an empty line
_VALUE = Text.named("files.xlsx.value")
_SHEETS = Text.named("files.xlsx.sheets")
_ABOUT = Text.named("files.xlsx.about")
_UNIT = Text.named("files.xlsx.unit")
_SOURCE = Text.named("files.xlsx.source")
_DATE = Text.named("files.xlsx.date")
_PART = Text.named("files.xlsx.part")
_CENSUS = {
    member: Text.named(f"files.xlsx.{member}")
    for member in ("country", "census", "reference_date", "link")
}


def write(
    table: DeliveredTable, folder: Path, *, languages: tuple[str, ...], labels: bool
) -> tuple[Path, ...]:
    """Write a workbook for each language.

    Args:
        table: The table.
        folder: Where to.
        languages: The languages; none for the first that each text has.
        labels: Of no effect: workbooks are for people, who need labels.
    """
    paths = tuple(folder / file for file in XLSX.files(table.name, languages))
    for path, language in zip(paths, languages or (None,), strict=True):
        title = table.title.show(language) or table.name
        with (
            new_file(path) as file,
            sheets.new_book(file, title, table.cells, table.dated) as book,
        ):
            _Workbook(book, table, language).write()
    return paths


@dataclass(frozen=True, slots=True)
class _Sheet:
    """A part of the table: numbers of its rows and columns, on a sheet of its own."""

    name: str
    rows: range
    columns: range


class _AxisWords:
    """What is shown of an axis: codes and levels where they say something, and labels."""

    def __init__(self, axis: DeliveredAxis, language: str | None) -> None:
        self.axis = axis
        self.labels = [axis.label_of(at, language) for at in range(len(axis))]
        self.indents = indents(axis)
        own = [at for at in range(len(axis)) if at != axis.total]
        self.shows_codes = any(self.labels[at] != axis.codes[at] for at in own)
        several = len({axis.levels[at] for at in own}) > 1
        self.shows_levels = not axis.unique or (axis.geography and several)
        self.heading = axis.label.show(language) or axis.column
        heads = [sheets.CODE.show(language)] if self.shows_codes else []
        heads += [sheets.LEVEL.show(language)] if self.shows_levels else []
        #: The heads of its columns beside the rows.
        self.heads = [*heads, self.heading]

    def before(self, at: int) -> list[str]:
        """What stands in front of the label of a code."""
        words = [self.axis.codes[at]] if self.shows_codes else []
        if self.shows_levels:
            words.append("" if at == self.axis.total else self.axis.levels[at])
        return words

    def widths(self) -> list[int]:
        """How wide its columns beside the rows are."""
        longest = [0] * len(self.heads)
        for at, label in enumerate(self.labels):
            words = [*self.before(at), "  " * self.indents[at] + label]
            longest = [max(one, len(word)) for one, word in zip(longest, words, strict=True)]
        # A heading may break into two lines, and has a filter; what stands below may not break.
        return [
            column_width(length, len(head) // 2 + 5)
            for head, length in zip(self.heads, longest, strict=True)
        ]


class _Workbook:
    """One workbook: a table in one language."""

    def __init__(self, book: Any, table: DeliveredTable, language: str | None) -> None:
        self.book, self.table, self.language = book, table, language
        self.styles = Styles(book)
        chosen = choose_layout(table)
        self.values = chosen.grid(table.values)
        self.marks = None if table.marks is None else chosen.grid(table.marks)
        self.down = [_AxisWords(table.axes[at], language) for at in chosen.down]
        self.across = [_AxisWords(table.axes[at], language) for at in chosen.across]
        self.unit = table.unit.show(language)
        self.heads = [head for words in self.down for head in words.heads]
        if self.across and not self.down:
            self.heads = [""]  # so that there is a place for the headings of what stands across
        self.first = len(self.heads)
        self.top = _HEAD + max(2 * len(self.across), 1)
        self.forms = {mark: _form(table, mark) for mark in Mark if mark.has_number}

    def write(self) -> None:
        """Write all sheets."""
        placed = [(sheet, self.book.add_worksheet(sheet.name)) for sheet in self._sheets()]
        notes = self.book.add_worksheet(sheets.NOTES.show(self.language))
        for at, (part, sheet) in enumerate(placed, 1):
            said = _PART.show(self.language).format(at, len(placed)) if len(placed) > 1 else ""
            self._write_sheet(sheet, part, said)
        title = self.table.title.show(self.language) or self.table.name
        sections = self._sections([part for part, _ in placed])
        sheets.write_notes(notes, self.styles, title, sections)

    def _sheets(self) -> list[_Sheet]:
        rows = parts([axis_words.axis for axis_words in self.down], MOST_ROWS - self.top)
        columns = parts([axis_words.axis for axis_words in self.across], MOST_COLUMNS - self.first)
        name = sheets.TABLE.show(self.language)
        pairs = [(row, others) for row in rows for others in columns]
        if len(pairs) == 1:
            return [_Sheet(name, *pairs[0])]
        return [_Sheet(f"{name} {at}", *pair) for at, pair in enumerate(pairs, 1)]

    # ------------------------------------------------------------------ the table

    def _write_sheet(self, sheet: Any, part: _Sheet, said: str) -> None:
        columns = list(combinations([axis_words.axis for axis_words in self.across], part.columns))
        rows = combinations([axis_words.axis for axis_words in self.down], part.rows)
        prepare(sheet, head=_HEAD, top=self.top, first=self.first)
        widths = [width for words in self.down for width in words.widths()] or [12] * self.first
        for at, width in enumerate(widths):
            sheet.set_column(at, at, width)
        across = self._column_width()
        sheet.set_column(self.first, self.first + len(columns) - 1, across)
        put_text(sheet, 0, 0, self.table.title.show(self.language), self.styles.title)
        about = [f"{self.unit}." if self.unit else "", sheets.SEE.show(self.language), said]
        put_text(sheet, 1, 0, " ".join(filter(None, about)), self.styles.quiet)
        self._write_heads(sheet, columns, across)
        whole_columns = [bool(column) and _whole(self.across, column) for column in columns]
        for at, places in enumerate(rows):
            row = self.top + at
            self._write_row_words(sheet, row, places)
            bold = bool(places) and _whole(self.down, places)
            self._write_numbers(
                sheet, row, part, part.rows.start + at, [bold or column for column in whole_columns]
            )
        if self.down and len(part.rows) > 1:
            sheet.autofilter(self.top - 1, 0, self.top + len(part.rows) - 1, self.first - 1)

    def _column_width(self) -> int:
        """One width for all columns of numbers: what no label and no number is too wide for."""
        largest = max(abs(int(self.values.max(initial=0))), abs(int(self.values.min(initial=0))))
        form = number_text(largest // 10**self.table.decimals)
        digits = len(form) + (self.table.decimals + 1 if self.table.decimals else 0)
        digits += max(
            (len(self.table.sign(mark)) + 1 for mark in self.table.used_marks()), default=0
        )
        labels = [label for words in self.across for label in words.labels] or [self.unit]
        longest = max((len(word) for label in labels for word in label.split()), default=0)
        return min(column_width(digits, longest + 2), 24)

    def _write_heads(self, sheet: Any, columns: Sequence[tuple[int, ...]], across: int) -> None:
        """Of each axis that stands side by side: codes, and labels below; the first outermost."""
        styles = self.styles
        for level, words in enumerate(self.across):
            row = _HEAD + 2 * level
            put_text(sheet, row, self.first - 1, words.heading, styles.head_axis)
            if words.shows_codes:
                for at, places in enumerate(columns):
                    code = words.axis.codes[places[level]]
                    put_text(sheet, row, self.first + at, code, styles.head_code)
            last = level == len(self.across) - 1
            shown = [words.labels[places[level]] for places in columns]
            sheet.set_row(row + 1, 15.0 * _lines([*shown, *(self.heads if last else [])], across))
            if last:
                break
            for at, places in enumerate(columns):
                again = at > 0 and columns[at - 1][: level + 1] == places[: level + 1]
                style = styles.upper_again if again else styles.upper
                put_text(sheet, row + 1, self.first + at, shown[at], style)
        for at, head in enumerate(self.heads):
            put_text(sheet, self.top - 1, at, head, styles.head)
        labels = [self.unit or _VALUE.show(self.language)]
        if self.across:
            labels = [self.across[-1].labels[places[-1]] for places in columns]
        for at, label in enumerate(labels):
            put_text(sheet, self.top - 1, self.first + at, label, styles.head_right)

    def _write_row_words(self, sheet: Any, row: int, places: tuple[int, ...]) -> None:
        column = 0
        for words, at in zip(self.down, places, strict=True):
            for word in words.before(at):
                put_text(sheet, row, column, word, self.styles.code)
                column += 1
            style = self.styles.label(words.indents[at], bold=at == words.axis.total)
            put_text(sheet, row, column, words.labels[at], style)
            column += 1
        if self.first and not self.down:
            put_text(sheet, row, 0, self.unit, self.styles.text)

    def _write_numbers(
        self, sheet: Any, row: int, part: _Sheet, at: int, bold: Sequence[bool]
    ) -> None:
        chosen = slice(part.columns.start, part.columns.stop)
        numbers = self.values[at, chosen]
        shown = (numbers / 10**self.table.decimals if self.table.decimals else numbers).tolist()
        marks = [0] * len(shown) if self.marks is None else self.marks[at, chosen].tolist()
        styles = self.styles
        for column, (number, value, thick) in enumerate(
            zip(shown, marks, bold, strict=True), self.first
        ):
            mark = Mark(value)
            if mark.has_number:
                sheet.write_number(row, column, number, styles.number(self.forms[mark], bold=thick))
            else:
                sign = styles.bold_sign if thick else styles.sign
                put_text(sheet, row, column, self.table.sign(mark), sign)

    # ------------------------------------------------------------------ the notes

    def _sections(self, made: Sequence[_Sheet]) -> Iterator[Section]:
        table, language = self.table, self.language
        yield sheets.NOTES.show(language), [("", note.show(language)) for note in table.notes]
        signs = [(table.sign(mark), mark.meaning.show(language)) for mark in table.used_marks()]
        yield sheets.SIGNS.show(language), signs
        about = [
            (_UNIT.show(language), self.unit),
            (_SOURCE.show(language), table.source.show(language)),
            (_DATE.show(language), table.date),
        ]
        if table.census is not None:
            about += [
                (_CENSUS[member].show(language), words)
                for member, words in table.census.lines(language)
            ]
        yield _ABOUT.show(language), [(name, text) for name, text in about if text]
        if len(made) > 1:
            yield _SHEETS.show(language), [(sheet.name, self._extent(sheet)) for sheet in made]
        yield sheets.made_section(table.provenance, language)

    def _extent(self, part: _Sheet) -> str:
        """From where to where a sheet goes, in the words of its rows and columns."""
        both = ((self.down, part.rows), (self.across, part.columns))
        return "; ".join(
            f"{_named(axes, numbers[0])} … {_named(axes, numbers[-1])}"
            for axes, numbers in both
            if axes and numbers
        )


def _named(axes: Sequence[_AxisWords], number: int) -> str:
    """A row or column by the labels of its codes."""
    (places,) = combinations([axis.axis for axis in axes], range(number, number + 1))
    return " × ".join(words.labels[at] for words, at in zip(axes, places, strict=True))


def _whole(axes: Sequence[_AxisWords], places: tuple[int, ...]) -> bool:
    return all(at == words.axis.total for words, at in zip(axes, places, strict=True))


def _form(table: DeliveredTable, mark: Mark) -> str:
    """How Excel shows a number: thousands apart, and its sign around or behind it."""
    form = "#,##0" + ("." + "0" * table.decimals if table.decimals else "")
    if mark is Mark.NONE:
        return form
    sign = table.sign(mark)
    if len(sign) == 3 and sign[1] == " ":  # a pair of brackets
        return f"\\{sign[0]}{form}\\{sign[2]}"
    return form + "".join(f"\\{letter}" for letter in f" {sign}")


def _lines(labels: Sequence[str], across: int) -> int:
    """How many lines the longest of some labels needs."""
    return min(
        max((math.ceil(len(label) / max(across - 1, 1)) for label in labels), default=1) or 1, 6
    )


XLSX = TableFormat(
    name="xlsx",
    label="Excel",
    about=Text.named("files.about.xlsx"),
    endings=(".xlsx",),
    media_type="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    aliases=("excel", "xls"),
    each_language=True,
    seconds_per_cell=12e-6,
    bytes_per_cell=6,
    needs="xlsxwriter",
    write=write,
)
