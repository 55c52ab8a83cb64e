"""A published table as a workbook for people: rows and columns on one sheet, notes on the other."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from sdcensus.errors import MissingExtra, OutputError
from sdcensus.formats.tables.about import MADE, signs_in
from sdcensus.formats.tables.columns import published_columns
from sdcensus.formats.tables.files import new_file
from sdcensus.model.axis import Axis, AxisCode
from sdcensus.model.headings import axis_heading, table_heading, units_text
from sdcensus.model.provenance import Provenance
from sdcensus.model.table import Flag, SparseTable, Table
from sdcensus.model.table_spec import TableSpec
from sdcensus.model.text import Text

#: What a sheet can hold.
MOST_ROWS = 1_048_576
#: Codes that are laid out side by side at most; an axis with more of them goes down the rows.
MOST_ACROSS = 40
#: Cells from which on a sheet is written through to the disk instead of being held.
_HELD = 100_000
#: Workbooks say when they were made. Ours are the same whenever they are made.
NO_CLOCK = datetime(2000, 1, 1)
_WIDEST, _NARROWEST, _NOTES_WIDTH = 44, 9, 110
_HEAD = 3  # title, units, an empty line

_TABLE = Text.of({"en": "Table", "es": "Tabla"})
_NOTES = Text.of({"en": "Notes", "es": "Notas"})
_SIGNS = Text.of({"en": "Signs", "es": "Signos"})
_HOW = Text.of({"en": "How this table was made", "es": "Cómo se hizo esta tabla"})
_CODE = Text.of({"en": "Code", "es": "Código"})
_LEVEL = Text.of({"en": "Level", "es": "Nivel"})
_SEE = Text.of(
    {
        "en": "Values are protected. Please read the sheet Notes.",
        "es": "Los valores están protegidos. Lea la hoja Notas.",
    }
)


def library() -> Any:
    """The library that writes workbooks."""
    try:
        return import_module("xlsxwriter")
    except ImportError:
        raise MissingExtra("formats", needed_for="Writing an .xlsx file") from None


def write_workbook(
    table: Table | SparseTable,
    target: Path,
    provenance: Provenance,
    notes: Sequence[Text],
    language: str | None,
) -> None:
    """Write a table and its notes to a new workbook."""
    across = None if isinstance(table, SparseTable) else column_axis(table.spec)
    listed = isinstance(table, SparseTable) or (across is None and len(table.spec.axes) > 1)
    cells = table.published.size
    rows = cells if listed or across is None else cells // len(table.spec.axes[across].codes)
    if rows + _HEAD + 2 > MOST_ROWS:
        raise OutputError(
            f"{target}: a sheet of a workbook has {MOST_ROWS:,} rows, and this table needs"
            f" {rows + _HEAD + 2:,}. Write it as .csv or .parquet, or take fewer or coarser axes."
        )
    options = {
        "constant_memory": cells > _HELD,
        "strings_to_formulas": False,
        "strings_to_numbers": False,
        "strings_to_urls": False,
        "use_zip64": cells > 10 * _HELD,
    }
    with new_file(target) as file:
        book = library().Workbook(file, options)
        book.set_properties({"created": NO_CLOCK, "title": table_heading(table.spec, language)})
        sheets = _Sheets(book, table, language)
        if isinstance(table, SparseTable) or listed:
            sheets.write_list()
        else:
            sheets.write_grid(table, across)
        sheets.write_notes(provenance, notes)
        book.close()


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
        heads = [_CODE.show(self.language)] if self.shows_codes else []
        if len(self.axis.levels) > 1:
            heads.append(_LEVEL.show(self.language))
        return [*heads, axis_heading(self.axis, self.language)]

    def words(self, code: AxisCode) -> list[str]:
        words = [code.code] if self.shows_codes else []
        if len(self.axis.levels) > 1:
            words.append("" if code.is_total else code.level)
        return [*words, self.label(code)]

    def widths(self) -> list[int]:
        columns = zip(self.heads(), *map(self.words, self.axis.codes), strict=True)
        # A heading may break into two lines; what stands below it may not.
        return [_width(max(map(len, words)), len(head) // 2 + 2) for head, *words in columns]


class _Sheets:
    """The sheets of one workbook."""

    def __init__(self, book: Any, table: Table | SparseTable, language: str | None) -> None:
        self.table, self.language = table, language
        self.sheet = book.add_worksheet(_TABLE.show(language))
        self.notes = book.add_worksheet(_NOTES.show(language))

        def style(**properties: object) -> Any:
            return book.add_format({"font_name": "Calibri", "font_size": 11, **properties})

        self.title = style(bold=True, font_size=14)
        self.quiet = style(font_color="#666666")
        line: dict[str, object] = {"bottom": 1, "text_wrap": True, "valign": "bottom"}
        self.head = style(bold=True, **line)
        self.head_right = style(bold=True, align="right", **line)
        self.head_code = style(font_color="#666666", align="right", font_size=9)
        self.text, self.bold = style(), style(bold=True)
        self.code = style(font_color="#666666")
        self.number = style(num_format="#,##0")
        self.bold_number = style(num_format="#,##0", bold=True)
        self.sign, self.bold_sign = style(align="right"), style(align="right", bold=True)
        self.wrapped = style(text_wrap=True, valign="top")

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
        self._prepare(top, first)
        for at, width in enumerate(width for place in places for width in place.widths()):
            self.sheet.set_column(at, at, width)
        values = self._across(table.published, across)
        largest = len(f"{int(values.max(initial=0)):,}") + 1
        for at in range(max(len(labels), 1)):
            words = labels[at].split() if labels else [units_text(table.spec, self.language)]
            longest = max(map(len, words), default=0)
            self.sheet.set_column(first + at, first + at, _width(largest, longest + 1))
        self._head(table.spec)
        if codes:  # above the labels, which people read, stand the codes, which programs do
            for at, code in enumerate(columns):
                self.sheet.write_string(_HEAD, first + at, code.code, self.head_code)
        for at, head in enumerate(heads):
            self.sheet.write_string(top - 1, at, head, self.head)
        for at, label in enumerate(labels or [units_text(table.spec, self.language)]):
            self.sheet.write_string(top - 1, first + at, label, self.head_right)
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
                self.sheet.write_string(row, at, word, self.code)
                at += 1
            self.sheet.write_string(row, at, label, self.bold if code.is_total else self.text)
            at += 1
        for column, value in enumerate(values):
            bold = whole or total_columns[column]
            flag = Flag.PUBLISHED if flags is None else Flag(flags[column])
            if flag:
                sign = self.bold_sign if bold else self.sign
                self.sheet.write_string(row, at + column, flag.sign, sign)
            else:
                number = self.bold_number if bold else self.number
                self.sheet.write_number(row, at + column, value, number)

    def write_list(self) -> None:
        """One row for each cell, as in a csv file."""
        pieces = published_columns(self.table, self.language)
        first = next(pieces)
        self._prepare(_HEAD + 1, 0)
        for at, name in enumerate(first.column_names):
            longest = max(
                (len(str(one)) for one in first.column(at).unique().to_pylist()), default=0
            )
            self.sheet.set_column(at, at, _width(longest, len(name) + 1))
        self._head(self.table.spec)
        for at, name in enumerate(first.column_names):
            self.sheet.write_string(_HEAD, at, name, self.head)
        row = _HEAD + 1
        for piece in itertools.chain([first], pieces):
            for cells in zip(*(column.to_pylist() for column in piece.columns), strict=True):
                for at, cell in enumerate(cells):
                    if isinstance(cell, int):
                        self.sheet.write_number(row, at, cell, self.number)
                    elif cell:
                        self.sheet.write_string(row, at, cell, self.text)
                row += 1

    def _prepare(self, top: int, first: int) -> None:
        """What is told about the sheet before its first row."""
        self.sheet.freeze_panes(top, first)
        self.sheet.repeat_rows(_HEAD, top - 1)
        self.sheet.set_landscape()
        self.sheet.set_paper(9)
        self.sheet.fit_to_pages(1, 0)
        self.sheet.hide_gridlines(2)

    def _head(self, spec: TableSpec) -> None:
        self.sheet.write_string(0, 0, table_heading(spec, self.language), self.title)
        units = units_text(spec, self.language)
        self.sheet.write_string(1, 0, f"{units}. {_SEE.show(self.language)}", self.quiet)

    # ------------------------------------------------------------------ the notes

    def write_notes(self, provenance: Provenance, notes: Sequence[Text]) -> None:
        """Notes, signs and how the table was made, one below the other."""
        self.notes.set_column(0, 0, 24)
        self.notes.set_column(1, 1, _NOTES_WIDTH)
        self.notes.hide_gridlines(2)
        self.notes.set_paper(9)
        self.notes.fit_to_pages(1, 0)
        row = 0
        self.notes.write_string(row, 0, table_heading(self.table.spec, self.language), self.title)
        for head, lines in self._sections(provenance, notes):
            if not lines:
                continue
            row += 2
            self.notes.write_string(row, 0, head, self.bold)
            for name, text in lines:
                row += 1
                # The height that wrapped text needs: programs that only show it compute none.
                self.notes.set_row(row, 15.0 * (1 + len(text) // _NOTES_WIDTH))
                if name:
                    self.notes.write_string(row, 0, name, self.text)
                self.notes.write_string(row, 1, text, self.wrapped)

    def _sections(
        self, provenance: Provenance, notes: Sequence[Text]
    ) -> Iterator[tuple[str, list[tuple[str, str]]]]:
        yield _NOTES.show(self.language), [("", note.show(self.language)) for note in notes]
        signs = [(one.sign, one.meaning.show(self.language)) for one in signs_in(self.table)]
        yield _SIGNS.show(self.language), signs
        made = provenance.to_json()
        lines = [(MADE[name].show(self.language), str(made[name])) for name in MADE if made[name]]
        yield _HOW.show(self.language), lines


def _width(longest: int, at_least: int) -> int:
    return max(_NARROWEST, min(_WIDEST, max(longest + 1, at_least)))
