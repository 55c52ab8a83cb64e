"""Which cells of several tables count each of many sets of records, each cell once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Int32 = npt.NDArray[np.int32]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class TableCells:
    """The cells of a table, and what its axes add to their places.

    Attributes:
        cells: The number of the cell at each place; below 0 where there is none.
        inside: Which sets are counted in the table at all.
        groups: For each axis, the number of the group that each set is in.
        places: For each axis, what a group adds to the place: one column for each of its codes.
    """

    cells: Int64
    inside: Mask
    groups: Sequence[Int32]
    places: Sequence[Int64]


def cells_of_sets(tables: Sequence[TableCells], size: int, sets: int) -> tuple[Int64, Int64]:
    """The cells that count each set, ascending: where they start, and their numbers.

    Args:
        tables: The tables.
        size: How many cells there are in all of them.
        sets: How many sets there are.

    Examples:
        >>> sex = np.array([[0, 2], [1, 2]])  # men and all, women and all
        >>> table = TableCells(
        ...     cells=np.array([7, 8, 9]),
        ...     inside=np.array([True, True]),
        ...     groups=[np.array([1, 0], dtype=np.int32)],
        ...     places=[sex],
        ... )
        >>> cells_of_sets([table], 10, 2)
        (array([0, 2, 4]), array([8, 9, 7, 9]))
    """
    widths = [[place.shape[1] for place in table.places] for table in tables]
    products = [int(np.prod(width, dtype=np.int64)) for width in widths]
    flat = _Flat(tables, widths)
    seen = np.full(size, -1, dtype=np.int64)
    starts = np.zeros(sets + 1, dtype=np.int64)
    nothing = np.zeros(0, dtype=np.int64)
    room = np.zeros(max(products, default=1), dtype=np.int64)
    # Once to count them, once to write them down: a list of all, with repeats, would be too long.
    _walk(*flat.arrays, seen, room, starts, nothing)
    np.cumsum(starts, out=starts)
    cells = np.zeros(int(starts[-1]), dtype=np.int64)
    seen[:] = -1
    _walk(*flat.arrays, seen, room, starts, cells)
    _sort_parts(starts, cells)
    return starts, cells


class _Flat:
    """Tables as arrays behind each other, which compiled code can take."""

    __slots__ = ("arrays",)

    def __init__(self, tables: Sequence[TableCells], widths: Sequence[Sequence[int]]) -> None:
        def ends(sizes: list[int]) -> Int64:
            return np.cumsum([0, *sizes]).astype(np.int64)

        def joined(parts: list[Int64]) -> Int64:
            return np.concatenate([np.zeros(0, dtype=np.int64), *parts])

        axes = [axis for table in tables for axis in table.places]
        groups = [group for table in tables for group in table.groups]
        count = tables[0].inside.size if tables else 0
        self.arrays = (
            joined([table.cells for table in tables]),
            ends([table.cells.size for table in tables]),
            np.stack([table.inside for table in tables])
            if tables
            else np.zeros((0, count), dtype=np.bool_),
            ends([len(table.places) for table in tables]),
            np.stack(groups).astype(np.int32) if groups else np.zeros((0, count), dtype=np.int32),
            joined([axis.reshape(-1) for axis in axes]),
            ends([axis.size for axis in axes]),
            np.array([width for each in widths for width in each], dtype=np.int64),
        )


@compiled
def _walk(
    cells: Int64,
    cell_starts: Int64,
    inside: Mask,
    axis_starts: Int64,
    groups: Int32,
    places: Int64,
    place_starts: Int64,
    widths: Int64,
    seen: Int64,
    room: Int64,
    starts: Int64,
    written: Int64,
) -> None:
    """Count the cells of each set into ``starts``, or write them where these say."""
    counting = written.size == 0
    for record_set in range(starts.size - 1):
        at = starts[record_set]
        number = 0
        for table in range(cell_starts.size - 1):
            if not inside[table, record_set]:
                continue
            room[0] = cell_starts[table]
            filled = 1
            for axis in range(axis_starts[table], axis_starts[table + 1]):
                width = widths[axis]
                first = place_starts[axis] + groups[axis, record_set] * width
                # From the last one back, so that none is written over before it is read.
                for before in range(filled - 1, -1, -1):
                    for code in range(width - 1, -1, -1):
                        room[before * width + code] = room[before] + places[first + code]
                filled *= width
            for place in range(filled):
                cell = cells[room[place]]
                if cell >= 0 and seen[cell] != record_set:
                    seen[cell] = record_set
                    if not counting:
                        written[at + number] = cell
                    number += 1
        if counting:
            starts[record_set + 1] = number


@compiled
def _sort_parts(starts: Int64, cells: Int64) -> None:
    for record_set in range(starts.size - 1):
        cells[starts[record_set] : starts[record_set + 1]].sort()
