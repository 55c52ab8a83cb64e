"""Medians, quartiles and percentiles from published counts of classes. Public.

Nothing here has seen a person's value: only how many are published in each class, and where classes
begin and end. The smallest and the largest value are somebody's own, and are refused.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from sdcensus.errors import SpecError, told
from sdcensus.model.published.figures import (
    DEFAULT_LIMITS,
    Counted,
    FigureLimits,
    Figures,
    Int64,
    Mask,
    as_line,
    rounded,
    scale_of,
    too_few,
    whole_numbers_for,
    with_marks_of,
)

MEDIAN = 50
QUARTILES = (25, 50, 75)


def check_percent(percent: object) -> int:
    """Refuse what is no percentile: the 0th and the 100th are the values of single persons."""
    if type(percent) is not int:
        raise SpecError(
            told("figures.percent-whole", "The percent of a percentile is a whole number.")
        )
    if percent in (0, 100):
        raise SpecError(
            told(
                "figures.percent-extreme",
                "The smallest and the largest value are somebody's own and are not published. A"
                " percentile has a percent from 1 to 99.",
            )
        )
    if not 0 < percent < 100:
        raise SpecError(told("figures.percent-range", "A percentile has a percent from 1 to 99."))
    return percent


def median(
    counts: Counted,
    lower: Sequence[int],
    upper: Sequence[int | None],
    *,
    decimals: int = 1,
    limits: FigureLimits = DEFAULT_LIMITS,
) -> Figures:
    """The middle value: the percentile 50."""
    return percentile(counts, lower, upper, MEDIAN, decimals=decimals, limits=limits)


def percentile(
    counts: Counted,
    lower: Sequence[int],
    upper: Sequence[int | None],
    percent: int,
    *,
    decimals: int = 1,
    limits: FigureLimits = DEFAULT_LIMITS,
) -> Figures:
    """The value below which so many percent are, from published counts along the last axis.

    Within the class where it lies, people are spread evenly from its lowest value up to the
    lowest of the next class. Where it lies in a class without an end, none is given. Limits are
    about twice as many as stand on its shorter side: about everybody for a median, about a fifth
    for the percentile 90.

    Args:
        counts: The published counts; the last axis has the classes, ascending.
        lower, upper: The lowest and highest value of each class; ``None`` for "and over".
        percent: From 1 to 99.
        decimals: How many digits stand behind the point.
        limits: When a figure is unreliable.

    Raises:
        SpecError: It would be somebody's own value.

    Examples:
        >>> counts = Counted(np.array([[30, 50, 20]]))
        >>> percentile(counts, [0, 100, 300], [99, 299, None], 50).values.tolist()
        [1800]
    """
    check_percent(percent)
    if counts.counts.ndim == 1:
        line = counts.each(as_line)
        single = percentile(line, lower, upper, percent, decimals=decimals, limits=limits)
        return Figures(single.values.reshape(()), single.marks.reshape(()), decimals)
    scale = scale_of(1, decimals)
    divisor = math.gcd(percent, 100)
    part, of = percent // divisor, 100 // divisor
    whole = counts.summed(limits)
    values, size = counts.counts, whole.counts
    reached = np.cumsum(values, axis=-1)
    at = np.argmax(of * reached >= part * size[..., None], axis=-1)
    own = np.take_along_axis(values, at[..., None], axis=-1)[..., 0]
    before = np.take_along_axis(reached, at[..., None], axis=-1)[..., 0] - own
    low = np.array(lower, dtype=np.int64)[at]
    ends = [1 if end is None else end - start + 1 for start, end in zip(lower, upper, strict=True)]
    width = np.array(ends, dtype=np.int64)[at]
    closed = np.array([end is not None for end in upper])[at]
    enough = whole.divides(limits) & _both_sides(whole, percent, limits) & (own > 0) & closed
    below = np.where(enough, of * own, 1)
    bounds = [*lower, *(end for end in upper if end is not None)]
    whole_numbers = whole_numbers_for(bounds, size, scale, times=2 * of)
    low, own, width = (values.astype(whole_numbers) for values in (low, own, width))
    above = (of * low * own + (part * size - of * before) * width) * scale
    quotients = rounded(np.where(enough, above, 0), below)
    unreliable = whole.low(limits) | _few_aside(whole, percent, limits)
    return with_marks_of(quotients, enough, unreliable, (whole,), decimals)


def _shorter_side(whole: Counted, percent: int) -> Int64:
    """Twice the published units on the shorter side of a percentile."""
    return np.asarray(whole.behind * (2 * min(percent, 100 - percent)) // 100)


def _both_sides(whole: Counted, percent: int, limits: FigureLimits) -> Mask:
    return np.asarray(_shorter_side(whole, percent) >= limits.none_below)


def _few_aside(whole: Counted, percent: int, limits: FigureLimits) -> Mask:
    parts = np.ones_like(whole.counts) if whole.support is None else whole.support.parts
    return too_few(_shorter_side(whole, percent), parts, limits.low_below)
