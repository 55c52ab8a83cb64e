"""A slice of a table: what it costs to change its cells, and how they are changed.

See ``additivity``, which looks for changes that pay. Every margin that holds a cell is changed with
it, and weighed with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: The cost of what is not allowed; sums of two of them still fit.
FAR = 1 << 60
NOT_ALLOWED = 1 << 59

#: A unit of distance outweighs everything by which equally near tables are told apart.
_NEAR = 1 << 20
#: Squares of gaps grow no further than this.
_LARGEST_SQUARE = 64


class Slice(NamedTuple):
    """A slice of a table as the kernels see it.

    Attributes:
        values, target: The table as it stands and as it was published.
        part, weight: What each choice of blocks of the other axes adds to the number of a cell,
            and the weight that it gives to it.
        rows, columns: For each row (column) and block of its axis, what it adds to the number.
        row_shared, column_shared: Which blocks hold all rows (columns) in one code.
        free: Which cells may change.
        noise: What tells equally near tables apart.
    """

    values: Int64
    target: Int64
    part: Int64
    weight: Int64
    rows: Int64
    columns: Int64
    row_shared: Mask
    column_shared: Mask
    free: Mask
    noise: Int64


class Rule(NamedTuple):
    """How much is exchanged at once, which counts are not allowed, how gaps count."""

    step: int
    blocked: int
    square: bool


@compiled
def _capped_square(size: int, most: int) -> int:
    """The square up to ``most``, and a straight line from there on."""
    return size * size if size <= most else 2 * most * size - most * most


@compiled
def _gap_cost(gap: int, step: int, square: bool) -> int:
    """What it costs to change a gap to the published value by ``step``."""
    now, then = abs(gap), abs(gap + step)
    if not square:
        return then - now
    return _capped_square(then, _LARGEST_SQUARE) - _capped_square(now, _LARGEST_SQUARE)


@compiled
def _uneven(change: int, step: int) -> int:
    """How much less evenly changes are spread when that of a cell grows by ``step``."""
    return _capped_square(abs(change + step), 4) - _capped_square(abs(change), 4)


@compiled
def weigh(here: Slice, rule: Rule, more: Int64, less: Int64) -> None:
    """What a step more and a step less cost in each cell of a slice.

    The row and column behind the last stand for the margins of columns and rows. In them "more"
    means that the margin shrinks, so that every row and column of a change adds up to 0; the
    corner, the margin of the whole slice, grows again.
    """
    height, width = here.rows.shape[0], here.columns.shape[0]
    more[: height + 1, : width + 1] = 0
    less[: height + 1, : width + 1] = 0
    for row_block in range(here.rows.shape[1]):
        for column_block in range(here.columns.shape[1]):
            all_rows, all_columns = here.row_shared[row_block], here.column_shared[column_block]
            factor = (2 if row_block else 1) * (2 if column_block else 1) * _NEAR
            for row in range(1 if all_rows else height):
                for column in range(1 if all_columns else width):
                    if not (all_rows or all_columns or here.free[row, column]):
                        continue
                    up, down = 0, 0
                    offset = here.rows[row, row_block] + here.columns[column, column_block]
                    for choice in range(here.part.size):
                        cell = here.part[choice] + offset
                        gap = here.values[cell] - here.target[cell]
                        up += here.weight[choice] * _gap_cost(gap, rule.step, rule.square)
                        down += here.weight[choice] * _gap_cost(gap, -rule.step, rule.square)
                    if all_rows != all_columns:
                        up, down = down, up
                    to_row, to_column = (
                        height if all_rows else row,
                        width if all_columns else column,
                    )
                    more[to_row, to_column] += factor * up
                    less[to_row, to_column] += factor * down
    for row in range(height):
        for column in range(width):
            cell = here.part[0] + here.rows[row, 0] + here.columns[column, 0]
            value, change = here.values[cell], here.values[cell] - here.target[cell]
            if here.free[row, column] and (value > 0 or rule.step > rule.blocked):
                more[row, column] += _uneven(change, rule.step) + here.noise[row, column]
            else:
                more[row, column] = FAR
            left = value - rule.step
            if here.free[row, column] and (left == 0 or left > rule.blocked):
                less[row, column] += _uneven(change, -rule.step) - here.noise[row, column]
            else:
                less[row, column] = FAR


@compiled
def shift(here: Slice, row: int, column: int, change: int, square: bool) -> int:
    """Change an interior cell and every margin that holds it; what that costs."""
    values, target = here.values, here.target
    own = here.part[0] + here.rows[row, 0] + here.columns[column, 0]
    noise = here.noise[row, column]
    cost: int = _uneven(values[own] - target[own], change) + (noise if change > 0 else -noise)
    for row_block in range(here.rows.shape[1]):
        for column_block in range(here.columns.shape[1]):
            factor = (2 if row_block else 1) * (2 if column_block else 1) * _NEAR
            offset = here.rows[row, row_block] + here.columns[column, column_block]
            for choice in range(here.part.size):
                cell = here.part[choice] + offset
                gap = values[cell] - target[cell]
                cost += factor * here.weight[choice] * _gap_cost(gap, change, square)
                values[cell] += change
    return cost
