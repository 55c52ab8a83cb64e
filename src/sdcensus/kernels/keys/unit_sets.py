"""Sets of units told apart by the sums of their marks, and sets that differ by few of them.

Every unit has a mark of 64 bits. The sum of the marks of a set, modulo ``2**64``, stands for the
set: two different sets have the same sum with a chance of ``2**-64``. A set less one unit has the
sum less one mark, so whether it is among some sets is one look into a hash table.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]


def unit_marks(units: int) -> UInt64:
    """A mark for each unit: its number, spread over 64 bits (splitmix64, a bijection).

    Examples:
        >>> [hex(mark) for mark in unit_marks(2).tolist()]
        ['0xe220a8397b1dcdaf', '0x6e789e6aa1b965f4']
    """
    mark = (np.arange(units, dtype=np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    mark = (mark ^ (mark >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mark = (mark ^ (mark >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mark ^ (mark >> np.uint64(31))


@compiled
def tally_sets(cells: Integers, marks: Integers, counts: Integers, sums: Integers) -> None:
    """Count the units of each cell and sum their marks."""
    for unit in range(cells.size):
        counts[cells[unit]] += 1
        sums[cells[unit]] += marks[unit]


@compiled
def mark_few(
    cells: Integers, counts: Integers, above: int, bits: np.uint64, alone: Integers, few: Integers
) -> None:
    """Add bits to what is known of the units of cells with one unit, and with two or three."""
    for unit in range(cells.size):
        count = counts[cells[unit]]
        if count <= above or count > 3 or count < 1:
            continue
        if count == 1:
            alone[unit] |= bits
        else:
            few[unit] |= bits


@compiled
def _insert(sums: Integers, table: Integers, used: Integers, new: Integers) -> None:
    mask = np.uint64(table.size - 1)
    for at in range(sums.size):
        slot = sums[at] & mask
        while used[slot] and table[slot] != sums[at]:
            slot = (slot + np.uint64(1)) & mask
        if not used[slot]:
            table[slot] = sums[at]
            used[slot] = 1
            new[at] = True


@compiled
def _less_one(
    cells: Integers,
    marks: Integers,
    sums: Integers,
    room: Integers,
    table: Integers,
    used: Integers,
    smaller: Integers,
) -> None:
    mask = np.uint64(table.size - 1)
    for unit in range(cells.size):
        cell = cells[unit]
        if room[cell] < 1:
            continue
        less = sums[cell] - marks[unit]
        slot = less & mask
        while used[slot] and table[slot] != less:
            slot = (slot + np.uint64(1)) & mask
        if used[slot]:
            smaller[cell] += 1


@compiled
def _less_a_group(
    cells: Integers,
    marks: Integers,
    members: Integers,
    starts: Integers,
    sums: Integers,
    room: Integers,
    table: Integers,
    used: Integers,
    smaller: Integers,
) -> None:
    mask = np.uint64(table.size - 1)
    for group in range(starts.size - 1):
        first, end = starts[group], starts[group + 1]
        for at in range(first, end):
            cell = cells[members[at]]
            if room[cell] < 2:
                continue
            seen = False
            for before in range(first, at):
                seen = seen or cells[members[before]] == cell
            if seen:
                continue
            size = 0
            less = sums[cell]
            for other in range(at, end):
                if cells[members[other]] == cell:
                    less -= marks[members[other]]
                    size += 1
            if size < 2 or size > room[cell]:
                continue
            slot = less & mask
            while used[slot] and table[slot] != less:
                slot = (slot + np.uint64(1)) & mask
            if used[slot]:
                smaller[cell] += 1


class SetIndex:
    """Sets by the sums of their marks, for questions about sets with a few units less.

    Args:
        most: How many different sets it can take.
    """

    __slots__ = ("_table", "_used", "distinct")

    def __init__(self, most: int) -> None:
        size = 1 << max(4, int(2 * most).bit_length())
        self._table = np.zeros(size, dtype=np.uint64)
        self._used = np.zeros(size, dtype=np.uint8)
        self.distinct = 0

    def add(self, sums: UInt64) -> npt.NDArray[np.bool_]:
        """Add sets; tells which of them are new, each once."""
        if self.distinct + sums.size >= self._table.size:
            raise ValueError("more sets than the index was made for")
        new = np.zeros(sums.size, dtype=np.bool_)
        _insert(np.ascontiguousarray(sums), self._table, self._used, new)
        self.distinct += int(new.sum())
        return new

    def less_one(self, cells: Integers, marks: UInt64, sums: UInt64, room: Int64) -> Int64:
        """For each cell, of how many of its units it holds that the others are a set too.

        Args:
            cells: The cell of each unit.
            marks: The mark of each unit.
            sums: The sum of marks of each cell.
            room: How many units a cell may lose; a cell with none is not asked about.
        """
        smaller = np.zeros(sums.size, dtype=np.int64)
        _less_one(cells, marks, sums, room, self._table, self._used, smaller)
        return smaller

    def less_a_group(
        self,
        cells: Integers,
        marks: UInt64,
        members: Integers,
        starts: Integers,
        sums: UInt64,
        room: Int64,
    ) -> Int64:
        """The same for the members of a group of units (a household), where two or more are there.

        Args:
            cells, marks, sums, room: As of ``less_one``.
            members: The units, group by group.
            starts: Where each group begins in ``members``, and where the last one ends.
        """
        smaller = np.zeros(sums.size, dtype=np.int64)
        _less_a_group(cells, marks, members, starts, sums, room, self._table, self._used, smaller)
        return smaller
