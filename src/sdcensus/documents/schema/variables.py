"""The variables of a schema: where they are read, what they are for, their codes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath, PureWindowsPath

from sdcensus.documents.schema.amounts import OF_AMOUNTS, check_amount_settings, read_scales
from sdcensus.documents.schema.codes import CodeListOfDocument, CodeListReader, name_problem
from sdcensus.documents.schema.grids import grid_of
from sdcensus.documents.schema.sections import VariableSection, read_section
from sdcensus.documents.schema.units import tables
from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.mistakes import Languages, Mistakes
from sdcensus.errors import unknown
from sdcensus.model.schema.grids import GridSpec
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import (
    NEVER_STORED,
    Entity,
    Role,
    Variable,
    VariableSource,
)
from sdcensus.model.text import Text

#: Decimal digits that are kept where the schema does not say how many.
DECIMALS_OF_WEIGHTS = 6
DECIMALS_OF_AMOUNTS = 2

_CODE_SETTINGS = (
    "codes",
    "range",
    "levels",
    "level_labels",
    "hierarchy",
    "not_stated",
    "not_applicable",
)

#: Names that mean devices on Windows, whatever their ending.
_DEVICES = frozenset(
    {"aux", "con", "nul", "prn"}
    | {f"{port}{number}" for port in ("com", "lpt") for number in range(1, 10)}
)


@dataclass(slots=True)
class Variables:
    """The variables that could be built, and the names of those that have mistakes."""

    variables: list[Variable] = field(default_factory=list)
    grids: list[GridSpec] = field(default_factory=list)
    broken: set[str] = field(default_factory=set)


def read_variables(
    raw: object,
    files: Mapping[str, Entity | None],
    units: Schema,
    languages: Languages,
    mistakes: Mistakes,
) -> Variables:
    """All variables of ``[variable.NAME]``.

    Args:
        raw: The table ``variable``.
        files: The kind of unit of each file that the document names, as far as it is known.
        units: A schema without variables, whose entities say what a file's rows lie within.
        languages: The languages of labels.
        mistakes: Where mistakes are noted.
    """
    result = Variables()
    sections: dict[str, VariableSection] = {}
    for name, one in tables(raw, "variable", mistakes):
        problem = name_problem(name) or _file_name_problem(name, sections)
        if problem:
            mistakes.add(("variable", name), problem)
        section = read_section(VariableSection, one, ("variable", name), mistakes)
        if section is None or problem or section.faulty:
            result.broken.update({name, f"{name}_grid"})
        if section is None:
            continue
        sections[name] = section
    for name, section in sections.items():
        built = _Builder(name, section, files, units, languages, mistakes).build()
        if built is None:
            result.broken.update({name, f"{name}_grid"})
            continue
        result.variables.append(built)
        if section.grid is not None:
            _add_grid(built, section, result, sections, mistakes)
    _choose_main(result, sections, units, mistakes)
    return result


def _choose_main(
    result: Variables,
    sections: Mapping[str, VariableSection],
    units: Schema,
    mistakes: Mistakes,
) -> None:
    """Of several geographies, mark the one where units are counted.

    It is the one that says so, else the one that most kinds of units have, else that of the largest
    units, else the first: a dwelling stands where its people live, and where they work is said of
    each of them; but dwellings that nobody is linked to say nothing about people.
    """
    said = [name for name, section in sections.items() if section.main]
    for name in said[1:]:
        mistakes.add(
            ("variable", name, "main"),
            f"{said[0]!r} is the main geography already. Units are counted in one place: say"
            " main = true once.",
        )
    kinds = [spec.entity for spec in units.entities]

    def order(at: int) -> tuple[bool, int, int, int]:
        variable = result.variables[at]
        having = sum(variable.entity in units.lineage(kind) for kind in kinds)
        return variable.name not in said, -having, len(units.lineage(variable.entity)), at

    areas = [at for at, variable in enumerate(result.variables) if variable.role is Role.GEOGRAPHY]
    if len(areas) < 2 or any(name in result.broken for name in said):
        return
    main = min(areas, key=order)
    for at in areas:
        result.variables[at] = replace(result.variables[at], main=at == main)


def _file_name_problem(name: str, others: Iterable[str]) -> str:
    """Why the column of a variable could not be a file of its own on every system."""
    if name.startswith("_"):
        return f"{name!r} cannot be a name of a variable: no underscore in front."
    if name.lower() in _DEVICES:
        return f"{name!r} cannot be the name of a file on Windows. Choose another name."
    for other in others:
        if other != name and other.lower() == name.lower():
            return f"{name!r} and {other!r} differ only in capital letters. Choose another name."
    return ""


@dataclass(slots=True)
class _Builder:
    """Builds one variable from its table."""

    name: str
    section: VariableSection
    files: Mapping[str, Entity | None]
    units: Schema
    languages: Languages
    mistakes: Mistakes

    def build(self) -> Variable | None:
        section = self.section
        before = len(self.mistakes.found)
        self._check_role()
        file = self._file()
        entity = self._entity(file)
        codes = self._codes()
        level_labels = () if codes is None else self._level_labels(codes)
        texts = [self._text(one) for one in ("label", "description", "topic")]
        unit = self._text("unit")
        self._check_map()
        if self._is_number and section.role is not Role.WEIGHT:
            check_amount_settings(self.name, section, self.mistakes)
        scales = read_scales(self.name, section, self.mistakes)
        if len(self.mistakes.found) > before or file is None or entity is None or codes is None:
            return None
        return Variable(
            name=self.name,
            entity=entity,
            codes=codes.codes,
            hierarchies=codes.hierarchies,
            leaf_level=codes.leaf_level,
            level_labels=level_labels,
            role=section.role,
            label=texts[0] or Text.of(self.name, language=self.languages.first),
            description=texts[1],
            topic=texts[2],
            unit=unit.show(),
            unit_by_language=unit if len(unit.by_language) > 1 else Text(),
            continuous=self._is_number,
            decimals=self._decimals(),
            map=section.map,
            imputed=section.imputed is not None,
            counts=section.counts,
            counts_open=tuple(section.counts_open),
            owner=section.owner is not None,
            waiver=section.waiver,
            source=VariableSource(
                file=file,
                column=section.column or self.name,
                empty=section.empty,
                imputed=section.imputed,
                width=section.width,
                owner=section.owner,
                owner_empty=section.owner_empty,
                scales=scales,
            ),
        )

    @property
    def _is_number(self) -> bool:
        """Whether it is kept as a fixed-point number."""
        return self.section.continuous or self.section.role in (Role.CONTINUOUS, Role.WEIGHT)

    def _add(self, path: KeyPath, text: str) -> None:
        self.mistakes.add(("variable", self.name, *path), text)

    def _given(self, settings: Iterable[str]) -> list[str]:
        return [setting for setting in settings if setting in self.section.model_fields_set]

    def _refuse(self, settings: Iterable[str], why: str) -> None:
        for setting in self._given(settings):
            self._add((setting,), f"{setting!r} cannot be given: {why}")

    def _check_role(self) -> None:
        """Settings that do not go with what the variable is."""
        section = self.section
        role = section.role
        if role in NEVER_STORED:
            why = f"a variable of role {str(role)!r} is read but never stored."
            self._refuse((*_CODE_SETTINGS, "continuous", "decimals", "imputed", "unit"), why)
        elif role is Role.WEIGHT:
            self._refuse((*_CODE_SETTINGS, "empty", "imputed"), "a weight is a number above 0.")
        elif self._is_number:
            self._refuse(("codes", "range", "hierarchy"), "the variable is continuous.")
        else:
            self._refuse(("decimals",), "only a continuous variable has decimals.")
            if section.codes is not None and section.range is not None:
                self._add(("range",), "give either 'codes' or 'range', not both.")
            doubtful = {"codes", "range", "continuous", "role"} & section.faulty
            if section.codes is None and section.range is None and not doubtful:
                self._add(
                    (),
                    "its codes are missing. Give 'codes', or 'range' for whole numbers, or"
                    " continuous = true for amounts, or a role that needs none"
                    f" ({', '.join(sorted(NEVER_STORED))}, weight).",
                )
        if not self._is_number or role is Role.WEIGHT:
            self._refuse(OF_AMOUNTS, "only amounts have it (continuous = true).")
        if self._is_number and role is Role.GEOGRAPHY:
            self._add(("role",), "a geography has codes; it cannot be continuous.")
        if self._is_number or role is Role.DIRECT_IDENTIFIER:
            self._refuse(("width",), "it is for ids and codes that are written with leading zeros.")
        if role is not Role.GEOGRAPHY:
            self._refuse(("main", "map", "grid"), 'it belongs to a variable of role "geography".')

    def _file(self) -> str | None:
        name = self.section.file
        if "file" in self.section.faulty:
            return None
        if name is None:
            if len(self.files) == 1:
                return next(iter(self.files))
            if self.files:
                listed = ", ".join(self.files)
                self._add((), f"the setting 'file' is missing: say which of {listed} holds it.")
            return None
        if name not in self.files:
            self._add(("file",), unknown("file", name, self.files))
            return None
        return name

    def _entity(self, file: str | None) -> Entity | None:
        rows = self.files.get(file) if file is not None else None
        asked = self.section.entity
        if asked is None or rows is None or asked is rows:
            return asked or rows
        known = [spec.entity for spec in self.units.entities]
        if not known:  # entities have mistakes of their own
            return None
        if asked not in known:
            self._add(
                ("entity",), unknown("entity", asked.value, [entity.value for entity in known])
            )
            return None
        if asked in self.files.values():
            self._add(
                ("entity",),
                f"{asked.plural} have a file of their own; read the variable from there.",
            )
            return None
        if self.units.entity(asked).derived_from is not rows:
            self._add(
                ("entity",),
                f"the {asked.plural} do not come from the rows of {file!r} ({rows.plural}).",
            )
            return None
        return asked

    def _codes(self) -> CodeListOfDocument | None:
        section = self.section
        if section.role in NEVER_STORED or section.role is Role.WEIGHT:
            return CodeListOfDocument()
        if not self._is_number and section.codes is None and section.range is None:
            return None
        if section.role is Role.CONTINUOUS and not section.continuous:
            section = section.model_copy(update={"continuous": True})
        return CodeListReader(self.name, section, self.languages, self.mistakes).read()

    def _text(self, setting: str) -> Text:
        raw = getattr(self.section, setting)
        return self.languages.text(raw, ("variable", self.name, setting), self.mistakes)

    def _level_labels(self, codes: CodeListOfDocument) -> tuple[tuple[str, Text], ...]:
        if self.section.role in (*NEVER_STORED, Role.WEIGHT):  # refused already
            return ()
        known = [codes.leaf_level or self.name] if codes.codes else []
        known += [level.name for hierarchy in codes.hierarchies for level in hierarchy.levels]
        found = []
        for name, raw in self.section.level_labels.items():
            path: KeyPath = ("level_labels", name)
            if name not in known:
                self._add(path, unknown("level", name, known))
            text = self.languages.text(raw, ("variable", self.name, *path), self.mistakes)
            found.append((name, text))
        return tuple(found)

    def _decimals(self) -> int:
        if not self._is_number:
            return 0
        if self.section.decimals is not None:
            return self.section.decimals
        is_weight = self.section.role is Role.WEIGHT
        return DECIMALS_OF_WEIGHTS if is_weight else DECIMALS_OF_AMOUNTS

    def _check_map(self) -> None:
        name = self.section.map
        if not name or self.section.role is not Role.GEOGRAPHY:
            return
        if PurePosixPath(name).is_absolute() or PureWindowsPath(name).is_absolute():
            self._add(("map",), "write the path of the map relative to the schema.")
            return
        path = self.mistakes.document.path.parent / name
        if not path.is_file():
            self._add(("map",), f"{path} does not exist. Check the name of the map.")


def _add_grid(
    variable: Variable,
    section: VariableSection,
    result: Variables,
    sections: Mapping[str, VariableSection],
    mistakes: Mistakes,
) -> None:
    """The extra variable of a geography: the cell of a square grid in which a unit lies."""
    name = f"{variable.name}_grid"
    if name in sections:
        mistakes.add(
            ("variable", variable.name, "grid"),
            f"the grid makes the variable {name!r}, which there is already.",
        )
        return
    declared = grid_of(variable, name, section, mistakes)
    if declared is None:
        result.broken.add(name)
        return
    grid, squares = declared
    result.grids.append(grid)
    result.variables.append(squares)
