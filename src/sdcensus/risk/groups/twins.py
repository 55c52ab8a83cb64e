"""Twins: shown cells that differ by few units, nested or not. Confidential.

Where noise belongs to the record set, two cells that differ by one person have equal breakdowns
except in that person's codes, however large they are; so every pair of cells that is broken down
is a way to read one person. Pairs that differ by one unit, or by the members of one household, are
found exactly, among all cells of all kinds. Pairs that differ by two and more units are counted
where one cell lies in the other by definition.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.keys.unit_sets import SetIndex
from sdcensus.model.confidential import Confidential
from sdcensus.risk.groups.shown_cells import CellParts, KindOfCells
from sdcensus.risk.groups.unit_records import CellsOfUnits, UnitRecords, in_order

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]

#: Larger tables are not kept to be compared with those that lie in them.
_KEPT_CELLS = 1 << 22


@dataclass(frozen=True, slots=True, repr=False)
class Twins(Confidential):
    """Pairs of cells that differ by few units.

    Attributes:
        above: Both cells hold more than so many units, as smaller ones are groups themselves.
        largest: ``t``: nested pairs were counted that differ by at most so many units.
        one: How many pairs differ by one unit; each pair of record sets once. Exact.
        household: The same for pairs that differ by two or more members of one household.
        nested: How many pairs differ by 1 to ``t`` units where one cell lies in the other by
            definition.
        same: How many cells hold the same units as another cell of another definition.
        by_kind: For each kind of cells, how many have a twin that is one unit, or members of one
            household, smaller.
        by_level: The same by level of geography; an empty one for none.
    """

    above: int
    largest: int
    one: int
    household: int
    nested: int
    same: int
    by_kind: tuple[int, ...]
    by_level: tuple[tuple[str, int], ...]

    def __repr__(self) -> str:
        return "<Twins: confidential>"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class CollectedCells(Confidential):
    """The cells of one kind that twins are looked for among.

    Attributes:
        sums: The sums of the marks of cells that hold anybody.
        kept: How many units each cell holds; ``None`` where there are too many cells.
    """

    sums: UInt64
    kept: Int64 | None

    @classmethod
    def of(cls, kind: KindOfCells, cells: CellsOfUnits) -> CollectedCells:
        """Those of a kind."""
        kept = cells.size <= min(_KEPT_CELLS, kind.cells) and cells.size == kind.cells
        return cls(cells.sums[:-1][cells.counts[:-1] > 0], cells.counts if kept else None)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Compared(Confidential):
    """The larger cells of one kind with what each has smaller twins."""

    sums: UInt64
    one: Int64
    household: Int64
    with_twin: int
    nested: int


class TwinCounter:
    """Collects the cells of all kinds, then looks for those that differ by few units."""

    __slots__ = ("_household", "_kept", "_largest", "_records", "_sums")

    def __init__(self, records: UnitRecords, *, largest: int, largest_household: int) -> None:
        self._records = records
        self._largest = largest
        self._household = records.household_members(largest_household)
        self._sums: list[UInt64] = []
        self._kept: dict[tuple[object, ...], Int64] = {}

    def collect(self, kind: KindOfCells, cells: CollectedCells) -> None:
        """Take the cells of one kind."""
        self._sums.append(cells.sums)
        if cells.kept is not None:
            self._kept[kind.key] = cells.kept

    def twins(
        self,
        kinds: Sequence[KindOfCells],
        cells_of: Callable[[KindOfCells], CellsOfUnits],
        progress: Callable[[float], None],
        *,
        above: int,
    ) -> Twins:
        """Look for twins among everything that was collected.

        Args:
            kinds: What was collected, in the same order.
            cells_of: Gives the cells of a kind again.
            progress: Told how far it is.
            above: Both cells of a pair hold more than so many units.
        """
        most = sum(one.size for one in self._sums)
        index = SetIndex(most)
        for sums in self._sums:
            index.add(sums)
        # A set that stands in several tables is one set: it is asked about where it comes first.
        seen = SetIndex(most)
        one = household = nested = same = 0
        by_kind: list[int] = []
        by_level: dict[str, int] = {}

        def compare(kind: KindOfCells) -> _Compared:
            return self._compared(kind, cells_of(kind), index, above)

        for at, (kind, found) in enumerate(zip(kinds, in_order(compare, kinds), strict=True)):
            progress(at / len(kinds))
            by_kind.append(found.with_twin)
            by_level[kind.area] = by_level.get(kind.area, 0) + found.with_twin
            new = seen.add(found.sums)
            one += int(found.one[new].sum())
            household += int(found.household[new].sum())
            same += int(new.size - new.sum())
            nested += found.nested
        return Twins(
            above,
            self._largest,
            one,
            household,
            nested,
            same,
            tuple(by_kind),
            tuple(sorted(by_level.items())),
        )

    def _compared(
        self, kind: KindOfCells, cells: CellsOfUnits, index: SetIndex, above: int
    ) -> _Compared:
        """What the larger cells of a kind have for smaller twins."""
        marks = self._records.marks
        # The smaller cell still has to hold more than ``above``.
        room = np.maximum(cells.counts - above - 1, 0)
        less = index.less_one(cells.number, marks, cells.sums, room)
        together = np.zeros_like(less)
        if self._household is not None:
            members, starts = self._household
            together = index.less_a_group(cells.number, marks, members, starts, cells.sums, room)
        held = np.flatnonzero(cells.counts > above)
        return _Compared(
            cells.sums[held],
            less[held],
            together[held],
            int(((less > 0) | (together > 0)).sum()),
            self._nested(kind, cells, above),
        )

    def _nested(self, kind: KindOfCells, cells: CellsOfUnits, above: int) -> int:
        """Pairs of a cell and one that holds it, by one variable less, which differ by few."""
        if kind.key not in self._kept or not kind.parts:
            return 0
        pairs = 0
        held = np.flatnonzero(cells.counts[:-1] > above)
        if not held.size:
            return 0
        positions = np.unravel_index(held, [part.size for part in kind.parts])
        for at in range(len(kind.parts)):
            rest = (*kind.parts[:at], *kind.parts[at + 1 :])
            if not rest:
                continue
            parent = self._kept.get(KindOfCells(rest, kind.universe).key)
            if parent is None:
                continue
            place = np.ravel_multi_index(
                [position for axis, position in enumerate(positions) if axis != at], _sizes(rest)
            )
            difference = parent[place] - cells.counts[held]
            pairs += int(((difference >= 1) & (difference <= self._largest)).sum())
        return pairs


def _sizes(parts: Sequence[CellParts]) -> list[int]:
    return [part.size for part in parts]
