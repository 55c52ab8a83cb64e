"""The nearest table of multiples where what adds up is a network: found and proven by a flow."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.controlled_rounding.costs import CellCosts
from sdcensus.kernels.controlled_rounding.flow import Network, cheapest_flow, is_cheapest, reached
from sdcensus.kernels.controlled_rounding.networks import turned_sums
from sdcensus.methods.controlled_rounding.problem import RoundingProblem
from sdcensus.methods.controlled_rounding.sums import Entries, orders_of_axes
from sdcensus.model.linked.tables import LinkedTables

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Tables with more axes that have more than one code are no networks.
_MOST_AXES = 2
#: Costs of paths through a network stay below this.
_MOST_COST = 1 << 55


class TableNetwork:
    """Sums as nodes and cells as arcs.

    Attributes:
        tail, head: For each cell the node that it leaves and the one that it enters; the last
            node is everything outside.
        signs: For each sum, 1 or -1 as it was turned round.
        entries: The sums.
    """

    __slots__ = ("entries", "head", "signs", "tail")

    def __init__(self, entries: Entries, signs: Int64, size: int) -> None:
        self.entries = entries
        self.signs = signs
        self.tail = np.full(size, entries.height, dtype=np.int64)
        self.head = np.full(size, entries.height, dtype=np.int64)
        into = entries.signs * signs[entries.rows] > 0
        self.head[entries.cells[into]] = entries.rows[into]
        self.tail[entries.cells[~into]] = entries.rows[~into]

    @property
    def nodes(self) -> int:
        """How many nodes there are, the one outside included."""
        return self.entries.height + 1

    def with_wanted(self, values: Int64) -> Network:
        """The network in which steps make up for what values miss to add up."""
        wanted = np.zeros(self.nodes, dtype=np.int64)
        wanted[:-1] = -self.signs * self.entries.times(values)
        wanted[-1] = -wanted[:-1].sum()
        cells = np.flatnonzero(self.tail != self.head)
        starts, arcs, ends = arcs_at_nodes(self.tail, self.head, cells, self.nodes)
        return Network(self.tail, self.head, starts, arcs, ends, wanted)


def arcs_at_nodes(tail: Int64, head: Int64, cells: Int64, nodes: int) -> tuple[Int64, Int64, Int64]:
    """The arcs of some cells by the nodes where they end: starts, arcs, and their other ends.

    Each arc is twice the number of its cell, and one more where it is entered at its head.
    """
    near = np.concatenate([tail[cells], head[cells]])
    order = np.argsort(near, kind="stable")
    starts = np.zeros(nodes + 1, dtype=np.int64)
    np.cumsum(np.bincount(near, minlength=nodes), out=starts[1:])
    arcs = np.concatenate([2 * cells, 2 * cells + 1])[order]
    ends = np.concatenate([head[cells], tail[cells]])[order]
    return starts, arcs, ends


def network_of(tables: LinkedTables) -> TableNetwork | None:
    """The network of some tables, if they are one.

    Tables with two axes are, where at most one has levels; and some of these together.
    """
    for spec in tables.counted:
        if sum(axis.base_size > 1 for axis in spec.axes) > _MOST_AXES:
            return None
    for entries in orders_of_axes(tables):
        network = _turned(entries, tables.size)
        if network is not None:
            return network
    return None


def _turned(entries: Entries, size: int) -> TableNetwork | None:
    counts = np.bincount(entries.cells, minlength=size)
    if (counts.size and counts.max() > 2) or (np.abs(entries.signs) != 1).any():
        return None
    order = np.argsort(entries.cells, kind="stable")
    twice = np.flatnonzero(counts[entries.cells[order]] == 2)
    first, second = order[twice[0::2]], order[twice[1::2]]
    possible, signs = turned_sums(
        entries.rows[first],
        entries.rows[second],
        -entries.signs[first] * entries.signs[second],
        entries.height,
    )
    return TableNetwork(entries, signs, size) if possible else None


def nearest_by_flow(problem: RoundingProblem, network: TableNetwork) -> Int64 | None:
    """The nearest table; ``None`` where there is none within the bounds of cells."""
    if (problem.low > problem.high).any():
        return None
    flow, costs = network.with_wanted(problem.below), _costs(problem, network)
    found, steps, prices = cheapest_flow(flow, costs)
    if not found:
        return None
    if not is_cheapest(flow, costs, steps, prices):
        raise AssertionError("A flow is not the cheapest.")
    return steps


def blocking_cells(problem: RoundingProblem, network: TableNetwork) -> Mask:
    """Cells that could not take more or fewer steps, which is why there is no table."""
    flow, costs = network.with_wanted(problem.below), _costs(problem, network)
    _, steps, _ = cheapest_flow(flow, costs)
    inside = reached(flow, costs, steps)
    return np.asarray(inside[network.tail] != inside[network.head])


def _costs(problem: RoundingProblem, network: TableNetwork) -> CellCosts:
    """Costs in which of equally near tables the one is cheaper with more cells at the nearest."""
    nodes = network.nodes + 1
    largest = problem.rule.base * int(problem.weight.max(initial=1))
    # A path has at most as many arcs as there are nodes, each of them away from the nearest.
    if largest * nodes**3 < _MOST_COST:
        return problem.costs(nodes)
    return problem.costs(ties=False)
