"""Weights of a file, and what they reveal.

A weight is the interval of the sample times the census' own weight for non-response. Such weights
differ by area, and then name it. So they are tested at every level of areas that the file does not
tell, among all units of the census, and units are put into classes with one weight each until no
weight points to an area. Each class gets the mean of its weights, so that totals stay as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.microdata.method import Fact, FactTable
from sdcensus.microdata.release.areas import NO_AREA, HiddenLevel, hidden_levels, leaves_of
from sdcensus.microdata.release.records import WEIGHT_DECIMALS
from sdcensus.model.confidential import Confidential
from sdcensus.model.release.file_variable import FileDesign
from sdcensus.model.release.plan import Making
from sdcensus.model.schema.encoding import LARGEST_FIXED_POINT
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.model.sentences import sentence
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: What ``[make] nonresponse_weight`` says where the census' own weight is not multiplied in.
NO_WEIGHT = "none"
#: A weight points to an area if most units that have it lie there, and if it makes the odds of
#: the area more than so many times what they are without it.
_ODDS = 3
HEADINGS = (
    "unit",
    "level",
    "different",
    "unique",
    "pointed",
    "classes",
    "unique-now",
    "pointed-now",
)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FileWeights(Confidential):
    """The weights of the sampled units of one kind.

    Attributes:
        values: In whole numbers of ``10**-WEIGHT_DECIMALS``, in the order of the sampled rows.
        lines: What weights reveal before and after, by hidden level.
    """

    values: Int64
    lines: tuple[tuple[Fact, ...], ...] = ()

    def __repr__(self) -> str:
        return "<FileWeights: confidential>"


def weight_table(lines: Sequence[tuple[Fact, ...]]) -> FactTable:
    """What weights reveal, for the office."""
    return FactTable(
        name="weights-and-areas",
        title=sentence("release_sample.weights.title"),
        headings=tuple(sentence(f"release_sample.weights.{heading}") for heading in HEADINGS),
        rows=tuple(lines),
        note=sentence("release_sample.weights.note"),
    )


def file_weights(
    store: CensusStore, design: FileDesign, making: Making, entity: Entity, rows: Int64
) -> FileWeights:
    """The weights of sampled units, coarsened until they point to no area.

    Args:
        store: The census.
        design: What the file tells of areas, and its fraction.
        making: Which weight is multiplied in, and how many classes there are at most.
        entity: The kind of unit.
        rows: The sampled units.

    Raises:
        SpecError: The census' weight is missing, 0 or below 0 for some units, or too large.
    """
    interval = 1 / design.design.fraction
    variable = census_weight(store.schema, making, entity)
    if variable is None:
        return FileWeights(np.full(rows.size, told_weight(1, 0, interval), dtype=np.int64))
    own = np.asarray(store.values(entity, variable)[slice(0, store.rows(entity))])
    _check(own, variable, entity)
    different, place = np.unique(own, return_inverse=True)
    weights = np.array(
        [told_weight(int(value), variable.decimals, interval) for value in different.tolist()],
        dtype=np.int64,
    )
    tests = _tests(store, design, entity, place)
    classes = first_classes(np.bincount(place, minlength=different.size), making.weight_classes)
    classes = without_pointing(classes, tests)
    number = int(classes.max(initial=0)) + 1
    exact = weights[place[rows]]
    values = exact if number == different.size else class_means(exact, classes[place[rows]])
    before = np.arange(different.size)
    lines = tuple(
        (
            sentence(f"release_sample.lists.{entity.plural}"),
            test.name,
            int(different.size),
            *test.shares(before),
            number,
            *test.shares(classes),
        )
        for test in tests
    )
    return FileWeights(values, lines if different.size > 1 else ())


def census_weight(schema: Schema, making: Making, entity: Entity) -> Variable | None:
    """The weight for non-response that units of a kind have; ``None`` for none."""
    name = making.nonresponse_weight
    if name == NO_WEIGHT:
        return None
    if not name:
        return schema.weight(entity)
    variable = schema.variable(name)
    if variable.role is not Role.WEIGHT:
        known = [each.name for each in schema.variables if each.role is Role.WEIGHT]
        listed = f" Weights are: {', '.join(known)}." if known else " The census has no weight."
        raise SpecError(
            f"[make] nonresponse_weight names {name!r}, which is no weight in the schema.{listed}"
            f' Name a weight, or say "{NO_WEIGHT}".'
        )
    return None if schema.path(entity, variable.entity) is None else variable


def told_weight(value: int, decimals: int, interval: Fraction) -> int:
    """The interval times a fixed-point weight, rounded half to even.

    Examples:
        >>> told_weight(1, 0, Fraction(3)), told_weight(105, 2, Fraction(100, 7))
        (3000000, 15000000)
    """
    scale = interval.denominator * 10**decimals
    weight, rest = divmod(interval.numerator * value * 10**WEIGHT_DECIMALS, scale)
    up = 2 * rest > scale or (2 * rest == scale and weight % 2 == 1)
    weight += int(up)
    if not 0 < weight <= LARGEST_FIXED_POINT:
        raise SpecError(
            "Weights of the file would be too large or too small to be told with"
            f" {WEIGHT_DECIMALS} decimals. Correct the weights of the census, or say [make]"
            f' nonresponse_weight = "{NO_WEIGHT}".'
        )
    return weight


def _check(values: Integers, variable: Variable, entity: Entity) -> None:
    wrong = int(np.count_nonzero(values <= 0))
    if wrong:
        raise SpecError(
            f"{wrong:,} {entity.plural} have no weight above 0 in {variable.name!r}: it is missing,"
            " 0 or negative. Correct the weights and load the census again, name another weight"
            f' ([make] nonresponse_weight = "..."), or say "{NO_WEIGHT}" there.'
        )


def class_means(weights: Int64, classes: Int64) -> Int64:
    """For each unit the mean weight of its class, rounded half to even.

    Examples:
        >>> class_means(np.array([1, 2, 9, 4]), np.array([0, 0, 1, 0]))
        array([2, 2, 9, 2])
    """
    means = []
    for number in range(int(classes.max(initial=-1)) + 1):
        members = weights[classes == number].tolist()
        # Sums of Python's own numbers: those of large weights do not fit 64 bits.
        means.append(round(Fraction(sum(members), len(members))) if members else 0)
    return np.array(means, dtype=np.int64)[classes]


def first_classes(counts: Int64, most: int) -> Int64:
    """For each different weight, in ascending order, its class: at most so many, about as large.

    Examples:
        >>> first_classes(np.array([5, 1, 1, 5]), 2), first_classes(np.array([1, 1]), 10)
        (array([0, 0, 1, 1]), array([0, 1]))
    """
    if counts.size <= most:
        return np.arange(counts.size)
    before = np.cumsum(counts) - counts
    return _numbered(before * max(most, 1) // max(int(counts.sum()), 1))


def without_pointing(classes: Int64, tests: Sequence[AreaTest]) -> Int64:
    """Classes of weights, joined with their neighbours until none points to an area."""
    while int(classes.max(initial=0)) > 0:
        pointing = [number for test in tests for number in test.pointing(classes)]
        if not pointing:
            break
        number = min(pointing)
        sizes = tests[0].sizes(classes)
        last = sizes.size - 1
        up = number == 0 or (number < last and sizes[number + 1] < sizes[number - 1])
        classes = _numbered(np.where(classes == number, number + 1 if up else number - 1, classes))
    return classes


def _numbered(classes: Int64) -> Int64:
    return np.unique(classes, return_inverse=True)[1].astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AreaTest(Confidential):
    """How the units of a census with each weight lie in the areas of a hidden level.

    Attributes:
        name: The level.
        weight, area, count: Which weight, which area, how many units; the pairs that occur.
        told: For each area what the file tells of it.
    """

    name: str
    weight: Int64
    area: Int64
    count: Int64
    told: Int64

    def __repr__(self) -> str:
        return f"<AreaTest {self.name!r}: confidential>"

    @classmethod
    def of(cls, hidden: HiddenLevel, leaves: Int64, place: Int64) -> AreaTest:
        """The test for a level: the leaf and the place of the weight of every unit."""
        area = hidden.parts_of(leaves)
        placed = area != NO_AREA
        pairs = place[placed].astype(np.int64) * hidden.told.size + area[placed]
        known, count = np.unique(pairs, return_counts=True)
        return cls(
            hidden.level.name,
            known // hidden.told.size,
            known % hidden.told.size,
            count,
            hidden.told,
        )

    def sizes(self, classes: Int64) -> Int64:
        """How many units each class has."""
        size = int(classes.max(initial=0)) + 1
        return _sums(classes[self.weight], self.count, size)

    def shares(self, classes: Int64) -> tuple[float, float]:
        """The share of units whose class names their area, and of those that it points to."""
        _, count, unique, pointed = self._pairs(classes)
        total = max(int(count.sum()), 1)
        return int(count[unique].sum()) / total, int(count[pointed].sum()) / total

    def pointing(self, classes: Int64) -> list[int]:
        """The classes that point to an area."""
        number, _, _, pointed = self._pairs(classes)
        return [int(each) for each in np.unique(number[pointed])]

    def _pairs(
        self, classes: Int64
    ) -> tuple[Int64, Int64, npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        areas = self.told.size
        keys, at = np.unique(classes[self.weight] * areas + self.area, return_inverse=True)
        count = _sums(at, self.count, keys.size)
        number, area = keys // areas, keys % areas
        told = self.told[area]
        size = int(self.told.max(initial=0)) + 1
        of_area = _sums(self.area, self.count, areas)[area]
        of_told = _sums(self.told[self.area], self.count, size)[told]
        together, at_class = np.unique(number * size + told, return_inverse=True)
        of_class = _sums(at_class, count, together.size)[at_class]
        elsewhere, others = of_class - count, of_told - of_area
        unique = (elsewhere == 0) & (others > 0)
        pointed = (count > elsewhere) & (count * others > _ODDS * elsewhere * of_area)
        return number, count, unique, pointed


def _sums(places: Integers, counts: Int64, size: int) -> Int64:
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, places, counts)
    return sums


def _tests(
    store: CensusStore, design: FileDesign, entity: Entity, place: Int64
) -> tuple[AreaTest, ...]:
    leaves = leaves_of(store, entity)
    if leaves is None:
        return ()
    return tuple(AreaTest.of(hidden, leaves, place) for hidden in hidden_levels(store, design))
