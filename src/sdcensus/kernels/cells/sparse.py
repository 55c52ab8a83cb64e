"""Cells of a grid that is too large to hold: only those with records, sorted by their number."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.cells.tabulate import Combine

Integers = npt.NDArray[Any]
UInt64 = npt.NDArray[np.uint64]

_DIGIT_BITS = 11


@compiled
def _sort_pass(
    cells: Integers, order: Integers, shift: int, cells_out: Integers, order_out: Integers
) -> None:
    """One stable pass of a radix sort by the 11 bits that start at ``shift``."""
    starts = np.zeros(1 << 11, dtype=np.int64)
    for i in range(cells.size):
        starts[(cells[i] >> np.uint64(shift)) & np.uint64(2047)] += 1
    position = 0
    for digit in range(starts.size):
        size = starts[digit]
        starts[digit] = position
        position += size
    for i in range(cells.size):
        digit = (cells[i] >> np.uint64(shift)) & np.uint64(2047)
        cells_out[starts[digit]] = cells[i]
        order_out[starts[digit]] = order[i]
        starts[digit] += 1


def sort_cells(cells: UInt64, *, largest: int) -> tuple[UInt64, npt.NDArray[np.uint32]]:
    """Sort cell numbers up to ``largest``; also say where each stood."""
    order = np.arange(cells.size, dtype=np.uint32)
    if cells.size > 1 and (cells[1:] < cells[:-1]).any():
        spare, spare_order = np.empty_like(cells), np.empty_like(order)
        for shift in range(0, max(int(largest).bit_length(), 1), _DIGIT_BITS):
            _sort_pass(cells, order, shift, spare, spare_order)
            if shift == 0:  # never write into the caller's array
                cells, order = np.empty_like(spare), np.empty_like(spare_order)
            cells, spare, order, spare_order = spare, cells, spare_order, order
    return cells, order


@compiled
def _combine_runs(
    values: Integers, order: Integers, starts: Integers, out: Integers, combine: int
) -> None:
    for run in range(out.size):
        for i in range(starts[run], starts[run + 1]):
            value = values[order[i]]
            if combine == 0:
                out[run] += value
            elif combine == 1:
                out[run] ^= value
            elif combine == 2:
                out[run] = min(out[run], value)
            else:
                out[run] = max(out[run], value)


class Runs:
    """Records (or finer cells) sorted into the cells that they belong to.

    Attributes:
        cells: The number of each cell that has any, ascending.
    """

    __slots__ = ("_order", "_starts", "cells")

    def __init__(self, cells: UInt64, *, largest: int) -> None:
        ordered, self._order = sort_cells(cells, largest=largest)
        fresh = np.ones(ordered.size, dtype=bool)
        fresh[1:] = ordered[1:] != ordered[:-1]
        first = np.flatnonzero(fresh)
        self.cells = ordered[first]
        self._starts = np.append(first, ordered.size)

    @property
    def sizes(self) -> npt.NDArray[np.int64]:
        """How many members each cell has."""
        return np.diff(self._starts)

    def combine(self, values: Integers, combine: Combine, *, empty: int) -> Integers:
        """Combine the values of the members of each cell."""
        out = np.full(self.cells.size, empty, dtype=values.dtype)
        _combine_runs(values, self._order, self._starts, out, int(combine))
        return out
