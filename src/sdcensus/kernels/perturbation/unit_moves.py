"""The change of tables, unit by unit: sets of records grow and shrink until nothing is gained.

Every set of records is counted in some cells. One unit more in a set is one unit more in each of
them, so whatever is done here, sums stay sums. What a change of a cell costs is convex: it grows
with the distance from 0, and steeply outside the bounds of the cell. All of it in whole numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Int64 = npt.NDArray[np.int64]


class Membership(NamedTuple):
    """Which sets of records are counted in which cells, both ways.

    Attributes:
        starts, cells: The cells of set ``at`` are ``cells[starts[at] : starts[at + 1]]``.
        cell_starts, sets: The sets of a cell, likewise.
    """

    starts: Int64
    cells: Int64
    cell_starts: Int64
    sets: Int64


class ChangeCosts(NamedTuple):
    """What the change of each cell costs.

    Attributes:
        weight: For one unit inside the bounds, away from 0.
        least, most: The bounds.
        penalty: For one unit outside of the bounds.
    """

    weight: Int64
    least: Int64
    most: Int64
    penalty: int


def moved_units(
    member: Membership,
    costs: ChangeCosts,
    start: Int64,
    *,
    order: Int64,
    rounds: int,
    longest: int,
) -> Int64:
    """The change of every set, from a start on, after moves that each lower the costs.

    A move is one unit more or less in a set, or in two sets that share a cell.

    Args:
        member: Which sets are counted in which cells.
        costs: What the change of a cell costs.
        start: The change of every set to begin with.
        order: In which order sets are looked at.
        rounds: How often all of them are looked at, at most.
        longest: Pairs are looked for in cells of at most so many sets.
    """
    change = start.astype(np.int64).copy()
    cells = np.zeros(costs.weight.size, dtype=np.int64)
    np.add.at(cells, member.cells, np.repeat(change, np.diff(member.starts)))
    _descend(
        *member,
        costs.weight,
        costs.least,
        costs.most,
        costs.penalty,
        change,
        cells,
        order.astype(np.int64),
        rounds,
        longest,
    )
    return change


@compiled
def _cost(value: int, weight: int, least: int, most: int, penalty: int) -> int:
    """What the change of one cell costs."""
    cost = weight * abs(value)
    if value < least:
        cost += penalty * (least - value)
    elif value > most:
        cost += penalty * (value - most)
    return cost


@compiled
def _gain(
    at: int,
    sign: int,
    starts: Int64,
    cells: Int64,
    weight: Int64,
    least: Int64,
    most: Int64,
    penalty: int,
    values: Int64,
) -> int:
    """By how much costs change if a set has one unit more or less."""
    total = 0
    for place in range(starts[at], starts[at + 1]):
        cell = cells[place]
        value = values[cell]
        total += _cost(value + sign, weight[cell], least[cell], most[cell], penalty)
        total -= _cost(value, weight[cell], least[cell], most[cell], penalty)
    return total


@compiled
def _put(at: int, sign: int, starts: Int64, cells: Int64, change: Int64, values: Int64) -> None:
    change[at] += sign
    for place in range(starts[at], starts[at + 1]):
        values[cells[place]] += sign


@compiled
def _descend(
    starts: Int64,
    cells: Int64,
    cell_starts: Int64,
    sets: Int64,
    weight: Int64,
    least: Int64,
    most: Int64,
    penalty: int,
    change: Int64,
    values: Int64,
    order: Int64,
    rounds: int,
    longest: int,
) -> None:
    for turn in range(rounds):
        moved = False
        for at in order:
            for sign in (1, -1):
                while _gain(at, sign, starts, cells, weight, least, most, penalty, values) < 0:
                    _put(at, sign, starts, cells, change, values)
                    moved = True
        if moved and turn == 0:
            continue  # single moves first: pairs take longer
        for at in order:
            for sign in (1, -1):
                first = _gain(at, sign, starts, cells, weight, least, most, penalty, values)
                _put(at, sign, starts, cells, change, values)
                best, other, other_sign = 0, -1, 0
                for place in range(starts[at], starts[at + 1]):
                    cell = cells[place]
                    if cell_starts[cell + 1] - cell_starts[cell] > longest:
                        continue
                    for neighbour in range(cell_starts[cell], cell_starts[cell + 1]):
                        near = sets[neighbour]
                        if near == at:
                            continue
                        for second in (1, -1):
                            gain = first + _gain(
                                near, second, starts, cells, weight, least, most, penalty, values
                            )
                            if gain < best:
                                best, other, other_sign = gain, near, second
                if other >= 0:
                    _put(other, other_sign, starts, cells, change, values)
                    moved = True
                else:
                    _put(at, -sign, starts, cells, change, values)
        if not moved:
            return
