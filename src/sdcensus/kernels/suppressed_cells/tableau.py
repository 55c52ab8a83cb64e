"""Changes of cells that leave every sum as it is: the farthest one, and the cheapest one.

The simplex method with bounds, on a tableau that is kept from one question to the next. No change
at all is always allowed, so every question has a place to begin, whatever the bounds are. The
tableaus of tables hold small whole numbers, mostly 0, 1 and -1, in which the arithmetic is exact.

A change costs more and more the farther it goes, and in both directions: the cost of a cell has a
bend at 0. At a bend the search goes on for as long as that pays, and exchanges cells where it does
not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

#: The numbers of a tableau are fractions with small denominators: what is so near to one is one.
_PARTS, _ROUNDING = 60.0, 1e-8
#: Smaller numbers of a tableau are none; smaller gains are no gain; lengths that are so near to
#: each other are the same.
_NOTHING, _NO_GAIN, _SAME = 1e-6, 1e-7, 1e-9
#: So many steps in a row that change nothing, and cells are drawn, from a fixed sequence: going
#: round in circles ends.
_STALLED = 5
_MULTIPLIER = np.uint64(6364136223846793005)
#: How a step ends: the cell itself reaches a bound, another one does, or one is at its bend.
_ITSELF, _BOUND, _BEND = 0, 1, 2


class Tableau(NamedTuple):
    """Some cells follow from others: their changes are ``rows`` times the changes of those.

    Attributes:
        rows: For each cell that follows, its share of the change of each cell that is free.
        basic: The cells that follow from others.
        free: The others.
    """

    rows: Float64
    basic: Int64
    free: Int64


class Bends(NamedTuple):
    """Bounds of changes, and what a unit of them costs in both directions.

    Attributes:
        lower, upper: How far a cell can change; 0 lies between them.
        up, down: What a unit costs above 0 and below 0. Never a gain both ways.
    """

    lower: Float64
    upper: Float64
    up: Float64
    down: Float64


@compiled
def eliminate(sums: Float64) -> tuple[Float64, Int64, Int64]:
    """Solve sums, which are 0, for as many cells as possible.

    A cell that a sum takes away is solved for where there is one (the total of its parts).

    Args:
        sums: One row for each sum, over all cells; changed.

    Returns:
        The parts of a ``Tableau``.
    """
    height, width = sums.shape
    pivot = np.full(height, -1, dtype=np.int64)
    solved = np.zeros(width, dtype=np.bool_)
    for row in range(height):
        chosen = -1
        smallest = np.inf
        for column in range(width):
            value = sums[row, column]
            if value == 0.0:
                continue
            size = abs(value) + (0.5 if value > 0 else 0.0)
            if size < smallest:
                smallest, chosen = size, column
        if chosen < 0:
            continue
        pivot[row] = chosen
        solved[chosen] = True
        _clear(sums, row, chosen)
    basic = np.empty(solved.sum(), dtype=np.int64)
    free = np.flatnonzero(~solved)
    rows = np.zeros((basic.size, free.size))
    at = 0
    for row in range(height):
        if pivot[row] >= 0:
            basic[at] = pivot[row]
            for column in range(free.size):
                rows[at, column] = -sums[row, free[column]] + 0.0
            at += 1
    return rows, basic, free


@compiled
def _clear(sums: Float64, row: int, chosen: int) -> None:
    """Make one column 1 in a row and 0 in all others."""
    height = sums.shape[0]
    scale = sums[row, chosen]
    filled = np.flatnonzero(sums[row])
    for column in filled:
        sums[row, column] /= scale
    for other in range(height):
        factor = sums[other, chosen]
        if other == row or factor == 0.0:
            continue
        for column in filled:
            sums[other, column] = _snapped(sums[other, column] - factor * sums[row, column])


@compiled
def _snapped(value: float) -> float:
    """A number of a tableau without what rounding has left in it."""
    if value == np.rint(value):
        return value
    near = np.rint(value * _PARTS) / _PARTS
    return near if abs(value - near) < _ROUNDING else value


@compiled
def minimise(tableau: Tableau, bends: Bends, values: Float64, most: int) -> int:
    """Change cells, in place, so that they cost as little as possible.

    Args:
        tableau: Which cells follow from which; changed, and as good as before for other questions.
        bends: Bounds and costs.
        values: The change of each cell; all 0 at the beginning.
        most: The most steps.

    Returns:
        How many steps it took; ``most`` where that was not enough.
    """
    rows, basic, free = tableau
    up, down = bends.up, bends.down
    positive = np.ones(values.size, dtype=np.bool_)
    prices = np.zeros(free.size)
    for at in range(basic.size):
        slope = up[basic[at]]
        if slope != 0.0:
            for column in range(free.size):
                prices[column] += slope * rows[at, column]
    stalled = 0
    for step in range(most):
        drawn = np.uint64(step if stalled > _STALLED else 0)
        column, direction, rate = _best(free, bends, values, prices, drawn)
        if column < 0:
            return step
        moved = False
        while True:
            ends, at, length = _length(tableau, bends, values, positive, column, direction)
            if length == np.inf:
                return most
            moved = moved or length > 0.0
            _move(tableau, values, column, direction * length)
            if ends == _ITSELF:
                _settle(bends, values, free[column], direction)
                break
            cell = basic[at]
            share = rows[at, column] * direction
            _settle(bends, values, cell, share, ends == _BEND)
            if ends == _BEND:
                bend = up[cell] + down[cell]
                rate += abs(share) * bend
                if rate < -_NO_GAIN:
                    positive[cell] = share > 0
                    turned = bend if share > 0 else -bend
                    for other in range(free.size):
                        prices[other] += turned * rows[at, other]
                    continue
            _exchange(tableau, bends, values, positive, prices, at, column, direction)
            break
        stalled = 0 if moved else stalled + 1
    return most


@compiled
def _best(
    free: Int64, bends: Bends, values: Float64, prices: Float64, drawn: np.uint64
) -> tuple[int, float, float]:
    """The cell whose change gains most, with its direction; with a draw, one of those that gain."""
    lower, upper, up, down = bends
    best, column, direction, chosen = 0.0, -1, 0.0, 0.0
    for at in range(free.size):
        cell = free[at]
        value = values[cell]
        for sign in (1.0, -1.0):
            if sign > 0:
                if value >= upper[cell]:
                    continue
                rate = (up[cell] if value >= 0 else -down[cell]) + prices[at]
            else:
                if value <= lower[cell]:
                    continue
                rate = (down[cell] if value <= 0 else -up[cell]) - prices[at]
            if rate >= -_NO_GAIN:
                continue
            weight = -rate
            if drawn:
                word = (np.uint64(cell) + drawn) * _MULTIPLIER
                weight *= float((word ^ (word >> np.uint64(31))) >> np.uint64(43)) + 1.0
            if weight > best or (weight == best and cell < free[column]):
                best, column, direction, chosen = weight, at, sign, rate
    return column, direction, chosen


@compiled
def _length(
    tableau: Tableau,
    bends: Bends,
    values: Float64,
    positive: npt.NDArray[np.bool_],
    column: int,
    direction: float,
) -> tuple[int, int, float]:
    """How far a free cell can go, and what ends its way."""
    rows, basic, free = tableau
    lower, upper, up, down = bends
    cell = free[column]
    value = values[cell]
    if direction > 0:
        goal = upper[cell] if value >= 0 or up[cell] + down[cell] == 0 else 0.0
    else:
        goal = lower[cell] if value <= 0 or up[cell] + down[cell] == 0 else 0.0
    length, ends, chosen, size, fixed = abs(goal - value), _ITSELF, -1, 0.0, False
    for at in range(basic.size):
        share = rows[at, column] * direction
        if abs(share) < _NOTHING:
            continue
        cell = basic[at]
        value = values[cell]
        bent = up[cell] + down[cell] > 0
        if share > 0:
            kind = _BEND if bent and not positive[cell] and upper[cell] > 0 else _BOUND
            goal = 0.0 if kind == _BEND else upper[cell]
        else:
            kind = _BEND if bent and positive[cell] and lower[cell] < 0 else _BOUND
            goal = 0.0 if kind == _BEND else lower[cell]
        way = max((goal - value) / share, 0.0)
        if way > length + _SAME:
            continue
        # Cells that can never change leave first: they do not come back.
        never = lower[cell] == upper[cell]
        if way >= length - _SAME and (
            chosen < 0
            or fixed > never
            or (fixed == never and (size, -basic[chosen]) > (abs(share), -cell))
        ):
            continue
        length, ends, chosen, size, fixed = way, kind, at, abs(share), never
    return ends, chosen, length


@compiled
def _move(tableau: Tableau, values: Float64, column: int, change: float) -> None:
    rows, basic, free = tableau
    if change == 0.0:
        return
    values[free[column]] = _snapped(values[free[column]] + change)
    for at in range(basic.size):
        share = rows[at, column]
        if share != 0.0:
            values[basic[at]] = _snapped(values[basic[at]] + share * change)


@compiled
def _settle(bends: Bends, values: Float64, cell: int, direction: float, bend: bool = False) -> None:
    """Put a cell exactly where its way ends."""
    if bend:
        values[cell] = 0.0
        return
    goal = bends.upper[cell] if direction > 0 else bends.lower[cell]
    # A free cell may have stopped at its bend.
    values[cell] = goal if abs(values[cell] - goal) < abs(values[cell]) else 0.0


@compiled
def _exchange(
    tableau: Tableau,
    bends: Bends,
    values: Float64,
    positive: npt.NDArray[np.bool_],
    prices: Float64,
    at: int,
    column: int,
    direction: float,
) -> None:
    """Let a cell follow that was free, and the other way round."""
    rows, basic, free = tableau
    up, down = bends.up, bends.down
    leaving, entering = basic[at], free[column]
    slope = up[leaving] if positive[leaving] else -down[leaving]
    row = rows[at]
    if slope != 0.0:
        for other in range(free.size):
            prices[other] -= slope * row[other]
    scale = row[column]
    filled = np.empty(free.size, dtype=np.int64)
    count = 0
    for other in range(free.size):
        if other != column and row[other] != 0.0:
            row[other] = -row[other] / scale
            filled[count] = other
            count += 1
    row[column] = 1.0 / scale
    for line in range(basic.size):
        factor = rows[line, column]
        if line == at or factor == 0.0:
            continue
        for place in range(count):
            other = filled[place]
            rows[line, other] = _snapped(rows[line, other] + factor * row[other])
        rows[line, column] = _snapped(factor * row[column])
    factor = prices[column]
    for place in range(count):
        prices[filled[place]] += factor * row[filled[place]]
    prices[column] = factor * row[column]
    value = values[entering]
    positive[entering] = value > 0 or (value == 0 and direction > 0)
    slope = up[entering] if positive[entering] else -down[entering]
    for other in range(free.size):
        prices[other] += slope * row[other]
    basic[at], free[column] = entering, leaving
