"""Files with tables: what records tell about published cells, and published cells about records.

A record of a file stands in a cell of every table whose variables the file tells, so the cell
counts at least as many as the file has there. And a record whose area is left out can only live in
an area where the published tables leave room for it.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential
from sdcensus.model.inference.intervals import shuttle
from sdcensus.model.spec.axis import TOTAL, Axis
from sdcensus.model.spec.table_spec import TableSpec

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Intervals of larger tables are not narrowed by their sums, only cell by cell.
MOST_SHUTTLED = 200_000
#: In place of a position on an axis that a code does not tell.
NOT_TOLD = -1


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class NarrowedTable(Confidential):
    """A published table, and what a file adds to what is known of it.

    Attributes:
        name: What it is called.
        reached: Its cells in which the file has records.
        narrowed: Cells that have fewer possible counts with the file than without.
        exact_before: Cells of which one count is possible without it.
        exact: Cells that become exact by it.
    """

    name: str
    reached: int
    narrowed: int
    exact_before: int
    exact: int

    def __repr__(self) -> str:
        return f"<NarrowedTable {self.name!r}: confidential>"


def told_places(axis: Axis, groups: Int64, codes: int) -> Int64:
    """Where each code of a file stands on an axis, by level of the axis, the total last if shown.

    Args:
        axis: The axis.
        groups: For each leaf of the axis the code of the file that tells it, or ``NOT_TOLD``.
        codes: How many codes the file has; 1 for a variable that it does not tell.

    Returns:
        A line for each block of the axis; ``NOT_TOLD`` where a code has leaves of several
        positions, or no leaf at all, as a blank has.
    """
    lines = np.full((len(axis.blocks), codes), NOT_TOLD, dtype=np.int64)
    known = groups >= 0
    for line, block in zip(lines, axis.blocks, strict=True):
        if block.level == TOTAL:
            line[:] = block.start
            continue
        places = (block.start + block.group[axis.base])[known]
        least = np.full(codes, np.iinfo(np.int64).max)
        most = np.full(codes, NOT_TOLD)
        np.minimum.at(least, groups[known], places)
        np.maximum.at(most, groups[known], places)
        line[:] = np.where(least == most, most, NOT_TOLD)
    return lines


def counted_cells(spec: TableSpec, columns: Sequence[Integers], places: Sequence[Int64]) -> Int64:
    """How many records stand in each cell of a table, as far as their codes tell.

    Args:
        spec: The table.
        columns: For each axis the code of each record.
        places: For each axis what ``told_places`` says of these codes.
    """
    # Codes that stand at the same positions of all levels are one; the base of an axis has few.
    alike = [np.unique(lines, axis=1, return_inverse=True) for lines in places]
    shape = tuple(positions.shape[1] for positions, _ in alike)
    size = columns[0].size if columns else 0
    cells = np.zeros(size, dtype=np.int64)
    for column, (positions, which) in zip(columns, alike, strict=True):
        cells = cells * positions.shape[1] + which.reshape(-1)[column]
    counts = np.bincount(cells, minlength=math.prod(shape)).reshape(shape)
    for at, (positions, _) in enumerate(alike):
        counts = _spread(counts, at, positions, spec.shape[at])
    return counts


def _spread(counts: Int64, at: int, positions: Int64, size: int) -> Int64:
    """Add up counts along an axis: each line of positions is a level of the table."""
    before = np.moveaxis(counts, at, 0)
    after = np.zeros((size, *before.shape[1:]), dtype=np.int64)
    for line in positions:
        order = np.argsort(line, kind="stable")
        order = order[line[order] >= 0]
        if order.size:
            places, starts = np.unique(line[order], return_index=True)
            after[places] += np.add.reduceat(before[order], starts, axis=0)
    return np.moveaxis(after, 0, at)


def narrowed_table(
    name: str, spec: TableSpec, lower: Int64, upper: Int64, counts: Int64
) -> NarrowedTable:
    """What a file adds to the intervals of a published table.

    Args:
        name: What the table is called.
        spec: The table.
        lower, upper: The counts that are possible from what is published.
        counts: How many true records of the file stand in each cell.
    """
    least = np.maximum(lower, counts)
    before, after = (lower, upper), (least, upper)
    if spec.cells <= MOST_SHUTTLED:
        known, more = (shuttle(spec, *bounds) for bounds in (before, after))
        # Intervals that contradict each other were given up half-way: then cell by cell.
        if not (known.contradictory or more.contradictory):
            before, after = (known.lower, known.upper), (more.lower, more.upper)
    was, now = before[0] == before[1], after[0] == after[1]
    width = [high - low for low, high in (before, after)]
    return NarrowedTable(
        name=name,
        reached=int((counts > 0).sum()),
        narrowed=int((width[1] < width[0]).sum()),
        exact_before=int(was.sum()),
        exact=int((now & ~was).sum()),
    )


class PossibleAreas(Confidential):
    """The areas in which each record of a file can live, one bit for each.

    Args:
        records: How many records there are.
        areas: How many areas.
    """

    __slots__ = ("_areas", "_bits")

    def __init__(self, records: int, areas: int) -> None:
        self._areas = areas
        every = np.packbits(np.ones(areas, dtype=bool))
        self._bits = np.tile(every, (records, 1))

    def __repr__(self) -> str:
        return "<PossibleAreas: confidential>"

    def leave(self, room: Mask, cells: Int64) -> None:
        """Leave each record only the areas that have room for it.

        Args:
            room: Whether an area has room, by kind of record and area.
            cells: Which kind each record is; ``NOT_TOLD`` for those of which nothing is known.
        """
        every = np.ones((1, self._areas), dtype=bool)
        packed = np.packbits(np.concatenate([room, every]), axis=1)
        self._bits &= packed[cells]  # the last line for NOT_TOLD

    def share(self, households: Int64) -> None:
        """Members of a household live in one area: it has room for all of them.

        Args:
            households: The household of each record; below 0 for none.
        """
        order = np.argsort(households, kind="stable")
        order = order[households[order] >= 0]
        if not order.size:
            return
        held = households[order]
        starts = np.flatnonzero(np.concatenate([[True], held[1:] != held[:-1]]))
        all_of = np.bitwise_and.reduceat(self._bits[order], starts, axis=0)
        self._bits[order] = np.repeat(all_of, np.diff([*starts.tolist(), order.size]), axis=0)

    def only(self) -> Int64:
        """The area of each record that can live in one only; ``NOT_TOLD`` for all others."""
        left = np.bitwise_count(self._bits).sum(axis=1)
        alone = np.flatnonzero(left == 1)
        areas = np.full(self._bits.shape[0], NOT_TOLD, dtype=np.int64)
        unpacked = np.unpackbits(self._bits[alone], axis=1, count=self._areas)
        areas[alone] = unpacked.argmax(axis=1) if alone.size else 0
        return areas


def area_cells(places: Sequence[Int64], columns: Sequence[Integers], shape: Sequence[int]) -> Int64:
    """The finest cell of the other axes of a table in which each record certainly stands.

    Args:
        places: For each other axis what ``told_places`` says.
        columns: For each of them the code of each record.
        shape: How many positions each of them has.

    Returns:
        Numbers over these axes, the last one fastest; ``NOT_TOLD`` where an axis tells nothing.
    """
    cells = np.zeros(columns[0].size, dtype=np.int64)
    known = np.ones(cells.size, dtype=bool)
    for lines, column, size in zip(places, columns, shape, strict=True):
        finest = lines[np.argmax(lines >= 0, axis=0), np.arange(lines.shape[1])]
        position = finest[column]
        known &= position >= 0
        cells = cells * size + np.maximum(position, 0)
    return np.where(known, cells, NOT_TOLD)
