"""Means, ratios and differences of amounts, from published sums and published counts. Public.

A true mean gives counts away: with the published count and the largest deviation, few totals fit.
So a mean is a published sum divided by a published count of those whose amount is known. Limits are
fixed numbers of published units, and tell nothing about the noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdcensus.errors import SpecError, told
from sdcensus.model.published.figures import (
    AMOUNT_LIMITS,
    Counted,
    FigureLimits,
    Figures,
    Int64,
    Marks,
    Mask,
    rounded,
    scale_of,
    with_marks_of,
)
from sdcensus.model.published.table import Mark

#: What fits 64 bits with room for one more addition.
_FITS = 1 << 62
#: The error of a figure in brackets, by which the error of a difference is reckoned: one fifth.
_BRACKETED_ERROR = 5


@dataclass(frozen=True, slots=True, eq=False)
class Summed:
    """Published sums of an amount.

    Attributes:
        totals: The sums, as whole numbers.
        decimals: How many of their digits stand behind the point.
        marks: What stands where there is none, if anything does.
    """

    totals: Int64
    decimals: int = 0
    marks: Marks | None = None

    @classmethod
    def of(cls, published: Counted, decimals: int) -> Summed:
        """The numbers of a table of sums."""
        return cls(published.counts, decimals, published.marks)


@dataclass(frozen=True, slots=True, eq=False)
class Based:
    """Figures, and the published units that each rests on."""

    figures: Figures
    behind: tuple[Counted, ...]

    @property
    def fewest(self) -> Int64:
        """The published number of units behind each."""
        least = self.behind[0].behind
        for counted in self.behind[1:]:
            least = np.minimum(least, counted.behind)
        return np.asarray(least)


def mean_of_amounts(
    sums: Summed, units: Counted, *, decimals: int = 1, limits: FigureLimits = AMOUNT_LIMITS
) -> Figures:
    """The published sum for each published unit that has the amount.

    Args:
        sums: Published sums.
        units: Published counts of the units whose amount is known, amounts of 0 included.
        decimals: How many digits stand behind the point.
        limits: When a figure is unreliable, and when it is not given.

    Examples:
        >>> sums = Summed(np.array([10_250, 900]), decimals=1)
        >>> figures = mean_of_amounts(sums, Counted(np.array([40, 9])), decimals=2)
        >>> figures.values.tolist(), figures.marks.tolist()
        ([2562, 0], [0, 4])
    """
    return ratio_of_amounts(sums, units, (units,), decimals=decimals, limits=limits)


def ratio_of_amounts(
    above: Summed,
    below: Summed | Counted,
    behind: Sequence[Counted],
    *,
    per: int = 1,
    decimals: int = 1,
    limits: FigureLimits = AMOUNT_LIMITS,
) -> Figures:
    """One published sum per so much of another, or per so many published units.

    Args:
        above: The published sums that are divided.
        below: What they are divided by; none is given where that is 0.
        behind: The published counts of those whose amounts are added up.
        per: What the figure is given per.
        decimals: How many digits stand behind the point.
        limits: When a figure is unreliable, and when it is not given: by the counts behind it.
    """
    scale = scale_of(per, decimals)
    divisor = below.counts if isinstance(below, Counted) else below.totals
    shift = above.decimals - (0 if isinstance(below, Counted) else below.decimals)
    enough = divisor != 0
    low = np.zeros(divisor.shape, dtype=bool)
    for counted in behind:
        enough = enough & counted.divides(limits)
        low = low | counted.low(limits)
    top = np.where(enough, above.totals * np.sign(divisor), 0)
    bottom = np.where(enough, np.abs(divisor), 1)
    values = _divided(top, scale * 10 ** max(-shift, 0), bottom, 10 ** max(shift, 0))
    marked = [Counted(above.totals, above.marks), *behind]
    if isinstance(below, Summed):
        marked.append(Counted(below.totals, below.marks))
    return with_marks_of(values, np.asarray(enough), np.asarray(low), marked, decimals)


def sums_of_amounts(sums: Summed, units: Counted, limits: FigureLimits = AMOUNT_LIMITS) -> Figures:
    """Published sums as figures: marked where few published units stand behind them."""
    enough, low = units.divides(limits), units.low(limits)
    marked = (Counted(sums.totals, sums.marks), units)
    return with_marks_of(sums.totals, enough, low, marked, sums.decimals)


def difference(first: Based, second: Based, limits: FigureLimits = AMOUNT_LIMITS) -> Figures:
    """One figure less another, with the error that the two have together.

    A figure that stands on the limit of brackets is taken to be off by a fifth, and one on n
    published units by so much less as n is larger. A difference that is smaller than the root of
    the two squared errors stands in brackets, and so does one of a figure in brackets.

    Args:
        first, second: The figures, with equally many digits behind the point.
        limits: Those by which the figures were marked.

    Raises:
        SpecError: They have different numbers of digits.
    """
    one, other = first.figures, second.figures
    if one.decimals != other.decimals:
        raise SpecError("Only figures with the same number of decimals can be compared.")
    values = one.values - other.values
    marks = np.maximum(
        np.where(one.marks == Mark.LOW_RELIABILITY, Mark.NONE, one.marks),
        np.where(other.marks == Mark.LOW_RELIABILITY, Mark.NONE, other.marks),
    ).astype(np.uint8)
    low = (one.marks == Mark.LOW_RELIABILITY) | (other.marks == Mark.LOW_RELIABILITY)
    low = low | _within_error(first, second, limits)
    marks = np.where((marks == Mark.NONE) & low, Mark.LOW_RELIABILITY, marks).astype(np.uint8)
    numbered = (marks == Mark.NONE) | (marks == Mark.LOW_RELIABILITY)
    return Figures(np.where(numbered, values, 0).astype(np.int64), marks, one.decimals)


def _within_error(first: Based, second: Based, limits: FigureLimits) -> Mask:
    """Where a difference is smaller than the error of its two figures, in whole numbers."""
    off = np.zeros(first.figures.values.shape, dtype=bool)
    numbers = zip(
        first.figures.values.ravel().tolist(),
        second.figures.values.ravel().tolist(),
        first.fewest.ravel().tolist(),
        second.fewest.ravel().tolist(),
        strict=True,
    )
    flat = off.reshape(-1)
    for at, (one, other, mine, theirs) in enumerate(numbers):
        # |one - other| < sqrt((one e / mine)² + (other e / theirs)²), e = low_below / 5
        apart = _BRACKETED_ERROR * (one - other) * mine * theirs
        error = limits.low_below**2 * ((one * theirs) ** 2 + (other * mine) ** 2)
        flat[at] = mine > 0 and theirs > 0 and apart**2 < error
    return off


def _divided(top: Int64, scale: int, bottom: Int64, divisor: int) -> Int64:
    """``top`` times a scale by ``bottom`` times a divisor, half to even, beyond 64 bits as well."""
    largest = max(int(np.abs(top).max(initial=0)), 1) * scale
    deepest = max(int(bottom.max(initial=1)), 1) * divisor
    if largest < _FITS and deepest < _FITS:
        return rounded(top * scale, bottom * divisor)
    try:
        return rounded(top.astype(object) * scale, bottom.astype(object) * divisor)
    except OverflowError:
        raise SpecError(
            told("figures.digits", "Figures with so many digits do not fit. Take fewer decimals.")
        ) from None
