"""The levels of the geography at which units are told apart, from coarse to fine."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Level, Variable

Integers = npt.NDArray[Any]

#: What stands for "no region": a partner may lie anywhere in the country.
ANYWHERE = "anywhere"


@dataclass(frozen=True, slots=True)
class AreaLevels:
    """Nested levels of a geography, from coarse to fine.

    Attributes:
        geography: The variable whose codes are areas.
        levels: The levels, each of which refines the one before it.
    """

    geography: Variable
    levels: tuple[Level, ...]

    @property
    def names(self) -> tuple[str, ...]:
        """What the levels are called."""
        return tuple(level.name for level in self.levels)

    def __len__(self) -> int:
        return len(self.levels)

    def index(self, name: str) -> int:
        """The place of a level among them, from the coarsest."""
        return self.names.index(name)

    def areas(self, index: int, leaf: Integers) -> Integers:
        """The area of each unit at a level, as a position in its codes."""
        return self.levels[index].group_array[leaf]


def the_geography(schema: Schema) -> Variable:
    """The geography of a census in which something can move.

    Raises:
        SpecError: The census has no geography.
    """
    geography = schema.geography
    if geography is None:
        raise SpecError(
            "The census has no geography, so there is no place that units could exchange. Give a"
            ' variable the role "geography" in the schema and load again, or take a method that'
            " changes attributes: sdcensus swap --how attributes, or sdcensus pram."
        )
    return geography


def main_levels(geography: Variable) -> tuple[Level, ...]:
    """The levels of the first hierarchy of a geography, coarse to fine, its leaves last."""
    above = geography.hierarchies[0].levels if geography.hierarchies else ()
    plain = [level for level in above if not level.universe]
    return (*reversed(plain), geography.level())


def area_levels(schema: Schema, names: Sequence[str] = ()) -> AreaLevels:
    """The levels that are named, or all of the main hierarchy of the geography.

    Raises:
        SpecError: A level does not exist, is named twice, or does not lie inside the one before.
    """
    geography = the_geography(schema)
    if not names:
        return AreaLevels(geography, main_levels(geography))
    levels = tuple(geography.level(name.removeprefix(f"{geography.name}@")) for name in names)
    twice = sorted({level.name for level in levels if levels.count(level) > 1})
    if twice:
        raise SpecError(f"The level {twice[0]!r} is named twice. Name each level once.")
    if all(fine.refines(coarse) for coarse, fine in itertools.pairwise(levels)):
        return AreaLevels(geography, levels)
    ordered = tuple(sorted(levels, key=lambda level: len(set(level.group))))
    for coarse, fine in itertools.pairwise(ordered):
        if not fine.refines(coarse):
            raise SpecError(
                f"The levels {coarse.name!r} and {fine.name!r} of {geography.name!r} cut across"
                " each other: areas of the one do not lie in areas of the other. Name levels of one"
                f" hierarchy, such as {','.join(level.name for level in main_levels(geography))}."
            )
    right = ",".join(level.name for level in ordered)
    raise SpecError(f"The levels are out of order. Name them from coarse to fine: {right}.")


def single_area(level: Level, leaf: Integers) -> bool:
    """Whether all units lie in one area of a level, so that nobody can leave it."""
    areas = level.group_array[leaf]
    return areas.size == 0 or bool((areas == areas[0]).all())


def several_areas(levels: AreaLevels, leaf: Integers, *, named: bool) -> AreaLevels:
    """Those levels at which units can exchange their place: with more than one area.

    Args:
        levels: The levels.
        leaf: The leaf of each unit that may move.
        named: Whether the office named the levels, and so would miss one that is left out.

    Raises:
        SpecError: There is one area at every level, or at one that was named.
    """
    single = [level.name for level in levels.levels if single_area(level, leaf)]
    if len(single) == len(levels):
        raise SpecError(
            "All units that could move lie in one area at every level, so nobody can exchange a"
            " place with anybody. Protect such a census by what does not need places: sdcensus swap"
            " --how attributes, sdcensus pram, sdcensus impute, or cell keys when it is published."
        )
    if single and named:
        raise SpecError(
            f"The level {single[0]!r} has one area, and nobody can move out of it. Leave it out of"
            " the levels; a table of the whole is not protected by swapping inside it."
        )
    return AreaLevels(
        levels.geography, tuple(level for level in levels.levels if level.name not in single)
    )


def numbered(areas: Integers) -> tuple[Integers, int]:
    """Areas as numbers without gaps in the order of their codes, and how many there are."""
    present = np.zeros(int(areas.max(initial=-1)) + 1, dtype=bool)
    present[areas] = True
    number = np.cumsum(present) - 1
    return number[areas], int(present.sum())
