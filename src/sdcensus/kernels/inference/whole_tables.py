"""Looking for tables of whole numbers whose sums keep to bounds, by changing one cell at a time.

A sum that leaves its bounds is taken, and the cell in it is changed that makes the least trouble
for other sums. A sum for which that does not help counts more from then on, so that the search
does not go round in circles. It finds tables quickly where there are many; it proves nothing where
it finds none.

No clock, and draws from a fixed sequence: the outcome is the same on every machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Int64 = npt.NDArray[np.int64]

_MULTIPLIER, _INCREMENT = np.uint64(6364136223846793005), np.uint64(1442695040888963407)
_HIGH_BITS = np.uint64(33)


class Sums(NamedTuple):
    """Which cells each sum adds up, and which sums each cell is in. A cell alone is a sum too.

    Attributes:
        starts, cells: Where the cells of each sum begin in ``cells``, and behind it where all end.
        first, sums: Where the sums of each cell begin in ``sums``, and behind it where all end.
    """

    starts: Int64
    cells: Int64
    first: Int64
    sums: Int64


class CellBounds(NamedTuple):
    """Bounds of cells and of sums."""

    least: Int64
    most: Int64
    lower: Int64
    upper: Int64


@compiled
def repair(values: Int64, sums: Sums, bounds: CellBounds, steps: int) -> bool:
    """Change whole numbers one at a time, in place, until every sum keeps to its bounds.

    Args:
        values: The cells; all lie between their own bounds.
        sums: What adds up.
        bounds: What is to be kept to.
        steps: The most cells that are looked at.

    Returns:
        Whether every sum keeps to its bounds.
    """
    totals = _add(values, sums)
    wrong = np.empty(totals.size, dtype=np.int64)
    where = np.full(totals.size, -1, dtype=np.int64)
    weight = np.ones(totals.size, dtype=np.int64)
    size = 0
    for one in range(totals.size):
        if totals[one] < bounds.lower[one] or totals[one] > bounds.upper[one]:
            wrong[size], where[one] = one, size
            size += 1
    return _search(values, totals, sums, bounds, wrong, where, size, weight, steps)


@compiled
def reach(
    values: Int64,
    sums: Sums,
    bounds: CellBounds,
    asked: Int64,
    smallest: Int64,
    largest: Int64,
    steps: int,
) -> None:
    """From a table that keeps to all bounds, look for others in which sums are at their bounds.

    Args:
        values: The table; afterwards another one that keeps to all bounds.
        sums: What adds up.
        bounds: What is kept to.
        asked: The sums that should be at each of their bounds.
        smallest, largest: For every sum, the smallest and the largest that was found; filled in.
        steps: The most cells that are looked at for each bound.
    """
    totals = _add(values, sums)
    kept, kept_totals = values.copy(), totals.copy()
    wrong = np.empty(totals.size, dtype=np.int64)
    where = np.full(totals.size, -1, dtype=np.int64)
    weight = np.ones(totals.size, dtype=np.int64)
    lower, upper = bounds.lower.copy(), bounds.upper.copy()
    now = CellBounds(bounds.least, bounds.most, lower, upper)
    _note(totals, smallest, largest)
    for one in asked:
        for below in (True, False):
            goal = bounds.lower[one] if below else bounds.upper[one]
            if (smallest[one] if below else largest[one]) == goal:
                continue
            lower[one] = upper[one] = goal
            wrong[0], where[one] = one, 0
            weight[:] = 1
            if _search(values, totals, sums, now, wrong, where, 1, weight, steps):
                _note(totals, smallest, largest)
                kept[:], kept_totals[:] = values, totals
            else:
                values[:], totals[:] = kept, kept_totals
                where[:] = -1
            lower[one], upper[one] = bounds.lower[one], bounds.upper[one]


@compiled
def _add(values: Int64, sums: Sums) -> Int64:
    totals = np.zeros(sums.starts.size - 1, dtype=np.int64)
    for one in range(totals.size):
        for at in range(sums.starts[one], sums.starts[one + 1]):
            totals[one] += values[sums.cells[at]]
    return totals


@compiled
def _note(totals: Int64, smallest: Int64, largest: Int64) -> None:
    for one in range(totals.size):
        smallest[one] = min(smallest[one], totals[one])
        largest[one] = max(largest[one], totals[one])


@compiled
def _search(
    values: Int64,
    totals: Int64,
    sums: Sums,
    bounds: CellBounds,
    wrong: Int64,
    where: Int64,
    size: int,
    weight: Int64,
    steps: int,
) -> bool:
    """Go on until no sum is wrong.

    Args:
        values, totals: The cells and their sums.
        sums, bounds: What adds up, and within what.
        wrong, size: The sums that leave their bounds, in the first ``size`` places.
        where: The place of each sum in ``wrong``; -1 if it is not there.
        weight: How much a sum counts.
        steps: The most cells that are looked at.
    """
    lower, upper = bounds.lower, bounds.upper
    state = np.uint64(1)
    while size and steps > 0:
        state = state * _MULTIPLIER + _INCREMENT
        row = wrong[int(state >> _HIGH_BITS) % size]
        # Far from its bounds a sum goes a quarter of the way at once, near them by ones.
        far = max(lower[row] - totals[row], totals[row] - upper[row]) // 4
        step = max(far, 1) if totals[row] < lower[row] else -max(far, 1)
        best, chosen, equal, by = 0, -1, 0, 0
        for at in range(sums.starts[row], sums.starts[row + 1]):
            cell = sums.cells[at]
            room = min(max(values[cell] + step, bounds.least[cell]), bounds.most[cell])
            change = room - values[cell]
            if change == 0:
                continue
            trouble = 0
            for other in range(sums.first[cell], sums.first[cell + 1]):
                one = sums.sums[other]
                total = totals[one]
                before = max(total - upper[one], lower[one] - total, 0)
                after = max(total + change - upper[one], lower[one] - total - change, 0)
                trouble += (after - before) * weight[one]
            if chosen < 0 or trouble < best:
                best, chosen, equal, by = trouble, cell, 1, change
            elif trouble == best:
                equal += 1
                state = state * _MULTIPLIER + _INCREMENT
                if int(state >> _HIGH_BITS) % equal == 0:
                    chosen, by = cell, change
        steps -= sums.starts[row + 1] - sums.starts[row] + 1
        if chosen < 0:
            return False
        if best >= 0:
            weight[row] += 1
        values[chosen] += by
        for other in range(sums.first[chosen], sums.first[chosen + 1]):
            one = sums.sums[other]
            totals[one] += by
            if totals[one] < lower[one] or totals[one] > upper[one]:
                if where[one] < 0:
                    wrong[size], where[one] = one, size
                    size += 1
            elif where[one] >= 0:
                size -= 1
                last = wrong[size]
                wrong[where[one]], where[last] = last, where[one]
                where[one] = -1
    return size == 0
