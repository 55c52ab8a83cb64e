"""Numbers without gaps for those that occur, by a table of them all."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.perturbation.lookup import frozen

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]


@compiled
def _marked(numbers: Integers, table: Integers) -> None:
    for i in range(numbers.size):
        table[numbers[i]] = 1


@compiled
def _counted(table: Integers) -> int:
    """Turn marks into numbers, in their order; how many there are."""
    count = 0
    for number in range(table.size):
        if table[number]:
            table[number] = count
            count += 1
        else:
            table[number] = -1
    return count


@compiled
def _looked_up(numbers: Integers, table: Integers, out: Integers) -> None:
    for i in range(numbers.size):
        out[i] = table[numbers[i]]


def renumbered(numbers: Integers, largest: int, out: Integers) -> Int64:
    """Numbers from 0 without gaps in the same order, into ``out``; the old number of each.

    Args:
        numbers: From 0 to ``largest``.
        largest: The largest that there may be: a table as long is made.
        out: The new numbers; may be ``numbers`` itself.

    Examples:
        >>> new = np.empty(4, dtype=np.int64)
        >>> renumbered(np.array([7, 2, 7, 9]), 9, new), new
        (array([2, 7, 9]), array([1, 0, 1, 2]))
    """
    numbers = frozen(numbers)
    table = np.zeros(largest + 1, dtype=np.int32)
    _marked(numbers, table)
    _counted(table)
    _looked_up(numbers, table, out)
    return np.flatnonzero(table >= 0)
