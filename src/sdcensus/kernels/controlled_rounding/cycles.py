"""Roundings drawn without bias: fractions pushed round cycles of a network until all are whole.

Sums are nodes and cells are arcs, as for flows. Where a cell is a fraction of the base, each of its
two sums has another such cell: fractions lie on cycles. Along a cycle all fractions change by the
same amount, up on arcs that are followed forwards and down on the others, so that all sums stay
right. One direction or the other is drawn, each as far as the first cell that becomes whole, with
chances that leave every cell on average as it is. So the expected value of every cell is its true
one after each step, and therefore at the end (Cox 1987). All in whole numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.keys.siphash import siphash_words

Int64 = npt.NDArray[np.int64]

#: The last word of every message: what tells draws along cycles from others under the same key.
CYCLE = 2


class CycleArcs(NamedTuple):
    """The arcs at each node.

    Attributes:
        starts, arcs: Those of ``node`` stand in ``arcs[starts[node] : starts[node + 1]]``, each as
            twice the number of its cell, and one more where the node is its head.
        ends: The node at the other end of each.
    """

    starts: Int64
    arcs: Int64
    ends: Int64


@compiled
def round_along_cycles(
    network: CycleArcs,
    rest: Int64,
    base: int,
    first: np.uint64,
    second: np.uint64,
    seed: np.uint64,
) -> None:
    """Make every rest 0 or the base, at random and without bias.

    Args:
        network: What adds up: at each node the rests that enter less those that leave are a
            multiple of the base.
        rest: How far each cell lies above the multiple below it; changed in place.
        base: What results are multiples of.
        first, second: The key of draws.
        seed: What this table is drawn with.
    """
    nodes = network.starts.size - 1
    arcs, ends = network.arcs.copy(), network.ends.copy()
    current = network.starts[:-1].copy()
    depth = np.full(nodes, -1, dtype=np.int64)
    path = np.empty(nodes + 1, dtype=np.int64)
    visited = np.empty(nodes + 1, dtype=np.int64)
    message = np.array([seed, np.uint64(0), np.uint64(CYCLE)], dtype=np.uint64)
    for start in range(nodes):
        size, node = 0, start
        depth[start], visited[0] = 0, start
        while True:
            came = path[size - 1] >> 1 if size else -1
            at = _fraction(arcs, ends, current, network.starts[node + 1], rest, base, node, came)
            if at < 0:  # nothing is left at the node where the path begins
                break
            path[size], other = arcs[at], ends[at]
            if depth[other] < 0:
                size += 1
                node = other
                depth[node], visited[size] = size, node
                continue
            _push(path[depth[other] : size + 1], rest, base, first, second, message)
            message[1] += np.uint64(1)
            # The path goes on from where the cycle began.
            for place in range(depth[other] + 1, size + 1):
                depth[visited[place]] = -1
            size, node = depth[other], other
        depth[start] = -1


@compiled
def _fraction(
    arcs: Int64,
    ends: Int64,
    current: Int64,
    end: int,
    rest: Int64,
    base: int,
    node: int,
    came: int,
) -> int:
    """The place of the next arc at a node that is a fraction and not the one that led here."""
    while current[node] < end and rest[arcs[current[node]] >> 1] % base == 0:
        current[node] += 1
    at: int = current[node]
    if at == end:
        return -1
    if arcs[at] >> 1 != came:
        return at
    for place in range(at + 1, end):
        cell = arcs[place] >> 1
        if cell != came and rest[cell] % base:
            # Beside the first: nobody has to look for it again.
            arcs[at + 1], arcs[place] = arcs[place], arcs[at + 1]
            ends[at + 1], ends[place] = ends[place], ends[at + 1]
            return at + 1
    return -1


@compiled
def _push(
    cycle: Int64,
    rest: Int64,
    base: int,
    first: np.uint64,
    second: np.uint64,
    message: npt.NDArray[np.uint64],
) -> None:
    """Change the cells of a cycle one way or the other, until one of them is whole."""
    ahead = back = base
    for arc in cycle:
        above, below = base - rest[arc >> 1], rest[arc >> 1]
        if arc & 1:
            above, below = below, above
        ahead, back = min(ahead, above), min(back, below)
    drawn = siphash_words(first, second, message) % np.uint64(ahead + back)
    by = ahead if drawn < np.uint64(back) else -back
    for arc in cycle:
        rest[arc >> 1] += -by if arc & 1 else by
