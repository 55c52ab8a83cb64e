"""Which true counts fit a published table: an interval for each cell, by how the cells add up."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.inference.intervals import SumLines, narrow
from sdcensus.model.cube.constraints import level_steps
from sdcensus.model.inference.knowledge import UNBOUNDED
from sdcensus.model.spec.axis import Axis, Block
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Bounds that contradict each other can creep towards each other by one in every round.
MOST_ROUNDS = 1000


@dataclass(frozen=True, slots=True, eq=False)
class Intervals:
    """The smallest and the largest count that a cell can have.

    Public if the bounds come from published tables alone: nothing here was computed from true
    counts.

    Attributes:
        spec: The table.
        lower, upper: The bounds of each cell; ``UNBOUNDED`` above where nothing is known. An empty
            interval (lower above upper) means that no table fits.
        rounds: How many times the shuttle went through all axes.
    """

    spec: TableSpec
    lower: Int64
    upper: Int64
    rounds: int

    def __post_init__(self) -> None:
        for array in (self.lower, self.upper):
            if array.shape != self.spec.shape:
                raise SpecError(f"{self.spec.title}: bounds need the shape {self.spec.shape}.")
            array.flags.writeable = False

    def __repr__(self) -> str:
        shape = "×".join(map(str, self.spec.shape)) or "one cell"
        return f"<Intervals {self.spec.title}: {shape}>"

    @property
    def contradictory(self) -> bool:
        """Whether no table fits: what was taken to be known cannot be true of this table."""
        return bool((self.lower > self.upper).any())

    @property
    def disclosed(self) -> Mask:
        """Cells of which one count is left, or only the counts 0 and 1."""
        one_left: Mask = self.lower == self.upper
        one_or_none: Mask = (self.lower == 0) & (self.upper == 1)
        return one_left | one_or_none

    @property
    def bounded(self) -> Mask:
        """Cells of which the largest possible count is known."""
        return self.upper < UNBOUNDED

    def holds(self, counts: Int64) -> bool:
        """Whether all these counts lie in their intervals."""
        return bool(((self.lower <= counts) & (counts <= self.upper)).all())


def shuttle(spec: TableSpec, lower: Int64, upper: Int64) -> Intervals:
    """Narrow the intervals of all cells of a table by all its sums until nothing changes.

    Every level of every axis takes part: sums of a level that lies directly below another one,
    and of all levels below the total. Levels that do not nest in each other meet in the groups
    that both are made of, also where the table does not show these.

    The intervals are never too narrow, but some can be wider than what a linear program finds.
    Where the bounds contradict each other, the search ends at once and the result says so.

    Args:
        spec: The table.
        lower, upper: What is known of each cell (``Knowledge.bounds``); counts are at least 0.
    """
    low, high = checked(spec, lower, upper)
    hidden = [0 if axis.base_is_shown else axis.base_size for axis in spec.axes]
    shown: Any = (*(slice(size, None) for size in hidden), ...)
    if any(hidden):
        whole = tuple(size + more for size, more in zip(spec.shape, hidden, strict=True))
        wider = np.zeros(whole, dtype=np.int64), np.full(whole, UNBOUNDED, dtype=np.int64)
        wider[0][shown], wider[1][shown] = low, high
        low, high = wider
    lines = [_lines(axis, size) for axis, size in zip(spec.axes, hidden, strict=True)]
    rounds, _ = narrow(low, high, lines, unbounded=UNBOUNDED, rounds=MOST_ROUNDS)
    if (low > high).any() and not (low[shown] > high[shown]).any():
        # No count fits a group that the table does not show: then none fits what it is part of.
        low[shown] = np.maximum(low[shown], high[shown] + 1)
    # The shape again: the bounds of a table of one cell would become an array of one axis.
    least, most = (np.ascontiguousarray(bound[shown]).reshape(spec.shape) for bound in (low, high))
    return Intervals(spec, least, most, rounds)


def checked(spec: TableSpec, lower: Int64, upper: Int64) -> tuple[Int64, Int64]:
    """Copies of the bounds of a table that can be computed with; refuses those that cannot be."""
    bounds = []
    for name, bound in (("lower", lower), ("upper", upper)):
        array = np.asarray(bound)
        if array.shape != spec.shape:
            raise SpecError(
                f"{spec.title}: the {name} bounds have the shape {array.shape}, but the table has"
                f" the shape {spec.shape}. Give one bound for each cell, totals included."
            )
        if array.dtype.kind not in "iu":
            raise SpecError(f"{spec.title}: bounds of counts are whole numbers (int64).")
        bounds.append(array)
    # UNBOUNDED is the largest number here, so that sums of bounds stay far below 2**63.
    low = np.clip(bounds[0], 0, UNBOUNDED).astype(np.int64).reshape(spec.shape)
    high = np.clip(bounds[1], -1, UNBOUNDED).astype(np.int64).reshape(spec.shape)
    return np.ascontiguousarray(low).reshape(spec.shape), np.ascontiguousarray(high).reshape(
        spec.shape
    )


def _lines(axis: Axis, hidden: int) -> SumLines:
    """The sums along an axis that has its base groups in front where they are not shown."""
    blocks: Sequence[Block] = axis.blocks
    if hidden:
        base = Block("", 0, hidden, np.arange(hidden, dtype=np.int64))
        moved = (
            Block(block.level, block.start + hidden, block.size, block.group) for block in blocks
        )
        blocks = (base, *moved)
    totals: list[Int64] = []
    sizes: list[Int64] = []
    parts: list[Int64] = []
    for step in level_steps(blocks):
        totals.append(step.totals)
        sizes.append(step.sizes)
        parts.append(step.parts[np.argsort(step.parent, kind="stable")])
    none = np.zeros(0, dtype=np.int64)
    starts = np.concatenate(
        [np.zeros(1, dtype=np.int64), np.cumsum(np.concatenate([none, *sizes]))]
    )
    return SumLines(np.concatenate([none, *totals]), starts, np.concatenate([none, *parts]))
