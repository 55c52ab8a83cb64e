"""Amounts in the census and in a file: mean, spread, quantiles, correlation."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.encoding import NO_VALUE

Integers = npt.NDArray[Any]
Float64 = npt.NDArray[np.float64]
#: The shares below which quantiles lie.
QUANTILES = (0.1, 0.25, 0.5, 0.75, 0.9)


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class AmountSummary(Confidential):
    """What a user computes first of an amount, weighted.

    Attributes:
        absent: The share of records without a value.
        mean, variance: ``None`` where no record has a value.
        quantiles: The values below which ``QUANTILES`` of the weight lie; empty likewise.
    """

    absent: float
    mean: float | None
    variance: float | None
    quantiles: tuple[float, ...]

    def __repr__(self) -> str:
        return "<AmountSummary: confidential>"


def amount_summary(
    values: Integers, decimals: int, weights: Integers | None = None
) -> AmountSummary:
    """The summary of fixed-point numbers; records without a value count for ``absent`` only.

    Examples:
        >>> amount_summary(np.array([100, 200, 300, NO_VALUE]), 2).mean
        2.0
    """
    weight = np.ones(values.size) if weights is None else weights.astype(np.float64)
    stated = (values != NO_VALUE) & (weight > 0)
    everyone = float(weight.sum())
    weight, numbers = weight[stated], values[stated] / 10.0**decimals
    total = float(weight.sum())
    absent = 1 - total / everyone if everyone > 0 else 0.0
    if total <= 0:
        return AmountSummary(absent=absent, mean=None, variance=None, quantiles=())
    mean = float((weight * numbers).sum()) / total
    variance = float((weight * (numbers - mean) ** 2).sum()) / total
    order = np.argsort(numbers, kind="stable")
    reached = np.cumsum(weight[order])
    # Rounding of the running sum must not lead past the last value.
    places = np.minimum(
        np.searchsorted(reached, np.array(QUANTILES) * total * (1 - 1e-12)), order.size - 1
    )
    quantiles = tuple(float(number) for number in numbers[order][places])
    return AmountSummary(absent=max(0.0, absent), mean=mean, variance=variance, quantiles=quantiles)


def correlation(first: Integers, second: Integers, weights: Integers | None = None) -> float | None:
    """Pearson's correlation of two amounts over records with both; ``None`` without any spread.

    Examples:
        >>> round(correlation(np.array([1, 2, 3]), np.array([2, 4, 6])), 10)
        1.0
    """
    weight = np.ones(first.size) if weights is None else weights.astype(np.float64)
    both = (first != NO_VALUE) & (second != NO_VALUE) & (weight > 0)
    weight, one, other = weight[both], first[both] * 1.0, second[both] * 1.0
    total = float(weight.sum())
    if total <= 0:
        return None
    one = one - float((weight * one).sum()) / total
    other = other - float((weight * other).sum()) / total
    own, others = float((weight * one * one).sum()), float((weight * other * other).sum())
    if own <= 0 or others <= 0:
        return None
    return max(-1.0, min(1.0, float((weight * one * other).sum()) / math.sqrt(own * others)))
