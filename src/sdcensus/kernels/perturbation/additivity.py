"""Making a table add up by exchanging units between its interior cells.

Margins are sums all the time: only interior cells are changed, and every margin that holds them is
changed with them. What is looked for are changes that bring the table nearer to what was
published, all cells and margins weighed together.

A slice is a part of the table along two axes: rows times columns of interior cells, the other axes
at one code each. A unit more in one cell can be made good by a unit less in another one of its row,
that by a unit more elsewhere in the column, and so on; what is not made good changes a margin.
Write the margins of the slice as one more row and one more column. Then every change is a set of
cycles: from column to column through a row, until it is back. The cheapest row between any two
columns gives a small graph, in which a cycle of negative cost is a change that pays. For a simple
table with two axes these are all changes there are; for others, slices along all pairs of axes are
visited again and again.

Whole numbers only, and no clock: the outcome is the same on every machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.perturbation.slices import FAR, NOT_ALLOWED, Rule, Slice, shift, weigh

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

#: The most rows, and the most columns, of a slice.
LONGEST_RUN = 32

_30, _27, _31, _32 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(32)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_THREE_BITS = np.uint64(7)


class Grid(NamedTuple):
    """Where the cells of a table lie, axis by axis, in the order in which they are visited.

    Attributes:
        sizes: How many base groups each axis has; there are at least two axes.
        blocks: How many blocks (levels, total) each axis shows, the base groups among them.
        offsets: For each axis, block and base group, what the code of the block that holds the
            group adds to the number of a cell. Block 0 are the base groups themselves.
        salts: For each axis and base group a number of its own, from which draws are made.
    """

    sizes: Int64
    blocks: Int64
    offsets: Int64
    salts: UInt64


class ExchangeRuns(NamedTuple):
    """Base groups of one axis in runs of at most ``LONGEST_RUN``: rows or columns of slices.

    Attributes:
        members: The base groups, run after run.
        starts: Where each run begins, and behind it where all end.
        shared: For each run and block, whether all its groups lie in one code of the block.
    """

    members: Int64
    starts: Int64
    shared: Mask


def exchange(
    values: Int64,
    target: Int64,
    grid: Grid,
    axes: tuple[int, int],
    runs: tuple[ExchangeRuns, ExchangeRuns],
    *,
    step: int = 1,
    blocked: int = 0,
    square: bool = False,
    draw: int = 0,
) -> int:
    """Make every change that pays in the slices along two axes; how many there were.

    Args:
        values: The table as it stands, flat, margins included; changed in place.
        target: The table as it was published. Interior cells that are 0 there stay as they are.
        grid: Where cells lie.
        axes: The axis of the rows and the axis of the columns.
        runs: Their base groups in runs.
        step: How many units are exchanged at once.
        blocked: Interior cells are 0 or above this.
        square: Whether gaps count by their squares: large ones are then mended first, which is a
            better start. Otherwise they count as they are.
        draw: Tables that are equally near are told apart by how evenly changes are spread and,
            unless this is 0, by a draw of that number; so the search can leave a place where
            nothing pays.
    """
    rule = Rule(step, blocked, square)
    return int(_exchange(values, target, grid, *axes, *runs, rule, draw))


def scattered(words: UInt64) -> UInt64:
    """Numbers spread over all 64 bits (the last steps of splitmix64)."""
    words = (words ^ (words >> _30)) * _MIX1
    words = (words ^ (words >> _27)) * _MIX2
    return words ^ (words >> _31)


@compiled
def _scattered(word: np.uint64) -> np.uint64:
    word = (word ^ (word >> _30)) * _MIX1
    word = (word ^ (word >> _27)) * _MIX2
    return word ^ (word >> _31)


@compiled
def _exchange(
    values: Int64,
    target: Int64,
    grid: Grid,
    row_axis: int,
    column_axis: int,
    row_runs: ExchangeRuns,
    column_runs: ExchangeRuns,
    rule: Rule,
    draw: int,
) -> int:
    sizes, blocks, offsets = grid.sizes, grid.blocks, grid.offsets
    slices, sums = 1, 1
    for axis in range(sizes.size):
        if axis != row_axis and axis != column_axis:
            slices *= sizes[axis]
            sums *= blocks[axis]
    place = np.zeros(sizes.size, dtype=np.int64)
    part = np.zeros(sums, dtype=np.int64)
    weight = np.ones(sums, dtype=np.int64)
    side = LONGEST_RUN + 1
    more = np.zeros((side, side), dtype=np.int64)
    less = np.zeros((side, side), dtype=np.int64)
    graph = np.zeros((4, side, side), dtype=np.int64)
    free = np.zeros((side, side), dtype=np.bool_)
    noise = np.zeros((side, side), dtype=np.int64)
    changes = 0
    for _ in range(slices):
        salt = np.uint64(draw) * _GOLDEN + _over_others(
            grid, row_axis, column_axis, place, part, weight
        )
        for row_run in range(row_runs.starts.size - 1):
            row_members = row_runs.members[row_runs.starts[row_run] : row_runs.starts[row_run + 1]]
            rows = _gathered(offsets[row_axis], blocks[row_axis], row_members)
            for column_run in range(column_runs.starts.size - 1):
                first, last = column_runs.starts[column_run], column_runs.starts[column_run + 1]
                column_members = column_runs.members[first:last]
                columns = _gathered(offsets[column_axis], blocks[column_axis], column_members)
                here = Slice(
                    values,
                    target,
                    part,
                    weight,
                    rows,
                    columns,
                    row_runs.shared[row_run],
                    column_runs.shared[column_run],
                    free,
                    noise,
                )
                row_salts = grid.salts[row_axis][row_members] + salt
                column_salts = grid.salts[column_axis][column_members]
                if _opened(here, row_salts, column_salts, draw) == 0:
                    continue
                turn = np.int64(_scattered(salt + np.uint64(row_run)) >> _32)
                while True:
                    weigh(here, rule, more, less)
                    _connect(more, less, rows.shape[0], columns.shape[0], turn, graph)
                    paying = _change(here, rule, graph)
                    if paying == 0:
                        break
                    changes += paying
        _go_on(sizes, row_axis, column_axis, place)
    return changes


@compiled
def _over_others(
    grid: Grid, row_axis: int, column_axis: int, place: Int64, part: Int64, weight: Int64
) -> np.uint64:
    """The margins over the other axes, one for each choice of their blocks; the salt of the place.

    Args:
        grid: Where cells lie.
        row_axis, column_axis: The axes of the slice.
        place: The base group of each other axis.
        part, weight: Are filled for every choice of blocks; see ``Slice``.
    """
    known = 1
    part[0], weight[0] = 0, 1
    salt = np.uint64(0)
    for axis in range(grid.sizes.size):
        if axis != row_axis and axis != column_axis:
            salt += grid.salts[axis, place[axis]]
            for block in range(grid.blocks[axis] - 1, -1, -1):
                offset = grid.offsets[axis, block, place[axis]]
                for choice in range(known):
                    part[block * known + choice] = part[choice] + offset
                    weight[block * known + choice] = weight[choice] * (2 if block else 1)
            known *= grid.blocks[axis]
    return salt


@compiled
def _opened(here: Slice, row_salts: UInt64, column_salts: UInt64, draw: int) -> int:
    """Which cells of a slice may change, with their draws; how many there are."""
    count = 0
    for row in range(row_salts.size):
        for column in range(column_salts.size):
            cell = here.part[0] + here.rows[row, 0] + here.columns[column, 0]
            here.free[row, column] = here.target[cell] != 0
            count += here.free[row, column]
            drawn = _scattered(row_salts[row] + column_salts[column]) & _THREE_BITS
            here.noise[row, column] = np.int64(drawn) if draw else 0
    return count


@compiled
def _go_on(sizes: Int64, row_axis: int, column_axis: int, place: Int64) -> None:
    """The next base groups of the other axes, the last axis fastest."""
    for axis in range(sizes.size - 1, -1, -1):
        if axis != row_axis and axis != column_axis:
            place[axis] += 1
            if place[axis] < sizes[axis]:
                break
            place[axis] = 0


@compiled
def _gathered(offsets: Int64, blocks: int, members: Int64) -> Int64:
    """What each member of a run adds to the number of a cell, block by block."""
    result = np.empty((members.size, blocks), dtype=np.int64)
    for at in range(members.size):
        for block in range(blocks):
            result[at, block] = offsets[block, members[at]]
    return result


@compiled
def _connect(
    more: Int64, less: Int64, height: int, width: int, turn: np.int64, graph: Int64
) -> None:
    """The cheapest row through which a step can go from one column to another."""
    cost, via = graph[0], graph[1]
    cost[: width + 1, : width + 1] = FAR
    for number in range(height + 1):
        # Rows are tried in turn from another one in every slice, or ties would all go to the first.
        row = (number + turn) % (height + 1)
        for start in range(width + 1):
            if less[row, start] < NOT_ALLOWED:
                for end in range(width + 1):
                    through = less[row, start] + more[row, end]
                    if start != end and through < cost[start, end]:
                        cost[start, end] = through
                        via[start, end] = row


@compiled
def _change(here: Slice, rule: Rule, graph: Int64) -> int:
    """Make the changes of two columns that pay, or else one of several columns."""
    cost, via = graph[0], graph[1]
    width = here.columns.shape[0]
    path = np.zeros(width + 2, dtype=np.int64)
    used = np.zeros(width + 1, dtype=np.bool_)
    changes = 0
    for first in range(width + 1):
        for other in range(first):
            if used[first] or used[other] or cost[first, other] + cost[other, first] >= 0:
                continue
            path[0], path[1] = first, other
            if _apply(here, rule, via, path, 2):
                changes += 1
                # Margins may take part several times; a column has to be weighed again first.
                used[first], used[other] = first < width, True
    if changes == 0 and width > 1:
        length = _cycle(graph, width + 1, path)
        if length and _apply(here, rule, via, path, length):
            changes = 1
    return changes


@compiled
def _cycle(graph: Int64, size: int, path: Int64) -> int:
    """The first cycle of negative cost that Floyd and Warshall's algorithm meets; its length."""
    cost, best, after = graph[0], graph[2], graph[3]
    for start in range(size):
        for end in range(size):
            best[start, end], after[start, end] = cost[start, end], end
        best[start, start] = 0
    for middle in range(size):
        for start in range(size):
            if best[start, middle] >= NOT_ALLOWED:
                continue
            for end in range(size):
                through = best[start, middle] + best[middle, end]
                if through < best[start, end]:
                    best[start, end] = through
                    after[start, end] = after[start, middle]
                    if start == end:
                        return _traced(after, start, size, path)
    return 0


@compiled
def _traced(after: Int64, start: int, size: int, path: Int64) -> int:
    """Write down a cycle; its length, or 0 if it does not come back."""
    at = start
    for length in range(size):
        path[length] = at
        at = after[at, start]
        if at == start:
            return length + 1
    return 0


@compiled
def _apply(here: Slice, rule: Rule, via: Int64, path: Int64, length: int) -> bool:
    """Go along a cycle; go back if it does not pay after all.

    Costs of cells add up only as long as a change meets each of them, and each margin, once.
    """
    cost, allowed = _walk(here, rule, via, path, length, rule.step)
    if cost < 0 and allowed:
        return True
    _walk(here, rule, via, path, length, -rule.step)
    return False


@compiled
def _walk(
    here: Slice, rule: Rule, via: Int64, path: Int64, length: int, step: int
) -> tuple[int, bool]:
    """Go along a cycle; what that costs, and whether no cell is left with what is not allowed."""
    height, width = here.rows.shape[0], here.columns.shape[0]
    cost = 0
    for number in range(length):
        start, end = path[number], path[(number + 1) % length]
        row = via[start, end]
        if row < height and start < width:
            cost += shift(here, row, start, -step, rule.square)
        if row < height and end < width:
            cost += shift(here, row, end, step, rule.square)
    allowed = True
    for number in range(length):
        start, end = path[number], path[(number + 1) % length]
        row = via[start, end]
        for column in (start, end):
            if row < height and column < width:
                value = here.values[here.part[0] + here.rows[row, 0] + here.columns[column, 0]]
                allowed = allowed and (value == 0 or value > rule.blocked)
    return cost, allowed
