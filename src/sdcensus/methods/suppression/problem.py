"""What is asked of an engine of suppression: cells, which may not be shown, which must be."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.constraints import SparseMatrix
from sdcensus.solvers.report import SolutionReport

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Reach(Confidential):
    """How far off the cells of sums have to be thought possible; in the units of the problem.

    Attributes:
        lower, upper: How far below and above its value each cell has to be possible.
        width: How far apart the smallest and the largest possible value of a closed cell have to
            be.
        most: What everybody knows each cell to be at most.
        combined: How far each combination of codes can go down and up, where several tables say
            more about each other than their sums do; ``None`` where that is not looked at.
        many_combined: Whether there are too many of them to be looked at.
    """

    lower: Int64
    upper: Int64
    width: int
    most: Int64
    combined: tuple[Int64, Int64] | None = None
    many_combined: bool = False

    def __repr__(self) -> str:
        return f"<Reach of {self.lower.size} cells: confidential>"


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class SuppressionProblem(Confidential):
    """The distinct cells of linked tables, and what has to become of them.

    Every array has one value for each distinct cell, in the order of ``LinkedTables``.

    Attributes:
        counts: True counts; of sums, how many contribute.
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
        values: What the cells would show: true counts. Problems of sums are put as changes of the
            true table, which is 0 everywhere.
        before: Cells that are open elsewhere: they come first in the order.
        reach: How far off sums have to be thought possible; ``None`` for counts.
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
    values: Int64
    before: Mask | None = None
    reach: Reach | None = None

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

    @property
    def opened_before(self) -> Mask:
        """Cells that are open elsewhere and may be here."""
        if self.before is None:
            return np.zeros(self.size, dtype=bool)
        return np.asarray(self.before & self.shown & ~self.primary & ~self.frozen)


def least_with_parts(equations: SparseMatrix, least: Int64) -> Int64:
    """What cells are known to be at least, if a total is at least what its parts are together.

    Args:
        equations: What adds up: parts +1, totals -1.
        least: What is known of each cell by itself.
    """
    total = np.full(equations.shape[0], -1, dtype=np.int64)
    negative = equations.values < 0
    total[equations.rows[negative]] = equations.columns[negative]
    part = (equations.values > 0) & (total[equations.rows] >= 0)
    rows, cells = equations.rows[part], equations.columns[part]
    known = least
    while True:
        together = np.zeros(equations.shape[0], dtype=np.int64)
        np.add.at(together, rows, known[cells])
        higher = known.copy()
        np.maximum.at(higher, total[total >= 0], together[total >= 0])
        if (higher == known).all():
            return known
        known = higher


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Pattern(Confidential):
    """What an engine answers: which cells are closed, primary and frozen ones among them.

    Confidential: which of the closed cells are primary can be told from it and the problem.

    Attributes:
        closed: Cells that are not shown.
        statement: How good the answer is, in words for the office; empty where there is nothing
            to say.
        report: What it costs and how near that is to the least; ``None`` for engines that do not
            search for the cheapest.
    """

    closed: Mask
    statement: str = ""
    report: SolutionReport | None = None

    def __repr__(self) -> str:
        return f"<Pattern of {self.closed.size} cells: confidential>"
