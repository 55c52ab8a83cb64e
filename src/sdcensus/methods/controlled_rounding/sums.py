"""What adds up in tables that are protected together, each sum said once.

``LinkedTables.equations`` has every sum there is, and most follow from others: totals of totals.
Here one axis after the other is summed over, the axes before it at their base groups only. From
these sums all others follow.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.controlled_rounding.prices import SumLists
from sdcensus.model.cube.constraints import level_steps
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]

#: Orders of axes that are tried to find a network, at most.
_MOST_ORDERS = 64


class Entries:
    """Sums as entries of a matrix: row by row, each with its cells and their signs.

    Attributes:
        height: How many sums there are.
        rows, cells, signs: An entry for each cell of each sum: 1 for parts, -1 for the total.
    """

    __slots__ = ("cells", "height", "rows", "signs")

    def __init__(self, height: int, rows: Int64, cells: Int64, signs: Int64) -> None:
        self.height = height
        self.rows = rows
        self.cells = cells
        self.signs = signs

    def times(self, values: Int64) -> Int64:
        """What the sums of some values come to."""
        result = np.zeros(self.height, dtype=np.int64)
        np.add.at(result, self.rows, self.signs * values[self.cells])
        return result

    def lists(self, size: int, wanted: Int64) -> SumLists:
        """The same for kernels: cells by sums, and sums by cells."""
        by_cell = np.argsort(self.cells, kind="stable")
        return SumLists(
            _starts(self.rows, self.height),
            self.cells,
            self.signs,
            _starts(self.cells, size),
            self.rows[by_cell],
            self.signs[by_cell],
            wanted,
        )

    def kept(self, cells: npt.NDArray[np.bool_]) -> Entries:
        """The same for some of the cells; sums without any of them are left out."""
        inside = cells[self.cells]
        number = np.cumsum(cells) - 1
        rows, again = np.unique(self.rows[inside], return_inverse=True)
        return Entries(
            rows.size,
            again.reshape(-1).astype(np.int64),
            number[self.cells[inside]].astype(np.int64),
            self.signs[inside],
        )


def _starts(numbers: Int64, size: int) -> Int64:
    starts = np.zeros(size + 1, dtype=np.int64)
    np.cumsum(np.bincount(numbers, minlength=size), out=starts[1:])
    return starts


def sums_of(tables: LinkedTables) -> Entries:
    """Sums from which all others follow, in an order that no layout of the tables changes."""
    return _joined(tables, [_by_name(spec) for spec in tables.counted])


def orders_of_axes(tables: LinkedTables) -> Iterator[Entries]:
    """The same sums in other choices: axes of each table in every order, for a few tables."""
    orders = [list(itertools.permutations(_by_name(spec))) for spec in tables.counted]
    if math.prod(len(each) for each in orders) <= _MOST_ORDERS:
        for order in itertools.product(*orders):
            yield _joined(tables, order)


def _by_name(spec: TableSpec) -> list[int]:
    names = [axis.variable.name for axis in spec.axes]
    return sorted(range(len(names)), key=lambda at: names[at])


def _joined(tables: LinkedTables, orders: Sequence[Sequence[int]]) -> Entries:
    rows, cells, signs = [], [], []
    height = 0
    for spec, numbers, order in zip(tables.counted, tables.counted_cell_of, orders, strict=True):
        for totals, parts, parent in _sums_of_table(spec, numbers, order):
            # Rows are lines across the axis: one for each total and each place on other axes.
            lines = totals.shape[1]
            own = np.arange(totals.size, dtype=np.int64).reshape(totals.shape)
            rows += [height + own.reshape(-1), height + own[parent].reshape(-1)]
            cells += [totals.reshape(-1), parts.reshape(-1)]
            signs += [np.full(totals.size, -1), np.ones(parent.size * lines, dtype=np.int64)]
            height += totals.size
    if not rows:
        empty = np.zeros(0, dtype=np.int64)
        return Entries(0, empty, empty, empty)
    return _distinct(
        height,
        np.concatenate(rows),
        np.concatenate(cells),
        np.concatenate(signs).astype(np.int64),
        tables.hashes[:, 0],
    )


def _sums_of_table(
    spec: TableSpec, numbers: Int64, order: Sequence[int]
) -> Iterator[tuple[Int64, Int64, Int64]]:
    """Totals by lines, parts by lines, and for each part the number of its total."""
    for at, axis in enumerate(order):
        cells = numbers
        for before in order[:at]:
            cells = np.take(cells, np.arange(spec.axes[before].base_size), axis=before)
        lines = np.moveaxis(cells, axis, 0).reshape(len(spec.axes[axis].codes), -1)
        for step in level_steps(spec.axes[axis].blocks):
            yield lines[step.totals], lines[step.parts], step.parent


def _distinct(height: int, rows: Int64, cells: Int64, signs: Int64, hashes: UInt64) -> Entries:
    """Sums without cells that cannot be, without those that say nothing, each once."""
    held = cells >= 0
    rows, cells, signs = rows[held], cells[held], signs[held]
    size = hashes.size
    place = rows * size + cells
    order = np.argsort(place, kind="stable")
    place, signs = place[order], signs[order]
    if place.size:
        first = np.flatnonzero(np.append(True, place[1:] != place[:-1]))
        place, signs = place[first], np.add.reduceat(signs, first)
    kept = signs != 0
    rows, cells, signs = place[kept] // size, place[kept] % size, signs[kept]
    # Hashes are as good as random words: a sum of them tells sums apart, and orders them.
    marks = np.zeros(height, dtype=np.uint64)
    with np.errstate(over="ignore"):
        np.add.at(marks, rows, hashes[cells] * signs.astype(np.uint64))
    filled = np.unique(rows)
    _, chosen = np.unique(marks[filled], return_index=True)
    number = np.full(height, -1, dtype=np.int64)
    number[filled[chosen]] = np.arange(chosen.size)
    inside = number[rows] >= 0
    new = number[rows[inside]]
    ordered = np.argsort(new, kind="stable")
    return Entries(
        chosen.size, new[ordered], cells[inside][ordered], signs[inside][ordered].astype(np.int64)
    )


def peeled(entries: Entries, hidden: npt.NDArray[np.bool_]) -> Entries:
    """The same sums without those that only say what a cell is that nobody sees.

    A hidden cell that is part of one sum alone can always be what the sum says.
    """
    rows, cells, signs = entries.rows, entries.cells, entries.signs
    while True:
        alone = hidden & (np.bincount(cells, minlength=hidden.size) == 1)
        dropped = np.zeros(entries.height, dtype=bool)
        dropped[rows[alone[cells]]] = True
        if not dropped.any():
            break
        kept = ~dropped[rows]
        rows, cells, signs = rows[kept], cells[kept], signs[kept]
    left, number = np.unique(rows, return_inverse=True)
    return Entries(left.size, number.reshape(-1).astype(np.int64), cells, signs)


def every_sum(tables: LinkedTables) -> Entries:
    """All sums that matter for the cells that are seen."""
    if not tables.published.all():
        return peeled(sums_of(tables), ~tables.published)
    equations = tables.equations
    return Entries(
        equations.shape[0],
        equations.rows,
        equations.columns.astype(np.int64),
        equations.values.astype(np.int64),
    )
