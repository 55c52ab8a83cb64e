"""Cells that published cells give away one after the other, by plain subtraction.

A published cell that counts one inner cell alone shows it; taken off every other cell that counts
it, the next one may stand alone (``given_away``). A total less all of its parts but one shows that
part, though no table does (``exposed_parts``). What takes several published cells at once is found
by elimination, which takes much longer.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.small_counts.incidence import Incidence

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def given_away(incidence: Incidence, published: Int64, asked: Mask) -> Mask:
    """Which inner cells follow from published ones by subtracting one after the other.

    Of a published 0 everything is known: no count is below it.

    Args:
        incidence: Which published cells count each inner cell.
        published: What is published.
        asked: The inner cells in question; all are answered, as each leads to others.
    """
    known = np.zeros(len(incidence), dtype=np.bool_)
    _peel(incidence.starts, incidence.cells, published, known)
    return known


@compiled
def _peel(starts: Int64, cells: Integers, published: Int64, known: Mask) -> None:
    # A cell with one unknown part names it by the sum of the numbers of its unknown parts.
    unknown = np.zeros(published.size, dtype=np.int64)
    numbers = np.zeros(published.size, dtype=np.int64)
    for row in range(known.size):
        for at in range(starts[row], starts[row + 1]):
            unknown[cells[at]] += 1
            numbers[cells[at]] += row
    waiting = np.zeros(known.size, dtype=np.int64)
    size = 0
    for row in range(known.size):
        for at in range(starts[row], starts[row + 1]):
            cell = cells[at]
            if published[cell] == 0 or unknown[cell] == 1:
                known[row] = True
                waiting[size] = row
                size += 1
                break
    while size:
        size -= 1
        row = waiting[size]
        for at in range(starts[row], starts[row + 1]):
            cell = cells[at]
            unknown[cell] -= 1
            numbers[cell] -= row
            if unknown[cell] == 1 and not known[numbers[cell]]:
                known[numbers[cell]] = True
                waiting[size] = numbers[cell]
                size += 1


def exposed_parts(starts: Int64, cells: Int64, values: Integers, published: Mask) -> Mask:
    """Which cells follow from published ones as what is left of a total, for any data.

    Args:
        starts, cells, values: Sums that are 0 for any data, row by row: parts with 1, their total
            with -1.
        published: Which cells are published.
    """
    exposed = np.zeros(published.size, dtype=np.bool_)
    _expose(starts, cells, values, published, exposed)
    return exposed


@compiled
def _expose(starts: Int64, cells: Int64, values: Integers, published: Mask, exposed: Mask) -> None:
    rows = starts.size - 1
    # Sums of each cell, as lists behind each other.
    heads = np.zeros(published.size + 1, dtype=np.int64)
    for at in range(cells.size):
        heads[cells[at] + 1] += 1
    heads = np.cumsum(heads)
    sums = np.zeros(cells.size, dtype=np.int64)
    filled = heads.copy()
    unknown = np.zeros(rows, dtype=np.int64)
    waiting = np.zeros(rows, dtype=np.int64)
    size = 0
    known = published.copy()
    for row in range(rows):
        for at in range(starts[row], starts[row + 1]):
            sums[filled[cells[at]]] = row
            filled[cells[at]] += 1
            if not known[cells[at]]:
                unknown[row] += 1
        if unknown[row] == 1:
            waiting[size] = row
            size += 1
    while size:
        size -= 1
        row = waiting[size]
        for at in range(starts[row], starts[row + 1]):
            cell = cells[at]
            if known[cell]:
                continue
            known[cell] = True
            exposed[cell] = values[at] > 0  # a total that follows is a sum, and as safe as they are
            for place in range(heads[cell], heads[cell + 1]):
                other = sums[place]
                unknown[other] -= 1
                if unknown[other] == 1:
                    waiting[size] = other
                    size += 1
