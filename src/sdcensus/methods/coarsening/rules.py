"""Rules on true counts that a version of a table passes or not. Each is a function of its counts.

They run at design time, for a person who decides once. Which codes are shown together tells the
public that some of them did not pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]

#: From the interior counts of a version, and the place of the axis of areas in it (``None`` where
#: it has none), how much is wrong: 0 where it passes.
Rule = Callable[[Int64, int | None], int]


def few_small(minimum: int, share: Fraction = Fraction(0)) -> Rule:
    """Of the cells that are not empty, at most this share has fewer than ``minimum`` units.

    Examples:
        >>> few_small(3)(np.array([0, 2, 5]), None)
        1
        >>> few_small(3, Fraction(1, 2))(np.array([0, 2, 5]), None)
        0
    """

    def rule(counts: Int64, area: int | None) -> int:
        filled = int(np.count_nonzero(counts))
        small = int(np.count_nonzero((counts > 0) & (counts < minimum)))
        return max(small - filled * share.numerator // share.denominator, 0)

    return rule


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
        >>> no_group_in_one_code()(np.array([[4, 0], [2, 3]]), None)
        1
    """

    def rule(counts: Int64, area: int | None) -> int:
        wrong = 0
        for at in range(counts.ndim):
            if counts.shape[at] > 1 and counts.ndim > 1:
                totals = counts.sum(axis=at)
                wrong += int(np.count_nonzero((totals > 0) & (counts.max(axis=at) == totals)))
        return wrong

    return rule
