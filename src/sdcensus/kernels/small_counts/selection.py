"""Which inner cells of one pass become the base and which 0: greedily, then by exchanges.

The published cells should stay as near as possible to what they are. By how much their squared
distances fall, weighted, if an inner cell goes up is its *gain*: what its published cells still
lack, twice, less the base for each of them. Cells with the largest gain are taken until as many are
up as the total needs; then the one that is missed least gives way to a better one, as long as there
is one, so the distance never rises. Where all inner cells have as many published cells these are
the choices of the published algorithm; at the end each cell that is up is tried once more.

Gains are kept up to date along the published cells that two inner cells share: the matrix of what
they share, which has a number for each pair, is never made. The largest gain is looked up one by
one: a choice changes so many gains that a heap would have to be put in order each time.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]
UInt64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

#: How many exchanges there are at most, besides one for each cell that is up.
MORE_EXCHANGES = 100


@compiled
def column_sizes(starts: Int64, cells: Integers, rows: Int64, sizes: Int64) -> None:
    """How many of the rows each published cell counts."""
    for row in rows:
        for at in range(starts[row], starts[row + 1]):
            sizes[cells[at]] += 1


@compiled
def choose(
    starts: Int64,
    cells: Integers,
    rows: Int64,
    lacking: Int64,
    weights: Int64,
    ties: UInt64,
    base: int,
    up: int,
) -> Mask:
    """Which of some inner cells become the base; the others become 0.

    Args:
        starts, cells: The published cells that count each inner cell.
        rows: The inner cells in question.
        lacking: What each published cell lacks while all of them are 0.
        weights: How much the distance of each published cell matters.
        ties: A word for each inner cell: the larger goes first where gains are equal.
        base: What cells are rounded to.
        up: How many become the base.
    """
    sizes = np.zeros(weights.size, dtype=np.int64)
    column_sizes(starts, cells, rows, sizes)
    row_starts, row_cells, cell_starts, cell_rows, weight = _restricted(
        starts, cells, rows, weights, sizes
    )
    gains = np.zeros(rows.size, dtype=np.int64)
    # By how much more a cell that is up would be missed than its gain says.
    missed = np.zeros(rows.size, dtype=np.int64)
    for place in range(rows.size):
        for at in range(starts[rows[place]], starts[rows[place] + 1]):
            cell = cells[at]
            if 0 < sizes[cell] < rows.size:
                gains[place] += weights[cell] * (2 * lacking[cell] - base)
                missed[place] += weights[cell] * 2 * base
    taken = np.zeros(rows.size, dtype=np.bool_)
    last = -1
    for _ in range(up):
        last = _largest(gains, taken, ties, rows, -1)
        taken[last] = True
        _shift(gains, row_starts, row_cells, cell_starts, cell_rows, weight, last, -base)
    for _ in range(up + MORE_EXCHANGES):
        if up == 0 or up == rows.size:
            break
        worst = _smallest(gains, missed, taken, ties, rows, last)
        if worst == last:
            break
        taken[worst] = False
        _shift(gains, row_starts, row_cells, cell_starts, cell_rows, weight, worst, base)
        last = _largest(gains, taken, ties, rows, worst)
        taken[last] = True
        _shift(gains, row_starts, row_cells, cell_starts, cell_rows, weight, last, -base)
    # Once more, each of those that are up: exchanges end where the last one is missed least.
    by_word = np.argsort(ties[rows])
    for at in np.argsort((gains + missed)[by_word], kind="mergesort"):
        place = by_word[at]
        if up < rows.size and taken[place]:
            taken[place] = False
            _shift(gains, row_starts, row_cells, cell_starts, cell_rows, weight, place, base)
            better = _largest(gains, taken, ties, rows, place)
            taken[better] = True
            _shift(gains, row_starts, row_cells, cell_starts, cell_rows, weight, better, -base)
    return taken


@compiled
def _restricted(
    starts: Int64, cells: Integers, rows: Int64, weights: Int64, sizes: Int64
) -> tuple[Int64, Int32, Int64, Int32, Int64]:
    """The matrix of some rows, both ways, without columns that no row or every row has.

    What every row has changes all gains alike, and so changes no choice.
    """
    number = np.full(weights.size, -1, dtype=np.int32)
    kept = 0
    for cell in range(weights.size):
        if 0 < sizes[cell] < rows.size and weights[cell] > 0:
            number[cell] = kept
            kept += 1
    cell_starts = np.zeros(kept + 1, dtype=np.int64)
    weight = np.zeros(kept, dtype=np.int64)
    for cell in range(weights.size):
        if number[cell] >= 0:
            cell_starts[number[cell] + 1] = sizes[cell]
            weight[number[cell]] = weights[cell]
    cell_starts = np.cumsum(cell_starts)
    row_starts = np.zeros(rows.size + 1, dtype=np.int64)
    row_cells = np.zeros(cell_starts[-1], dtype=np.int32)
    cell_rows = np.zeros(cell_starts[-1], dtype=np.int32)
    filled = cell_starts.copy()
    entries = 0
    for place in range(rows.size):
        for at in range(starts[rows[place]], starts[rows[place] + 1]):
            cell = number[cells[at]]
            if cell >= 0:
                row_cells[entries] = cell
                entries += 1
                cell_rows[filled[cell]] = place
                filled[cell] += 1
        row_starts[place + 1] = entries
    return row_starts, row_cells, cell_starts, cell_rows, weight


@compiled
def _largest(gains: Int64, taken: Mask, ties: UInt64, rows: Int64, favoured: int) -> int:
    """The row with the largest gain that is not taken; a favoured one where it is as large."""
    best = favoured
    for place in range(gains.size):
        if taken[place]:
            continue
        if (
            best < 0
            or gains[place] > gains[best]
            or (
                gains[place] == gains[best]
                and best != favoured
                and ties[rows[place]] > ties[rows[best]]
            )
        ):
            best = place
    return best


@compiled
def _smallest(
    gains: Int64, missed: Int64, taken: Mask, ties: UInt64, rows: Int64, favoured: int
) -> int:
    """The row that is taken and missed least; a favoured one where it is missed as little."""
    best = favoured
    least = gains[best] + missed[best]
    for place in range(gains.size):
        if not taken[place]:
            continue
        loss = gains[place] + missed[place]
        if loss < least or (
            loss == least and best != favoured and ties[rows[place]] < ties[rows[best]]
        ):
            best = place
            least = loss
    return best


@compiled
def _shift(
    gains: Int64,
    row_starts: Int64,
    row_cells: Int32,
    cell_starts: Int64,
    cell_rows: Int32,
    weight: Int64,
    row: int,
    change: int,
) -> None:
    """Change the gains of all rows that share published cells with one."""
    for at in range(row_starts[row], row_starts[row + 1]):
        cell = row_cells[at]
        amount = 2 * change * weight[cell]
        for other in range(cell_starts[cell], cell_starts[cell + 1]):
            gains[cell_rows[other]] += amount
