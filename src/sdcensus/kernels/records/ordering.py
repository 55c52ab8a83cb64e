"""Records in a new order: where each goes, and its values there.

Rows are unsigned 32-bit numbers, as links in a store are. numpy would turn them into 64-bit ones,
a copy as long as the order, for every column that is put in order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.perturbation.lookup import frozen

Integers = npt.NDArray[Any]
UInt32 = npt.NDArray[np.uint32]


@compiled
def _gather(values: Integers, rows: UInt32, out: Integers) -> None:
    for i in range(rows.size):
        out[i] = values[rows[i]]


def gather(values: Integers, rows: UInt32, out: Integers) -> None:
    """The values of rows, one after the other, into a buffer that is at least as long."""
    _gather(frozen(values), frozen(rows), out)


@compiled
def _count(keys: Integers, limit: int, starts: Integers) -> bool:
    """Count keys from place 1 on, those of ``limit`` and above together; whether they ascend."""
    ascending = True
    earlier = np.int64(0)
    for i in range(keys.size):
        key = min(np.int64(keys[i]), np.int64(limit))
        starts[key + 1] += 1
        if key < earlier:
            ascending = False
        earlier = key
    return ascending


@compiled
def _place(keys: Integers, limit: int, starts: Integers, order: UInt32) -> None:
    for i in range(keys.size):
        key = min(np.int64(keys[i]), np.int64(limit))
        order[starts[key]] = i
        starts[key] += 1


def rows_by(keys: Integers, limit: int) -> UInt32 | None:
    """Rows so that their keys ascend, equal ones as they were; ``None`` if they do already.

    A counting sort: where few rows move, it reads and writes memory nearly in sequence.

    Args:
        keys: A key of each row, 0 or more.
        limit: Keys from here on come last, as they are.

    Examples:
        >>> rows_by(np.array([1, 0, 9, 1, 7]), 2)
        array([1, 0, 3, 2, 4], dtype=uint32)
    """
    starts = np.zeros(limit + 2, dtype=np.int64)
    keys = frozen(keys)
    if _count(keys, limit, starts):
        return None
    np.cumsum(starts, out=starts)
    order = np.empty(keys.size, dtype=np.uint32)
    _place(keys, limit, starts, order)
    return order


@compiled
def inverse(order: UInt32, out: UInt32) -> None:
    """For each row that stands in an order its place in it."""
    for i in range(order.size):
        out[order[i]] = i


@compiled
def _leads_outside(links: UInt32, size: int, nowhere: int) -> bool:
    outside = False
    for i in range(links.size):
        outside |= links[i] >= size and links[i] != nowhere
    return outside


def leads_outside(links: UInt32, size: int, nowhere: int) -> bool:
    """Whether a link leads to a row that is not there."""
    return bool(_leads_outside(frozen(links), size, nowhere))
