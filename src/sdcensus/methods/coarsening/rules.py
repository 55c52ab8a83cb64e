"""Rules on true counts that a version of a table passes or not. Each is a function of its counts.

They run at design time, for a person who decides once. Which codes are shown together tells the
public that some of them did not pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Integers = npt.NDArray[Any] | int

#: From the interior counts of a version, and the place of the axis of areas in it (``None`` where
#: it has none), how much is wrong: 0 where it passes.
Rule = Callable[[Int64, int | None], int]


@dataclass(frozen=True, slots=True)
class FewSmall:
    """Of the cells that are not empty, at most this share has fewer than ``minimum`` units.

    It tells cells apart one by one, so that what becomes of it when codes are put together can be
    reckoned for many pairs of codes at once.

    Attributes:
        minimum: Counts from 1 to below this are small.
        share: The largest share of small ones among the cells that are not empty.

    Examples:
        >>> FewSmall(3)(np.array([0, 2, 5]), None)
        1
        >>> FewSmall(3, Fraction(1, 2))(np.array([0, 2, 5]), None)
        0
    """

    minimum: int
    share: Fraction = Fraction(0)

    def __call__(self, counts: Int64, area: int | None) -> int:
        """How many small counts are too many."""
        return int(self.wrong(int(self.small(counts).sum()), int(np.count_nonzero(counts))))

    def small(self, counts: Int64) -> Mask:
        """Which of the counts are small."""
        small: Mask = (counts > 0) & (counts < self.minimum)
        return small

    def wrong(self, small: Integers, filled: Integers) -> Int64:
        """How many are too many, of so many small cells and so many that are not empty."""
        allowed = np.asarray(filled) * self.share.numerator // self.share.denominator
        return np.asarray(np.maximum(small - allowed, 0), dtype=np.int64)


def mean_at_least(size: Fraction) -> Rule:
    """A cell holds so many units on average, empty ones counted as cells.

    Examples:
        >>> mean_at_least(Fraction(2))(np.array([1, 1, 1]), None)
        3
    """

    def rule(counts: Int64, area: int | None) -> int:
        needed = math.ceil(size * counts.size)
        return max(needed - int(counts.sum()), 0)

    return rule


def areas_at_least(population: int) -> Rule:
    """Every area that is not empty has so many units."""

    def rule(counts: Int64, area: int | None) -> int:
        if area is None:
            return 0
        totals = counts.sum(axis=tuple(at for at in range(counts.ndim) if at != area))
        return int(np.count_nonzero((totals > 0) & (totals < population)))

    return rule


def no_group_in_one_code() -> Rule:
    """No row or column has all its units in one of several codes: that tells it of each of them.

    Examples:
        >>> no_group_in_one_code()(np.array([[4, 0], [2, 3]]), None)  # a row and a column
        2
    """

    def rule(counts: Int64, area: int | None) -> int:
        wrong = 0
        for at in range(counts.ndim):
            if counts.shape[at] > 1 and counts.ndim > 1:
                totals = counts.sum(axis=at)
                wrong += int(np.count_nonzero((totals > 0) & (counts.max(axis=at) == totals)))
        return wrong

    return rule
