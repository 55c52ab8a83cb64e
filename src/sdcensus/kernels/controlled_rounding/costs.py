"""What it costs to publish a multiple for a count.

A cell is published as so many steps of the base above the multiple below its true count: 0 is that
multiple itself, 1 the next one. Steps cost the distance from the true count, less that of the
multiple below it. Steps outside of what a cell may take cost a penalty each, so that a search can
pass through tables that are not allowed and see how far from allowed they are. For every cell the
cost is convex.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Int64 = npt.NDArray[np.int64]

#: More steps than any cell takes.
FAR = 1 << 40


class CellCosts(NamedTuple):
    """What the steps of each cell cost.

    Attributes:
        rise: What the step from the multiple below the count to the one above it costs; negative
            where that is nearer.
        step: What every other step costs, away from the count; more than a rise.
        low, high: The fewest and the most steps that a cell may take.
        penalty: What each step outside of them costs.
    """

    rise: Int64
    step: Int64
    low: Int64
    high: Int64
    penalty: int


@compiled
def slope(costs: CellCosts, cell: int, steps: int) -> int:
    """What one step more costs, without penalties."""
    each: int = costs.step[cell]
    if steps == 0:
        each = costs.rise[cell]
    elif steps < 0:
        each = -each
    return each


@compiled
def more(costs: CellCosts, cell: int, steps: int) -> int:
    """What one step more costs, with penalties."""
    if steps < costs.low[cell]:
        return slope(costs, cell, steps) - costs.penalty
    if steps >= costs.high[cell]:
        return slope(costs, cell, steps) + costs.penalty
    return slope(costs, cell, steps)


@compiled
def room_above(costs: CellCosts, cell: int, steps: int) -> int:
    """How many steps more cost the same each, up to the most that are allowed."""
    room = FAR
    if steps < 0:
        room = -steps
    elif steps == 0:
        room = 1
    if steps < costs.low[cell]:
        room = min(room, costs.low[cell] - steps)
    elif steps < costs.high[cell]:
        room = min(room, costs.high[cell] - steps)
    return room


@compiled
def room_below(costs: CellCosts, cell: int, steps: int) -> int:
    """How many steps less save the same each, down to the fewest that are allowed."""
    room = FAR
    if steps > 1:
        room = steps - 1
    elif steps == 1:
        room = 1
    if steps > costs.high[cell]:
        room = min(room, steps - costs.high[cell])
    elif steps > costs.low[cell]:
        room = min(room, steps - costs.low[cell])
    return room
