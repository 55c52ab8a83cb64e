"""Classes of weights that say nothing of areas.

Tested among all units of a census, at every level of areas that a file does not tell: weights are
joined until none points to an area, and until they depend on areas no more than a limit allows.
Weights that an area decides end as one class: the file then has one weight, the mean.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.microdata.release.areas import NO_AREA, HiddenLevel
from sdcensus.model.confidential import Confidential

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: A weight points to an area if most units that have it lie there, and if it makes the odds of
#: the area more than so many times what they are without it.
_ODDS = 3
#: The dependence of weights and areas that is left: the mean square contingency beyond what chance
#: gives. It is 0 where they are independent, and 1 where two weights tell two halves of a country
#: apart. With this much, the chance of an area given a weight is off by a fifth, in the mean.
_DEPENDENCE = 0.05
#: In small countries chance gives more: so many standard deviations of it are no dependence.
_DEVIATIONS = 3
_SHOWN = 3


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


def coarsened(classes: Int64, tests: Sequence[AreaTest]) -> Int64:
    """Classes of weights, joined with their neighbours until they say nothing of areas."""
    while int(classes.max(initial=0)) > 0:
        pointing = [number for test in tests for number in test.pointing(classes)]
        if not pointing and not any(test.depends(classes) for test in tests):
            break
        sizes = tests[0].sizes(classes)
        number = min(pointing) if pointing else int(np.argmin(sizes))
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
        alike: How many units stand for one, as members of a household do: its weight and its area
            are those of all of them, and chance has so much more room.
    """

    name: str
    weight: Int64
    area: Int64
    count: Int64
    told: Int64
    alike: Fraction = Fraction(1)

    def __repr__(self) -> str:
        return f"<AreaTest {self.name!r}: confidential>"

    @classmethod
    def of(
        cls, hidden: HiddenLevel, leaves: Int64, place: Int64, alike: Fraction = Fraction(1)
    ) -> AreaTest:
        """The test for a level: the leaf and the place of the weight of every unit."""
        area = hidden.parts_of(leaves)
        placed = area != NO_AREA
        pairs = place[placed].astype(np.int64) * hidden.told.size + area[placed]
        known, count = np.unique(pairs, return_counts=True)
        weight, area_of_pair = np.divmod(known, hidden.told.size)
        return cls(hidden.level.name, weight, area_of_pair, count, hidden.told, alike)

    def sizes(self, classes: Int64) -> Int64:
        """How many units each class has."""
        size = int(classes.max(initial=0)) + 1
        return _sums(classes[self.weight], self.count, size)

    def measures(self, classes: Int64) -> tuple[float, float, float]:
        """The shares of units whose class names their area and points to it; the dependence."""
        _, count, unique, pointed = self._pairs(classes)
        total = max(int(count.sum()), 1)
        shares = int(count[unique].sum()) / total, int(count[pointed].sum()) / total
        return *shares, round(self.dependence(classes), _SHOWN)

    def dependence(self, classes: Int64) -> float:
        """The mean square contingency of classes and areas within what is told, beyond chance."""
        square, freedom, total = self._contingency(classes)
        return (square - float(self.alike * freedom)) / max(total, 1)

    def depends(self, classes: Int64) -> bool:
        """Whether the dependence is above the limit, by more than chance may give."""
        square, freedom, total = self._contingency(classes)
        chance = float(self.alike) * (freedom + _DEVIATIONS * math.sqrt(2 * freedom))
        return square > chance + _DEPENDENCE * total

    def _contingency(self, classes: Int64) -> tuple[float, int, int]:
        """Chi-square of classes and areas, its degrees of freedom, and the number of units."""
        keys, at = np.unique(classes[self.weight] * self.told.size + self.area, return_inverse=True)
        count = _sums(at, self.count, keys.size)
        number, area = np.divmod(keys, self.told.size)
        strata = int(self.told.max(initial=0)) + 1
        told = self.told[area]
        of_class, classes_there = _grouped(number * strata + told, count)
        of_area = _sums(area, count, self.told.size)
        of_told = _sums(told, count, strata)
        terms = count * count / (of_class * of_area[area]) * of_told[told]
        areas_in = np.bincount(self.told[of_area > 0], minlength=strata)
        classes_in = np.bincount(classes_there % strata, minlength=strata)
        freedom = int(((areas_in - 1) * (classes_in - 1))[of_told > 0].sum())
        total = int(count.sum())
        # Summed exactly, so that the order of areas does not matter.
        return math.fsum(terms.tolist()) - total, freedom, total

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
        of_class, _ = _grouped(number * size + told, count)
        elsewhere, others = of_class - count, of_told - of_area
        unique = (elsewhere == 0) & (others > 0)
        pointed = (count > elsewhere) & (count * others > _ODDS * elsewhere * of_area)
        return number, count, unique, pointed


def _grouped(groups: Int64, counts: Int64) -> tuple[Int64, Int64]:
    """For each line the sum of its group, and the different groups."""
    different, at = np.unique(groups, return_inverse=True)
    return _sums(at, counts, different.size)[at], different


def _sums(places: Integers, counts: Int64, size: int) -> Int64:
    sums = np.zeros(size, dtype=np.int64)
    np.add.at(sums, places, counts)
    return sums
