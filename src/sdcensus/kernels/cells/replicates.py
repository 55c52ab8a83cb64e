"""Random groups of what was drawn together, and the sampling errors that follow from them.

Whole households are put into groups at random; what each group adds to a cell is a sum, so it
merges as every other sum does, and the variance of the cell is estimated from how much the groups
differ: ``G / (G - 1) * sum((y_g - y / G)**2)``. Its expectation over the groups is the sum of the
squared totals of the households, the variance of a sample in which each household was drawn for
itself. Everything is an integer, so that every engine has the same class for the same cell.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: How many groups: as many as the replicate weights of large household surveys (the Australian
#: Bureau of Statistics has 60). A standard error is then known to about 9 %.
REPLICATES = 60

#: The field in which households are mixed: a prime below 2**31, so that no product leaves 63 bits.
PRIME = 2_147_483_647
#: What is added before, and what is multiplied between the two powers.
SHIFT, FACTOR = 918_273_645, 48_271

#: Bits that are kept of what is compared: 60 squares of differences then stay below 2**63.
_KEPT_BITS = 22


def replicate_groups(clusters: Integers) -> npt.NDArray[np.uint8]:
    """The group of each household, by its key; neighbours have nothing to do with each other.

    Two fifth powers modulo a prime (5 does not divide ``PRIME - 1``: no two households become
    one), which are the same few operations in numpy and in SQL. A multiplication alone would
    spread neighbours evenly, and stores are sorted by area: areas would seem to have no sampling
    error.

    Examples:
        >>> replicate_groups(np.array([0, 1, 2, 3])).tolist()
        [10, 40, 27, 6]
    """
    mixed = _fifth_power((clusters.astype(np.int64) + SHIFT) % PRIME)
    mixed = _fifth_power((mixed * FACTOR + SHIFT) % PRIME)
    return (mixed % REPLICATES).astype(np.uint8)


def _fifth_power(numbers: Int64) -> Int64:
    squares = numbers * numbers % PRIME
    return squares * squares % PRIME * numbers % PRIME


def errors_above(
    values: Int64,
    replicates: Sequence[Int64],
    count: Int64,
    weight: Int64,
    unit: int,
    limits: Sequence[int],
) -> tuple[Mask, ...]:
    """For each limit, in which cells the relative standard error is above it.

    The variance is that of the groups, less the share of the cell that was drawn: where records
    stand for nobody but themselves, nothing was sampled.

    Args:
        values: The estimates, in fixed point.
        replicates: What each group adds to them.
        count: Records.
        weight: How many they stand for, in fixed point.
        unit: What a weight of 1 is.
        limits: Relative standard errors in billionths.

    Examples:
        >>> thirds = [np.array([30]), np.array([50]), np.array([40])]
        >>> cell = np.array([120]), thirds, np.array([12]), np.array([120])
        >>> [bool(above[0]) for above in errors_above(*cell, 1, [130_000_000, 140_000_000])]
        [True, False]
    """
    groups = len(replicates)
    largest = np.abs(values)
    for replicate in replicates:
        largest = np.maximum(largest, np.abs(replicate))
    shift = np.maximum(_bits(largest) - _KEPT_BITS, 0)
    total = values >> shift
    squares = np.zeros(values.shape, dtype=np.int64)
    for replicate in replicates:
        squares += (groups * (replicate >> shift) - total) ** 2
    # From here on numbers may be longer than 64 bits.
    drawn, stands = count.astype(object) * unit, weight.astype(object)
    variance = squares.astype(object) * np.where(stands > drawn, stands - drawn, 0) * 10**18
    square = total.astype(object) ** 2 * stands * (groups * (groups - 1))
    return tuple(np.asarray(variance > square * limit**2, dtype=bool) for limit in limits)


def relative_errors(
    values: Int64, replicates: Sequence[Int64], count: Int64, weight: Int64, unit: int
) -> npt.NDArray[np.float64]:
    """The relative standard errors themselves, for the office: nothing is published from them.

    Not a number where nothing was estimated.

    Examples:
        >>> thirds = [np.array([30]), np.array([50]), np.array([40])]
        >>> cell = np.array([120]), thirds, np.array([12]), np.array([120])
        >>> relative_errors(*cell, 1).round(4).tolist()
        [0.1369]
    """
    groups = len(replicates)
    stands = weight.astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        share = np.clip(1 - count * float(unit) / stands, 0, 1)
        squares = sum((group - values / groups) ** 2 for group in replicates)
        errors = np.sqrt(share * squares * groups / (groups - 1)) / np.abs(values)
    return np.where(np.isfinite(errors), errors, np.nan)


def _bits(numbers: Int64) -> Int64:
    """How many bits each number has; of large ones perhaps one more."""
    _, exponent = np.frexp(numbers.astype(np.float64))
    return exponent.astype(np.int64)
