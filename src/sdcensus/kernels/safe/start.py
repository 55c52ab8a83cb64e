"""A first solution: combinations with too few units give them away or are given some.

One after the other, in a drawn order, each takes or gives what costs least among its neighbours. A
neighbour stays without units or with enough of them, or is itself one with too few.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.safe.moves import change_of_cost, choose, move
from sdcensus.kernels.safe.problem import Layout, State, below

Integers = npt.NDArray[Any]

_NOTHING = np.int64(1) << 62
#: How far neighbours stand in an order, and how many orders are looked at.
_NEAR, _ORDERS = 8, 3
#: How many moves one combination makes at most: rules can send units to and fro.
_MOST_STEPS = 60


@compiled
def _look(
    layout: Layout,
    state: State,
    table: Integers,
    cell: int,
    other: int,
    desperate: bool,
    best: Integers,
    chosen: Integers,
) -> Any:
    """Look at what a combination with too few could do with another one; how many moves were.

    ``best`` has the cheapest so far: its cost, giver, taker, number of units.
    """
    counts, least = state.counts, layout.least[0]
    own, theirs = counts[cell], counts[other]
    if other == cell or theirs == 0:
        return 0
    looked = 0
    for way in range(3):
        giver, taker, units = cell, other, own
        if way == 1:
            giver, taker, units = other, cell, theirs
            if theirs >= least and not desperate:
                continue
        elif way == 2:
            giver, taker, units = other, cell, 1
            if theirs == 1 or theirs == least:
                continue
        if units > chosen.size:
            continue
        if layout.ruled[0] and not choose(layout, state, giver, taker, units, chosen):
            continue
        looked += 1
        cost = change_of_cost(layout, state, table, giver, taker, units)
        if way == 2:
            cost *= least - own  # so many of them will be needed
        if cost < best[0]:
            best[0], best[1], best[2], best[3] = cost, giver, taker, units
    return looked


@compiled
def _repair(
    layout: Layout, state: State, table: Integers, cell: Any, best: Integers, chosen: Integers
) -> Any:
    """Find the cheapest move for a combination with too few; how many moves were looked at."""
    block = layout.blocks[cell]
    first, last = layout.block_starts[block], layout.block_starts[block + 1]
    best[0] = _NOTHING
    looked = 0
    for _ in range(_ORDERS):
        order = below(state.stream, layout.orders.shape[0])
        place = layout.places[order, cell]
        for at in range(max(first, place - _NEAR), min(last, place + _NEAR + 1)):
            other = layout.orders[order, at]
            looked += _look(layout, state, table, cell, other, False, best, chosen)
    # Farther and farther, and in the end also what empties combinations that have enough.
    reach = 4 * _NEAR
    while best[0] == _NOTHING:
        place = layout.places[0, cell]
        low, high = max(first, place - reach), min(last, place + reach + 1)
        whole = low == first and high == last
        for at in range(low, high):
            other = layout.orders[0, at]
            looked += _look(layout, state, table, cell, other, whole, best, chosen)
        if whole:
            break
        reach *= 4
    return looked


@compiled
def repair_all(
    layout: Layout, state: State, table: Integers, order: Integers, largest: int, work: Integers
) -> Any:
    """Go through combinations with too few units, until each has none or enough.

    What one of them takes can leave another one with too few: whoever calls looks again.

    Args:
        layout: What does not change.
        state: Changed.
        table: What deviations cost.
        order: Combinations in the order in which they are gone through.
        largest: How many units go at once at most.
        work: One number, to which the moves that were looked at are added.

    Returns:
        -1, or the last combination that rules leave no way for.
    """
    least = layout.least[0]
    best, chosen = np.zeros(4, dtype=np.int64), np.zeros(largest, dtype=np.int64)
    stuck = np.int64(-1)
    for at in range(order.size):
        cell, steps = np.int64(order[at]), 0
        while 0 < state.counts[cell] < least:
            work[0] += _repair(layout, state, table, cell, best, chosen)
            steps += 1
            if best[0] == _NOTHING or steps > _MOST_STEPS:
                stuck = cell
                break
            giver, taker, units = best[1], best[2], best[3]
            choose(layout, state, giver, taker, units, chosen)
            move(layout, state, giver, taker, units, chosen)
            if giver == cell:
                cell = taker
    return stuck
