"""Plans as Excel workbooks that read back equal: a form with lists to choose from."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from sdcensus.documents.plan.help import plan_help
from sdcensus.documents.plan.text import (
    indicator_settings,
    measure_text,
    own_protection_text,
    settings_of,
)
from sdcensus.documents.plan.workbook import (
    INDICATORS,
    OFFICE,
    PLAN,
    PROTECTIONS,
    TABLES,
    every_parameter,
    section_settings,
)
from sdcensus.documents.workbooks.files import plain_book
from sdcensus.errors import MissingExtra
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.method.registry import Part, Registered, meaning
from sdcensus.model.plan.plan import Plan, PlannedIndicator, PlannedTable, Protection
from sdcensus.model.plan.vocabulary import (
    INDICATOR_KINDS,
    INDICATOR_SETTINGS,
    PROGRAMME_NAMES,
    SYMBOLS,
    ComparedFigure,
)
from sdcensus.model.published.table_format import FORMAT_NAMES
from sdcensus.model.schema.variable import Entity
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import COUNT_MEASURES

#: How many rows of a form have lists to choose from.
_FORM_ROWS = 500
#: A list to choose from has at most so many characters, or it stands in a sheet.
_LONGEST_LIST = 255
#: Columns that hold long texts.
_WIDE = frozenset({"universe", "where", "rows", "columns", "by"})
_YES_OR_NO = ("yes", "no")
_CHOICES: Mapping[str, Sequence[str]] = {
    "programme": PROGRAMME_NAMES,
    **dict.fromkeys(("notes", "evaluation", "labels", "import_published"), _YES_OR_NO),
    "role": ("public", "registered", "staff", "production"),
    "formats": tuple(FORMAT_NAMES),
    "of": tuple(entity.plural for entity in Entity),
    "measure": COUNT_MEASURES,
    "kind": tuple(INDICATOR_KINDS),
    "figure": tuple(ComparedFigure),
}
#: Lists from which one may deviate: several words, or a word with a condition.
_OPEN = frozenset({"formats", "measure"})
_PARTS = (
    ("What is published", ("store", "programme", "tables", "mapping")),
    ("How it is protected", ("method", "then")),
    ("Within which rules", ("policy", "role")),
    ("Where it goes", ("folder",)),
)


def plan_workbook(plan: Plan, *, comments: Sequence[str] = ()) -> bytes:
    """A plan as a workbook that reads back equal; the same bytes for the same plan.

    Args:
        plan: The plan.
        comments: What stands above its settings.
    """
    try:
        library = import_module("xlsxwriter")
    except ImportError:
        raise MissingExtra("formats", needed_for="Writing a plan as a workbook") from None
    content = io.BytesIO()
    book = plain_book(library, content, {"in_memory": True})
    book.set_properties({"title": "Plan"})
    takes = every_parameter()
    languages = _languages(plan)
    notes = _notes_of(takes, languages[0])
    form = _Form(book, {**_CHOICES, **_choices_of(takes)}, notes)
    form.settings(PLAN, _plan_rows(plan, comments, takes, languages[0]))
    form.table(
        TABLES, _table_columns(languages), [_table(table, languages) for table in plan.tables]
    )
    form.table(
        INDICATORS,
        _indicator_columns(languages),
        [_indicator(indicator, languages) for indicator in plan.indicators],
    )
    columns = _protection_columns(plan)
    form.table(
        PROTECTIONS,
        columns,
        [_protection(name, each, columns) for name, each in plan.protections],
    )
    form.settings(OFFICE, _office_rows(plan, languages))
    form.help()
    form.lists()
    book.close()
    return content.getvalue()


def _languages(plan: Plan) -> list[str]:
    """Every language of the plan, for columns of their own."""
    texts = [plan.office.name, plan.office.legal_basis]
    texts += [table.title for table in plan.tables]
    texts += [indicator.title for indicator in plan.indicators]
    found = [] if plan.output is None else list(plan.output.languages)
    found += [language for text in texts for language, _ in text.by_language]
    return list(dict.fromkeys(found)) or ["en"]


# ------------------------------------------------------------------ what stands in the sheets

#: Name, value and meaning of a setting; a heading has no meaning.
_Line = tuple[str, str, str]


def _choices_of(takes: Mapping[str, Parameter]) -> dict[str, Sequence[str]]:
    """The lists to choose from for methods and what may be said about them."""
    words = {name: parameter.words for name, parameter in takes.items() if parameter.words}
    yes = {name: _YES_OR_NO for name, parameter in takes.items() if parameter.kind is ValueKind.YES}
    return {"method": tuple(Registered(Part.METHOD)), **words, **yes}


def _plan_rows(
    plan: Plan, comments: Sequence[str], takes: Mapping[str, Parameter], language: str
) -> Iterator[_Line]:
    values = _settings(plan, takes)
    for comment in comments:
        yield f"# {comment}", "", ""
    notes = _notes_of(takes, language)
    names = list(section_settings(takes))
    heads = {part[0]: title for title, part in _PARTS}
    order = [name for name in names if name not in ("policy", "role")]
    order[order.index("folder") : order.index("folder")] = ["policy", "role"]
    for name in order:
        if name in heads:
            yield f"# {heads[name]}", "", ""
        yield name, values.get(name, ""), notes[name]


def _notes_of(takes: Mapping[str, Parameter], language: str) -> dict[str, str]:
    """What every setting means."""
    own = {name: meaning(parameter, language) for name, parameter in takes.items()}
    return {**plan_help("settings"), **own}


def _settings(plan: Plan, takes: Mapping[str, Parameter]) -> dict[str, str]:
    values: dict[str, object] = {
        "store": plan.store,
        "measure": plan.measure,
        "programme": plan.programme,
        "tables": plan.programme_tables,
        "mapping": plan.mapping,
    }
    if plan.protect is not None:
        values |= {"method": plan.protect.method, "then": plan.protect.then}
        values |= dict(plan.protect.settings)
        values["import_published"] = plan.protect.import_published
        if plan.protect.smallest_group is not None:
            values["smallest_group"] = plan.protect.smallest_group
    if plan.policy is not None:
        values |= {"policy": plan.policy.file, "role": plan.policy.role}
    if plan.output is not None:
        for name in ("folder", "office_folder", "date", "formats", "languages", "original_store"):
            values[name] = getattr(plan.output, name)
        for name in ("notes", "evaluation", "labels"):
            values[name] = getattr(plan.output, name)
    # Each table of a list is itself a list of axes with commas.
    tables = {name for name, parameter in takes.items() if parameter.kind is ValueKind.TABLES}
    return {name: _cell(value, "; " if name in tables else ", ") for name, value in values.items()}


def _cell(value: object, between: str = ", ") -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, tuple):
        return between.join(map(str, value))
    return repr(value) if isinstance(value, float) else str(value)


def _table_columns(languages: Sequence[str]) -> list[str]:
    titles = [f"title:{language}" for language in languages]
    return ["name", *titles, "of", "universe", "where", "rows", "columns", "measure", "protect"]


def _indicator_columns(languages: Sequence[str]) -> list[str]:
    titles = [f"title:{language}" for language in languages]
    lead = ["name", *titles, "kind", "by", "of", "universe"]
    return [*lead, *INDICATOR_SETTINGS, "decimals"]


def _protection_columns(plan: Plan) -> list[str]:
    used = [setting for _, each in plan.protections for setting, _ in settings_of(each)]
    return list(dict.fromkeys(["name", "method", "then", *used]))


def _protection(name: str, protection: Protection, columns: Sequence[str]) -> list[str]:
    said = dict(settings_of(protection))
    takes = every_parameter()
    return [name, *(_setting(said.get(column), takes.get(column)) for column in columns[1:])]


def _setting(value: object, parameter: Parameter | None) -> str:
    # Each table of a list is itself a list of axes with commas.
    of_tables = parameter is not None and parameter.kind is ValueKind.TABLES
    return _cell(value, "; " if of_tables else ", ")


def _titles(text: Text, languages: Sequence[str]) -> list[str]:
    said = dict(text.by_language)
    return [said.get(language, "") for language in languages]


def _table(table: PlannedTable, languages: Sequence[str]) -> list[str]:
    titles = _titles(table.title, languages)
    whom = [table.of.plural, table.universe, table.where]
    axes = [_cell(table.rows), _cell(table.columns)]
    named = table.protect if isinstance(table.protect, str) else own_protection_text(table)
    return [table.name, *titles, *whom, *axes, measure_text(table), named]


def _indicator(one: PlannedIndicator, languages: Sequence[str]) -> list[str]:
    counted = "" if one.kind == "average-household-size" else one.of.plural
    said = indicator_settings(one)
    own = [_cell(said.get(name)) for name in (*INDICATOR_SETTINGS, "decimals")]
    titles = _titles(one.title, languages)
    lead = [one.name, *titles, one.kind, _cell(one.by), counted, one.universe]
    return [*lead, *own]


def _office_rows(plan: Plan, languages: Sequence[str]) -> Iterator[_Line]:
    notes = plan_help("office")
    for name in ("name", "legal_basis"):
        said = dict(getattr(plan.office, name).by_language)
        for language in languages:
            yield f"{name}:{language}", said.get(language, ""), notes[name]
    yield "contact", plan.office.contact, notes["contact"]
    yield "# Your own signs, where you have them", "", ""
    signs = dict(plan.office.symbols)
    for name, mark in SYMBOLS.items():
        yield name, signs.get(name, ""), f"{notes[name]} Otherwise: {mark.sign}"


# ------------------------------------------------------------------ how they look


class _Form:
    """Writes the sheets of one workbook."""

    def __init__(
        self, book: Any, choices: Mapping[str, Sequence[str]], notes: Mapping[str, str]
    ) -> None:
        def style(**properties: object) -> Any:
            return book.add_format({"font_name": "Calibri", "font_size": 11, **properties})

        self.book = book
        # Lists that are too long for a rule stand in a sheet of their own, one in a column.
        self.long_lists: dict[str, Sequence[str]] = {}
        self.choices = choices
        self.notes = {**notes, **plan_help("columns")}
        self.head = style(bold=True, bottom=1, valign="top")
        self.part = style(bold=True, font_color="#1F4E79")
        self.name = style(valign="top")
        # Texts, so that no spreadsheet takes 9.20 for a number or 1-2 for a date.
        self.value = style(num_format="@", bg_color="#FFF9E5", border=1, border_color="#D9D9D9")
        self.quiet = style(font_color="#666666", text_wrap=True, valign="top")

    def settings(self, name: str, lines: Iterator[_Line]) -> None:
        """A sheet with a row for each setting."""
        sheet = self.book.add_worksheet(name)
        for column, width in enumerate((24, 36, 90)):
            sheet.set_column(column, column, width)
        for column, word in enumerate(("setting", "value", "meaning")):
            sheet.write_string(0, column, word, self.head)
        sheet.freeze_panes(1, 0)
        for row, (setting, value, note) in enumerate(lines, start=1):
            if setting.startswith("#"):
                sheet.write_string(row, 0, setting, self.part)
                continue
            sheet.write_string(row, 0, setting, self.name)
            self._write(sheet, row, 1, value)
            sheet.write_string(row, 2, note, self.quiet)
            self._choices(sheet, setting, row, row, 1)

    def table(self, name: str, columns: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
        """A sheet with a row for each table or indicator."""
        sheet = self.book.add_worksheet(name)
        sheet.freeze_panes(1, 1)
        last = max(_FORM_ROWS, len(rows) + 100)
        for at, column in enumerate(columns):
            wide = column.startswith("title") or column in _WIDE
            sheet.set_column(at, at, 36 if wide else 18)
            sheet.write_string(0, at, column, self.head)
            plain = column.partition(":")[0]
            note = self.notes.get(plain, "")
            sheet.write_comment(0, at, note, {"author": "", "width": 260})
            self._choices(sheet, plain, 1, last, at)
        for row, cells in enumerate(rows, start=1):
            for at, cell in enumerate(cells):
                self._write(sheet, row, at, cell)

    def _write(self, sheet: Any, row: int, column: int, value: str) -> None:
        if value:
            sheet.write_string(row, column, value, self.value)
        else:
            sheet.write_blank(row, column, None, self.value)

    def _choices(self, sheet: Any, name: str, first: int, last: int, column: int) -> None:
        words = self.choices.get(name)
        if words is None:
            return
        rule: dict[str, object] = {"validate": "list", "source": self._source(name, words)}
        if name in _OPEN:
            rule["show_error"] = False
        else:
            rule |= {"error_title": "Not in the list", "error_message": "Choose from the list."}
        sheet.data_validation(first, column, last, column, rule)

    def _source(self, name: str, words: Sequence[str]) -> list[str] | str:
        """The words of a list, or where they stand if they are too long for a rule."""
        if len(",".join(words)) <= _LONGEST_LIST:
            return list(words)
        self.long_lists[name] = words
        letter = chr(ord("A") + list(self.long_lists).index(name))
        return f"=lists!${letter}$1:${letter}${len(words)}"

    def lists(self) -> None:
        """The hidden sheet, behind all others."""
        if self.long_lists:
            sheet = self.book.add_worksheet("lists")
            sheet.hide()
            for column, words in enumerate(self.long_lists.values()):
                sheet.write_column(0, column, words)

    def help(self) -> None:
        """A sheet that explains the others."""
        sheet = self.book.add_worksheet("help")
        sheet.set_column(0, 0, 110)
        row = 0
        lines = [
            "A plan says what is published, from what, protected how, delivered as what.",
            "Sheet 'plan': one setting in a row. Empty means: not said.",
            "Sheet 'tables': one table in a row. Lists are comma-separated.",
            "Sheet 'indicators': figures that are computed from published counts.",
            "Sheet 'protect': ways to protect some tables, one in a row; other settings of a method"
            " are further columns. A table names it in its column 'protect'.",
            "Sheet 'office': who publishes, and the signs that you use.",
            "Rows that begin with #, empty rows and other sheets are not read.",
            "Check the plan with: sdcensus plan check FILE",
            "",
            *plan_help("parts")["table"].splitlines(),
            "",
            *(
                f"{indicator_kind.name}: {indicator_kind.sentence}."
                for indicator_kind in INDICATOR_KINDS.values()
            ),
        ]
        for row, line in enumerate(lines):
            sheet.write_string(row, 0, line, self.quiet if row else self.part)
