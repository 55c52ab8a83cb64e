"""Narrowing bounds of unknown numbers by any equations between them, one equation at a time.

What the shuttle does for the sums along the axes of one table, for a sparse matrix: a row keeps
to its own bounds, so each number in it is bounded by what the others can be. Rows wait in a queue
until a number in them changes.
"""

from __future__ import annotations

from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Int64 = npt.NDArray[np.int64]


class Rows(NamedTuple):
    """A matrix of whole numbers by rows and by columns, with bounds of its rows.

    Attributes:
        starts, columns, values: The numbers of each row; behind all, where they end.
        first, rows: For each column the rows that it stands in; behind all, where they end.
        lower, upper: Bounds of each row.
    """

    starts: Int64
    columns: Int64
    values: Int64
    first: Int64
    rows: Int64
    lower: Int64
    upper: Int64


class Narrowed(IntEnum):
    """How a narrowing ended; from ``CONTRADICTION`` on, a row that cannot be kept."""

    SETTLED = -2
    LIMIT = -1
    CONTRADICTION = 0


@compiled
def _reach(
    rows: Rows, row: int, lower: Int64, upper: Int64, unbounded: int
) -> tuple[int, int, int, int]:
    """The least and the most that a row can be, without what has no bound; how much that is."""
    least, most, free_below, free_above = 0, 0, 0, 0
    for at in range(rows.starts[row], rows.starts[row + 1]):
        value, column = rows.values[at], rows.columns[at]
        low, high = lower[column], upper[column]
        if value < 0:
            low, high = high, low
        if -unbounded < low < unbounded:
            least += value * low
        else:
            free_below += 1
        if -unbounded < high < unbounded:
            most += value * high
        else:
            free_above += 1
    return least, most, free_below, free_above


@compiled
def narrow_rows(rows: Rows, lower: Int64, upper: Int64, unbounded: int, visits: int) -> int:
    """Narrow the bounds of whole numbers in place until no row says more.

    Args:
        rows: What adds up.
        lower, upper: Bounds of each number. From ``unbounded`` on, up or down, one says nothing.
        unbounded: A bound that says nothing.
        visits: How many rows are looked at, at most: bounds can creep by one for ever.

    Returns:
        ``SETTLED``, ``LIMIT``, or the number of a row that no numbers within the bounds keep to.
    """
    height = rows.starts.size - 1
    queue = np.arange(height)
    waiting = np.ones(height, dtype=np.bool_)
    head, held = 0, height
    while held and visits > 0:
        row = queue[head]
        head = (head + 1) % height
        held -= 1
        waiting[row] = False
        visits -= 1
        begin, end = rows.starts[row], rows.starts[row + 1]
        least, most, free_below, free_above = _reach(rows, row, lower, upper, unbounded)
        if free_below == 0 and least > rows.upper[row]:
            return int(row)
        if free_above == 0 and most < rows.lower[row]:
            return int(row)
        for at in range(begin, end):
            value, column = rows.values[at], rows.columns[at]
            low, high = lower[column], upper[column]
            down, up = (low, high) if value > 0 else (high, low)
            bounded_down = -unbounded < down < unbounded
            bounded_up = -unbounded < up < unbounded
            changed = False
            # What is left for this number when all others are as small, or as large, as they can.
            if free_below == 0 or (free_below == 1 and not bounded_down):
                left = rows.upper[row] - (least - value * down if bounded_down else least)
                if value > 0 and left // value < high:
                    upper[column] = left // value
                    changed = True
                if value < 0 and -(left // -value) > low:
                    lower[column] = -(left // -value)
                    changed = True
            if free_above == 0 or (free_above == 1 and not bounded_up):
                left = rows.lower[row] - (most - value * up if bounded_up else most)
                if value > 0 and -(-left // value) > low:
                    lower[column] = -(-left // value)
                    changed = True
                if value < 0 and -left // -value < high:
                    upper[column] = -left // -value
                    changed = True
            if not changed:
                continue
            if lower[column] > upper[column]:
                return int(row)
            for place in range(rows.first[column], rows.first[column + 1]):
                other = rows.rows[place]
                # The row itself as well: what is known of its other numbers rests on the old bound.
                if not waiting[other]:
                    waiting[other] = True
                    queue[(head + held) % height] = other
                    held += 1
    return -1 if held else -2
