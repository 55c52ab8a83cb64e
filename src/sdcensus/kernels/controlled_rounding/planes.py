"""Better roundings of tables with many axes, found plane by plane.

A plane is a part of a table along two axes, its rows and its columns, with one or two codes on each
other axis: what is added at one code is taken away at the other, and totals over both stay as they
are; with one code alone, totals go with it. A row is a base group together with the codes above it
that no other row of the plane is part of; the codes above all rows are one more row. The same holds
for columns. So a plane is a simple table of changes with its margins, a network in which every cell
of the plane is an arc. A cycle of negative cost is a change that pays; all sums stay right all the
time.

For a table with two simple axes these are all changes there are. For others, planes along all pairs
of axes are visited again and again. Where nothing pays any more, costs are disturbed a little, and
less and less: the search leaves a place where it is stuck. Costs can also pull towards a table of
fractions, which others have found.

Whole numbers only, no clock, and draws from a fixed sequence: the outcome is the same on every
machine.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.controlled_rounding.costs import CellCosts, more
from sdcensus.kernels.controlled_rounding.plane_places import (
    IMPOSSIBLE,
    Stars,
    Tables,
    others,
    side,
)
from sdcensus.kernels.controlled_rounding.prices import STEP_SCALE

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]

#: What nobody pays; arcs of up to a hundred cells can be added up without an overflow.
_NEVER = 1 << 55
_HARDLY = 1 << 54
#: Disturbances are multiples of one part in so many of the largest.
_NOISE_BITS = 20

_30, _27, _31, _44 = np.uint64(30), np.uint64(27), np.uint64(31), np.uint64(44)
_MIX1, _MIX2 = np.uint64(0xBF58476D1CE4E5B9), np.uint64(0x94D049BB133111EB)
_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


class Pull(NamedTuple):
    """A table of fractions towards which costs pull.

    Attributes:
        steps: Its steps, times ``STEP_SCALE``.
        force: What a whole step away from it costs.
    """

    steps: Int64
    force: int


@compiled
def visit(
    tables: Tables,
    stars: Stars,
    planes: Int64,
    costs: CellCosts,
    pull: Pull,
    noise: int,
    draw: UInt64,
    steps: Int64,
) -> tuple[int, int]:
    """Make every change that pays in some planes, one after the other.

    Args:
        tables, stars: Where cells lie.
        planes: A row for each plane: the star of its rows, the star of its columns, and for each
            other axis the base group at which is added and the one at which is taken away (-1
            for none).
        costs: What steps cost.
        pull: Where costs pull to.
        noise: The largest disturbance of the cost of a cell.
        draw: The state of the sequence of draws; changed in place.
        steps: The steps of all cells; changed in place.

    Returns:
        How many changes were made, and how many cells and arcs were looked at.
    """
    changes = work = 0
    state = _State(
        costs, pull, steps, np.empty(steps.size, np.int64), np.empty(steps.size, np.int64)
    )
    for cell in range(steps.size):
        _note(state, cell)
    for row in range(len(planes)):
        more_changes, more_work = _visit_plane(tables, stars, planes[row], state, noise, draw)
        changes += more_changes
        work += more_work
    return changes, work


class _State(NamedTuple):
    """The steps of cells, and what a step more and a step less of each cost."""

    costs: CellCosts
    pull: Pull
    steps: Int64
    ups: Int64
    downs: Int64


@compiled
def _note(state: _State, cell: int) -> None:
    """Find out what a step more and a step less of a cell cost."""
    costs, now = state.costs, state.steps[cell]
    state.ups[cell] = more(costs, cell, now) + _pulled(state.pull, cell, now)
    state.downs[cell] = -more(costs, cell, now - 1) - _pulled(state.pull, cell, now - 1)


@compiled
def _drawn(draw: UInt64) -> np.uint64:
    draw[0] += _GOLDEN
    word: np.uint64 = draw[0]
    word = (word ^ (word >> _30)) * _MIX1
    word = (word ^ (word >> _27)) * _MIX2
    return word ^ (word >> _31)


class _Plane(NamedTuple):
    """The cells of a plane: those of the arc of a row and a column, for each table.

    Attributes:
        rows, columns: How many, without the shared ones.
        tables: How many.
        row_starts, row_places: What each row adds to the place of a cell, by table.
        column_starts, column_places: The same for columns.
        other_starts, other_places, signs: What the other axes add, by table, and in which
            direction the cell goes.
    """

    rows: int
    columns: int
    tables: int
    row_starts: Int64
    row_places: Int64
    column_starts: Int64
    column_places: Int64
    other_starts: Int64
    other_places: Int64
    signs: Int64


@compiled
def _visit_plane(
    tables: Tables,
    stars: Stars,
    chosen: Int64,
    state: _State,
    noise: int,
    draw: UInt64,
) -> tuple[int, int]:
    rows, row_starts, row_places = side(tables, stars, chosen[0])
    columns, column_starts, column_places = side(tables, stars, chosen[1])
    other_starts, other_places, signs = others(tables, chosen[2:])
    width = tables.places.shape[1]
    plane = _Plane(
        rows,
        columns,
        width,
        row_starts,
        row_places,
        column_starts,
        column_places,
        other_starts,
        other_places,
        signs,
    )
    size = (rows + 1) * (columns + 1)
    arcs = np.empty(size, dtype=np.int64)
    ends = np.empty((size, 2), dtype=np.int64)
    prices = np.empty((size, 2), dtype=np.int64)
    noises = np.zeros(size, dtype=np.int64)
    ups, downs = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    held = np.zeros(size, dtype=np.bool_)
    work = _add_prices(plane, tables, state, ups, downs, held)
    filled = 0
    for arc in range(size):
        up, down = ups[arc], downs[arc]
        if up >= _HARDLY and down >= _HARDLY:
            continue
        if noise > 0 and held[arc]:
            # An arc without cells costs nothing either way: disturbed, it would pay for ever.
            word = np.int64(_drawn(draw) >> _44)
            noises[filled] = ((2 * word - (1 << _NOISE_BITS)) * noise) >> _NOISE_BITS
        arcs[filled] = arc
        ends[filled, 0], ends[filled, 1] = _ends_of(rows, columns, arc)
        prices[filled, 0], prices[filled, 1] = up + noises[filled], down - noises[filled]
        filled += 1
    changes = 0
    nodes = rows + columns + 2
    distance = np.zeros(nodes, dtype=np.int64)
    before = np.empty(nodes, dtype=np.int64)
    mark = np.empty(nodes, dtype=np.int64)
    while True:
        found, looked = _cycle(ends[:filled], prices[:filled], distance, before, mark)
        work += looked
        if found < 0:
            return changes, work
        node = found
        while True:
            arc = before[node] >> 1
            back = before[node] & 1
            by = -1 if back else 1
            _move(plane, tables, state, arcs[arc], by)
            up, down = _prices_of(plane, tables, state, arcs[arc])
            prices[arc, 0], prices[arc, 1] = up + noises[arc], down - noises[arc]
            node = ends[arc, back]
            if node == found:
                break
        changes += 1


@compiled
def _ends_of(rows: int, columns: int, arc: int) -> tuple[int, int]:
    """The sums between which a cell of a plane lies: from the one to the other with a unit more."""
    row, column = arc // (columns + 1), arc % (columns + 1)
    outside, total = rows + columns, rows + columns + 1
    if row < rows and column < columns:
        return row, rows + column
    if row < rows:
        return outside, row
    if column < columns:
        return rows + column, total
    return total, outside


@compiled
def _add_prices(
    plane: _Plane,
    tables: Tables,
    state: _State,
    ups: Int64,
    downs: Int64,
    held: npt.NDArray[np.bool_],
) -> int:
    """What a unit more and a unit less cost in every arc of a plane, and which have any cell.

    Returns:
        How many cells were looked at.
    """
    work = 0
    for table in range(plane.tables):
        for at in range(plane.other_starts[table], plane.other_starts[table + 1]):
            more_costs, less_costs = state.ups, state.downs
            if plane.signs[at] < 0:
                more_costs, less_costs = state.downs, state.ups
            for row in range(plane.rows + 1):
                rows = table * (plane.rows + 1) + row
                for one in range(plane.row_starts[rows], plane.row_starts[rows + 1]):
                    place = plane.other_places[at] + plane.row_places[one]
                    arc = row * (plane.columns + 1)
                    first = table * (plane.columns + 1)
                    for column in range(first, first + plane.columns + 1):
                        for other in range(
                            plane.column_starts[column], plane.column_starts[column + 1]
                        ):
                            work += 1
                            cell = tables.cells[place + plane.column_places[other]]
                            if cell >= 0:
                                ups[arc] += more_costs[cell]
                                downs[arc] += less_costs[cell]
                                held[arc] = True
                            elif cell == IMPOSSIBLE:
                                ups[arc] += _NEVER
                                downs[arc] += _NEVER
                        arc += 1
    return work


@compiled
def _prices_of(plane: _Plane, tables: Tables, state: _State, arc: int) -> tuple[int, int]:
    """What a unit more and a unit less in an arc cost, over all its cells."""
    row, column = arc // (plane.columns + 1), arc % (plane.columns + 1)
    up = down = 0
    for table in range(plane.tables):
        rows = table * (plane.rows + 1) + row
        columns = table * (plane.columns + 1) + column
        for at in range(plane.other_starts[table], plane.other_starts[table + 1]):
            for one in range(plane.row_starts[rows], plane.row_starts[rows + 1]):
                place = plane.other_places[at] + plane.row_places[one]
                for other in range(plane.column_starts[columns], plane.column_starts[columns + 1]):
                    cell = tables.cells[place + plane.column_places[other]]
                    if cell >= 0:
                        if plane.signs[at] > 0:
                            up += state.ups[cell]
                            down += state.downs[cell]
                        else:
                            up += state.downs[cell]
                            down += state.ups[cell]
                    elif cell == IMPOSSIBLE:
                        return _NEVER, _NEVER
    return up, down


@compiled
def _pulled(pull: Pull, cell: int, steps: int) -> int:
    """What the pull makes of a step more."""
    if pull.force == 0:
        return 0
    over = 2 * (steps * STEP_SCALE - pull.steps[cell]) + STEP_SCALE
    pulled: int = pull.force * min(max(over, -STEP_SCALE), STEP_SCALE) // STEP_SCALE
    return pulled


@compiled
def _move(plane: _Plane, tables: Tables, state: _State, arc: int, by: int) -> None:
    """Change all cells of an arc."""
    row, column = arc // (plane.columns + 1), arc % (plane.columns + 1)
    for table in range(plane.tables):
        rows = table * (plane.rows + 1) + row
        columns = table * (plane.columns + 1) + column
        for at in range(plane.other_starts[table], plane.other_starts[table + 1]):
            for one in range(plane.row_starts[rows], plane.row_starts[rows + 1]):
                place = plane.other_places[at] + plane.row_places[one]
                for other in range(plane.column_starts[columns], plane.column_starts[columns + 1]):
                    cell = tables.cells[place + plane.column_places[other]]
                    if cell >= 0:
                        state.steps[cell] += by * plane.signs[at]
                        _note(state, cell)


@compiled
def _cycle(
    ends: Int64, prices: Int64, distance: Int64, before: Int64, mark: Int64
) -> tuple[int, int]:
    """A node of a cycle of negative cost, or -1; the cycle is followed back along ``before``."""
    distance[:] = 0
    before[:] = -1
    work = 0
    while True:
        changed = False
        for arc in range(len(ends)):
            start, end = ends[arc, 0], ends[arc, 1]
            if distance[start] + prices[arc, 0] < distance[end]:
                distance[end] = distance[start] + prices[arc, 0]
                before[end] = 2 * arc
                changed = True
            if distance[end] + prices[arc, 1] < distance[start]:
                distance[start] = distance[end] + prices[arc, 1]
                before[start] = 2 * arc + 1
                changed = True
        work += len(ends)
        if not changed:
            return -1, work
        mark[:] = -1
        for first in range(before.size):
            node = first
            while mark[node] < 0 and before[node] >= 0:
                mark[node] = first
                node = ends[before[node] >> 1, before[node] & 1]
            if mark[node] == first and before[node] >= 0:
                return node, work
