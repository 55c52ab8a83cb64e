"""What advice depends on: how many units a census has, in areas of which sizes."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.policy.menu import finest_first
from sdcensus.model.policy.policy import area_variables
from sdcensus.model.schema.roles import IndicatorRole, variable_for
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Level, Variable
from sdcensus.model.vocabulary import Measure
from sdcensus.session.census.census import Census
from sdcensus.session.census.sample import fitting_measure, weightings


@dataclass(frozen=True, slots=True, repr=False)
class AreaLevel(Confidential):
    """The areas of one level.

    Attributes:
        variable, level: The geography, and the level.
        units: How many units each area has, empty ones included.
    """

    variable: Variable
    level: Level
    units: tuple[int, ...]

    def __repr__(self) -> str:
        return f"<AreaLevel {self.axis}: confidential>"

    @property
    def axis(self) -> str:
        """The level in the grammar of plans."""
        if self.level.name == self.variable.leaf_level:
            return self.variable.name
        return f"{self.variable.name}@{self.level.name}"

    @property
    def filled(self) -> tuple[int, ...]:
        """The sizes of the areas that are not empty."""
        return tuple(unit for unit in self.units if unit)

    @property
    def median(self) -> int:
        """The size of the area in the middle of those that are not empty."""
        return int(np.median(self.filled)) if self.filled else 0

    def share_with(self, cells: int, mean: float) -> float:
        """The share of areas, empty ones aside, whose cells would hold so many on average."""
        filled = np.array(self.filled)
        return float((filled / cells >= mean).mean()) if filled.size else 0.0


@dataclass(frozen=True, slots=True, repr=False)
class Facts(Confidential):
    """What advice depends on.

    Attributes:
        of: The units that most tables count.
        units: How many there are.
        areas: The levels of the main geography that lie in each other, finest first; empty
            without one.
        across: Its other levels, which cut across these.
        variables: What such units can be tabulated by, the main areas aside.
        sex, age: Those of them, if they are found.
        measure: What tables should say: weighted counts of a sample. ``None`` where counts of
            records are what everybody expects.
        stand_for: How many they stand for by their weights; ``None`` where they have none.
        unsaid: The measure, where the schema does not say it, so that plan and policy have to.
    """

    of: Entity
    units: int
    areas: tuple[AreaLevel, ...]
    variables: tuple[Variable, ...]
    sex: Variable | None
    age: Variable | None
    across: tuple[AreaLevel, ...] = ()
    measure: Measure | None = None
    stand_for: int | None = None
    unsaid: Measure | None = None

    def __repr__(self) -> str:
        return f"<Facts about {self.of.plural}: confidential>"


def facts_of(census: Census, *, measure: Measure | None = None) -> Facts:
    """Look at a census. Sizes are numbers of records: these are what can be found again.

    Args:
        census: The census.
        measure: What its tables shall say; by default what fits it.

    Raises:
        SpecError: There is nothing to tabulate, or nobody.
    """
    schema = census.schema
    sums = {weighting.of: weighting for weighting in weightings(census)}
    measure = measure or fitting_measure(schema, sums.values())
    kinds = _tabulated(schema)
    if measure is Measure.WEIGHTED:
        kinds = [kind for kind in kinds if kind in sums]
        if not kinds:
            raise SpecError(
                "The records are a weighted sample, and no units that have variables have a weight."
            )
    sizes = {kind: _count(census, kind) for kind in kinds}
    of = next((kind for kind in kinds if sizes[kind]), None)
    if of is None:
        raise SpecError(f"The store has no {kinds[0].plural}, so there is nothing to recommend.")
    units = sizes[of]
    places = main_areas(schema, of)
    variables = tuple(variable for variable in schema.usable(of) if variable not in places)
    levels = areas_of(census, of)
    areas = nested(levels)
    return Facts(
        of,
        units,
        areas,
        variables,
        _playing(IndicatorRole.SEX, schema, variables),
        _playing(IndicatorRole.AGE, schema, variables),
        tuple(level for level in levels if level not in areas),
        measure,
        round(sums[of].weight) if of in sums else None,
        None if schema.census.measure is measure else measure,
    )


def area_of(schema: Schema, of: Entity) -> Variable | None:
    """The geography in which units of a kind are counted: the main one, else one of their own."""
    usable = schema.usable(of)
    return next((area for area in schema.geographies if area in usable), None)


def main_areas(schema: Schema, of: Entity) -> tuple[Variable, ...]:
    """The areas in which units of a kind are counted, and the grids: what tables are made for.

    Other geographies, such as places of work and of birth, are what such units are tabulated by.
    """
    own = area_of(schema, of)
    others = [area for area in schema.geographies if area != own]
    return tuple(variable for variable in area_variables(schema) if variable not in others)


def areas_of(census: Census, of: Entity) -> tuple[AreaLevel, ...]:
    """The levels of the main geography with the sizes of their areas, finest first."""
    geography = area_of(census.schema, of)
    if geography is None:
        return ()
    leaves = census.tabulate(f"{geography.name}-total", of=of).held_for("a list of areas")
    area_levels = []
    for level in finest_first(geography.plain_levels):
        sizes = np.bincount(level.group_array, leaves.count, minlength=len(level.codes))
        area_levels.append(AreaLevel(geography, level, tuple(int(size) for size in sizes.tolist())))
    return tuple(area_levels)


def nested(areas: Sequence[AreaLevel]) -> tuple[AreaLevel, ...]:
    """The longest row of levels each of which lies in the next one, finest first.

    Areas that overlap have differences of a few people, so tables keep to one such row. Of rows
    that are equally long the one with more areas is taken.
    """
    longest: list[tuple[AreaLevel, ...]] = []
    for area in reversed(areas):
        above = [row for row in longest if area.level.refines(row[0].level)]
        longest.append((area, *max(above, key=_length, default=())))
    return max(longest, key=_length, default=())


def _length(row: tuple[AreaLevel, ...]) -> tuple[int, int]:
    return len(row), sum(len(area_level.units) for area_level in row)


def level_up_to(variable: Variable, most: int) -> Level:
    """The finest level of a variable with at most so many codes, else its coarsest."""
    levels = finest_first(variable.plain_levels)
    return next((level for level in levels if len(level.codes) <= most), levels[-1])


def axis_of(variable: Variable, level: Level) -> str:
    """A variable at a level, in the grammar of plans."""
    return variable.name if level.name == variable.leaf_level else f"{variable.name}@{level.name}"


def _tabulated(schema: Schema) -> list[Entity]:
    """What can be tabulated: persons first, then whatever else the census counts."""
    kinds = [entity.entity for entity in schema.entities]
    ordered = dict.fromkeys(itertools.chain([Entity.PERSON], kinds))
    usable = [kind for kind in ordered if kind in kinds and schema.usable(kind)]
    if usable:
        return usable
    raise SpecError(
        "The census has no variable with codes, so there is no table to recommend. Give variables"
        " code lists or levels in the schema, and load the census again."
    )


def _count(census: Census, of: Entity) -> int:
    return int(census.tabulate(of=of).held_for("a total").count.sum())


def _playing(
    role: IndicatorRole, schema: Schema, variables: tuple[Variable, ...]
) -> Variable | None:
    """The variable that has a role, if such units have it."""
    try:
        variable = variable_for(role, schema)
    except SpecError:
        return None
    return variable if variable in variables else None
