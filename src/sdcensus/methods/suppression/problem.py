"""What is asked of an engine of suppression: cells, which may not be shown, which must be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.constraints import SparseMatrix

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class SuppressionProblem(Confidential):
    """The distinct cells of linked tables, and what has to become of them.

    Every array has one value for each distinct cell, in the order of ``LinkedTables``.

    Attributes:
        counts: True counts.
        shown: Cells that some table shows. The others are never published, and closing them costs
            nothing.
        primary: Cells that may not be shown, nor be computed.
        forced: Cells that must stay open: they were published before. Never a primary one.
        frozen: Cells that must be closed without being primary: they were closed before.
        cost: What closing a cell costs, from 0; primary and frozen cells cost nothing.
        least: What everybody knows each cell to be at least: where empty cells are shown, a closed
            one holds somebody.
        order: The numbers of all cells that are shown, those first that are to be kept open first.
        equations: What adds up to 0 for any data: parts +1, totals -1.
    """

    counts: Int64
    shown: Mask
    primary: Mask
    forced: Mask
    frozen: Mask
    cost: Int64
    least: Int64
    order: Int64
    equations: SparseMatrix

    def __post_init__(self) -> None:
        for array in (self.shown, self.primary, self.forced, self.frozen, self.cost, self.least):
            if array.shape != self.counts.shape:
                raise SpecError("Suppression needs one value for each distinct cell.")

    def __repr__(self) -> str:
        return f"<SuppressionProblem of {self.counts.size} cells: confidential>"

    @property
    def size(self) -> int:
        """How many distinct cells there are."""
        return int(self.counts.size)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pattern(Confidential):
    """What an engine answers: which cells are closed, primary and frozen ones among them.

    Confidential: which of the closed cells are primary can be told from it and the problem.

    Attributes:
        closed: Cells that are not shown.
        statement: How good the answer is, in words for the office; empty where there is nothing
            to say.
    """

    closed: Mask
    statement: str = ""

    def __repr__(self) -> str:
        return f"<Pattern of {self.closed.size} cells: confidential>"
