"""Every non-empty cell of every margin of a very large table, some at a time. Confidential.

A table that is delivered has each code once, and most of its cells are empty. They are made part
by part: a few codes of the first axis, or one code of it and a few of the second, and so on, as
few as it takes for a part to fit. What comes out is in the order of the delivered places, the
last axis running fastest, however it was cut into parts and whoever made which.
"""

from __future__ import annotations

import math
import os
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.expand import combine_sorted, expand_fastest, list_columns
from sdcensus.kernels.cells.sparse import sort_cells
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Accumulators, fields_of, sum_type
from sdcensus.model.cube.sparse_cube import LARGEST_GRID, SparseCube
from sdcensus.model.cube.streamed_cells import StreamedCells
from sdcensus.model.published.delivery import DeliveredAxis
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.spec.axis import Axis

Int64 = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]
Made = TypeVar("Made")

#: How much memory the parts of a table take together, in bytes, unless said otherwise.
DEFAULT_MEMORY = 1 << 30
#: Parts with so few finest cells are made several at a time.
_SMALL_PART = 4096
#: What a cell takes at most while it is made, published and written, besides its accumulators.
_BYTES_OF_CELL = 96


def delivers_finest(axis: Axis, delivered: DeliveredAxis) -> bool:
    """Whether every group of an axis from which its codes add up is delivered as a code."""
    if not axis.base_is_shown:
        return False
    shown = _ShownAxis.build(axis, delivered)
    alone = np.diff(shown.place_firsts) == 1
    return np.unique(shown.place_groups[shown.place_firsts[:-1][alone]]).size == axis.base_size


# ---------------------------------------------------------------- the stream


def map_cells(
    cube: SparseCube,
    axes: Sequence[DeliveredAxis],
    work: Callable[[StreamedCells], Made],
    *,
    memory: int = DEFAULT_MEMORY,
    threads: int | None = None,
    largest_part: int | None = None,
) -> Iterator[Made]:
    """What ``work`` makes of each part of a table, in the order of the parts.

    The parts hold every non-empty cell as it is delivered, exactly once, margins included, in the
    ascending order of their delivered places, the last axis running fastest. Positions of an axis
    that are not delivered have no cells.

    Args:
        cube: The finest cells.
        axes: How each axis is delivered, in the order of those of the table.
        work: Called by several threads.
        memory: How many bytes the parts may take that are under way at the same time. Neither it
            nor the number of threads changes the cells or their order.
        threads: How many threads make parts; as many as there are processors by default.
        largest_part: How many cells are given at a time at most; from ``memory`` by default.
    """
    workers = threads or os.cpu_count() or 1
    expander = _Expander.build(cube, axes)
    accumulators = 16 * expander.combines.size
    most = largest_part or memory // ((workers + 2) * (_BYTES_OF_CELL + accumulators))
    if most < 1:
        raise SpecError(f"{cube.spec.title}: a part of a table needs room for one cell at least.")

    def run(task: _Task) -> Made | _Smaller:
        smaller = expander.run(task, most)
        return work(smaller) if isinstance(smaller, StreamedCells) else smaller

    return _in_order(expander.tasks(_Task(expander.finest(cube))), run, workers)


# ---------------------------------------------------------------- parts and their order


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Cells(Confidential):
    """Cells by number, ascending, over the groups of some axes; a column for each accumulator."""

    numbers: Numbers
    values: Int64


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Task(Confidential):
    """A part of a table: some places of one axis, at one place of each axis before it.

    Attributes:
        cells: The finest cells in it, over the groups of that axis and of those behind it.
        axis: Which axis.
        start, stop: Which of its places.
        before: What the places of the axes before it add to the number of a cell.
    """

    cells: _Cells
    axis: int = 0
    start: int = 0
    stop: int = 0
    before: int = 0


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Smaller(Confidential):
    """A part that turned out to be too large, as smaller ones in its order."""

    tasks: tuple[_Task, ...]


def _in_order(
    tasks: Sequence[_Task], run: Callable[[_Task], Made | _Smaller], workers: int
) -> Iterator[Made]:
    """Results of tasks, some of which fall into smaller ones, in the order of the tasks."""
    waiting: deque[_Task | Future[Made | _Smaller]] = deque(tasks)
    begun = 0
    pool = ThreadPoolExecutor(workers)
    try:
        while waiting:
            # One more than there are threads, so that none waits for who takes the results.
            for at in range(min(len(waiting), workers + 1)):
                task = waiting[at]
                if not isinstance(task, Future) and (at == 0 or begun <= workers):
                    waiting[at] = pool.submit(run, task)
                    begun += 1
            first = waiting.popleft()
            if not isinstance(first, Future):  # it was begun above
                continue
            result = first.result()
            begun -= 1
            del first
            if isinstance(result, _Smaller):
                waiting.extendleft(reversed(result.tasks))
            else:
                yield result
            del result  # before the next one is waited for
    finally:
        pool.shutdown(cancel_futures=True)


@dataclass(frozen=True, slots=True, eq=False)
class _ShownAxis:
    """The groups of an axis and the places at which they are delivered, in both directions.

    Attributes:
        groups, size: How many groups and how many places there are.
        firsts, places: Group ``g`` counts at ``places[firsts[g]:firsts[g + 1]]``.
        place_firsts, place_groups: Place ``p`` has the groups
            ``place_groups[place_firsts[p]:place_firsts[p + 1]]``, ascending.
    """

    groups: int
    size: int
    firsts: Int64
    places: Int64
    place_firsts: Int64
    place_groups: Int64

    @classmethod
    def build(cls, axis: Axis, delivered: DeliveredAxis) -> _ShownAxis:
        members: list[Int64] = []
        starts = np.array([block.start for block in axis.blocks], dtype=np.int64)
        order = [np.argsort(block.group, kind="stable") for block in axis.blocks]
        ends = [np.cumsum(np.bincount(block.group, minlength=block.size)) for block in axis.blocks]
        for position in delivered.positions.tolist():
            at = int(np.searchsorted(starts, position, side="right")) - 1
            code = position - int(starts[at])
            first = int(ends[at][code - 1]) if code else 0
            members.append(order[at][first : int(ends[at][code])])
        sizes = np.array([member.size for member in members], dtype=np.int64)
        place_groups = np.concatenate([np.zeros(0, dtype=np.int64), *members])
        place_of = np.repeat(np.arange(len(delivered), dtype=np.int64), sizes)
        by_group = np.argsort(place_groups, kind="stable")
        counts = np.bincount(place_groups, minlength=axis.base_size)
        return cls(
            axis.base_size,
            len(delivered),
            _firsts(counts),
            place_of[by_group],
            _firsts(sizes),
            place_groups,
        )

    def groups_of(self, start: int, stop: int) -> Int64:
        """The groups of some places, ascending, each once."""
        groups = self.place_groups[self.place_firsts[start] : self.place_firsts[stop]]
        return groups if stop == start + 1 else np.unique(groups)

    def only(self, start: int, stop: int) -> tuple[Int64, Int64]:
        """``firsts`` and ``places`` of some places, which are numbered from 0."""
        kept = (self.places >= start) & (self.places < stop)
        before = np.append(0, np.cumsum(kept))
        return before[self.firsts], self.places[kept] - start


def _firsts(sizes: Int64) -> Int64:
    """Where runs of these sizes begin, and where the last one ends."""
    return np.append(0, np.cumsum(sizes)).astype(np.int64)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Expander(Confidential):
    """Makes the cells of parts of one table."""

    axes: tuple[_ShownAxis, ...]
    columns: tuple[tuple[str, int], ...]  # accumulators, and how many columns each has
    combines: Int64
    space: KeySpace

    @classmethod
    def build(cls, cube: SparseCube, axes: Sequence[DeliveredAxis]) -> _Expander:
        spec = cube.spec
        if len(axes) != len(spec.axes):
            raise SpecError(f"{spec.title}: every axis of the table is delivered, and no other.")
        shown = []
        for axis, delivered in zip(spec.axes, axes, strict=True):
            at = delivered.positions
            if np.unique(at).size != at.size or (at < 0).any() or (at >= len(axis.codes)).any():
                raise SpecError(
                    f"Column {delivered.column!r}: each position of the axis {axis.name!r} can be"
                    " delivered once."
                )
            shown.append(_ShownAxis.build(axis, delivered))
        if (
            math.prod(max(shown_axis.groups, shown_axis.size) for shown_axis in shown)
            >= LARGEST_GRID
        ):
            raise SpecError(
                f"{spec.title}: the table has more than 2**63 cells. Take fewer or coarser axes."
            )
        space = cube.origin.key_space
        columns: list[tuple[str, int]] = []
        combines: list[int] = []
        for name, array, combine in cube.values.parts(space):
            width = array.shape[1] if fields_of(name) else 1
            columns.append((name, width))
            lists = fields_of(name) > 0
            combines += list_columns(width, fields_of(name)) if lists else [int(combine)]
        return cls(tuple(shown), tuple(columns), np.array(combines, dtype=np.int64), space)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(axis.size for axis in self.axes)

    def finest(self, cube: SparseCube) -> _Cells:
        """The finest cells of a table, accumulators side by side."""
        values = np.empty((cube.numbers.size, self.combines.size), dtype=np.int64)
        start = 0
        for (_, array, _), (_, width) in zip(
            cube.values.parts(self.space), self.columns, strict=True
        ):
            # What is unsigned has 32 bits.
            values[:, start : start + width] = array.reshape(-1, width)
            start += width
        return _Cells(cube.numbers.copy(), values)

    def tasks(self, task: _Task) -> tuple[_Task, ...]:
        """All places of an axis as parts in their order; small ones together."""
        if task.axis == len(self.axes):
            return (task,) if task.cells.numbers.size else ()
        sizes = self._sizes(task)
        ranges: list[tuple[int, int]] = []
        together = _SMALL_PART
        for place in np.flatnonzero(sizes).tolist():
            size = int(sizes[place])
            if together + size <= _SMALL_PART:
                ranges[-1] = ranges[-1][0], place + 1
                together += size
            else:
                ranges.append((place, place + 1))
                together = size
        return tuple(replace(task, start=start, stop=stop) for start, stop in ranges)

    def run(self, task: _Task, most: int) -> StreamedCells | _Smaller:
        """The cells of a part, or smaller parts if they are too many."""
        if task.axis == len(self.axes):
            return self._finished(task.cells, task.before)
        weight = math.prod(self.shape[task.axis + 1 :])
        before = task.before + task.start * weight
        if task.stop > task.start + 1:
            cells = self._expanded(self._gathered(task), task, most)
            if cells is not None:
                return self._finished(cells, before)
            places = task.start + np.flatnonzero(self._sizes(task)[task.start : task.stop])
            return _Smaller(
                tuple(replace(task, start=place, stop=place + 1) for place in places.tolist())
            )
        rest = _Task(self._combined(self._gathered(task), task), task.axis + 1, before=before)
        cells = self._expanded(rest.cells, rest, most)
        return _Smaller(self.tasks(rest)) if cells is None else self._finished(cells, before)

    def _sizes(self, task: _Task) -> Int64:
        """How many finest cells each place of the axis of a part has."""
        shown = self.axes[task.axis]
        in_group = np.diff(self._bounds(task))
        return np.diff(_firsts(in_group[shown.place_groups])[shown.place_firsts])

    def _bounds(self, task: _Task) -> Int64:
        """Where the cells of each group of the axis of a part begin, and where the last end."""
        groups = np.arange(self.axes[task.axis].groups + 1, dtype=np.uint64)
        starts = groups * np.uint64(self._behind(task.axis))
        return np.searchsorted(task.cells.numbers, starts)

    def _behind(self, axis: int) -> int:
        """How many combinations there are of the groups of the axes behind one."""
        return math.prod(shown_axis.groups for shown_axis in self.axes[axis + 1 :])

    def _gathered(self, task: _Task) -> _Cells:
        """The finest cells of the places of a part."""
        bounds = self._bounds(task)
        groups = self.axes[task.axis].groups_of(task.start, task.stop)
        parts = [slice(int(bounds[group]), int(bounds[group + 1])) for group in groups.tolist()]
        parts = [part for part in parts if part.stop > part.start]
        return _Cells(
            np.concatenate([task.cells.numbers[part] for part in parts]),
            np.concatenate([task.cells.values[part] for part in parts]),
        )

    def _combined(self, cells: _Cells, task: _Task) -> _Cells:
        """The cells of one place, without its axis."""
        behind = self._behind(task.axis)
        numbers = cells.numbers % np.uint64(behind)
        if cells.numbers[-1] // np.uint64(behind) == cells.numbers[0] // np.uint64(behind):
            return _Cells(numbers, cells.values)
        ordered, order = sort_cells(numbers, largest=behind - 1)
        return _Cells(*combine_sorted(ordered, order, cells.values, self.combines))

    def _expanded(self, cells: _Cells, task: _Task, most: int) -> _Cells | None:
        """Cells over the groups of the axis of a part and of those behind it, over places."""
        radices = [axis.groups for axis in self.axes[task.axis :]]
        for at in reversed(range(task.axis, len(self.axes))):
            shown = self.axes[at]
            firsts, places, size = shown.firsts, shown.places, shown.size
            if at == task.axis and task.stop:
                firsts, places = shown.only(task.start, task.stop)
                size = task.stop - task.start
            radices.pop()
            expanded = expand_fastest(
                cells.numbers,
                cells.values,
                radix=shown.groups,
                others=math.prod(radices),
                firsts=firsts,
                places=places,
                size=size,
                combines=self.combines,
                most=most,
            )
            if expanded is None:
                return None
            cells = _Cells(*expanded)
            radices.insert(0, size)
        return cells

    def _finished(self, cells: _Cells, before: int) -> StreamedCells:
        sums = {}
        start = 0
        for name, width in self.columns:
            at = slice(start, start + width) if fields_of(name) else start
            part = np.ascontiguousarray(cells.values[:, at])
            sums[name] = part.astype(sum_type(name), copy=False)
            start += width
        values = Accumulators.from_sums(sums, self.space)
        return StreamedCells(self.shape, cells.numbers + np.uint64(before), values)
