"""A SAFE problem as arrays: what the loops of ``kernels.safe`` search in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.safe.problem import LARGEST_LISTED, Layout, State
from sdcensus.kernels.safe.worst import tree_of
from sdcensus.microdata.method import Draws
from sdcensus.microdata.safe.combinations import Combinations, neighbour_orders
from sdcensus.microdata.safe.layers import Layers
from sdcensus.microdata.safe.rule_classes import RuleClasses
from sdcensus.model.confidential import Confidential

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Variables for which combinations are held in orders of their own at most.
_MOST_ORDERS = 20
#: Counter of the draws that give each run a key of its own.
_RUN = 2
#: Deviations of one unit count so much in tables of costs, so that weights can divide them.
_UNIT = 8


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Problem(Confidential):
    """Combinations that occur, their control cells, who may go where, and how many are enough.

    Attributes:
        found: The combinations.
        layers: The control cells.
        rules: Who may have which combination.
        least: How many units a combination has that has any.
        layout: All of it as arrays.
    """

    found: Combinations
    layers: Layers
    rules: RuleClasses
    least: int
    layout: Layout

    def __repr__(self) -> str:
        return "<Problem: confidential>"

    def state(self, cells: Int64, frozen: Mask, stream: npt.NDArray[np.uint64]) -> State:
        """The state in which every unit has the combination that is said."""
        counts = np.bincount(cells, minlength=self.found.counts.size).astype(np.int64)
        deviations = self.layers.totals(counts - self.found.counts)
        levels, ties = tree_of(self.layers.levels(deviations))
        firsts, following, preceding = _linked(cells, counts)
        return State(
            counts=counts,
            deviations=deviations.astype(np.int32),
            levels=levels,
            ties=ties,
            squares=np.array([np.square(deviations).sum()], dtype=np.int64),
            cells=cells.astype(np.int32),
            firsts=firsts,
            following=following,
            preceding=preceding,
            frozen=frozen.astype(np.uint8),
            stream=stream.copy(),
        )

    def costs(self, power: int) -> Int64:
        """What deviations cost, for each layer's row: their power, as weights count them."""
        rows = []
        for weight in np.unique(self.layers.weights).tolist() or [1]:
            rows.append(
                [
                    (_UNIT * size) ** power // weight**power + size**2
                    for size in range(LARGEST_LISTED)
                ]
            )
        return np.array(rows, dtype=np.int64)


def run_key(draws: Draws, run: int) -> npt.NDArray[np.uint64]:
    """The key of a run and how many numbers were drawn under it, which are none."""
    words = draws.words(np.array([0, 1], dtype=np.uint64), _RUN + run)
    return np.append(words, np.uint64(0)).astype(np.uint64)


def problem_of(found: Combinations, layers: Layers, rules: RuleClasses, least: int) -> Problem:
    """Put a problem into arrays."""
    orders, lasts = neighbour_orders(found, rules.profiles, _MOST_ORDERS)
    places = np.empty_like(orders)
    for order, place in zip(orders, places, strict=True):
        place[order] = np.arange(order.size, dtype=np.int32)
    members, member_starts = _members(layers)
    weights = np.unique(layers.weights)
    layout = Layout(
        fed=layers.index,
        starts=layers.starts,
        scales=layers.scales,
        costs=np.searchsorted(weights, layers.weights).astype(np.int64),
        layers=np.repeat(np.arange(len(layers.keys)), layers.sizes).astype(np.int32),
        member_starts=member_starts,
        members=members,
        blocks=found.blocks.astype(np.int32),
        block_starts=found.block_starts,
        orders=orders,
        places=places,
        layer_orders=_layer_orders(found, layers, lasts),
        homes=found.homes.astype(np.int32),
        classes=rules.classes.astype(np.int32),
        profiles=rules.profiles.astype(np.int32),
        allowed=rules.allowed.astype(np.uint8),
        ruled=np.array([rules.forbids], dtype=np.int64),
        least=np.array([least], dtype=np.int64),
    )
    return Problem(found, layers, rules, least, layout)


def _members(layers: Layers) -> tuple[Integers, Int64]:
    """The combinations that feed each control cell, one cell behind the other."""
    members = np.empty(layers.index.size, dtype=np.int32)
    numbers = [np.zeros(1, dtype=np.int64)]
    combinations = layers.index.shape[0]
    for at, size in enumerate(layers.sizes.tolist()):
        cells = np.ascontiguousarray(layers.index[:, at])
        members[at * combinations : (at + 1) * combinations] = np.argsort(cells, kind="stable")
        numbers.append(np.bincount(cells, minlength=size).astype(np.int64))
    return members, np.cumsum(np.concatenate(numbers))


def _layer_orders(found: Combinations, layers: Layers, lasts: tuple[int, ...]) -> Integers:
    """For each layer four orders whose last variable it shows."""
    names = [each.variable.name for each in found.listed.all]
    chosen = np.zeros((len(layers.keys), 4), dtype=np.int32)
    for at, key in enumerate(layers.keys):
        shown = {variable for variable, _ in key}
        fitting = [order for order, last in enumerate(lasts) if names[last] in shown] or [0]
        middle = len(fitting) // 2
        chosen[at] = fitting[0], fitting[-1], fitting[middle], fitting[max(middle - 1, 0)]
    return chosen


def _linked(cells: Int64, counts: Int64) -> tuple[Integers, Integers, Integers]:
    """The units of each combination as a list that is linked both ways."""
    order = np.argsort(cells, kind="stable").astype(np.int32)
    starts = np.append(0, np.cumsum(counts))
    firsts = np.full(counts.size, -1, dtype=np.int32)
    firsts[counts > 0] = order[starts[:-1][counts > 0]]
    following = np.full(cells.size, -1, dtype=np.int32)
    preceding = following.copy()
    together = cells[order[1:]] == cells[order[:-1]]
    following[order[:-1][together]] = order[1:][together]
    preceding[order[1:][together]] = order[:-1][together]
    return firsts, following, preceding
