"""Reading a mapping document: which variables and codes of a census a programme's are made from."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from sdcensus.documents.mapping.codes import MappingEntry, code_entries, listed, mapped_leaves
from sdcensus.documents.mapping.sections import (
    SAME,
    BreakdownSection,
    GridOfMapping,
    MappingHead,
    UnitSection,
)
from sdcensus.documents.schema.sections import read_section
from sdcensus.documents.toml.lines import KeyPath, TomlDocument, read_toml
from sdcensus.documents.toml.mistakes import Mistakes
from sdcensus.errors import SpecError, unknown
from sdcensus.model.plan.mapping import (
    OUTSIDE,
    UNALLOCATED,
    MappedBreakdown,
    MappedGeography,
    MappedUnit,
    Mapping,
    cell_of,
    cells_of,
    why_uncountable,
)
from sdcensus.model.plan.programme import GEOGRAPHY, Breakdown, Programme
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Level, Variable
from sdcensus.model.spec.universe import EVERYTHING, universe_of

_HEAD = ("programme", "country")
_TABLES = ("geography", "grid", "units", "breakdown")


def read_mapping(path: str | Path, programme: Programme, schema: Schema) -> Mapping:
    """Read a mapping and check it in full against the programme and the census.

    Raises:
        InputError: There is no such file, or it cannot be opened.
        DocumentError: It has mistakes; all of them are listed with their lines.
    """
    return mapping_from_document(read_toml(Path(path), what="mapping"), programme, schema)


def mapping_from_document(document: TomlDocument, programme: Programme, schema: Schema) -> Mapping:
    """Build the mapping that a document describes, or list all its mistakes."""
    return _Reader(document, programme, schema).read()


class _Reader:
    """Reads one document, part by part, and collects its mistakes."""

    def __init__(self, document: TomlDocument, programme: Programme, schema: Schema) -> None:
        self.document = document
        self.data = document.data
        self.programme = programme
        self.schema = schema
        self.mistakes = Mistakes(document)

    def read(self) -> Mapping:
        for name in self.data:
            if name not in (*_HEAD, *_TABLES):
                self.mistakes.add((name,), unknown("setting or table", name, (*_HEAD, *_TABLES)))
        head = self._head()
        geography = self._geography()
        grid = self._grid(head.country if head is not None else "")
        units = tuple(self._units())
        breakdowns = tuple(self._breakdowns(geography, units))
        if not breakdowns and not self.mistakes.found:
            self.mistakes.add((), "No breakdown is mapped: add one, such as [breakdown.SEX].")
        self.mistakes.raise_if_any()
        assert head is not None  # else there is a mistake
        mapping = Mapping(
            programme=self.programme,
            country=head.country,
            country_name=self.schema.census.country,
            geography=geography,
            grid=grid,
            units=units,
            breakdowns=breakdowns,
            file=str(self.document.path),
        )
        self._check_together(mapping)
        self.mistakes.raise_if_any()
        return mapping

    def _head(self) -> MappingHead | None:
        raw = {name: self.data[name] for name in _HEAD if name in self.data}
        head = read_section(MappingHead, raw, (), self.mistakes)
        if head is not None and head.programme and head.programme != self.programme.name:
            self.mistakes.add(
                ("programme",),
                f"this mapping is for the programme {head.programme!r}, not for"
                f" {self.programme.name!r}.",
            )
        return head

    def _check_together(self, mapping: Mapping) -> None:
        """What only shows when all parts are there: names that are taken."""
        geography = mapping.geography
        if geography is not None:
            check_areas(geography, mapping.country, self.mistakes)
        for breakdown in mapping.breakdowns:
            try:
                mapping.variable(breakdown.variable)
            except SpecError as error:
                self.mistakes.add(("breakdown",), str(error))

    # ------------------------------------------------------------------------------ areas

    def _variable(self, name: str, path: KeyPath) -> Variable | None:
        """A variable by which tables can be made."""
        try:
            variable = self.schema.variable(name)
        except SpecError as error:
            self.mistakes.add(path, str(error))
            return None
        if not variable.is_axis:
            self.mistakes.add(path, f"tables cannot be made by {name!r}: it has no codes.")
            return None
        return variable

    def _geography(self) -> MappedGeography | None:
        raw = self.data.get("geography")
        if raw is None:
            return None
        known = ("variable", *self.programme.area_levels)
        if not isinstance(raw, dict):
            self.mistakes.add(("geography",), "should be a table: [geography]")
            return None
        wrong = False
        for name, value in raw.items():
            if name not in known:
                self.mistakes.add(("geography", name), unknown("setting", name, known))
            elif not isinstance(value, str) or not value.strip():
                self.mistakes.add(
                    ("geography", name), f'{name!r}: should be a text such as "district"'
                )
            else:
                continue
            wrong = True
        if wrong:
            return None
        if "variable" in raw:
            variable = self._variable(raw["variable"], ("geography", "variable"))
        else:
            variable = self.schema.geography
            if variable is None:
                self.mistakes.add(("geography",), "the setting 'variable' is missing: the areas")
        if variable is None:
            return None
        return self._levels(variable, raw)

    def _levels(self, variable: Variable, raw: dict[str, str]) -> MappedGeography | None:
        levels: list[tuple[str, Level]] = []
        for name in self.programme.area_levels:
            if name not in raw:
                continue
            path: KeyPath = ("geography", name)
            try:
                level = variable.level(raw[name])
            except SpecError as error:
                self.mistakes.add(path, str(error))
                return None
            if levels and level.name == levels[-1][1].name:
                self.mistakes.add(
                    path,
                    f"{level.name!r} is the level of {levels[-1][0]} already. Leave out the level"
                    " that the country does not have.",
                )
                return None
            if levels and not level.refines(levels[-1][1]):
                self.mistakes.add(
                    path,
                    f"areas of {level.name!r} do not lie within those of {levels[-1][1].name!r}.",
                )
                return None
            levels.append((name, level))
        return MappedGeography(variable, tuple((name, level.name) for name, level in levels))

    def _grid(self, country: str) -> Variable | None:
        if "grid" not in self.data:
            return None
        section = read_section(GridOfMapping, self.data["grid"], ("grid",), self.mistakes)
        if section is None:
            return None
        path: KeyPath = ("grid", "variable")
        variable = self._variable(section.variable, path)
        if variable is None:
            return None
        return variable if check_cells(variable, country, path, self.mistakes) else None

    # ------------------------------------------------------------------------------ units

    def _units(self) -> Iterator[MappedUnit]:
        raw = self.data.get("units", {})
        if not isinstance(raw, dict):
            self.mistakes.add(("units",), "should be tables such as [units.private_households]")
            return
        known = [unit.name for unit in self.programme.units]
        for name, one in raw.items():
            path: KeyPath = ("units", name)
            if name not in known:
                self.mistakes.add(path, unknown("unit", name, known))
                continue
            section = read_section(UnitSection, one, path, self.mistakes)
            if section is None:
                continue
            of = section.of or self.programme.unit(name).of
            if of not in {entity.entity for entity in self.schema.entities}:
                kinds = ", ".join(entity.entity.plural for entity in self.schema.entities)
                self.mistakes.add(path, f"{name}: the census has no {of.plural}. It has: {kinds}.")
                continue
            universe = EVERYTHING
            if section.condition:
                try:
                    universe = universe_of(section.condition, self.schema)
                except SpecError as error:
                    self.mistakes.add((*path, "condition"), f"{name}: {error}")
                    continue
            if self._fits(of, universe.variables, (*path, "condition"), name):
                yield MappedUnit(name, of, universe)

    def _fits(self, of: Entity, variables: tuple[Variable, ...], path: KeyPath, name: str) -> bool:
        """Whether units of that kind have these variables, their own or inherited."""
        fits = True
        for variable in variables:
            why = why_uncountable(of, variable, self.schema)
            if why:
                self.mistakes.add(path, f"{name}: {why}")
                fits = False
        return fits

    # ------------------------------------------------------------------------------ breakdowns

    def _breakdowns(
        self, geography: MappedGeography | None, units: tuple[MappedUnit, ...]
    ) -> Iterator[MappedBreakdown]:
        mapped: dict[str, KeyPath] = {}
        found = list(self._named())
        for breakdown, _, path in found:
            if breakdown.name in mapped:
                line = self.document.line_of(*mapped[breakdown.name])
                self.mistakes.add(path, f"{breakdown.name} is mapped on line {line} already.")
            mapped.setdefault(breakdown.name, path)
        for breakdown, raw, path in found:
            for finer in self.programme.finer(breakdown.name):
                if finer in mapped:
                    line = self.document.line_of(*mapped[finer])
                    self.mistakes.add(
                        path,
                        f"{breakdown.name} follows from {finer}, which is mapped on line {line}."
                        " Take one of them out.",
                    )
                    break
            else:
                mapped_breakdown = self._breakdown(breakdown, raw, path, geography, units)
                if mapped_breakdown is not None:
                    yield mapped_breakdown

    def _named(self) -> Iterator[tuple[Breakdown, object, KeyPath]]:
        """The breakdowns of the document, whether ``[breakdown.AGE.H]`` or ``."AGE.H"``."""
        raw = self.data.get("breakdown", {})
        if not isinstance(raw, dict):
            self.mistakes.add(("breakdown",), "should be tables such as [breakdown.SEX]")
            return
        settings = set(BreakdownSection.model_fields)
        for name, value in raw.items():
            inner = value if isinstance(value, dict) else {}
            nested = inner and not settings & set(inner)
            parts = [(f"{name}.{part}", one, (name, part)) for part, one in inner.items()]
            for full, one, path in parts if nested else [(name, value, (name,))]:
                where: KeyPath = ("breakdown", *path)
                breakdown = self._known(full, where)
                if breakdown is not None:
                    yield breakdown, one, where

    def _known(self, name: str, path: KeyPath) -> Breakdown | None:
        """The breakdown of that name; a name without its last part stands for the finest."""
        if name == GEOGRAPHY or name.startswith(f"{GEOGRAPHY}."):
            table = "grid" if name == f"{GEOGRAPHY}.G" else "geography"
            self.mistakes.add(path, f"areas are mapped by [{table}], not by [breakdown.{name}].")
            return None
        names = [breakdown.name for breakdown in self.programme.breakdowns]
        if name in names:
            return self.programme.breakdown(name)
        for breakdown in self.programme.breakdowns:
            if breakdown.name.startswith(f"{name}.") and not breakdown.finer:
                return breakdown
        # Capitals are part of the name, and without them no name is near.
        near = name.upper() if any(one.startswith(name.upper()) for one in names) else name
        said = unknown("breakdown", near, names).replace(repr(near), repr(name), 1)
        self.mistakes.add(path, said)
        return None

    def _breakdown(
        self,
        breakdown: Breakdown,
        raw: object,
        path: KeyPath,
        geography: MappedGeography | None,
        units: tuple[MappedUnit, ...],
    ) -> MappedBreakdown | None:
        section = read_section(BreakdownSection, raw, path, self.mistakes)
        if section is None or section.faulty:
            return None
        variable = self._variable(section.variable, (*path, "variable"))
        if variable is None:
            return None
        if section.level is not None:
            try:
                variable.level(section.level)
            except SpecError as error:
                self.mistakes.add((*path, "level"), str(error))
                return None
        kinds = self._counted_by(breakdown, units)
        for of in sorted(kinds & {entity.entity for entity in self.schema.entities}):
            if not self._fits(of, (variable,), (*path, "variable"), breakdown.name):
                return None
        tree = self._with_areas(breakdown, path, geography)
        if tree is None:
            return None
        before = len(self.mistakes.found)
        folder = self.document.path.parent
        entries = [
            *code_entries(section.codes, tree, (*path, "codes"), folder, self.mistakes),
            *(
                MappingEntry(code, OUTSIDE, (*path, "outside", at))
                for at, code in enumerate(section.outside)
            ),
        ]
        if len(self.mistakes.found) > before:
            return None
        if section.codes == SAME:
            shown = variable.level(section.level).codes
            same = [code.code for code in shown if code.code not in section.outside]
            entries += [MappingEntry(one, one, path) for one in same]
        leaves = mapped_leaves(tree, variable, section.level, entries, path, self.mistakes)
        return None if leaves is None else MappedBreakdown(tree, variable, leaves)

    def _counted_by(self, breakdown: Breakdown, units: tuple[MappedUnit, ...]) -> set[Entity]:
        """The kinds of records that tables count by a breakdown or by one that follows from it."""
        said = {unit.name: unit.of for unit in units}
        return {
            said.get(cube.unit.name, cube.unit.of)
            for cube in self.programme.hypercubes
            for names in cube.dimensions[1:]
            for name in names
            if name == breakdown.name or breakdown.name in self.programme.finer(name)
        }

    def _with_areas(
        self, breakdown: Breakdown, path: KeyPath, geography: MappedGeography | None
    ) -> Breakdown | None:
        """A breakdown that shows areas, with those of the two upper levels of the country."""
        if not breakdown.areas_below:
            return breakdown
        if geography is None:
            if "geography" not in self.data:
                self.mistakes.add(
                    path,
                    f"{breakdown.name} shows areas, so [geography] is needed. Map a coarser"
                    " breakdown if the census has none.",
                )
            return None
        upper = self.programme.area_levels[:2]
        areas = [area for area, _ in geography.areas(upper, breakdown.areas_below)]
        try:
            return breakdown.with_areas(areas)
        except SpecError:
            taken = {code.code for code in breakdown.codes}
            both = [area.code for area in areas if area.code in taken]
            self.mistakes.add(
                path,
                f"{breakdown.name} has the codes {listed(both)} itself, so areas cannot have"
                " them. Give areas codes of their own in the schema.",
            )
            return None


#: Cells of 1 km² in the European projection, as the regulation names them.
_CELL = re.compile(r"CRS3035RES1000mN[0-9]+000E[0-9]+000")


def check_areas(geography: MappedGeography, country: str, mistakes: Mistakes) -> None:
    """Refuse codes that stand at two levels, in one message for each pair of levels."""
    levels = {"the country": {country}}
    for name, level in geography.levels:
        shown = geography.variable.level(level).codes
        codes = [code.code for code in shown if not code.is_missing]
        for other, taken in levels.items():
            both = [code for code in codes if code in taken]
            if both:
                mistakes.add(
                    ("geography", name),
                    f"{listed(both)} {'is a code' if len(both) == 1 else 'are codes'} of {other} as"
                    f" well as of {name}. Areas of all levels need codes of their own: change them"
                    " in the schema.",
                )
        levels[name] = set(codes)


def check_cells(variable: Variable, country: str, path: KeyPath, mistakes: Mistakes) -> bool:
    """Whether the codes of a variable are cells of the grid, none of them twice."""
    cells = [(code.code, cell_of(code, country)) for code in cells_of(variable).codes]
    named = [(code, cell) for code, cell in cells if cell]
    other = [code for code, cell in named if _CELL.fullmatch(cell) is None]
    if other:
        mistakes.add(
            path,
            f"{listed(other)} of {variable.name!r} are no cells of"
            f" 1 km² of {country or 'the country'}. Cells are called as"
            " CRS3035RES1000mN2689000E4337000, by the metres of their corner in EPSG 3035, with or"
            f" without {country}_ in front; {UNALLOCATED!r} stands for none.",
        )
        return False
    times = Counter(cell for _, cell in named)
    twice = [code for code, cell in named if times[cell] > 1]
    if twice:
        mistakes.add(
            path,
            f"{listed(twice)} of {variable.name!r} are the same cell. Leave one of them in the"
            " schema.",
        )
    return not twice
