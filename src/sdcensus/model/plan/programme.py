"""Programmes of tables that others define: their breakdowns, hypercubes and grid. Facts, no data.

A breakdown is a tree of codes below a total, whose leaves may stand at different depths. A
hypercube is a table of counts by breakdowns that are crossed with each other.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from sdcensus.errors import SpecError, UnknownName
from sdcensus.model.schema.variable import CodeKind, Entity
from sdcensus.model.text import Text

#: Breakdowns by area; the rest of the name says how fine.
GEOGRAPHY = "GEO"


@dataclass(frozen=True, slots=True)
class BreakdownCode:
    """One code of a breakdown; ``parent`` is the code above it, empty for the total."""

    code: str
    label: Text
    parent: str = ""
    kind: CodeKind = CodeKind.VALID


@dataclass(frozen=True, slots=True)
class Breakdown:
    """A tree of codes: the total first, every code behind the one above it.

    Attributes:
        name: How the programme calls it, such as ``AGE.M``.
        topic: What it is about.
        codes: The total, then all codes in the order of the programme.
        finer: The breakdown of the same topic from which it follows; empty for the finest.
        areas_below: The code below which the areas of a country stand, if it has any.
    """

    name: str
    topic: Text
    codes: tuple[BreakdownCode, ...]
    finer: str = ""
    areas_below: str = ""
    _places: Mapping[str, int] = field(init=False, repr=False, compare=False)
    _depths: tuple[int, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        places: dict[str, int] = {}
        depths: list[int] = []
        for at, code in enumerate(self.codes):
            if code.code in places or bool(code.parent) is not bool(at):
                raise SpecError(f"Breakdown {self.name}: the code {code.code!r} stands twice.")
            if code.parent and code.parent not in places:
                raise SpecError(
                    f"Breakdown {self.name}: {code.parent!r} is not above {code.code!r}."
                )
            places[code.code] = at
            depths.append(depths[places[code.parent]] + 1 if code.parent else 0)
        object.__setattr__(self, "_places", MappingProxyType(places))
        object.__setattr__(self, "_depths", tuple(depths))

    @property
    def total(self) -> BreakdownCode:
        """The code for everything."""
        return self.codes[0]

    @property
    def leaves(self) -> tuple[BreakdownCode, ...]:
        """The codes that have no others below them."""
        parents = {code.parent for code in self.codes}
        return tuple(code for code in self.codes if code.code not in parents)

    @property
    def depth(self) -> int:
        """How many levels there are below the total."""
        return max(self._depths)

    @property
    def parents(self) -> tuple[int, ...]:
        """For each code the place of the one above it; -1 for the total."""
        return tuple(self._places[code.parent] if code.parent else -1 for code in self.codes)

    def place(self, code: str) -> int:
        """Where a code stands among ``codes``."""
        try:
            return self._places[code]
        except KeyError:
            raise UnknownName("code", code, known=self._places, where=f"{self.name}: ") from None

    def depth_of(self, code: str) -> int:
        """How far below the total a code stands."""
        return self._depths[self.place(code)]

    def at_depth(self, code: str, depth: int) -> str:
        """The code itself or the one above it at ``depth``; itself where it stands higher."""
        while self.depth_of(code) > depth:
            code = self.codes[self.place(code)].parent
        return code

    def below(self, code: str) -> tuple[str, ...]:
        """The leaves that a code stands for: itself, or all below it."""
        depth = self.depth_of(code)
        return tuple(
            leaf.code
            for leaf in self.leaves
            if self.depth_of(leaf.code) >= depth and self.at_depth(leaf.code, depth) == code
        )

    def with_areas(self, areas: Sequence[BreakdownCode]) -> Breakdown:
        """The breakdown of a country: its areas stand directly below ``areas_below``."""
        if not self.areas_below:
            return self
        at = self.place(self.areas_below) + 1
        return Breakdown(
            self.name,
            self.topic,
            (*self.codes[:at], *areas, *self.codes[at:]),
            self.finer,
            self.areas_below,
        )


@dataclass(frozen=True, slots=True)
class ProgrammeUnit:
    """What the cells of some hypercubes count.

    Attributes:
        name: How mappings call it, such as ``private_households``.
        label: What it is called in titles.
        of: The kind of record that it usually is.
        whole: Whether it is all records of that kind unless a mapping says otherwise.
    """

    name: str
    label: Text
    of: Entity
    whole: bool = False


@dataclass(frozen=True, slots=True)
class Hypercube:
    """A table of a programme.

    Attributes:
        name: Its number, such as ``9.2``.
        group: The group that it belongs to.
        unit: What it counts.
        dimensions: Its breakdowns, the geographic one first; where the country may choose, all
            that it may choose from.
    """

    name: str
    group: str
    unit: ProgrammeUnit
    dimensions: tuple[tuple[str, ...], ...]


@dataclass(frozen=True, slots=True)
class GridStatistic:
    """One figure for each cell of the grid.

    Attributes:
        code, label: What it is called.
        breakdown, breakdown_code: The people whom it counts.
        may_be_confidential: Whether it may be withheld.
        populated: Whether it is marked where the observed number is not 0.
        optional: Whether countries give it as far as they can.
    """

    code: str
    label: Text
    breakdown: str
    breakdown_code: str
    may_be_confidential: bool
    populated: bool
    optional: bool


@dataclass(frozen=True, slots=True)
class CellValue:
    """A flag of a cell, or a value that is no number.

    Attributes:
        kind: ``flag`` or ``value``.
        name: How the programme calls it.
        on: Where it may stand.
        meaning: What it says.
    """

    kind: str
    name: str
    on: str
    meaning: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class Programme:
    """A programme of tables, as its regulations define it.

    Attributes:
        name: How plans call it.
        title, sources: What it is, and where it is laid down.
        units: What its tables count.
        breakdowns: All but those by area.
        geography: For each breakdown by area the levels below the national total, coarsest first.
        hypercubes: Its tables.
        groups: For each group of tables, all breakdowns that it names.
        grid: The figures for each cell of a grid; empty if it has none.
        cell_values: Flags, and values that are no numbers.
        correspondence: For each breakdown that follows from a finer one, for each leaf of the
            finer one its own leaf.
    """

    name: str
    title: Text
    sources: tuple[str, ...]
    units: tuple[ProgrammeUnit, ...]
    breakdowns: tuple[Breakdown, ...]
    geography: tuple[tuple[str, tuple[str, ...]], ...]
    hypercubes: tuple[Hypercube, ...]
    groups: tuple[Hypercube, ...]
    grid: tuple[GridStatistic, ...] = ()
    cell_values: tuple[CellValue, ...] = ()
    correspondence: Mapping[str, Mapping[str, str]] = field(
        default_factory=lambda: MappingProxyType({})
    )

    def __repr__(self) -> str:
        return f"<Programme {self.name}: {len(self.hypercubes)} hypercubes>"

    def breakdown(self, name: str) -> Breakdown:
        """The breakdown of that name."""
        for breakdown in self.breakdowns:
            if breakdown.name == name:
                return breakdown
        known = [breakdown.name for breakdown in self.breakdowns]
        raise UnknownName("breakdown", name, known=known, where=f"{self.name}: ")

    def unit(self, name: str) -> ProgrammeUnit:
        """The unit of that name."""
        for unit in self.units:
            if unit.name == name:
                return unit
        raise UnknownName("unit", name, known=[unit.name for unit in self.units])

    @property
    def area_levels(self) -> tuple[str, ...]:
        """All levels of areas, the coarsest first."""
        return max((levels for _, levels in self.geography), key=len)

    def levels_of(self, name: str) -> tuple[str, ...] | None:
        """The levels of areas of a breakdown; ``None`` for one that is not about areas."""
        return dict(self.geography).get(name)

    def finer(self, name: str) -> tuple[str, ...]:
        """The breakdowns from which one follows, the nearest first."""
        names = []
        while name := self.breakdown(name).finer:
            names.append(name)
        return tuple(names)

    def coarser_leaf(self, fine: str, coarse: str, code: str) -> str:
        """The leaf of a coarser breakdown that holds a code of a finer one."""
        way = [coarse, *self.finer(coarse)]
        for name in reversed(way[: way.index(fine)]):
            code = _nearest(self.breakdown(self.breakdown(name).finer), code, self, name)
        return code

    def cells_of(self, hypercube: Hypercube) -> int:
        """How many cells a hypercube has for each area, totals and groups included."""
        return math.prod(
            len(self.breakdown(dimension[0]).codes) for dimension in hypercube.dimensions[1:]
        )


def _nearest(fine: Breakdown, code: str, programme: Programme, coarse: str) -> str:
    """Where a code of a finer breakdown goes; areas go where the code above them goes."""
    held = programme.correspondence[coarse]
    if code not in held and fine.areas_below:
        code = fine.areas_below
    return held[code]
