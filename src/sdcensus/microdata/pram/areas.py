"""Moves between areas: levels, the matrix of the ABS, who moves whole, and the draws.

Within a larger area with L areas that have x units each, x1 the smallest: a unit of area i goes to
each of the others with p x1 / ((L - 1) x[i]), and stays else. Every area then loses p x1 units and
gets as many, in expectation: totals stay as they are, whatever the sizes.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.microdata.method import Draws
from sdcensus.model.confidential import Confidential
from sdcensus.model.exact_numbers import BadNumber, exact
from sdcensus.model.schema.variable import Entity, Level, Variable
from sdcensus.store.census_store import CensusStore

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Integers = npt.NDArray[Any]
Mask = npt.NDArray[np.bool_]

#: Draws are held against whole numbers up to this.
_WHOLE = 1 << 63
_1, _32 = np.uint64(1), np.uint64(32)


@dataclass(frozen=True, slots=True, repr=False)
class Move(Confidential):
    """Units move between the areas of a level, within the areas of a larger one.

    Attributes:
        level: Between which areas.
        within: Within which; ``None`` for the whole country.
        share: The p of the matrix.
    """

    level: Level
    within: Level | None
    share: Fraction

    @property
    def within_name(self) -> str:
        """The name of the larger level; empty for the whole country."""
        return "" if self.within is None else self.within.name


def moves_of(geography: Variable, texts: Sequence[str]) -> tuple[Move, ...]:
    """Moves as they are said, ``LEVEL=SHARE`` or ``LEVEL/WITHIN=SHARE``, the finest level first.

    Raises:
        SpecError: A level does not exist, does not lie within the other, or is said twice.
    """
    moves: list[Move] = []
    for text in (part.strip() for each in texts for part in each.split(",")):
        named, equals, number = text.partition("=")
        name, slash, larger = (part.strip() for part in named.partition("/"))
        if not equals or not name or (slash and not larger):
            raise SpecError(
                f"--move {text}: write the level and how often units move, such as"
                f" --move {geography.leaf_level}=0.06."
            )
        level = geography.level(name)
        if slash:
            within: Level | None = geography.level(larger)
            assert within is not None
            if not level.refines(within) or len(within.codes) >= len(level.codes):
                raise SpecError(
                    f"--move {text}: {larger!r} is not a larger area than {name!r}. Name the"
                    " smaller one first: SMALLER/LARGER=SHARE."
                )
        else:
            within = _next_larger(geography, level)
        if any(move.level is level for move in moves):
            raise SpecError(f"--move says {name!r} twice. Say it once.")
        moves.append(Move(level, within, _share(text, number.strip())))
    moves.sort(key=lambda move: -len(move.level.codes))
    for fine, coarse in itertools.pairwise(moves):
        if not fine.level.refines(coarse.level):
            raise SpecError(
                f"The areas of {fine.level.name!r} do not lie within those of"
                f" {coarse.level.name!r}. Units move by levels that lie within each other: name"
                " those of one hierarchy."
            )
    return tuple(moves)


def _share(text: str, number: str) -> Fraction:
    try:
        share = exact(number)
    except BadNumber as error:
        raise SpecError(f"--move {text}: {error}. Write a number between 0 and 1.") from None
    if not 0 <= share <= 1:
        raise SpecError(f"--move {text}: a probability lies between 0 and 1.")
    return share


def _next_larger(geography: Variable, level: Level) -> Level | None:
    """The next larger level; ``None`` where there is none but the country."""
    larger: dict[str, Level] = {}
    for hierarchy in geography.hierarchies:
        levels = [
            each
            for each in hierarchy.levels
            if not each.universe
            and each is not level
            and level.refines(each)
            and len(each.codes) < len(level.codes)
        ]
        if levels:
            larger[levels[0].name] = levels[0]
    if len(larger) > 1:
        choices = " or ".join(f"--move {level.name}/{name}=SHARE" for name in larger)
        raise SpecError(
            f"Areas of {level.name!r} lie in areas of several levels. Say within which units move:"
            f" {choices}."
        )
    return next(iter(larger.values()), None)


def geographic_matrix(sizes: Sequence[int], share: Fraction) -> list[list[Fraction]]:
    """The matrix of the ABS for areas that all have units.

    Examples:
        >>> row = geographic_matrix([50, 80, 120, 200], Fraction("0.06"))[1]
        >>> [float(entry) for entry in row]
        [0.0125, 0.9625, 0.0125, 0.0125]
    """
    smallest, others = min(sizes), max(len(sizes) - 1, 1)
    rows = []
    for own, size in enumerate(sizes):
        leaving = share * smallest / size if len(sizes) > 1 else Fraction(0)
        row = [leaving / others for _ in sizes]
        row[own] = 1 - leaving
        rows.append(row)
    return rows


# ------------------------------------------------------------------------------------ who moves


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MovingUnits(Confidential):
    """The units that move whole, and what has the area of each.

    Attributes:
        entity: What they are.
        digests: Who they are about.
        places: The leaf of the geography where each is.
        unit_of: For each record that holds the geography the number of its unit.
    """

    entity: Entity
    digests: UInt64
    places: Int64
    unit_of: Int64

    def __repr__(self) -> str:
        return "<MovingUnits: confidential>"


def moving_units(records: CensusStore, geography: Variable) -> MovingUnits:
    """The holders of the geography; members of one household move together.

    Raises:
        SpecError: Members of a household are in different areas.
    """
    entity = geography.entity
    leaves = records.raw(entity, geography.name).astype(np.int64)
    digests = records.digests(entity)
    alone = np.arange(leaves.size, dtype=np.int64)
    held_by_members = entity in (Entity.PERSON, Entity.FAMILY)
    if not held_by_members or not records.schema.path(entity, Entity.HOUSEHOLD):
        return MovingUnits(entity, digests, leaves, alone)
    household = records.household_rows(entity)[slice(0, leaves.size)].astype(np.int64)
    lonely = household == NO_ROW
    households = records.rows(Entity.HOUSEHOLD)
    unit_of = household.copy()
    unit_of[lonely] = households + np.arange(int(lonely.sum()))
    places = np.full(households + int(lonely.sum()), -1, dtype=np.int64)
    places[unit_of] = leaves
    if (places[unit_of] != leaves).any():
        raise SpecError(
            f"Some households span areas: their {entity.plural} are in different areas of"
            f" {geography.name!r}, so they cannot move whole. Give the members of a household one"
            " area in the files, or make the geography a variable of households, and load again."
        )
    every = np.concatenate([records.digests(Entity.HOUSEHOLD), digests[lonely]])
    # Households without members have no area, and stay where they are: nowhere.
    inhabited = places >= 0
    number = np.cumsum(inhabited) - 1
    return MovingUnits(Entity.HOUSEHOLD, every[inhabited], places[inhabited], number[unit_of])


# ------------------------------------------------------------------------------------ the draws


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MoveTable(Confidential):
    """A move with the sizes of the areas, from which its probabilities follow.

    Attributes:
        move: The move.
        sizes: How many units each area of the level has; missing areas have none.
        parent: The larger area of each.
        smallest, number: For each larger area the size of its smallest area with units, and how
            many areas with units it has.
    """

    move: Move
    sizes: Int64
    parent: Int64
    smallest: Int64
    number: Int64

    def __repr__(self) -> str:
        return "<MoveTable: confidential>"

    @classmethod
    def of(cls, move: Move, leaf_sizes: Int64) -> MoveTable:
        """The table of a move, from how many units each leaf has."""
        group = move.level.group_array
        sizes = np.bincount(group, weights=leaf_sizes, minlength=len(move.level.codes))
        parent = np.zeros(len(move.level.codes), dtype=np.int64)
        if move.within is not None:
            parent[group] = move.within.group_array
        parents = int(parent.max(initial=0)) + 1
        whole = sizes.astype(np.int64)
        smallest = np.full(parents, np.iinfo(np.int64).max)
        np.minimum.at(smallest, parent[whole > 0], whole[whole > 0])
        number = np.bincount(parent[whole > 0], minlength=parents)
        return cls(move, whole, parent, smallest, number)

    @property
    def open(self) -> Mask:
        """The areas with units that have another one beside them."""
        return (self.sizes > 0) & (self.number[self.parent] > 1)

    def leaving(self) -> list[Fraction]:
        """For each area the probability to leave it: p x1 / x."""
        share = self.move.share
        return [
            share * int(self.smallest[self.parent[area]]) / int(self.sizes[area])
            if self.open[area]
            else Fraction(0)
            for area in range(self.sizes.size)
        ]

    def ratios(self) -> list[float]:
        """The expectation ratios of the areas that units can leave: x / (p x1) - 1."""
        return [float(1 / share - 1) for share in self.leaving() if share]


def draw_move(
    table: MoveTable, leaf_sizes: Int64, digests: UInt64, places: Int64, draws: Draws, name: str
) -> Int64:
    """The places of units after a move.

    Who leaves, where to, and in which leaf of the new area it arrives are three draws; leaves are
    drawn in proportion to their units, so that their totals stay as they are as well.

    Args:
        table: The move.
        leaf_sizes: How many units each leaf has; none for missing areas.
        digests, places: The units, and where they are now.
        draws: The draws of the purpose.
        name: The name of the geography, which tells its draws from others.
    """
    level = table.move.level
    area = level.group_array[places]
    thresholds = np.array([int(share * _WHOLE) for share in table.leaving()], dtype=np.uint64)
    numbers = [_number(f"{name}@{level.name} {step}") for step in ("leaves", "area", "leaf")]
    leaves = (draws.words(digests, numbers[0]) >> _1) < thresholds[area]
    leaves &= leaf_sizes[places] > 0
    movers = np.flatnonzero(leaves)
    own = area[movers]
    # Areas with units, larger area by larger area: the place of each among its own.
    order = np.flatnonzero(table.sizes > 0)
    order = order[np.argsort(table.parent[order], kind="stable")]
    starts = np.concatenate([[0], np.cumsum(table.number)])[:-1]
    rank = np.zeros(table.sizes.size, dtype=np.int64)
    rank[order] = np.arange(order.size) - starts[table.parent[order]]
    parent = table.parent[own]
    chosen = _below(draws.words(digests[movers], numbers[1]), table.number[parent] - 1)
    chosen += chosen >= rank[own]
    to = order[starts[parent] + chosen]
    places = places.copy()
    places[movers] = _leaves_in(level, leaf_sizes, to, draws.words(digests[movers], numbers[2]))
    return places


def _leaves_in(level: Level, leaf_sizes: Int64, areas: Int64, words: UInt64) -> Int64:
    """For each area one of its leaves, in proportion to their units."""
    order = np.argsort(level.group_array, kind="stable")
    ends = np.cumsum(leaf_sizes[order])
    sizes = np.bincount(level.group_array, weights=leaf_sizes, minlength=len(level.codes))
    starts = np.concatenate([[0], np.cumsum(sizes.astype(np.int64))])[:-1]
    unit = starts[areas] + _below(words, sizes.astype(np.int64)[areas])
    return order[np.searchsorted(ends, unit, side="right")]


def _below(words: UInt64, bounds: Int64) -> Int64:
    """For each random word a whole number from 0 to below a bound, which fits 32 bits."""
    return (((words >> _32) * bounds.astype(np.uint64)) >> _32).astype(np.int64)


def _number(text: str) -> int:
    digest = hashlib.blake2b(text.encode(), digest_size=8, person=b"geographic-pram").digest()
    return int.from_bytes(digest, "little")
