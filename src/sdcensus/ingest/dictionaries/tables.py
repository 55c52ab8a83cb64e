"""Dictionaries that are tables: csv files and workbooks in the many layouts of offices.

A sheet has a row for each code, or a row for each variable with its codes in one cell, or a row for
the variable and the codes below it. The name of a variable stands in every row or in the first one
of its block. Variables and codes may have sheets of their own, linked by the name of the variable
or by that of a list of codes; a sheet may be about one table of the census or about all.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from sdcensus.errors import InputError, unknown
from sdcensus.ingest.dictionaries.census_columns import CensusColumns
from sdcensus.ingest.dictionaries.code_texts import (
    as_range,
    code_with_label,
    common_name,
    listed_codes,
)
from sdcensus.ingest.dictionaries.entries import (
    Collector,
    Dictionary,
    DictionaryRange,
    Place,
    kind_of,
)
from sdcensus.ingest.dictionaries.headings import ColumnRole, language_of
from sdcensus.ingest.dictionaries.named_columns import NamedColumn, column_letter
from sdcensus.ingest.dictionaries.recognition import Columns, recognise
from sdcensus.ingest.dictionaries.sheets import Row, Sheet, read_sheets
from sdcensus.model.schema.variable import CodeKind
from sdcensus.model.text import Text

_YES = frozenset({"x", "1", "si", "s", "yes", "y", "true", "oui", "o", "sim", "ja", "missing"})
#: Missing codes that are written as a range are listed one by one up to this number.
_MOST_MISSING = 20
#: Numbers beside a range that stand for no value.
_SPECIAL = re.compile(r"-[0-9]+|9+8?|8+")
_TEXTS_TO_HEAR = 3000
_SELECT = re.compile(r"select_(?:one|multiple)(?:_from_file)?\s+(\S+)")


@dataclass(frozen=True, slots=True)
class TableReading:
    """How to read dictionaries that are tables."""

    files: CensusColumns = field(default_factory=CensusColumns)
    named: tuple[NamedColumn, ...] = ()
    language: str | None = None
    encoding: str | None = None
    #: Whether no other dictionary may have the columns that were named.
    alone: bool = True


def read_table(path: Path, reading: TableReading) -> Dictionary:
    """Read a dictionary from a csv file or a workbook.

    Raises:
        InputError: The file cannot be read, or no sheet of it can be understood; the message says
            what was recognised and how to name the columns.
    """
    return tables_dictionary(path.name, path.stem, read_sheets(path, reading.encoding), reading)


def tables_dictionary(
    file: str, title: str, sheets: Sequence[Sheet], reading: TableReading
) -> Dictionary:
    """The dictionary that sheets hold together."""
    if any(_holds_records(sheet, reading.files) for sheet in sheets):
        raise InputError(
            f"{file}: this is a census file and no dictionary: its first row has the names of"
            " columns. A dictionary has a row for each variable or code."
        )
    _check_named(file, sheets, reading)
    titled = len(sheets) > 1
    parts: list[_Part] = []
    doubts: list[str] = []
    refused: list[tuple[Sheet, Columns]] = []
    for sheet in sheets:
        columns = _recognised(sheet, sheets, reading)
        part = _Part(sheet, columns, sheet.title if titled else "", sheet.title or title)
        if part.variable_of_sheet(reading.files) or columns.says_something:
            parts.append(part)
        else:
            refused.append((sheet, columns))
    if not parts:
        raise InputError(_not_understood(file, refused))
    language = reading.language or _language(parts)
    filler = _Filler(file, language, reading.files)
    for part in parts:
        filler.fill(part)
    filler.attach_lists()
    for sheet, _ in refused:
        doubts.append(f"{Place(file, sheet.title)}: passed over, since it describes no variables.")
    dictionary = filler.collector.dictionary(language, file=file)
    if not dictionary.variables:
        raise InputError(_not_understood(file, [(part.sheet, part.columns) for part in parts]))
    return Dictionary(
        dictionary.variables, language, (*dictionary.doubts, *doubts), dictionary.file
    )


def _holds_records(sheet: Sheet, files: CensusColumns) -> bool:
    """Whether a sheet has the columns of a census file, and so perhaps personal data."""
    known = set(map(common_name, files.names))
    filled = [cell for cell in sheet.rows[0].cells if cell]
    names = sum(common_name(cell) in known for cell in filled)
    return len(filled) > 1 and (names == len(filled) or (names > 2 and 2 * names >= len(filled)))


def _check_named(file: str, sheets: Sequence[Sheet], reading: TableReading) -> None:
    """Refuse columns that were named and that the dictionary does not have."""
    cells = {common_name(cell) for sheet in sheets for row in sheet.rows for cell in row.cells}
    width = max(sheet.width for sheet in sheets)
    letters = {column_letter(place) for place in range(width)}
    absent = [
        column.heading
        for column in reading.named
        if common_name(column.heading) not in cells and column.heading.upper() not in letters
    ]
    if absent and (reading.alone or len(absent) < len(reading.named)):
        first = next((row for row in sheets[0].rows if sum(map(bool, row.cells)) > 1), None)
        headings = [cell for cell in first.cells if cell] if first is not None else []
        raise InputError(f"{file}: {unknown('column', absent[0], headings)}")


def _recognised(sheet: Sheet, sheets: Sequence[Sheet], reading: TableReading) -> Columns:
    """The columns of a sheet; forms in the XLSForm notation have headings of their own."""
    titles = {common_name(each.title) for each in sheets}
    named: list[NamedColumn] = list(reading.named)
    if {"survey", "choices"} <= titles and not named:
        if common_name(sheet.title) == "choices":
            roles = {ColumnRole.LIST: "list_name", ColumnRole.VALUE: "name"}
            named = [NamedColumn(role, heading) for role, heading in roles.items()]
        elif common_name(sheet.title) == "survey":
            named = [
                NamedColumn(ColumnRole.VARIABLE, "name"),
                NamedColumn(ColumnRole.LIST, "type"),
            ]
    return recognise(sheet, reading.files.names, named)


def _language(parts: Sequence[_Part]) -> str:
    """The language of labels whose column names none: by their words, else by the headings."""
    texts: list[str] = []
    for part in parts:
        columns = part.columns
        places = [
            place for language, place in (*columns.labels, *columns.value_labels) if not language
        ]
        texts += [row.cell(place) for row in columns.body for place in places]
    spoken = language_of(texts[:_TEXTS_TO_HEAR])
    marked = [
        language
        for part in parts
        for language, _ in (*part.columns.labels, *part.columns.value_labels)
        if language
    ]
    headings = [part.columns.spoken for part in parts if part.columns.spoken]
    return spoken or next(iter(marked), "") or next(iter(headings), "") or "en"


def _not_understood(file: str, sheets: Sequence[tuple[Sheet, Columns]]) -> str:
    """What was recognised, what was not, and how to name the columns."""
    lines = [f"{file}: the dictionary is not understood."]
    for sheet, columns in sheets[:5]:
        where = f"Sheet {sheet.title!r}: " if sheet.title else ""
        shown = [
            f"{title!r} ({column_letter(place)})"
            for place, title in enumerate(columns.headings[:12])
            if title
        ]
        lacking = [
            words
            for role, words in (
                (ColumnRole.VARIABLE, "names of variables"),
                (ColumnRole.VALUE, "codes"),
                (ColumnRole.VALUE_LABEL, "labels of codes"),
                (ColumnRole.LABEL, "labels of variables"),
            )
            if role not in columns.places
        ]
        lines.append(
            f"{where}the columns are {', '.join(shown) or 'without headings'}."
            f" Recognised: {columns.recognised or 'none'}."
            f" Not recognised: {', '.join(lacking) or 'rows below the headings'}."
        )
    lines.append(
        "Name the columns by their headings or letters, as in --dictionary-columns"
        " variable=Campo,label=Pregunta,value=Clave,value_label=Texto"
    )
    return " ".join(lines)


def _pairs(text: str) -> list[tuple[str, str]]:
    """The codes with labels that a cell holds, one or several."""
    single = code_with_label(text)
    return listed_codes(text) or ([single] if single is not None else [])


@dataclass(frozen=True, slots=True)
class _Part:
    """A sheet with its columns; ``table`` is its title where there are several sheets."""

    sheet: Sheet
    columns: Columns
    table: str
    title: str

    def variable_of_sheet(self, files: CensusColumns) -> str:
        """The variable or list whose codes the whole sheet holds; empty if it says so itself."""
        places = self.columns.places
        if ColumnRole.VARIABLE in places or ColumnRole.LIST in places:
            return ""
        if not {ColumnRole.VALUE, ColumnRole.VALUE_LABEL} <= set(places):
            return ""
        names = {common_name(name): name for name in files.names}
        return names.get(common_name(self.title), "")


@dataclass(slots=True)
class _Current:
    """The variable and table that the rows at hand are about."""

    name: str = ""
    table: str = ""
    label: Text = Text()


class _Filler:
    """Goes through the rows of sheets and notes what they say."""

    def __init__(self, file: str, language: str, files: CensusColumns) -> None:
        self.collector = Collector()
        self._file = file
        self._language = language
        self._files = files
        self._known = frozenset(map(common_name, files.names))
        #: The codes of each list, and the list of each variable.
        self._lists: dict[str, list[tuple[str, Text, Place, bool]]] = {}
        self._list_of: dict[tuple[str, str], str] = {}

    def fill(self, part: _Part) -> None:
        """Note everything that a sheet says."""
        columns = part.columns
        current = _Current(table=self._table_of_sheet(part))
        whole = part.variable_of_sheet(self._files)
        is_list = ColumnRole.VARIABLE not in columns.places and not whole
        last_list = ""
        for row in columns.body:
            if columns.header_row is not None and row.cells == columns.header_row.cells:
                continue
            place = Place(self._file, part.table, row.number)
            if is_list:
                last_list = row.cell(columns.place(ColumnRole.LIST)) or last_list
                self._list_row(last_list, row, columns, place)
            elif whole:
                current.name = whole
                self._codes(current, row, columns, place)
            elif self._begin(current, row, columns, place):
                self._codes(current, row, columns, place)

    def attach_lists(self) -> None:
        """Give variables the codes of the lists that they name."""
        for (table, name), list_name in self._list_of.items():
            for code, label, place, missing in self._lists.get(common_name(list_name), ()):
                self.collector.code(name, table, code, label, place, missing=missing)

    def _table_of_sheet(self, part: _Part) -> str:
        file = self._files.file_named(part.table) if part.table else ""
        place = part.columns.place(ColumnRole.VARIABLE)
        if file or not part.table or place is None:
            return file
        cells = (row.cell(place) for row in part.columns.body)
        return self._files.file_with(cell for cell in cells if cell)

    # ------------------------------------------------------------ rows

    def _begin(self, current: _Current, row: Row, columns: Columns, place: Place) -> bool:
        """Take over the variable that a row names; false if there is nothing more in the row."""
        name = row.cell(columns.place(ColumnRole.VARIABLE))
        if name and self._is_heading(name, row):
            current.name = ""
            current.table = self._files.file_named(name) or current.table
            return False
        if name and self._is_code_below(name, current, columns):
            label = self._text(row, columns.labels or columns.value_labels)
            self._note_code(current, name, label, place, missing=False)
            return False
        table = row.cell(columns.place(ColumnRole.TABLE))
        if table:
            current.table = self._files.file_named(table) or table
        if name:
            entity, dot, rest = name.rpartition(".")
            if dot and common_name(name) not in self._known and self._files.file_named(entity):
                current.table, name = self._files.file_named(entity), rest
            current.label = current.label if current.name == name else Text()
            current.name = name
        if not current.name:
            return False
        self._label(current, row, columns, place, is_first=bool(name))
        return True

    def _is_heading(self, name: str, row: Row) -> bool:
        """Whether a row is a heading inside the sheet: one cell, which is no name."""
        alone = sum(bool(cell) for cell in row.cells) == 1
        return alone and common_name(name) not in self._known and " " in name

    def _is_code_below(self, name: str, current: _Current, columns: Columns) -> bool:
        """Whether codes stand below their variable, in the same column."""
        return (
            ColumnRole.VALUE not in columns.places
            and bool(current.name)
            and common_name(name) not in self._known
            and re.fullmatch(r"[+-]?[0-9]+|\.[a-z]", name) is not None
        )

    def _label(
        self, current: _Current, row: Row, columns: Columns, place: Place, *, is_first: bool
    ) -> None:
        """The label of a variable, and the list of codes that it names."""
        has_value = bool(row.cell(columns.place(ColumnRole.VALUE)))
        label = self._text(row, columns.labels)
        if not columns.labels and is_first and not has_value:
            label = self._text(row, columns.value_labels)
            if any(_pairs(text) or as_range(text) for _, text in label.by_language):
                label = Text()
        if columns.labels and ColumnRole.VALUE_LABEL not in columns.places and has_value:
            label = Text() if current.label else label
        list_name = row.cell(columns.place(ColumnRole.LIST))
        selected = _SELECT.match(list_name)
        if is_first and list_name:
            self._list_of[(current.table, current.name)] = selected[1] if selected else list_name
        if is_first or label:
            self.collector.variable(current.name, current.table, label, place)
        current.label = current.label or label

    def _codes(self, current: _Current, row: Row, columns: Columns, place: Place) -> None:
        """The codes, ranges and missing codes of a row."""
        value = row.cell(columns.place(ColumnRole.VALUE))
        label = self._text(row, columns.value_labels)
        if columns.labels and not columns.value_labels and current.label:
            spoken_label = self._text(row, columns.labels)
            label = Text() if spoken_label == current.label else spoken_label
        flag = row.cell(columns.place(ColumnRole.MISSING))
        if value:
            self._value(current, value, label, place, missing=common_name(flag) in _YES)
        else:
            for text in (label.show(), row.cell(columns.place(ColumnRole.RANGE))):
                for code, meaning in _pairs(text):
                    spoken = Text.of(meaning, language=self._language)
                    self._note_code(current, code, spoken, place, missing=False)
            # A single 0 or 1 says how many are missing, or whether any are.
            listed = re.findall(r"[+-]?[0-9]+|\.[a-z]", flag) if flag not in ("0", "1") else []
            for code in listed:
                self._note_code(current, code, Text(), place, missing=True)
            span = as_range(label.show()) if ColumnRole.VALUE not in columns.places else None
            if span is not None:
                self._note_range(current, span, label.show(), Text(), place)
        self._ranges(current, row, columns, place)

    def _ranges(self, current: _Current, row: Row, columns: Columns, place: Place) -> None:
        """The columns of ranges: ``0-120``, ``0-97, 99``, or the ends in two columns."""
        roles = (ColumnRole.MINIMUM, ColumnRole.MAXIMUM)
        ends = [row.cell(columns.place(role)) for role in roles]
        written = row.cell(columns.place(ColumnRole.RANGE))
        texts = [written] if as_range(written, only_ranges=True) else re.split(r"[,;]", written)
        for text in (*texts, ":".join(ends) if all(ends) else ""):
            span = as_range(text, only_ranges=True)
            if span is not None:
                self._note_range(current, span, text, Text(), place)
            elif len(texts) > 1 and _SPECIAL.fullmatch(text.strip()):
                self._note_code(current, text.strip(), Text(), place, missing=True)

    def _value(
        self, current: _Current, value: str, label: Text, place: Place, *, missing: bool
    ) -> None:
        """A cell of the column of codes: a code, a range, or a list of codes with labels."""
        pairs = listed_codes(value) if label else _pairs(value)
        span = as_range(value)
        if pairs:
            for code, meaning in pairs:
                spoken = Text.of(meaning, language=self._language)
                self._note_code(current, code, spoken, place, missing=missing)
        elif span is None:
            self._note_code(current, value, label, place, missing=missing)
        elif kind_of(label, missing=missing) is CodeKind.VALID:
            self._note_range(current, span, value, label, place)
        elif span[1] - span[0] < _MOST_MISSING:
            for number in range(span[0], span[1] + 1):
                self._note_code(current, str(number), label, place, missing=missing)

    def _list_row(self, list_name: str, row: Row, columns: Columns, place: Place) -> None:
        value = row.cell(columns.place(ColumnRole.VALUE))
        flag = row.cell(columns.place(ColumnRole.MISSING))
        if list_name and value:
            label = self._text(row, columns.value_labels)
            entry = (value, label, place, common_name(flag) in _YES)
            self._lists.setdefault(common_name(list_name), []).append(entry)

    # ------------------------------------------------------------ notes

    def _note_code(
        self, current: _Current, code: str, label: Text, place: Place, *, missing: bool
    ) -> None:
        self.collector.code(
            current.name,
            current.table,
            code.strip().removeprefix("'"),
            label,
            place,
            missing=missing,
        )

    def _note_range(
        self, current: _Current, span: tuple[int, int], text: str, label: Text, place: Place
    ) -> None:
        self.collector.range(
            current.name, current.table, DictionaryRange(*span, text, label), place
        )

    def _text(self, row: Row, columns: Sequence[tuple[str, int]]) -> Text:
        """The text of a row in all languages; line breaks in a label are blanks."""
        texts: Mapping[str, str] = {
            language or self._language: row.cell(place) for language, place in columns
        }
        if any(listed_codes(text) for text in texts.values()):
            return Text.of(texts)
        return Text.of({language: " ".join(text.split()) for language, text in texts.items()})
