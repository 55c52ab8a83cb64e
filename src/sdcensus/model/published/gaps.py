"""Gaps between published totals and the sums of their published parts. Public.

Whoever has a published table can compute them; they tell how much noise its cells hold.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.cube.constraints import level_steps, with_totals
from sdcensus.model.published.table import AnyTable
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class AxisGaps:
    """The gaps along one axis between a level and the level directly below it.

    Arrays have the shape of the table, with the codes of the level above (``parents``) in the
    place of the axis.

    Attributes:
        axis: Which axis.
        level: The level of the totals (``_T`` for the total of the axis).
        parts_level: The level of the parts.
        start: The position on the axis of the first code of ``level``.
        parts: For each code of ``level``, how many parts it has.
        gap: Total less the sum of its parts; 0 where one of them is withheld.
        shown: Where total and all parts are published, so that there is a gap to see.
        nonzero_parts: How many of the parts are published as something else than 0. Cells that are
            and stay empty bring no noise; but a published 0 can be a count that became 0, so a
            bound of the largest deviation needs all ``parts``.
        total: The published total.
    """

    axis: int
    level: str
    parts_level: str
    start: int
    parts: Int64
    gap: Int64
    shown: Mask
    nonzero_parts: Int64
    total: Int64

    def __post_init__(self) -> None:
        for array in (self.parts, self.gap, self.shown, self.nonzero_parts, self.total):
            array.flags.writeable = False

    def parts_of_line(self) -> Int64:
        """How many parts each line has, in the shape of ``gap``."""
        shape = [1] * self.gap.ndim
        shape[self.axis] = -1
        return np.broadcast_to(self.parts.reshape(shape), self.gap.shape)


@dataclass(frozen=True, slots=True, eq=False)
class Gaps:
    """Every gap of a published table.

    Attributes:
        spec: What the table shows.
        along: The gaps along each axis, level by level.
        from_interior: For every cell, its value less the sum of the interior cells in it: 0 for
            interior cells, and in the corner the gap between the grand total and all of them.
            ``None`` where the table has no interior or withholds interior cells.
    """

    spec: TableSpec
    along: tuple[AxisGaps, ...]
    from_interior: Int64 | None

    def __repr__(self) -> str:
        return f"<Gaps of {self.spec.title}>"

    @property
    def lines(self) -> int:
        """How many totals can be compared with their parts."""
        return sum(int(axis_gaps.shown.sum()) for axis_gaps in self.along)

    def flat(self) -> tuple[Int64, Int64, Int64]:
        """Of every line that can be seen: its gap, its number of parts, those not published as 0.

        Lines without parts are left out: their total is no sum.
        """
        empty = np.zeros(0, dtype=np.int64)
        columns: list[tuple[Int64, Int64, Int64]] = [(empty, empty, empty)]
        for axis_gaps in self.along:
            parts = axis_gaps.parts_of_line()
            kept = axis_gaps.shown & (parts > 0)
            columns.append((axis_gaps.gap[kept], parts[kept], axis_gaps.nonzero_parts[kept]))
        first, second, third = zip(*columns, strict=True)
        return np.concatenate(first), np.concatenate(second), np.concatenate(third)

    @property
    def share_that_adds_up(self) -> float | None:
        """The share of totals that equal the sum of their parts; ``None`` without totals."""
        gaps, _, _ = self.flat()
        return float((gaps == 0).mean()) if gaps.size else None

    @property
    def largest(self) -> int | None:
        """The largest gap up or down; ``None`` without totals."""
        gaps, _, _ = self.flat()
        return int(np.abs(gaps).max()) if gaps.size else None


def gaps(table: AnyTable) -> Gaps:
    """Compare every total and subtotal of a published table with its parts.

    Lines with a withheld cell have no gap that can be seen, and are marked so.
    """
    table = table.held_for("comparing it with its totals")
    spec = table.spec
    hidden = np.zeros(spec.shape, dtype=bool) if table.flags is None else table.flags != 0
    along: list[AxisGaps] = []
    for at, axis in enumerate(spec.axes):
        along.extend(_along(at, axis, table.published, hidden))
    return Gaps(spec, tuple(along), _from_interior(spec, table.published, hidden))


def _along(at: int, axis: Axis, published: Int64, hidden: Mask) -> Iterator[AxisGaps]:
    for step in level_steps(axis.blocks):
        total = np.take(published, step.totals, axis=at)
        shown = ~np.take(hidden, step.totals, axis=at)
        if hidden.any():
            shown &= step.sums(hidden.astype(np.int64), at) == 0
        yield AxisGaps(
            axis=at,
            level=step.coarse.level,
            parts_level=step.fine.level,
            start=step.coarse.start,
            parts=step.sizes,
            gap=np.where(shown, total - step.sums(published, at), 0),
            shown=shown,
            nonzero_parts=step.sums((published != 0).astype(np.int64), at),
            total=total,
        )


def _from_interior(spec: TableSpec, published: Int64, hidden: Mask) -> Int64 | None:
    if not all(axis.base_is_shown for axis in spec.axes):
        return None
    inside = tuple(slice(0, size) for size in spec.base_shape)
    if hidden[inside].any():
        return None
    difference = published - with_totals(spec, published[inside])
    difference = np.where(hidden, 0, difference)
    difference.flags.writeable = False
    return difference
