"""The weighted distribution of a variable in the census and in a file."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential

Integers = npt.NDArray[Any]
Float64 = npt.NDArray[np.float64]


def weighted_counts(codes: Integers, size: int, weights: Integers | None = None) -> Float64:
    """The sum of weights of each code; the number of records where there are no weights."""
    return np.bincount(codes, weights=weights, minlength=size).astype(np.float64)


def shares(counts: Float64) -> Float64:
    """Counts as shares of their sum; zeros where nothing was counted."""
    total = float(counts.sum())
    return counts / total if total > 0 else np.zeros_like(counts)


@dataclass(frozen=True, slots=True, repr=False)
class DistributionChange(Confidential):
    """How far apart two distributions over the same codes are.

    Attributes:
        total_variation: Half the sum of ``|after - before|``: the share that would have to move.
        hellinger: ``sqrt(0.5 · sum((sqrt(after) - sqrt(before))²))``, between 0 and 1.
        largest: The largest difference of a share, in points of per cent.
        place: The position of the code where it is.
    """

    total_variation: float
    hellinger: float
    largest: float
    place: int

    def __repr__(self) -> str:
        return "<DistributionChange: confidential>"


def distribution_change(before: Float64, after: Float64) -> DistributionChange:
    """Compare two arrays of weighted counts of the same codes, as shares.

    Examples:
        >>> change = distribution_change(np.array([50.0, 50.0]), np.array([6.0, 4.0]))
        >>> round(change.total_variation, 10), round(change.largest, 10), change.place
        (0.1, 10.0, 0)
    """
    first, second = shares(before), shares(after)
    difference = np.abs(second - first)
    roots = np.sqrt(second) - np.sqrt(first)
    place = int(np.argmax(difference)) if difference.size else 0
    return DistributionChange(
        total_variation=0.5 * float(difference.sum()),
        hellinger=min(1.0, math.sqrt(0.5 * float((roots * roots).sum()))),
        largest=100 * float(difference[place]) if difference.size else 0.0,
        place=place,
    )


def detail_kept(leaves: Float64, groups: Integers) -> float | None:
    """The share of a variable's entropy that is left when its codes are grouped.

    1 for a variable that is told as it is, 0 for one whose codes became one; ``None`` for a
    variable that has one value only, so that there is nothing to lose.

    Args:
        leaves: The count of each code of the census.
        groups: For each of them the position of the code that tells it in the file.

    Examples:
        >>> detail_kept(np.array([1.0, 1.0, 1.0, 1.0]), np.array([0, 0, 1, 1]))
        0.5
    """
    fine = _entropy(shares(leaves))
    if fine <= 0:
        return None
    coarse = _entropy(shares(np.bincount(groups, weights=leaves).astype(np.float64)))
    return min(1.0, max(0.0, coarse / fine))


def _entropy(distribution: Float64) -> float:
    positive = distribution[distribution > 0]
    return float(-(positive * np.log(positive)).sum())
