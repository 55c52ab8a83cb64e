"""Parts of a table: all cells, the finest ones, the totals and subtotals, or those of a level."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError, unknown
from sdcensus.model.cube.constraints import interior, is_interior
from sdcensus.model.cube.layout import mixed_radix, positions_on
from sdcensus.model.spec.axis import Block
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.vocabulary import option

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]
Numbers = npt.NDArray[np.uint64]


class TablePart(StrEnum):
    """Which cells are measured: all, the finest ones, or the totals and subtotals."""

    ALL = "all"
    INTERIOR = "interior"
    MARGINS = "margins"

    @classmethod
    def named(cls, part: TablePart | str) -> TablePart:
        """The part of that name."""
        return option(cls, "part of a table", part)

    @classmethod
    def with_margins(cls, margins: bool) -> TablePart:
        """All cells, or the finest ones alone."""
        return cls.ALL if margins else cls.INTERIOR


@dataclass(frozen=True, slots=True)
class Region:
    """Cells of a table: a box of positions, without a smaller box in it.

    Attributes:
        whole: First and last position, exclusive, on each axis.
        without: The same for the box that is left out, if any.
    """

    whole: tuple[tuple[int, int], ...]
    without: tuple[tuple[int, int], ...] | None = None

    @property
    def cells(self) -> int:
        """How many cells there are."""
        inside = 0 if self.without is None else _size(self.without)
        return _size(self.whole) - inside

    def take(self, array: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """The cells of a table that lie in the region, one behind the other."""
        box: Any = (*(slice(*bounds) for bounds in self.whole), ...)
        taken: npt.NDArray[Any] = array[box]
        if self.without is None:
            return taken.reshape(-1)
        return taken[self._kept()]

    def numbers(self, shape: Sequence[int]) -> Numbers:
        """The numbers of its cells in a table of that shape, in the order of ``take``."""
        numbers = np.zeros(tuple(end - start for start, end in self.whole), dtype=np.uint64)
        for at, ((start, end), weight) in enumerate(
            zip(self.whole, mixed_radix(shape), strict=True)
        ):
            place = [1] * len(shape)
            place[at] = -1
            numbers += (np.arange(start, end, dtype=np.uint64) * np.uint64(weight)).reshape(place)
        return numbers.reshape(-1) if self.without is None else numbers[self._kept()]

    def holds(self, numbers: Numbers, shape: Sequence[int]) -> Mask:
        """For cells by their numbers in a table of that shape, whether they lie in it."""
        inside = _in_box(numbers, shape, self.whole)
        if self.without is not None:
            inside &= ~_in_box(numbers, shape, self.without)
        return inside

    def at(self, axis: int, start: int, end: int) -> Region:
        """The same with other positions on one axis."""
        whole = (*self.whole[:axis], (start, end), *self.whole[axis + 1 :])
        if self.without is None:
            return Region(whole)
        return Region(whole, (*self.without[:axis], (start, end), *self.without[axis + 1 :]))

    def with_axis_first(self, axis: int) -> Region:
        """The same cells of a table whose axes were moved: that one to the front."""

        def moved(box: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
            return (box[axis], *box[:axis], *box[axis + 1 :])

        return Region(moved(self.whole), None if self.without is None else moved(self.without))

    def _kept(self) -> Mask:
        kept = np.ones(tuple(end - start for start, end in self.whole), dtype=bool)
        if self.without is not None:
            boxes = zip(self.whole, self.without, strict=True)
            inner: Any = (*(slice(a - start, b - start) for (start, _), (a, b) in boxes), ...)
            kept[inner] = False
        return kept


def _size(box: tuple[tuple[int, int], ...]) -> int:
    return math.prod(end - start for start, end in box)


def _in_box(numbers: Numbers, shape: Sequence[int], box: tuple[tuple[int, int], ...]) -> Mask:
    inside = np.ones(numbers.size, dtype=bool)
    for at, (start, end) in enumerate(box):
        position = positions_on(shape, at, numbers)
        inside &= (position >= start) & (position < end)
    return inside


def region(spec: TableSpec, part: TablePart | str = TablePart.ALL) -> Region:
    """The cells of a part of a table.

    Refuses interior and margins of a table that shows levels of which none is the finest.
    """
    chosen = TablePart.named(part)
    everything = tuple((0, size) for size in spec.shape)
    if chosen is TablePart.ALL:
        return Region(everything)
    inner = tuple((0, box.stop) for box in interior(spec))
    return Region(inner) if chosen is TablePart.INTERIOR else Region(everything, inner)


def part_mask(spec: TableSpec, part: TablePart) -> Mask:
    """For each cell of a table, whether it lies in the part."""
    if part is TablePart.ALL:
        return np.ones(spec.shape, dtype=bool)
    inside = is_interior(spec)
    return inside if part is TablePart.INTERIOR else ~inside


def parts_of(spec: TableSpec) -> tuple[TablePart, ...]:
    """The parts that a table has: interior cells, totals and subtotals, and both together.

    A table whose levels do not nest has no interior; all its cells are told together.
    """
    if not all(axis.base_is_shown for axis in spec.axes):
        return (TablePart.ALL,)
    parts = (TablePart.INTERIOR, TablePart.MARGINS, TablePart.ALL)
    return tuple(part for part in parts if region(spec, part).cells)


def region_at(
    spec: TableSpec, axis: int, block: Block, part: TablePart | str = TablePart.ALL
) -> Region:
    """The cells at one level of an axis; the part is that of the other axes."""
    chosen = TablePart.named(part)
    other = spec.with_axes(one for at, one in enumerate(spec.axes) if at != axis)
    rest = region(other, chosen)
    own = (block.start, block.start + block.size)

    def placed(box: tuple[tuple[int, int], ...]) -> tuple[tuple[int, int], ...]:
        return (*box[:axis], own, *box[axis:])

    return Region(placed(rest.whole), None if rest.without is None else placed(rest.without))


def block_of(spec: TableSpec, axis: int, level: str | None) -> Block:
    """The block of a level on an axis; the finest without one."""
    blocks = spec.axes[axis].blocks
    if level is None:
        return blocks[0]
    for block in blocks:
        if block.level == level:
            return block
    raise SpecError(
        f"Axis {spec.axes[axis].name!r}:"
        f" {unknown('level', level, [block.level for block in blocks])}"
    )


def known_axes(spec: TableSpec, numbers: Numbers) -> Int64:
    """For each cell, how much is known of its units: on how many axes it stands at no total."""
    known = np.zeros(numbers.size, dtype=np.int64)
    for at, axis in enumerate(spec.axes):
        if axis.total:
            known += positions_on(spec.shape, at, numbers) != axis.blocks[-1].start
        else:
            known += 1
    return known
