"""The records of a census as arrays, put into the cells of a table. Confidential."""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tabulate import BLOCK_ROWS, add_axis, count, highest, lowest
from sdcensus.kernels.keys.unit_sets import tally_sets, unit_marks
from sdcensus.model.confidential import Confidential
from sdcensus.risk.groups.shown_cells import KindOfCells

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]
Made = TypeVar("Made")

#: A unit that lies in no household.
NO_HOUSEHOLD = -1
#: Grids with more cells for each unit are numbered by their cells that hold any.
_SPARSE = 8
_SMALLEST_GRID = 1 << 20
#: Numbers of cells stay below this, so that they can be added up.
_LARGEST_GRID = 1 << 62


#: Each thread holds the cells of one kind.
_MOST_THREADS = 4


def in_order(look: Callable[[KindOfCells], Made], kinds: Sequence[KindOfCells]) -> Iterator[Made]:
    """What was found about each kind, in their order; several are looked at in threads."""
    threads = max(1, min(_MOST_THREADS, os.cpu_count() or 1, len(kinds)))
    waiting: deque[Future[Made]] = deque()
    pool = ThreadPoolExecutor(threads)
    try:
        for kind in kinds:
            waiting.append(pool.submit(look, kind))
            if len(waiting) > threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()
    finally:
        pool.shutdown(cancel_futures=True)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UnitRecords(Confidential):
    """Units with the leaf that each has of every variable.

    Attributes:
        codes: For each variable by name, the position of each unit's leaf.
        households: For each unit the number of its household, ``NO_HOUSEHOLD`` where it has none;
            ``None`` where units do not lie in households.
        units: How many there are.
    """

    codes: Mapping[str, Integers]
    households: Int64 | None
    units: int
    _marks: list[UInt64] = field(init=False, default_factory=list)

    def __post_init__(self) -> None:
        sizes = {code.size for code in self.codes.values()}
        if self.households is not None:
            sizes.add(self.households.size)
        if sizes - {self.units}:
            raise SpecError("All columns of records have one value for each unit.")

    @property
    def marks(self) -> UInt64:
        """A mark for each unit; made when they are needed."""
        if not self._marks:
            self._marks.append(unit_marks(self.units))
        return self._marks[0]

    def __repr__(self) -> str:
        return "<UnitRecords: confidential>"

    def household_members(self, largest: int) -> tuple[Int64, Int64] | None:
        """Units of households with two to ``largest`` members, household by household.

        Returns:
            The units, and where each household begins among them (and the last one ends).
        """
        if self.households is None:
            return None
        held = np.flatnonzero(self.households >= 0)
        held = held[np.argsort(self.households[held], kind="stable")]
        sizes = np.bincount(self.households[held])
        sizes = sizes[sizes > 0]
        wanted = (sizes >= 2) & (sizes <= largest)
        members = held[np.repeat(wanted, sizes)]
        ends = np.concatenate([[0], np.cumsum(sizes[wanted])]).astype(np.int64)
        return members.astype(np.int64), ends

    def household_sizes(self) -> Int64 | None:
        """For each unit, how many units its household has; 0 where it has none."""
        if self.households is None:
            return None
        # Those without one are counted in front of all others, and have none.
        counts = np.bincount(self.households + 1, minlength=1)
        counts[0] = 0
        return np.asarray(counts[self.households + 1], dtype=np.int64)

    def cells(self, kind: KindOfCells, *, sums: bool = True) -> CellsOfUnits:
        """Put every unit into its cell of a kind.

        Args:
            kind: The kind.
            sums: Whether the marks of the units of each cell are summed.
        """
        numbers = np.empty(self.units, dtype=np.int64)
        grid = _grid_of(kind)
        for rows, block in self._numbered(kind, grid):
            numbers[rows] = block
        if grid > max(_SMALLEST_GRID, _SPARSE * self.units):
            held, numbers = np.unique(numbers, return_inverse=True)
            numbers = numbers.reshape(-1).astype(np.int64)
            grid = int(held.size) - int(held.size and held[-1] == grid)
        return CellsOfUnits(self, numbers, grid, sums=sums)

    def counts(self, kind: KindOfCells) -> Int64:
        """How many units each cell of a kind holds; empty cells may be left out."""
        grid = _grid_of(kind)
        if grid > max(_SMALLEST_GRID, _SPARSE * self.units):
            return self.cells(kind, sums=False).counts[:-1]
        counts = np.zeros(grid + 1, dtype=np.int64)
        for _, numbers in self._numbered(kind, grid):
            count(numbers, counts)
        return counts[:-1]

    def _numbered(self, kind: KindOfCells, grid: int) -> Iterator[tuple[slice, Int64]]:
        """The cells of units, block by block; those in no cell are in the one behind the last."""
        stride = grid
        offsets, hidden = [], []
        for parts in kind.parts:
            stride //= parts.size
            offsets.append(np.maximum(parts.group, 0) * stride)
            hidden.append(parts.group < 0 if (parts.group < 0).any() else None)
        names = [parts.variable.name for parts in kind.parts]
        universe = kind.universe
        for start in range(0, self.units, BLOCK_ROWS):
            rows = slice(start, min(start + BLOCK_ROWS, self.units))
            numbers = np.zeros(rows.stop - start, dtype=np.int64)
            outside: Mask | None = None
            for name, offset, left_out in zip(names, offsets, hidden, strict=True):
                codes = self.codes[name][rows]
                add_axis(numbers, codes, offset)
                if left_out is not None:
                    outside = _either(outside, left_out[codes])
            if not universe.everything:
                classes = tuple(
                    groups[self.codes[variable.name][rows]]
                    for variable, groups in zip(universe.variables, universe.classes, strict=True)
                )
                outside = _either(outside, ~universe.truth[classes])
            if outside is not None:
                numbers[outside] = grid
            yield rows, numbers


def _either(first: Mask | None, second: Mask) -> Mask:
    return second if first is None else first | second


def _grid_of(kind: KindOfCells) -> int:
    """How many cells a kind can have."""
    grid = math.prod(part.size for part in kind.parts)
    if grid >= _LARGEST_GRID:
        raise SpecError(f"{kind.title}: there are too many cells to be numbered.")
    return grid


class CellsOfUnits(Confidential):
    """Units in the cells of one kind. The last number is for units that are in none."""

    __slots__ = ("_records", "counts", "number", "size", "sums")

    def __init__(
        self, records: UnitRecords, number: Int64, size: int, *, sums: bool = True
    ) -> None:
        self._records = records
        self.number = number
        self.size = size
        self.counts = np.zeros(size + 1, dtype=np.int64)
        self.sums = np.zeros(size + 1 if sums else 0, dtype=np.uint64)
        if sums:
            tally_sets(number, records.marks, self.counts, self.sums)
        else:
            count(number, self.counts)
        self.counts[size] = 0

    def __repr__(self) -> str:
        return "<CellsOfUnits: confidential>"

    def one_household(self, sizes: Int64 | None, largest: int) -> Mask:
        """The cells whose units all live in one household of at most ``largest`` units."""
        households = self._records.households
        if households is None or sizes is None:
            return np.zeros(self.size + 1, dtype=bool)
        first = np.full(self.size + 1, np.iinfo(np.int64).max, dtype=np.int64)
        last = np.full(self.size + 1, NO_HOUSEHOLD, dtype=np.int64)
        lowest(self.number, households, first)
        highest(self.number, households, last)
        of = np.zeros(self.size + 1, dtype=np.int64)
        highest(self.number, sizes, of)
        same = (self.counts > 0) & (first == last) & (first >= 0)
        return np.asarray(same & (of <= largest))
