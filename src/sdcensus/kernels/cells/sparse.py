"""Cells of a grid that is too large to hold: only those with records, sorted by their number."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.cells.ranked import merge_into
from sdcensus.kernels.cells.tabulate import Combine

Integers = npt.NDArray[Any]
UInt64 = npt.NDArray[np.uint64]

_DIGIT_BITS = 11
#: So many upper digits tell nearly all long numbers apart.
_UPPER_DIGITS = 3


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


@compiled
def _settle(cells: Integers, order: Integers, most: int) -> bool:
    """Sort what is nearly sorted by inserting; False once more than ``most`` had to move."""
    moves = 0
    for i in range(1, cells.size):
        cell, row = cells[i], order[i]
        at = i
        while at > 0 and cells[at - 1] > cell:
            cells[at], order[at] = cells[at - 1], order[at - 1]
            at -= 1
        cells[at], order[at] = cell, row
        moves += i - at
        if moves > most:
            return False
    return True


def sort_cells(cells: UInt64, *, largest: int) -> tuple[UInt64, npt.NDArray[np.uint32]]:
    """Sort cell numbers up to ``largest``; also say where each stood.

    Long numbers, such as digests, are told apart by their upper digits nearly always: these are
    sorted by, and the few that are equal there put right. Where they are many, by all digits.
    """
    order = np.arange(cells.size, dtype=np.uint32)
    if cells.size <= 1 or not (cells[1:] < cells[:-1]).any():
        return cells, order
    bits = max(int(largest).bit_length(), 1)
    upper = bits - _UPPER_DIGITS * _DIGIT_BITS
    if upper > 0:
        cells, order = _sorted_from(cells, order, range(upper, bits, _DIGIT_BITS))
        if _settle(cells, order, 2 * cells.size):
            return cells, order
    return _sorted_from(cells, order, range(0, bits, _DIGIT_BITS))


def _sorted_from(
    cells: UInt64, order: npt.NDArray[np.uint32], shifts: range
) -> tuple[UInt64, npt.NDArray[np.uint32]]:
    """Cells sorted by digits, from the lowest that is named to the highest."""
    spare, spare_order = np.empty_like(cells), np.empty_like(order)
    for shift in shifts:
        _sort_pass(cells, order, shift, spare, spare_order)
        if shift == shifts.start:  # never write into the caller's array
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


@compiled
def _merge_runs(
    lists: Integers, order: Integers, starts: Integers, out: Integers, fields: int
) -> None:
    width, wide = lists.shape[1], out.shape[1]
    spare = np.empty((1, wide), dtype=np.int64)
    for run in range(out.shape[0]):
        for i in range(starts[run], starts[run + 1]):
            merge_into(lists, order[i], 0, width, out, run, 0, wide, fields, spare)


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

    def combine(
        self,
        values: Integers,
        combine: Combine,
        *,
        empty: int,
        fields: int = 0,
        width: int | None = None,
    ) -> Integers:
        """Combine the values of the members of each cell.

        Args:
            values: A value for each member, or a list of largest contributions.
            combine: How they become one.
            empty: What a cell without members holds.
            fields: How many numbers an entry of a list has.
            width: How long the lists of the cells are, where not as those of the members.
        """
        if combine is Combine.LARGEST:
            lists = np.zeros((self.cells.size, width or values.shape[1]), dtype=np.int64)
            _merge_runs(np.ascontiguousarray(values), self._order, self._starts, lists, fields)
            return lists
        out = np.full(self.cells.size, empty, dtype=values.dtype)
        _combine_runs(values, self._order, self._starts, out, int(combine))
        return out
