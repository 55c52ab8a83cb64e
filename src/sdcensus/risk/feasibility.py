"""How many cells of a published table can be narrowed down to one count, or to 0 and 1."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.constraints import is_interior
from sdcensus.model.cube.pairs import check_match, only_counts, true_values
from sdcensus.model.cube.parts import Mask, TablePart, part_mask, parts_of
from sdcensus.model.cube.sparse_cube import LARGEST_DENSE_GRID, AnyCube
from sdcensus.model.inference.intervals import Intervals, shuttle
from sdcensus.model.inference.knowledge import Knowledge, cell_mask
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.table import AnyTable, Table
from sdcensus.model.quantities import share_text
from sdcensus.model.vocabulary import option

Int64 = npt.NDArray[np.int64]

#: Counts that are small: one person, or one who knows the other.
SMALL = 2


class How(StrEnum):
    """How intervals are found: each is at least as narrow as the one before, and slower."""

    SHUTTLE = "shuttle"
    LINEAR = "linear"
    INTEGER = "integer"


@dataclass(frozen=True, slots=True, repr=False)
class GivenAway(Confidential):
    """Of the cells of a part of a table that truly have records, those that are disclosed.

    Attributes:
        disclosed: Non-empty cells of which one count is left, or only 0 and 1.
        cells: Non-empty cells that were looked at.
        small_disclosed, small_cells: The same for cells with a true count of 1 or 2.
    """

    disclosed: int
    cells: int
    small_disclosed: int
    small_cells: int

    def __repr__(self) -> str:
        return "<GivenAway: confidential>"

    @classmethod
    def among(cls, counts: Int64, disclosed: Mask, looked_at: Mask) -> GivenAway:
        """Those of the cells that are looked at."""
        there = looked_at & (counts > 0)
        small = there & (counts <= SMALL)
        return cls(
            int((disclosed & there).sum()),
            int(there.sum()),
            int((disclosed & small).sum()),
            int(small.sum()),
        )

    @property
    def share(self) -> float | None:
        """The share of non-empty cells that are disclosed; ``None`` if no cell is non-empty."""
        return self.disclosed / self.cells if self.cells else None

    @property
    def small_share(self) -> float | None:
        """The share of small cells that are disclosed; ``None`` if no cell counts 1 or 2."""
        return self.small_disclosed / self.small_cells if self.small_cells else None


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Feasibility(Confidential):
    """What an intruder can work out of one published table alone, compared with the truth.

    Shares are of cells that truly have records, as in the founding study: an empty cell that is
    recognised as empty, or as 0 or 1, is not counted.

    Attributes:
        intervals: The counts that fit, for each cell.
        knowledge: What the intruder is taken to know.
        how: How the intervals were found.
        parts: What is disclosed of interior cells, of totals and subtotals, and of all cells that
            were looked at; of all alone where the table has no interior.
    """

    intervals: Intervals
    knowledge: Knowledge
    how: How
    parts: Mapping[TablePart, GivenAway]

    def __repr__(self) -> str:
        return f"<Feasibility of {self.intervals.spec.title} by {self.how}: confidential>"

    @property
    def disclosed(self) -> int:
        """Non-empty cells of which one count is left, or only 0 and 1; totals included."""
        return self.parts[TablePart.ALL].disclosed

    @property
    def cells(self) -> int:
        """Non-empty cells that were looked at, totals included."""
        return self.parts[TablePart.ALL].cells

    @property
    def small_disclosed(self) -> int:
        """Disclosed cells with a true count of 1 or 2, totals included."""
        return self.parts[TablePart.ALL].small_disclosed

    @property
    def small_cells(self) -> int:
        """Cells with a true count of 1 or 2 that were looked at, totals included."""
        return self.parts[TablePart.ALL].small_cells

    @property
    def share(self) -> float | None:
        """The share of non-empty cells that are disclosed; ``None`` if no cell is non-empty."""
        return self.parts[TablePart.ALL].share

    @property
    def small_share(self) -> float | None:
        """The share of small cells that are disclosed; ``None`` if no cell counts 1 or 2."""
        return self.parts[TablePart.ALL].small_share

    def sentence(self) -> str:
        """The finding with its scope: from which table, for whom. Confidential as the figures."""
        share, small = self.share, self.small_share
        if share is None:
            return "No cell is non-empty, so there is nothing to disclose in this table."
        known = self.knowledge.sentence().removesuffix(".")
        margins = self.parts.get(TablePart.MARGINS)
        totals = ", totals included" if margins is not None and margins.cells else ""
        text = (
            f"{known} can narrow {self.disclosed:,} of {self.cells:,} non-empty cells{totals}"
            f" ({share_text(share, digits=2)}) down to one count, or to 0 and 1, from this table"
            " alone"
        )
        if small is None:
            return f"{text}. No cell counts 1 or 2."
        return (
            f"{text}; of the {self.small_cells:,} cells that count 1 or 2 it is"
            f" {self.small_disclosed:,} ({share_text(small, digits=2)})."
        )


def feasibility(
    cube: AnyCube,
    table: AnyTable,
    knowledge: Knowledge,
    *,
    how: How | str = How.SHUTTLE,
    cells: npt.NDArray[Any] | None = None,
    margins: bool = True,
    exact: npt.NDArray[Any] | None = None,
    progress: Progress = no_progress,
) -> Feasibility:
    """Find the counts that fit a published table, and compare them with the truth.

    Refuses a table to which the knowledge does not apply: some cell was changed in a way that the
    intruder is taken to know impossible.

    Args:
        cube: True counts.
        table: What is published of them.
        knowledge: What the intruder knows.
        how: The shuttle for tables of any size, linear or integer programs for small ones.
        cells: The cells that are looked at, by number or as a mask; all if ``None``.
        margins: Whether totals and subtotals are looked at too; their intervals are used anyway.
        exact: Cells that are known to be published as they are, by number or as a mask.
        progress: Told how far linear and integer programs are.
    """
    chosen = option(How, "way to find intervals", how)
    check_match(cube, table)
    only_counts(cube.spec)
    spec = cube.spec
    counts, whole = _dense(cube, table)
    looked_at = np.ones(spec.shape, dtype=bool) if margins else is_interior(spec)
    if cells is not None:
        looked_at = looked_at & cell_mask(spec, cells)
    lower, upper = knowledge.bounds(whole, exact=exact)
    if chosen is How.SHUTTLE:
        intervals = shuttle(spec, lower, upper)
    else:
        # Solvers take longer to load than most tables take to be shuttled.
        from sdcensus.solvers.feasibility import exact_intervals

        intervals = exact_intervals(
            spec,
            lower,
            upper,
            cells=None if looked_at.all() else np.flatnonzero(looked_at),
            integer=chosen is How.INTEGER,
            progress=progress,
        )
    if intervals.contradictory or not intervals.holds(counts):
        raise SpecError(
            f"{spec.title}: the table does not fit what the intruder is taken to know, so no"
            " conclusion can be drawn from it. The table was changed by more than the bound, or"
            " empty cells were not kept, or values that are said to be blocked are published;"
            " name the cells that are exact, or give a knowledge that is true of this method."
        )
    parts = {
        part: GivenAway.among(counts, intervals.disclosed, looked_at & part_mask(spec, part))
        for part in parts_of(spec)
    }
    return Feasibility(intervals=intervals, knowledge=knowledge, how=chosen, parts=parts)


def _dense(cube: AnyCube, table: AnyTable) -> tuple[Int64, Table]:
    """Counts and published values of every cell, empty ones included."""
    spec = cube.spec
    if spec.cells > LARGEST_DENSE_GRID:
        raise SpecError(
            f"{spec.title}: {spec.cells:,} cells are too many to be looked at together (at most"
            f" {LARGEST_DENSE_GRID:,}). Take fewer axes, coarser levels or a part of the areas."
        )
    return true_values(cube), table.whole()
