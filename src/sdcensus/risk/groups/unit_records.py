"""The records of a census as arrays, put into the cells of a table. Confidential."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tabulate import add_axis, highest, lowest, start_cells
from sdcensus.kernels.keys.unit_sets import tally_sets, unit_marks
from sdcensus.model.confidential import Confidential
from sdcensus.risk.groups.shown_cells import KindOfCells

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

#: A unit that lies in no household.
NO_HOUSEHOLD = -1
#: Grids with more cells for each unit are numbered by their cells that hold any.
_SPARSE = 8
_SMALLEST_GRID = 1 << 20
#: Numbers of cells stay below this, so that they can be added up.
_LARGEST_GRID = 1 << 62


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
    marks: UInt64 = field(init=False)

    def __post_init__(self) -> None:
        sizes = {code.size for code in self.codes.values()}
        if self.households is not None:
            sizes.add(self.households.size)
        if sizes - {self.units}:
            raise SpecError("All columns of records have one value for each unit.")
        object.__setattr__(self, "marks", unit_marks(self.units))

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
        _, sizes = np.unique(self.households[held], return_counts=True)
        wanted = (sizes >= 2) & (sizes <= largest)
        members = held[np.repeat(wanted, sizes)]
        ends = np.concatenate([[0], np.cumsum(sizes[wanted])]).astype(np.int64)
        return members.astype(np.int64), ends

    def household_sizes(self) -> Int64 | None:
        """For each unit, how many units its household has; 0 where it has none."""
        if self.households is None:
            return None
        sizes = np.zeros(self.units, dtype=np.int64)
        held = self.households >= 0
        _, inverse, counts = np.unique(
            self.households[held], return_inverse=True, return_counts=True
        )
        sizes[held] = counts[inverse.reshape(-1)]
        return sizes

    def cells(self, kind: KindOfCells) -> CellsOfUnits:
        """Put every unit into its cell of a kind."""
        sizes = [part.size for part in kind.parts]
        grid = int(np.prod(sizes, dtype=object)) if sizes else 1
        if grid >= _LARGEST_GRID:
            raise SpecError(f"{kind.title}: there are too many cells to be numbered.")
        numbers = np.zeros(self.units, dtype=np.int64)
        outside: Mask | None = None
        stride = grid
        for at, parts in enumerate(kind.parts):
            stride //= parts.size
            codes = self.codes[parts.variable.name]
            offsets = np.maximum(parts.group, 0) * stride
            (add_axis if at else start_cells)(numbers, codes, offsets)
            if (parts.group < 0).any():
                hidden = parts.group[codes] < 0
                outside = hidden if outside is None else outside | hidden
        if not kind.universe.everything:
            universe = kind.universe
            classes = tuple(
                groups[self.codes[variable.name]]
                for variable, groups in zip(universe.variables, universe.classes, strict=True)
            )
            left_out = ~universe.truth[classes]
            outside = left_out if outside is None else outside | left_out
        if outside is not None:
            numbers[outside] = grid
        if grid > max(_SMALLEST_GRID, _SPARSE * self.units):
            held, numbers = np.unique(numbers, return_inverse=True)
            numbers = numbers.reshape(-1).astype(np.int64)
            grid = int(held.size) - int(held.size and held[-1] == grid)
        return CellsOfUnits(self, numbers, grid)


class CellsOfUnits(Confidential):
    """Units in the cells of one kind. The last number is for units that are in none."""

    __slots__ = ("_records", "counts", "number", "size", "sums")

    def __init__(self, records: UnitRecords, number: Int64, size: int) -> None:
        self._records = records
        self.number = number
        self.size = size
        self.counts = np.zeros(size + 1, dtype=np.int64)
        self.sums = np.zeros(size + 1, dtype=np.uint64)
        tally_sets(number, records.marks, self.counts, self.sums)
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
