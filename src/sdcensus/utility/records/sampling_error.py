"""How far estimates of a sample of whole households may be from the census.

A share or mean is a ratio of two sums over households, ``R = Y / X``. The sum over the members of a
household of ``weight · (value - R) / X`` says what that household adds to the error. The variance
of the sum of these terms over a systematic sample is estimated in one of two ways, both with the
finite population correction ``1 - fraction``:

- from successive differences, ``(1 - f) · n / (2 (n - 1)) · Σ (z_h - z_(h-1))²``, where households
  were drawn from a list that is sorted by area: neighbours in the sample come from the same area,
  so that what implicit stratification gains is counted;
- by the formula of ultimate clusters, ``(1 - f) · n / (n - 1) · Σ (z_h - mean)²``, where the list
  has no order that means anything.

Persons of one household are alike: a formula that takes them as drawn one by one says too little.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential

Integers = npt.NDArray[Any]
Float64 = npt.NDArray[np.float64]
#: Of a normal distribution, for intervals that hold the truth in 95 of 100 cases.
Z95 = 1.959963984540054


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Clusters(Confidential):
    """The records of a sample and the households that they were drawn with.

    Attributes:
        cluster: For each record the number of its household, from 0; numbers go along the list
            that was drawn from.
        count: How many households were drawn, those without any record included.
        weights: The weight of each record.
        fraction: The share of households that were drawn.
        along_list: Whether the list was sorted by area.
    """

    cluster: Integers
    count: int
    weights: Float64
    fraction: float
    along_list: bool

    def __repr__(self) -> str:
        return "<Clusters: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class Estimate(Confidential):
    """A weighted estimate.

    Attributes:
        value: The estimate.
        error: Its standard error; ``None`` where too few households were drawn to say.
        design_effect: Its variance divided by that of as many records drawn one by one; ``None``
            where that is 0.
    """

    value: float
    error: float | None
    design_effect: float | None

    def __repr__(self) -> str:
        return "<Estimate: confidential>"

    @property
    def interval(self) -> tuple[float, float] | None:
        """The interval that holds the truth in 95 of 100 samples."""
        if self.error is None:
            return None
        return self.value - Z95 * self.error, self.value + Z95 * self.error

    def errors_from(self, truth: float) -> float | None:
        """How many standard errors it is away from the truth; ``None`` without a standard error."""
        if self.error is None:
            return None
        away = abs(self.value - truth)
        if self.error > 0:
            return away / self.error
        return 0.0 if away < 1e-9 * max(1.0, abs(truth)) else math.inf


def ratio_estimate(
    values: Float64, clusters: Clusters, among: npt.NDArray[np.bool_] | None = None
) -> Estimate | None:
    """The weighted mean of values, or the share of ones, with its sampling error.

    Args:
        values: The value of each record; 0 and 1 for a share.
        clusters: Who was drawn together.
        among: Which records count; all if ``None``.

    Returns:
        ``None`` where no record counts.
    """
    weight = clusters.weights if among is None else np.where(among, clusters.weights, 0.0)
    total = float(weight.sum())
    if total <= 0:
        return None
    ratio = float((weight * values).sum()) / total
    terms = weight * (values - ratio) / total
    variance = variance_of_sum(_by_cluster(terms, clusters), clusters)
    drawn = int((weight > 0).sum())
    spread = float((weight * (values - ratio) ** 2).sum()) / total
    one_by_one = (1 - clusters.fraction) * spread / (drawn - 1) if drawn > 1 else 0.0
    return _estimate(ratio, variance, one_by_one)


#: Sums of households by code that are held at once.
_MOST_SUMS = 4_000_000


def share_estimates(
    positions: Integers, codes: Sequence[int], clusters: Clusters
) -> tuple[Estimate | None, ...]:
    """The share of each of some codes, as ``ratio_estimate`` gives it, in few passes.

    Args:
        positions: For each record the position of its code.
        codes: The positions whose shares are wanted.
        clusters: Who was drawn together.
    """
    weight = clusters.weights
    total = float(weight.sum())
    if total <= 0:
        return (None,) * len(codes)
    drawn = int((weight > 0).sum())
    base = _by_cluster(weight, clusters) / total
    step = max(1, _MOST_SUMS // max(1, clusters.count))
    estimates: list[Estimate | None] = []
    for start in range(0, len(codes), step):
        chosen = np.asarray(codes[start : start + step], dtype=np.int64)
        place = np.full(int(max(positions.max(initial=0), chosen.max())) + 1, -1)
        place[chosen] = np.arange(chosen.size)
        at = place[positions]
        hit = at >= 0
        sums = np.bincount(
            clusters.cluster[hit] * chosen.size + at[hit],
            weights=weight[hit],
            minlength=clusters.count * chosen.size,
        ).reshape(clusters.count, chosen.size)
        ratios = sums.sum(axis=0) / total
        terms = sums / total - base[:, None] * ratios
        for number, ratio in enumerate(ratios.tolist()):
            variance = variance_of_sum(np.ascontiguousarray(terms[:, number]), clusters)
            spread = (1 - clusters.fraction) * ratio * (1 - ratio)
            estimates.append(_estimate(ratio, variance, spread / (drawn - 1) if drawn > 1 else 0.0))
    return tuple(estimates)


def _estimate(value: float, variance: float | None, one_by_one: float) -> Estimate:
    if variance is None:
        return Estimate(value, None, None)
    # What rounding leaves of a share of 0 or 1 is no variance.
    variance = 0.0 if variance < 1e-24 else variance
    effect = variance / one_by_one if one_by_one > 1e-24 else None
    return Estimate(value, math.sqrt(variance), effect)


def total_estimate(values: Float64, clusters: Clusters) -> Estimate:
    """The weighted sum of values with its sampling error: how many there are."""
    terms = clusters.weights * values
    variance = variance_of_sum(_by_cluster(terms, clusters), clusters)
    error = None if variance is None else math.sqrt(variance)
    return Estimate(float(terms.sum()), error, None)


def _by_cluster(terms: Float64, clusters: Clusters) -> Float64:
    sums = np.bincount(clusters.cluster, weights=terms, minlength=clusters.count)
    return sums.astype(np.float64)


def variance_of_sum(terms: Float64, clusters: Clusters) -> float | None:
    """The variance of the sum of one term for each household, in the order of the list.

    ``None`` where fewer than two households were drawn. A sample of all has no error.
    """
    drawn = terms.size
    if clusters.fraction >= 1:
        return 0.0
    if drawn < 2:
        return None
    if clusters.along_list:
        squares = 0.5 * float((np.diff(terms) ** 2).sum())
    else:
        squares = float(((terms - terms.mean()) ** 2).sum())
    return max(0.0, (1 - clusters.fraction) * drawn / (drawn - 1) * squares)
