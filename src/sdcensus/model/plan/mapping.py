"""How the variables of a census become the breakdowns of a programme."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.plan.programme import Breakdown, BreakdownCode, Programme
from sdcensus.model.schema.grids import size_name
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Code, CodeKind, Entity, Hierarchy, Level, Variable
from sdcensus.model.spec.universe import EVERYTHING, Universe
from sdcensus.model.text import Text

#: What a leaf of a variable goes to when its records are not in the population of a breakdown.
OUTSIDE = ""
#: The code for such leaves at the levels of an axis. No record of a table has it.
OUTSIDE_CODE = Code("_X", Text.of("Outside the table"), CodeKind.NOT_APPLICABLE)
#: The cell of a grid for those who are in none, behind the code of the country.
UNALLOCATED = "unallocated"
UNALLOCATED_LABEL = Text.of("Not allocated to a cell")
#: How axes call the level of the whole country, and that of the cells of a grid.
NATION, GRID_CELL = "GEO_N", "GEO_G"
_KILOMETRE = size_name(1000)


def cell_of(code: Code, country: str) -> str:
    """The cell of a grid that a code stands for, without the country; empty for none.

    Examples:
        >>> cell_of(Code("NL_CRS3035RES1000mN2689000E4337000"), "NL")
        'CRS3035RES1000mN2689000E4337000'
        >>> cell_of(Code("NL_unallocated"), "NL")
        ''
    """
    name = code.code.removeprefix(f"{country}_")
    return "" if code.is_missing or name == UNALLOCATED else name


def cells_of(grid: Variable) -> Level:
    """The cells of 1 km² of a grid: its leaves, or the level of that size if it has several."""
    names = [level.name for level in grid.levels()]
    return grid.level(_KILOMETRE if _KILOMETRE in names else None)


def why_uncountable(of: Entity, variable: Variable, schema: Schema) -> str:
    """Why units of a kind cannot be counted by a variable; empty if they can."""
    if variable.entity not in schema.lineage(of):
        return (
            f"{variable.name!r} describes {variable.entity.plural}, and one {of} may have several;"
            f" it cannot be used to count {of.plural}."
        )
    try:
        schema.inherited_missing(of, variable)
    except SpecError as error:
        return str(error)
    return ""


@dataclass(frozen=True, slots=True, eq=False)
class MappedBreakdown:
    """A breakdown made from a variable.

    Attributes:
        breakdown: The breakdown, with the areas of the country where it has any.
        variable: The variable of the census.
        leaves: For each leaf of the variable the leaf of the breakdown, or ``OUTSIDE``.
    """

    breakdown: Breakdown
    variable: Variable
    leaves: tuple[str, ...]

    @property
    def inside(self) -> npt.NDArray[np.bool_]:
        """Which leaves of the variable are in the population of the breakdown."""
        return np.array([leaf != OUTSIDE for leaf in self.leaves], dtype=bool)

    def level_name(self, depth: int) -> str:
        """How the axis calls the level at that depth of the breakdown."""
        return f"{self.breakdown.name.replace('.', '_')}_{depth}"

    def levels(self) -> tuple[Level, ...]:
        """The breakdown as partitions of the leaves of the variable, the finest first.

        A code that has no others below it stands again at every finer level.
        """
        tree = self.breakdown
        leaves = {leaf.code for leaf in tree.leaves}
        outside = OUTSIDE in self.leaves
        levels = []
        for depth in range(tree.depth, 0, -1):
            codes = [
                Code(code.code, code.label, code.kind)
                for code in tree.codes[1:]
                if tree.depth_of(code.code) == depth
                or (code.code in leaves and tree.depth_of(code.code) < depth)
            ]
            at = {code.code: place for place, code in enumerate(codes)}
            group = tuple(
                len(codes) if leaf == OUTSIDE else at[tree.at_depth(leaf, depth)]
                for leaf in self.leaves
            )
            shown = (*codes, OUTSIDE_CODE) if outside else tuple(codes)
            levels.append(Level(self.level_name(depth), shown, group))
        return tuple(levels)


@dataclass(frozen=True, slots=True, eq=False)
class MappedUnit:
    """Which records are one of the units that a programme counts."""

    name: str
    of: Entity
    universe: Universe = EVERYTHING


@dataclass(frozen=True, slots=True, eq=False)
class MappedGeography:
    """The areas of a programme in the geography of a census.

    Attributes:
        variable: The geography.
        levels: For each level of the programme that the country has, the level of the variable;
            the coarsest first.
    """

    variable: Variable
    levels: tuple[tuple[str, str], ...]

    def areas(self, names: tuple[str, ...], top: str) -> tuple[tuple[BreakdownCode, str], ...]:
        """The areas at these levels below ``top``, each behind the one that holds it, and levels.

        Areas without any leaf, or in none of the level above, stand below the top itself; codes for
        missing areas are left out.
        """
        wanted = [
            (name, self.variable.level(level)) for name, level in self.levels if name in names
        ]
        # By level as well as by code: a mapping may be asked before its codes are known to differ.
        children: dict[tuple[int, str], list[tuple[int, BreakdownCode]]] = {}
        for at, (_, level) in enumerate(wanted):
            above = wanted[at - 1][1] if at else None
            parent = dict.fromkeys(range(len(level.codes)), (-1, top))
            if above is not None:
                pairs = zip(level.group, above.group, strict=True)
                parent |= {
                    mine: (at - 1, above.codes[theirs].code)
                    for mine, theirs in pairs
                    if not above.codes[theirs].is_missing
                }
            for place, code in enumerate(level.codes):
                if not code.is_missing:
                    area = BreakdownCode(code.code, code.label, parent[place][1])
                    children.setdefault(parent[place], []).append((at, area))
        areas: list[tuple[BreakdownCode, str]] = []
        waiting = list(reversed(children.get((-1, top), ())))
        while waiting:
            at, area = waiting.pop()
            areas.append((area, wanted[at][0]))
            waiting += reversed(children.get((at, area.code), ()))
        return tuple(areas)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Mapping:
    """What a census has of what a programme asks for.

    Attributes:
        programme: The programme.
        country: Its code: the code of national totals, and the start of codes of grid cells.
        country_name: What it is called.
        geography: Its areas, if they are mapped.
        grid: The variable with the cells of the grid, if there is one.
        units: What is counted.
        breakdowns: Those that the office mapped; coarser ones follow from them.
        file: Where it was read from.
    """

    programme: Programme
    country: str
    country_name: str = ""
    geography: MappedGeography | None = None
    grid: Variable | None = None
    units: tuple[MappedUnit, ...] = ()
    breakdowns: tuple[MappedBreakdown, ...] = ()
    file: str = ""
    _derived: dict[str, MappedBreakdown | None] = field(
        init=False, repr=False, default_factory=dict
    )

    def __repr__(self) -> str:
        return f"<Mapping of {self.country} to {self.programme.name}>"

    def breakdown(self, name: str) -> MappedBreakdown | None:
        """A breakdown as it was mapped, or as it follows from a finer one; else ``None``."""
        if name not in self._derived:
            self._derived[name] = self._derive(name)
        return self._derived[name]

    def _derive(self, name: str) -> MappedBreakdown | None:
        mapped = {breakdown.breakdown.name: breakdown for breakdown in self.breakdowns}
        if name in mapped:
            return mapped[name]
        for finer in self.programme.finer(name):
            if finer in mapped:
                source = mapped[finer]
                goes = {
                    leaf.code: self.programme.coarser_leaf(finer, name, leaf.code)
                    for leaf in source.breakdown.leaves
                }
                leaves = tuple(goes[leaf] if leaf != OUTSIDE else OUTSIDE for leaf in source.leaves)
                return MappedBreakdown(self.programme.breakdown(name), source.variable, leaves)
        return None

    def unit(self, name: str) -> MappedUnit | None:
        """What is counted under that name, if it was said or needs not be said."""
        for mapped_unit in self.units:
            if mapped_unit.name == name:
                return mapped_unit
        unit = self.programme.unit(name)
        return MappedUnit(name, unit.of) if unit.whole else None

    def variable(self, variable: Variable) -> Variable:
        """A variable of the census with the levels of all breakdowns that are made from it.

        All tables use the same one, so that each can be added up from any finer one.
        """
        trees = []
        taken = {level.name for level in variable.levels()}
        for breakdown in self.programme.breakdowns:
            mapped = self.breakdown(breakdown.name)
            if mapped is not None and mapped.variable.name == variable.name:
                trees.append(Hierarchy(breakdown.name, mapped.levels()))
        if self.geography is not None and self.geography.variable.name == variable.name:
            trees.append(Hierarchy(NATION, (self._nation(variable),)))
        if self.grid is not None and self.grid.name == variable.name:
            trees.append(Hierarchy(GRID_CELL, (self._cells(variable),)))
        for level in (level for tree in trees for level in tree.levels):
            if level.name in taken:
                raise SpecError(
                    f"{variable.name!r} has a level {level.name!r} already, which is how the"
                    f" programme {self.programme.name} calls one of its own. Rename it in the"
                    " schema."
                )
        return replace(variable, hierarchies=(*variable.hierarchies, *trees))

    def _nation(self, variable: Variable) -> Level:
        """The level that has the country as its only code."""
        code = Code(self.country, Text.of(self.country_name or self.country))
        return Level(NATION, (code,), (0,) * len(variable.codes))

    def _cells(self, grid: Variable) -> Level:
        """The cells of the grid under their full names, and one for those who are in none."""
        start = f"{self.country}_"
        shown = cells_of(grid)
        names = [cell_of(code, self.country) for code in shown.codes]
        cells = [(name, code) for name, code in zip(names, shown.codes, strict=True) if name]
        at = {code.code: number for number, (_, code) in enumerate(cells)}
        codes = [Code(start + name, code.label) for name, code in cells]
        codes.append(Code(start + UNALLOCATED, UNALLOCATED_LABEL, CodeKind.NOT_APPLICABLE))
        place = [at.get(code.code, len(cells)) for code in shown.codes]
        group = tuple(place[number] for number in shown.group)
        return Level(GRID_CELL, tuple(codes), group)
