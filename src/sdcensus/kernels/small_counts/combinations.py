"""Inner cells that any combination of published cells gives away, found by elimination.

``differences`` finds what follows by subtracting one cell after the other, and most of what there
is. What is left is eliminated in whole numbers: much slower, and complete.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.elimination.basis import Columns
from sdcensus.kernels.elimination.merging import same_rows
from sdcensus.kernels.elimination.spans import Span
from sdcensus.kernels.small_counts.differences import given_away
from sdcensus.kernels.small_counts.incidence import Incidence

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def determined(incidence: Incidence, published: Int64, asked: Mask) -> Mask:
    """Which of some inner cells are a combination of published ones.

    Of a published 0 everything is known: no count is below it.

    Args:
        incidence: Which published cells count each inner cell.
        published: What is published.
        asked: The inner cells in question; of others nothing is said but what is found on the way.
    """
    known = given_away(incidence, published, asked)
    wanted = asked & ~known
    unknown = np.flatnonzero(~known)
    if not wanted.any():
        return known
    columns = _columns(incidence, unknown)
    # Inner cells in the same published cells are one: nothing tells them apart.
    first, group = same_rows(columns, unknown.size)
    alone = np.bincount(group, minlength=first.size) == 1
    merged = _columns(incidence, unknown[first])
    rows = np.flatnonzero(alone & wanted[unknown[first]])
    if not rows.size:
        return known
    size = merged.starts.size - 1
    every = Columns(
        np.append(merged.starts, merged.starts[-1] + 1 + np.arange(rows.size)),
        np.append(merged.rows, rows),
        np.append(merged.values, np.ones(rows.size, dtype=np.int64)),
    )
    span = Span(every, first.size, np.arange(size))
    found = rows[span.holds(np.arange(size, size + rows.size))]
    known[unknown[first[found]]] = True
    return known


def _columns(incidence: Incidence, rows: Int64) -> Columns:
    """The published cells of some inner cells, as columns of ones; empty ones are left out."""
    lengths = np.diff(incidence.starts)[rows]
    entry = np.repeat(incidence.starts[rows] - np.cumsum(lengths) + lengths, lengths)
    cells = incidence.cells[entry + np.arange(entry.size)]
    row = np.repeat(np.arange(rows.size, dtype=np.int64), lengths)
    order = np.argsort(cells, kind="stable")
    _, starts = np.unique(cells[order], return_index=True)
    starts = np.append(starts, cells.size).astype(np.int64)
    return Columns(starts, row[order], np.ones(cells.size, dtype=np.int64))
