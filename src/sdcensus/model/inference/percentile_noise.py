"""Between which values noise leaves a percentile. For the office: it says how large the noise is.

Readers are told by fixed numbers where a figure is unreliable; this is what the office reads.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential
from sdcensus.model.published.percentiles import check_percent

Int64 = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class NoiseInterval(Confidential):
    """Between which values the noise leaves a percentile; infinite where no class has an end."""

    low: Floats
    high: Floats

    def __repr__(self) -> str:
        return "<NoiseInterval: confidential>"

    @property
    def half(self) -> Floats:
        """Half the widths of those that have two ends, ascending."""
        ended = np.isfinite(self.low) & np.isfinite(self.high)
        return np.sort((self.high[ended] - self.low[ended]) / 2)


def noise_interval(
    counts: Int64,
    lower: Sequence[int],
    upper: Sequence[int | None],
    percent: int,
    variance: float,
    *,
    deviations: float = 2.0,
) -> NoiseInterval:
    """How far the noise of the counts of classes moves a percentile. For the office.

    The count below a value, less its part of all, has the variance of all its classes: of those
    below with (1 - p)², of those above with p². Values at which it is so many standard deviations
    off are the ends (after Woodruff 1952, with noise in the place of sampling).

    Args:
        counts: Published counts; the last axis has the classes, ascending.
        lower, upper: The lowest and highest value of each class.
        percent: From 1 to 99.
        variance: That of the noise of one count.
        deviations: How many standard deviations the interval is wide to each side.
    """
    fraction = check_percent(percent) / 100
    classes = counts.shape[-1]
    edges = np.array([*lower, math.inf if upper[-1] is None else upper[-1] + 1], dtype=np.float64)
    lines = counts.reshape(-1, classes)
    ends = np.full((2, lines.shape[0]), np.nan)
    for number, line in enumerate(lines):
        target = fraction * float(line.sum())
        reached = np.concatenate([[0.0], np.cumsum(line)])
        below = int(np.searchsorted(reached[1:], target))
        above = max(classes - below - 1, 0)
        spread = variance * ((1 - fraction) ** 2 * below + fraction**2 * above + 0.25)
        error = deviations * math.sqrt(spread)
        for side, wanted in enumerate((target - error, target + error)):
            ends[side, number] = _value_at(wanted, reached, edges)
    low, high = (side.reshape(counts.shape[:-1]) for side in ends)
    return NoiseInterval(low, high)


def _value_at(wanted: float, reached: Floats, edges: Floats) -> float:
    """The value below which so many are; the ends where there are not as many."""
    if wanted <= 0:
        return float(edges[0])
    at = int(np.searchsorted(reached, wanted))
    if at >= reached.size:
        return float(edges[-1])
    start, end, own = edges[at - 1], edges[at], reached[at] - reached[at - 1]
    if math.isinf(end):
        return math.inf
    return float(start + (wanted - reached[at - 1]) / own * (end - start))
