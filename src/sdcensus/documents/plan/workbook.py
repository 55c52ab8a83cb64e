"""Plans in Excel workbooks: a row for each table, a row for each setting.

The sheets become the same values as a ``plan.toml`` has, so the same checks serve both. What is
wrong is told by sheet, row and column.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from pathlib import Path
from typing import Any

from sdcensus.documents.plan.cells import (
    as_setting,
    cell_text,
    in_language,
    own_protection,
    place_text,
    plain,
)
from sdcensus.documents.plan.sections import (
    IndicatorSection,
    OfficeSection,
    OutputSection,
    PlanHead,
    ProtectSection,
    TableSection,
)
from sdcensus.documents.schema.sections import Section
from sdcensus.documents.toml.lines import KeyPath, read_small_file
from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.documents.workbooks.files import (
    LARGEST_UNPACKED,
    LARGEST_WORKBOOK,
    read_workbook_file,
)
from sdcensus.documents.workbooks.ranges import check_workbook
from sdcensus.errors import InputError, MissingExtra, unknown
from sdcensus.model.method.parameter import Parameter
from sdcensus.model.method.registry import TABULAR, Registered, parameters_of
from sdcensus.model.plan.vocabulary import SYMBOLS
from sdcensus.model.text import text_of_cell

#: The sheets of a plan.
PLAN, TABLES, INDICATORS, OFFICE = "plan", "tables", "indicators", "office"
#: A sheet with a row for each way to protect some of the tables.
PROTECTIONS = "protect"
#: Other names under which people know the sheets, and those that are no part of the plan.
_SHEETS = {
    **{PLAN: PLAN, "settings": PLAN, TABLES: TABLES, "table": TABLES},
    **{INDICATORS: INDICATORS, "indicator": INDICATORS, OFFICE: OFFICE},
    **{PROTECTIONS: PROTECTIONS, "protection": PROTECTIONS, "protections": PROTECTIONS},
}
_REMARKS = frozenset({"comment", "comments", "remark", "remarks", "note", "meaning", "help"})
_HEADINGS = {
    **{"table": "name", "table_name": "name", "id": "name", "heading": "title"},
    **{"units": "of", "unit": "of", "population": "universe"},
    **{"condition": "where", "filter": "where"},
    **{"row": "rows", "column": "columns", "axes": "by", "groups": "by"},
}
#: Other names of settings.
_SYNONYMS: dict[str, KeyPath] = {
    **{f"output_{name}": ("output", name) for name in OutputSection.model_fields},
    **{"policy_file": ("policy", "file"), "policy_role": ("policy", "role")},
    **{"programme_tables": ("tables",), "program": ("programme",), "steps": ("protect", "then")},
    **{"format": ("output", "formats"), "language": ("output", "languages")},
    "secret": ("secret",),
}
_SECTIONS: dict[str, type[Section]] = {"protect": ProtectSection, "output": OutputSection}


@dataclass(frozen=True, slots=True)
class WorkbookDocument:
    """The values of a workbook and where each of them stands.

    Attributes:
        path: The file.
        data: The values, as a TOML document would hold them.
        places: Sheet, row and column of values, in words.
    """

    path: Path
    data: dict[str, Any] = field(default_factory=dict)
    places: dict[KeyPath, str] = field(default_factory=dict)
    #: Nothing beside a workbook is changed with it.
    unsaved: Mapping[Path, bytes] = field(default_factory=dict)

    def line_of(self, *path: str | int) -> int:
        """Workbooks have no lines."""
        return 0

    def where(self, *path: str | int) -> str:
        """Sheet, row and column of a value, or of the nearest one around it."""
        for length in range(len(path), 0, -1):
            if path[:length] in self.places:
                return self.places[path[:length]]
        if not path:
            return ""
        sheet = {"table": TABLES, "indicator": INDICATORS, "office": OFFICE}
        return f"sheet {sheet.get(str(path[0]), PLAN)!r}"


#: A row of a sheet: its number from 0, and its values.
_Row = tuple[int, list[object]]


def plan_sheets(path: Path) -> Mistakes:
    """Read the sheets of a plan; the document, with what is wrong in it already."""
    document = WorkbookDocument(path)
    mistakes = Mistakes(document)
    sheets = _sheets(path, mistakes)
    if PLAN not in sheets:
        mistakes.add(
            (), "There is no sheet 'plan'. Add one, with a row for each setting: store, folder ..."
        )
    reader = _Sheets(document, mistakes)
    reader.settings(sheets.get(PLAN, []))
    reader.protections(sheets.get(PROTECTIONS, []))
    reader.office(sheets.get(OFFICE, []))
    reader.rows(TABLES, "table", TableSection, sheets.get(TABLES, []))
    reader.rows(INDICATORS, "indicator", IndicatorSection, sheets.get(INDICATORS, []))
    return mistakes


def _sheets(path: Path, mistakes: Mistakes) -> dict[str, list[_Row]]:
    """The rows of the sheets that make a plan, without empty ones and remarks."""
    if path.suffix.lower() in (".xlsx", ".xlsm"):
        content = read_workbook_file(path, what="plan")
    else:
        content = read_small_file(path, what="plan", largest=LARGEST_WORKBOOK)
        check_workbook(io.BytesIO(content), name=str(path), largest=LARGEST_UNPACKED, what="plan")
    try:
        import python_calamine
    except ImportError:
        raise MissingExtra("formats", needed_for=f"Reading the workbook {path}") from None
    found: dict[str, list[_Row]] = {}
    try:
        book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(content))
        for name in book.sheet_names:
            plain = name.strip().casefold()
            if plain in _SHEETS:
                values = book.get_sheet_by_name(name).to_python(skip_empty_area=False)
                if _SHEETS[plain] in found:
                    mistakes.add((), f"There are two sheets {_SHEETS[plain]!r}. Keep one.")
                found[_SHEETS[plain]] = list(_rows(values))
            elif get_close_matches(plain, _SHEETS, n=1, cutoff=0.75):
                mistakes.add((), unknown("sheet of a plan", name, _SHEETS))
    except python_calamine.PasswordError:
        raise InputError(f"{path} is locked with a password. Save it without one.") from None
    except Exception:  # the reader has error types of its own for each of its file formats
        raise InputError(f"{path} cannot be read as a workbook.") from None
    return found


def _rows(values: list[list[Any]]) -> Iterator[_Row]:
    for number, row in enumerate(values):
        cells = [text_of_cell(one.strip()) if isinstance(one, str) else one for one in row]
        first = next((cell for cell in cells if cell != ""), "")
        if first != "" and not (isinstance(first, str) and first.startswith("#")):
            yield number, cells


@dataclass(frozen=True, slots=True)
class _Sheets:
    """Puts the cells of sheets where the settings of a document stand."""

    document: WorkbookDocument
    mistakes: Mistakes

    def settings(self, rows: list[_Row]) -> None:
        """The sheet with a row for each setting."""
        takes = every_parameter()
        known = section_settings(takes)
        for name, value, place in self._pairs(PLAN, rows):
            target = known.get(name) or _SYNONYMS.get(name)
            target = target or known.get(name.removeprefix("protect_"))
            if target is None:
                self.mistakes.add((), f"{place}: {unknown('setting', name, known)}")
                continue
            of_method = takes.get(str(target[-1])) if target[0] == "protect" else None
            self._put(target, value, place, of_method=of_method)

    def office(self, rows: list[_Row]) -> None:
        """The sheet about the office."""
        known = [*(field for field in OfficeSection.model_fields if field != "symbols"), *SYMBOLS]
        for raw, value, place in self._pairs(OFFICE, rows):
            name, language = in_language(raw)
            name = re.sub(r"^(symbol|sign|office)s?_", "", name)
            if name in SYMBOLS:
                self._put(("office", "symbols", name), value, place)
            elif name in known:
                self._put(("office", name, *([language] if language else [])), value, place)
            else:
                self.mistakes.add((), f"{place}: {unknown('setting', raw, known)}")
        self._settle_languages(("office",))

    def protections(self, rows: list[_Row]) -> None:
        """The sheet with a row for each way to protect some of the tables."""
        takes = every_parameter()
        known = ["name", *ProtectSection.model_fields, *takes]
        heads: dict[int, str] = {}
        for at, cell in enumerate(rows[0][1] if rows else ()):
            name = plain(cell)
            if cell == "" or name in _REMARKS:
                continue
            if name not in known:
                place = place_text(PROTECTIONS, rows[0][0], at)
                self.mistakes.add((), f"{place}: {unknown('column', str(cell), known)}")
            else:
                heads[at] = name
        for number, cells in rows[1:]:
            said = {heads[at]: (at, cell) for at, cell in enumerate(cells) if at in heads}
            column, called = said.pop("name", (0, ""))
            place, name = place_text(PROTECTIONS, number, column), cell_text(called)
            if not name:
                self.mistakes.add((), f"{place}: give it a name, to which tables refer.")
                continue
            path: KeyPath = ("protect", name)
            if path in self.document.places:
                self.mistakes.add((), f"{place}: {name!r} stands there twice.")
                continue
            self.document.places[path] = f"sheet {PROTECTIONS!r}, row {number + 1}"
            self.document.data.setdefault("protect", {})[name] = {}
            for setting, (at, cell) in said.items():
                if cell != "":
                    where = place_text(PROTECTIONS, number, at, setting)
                    self._put((*path, setting), cell, where, of_method=takes.get(setting))

    def rows(self, sheet: str, part: str, section: type[Section], rows: list[_Row]) -> None:
        """A sheet with a row for each table or indicator."""
        if not rows:
            return
        columns = self._columns(sheet, section, rows[0])
        self.document.data[part] = []
        for number, cells in rows[1:]:
            said = [(at, cell) for at, cell in enumerate(cells) if cell != "" and at in columns]
            if not said:
                continue
            start: KeyPath = (part, len(self.document.data[part]))
            self.document.data[part].append({})
            self.document.places[start] = f"sheet {sheet!r}, row {number + 1}"
            for at, value in said:
                heading = str(rows[0][1][at])
                place = place_text(sheet, number, at, heading)
                self._put((*start, *columns[at]), value, place, section)
            self._settle_languages(start)
        if not self.document.data[part]:
            del self.document.data[part]

    def _columns(self, sheet: str, section: type[Section], head: _Row) -> dict[int, KeyPath]:
        """Which setting stands in which column."""
        number, cells = head
        known = list(section.model_fields)
        if not any(_heading(cell, section) in known for cell in cells):
            self.mistakes.add(
                (),
                f"{place_text(sheet, number, 0)}: the first row has to hold the names of the"
                f" columns: {', '.join(known)}. Move titles and remarks elsewhere, or begin them"
                " with #.",
            )
            return {}
        found: dict[int, KeyPath] = {}
        for at, cell in enumerate(cells):
            if cell == "":
                continue
            name, language = in_language(plain(cell))
            if name in _REMARKS:
                continue
            name = _heading(name, section)
            place = place_text(sheet, number, at)
            path: KeyPath = (name, *([language] if language else []))
            if name not in section.model_fields or (language and name != "title"):
                self.mistakes.add((), f"{place}: {unknown('column', str(cell), known)}")
            elif path in found.values():
                self.mistakes.add((), f"{place}: the column {cell!r} stands there twice.")
            else:
                found[at] = path
        return found

    def _pairs(self, sheet: str, rows: list[_Row]) -> Iterator[tuple[str, object, str]]:
        """Names and values of a sheet with a row for each, and where they stand."""
        seen: set[str] = set()
        for number, cells in rows:
            name, value = plain(cells[0]), cells[1] if len(cells) > 1 else ""
            if value == "" or (name in ("setting", "settings") and plain(value) == "value"):
                continue
            place = place_text(sheet, number, 1, str(cells[0]))
            if not name:
                self.mistakes.add((), f"{place}: there is a value without the name of a setting.")
            elif name in seen:
                self.mistakes.add((), f"{place}: {cells[0]!r} stands there twice.")
            else:
                seen.add(name)
                yield name, value, place

    def _put(
        self,
        path: KeyPath,
        value: object,
        place: str,
        section: type[Section] | None = None,
        of_method: Parameter | None = None,
    ) -> None:
        """Put the value of a cell where it belongs, as what its setting takes."""
        owner = section or _SECTIONS.get(str(path[0]), PlanHead)
        names = [one for one in path if one in owner.model_fields]
        try:
            if of_method is not None:
                written: object = of_method.parsed(cell_text(value))
            elif owner is TableSection and path[-1] == "protect":
                written = own_protection(cell_text(value))
            else:
                written = as_setting(value, owner, str(names[0]) if names else "")
        except ValueError as error:
            self.mistakes.add((), f"{place}: {error}")
            return
        self.document.places[path] = place
        inner: Any = self.document.data
        for step in path[:-1]:
            if isinstance(inner, list):
                inner = inner[int(step)]
                continue
            there = inner.setdefault(step, {})
            if not isinstance(there, dict | list):  # a text without a language came first
                there = inner[step] = {"": there}
            inner = there
        last = path[-1]
        if isinstance(inner.get(last), dict):
            inner[last][""] = written
        else:
            inner[last] = written

    def _settle_languages(self, path: KeyPath) -> None:
        """Texts of which one has no language: it is in the first language that is left."""
        inner: Any = self.document.data
        for step in path:
            inner = inner.get(step, {}) if isinstance(inner, dict) else inner[int(step)]
        output = self.document.data.get("output", {})
        wanted = output.get("languages", []) if isinstance(output, dict) else []
        for name, text in inner.items():
            if not isinstance(text, dict) or "" not in text:
                continue
            free = [one for one in (*wanted, "en") if one not in text]
            if not free:
                self.mistakes.add((*path, name), f"say in which language {name!r} is: {name}:xx.")
                text.pop("")
                continue
            inner[name] = {free[0]: text.pop(""), **text}


def _heading(cell: object, section: type[Section]) -> str:
    """The setting that a heading means, if it is one."""
    name, _ = in_language(plain(cell))
    return name if name in section.model_fields else _HEADINGS.get(name, name)


def every_parameter() -> dict[str, Parameter]:
    """What may be said about any method or step that there is, by name."""
    return parameters_of([taker for part in TABULAR for taker in Registered(part).values()])


def section_settings(takes: Mapping[str, Parameter]) -> dict[str, KeyPath]:
    """The settings of the sheet ``plan``, by name; with the parameters of methods."""
    lead, rest = ("method", "then"), ("import_published", "smallest_group")
    return {
        **{name: (name,) for name in PlanHead.model_fields},
        **{name: ("protect", name) for name in (*lead, *takes, *rest)},
        **{name: ("output", name) for name in OutputSection.model_fields},
        "policy": ("policy", "file"),
        "role": ("policy", "role"),
    }
