"""Prices of sums: how cheap a rounding can be at best, and where the best fractions lie.

Give every sum a price. What a cell costs then depends on its own steps and on the prices of the
sums that it is part of, and the cheapest steps of all cells are found one by one. Whatever the
prices, no rounding that adds up costs less than those: a proven bound, in whole numbers. Prices are
made better again and again by the volume algorithm (Barahona and Anbil), which also leaves behind
an average of the cheapest steps: nearly the best table of fractions that adds up.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.controlled_rounding.costs import CellCosts

Int64 = npt.NDArray[np.int64]

#: Prices are multiples of one part in so many of a unit of cost, averages of one in so many steps.
PRICE_SCALE = 1 << 12
STEP_SCALE = 1 << 14
#: How much is taken of the way to the goal, at first and at most; after so many rounds without
#: a better bound it becomes less.
_START, _MOST, _LESS, _MORE, _PATIENCE = 0.5, 2.0, 0.67, 1.3, 10
#: Squares of gaps are added up in sixteenths of a step, which is exact enough.
_SIXTEENTH = STEP_SCALE // 16
_COARSE = _SIXTEENTH * _SIXTEENTH / STEP_SCALE
#: The goal lies above the best bound by this share of what is usual.
_GOAL = 0.05


class SumLists(NamedTuple):
    """What adds up: cells by sums, and sums by cells.

    Attributes:
        starts, cells, signs: The cells of each sum, 1 for parts and -1 for the total.
        first, sums, turned: The sums of each cell, and the cell's sign in them.
        wanted: What the steps of each sum have to come to.
    """

    starts: Int64
    cells: Int64
    signs: Int64
    first: Int64
    sums: Int64
    turned: Int64
    wanted: Int64


def first_share(newest: int) -> float:
    """How much is taken of the way at first: the finer the search, the less."""
    return _START * 100 / (newest * newest)


@compiled
def improve_prices(
    lists: SumLists,
    costs: CellCosts,
    prices: Int64,
    average: Int64,
    rounds: int,
    newest: int,
    share: float,
    usual: int,
) -> tuple[int, float]:
    """Make prices better for some rounds.

    Args:
        lists: What adds up.
        costs: What steps cost; penalties are no part of it, cells keep to their bounds.
        prices: The prices, times ``PRICE_SCALE``; afterwards the best that were found.
        average: The average of the cheapest steps, times ``STEP_SCALE``; changed in place.
        rounds: How many; with 0, at the beginning, the average is set and nothing else is done.
        newest: The newest steps make up one part in so many of the average. The more, the finer
            and slower the search.
        share: How much is taken of the way to the goal, as the call before left it; see
            ``first_share``.
        usual: About what all cells cost together, counted from their true counts; how far prices
            are changed at once follows from it.

    Returns:
        What no rounding costs less than, times ``PRICE_SCALE``; and the share for the next call.
    """
    best_prices = prices.copy()
    steps = np.zeros(average.size, dtype=np.int64)
    best = _cheapest_steps(lists, costs, prices, steps)
    if rounds == 0:
        average[:] = steps * STEP_SCALE
    idle = 0
    gaps = np.empty(prices.size, dtype=np.int64)
    for _ in range(rounds):
        norm = _gaps(lists, average, gaps)
        if norm == 0:
            break
        scale = share * max(usual * PRICE_SCALE * _GOAL, 1.0) / (norm * _COARSE)
        for row in range(prices.size):
            prices[row] = best_prices[row] + np.int64(np.rint(scale * gaps[row]))
        bound = _cheapest_steps(lists, costs, prices, steps)
        for cell in range(steps.size):
            average[cell] += (steps[cell] * STEP_SCALE - average[cell]) // newest
        if bound > best:
            best = bound
            best_prices[:] = prices
            idle = 0
            share = min(share * _MORE, _MOST)
        else:
            idle += 1
            if idle == _PATIENCE:
                share *= _LESS
                idle = 0
    prices[:] = best_prices
    return best, share


@compiled
def _cheapest_steps(lists: SumLists, costs: CellCosts, prices: Int64, steps: Int64) -> int:
    """For given prices the cheapest steps of each cell, and what they cost with all prices."""
    total = 0
    for row in range(prices.size):
        total += prices[row] * lists.wanted[row]
    for cell in range(steps.size):
        paid = 0
        for at in range(lists.first[cell], lists.first[cell + 1]):
            paid += prices[lists.sums[at]] * lists.turned[at]
        rise, step = costs.rise[cell] * PRICE_SCALE, costs.step[cell] * PRICE_SCALE
        low, high = costs.low[cell], costs.high[cell]
        # The slopes are -step, rise at 0, and step: go up as long as a step pays.
        best = 0
        if paid < -step:
            best = low
        elif paid > step:
            best = high
        elif paid > rise:
            best = 1
        best = min(max(best, low), high)
        steps[cell] = best
        cost = -best * step
        if best > 0:
            cost = rise + (best - 1) * step
        total += cost - paid * best
    return total


@compiled
def _gaps(lists: SumLists, average: Int64, gaps: Int64) -> int:
    """By how much the average misses each sum, and the squares of that added up, coarsely.

    In whole numbers: the order of sums must not matter.
    """
    norm = 0
    for row in range(gaps.size):
        gap = lists.wanted[row] * STEP_SCALE
        for at in range(lists.starts[row], lists.starts[row + 1]):
            gap -= lists.signs[at] * average[lists.cells[at]]
        gaps[row] = gap
        norm += (gap // _SIXTEENTH) ** 2
    return norm
