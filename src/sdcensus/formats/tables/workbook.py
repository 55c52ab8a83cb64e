"""A published table as a workbook for people: rows and columns on one sheet, notes on the other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from sdcensus.errors import OutputError
from sdcensus.formats.shared import sheets
from sdcensus.formats.shared.files import new_file
from sdcensus.formats.shared.sheets import Section, Styles, column_width, prepare, put_text
from sdcensus.formats.tables.about import signs_in
from sdcensus.formats.tables.columns import published_columns
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import AnyTable, Flag, Table
from sdcensus.model.spec.axis import Axis, AxisCode
from sdcensus.model.spec.headings import axis_heading, table_heading, units_text
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text

#: What a sheet can hold.
MOST_ROWS = sheets.MOST_ROWS
#: Codes that are laid out side by side at most; an axis with more of them goes down the rows.
MOST_ACROSS = 40
_HEAD = 3  # title, units, an empty line


def write_workbook(
    table: AnyTable,
    target: Path,
    provenance: Provenance,
    notes: Sequence[Text],
    language: str | None,
) -> None:
    """Write a table and its notes to a new workbook."""
    dense = table.dense
    across = None if dense is None else column_axis(table.spec)
    listed = dense is None or (across is None and len(table.spec.axes) > 1)
    cells = table.published.size
    rows = cells if listed or across is None else cells // len(table.spec.axes[across].codes)
    if rows + _HEAD + 2 > MOST_ROWS:
        raise OutputError(
            f"{target}: a sheet of a workbook has {MOST_ROWS:,} rows, and this table needs"
            f" {rows + _HEAD + 2:,}. Write it as .csv or .parquet, or take fewer or coarser axes."
        )
    heading = table_heading(table.spec, language)
    with new_file(target) as file, sheets.new_book(file, heading, cells) as book:
        made = _Sheets(book, table, language)
        if dense is None or listed:
            made.write_list()
        else:
            made.write_grid(dense, across)
        made.write_notes(provenance, notes)


def column_axis(spec: TableSpec) -> int | None:
    """The last axis that fits side by side; ``None`` where everything goes down the rows."""
    if len(spec.axes) < 2:
        return None
    fitting = [at for at, axis in enumerate(spec.axes) if len(axis.codes) <= MOST_ACROSS]
    return fitting[-1] if fitting else None


@dataclass(frozen=True, slots=True)
class _Place:
    """The columns in which an axis stands beside its rows: code, level, label."""

    axis: Axis
    language: str | None

    @property
    def shows_codes(self) -> bool:
        return any(self.label(one) != one.code for one in self.axis.codes if not one.is_total)

    def label(self, code: AxisCode) -> str:
        return code.label.show(self.language) or code.code

    def heads(self) -> list[str]:
        heads = [sheets.CODE.show(self.language)] if self.shows_codes else []
        if len(self.axis.levels) > 1:
            heads.append(sheets.LEVEL.show(self.language))
        return [*heads, axis_heading(self.axis, self.language)]

    def words(self, code: AxisCode) -> list[str]:
        words = [code.code] if self.shows_codes else []
        if len(self.axis.levels) > 1:
            words.append("" if code.is_total else code.level)
        return [*words, self.label(code)]

    def widths(self) -> list[int]:
        columns = zip(self.heads(), *map(self.words, self.axis.codes), strict=True)
        # A heading may break into two lines; what stands below it may not.
        return [column_width(max(map(len, words)), len(head) // 2 + 2) for head, *words in columns]


class _Sheets:
    """The sheets of one workbook."""

    def __init__(self, book: Any, table: AnyTable, language: str | None) -> None:
        self.table, self.language = table, language
        self.sheet = book.add_worksheet(sheets.TABLE.show(language))
        self.notes = book.add_worksheet(sheets.NOTES.show(language))
        self.styles = Styles(book)

    # ------------------------------------------------------------------ the table

    def write_grid(self, table: Table, across: int | None) -> None:
        """Rows by columns: one axis side by side, all combinations of the others down the rows."""
        axes = table.spec.axes
        down = [at for at in range(len(axes)) if at != across]
        places = [_Place(axes[at], self.language) for at in down]
        columns = axes[across].codes if across is not None else ()
        labels = [code.label.show(self.language) or code.code for code in columns]
        heads = [head for place in places for head in place.heads()]
        first = len(heads)
        codes = any(
            label != code.code
            for label, code in zip(labels, columns, strict=True)
            if not code.is_total
        )
        top = _HEAD + (2 if codes else 1)
        prepare(self.sheet, head=_HEAD, top=top, first=first)
        for at, width in enumerate(width for place in places for width in place.widths()):
            self.sheet.set_column(at, at, width)
        values = self._across(table.published, across)
        largest = len(f"{int(values.max(initial=0)):,}") + 1
        for at in range(max(len(labels), 1)):
            words = labels[at].split() if labels else [units_text(table.spec, self.language)]
            longest = max(map(len, words), default=0)
            self.sheet.set_column(first + at, first + at, column_width(largest, longest + 1))
        self._head(table.spec)
        if codes:  # above the labels, which people read, stand the codes, which programs do
            for at, code in enumerate(columns):
                put_text(self.sheet, _HEAD, first + at, code.code, self.styles.head_code)
        for at, head in enumerate(heads):
            put_text(self.sheet, top - 1, at, head, self.styles.head)
        for at, label in enumerate(labels or [units_text(table.spec, self.language)]):
            put_text(self.sheet, top - 1, first + at, label, self.styles.head_right)
        flags = None if table.flags is None else self._across(table.flags, across)
        total_columns = [code.is_total for code in columns] or [False]
        for row, codes_of_row in enumerate(itertools.product(*(axes[at].codes for at in down))):
            self._row(
                top + row,
                [(place, code) for place, code in zip(places, codes_of_row, strict=True)],
                values[row].tolist(),
                None if flags is None else flags[row].tolist(),
                total_columns,
            )

    def _across(self, array: Any, across: int | None) -> Any:
        """One row for each combination of the other axes."""
        if across is None:
            return array.reshape(-1, 1)
        return np.moveaxis(array, across, -1).reshape(-1, array.shape[across])

    def _row(
        self,
        row: int,
        words: Sequence[tuple[_Place, AxisCode]],
        values: Sequence[int],
        flags: Sequence[int] | None,
        total_columns: Sequence[bool],
    ) -> None:
        at = 0
        whole = bool(words) and all(code.is_total for _, code in words)
        for place, code in words:
            *before, label = place.words(code)
            for word in before:
                put_text(self.sheet, row, at, word, self.styles.code)
                at += 1
            put_text(self.sheet, row, at, label, self.styles.label(bold=code.is_total))
            at += 1
        for column, value in enumerate(values):
            bold = whole or total_columns[column]
            flag = Flag.PUBLISHED if flags is None else Flag(flags[column])
            if flag:
                sign = self.styles.bold_sign if bold else self.styles.sign
                put_text(self.sheet, row, at + column, flag.sign, sign)
            else:
                number = self.styles.number(bold=bold)
                self.sheet.write_number(row, at + column, value, number)

    def write_list(self) -> None:
        """One row for each cell, as in a csv file."""
        pieces = published_columns(self.table, self.language)
        first = next(pieces)
        prepare(self.sheet, head=_HEAD, top=_HEAD + 1, first=0)
        for at, name in enumerate(first.column_names):
            longest = max(
                (len(str(one)) for one in first.column(at).unique().to_pylist()), default=0
            )
            self.sheet.set_column(at, at, column_width(longest, len(name) + 1))
        self._head(self.table.spec)
        for at, name in enumerate(first.column_names):
            put_text(self.sheet, _HEAD, at, name, self.styles.head)
        row = _HEAD + 1
        for piece in itertools.chain([first], pieces):
            for cells in zip(*(column.to_pylist() for column in piece.columns), strict=True):
                for at, cell in enumerate(cells):
                    if isinstance(cell, int):
                        self.sheet.write_number(row, at, cell, self.styles.number())
                    elif cell:
                        put_text(self.sheet, row, at, cell, self.styles.text)
                row += 1

    def _head(self, spec: TableSpec) -> None:
        put_text(self.sheet, 0, 0, table_heading(spec, self.language), self.styles.title)
        units = units_text(spec, self.language)
        put_text(self.sheet, 1, 0, f"{units}. {sheets.SEE.show(self.language)}", self.styles.quiet)

    # ------------------------------------------------------------------ the notes

    def write_notes(self, provenance: Provenance, notes: Sequence[Text]) -> None:
        """Notes, signs and how the table was made, one below the other."""
        title = table_heading(self.table.spec, self.language)
        sheets.write_notes(self.notes, self.styles, title, self._sections(provenance, notes))

    def _sections(self, provenance: Provenance, notes: Sequence[Text]) -> Iterator[Section]:
        language = self.language
        yield sheets.NOTES.show(language), [("", note.show(language)) for note in notes]
        signs = [(one.sign, one.meaning.show(language)) for one in signs_in(self.table)]
        yield sheets.SIGNS.show(language), signs
        yield sheets.made_section(provenance, language)
