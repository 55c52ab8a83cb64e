"""From encoded columns to cells: mixed-radix cell numbers and what is added up in each cell.

A block of rows gets its cell numbers by one table look-up per axis (``offsets`` already holds
group times stride), then every accumulator takes one pass over the same numbers while they are
still in the cache. Everything is an integer: results do not depend on the order of rows, blocks
or threads.
"""

from __future__ import annotations

from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Integers = npt.NDArray[Any]

#: Rows per block: the cell numbers of a block stay in the second-level cache.
BLOCK_ROWS = 1 << 16
#: Marks a record without a parent in a column of row numbers.
NO_ROW = np.uint32(0xFFFFFFFF)


class Combine(IntEnum):
    """How the values of a cell, and later cells themselves, become one."""

    SUM = 0
    XOR = 1
    LOW = 2
    HIGH = 3


@compiled
def start_cells(cells: Integers, column: Integers, offsets: Integers) -> None:
    """Set ``cells[i]`` to ``offsets[column[i]]``."""
    for i in range(cells.size):
        cells[i] = offsets[column[i]]


@compiled
def add_axis(cells: Integers, column: Integers, offsets: Integers) -> None:
    """Add ``offsets[column[i]]`` to ``cells[i]``."""
    for i in range(cells.size):
        cells[i] += offsets[column[i]]


@compiled
def drop_outside(cells: Integers, combination: Integers, truth: Integers, outside: int) -> None:
    """Send every row whose combination of classes is not true to the cell ``outside``."""
    for i in range(cells.size):
        if not truth[combination[i]]:
            cells[i] = outside


@compiled
def inherit(rows: Integers, column: Integers, missing: int, out: Integers) -> None:
    """Look up a parent's value for each row; ``missing`` where there is no parent."""
    for i in range(rows.size):
        out[i] = column[rows[i]] if rows[i] != NO_ROW else missing


@compiled
def count_and_key(cells: Integers, keys: Integers, packed: Integers) -> None:
    """Count in the low and sum keys in the high 32 bits of one 64-bit integer.

    The count cannot reach 2**32, and a key sum that leaves the top is reduced modulo 2**32 by
    that very fact: both are exact, for one memory access per record instead of two.
    """
    for i in range(cells.size):
        packed[cells[i]] += (np.uint64(keys[i]) << np.uint64(32)) | np.uint64(1)


@compiled
def count(cells: Integers, out: Integers) -> None:
    """Count the rows of each cell."""
    for i in range(cells.size):
        out[cells[i]] += 1


@compiled
def add(cells: Integers, values: Integers, out: Integers) -> None:
    """Sum a column in each cell."""
    for i in range(cells.size):
        out[cells[i]] += values[i]


@compiled
def exclusive_or(cells: Integers, values: Integers, out: Integers) -> None:
    """Combine a column by exclusive or in each cell."""
    for i in range(cells.size):
        out[cells[i]] ^= values[i]


@compiled
def lowest(cells: Integers, values: Integers, out: Integers) -> None:
    """The smallest value in each cell."""
    for i in range(cells.size):
        out[cells[i]] = min(out[cells[i]], values[i])


@compiled
def highest(cells: Integers, values: Integers, out: Integers) -> None:
    """The largest value in each cell."""
    for i in range(cells.size):
        out[cells[i]] = max(out[cells[i]], values[i])


SCATTER = {
    Combine.SUM: add,
    Combine.XOR: exclusive_or,
    Combine.LOW: lowest,
    Combine.HIGH: highest,
}


def identity(combine: Combine, dtype: npt.DTypeLike) -> int:
    """What an empty cell holds, so that combining with it changes nothing."""
    return int(np.iinfo(np.dtype(dtype)).max) if combine is Combine.LOW else 0


@compiled
def unpack(packed: Integers, counts: Integers, keys: Integers, modulus_mask: int) -> None:
    """Split packed cells into counts and keys below a power of two."""
    for i in range(packed.size):
        counts[i] = np.int64(packed[i] & np.uint64(0xFFFFFFFF))
        keys[i] = np.uint32(packed[i] >> np.uint64(32)) & np.uint32(modulus_mask)
