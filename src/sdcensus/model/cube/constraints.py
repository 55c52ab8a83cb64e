"""How the cells of a table add up: its interior, totals as sums of it, and sparse matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tabulate import Combine, regroup
from sdcensus.model.cube.layout import Layout
from sdcensus.model.spec.axis import Axis, Block
from sdcensus.model.spec.table_spec import TableSpec


def interior(spec: TableSpec) -> tuple[slice, ...]:
    """The part of a table from which everything else adds up: the finest level of every axis.

    Refuses a table that shows levels of which none is the finest.
    """
    for axis in spec.axes:
        if not axis.base_is_shown:
            levels = ", ".join(level.name for level in axis.levels)
            raise SpecError(
                f"Axis {axis.name!r}: the levels {levels} do not nest in each other, so the table"
                " has no cells of which all others are sums. Ask for one table with each level, or"
                f" show the codes of {axis.variable.name!r} themselves as well."
            )
    return tuple(slice(0, axis.base_size) for axis in spec.axes)


def is_interior(spec: TableSpec) -> npt.NDArray[np.bool_]:
    """For each cell of a table, whether it is an interior one."""
    inside = np.zeros(spec.shape, dtype=bool)
    inside[interior(spec)] = True
    return inside


def with_totals(spec: TableSpec, inner: Int64) -> Int64:
    """A whole table from its interior cells: every subtotal and total is the sum of its cells."""
    corner: Any = interior(spec)
    layout = Layout(spec)
    cells = np.zeros(layout.size, dtype=np.int64)
    cells.reshape(layout.shape)[corner] = inner
    layout.add_margins(cells, Combine.SUM)
    # The shape again: a table of one cell would become an array of one axis.
    return np.ascontiguousarray(layout.shown(cells)).reshape(spec.shape)


def adds_up(spec: TableSpec, values: Int64) -> bool:
    """Whether every subtotal and total is the sum of the interior cells in it."""
    return bool((with_totals(spec, values[interior(spec)]) == values).all())


Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class SparseMatrix:
    """A matrix of small whole numbers, row by row; what is not listed is 0.

    Attributes:
        shape: Rows and columns.
        starts: Where each row begins in ``columns`` and ``values``, and behind it where all end.
        columns: The columns of the numbers that are listed, ascending in each row.
        values: The numbers.
    """

    shape: tuple[int, int]
    starts: Int64
    columns: Int64
    values: npt.NDArray[np.int8]

    def __post_init__(self) -> None:
        for array in (self.starts, self.columns, self.values):
            array.flags.writeable = False

    @classmethod
    def from_entries(
        cls, shape: tuple[int, int], rows: Int64, columns: Int64, values: npt.NDArray[np.int8]
    ) -> SparseMatrix:
        """Take the numbers in any order, at most one for each row and column."""
        order = np.lexsort((columns, rows))
        starts = np.zeros(shape[0] + 1, dtype=np.int64)
        np.cumsum(np.bincount(rows, minlength=shape[0]), out=starts[1:])
        return cls(shape, starts, columns[order], values[order])

    @property
    def rows(self) -> Int64:
        """The row of each number that is listed."""
        return np.repeat(np.arange(self.shape[0], dtype=np.int64), np.diff(self.starts))

    def times(self, vector: Int64) -> Int64:
        """The product with a vector, exact in whole numbers."""
        result = np.zeros(self.shape[0], dtype=np.int64)
        np.add.at(result, self.rows, self.values * vector[self.columns])
        return result


def constraints(spec: TableSpec) -> SparseMatrix:
    """What has to be 0 for a table to add up, over its cells with the last axis running fastest.

    One row for each axis, parent code and combination of codes of the other axes: the cells of
    the children less the cell of the parent. A level that nests in several others has a parent in
    each of them; a code without children has to be 0 by itself.
    """
    identities = [_identity(len(axis.codes)) for axis in spec.axes]
    parts = []
    for at, axis in enumerate(spec.axes):
        factors = [*identities[:at], _parents(axis), *identities[at + 1 :]]
        parts.append(_product(factors))
    if not parts:
        empty = np.zeros(0, dtype=np.int64)
        return SparseMatrix.from_entries((0, 1), empty, empty, empty.astype(np.int8))
    first = np.cumsum([0, *(part.height for part in parts)])
    rows = np.concatenate([part.rows + start for part, start in zip(parts, first, strict=False)])
    columns = np.concatenate([part.columns for part in parts])
    values = np.concatenate([part.values for part in parts])
    return SparseMatrix.from_entries((int(first[-1]), spec.cells), rows, columns, values)


def aggregation(spec: TableSpec) -> SparseMatrix:
    """Which interior cells each cell of a table is the sum of: all cells by interior cells.

    Both are numbered with the last axis running fastest. Refuses a table without interior cells.
    """
    interior(spec)
    entries = _product([_sums(axis) for axis in spec.axes])
    return SparseMatrix.from_entries(
        (entries.height, entries.width), entries.rows, entries.columns, entries.values
    )


@dataclass(frozen=True, slots=True, eq=False)
class _Entries:
    """The numbers of a matrix in any order."""

    height: int
    width: int
    rows: Int64
    columns: Int64
    values: npt.NDArray[np.int8]


def _identity(size: int) -> _Entries:
    every = np.arange(size, dtype=np.int64)
    return _Entries(size, size, every, every, np.ones(size, dtype=np.int8))


def _sums(axis: Axis) -> _Entries:
    """Positions of an axis by its base groups."""
    rows = np.concatenate([block.start + block.group for block in axis.blocks])
    columns = np.tile(np.arange(axis.base_size, dtype=np.int64), len(axis.blocks))
    ones = np.ones(rows.size, dtype=np.int8)
    return _Entries(len(axis.codes), axis.base_size, rows, columns, ones)


def _parents(axis: Axis) -> _Entries:
    """Parents of an axis by its positions: -1 for the parent itself, +1 for each child."""
    rows: list[Int64] = []
    columns: list[Int64] = []
    values: list[npt.NDArray[np.int8]] = []
    height = 0
    for step in level_steps(axis.blocks):
        own = np.arange(step.coarse.size, dtype=np.int64)
        for row, column, value in ((own, step.totals, -1), (step.parent, step.parts, 1)):
            rows.append(height + row)
            columns.append(column)
            values.append(np.full(row.size, value, dtype=np.int8))
        height += step.coarse.size
    if not rows:
        empty = np.zeros(0, dtype=np.int64)
        return _Entries(0, len(axis.codes), empty, empty, empty.astype(np.int8))
    joined = np.concatenate(rows), np.concatenate(columns), np.concatenate(values)
    return _Entries(height, len(axis.codes), *joined)


@dataclass(frozen=True, slots=True, eq=False)
class LevelStep:
    """A level of an axis with one that lies directly below it: totals and what they are sums of.

    Attributes:
        coarse, fine: The level of the totals, and that of their parts.
        parts: The positions on the axis of the parts; codes that hold nothing are left out.
        parent: For each of them the total that it belongs to, by its number in ``coarse``.
    """

    coarse: Block
    fine: Block
    parts: Int64
    parent: Int64

    @property
    def totals(self) -> Int64:
        """The positions on the axis of the totals."""
        return self.coarse.start + np.arange(self.coarse.size, dtype=np.int64)

    @property
    def sizes(self) -> Int64:
        """For each total, how many parts it has."""
        return np.bincount(self.parent, minlength=self.coarse.size).astype(np.int64)

    def sums(self, values: Int64, axis: int) -> Int64:
        """Values of a table added up along the axis: one for each total in the place of codes."""
        taken = np.take(values, self.parts, axis=axis)
        return np.asarray(regroup(taken, axis, self.parent, self.coarse.size, Combine.SUM, 0))


def level_steps(blocks: Sequence[Block]) -> Iterator[LevelStep]:
    """Every level of an axis with each of the levels directly below it."""
    for at, coarse in enumerate(blocks):
        for fine in _directly_below(blocks[:at], coarse):
            children, first = np.unique(fine.group, return_index=True)
            parent = np.ascontiguousarray(coarse.group[first])
            yield LevelStep(coarse, fine, (fine.start + children).astype(np.int64), parent)


def _directly_below(finer: Sequence[Block], coarse: Block) -> list[Block]:
    """The blocks that nest in a block with none between them."""
    below = [fine for fine in finer if nests(fine, coarse)]
    return [
        fine
        for number, fine in enumerate(below)
        if not any(nests(fine, other) for other in below[number + 1 :])
    ]


def nests(fine: Block, coarse: Block) -> bool:
    """Whether every code of one block of an axis lies inside one code of another."""
    parent = np.zeros(fine.size, dtype=np.int64)
    parent[fine.group] = coarse.group
    return bool((parent[fine.group] == coarse.group).all())


def _product(factors: Sequence[_Entries]) -> _Entries:
    """The Kronecker product: what holds on every axis at once."""
    one = np.zeros(1, dtype=np.int64)
    entries = _Entries(1, 1, one, one, np.ones(1, dtype=np.int8))
    for factor in factors:
        entries = _Entries(
            entries.height * factor.height,
            entries.width * factor.width,
            (entries.rows[:, None] * factor.height + factor.rows).reshape(-1),
            (entries.columns[:, None] * factor.width + factor.columns).reshape(-1),
            (entries.values[:, None] * factor.values).reshape(-1),
        )
    return entries
