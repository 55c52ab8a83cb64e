"""Finding records by the digest of their identity: a hash table of rows, open addressing."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.cells.tabulate import NO_ROW

UInt64 = npt.NDArray[np.uint64]
UInt32 = npt.NDArray[np.uint32]
Integers = npt.NDArray[Any]


@compiled
def _fill(digests: Integers, table: Integers, first: Integers) -> None:
    mask = np.uint64(table.size - 1)
    for row in range(digests.size):
        slot = digests[row] & mask
        while table[slot] != NO_ROW and digests[table[slot]] != digests[row]:
            slot = (slot + np.uint64(1)) & mask
        if table[slot] == NO_ROW:
            table[slot] = row
        first[row] = table[slot]


@compiled
def _find(digests: Integers, table: Integers, wanted: Integers, rows: Integers) -> None:
    mask = np.uint64(table.size - 1)
    for i in range(wanted.size):
        slot = wanted[i] & mask
        while table[slot] != NO_ROW and digests[table[slot]] != wanted[i]:
            slot = (slot + np.uint64(1)) & mask
        rows[i] = table[slot]


class RowIndex:
    """Rows by digest.

    Attributes:
        first: For each row, the first row with the same digest (itself where there is none).
    """

    __slots__ = ("_digests", "_table", "first")

    def __init__(self, digests: UInt64) -> None:
        size = 1 << max(4, int(2 * digests.size - 1).bit_length() if digests.size else 0)
        self._digests = digests
        self._table = np.full(size, NO_ROW, dtype=np.uint32)
        self.first = np.empty(digests.size, dtype=np.uint32)
        _fill(digests, self._table, self.first)

    def find(self, wanted: UInt64) -> UInt32:
        """The row of each wanted digest; ``NO_ROW`` where there is none."""
        rows = np.empty(wanted.size, dtype=np.uint32)
        _find(self._digests, self._table, wanted, rows)
        return rows
