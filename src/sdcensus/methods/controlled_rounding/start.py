"""Tables of multiples that add up, from which a search begins; cells may be where they may not."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.controlled_rounding.prices import STEP_SCALE
from sdcensus.methods.controlled_rounding.grid import Grid, GridAxis, GridTable
from sdcensus.methods.controlled_rounding.problem import RoundingProblem

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class BaseCells:
    """The cells at the base groups of one table, an axis for each axis of the grid.

    Attributes:
        held: Which of them there are.
        below, low, high: The multiple below each and its bounds; 0 where there is no cell.
        average: The steps towards which a search is pulled, times ``STEP_SCALE``.
        nearest: The steps next to them.
    """

    __slots__ = ("average", "below", "held", "high", "low", "nearest")

    def __init__(
        self,
        problem: RoundingProblem,
        axes: Sequence[GridAxis],
        table: GridTable,
        average: Int64,
    ) -> None:
        index = [places[: axis.size] for axis, places in zip(axes, table.places, strict=True)]
        cells = table.cells[np.ix_(*index)]
        self.held = cells >= 0
        number = np.where(self.held, cells, 0)
        self.below, self.low, self.high, self.average = (
            np.where(self.held, values[number], 0)
            for values in (problem.below, problem.low, problem.high, average)
        )
        near = (self.average + STEP_SCALE // 2) // STEP_SCALE
        self.nearest = np.clip(near, self.low, self.high)


def rounded_base(problem: RoundingProblem, grid: Grid, average: Int64) -> Int64:
    """Steps of the cells of a grid: base cells next to the average, all others as sums.

    For a grid of one table that shows its base groups.
    """
    (table,) = grid.tables
    base = BaseCells(problem, grid.axes, table, average)
    return steps_of(problem, grid, base.below + base.nearest)


def steps_of(problem: RoundingProblem, grid: Grid, values: Int64) -> Int64:
    """Steps of the cells of a grid of one table, from the values of its base cells."""
    (table,) = grid.tables
    whole = np.zeros(table.cells.shape, dtype=np.int64)
    whole[np.ix_(*table.places)] = summed(grid.axes, values)
    return whole.reshape(-1)[grid.places] - problem.below[grid.numbers]


def summed(axes: Sequence[GridAxis], values: Int64) -> Int64:
    """Values of base cells added up for all codes of all axes."""
    for at, axis in enumerate(axes):
        moved = np.moveaxis(values, at, 0)
        parts = []
        for level in axis.levels:
            size = int(level.max(initial=-1)) + 1
            part = np.zeros((size, *moved.shape[1:]), dtype=np.int64)
            np.add.at(part, level, moved)
            parts.append(part)
        values = np.moveaxis(np.concatenate(parts), 0, at)
    return values


def share_out(missing: Int64, base: BaseCells, steps: Int64) -> None:
    """Change steps along the first axis, in place, until nothing is missing anywhere.

    Where a unit goes is decided by the average; cells leave their bounds only where all would.
    """
    for sign in (1, -1):
        left = np.maximum(sign * missing, 0)
        while left.any():
            at = np.nonzero(left)
            line: Any = (slice(None), *at)
            now = steps[line]
            # The farther the average is ahead, the sooner; cells at their bounds come last.
            ahead = sign * (base.average[line] - now * STEP_SCALE)
            full = now >= base.high[line] if sign > 0 else now <= base.low[line]
            ahead = np.where(full, ahead - (1 << 40), ahead)
            ahead = np.where(base.held[line], ahead, -(1 << 60))
            best = np.argmax(ahead, axis=0)
            steps[(best, *at)] += sign
            left[at] -= 1
