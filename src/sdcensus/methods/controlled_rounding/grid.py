"""Tables as the search for nearer roundings sees them: axes in common, codes in no layout's order.

Every variable that some table shows is an axis of all of them; a table that does not show it stands
at its total. Base groups are what all tables together tell apart. Axes are in the order of their
names and base groups in the order of hashes, so that nothing depends on how a table is laid out.
"""

from __future__ import annotations

import hashlib
import itertools
from collections.abc import Sequence as Several
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.controlled_rounding.plane_places import ELSEWHERE, IMPOSSIBLE, Tables
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class GridAxis:
    """An axis that tables have in common.

    Attributes:
        size: How many base groups it has.
        levels: The levels that any table shows, finest first: for each base group the number of
            the code that holds it. Codes of later levels come behind those of earlier ones.
    """

    size: int
    levels: tuple[Int64, ...]

    @property
    def starts(self) -> list[int]:
        """The first code of each level, and behind it how many codes there are."""
        sizes = [int(level.max(initial=-1)) + 1 for level in self.levels]
        return [0, *itertools.accumulate(sizes)]

    @property
    def codes(self) -> int:
        """How many codes it has."""
        return self.starts[-1]

    def codes_of_groups(self) -> Int64:
        """For each base group the codes that hold it, by level."""
        starts = np.array(self.starts[:-1], dtype=np.int64)
        return np.stack(self.levels, axis=1) + starts


@dataclass(frozen=True, slots=True, eq=False)
class GridTable:
    """A table of the grid.

    Attributes:
        places: For each axis of the grid the place of each code on the table's own axis; -1 where
            the table does not have the code.
        cells: The numbers of its cells, an axis for each axis of the grid.
    """

    places: tuple[Int64, ...]
    cells: Int64


@dataclass(frozen=True, slots=True, eq=False)
class Grid:
    """Tables with their axes in common.

    Attributes:
        axes: At least two.
        tables: The tables.
        numbers: The cells that can change, by their numbers in ``LinkedTables``; kernels number
            them in this order.
        places: Where each of them lies, in the cells of all tables one behind the other.
        kernel: Where cells lie, for kernels.
    """

    axes: tuple[GridAxis, ...]
    tables: tuple[GridTable, ...]
    numbers: Int64
    places: Int64
    kernel: Tables

    @classmethod
    def of(cls, axes: Several[GridAxis], tables: Several[GridTable], fixed: Several[Mask]) -> Grid:
        """A grid in which some cells never change: for each table a mask in its shape."""
        every = np.concatenate([table.cells.reshape(-1) for table in tables])
        can = (every >= 0) & ~np.concatenate([mask.reshape(-1) for mask in fixed])
        places = np.flatnonzero(can)
        numbers, first, own = np.unique(every[places], return_index=True, return_inverse=True)
        own = own.reshape(-1).astype(np.int64)
        again = np.ones(own.size, dtype=bool)
        again[first] = False
        own[again] = ELSEWHERE
        local = np.full(every.size, IMPOSSIBLE, dtype=np.int64)
        local[places] = own
        kernel = _kernel(axes, tables, local)
        return cls(tuple(axes), tuple(tables), numbers, places[first], kernel)

    def codes_at(self, cells: Int64) -> Int64:
        """For some cells, by their numbers in the grid, the codes where they lie on each axis."""
        codes = np.zeros((cells.size, len(self.axes)), dtype=np.int64)
        begin = 0
        for table in self.tables:
            own = np.flatnonzero(
                (self.places[cells] >= begin) & (self.places[cells] < begin + table.cells.size)
            )
            at = np.unravel_index(self.places[cells[own]] - begin, table.cells.shape)
            for number, (place, codes_of) in enumerate(zip(at, table.places, strict=True)):
                code = np.zeros(table.cells.shape[number], dtype=np.int64)
                code[codes_of[codes_of >= 0]] = np.flatnonzero(codes_of >= 0)
                codes[own, number] = code[place]
            begin += table.cells.size
        return codes


def _kernel(axes: Several[GridAxis], tables: Several[GridTable], cells: Int64) -> Tables:
    places = np.full((sum(axis.codes for axis in axes), len(tables)), -1, dtype=np.int64)
    begin = 0
    for number, table in enumerate(tables):
        strides = np.cumprod([1, *table.cells.shape[:0:-1]])[::-1]
        first = 0
        for at, (axis, place) in enumerate(zip(axes, table.places, strict=True)):
            # The first axis also leads to where the table begins.
            offset = place * strides[at] + (begin if at == 0 else 0)
            places[first : first + axis.codes, number] = np.where(place >= 0, offset, -1)
            first += axis.codes
        begin += table.cells.size
    codes, lengths = [], []
    first = 0
    for axis in axes:
        own = axis.codes_of_groups() + first
        codes.append(np.sort(own, axis=1).reshape(-1))
        lengths.append(np.full(axis.size, own.shape[1], dtype=np.int64))
        first += axis.codes
    starts = np.cumsum(np.concatenate([[0], *lengths]))
    return Tables(cells, places, starts.astype(np.int64), np.concatenate(codes))


# ---------------------------------------------------------------- from tables


def grid_tables(tables: LinkedTables) -> tuple[list[GridAxis], list[GridTable]] | None:
    """Axes and tables of a grid; ``None`` where tables have different conditions."""
    if len({str(spec.universe.canonical()) for spec in tables.specs}) > 1:
        return None
    names = sorted({axis.variable.name for spec in tables.counted for axis in spec.axes})
    joint = [_JointAxis.of(name, tables.counted) for name in names]
    parts = []
    for spec, cells in zip(tables.counted, tables.counted_cell_of, strict=True):
        own = {axis.variable.name: at for at, axis in enumerate(spec.axes)}
        order = [own[name] for name in names if name in own]
        shape = [cells.shape[own[name]] if name in own else 1 for name in names]
        places = [
            axis.places(spec.axes[own[name]]) if name in own else axis.total
            for name, axis in zip(names, joint, strict=True)
        ]
        parts.append(GridTable(tuple(places), cells.transpose(order).reshape(shape)))
    axes = [axis.axis for axis in joint]
    while len(axes) < 2:
        axes.append(GridAxis(1, (np.zeros(1, dtype=np.int64),)))
        parts = [
            GridTable((*part.places, np.zeros(1, dtype=np.int64)), part.cells[..., None])
            for part in parts
        ]
    return axes, parts


@dataclass(frozen=True, slots=True, eq=False)
class _JointAxis:
    """An axis of the grid with the leaves behind it.

    Attributes:
        axis: The axis.
        group: For each leaf its base group.
        total: The places of the codes for a table that does not have the variable.
    """

    axis: GridAxis
    group: Int64
    total: Int64

    @classmethod
    def of(cls, name: str, specs: Several[TableSpec]) -> _JointAxis:
        axes = [axis for spec in specs for axis in spec.axes if axis.variable.name == name]
        partitions = [block.group[axis.base] for axis in axes for block in axis.blocks]
        _, refined = np.unique(np.stack(partitions), axis=1, return_inverse=True)
        group = _by_hash(axes[0], refined.reshape(-1).astype(np.int64))
        size = int(group.max(initial=-1)) + 1
        levels = {_level(group, group, size).tobytes(): _level(group, group, size)}
        for partition in partitions:
            level = _level(group, partition, size)
            levels.setdefault(level.tobytes(), level)
        ordered = sorted(levels.values(), key=lambda level: (-int(level.max()), level.tobytes()))
        axis = GridAxis(size, tuple(ordered))
        total = np.full(axis.codes, -1, dtype=np.int64)
        total[-1] = 0  # the coarsest level is the total: every table is counted with it
        return cls(axis, group, total)

    def places(self, own: Axis) -> Int64:
        """The places of the codes on the axis of a table; -1 for those that it does not have."""
        known = {level.tobytes(): at for at, level in enumerate(self.axis.levels)}
        starts = self.axis.starts
        places = np.full(self.axis.codes, -1, dtype=np.int64)
        for block in own.blocks:
            position = block.start + block.group[own.base]
            level = _level(self.group, block.group[own.base], self.axis.size)
            at = known[level.tobytes()]
            places[starts[at] + level[self.group]] = position
        return places


def _by_hash(axis: Axis, group: Int64) -> Int64:
    """Base groups numbered in the order of hashes of their leaves."""
    name = axis.variable.name
    hashes = np.array(
        [
            int.from_bytes(hashlib.blake2b(f"{name}|{code.code}".encode(), digest_size=8).digest())
            for code in axis.variable.codes
        ],
        dtype=np.uint64,
    )
    total = np.zeros(int(group.max(initial=-1)) + 1, dtype=np.uint64)
    with np.errstate(over="ignore"):
        np.add.at(total, group, hashes)
    rank = np.empty(total.size, dtype=np.int64)
    rank[np.argsort(total, kind="stable")] = np.arange(total.size)
    return rank[group]


def _level(group: Int64, partition: Int64, size: int) -> Int64:
    """A partition of leaves as one of base groups, its codes in the order of their first group."""
    code = np.zeros(size, dtype=np.int64)
    code[group] = partition
    _, first, again = np.unique(code, return_index=True, return_inverse=True)
    rank = np.empty(first.size, dtype=np.int64)
    rank[np.argsort(first, kind="stable")] = np.arange(first.size)
    return np.ascontiguousarray(rank[again.reshape(-1)])
