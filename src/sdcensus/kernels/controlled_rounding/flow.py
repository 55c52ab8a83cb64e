"""The cheapest flow in a network of which every arc is a cell: the proven best rounding.

In a table with two axes, at most one of them with levels, every cell is part of at most two sums:
once as a part and once as the total, or the other way round. Sums are then the nodes of a network
and cells its arcs; what adds up is a flow. Cheapest flows are whole numbers by themselves.

The flow is found by cost scaling (Goldberg and Tarjan): sums that have too much push it on along
arcs whose cost is paid for by the prices of their ends, and prices fall where nothing can be
pushed; costs are looked at more and more exactly. Costs are convex, so an arc is pushed as far as
its next step costs the same. All in whole numbers, and every order is that of the input: the same
flow on every machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.controlled_rounding.costs import CellCosts, room_above, room_below, slope

Int64 = npt.NDArray[np.int64]

#: What nobody pays.
_NEVER = 1 << 61
_HARDLY = 1 << 60
#: Costs are looked at so many times more exactly in each round.
_SCALE = 8


class Network(NamedTuple):
    """Sums as nodes, cells as arcs.

    Attributes:
        tail, head: The two sums of each cell: a step more takes from the first and gives to the
            second. One node stands for everything outside.
        starts, arcs: The arcs at each node, each as twice the number of its cell, and one more
            where the node is its head: those of ``node`` stand in
            ``arcs[starts[node] : starts[node + 1]]``.
        ends: The node at the other end of each of ``arcs``.
        wanted: What each node has to receive, in steps; all together 0.
    """

    tail: Int64
    head: Int64
    starts: Int64
    arcs: Int64
    ends: Int64
    wanted: Int64


@compiled
def cheapest_flow(network: Network, costs: CellCosts) -> tuple[bool, Int64, Int64]:
    """The cheapest steps of all cells with which everything adds up.

    Args:
        network: What adds up.
        costs: What steps cost; no cell leaves its bounds, which hold 0 or the step next to it.

    Returns:
        Whether there are any; the steps of each cell, as far as they were found; and prices of the
        nodes that prove that no other steps are cheaper: times the number of nodes and one.
    """
    nodes = network.wanted.size
    steps = np.empty(network.tail.size, dtype=np.int64)
    # What leaving along each arc costs: a step more of the cell, or a step less.
    leave = np.empty(2 * steps.size, dtype=np.int64)
    prices = np.zeros(nodes, dtype=np.int64)
    excess = -network.wanted
    work = _Work(
        leave,
        prices,
        excess,
        network.starts[:-1].copy(),
        np.empty(nodes + 1, dtype=np.int64),
        np.zeros(nodes, dtype=np.int64),
    )
    # Multiplied so that a difference of less than 1 cannot matter any more.
    scale = nodes + 1
    near = 1
    for cell in range(steps.size):
        near = max(near, costs.step[cell] * scale)
        steps[cell] = min(max(0, costs.low[cell]), costs.high[cell])
        excess[network.tail[cell]] -= steps[cell]
        excess[network.head[cell]] += steps[cell]
        _note(costs, cell, steps[cell], leave, scale)
    while True:
        before, near = near, max(near // _SCALE, 1)
        # By so much a price falls at most if there is any flow.
        fall = (before + near) * (nodes + 1)
        if not _refine(network, costs, steps, work, scale, near, fall):
            return False, steps, prices
        if near == 1:
            return True, steps, prices


class _Work(NamedTuple):
    """What the search keeps in mind.

    Attributes:
        leave: What leaving along each arc costs.
        prices, excess: The price of each node, and what it has too much.
        current: The next arc to look at from each node.
        waiting: Nodes that have too much.
        least: Below this a price does not fall if there is any flow at all.
    """

    leave: Int64
    prices: Int64
    excess: Int64
    current: Int64
    waiting: Int64
    least: Int64


@compiled
def _note(costs: CellCosts, cell: int, steps: int, leave: Int64, scale: int) -> None:
    leave[2 * cell] = _NEVER
    if steps < costs.high[cell]:
        leave[2 * cell] = slope(costs, cell, steps) * scale
    leave[2 * cell + 1] = _NEVER
    if steps > costs.low[cell]:
        leave[2 * cell + 1] = -slope(costs, cell, steps - 1) * scale


@compiled
def _refine(
    network: Network,
    costs: CellCosts,
    steps: Int64,
    work: _Work,
    scale: int,
    near: int,
    fall: int,
) -> bool:
    """From any steps and prices to a flow that no cycle improves by more than ``near`` an arc.

    False where prices tell that there is none.
    """
    leave, prices, excess, current = work.leave, work.prices, work.excess, work.current
    for cell in range(steps.size):
        tail, head = network.tail[cell], network.head[cell]
        gap = prices[tail] - prices[head]
        before = steps[cell]
        while leave[2 * cell] + gap < 0:
            steps[cell] += room_above(costs, cell, steps[cell])
            _note(costs, cell, steps[cell], leave, scale)
        while leave[2 * cell + 1] - gap < 0:
            steps[cell] -= room_below(costs, cell, steps[cell])
            _note(costs, cell, steps[cell], leave, scale)
        excess[tail] -= steps[cell] - before
        excess[head] += steps[cell] - before
    size = 0
    for node in range(excess.size):
        work.least[node] = prices[node] - fall
        current[node] = network.starts[node]
        if excess[node] > 0:
            work.waiting[size] = node
            size += 1
    while size:
        size -= 1
        node = work.waiting[size]
        # Whoever was reached last goes on first: what is pushed runs to where it is missing.
        while excess[node] > 0:
            at = current[node]
            if at == network.starts[node + 1]:
                _relabel(network, work, node, near)
                if work.prices[node] < work.least[node]:
                    return False
                continue
            arc, other = network.arcs[at], network.ends[at]
            if leave[arc] + prices[node] - prices[other] >= 0:
                current[node] += 1
                continue
            if excess[other] >= 0 and not _goes_on(network, work, other):
                # Nothing was pushed there yet: its price does not tell whether there is a flow.
                price = prices[other]
                _relabel(network, work, other, near)
                if prices[other] < -_HARDLY:  # a dead end, as long as nothing is pushed there
                    prices[other] = min(price, work.least[other]) - fall
                continue
            before = excess[other]
            cell = arc >> 1
            if arc & 1:
                by = min(excess[node], room_below(costs, cell, steps[cell]))
                steps[cell] -= by
            else:
                by = min(excess[node], room_above(costs, cell, steps[cell]))
                steps[cell] += by
            _note(costs, cell, steps[cell], leave, scale)
            excess[node] -= by
            excess[other] += by
            if before <= 0 and excess[other] > 0:
                if excess[node] > 0:
                    work.waiting[size] = node
                    size += 1
                node = other
    return True


@compiled
def _goes_on(network: Network, work: _Work, node: int) -> bool:
    """Whether something can be pushed away from a node; its first such arc is its current one."""
    for at in range(work.current[node], network.starts[node + 1]):
        if work.leave[network.arcs[at]] + work.prices[node] - work.prices[network.ends[at]] < 0:
            work.current[node] = at
            return True
    work.current[node] = network.starts[node + 1]
    return False


@compiled
def _relabel(network: Network, work: _Work, node: int, near: int) -> None:
    """Lower the price of a node until something can be pushed away; very far if nothing can."""
    best = np.int64(-_NEVER)
    for at in range(network.starts[node], network.starts[node + 1]):
        best = max(best, work.prices[network.ends[at]] - work.leave[network.arcs[at]])
    work.prices[node] = best - near
    work.current[node] = network.starts[node]


@compiled
def is_cheapest(network: Network, costs: CellCosts, steps: Int64, prices: Int64) -> bool:
    """Whether prices prove that steps are a cheapest flow."""
    scale = network.wanted.size + 1
    balance = -network.wanted
    for cell in range(steps.size):
        tail, head = network.tail[cell], network.head[cell]
        balance[tail] -= steps[cell]
        balance[head] += steps[cell]
        if not costs.low[cell] <= steps[cell] <= costs.high[cell]:
            return False
        gap = prices[tail] - prices[head]
        if steps[cell] < costs.high[cell] and slope(costs, cell, steps[cell]) * scale + gap < -1:
            return False
        if steps[cell] > costs.low[cell] and gap + slope(costs, cell, steps[cell] - 1) * scale > 1:
            return False
    return not balance.any()


@compiled
def reached(network: Network, costs: CellCosts, steps: Int64) -> npt.NDArray[np.bool_]:
    """The nodes to which what is too much can be pushed, cost what it may.

    Where there is no flow, all arcs that leave them are at their bounds: why there is none.
    """
    excess = -network.wanted
    for cell in range(steps.size):
        excess[network.tail[cell]] -= steps[cell]
        excess[network.head[cell]] += steps[cell]
    inside = excess > 0
    waiting = np.empty(excess.size, dtype=np.int64)
    size = 0
    for node in range(excess.size):
        if inside[node]:
            waiting[size] = node
            size += 1
    while size:
        size -= 1
        node = waiting[size]
        for at in range(network.starts[node], network.starts[node + 1]):
            arc, other = network.arcs[at], network.ends[at]
            cell = arc >> 1
            less = arc & 1 and steps[cell] > costs.low[cell]
            more = not arc & 1 and steps[cell] < costs.high[cell]
            if (less or more) and not inside[other]:
                inside[other] = True
                waiting[size] = other
                size += 1
    return inside
