"""What readers lose where cells are withheld: how many, how much, and what can be filled in.

Distances are taken over cells with a number, so a method that withholds and changes nothing has a
distance of 0. To stand beside methods that change numbers, a withheld cell is filled in as a
careful reader would: with the middle of the counts that the published table leaves for it; with 0
where published numbers do not add up and so leave everything open.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.constraints import interior
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.pairs import check_match, true_values
from sdcensus.model.inference.intervals import shuttle
from sdcensus.model.inference.knowledge import UNBOUNDED
from sdcensus.model.published.table import Mark, Table

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class WithheldCells(Confidential):
    """Cells without a number, and how far a table is from the truth if a reader fills them in.

    Attributes:
        cells: How many cells the table has, totals included.
        withheld: How many of them have no number.
        nonzero, nonzero_withheld: The same of cells with records.
        units: How many units the interior cells hold.
        units_withheld: How many of them are in interior cells without a number.
        mean_width: How many counts the published table leaves for a withheld cell with records, on
            average, less one: 0 where they can all be worked out. ``None`` where none is withheld,
            or numbers do not add up.
        relative_width: The same as a share of the count, on average.
        known: Withheld cells with records of which one count is left.
        filled_distance: The mean of ``|filled - true|`` over cells with records.
        filled_hellinger: The Hellinger distance of all cells with the withheld ones filled in,
            divided by the root of the sum of true counts.
    """

    cells: int
    withheld: int
    nonzero: int
    nonzero_withheld: int
    units: int
    units_withheld: int
    mean_width: float | None
    relative_width: float | None
    known: int
    filled_distance: float | None
    filled_hellinger: float | None

    def __repr__(self) -> str:
        return "<WithheldCells: confidential>"

    @property
    def share(self) -> float | None:
        """The share of cells with records that are withheld."""
        return self.nonzero_withheld / self.nonzero if self.nonzero else None

    @property
    def share_of_units(self) -> float | None:
        """The share of units in interior cells that are withheld."""
        return self.units_withheld / self.units if self.units else None


def withheld_cells(cube: Cube, table: Table) -> WithheldCells:
    """Measure what is withheld of a table.

    Args:
        cube: True counts.
        table: The published table of the same cells in the same order.
    """
    check_match(cube, table)
    true = true_values(cube)
    hidden = np.zeros(table.shape, dtype=bool)
    if table.flags is not None:
        hidden = ~np.isin(table.flags, [mark for mark in Mark if mark.has_number])
    left = _left(table, hidden)
    filled = np.where(hidden, 0 if left is None else _middle(*left), table.published)
    there = true > 0
    gone = hidden & there
    inside = interior(table.spec) if _nests(table) else (slice(0, 0),) * len(table.shape)
    inner, inner_hidden = true[(*inside, ...)], hidden[(*inside, ...)]
    width = np.zeros(0)
    if left is not None:
        width = (np.minimum(left[1], true.max(initial=0)) - left[0])[gone].astype(np.float64)
    roots = np.sqrt(np.maximum(filled, 0)) - np.sqrt(true)
    whole = float(true.sum())
    return WithheldCells(
        cells=true.size,
        withheld=int(hidden.sum()),
        nonzero=int(there.sum()),
        nonzero_withheld=int(gone.sum()),
        units=int(inner.sum()),
        units_withheld=int(inner[inner_hidden].sum()),
        mean_width=float(width.mean()) if width.size else None,
        relative_width=float((width / true[gone]).mean()) if width.size else None,
        known=int((width == 0).sum()),
        filled_distance=float(np.abs(filled - true)[there].mean()) if there.any() else None,
        filled_hellinger=math.sqrt(0.5 * float((roots**2).sum()) / whole) if whole else None,
    )


def _nests(table: Table) -> bool:
    return all(axis.base_is_shown for axis in table.spec.axes)


def _left(table: Table, hidden: Mask) -> tuple[Int64, Int64] | None:
    """The counts that a published table leaves for its withheld cells, by its own sums.

    ``None`` where numbers were changed and do not add up: their sums say nothing.
    """
    low = np.where(hidden, 0, table.published)
    high = np.where(hidden, UNBOUNDED, table.published)
    intervals = shuttle(table.spec, low, high)
    return None if intervals.contradictory else (intervals.lower, intervals.upper)


def _middle(lower: Int64, upper: Int64) -> npt.NDArray[np.float64]:
    """The middle of an interval; its lower end where nothing bounds it from above."""
    open_end = upper >= UNBOUNDED
    return np.where(open_end, lower, (lower + upper) / 2)
