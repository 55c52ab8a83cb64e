"""Two-way tables of two columns of codes, without an array of their cells."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.perturbation.lookup import frozen

Integers = npt.NDArray[Any]
Floats = npt.NDArray[np.float64]


@compiled
def _count(first: Integers, second: Integers, width: int, out: Integers) -> None:
    for i in range(first.size):
        row, column = np.int64(first[i]), np.int64(second[i])
        if row >= 0 and column >= 0:
            out[row * width + column] += 1


@compiled
def _add(first: Integers, second: Integers, weights: Floats, width: int, out: Floats) -> None:
    for i in range(first.size):
        row, column = np.int64(first[i]), np.int64(second[i])
        if row >= 0 and column >= 0:
            out[row * width + column] += weights[i]


def two_way_table(
    first: Integers, second: Integers, sizes: tuple[int, int], weights: Floats | None = None
) -> Floats:
    """The sum of weights of each pair of codes; the number of records where there are no weights.

    Args:
        first, second: The codes of each record, below the sizes; below 0 where a record has none,
            so that it is left out.
        sizes: How many codes there are of each.
        weights: The weight of each record.

    Examples:
        >>> two_way_table(np.array([0, 1, 1, -1]), np.array([1, 0, 0, 1]), (2, 2))
        array([[0., 1.],
               [2., 0.]])
    """
    rows, columns = sizes
    if weights is None:
        counts = np.zeros(rows * columns, dtype=np.int64)
        _count(frozen(first), frozen(second), columns, counts)
        return counts.astype(np.float64).reshape(rows, columns)
    sums = np.zeros(rows * columns, dtype=np.float64)
    _add(frozen(first), frozen(second), frozen(weights), columns, sums)
    return sums.reshape(rows, columns)
