"""Where the cells of a dense table lie in memory, and how their margins are filled in.

Along each axis the base groups come first, then the groups of every asked level, then the total.
Records are scattered straight into the base part; subtotals are then added in place, one axis
after the other, so that no cell is ever copied. Base groups that nobody asked for (levels of
trees that do not nest) lie in front and are left out of the view at the end.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.ranked import merge_axis
from sdcensus.kernels.cells.tabulate import Combine, add_groups
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.table_spec import TableSpec

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]

#: Cells per piece of work: small enough to stay in the second-level cache while every axis of
#: the piece is rolled up.
_PIECE_CELLS = 1 << 16


@dataclass(frozen=True, slots=True)
class _Subtotal:
    """Subtotals of an axis: positions from ``first`` on become groups, which stand at ``start``."""

    start: int
    first: int
    group: Int64


@dataclass(frozen=True, slots=True)
class _Extent:
    """One axis in memory: ``hidden`` base groups, then its codes, subtotals among them."""

    axis: Axis
    hidden: int
    parts: tuple[_Subtotal, ...]

    @property
    def size(self) -> int:
        return self.hidden + len(self.axis.codes)


def _extent(axis: Axis) -> _Extent:
    shown = axis.base_is_shown
    hidden = 0 if shown else axis.base_size
    blocks = axis.blocks[1:] if shown else axis.blocks
    parts: list[_Subtotal] = []
    finer: list[tuple[int, int, Int64]] = [(0, axis.base_size, np.arange(axis.base_size))]
    for block in blocks:
        parts.append(_subtotal(hidden + block.start, block.group, finer))
        finer.append((hidden + block.start, block.size, block.group))
    return _Extent(axis, hidden, tuple(parts))


def _subtotal(start: int, group: Int64, finer: Sequence[tuple[int, int, Int64]]) -> _Subtotal:
    """Subtotals from the fewest positions that nest in them: districts from areas, then regions."""
    for first, size, fine in sorted(finer, key=lambda entry: entry[1]):
        groups = np.zeros(size, dtype=np.int64)  # a code without leaves adds nothing anywhere
        groups[fine] = group
        if np.array_equal(groups[fine], group):
            return _Subtotal(start, first, groups)
    raise AssertionError("every level is made of base groups")


class Layout:
    """The memory of one dense table.

    Args:
        spec: The table.
        outermost: The variable whose groups should lie farthest apart: the one by which the
            records are sorted, so that neighbouring records meet neighbouring memory.
    """

    __slots__ = ("_extents", "_order", "shape", "size", "spec", "strides")

    def __init__(self, spec: TableSpec, *, outermost: str | None = None) -> None:
        self.spec = spec
        names = [axis.variable.name for axis in spec.axes]
        first = [names.index(outermost)] if outermost in names else []
        self._order = (*first, *(at for at in range(len(names)) if at not in first))
        self._extents = tuple(_extent(spec.axes[at]) for at in self._order)
        self.shape = tuple(extent.size for extent in self._extents)
        self.size = math.prod(self.shape)
        strides = [math.prod(self.shape[at + 1 :]) for at in range(len(self.shape))]
        self.strides = tuple(strides[self._order.index(at)] for at in range(len(names)))

    def offsets(self, axis: int, dtype: npt.DTypeLike) -> Integers:
        """For each leaf of an axis of the table, what it adds to the number of the cell."""
        return (self.spec.axes[axis].base * self.strides[axis]).astype(dtype)

    def add_margins(
        self,
        cells: Integers,
        combine: Combine,
        *,
        fields: int = 0,
        threads: Executor | None = None,
    ) -> None:
        """Fill in subtotals and totals of flat ``cells``, in place.

        Args:
            cells: One value for each cell, or a row of them: a list of largest contributions.
            combine: How cells become one.
            fields: How many numbers an entry of such a list has.
            ranks: Whether lists hold ranks of contributions instead of these.
            threads: Who helps.
        """
        if not self._extents:
            return
        entry = cells.shape[1:]
        whole = cells.reshape((*self.shape, *entry))
        outer = self._extents[0]
        base = outer.axis.base_size
        inner = self.size // max(self.shape[0], 1)
        step = max(1, _PIECE_CELLS // max(inner, 1))
        pieces = [(at, min(at + step, base)) for at in range(0, base, step)]

        def inner_axes(piece: tuple[int, int]) -> None:
            self._roll_inner(whole[piece[0] : piece[1]], combine, fields)

        def outer_axis(piece: tuple[int, int]) -> None:
            view = whole.reshape(1, self.shape[0], inner, *entry)
            for part in outer.parts:
                _add_groups(view, part, combine, fields, *piece)

        slices = [(at, min(at + _PIECE_CELLS, inner)) for at in range(0, inner, _PIECE_CELLS)]
        run = map if threads is None else threads.map
        if len(self._extents) > 1:
            list(run(inner_axes, pieces))
        list(run(outer_axis, slices))

    def _roll_inner(self, piece: Integers, combine: Combine, fields: int) -> None:
        entry = piece.shape[len(self.shape) :]
        for at in range(len(self.shape) - 1, 0, -1):
            extent = self._extents[at]
            outer = math.prod(piece.shape[:at])
            inner = math.prod(self.shape[at + 1 :])
            view = piece.reshape(outer, extent.size, inner, *entry)
            for part in extent.parts:
                _add_groups(view, part, combine, fields, 0, inner)

    def shown(self, cells: Integers) -> Integers:
        """The cells of the table in the order of its axes, as a read-only view."""
        view: Integers = cells.reshape((*self.shape, *cells.shape[1:]))
        # The ellipsis keeps the array of a table without axes an array.
        shown: Any = (*(slice(extent.hidden, None) for extent in self._extents), ...)
        view = view[shown]
        order = [self._order.index(at) for at in range(len(self._order))]
        view = view.transpose((*order, *range(len(order), view.ndim)))
        view.flags.writeable = False
        return view


def _add_groups(
    view: Integers,
    part: _Subtotal,
    combine: Combine,
    fields: int,
    low: int,
    high: int,
) -> None:
    """Combine positions of an axis into groups behind them; of inner cells from ``low`` on.

    Of lists, ``fields`` says how many fields an entry has; 0 where it is one number.
    """
    if combine is not Combine.LARGEST:
        cells = view[:, :, low:high]
        add_groups(cells, part.group, cells, part.start, int(combine), part.first)
        return
    outer, positions, inner, width = view.shape
    lists = view.reshape(-1, width)
    merge_axis(
        lists,
        lists,
        outer,
        positions,
        positions,
        inner,
        low,
        high,
        part.first,
        part.group,
        part.start,
        fields,
    )


def mixed_radix(shape: Sequence[int]) -> tuple[int, ...]:
    """The weight of each position in the number of a cell, the last axis running fastest."""
    return tuple(math.prod(shape[at + 1 :]) for at in range(len(shape)))


def values_at(held: Numbers, values: Int64, wanted: Numbers) -> Int64:
    """The values of cells by their numbers; 0 for those that are not held.

    Args:
        held: The numbers of the cells that are held, ascending.
        values: Their values.
        wanted: The numbers of the cells that are asked for, in any order.
    """
    place = np.searchsorted(held, wanted)
    inside = np.flatnonzero(place < held.size)
    inside = inside[held[place[inside]] == wanted[inside]]
    answer = np.zeros(wanted.size, dtype=np.int64)
    answer[inside] = values[place[inside]]
    return answer


def positions_on(shape: Sequence[int], at: int, numbers: Numbers) -> Int64:
    """The positions on one axis of cells, from their numbers."""
    weight = math.prod(shape[at + 1 :])
    return (numbers // np.uint64(weight) % np.uint64(shape[at])).astype(np.int64)


def positions_of(shape: Sequence[int], number: int) -> tuple[int, ...]:
    """The position on each axis of a cell, from its number."""
    weights = mixed_radix(shape)
    return tuple(number // weight % size for size, weight in zip(shape, weights, strict=True))
