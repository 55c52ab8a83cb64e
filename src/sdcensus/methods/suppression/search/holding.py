"""Which open cells hold a closed one so that it has too little room: sums, one by one."""

from __future__ import annotations

import heapq
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.methods.suppression.problem import SuppressionProblem
from sdcensus.model.cube.constraints import SparseMatrix

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def free_cells(problem: SuppressionProblem, closed: Mask) -> Mask:
    """Cells that may be closed and are not."""
    return problem.shown & ~closed & ~problem.forced & (problem.counts > 0)


def places_of(problem: SuppressionProblem) -> Int64:
    """Where each cell stands in the order."""
    place = np.zeros(problem.size, dtype=np.int64)
    place[problem.order] = np.arange(problem.order.size)
    return place


def further_cells(
    problem: SuppressionProblem, closed: Mask, room: Int64, narrow: Int64, needed: Int64
) -> Int64:
    """For each cell that is too narrow, the last in the order of the open cells that hold it so.

    If no sum for itself holds it, many together do, and one beside it is closed, or any.
    """
    free, place = free_cells(problem, closed), places_of(problem)
    most = int(needed[narrow].max(initial=0))
    sums = _Sums.of(problem, closed, np.minimum(room, most))
    chosen = []
    for cell in narrow.tolist():
        beside = sums.holding(cell, free, int(needed[cell]))
        if not beside.size:
            beside = sums.cells(sums.rows_of(cell), free)
        if not beside.size:
            beside = np.flatnonzero(free)
        if beside.size:
            chosen.append(int(beside[np.argmax(place[beside])]))
    return np.unique(np.array(chosen, dtype=np.int64))


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Sums:
    """Equations by their cells, and cells by their equations.

    Attributes:
        equations: The equations.
        rows, starts: The equations of each cell.
        hidden: Cells that nobody sees.
        room: How far apart the bounds of each cell are.
        slack: The same for all hidden cells of an equation together.
        excess: How far the hidden parts of an equation are above the least that they can be.
    """

    equations: SparseMatrix
    rows: Int64
    starts: Int64
    hidden: Mask
    room: Int64
    slack: Int64
    excess: Int64

    @classmethod
    def of(cls, problem: SuppressionProblem, closed: Mask, room: Int64) -> _Sums:
        """Sort the equations by their cells."""
        matrix = problem.equations
        order = np.argsort(matrix.columns, kind="stable")
        starts = np.searchsorted(matrix.columns[order], np.arange(problem.size + 1))
        hidden = closed | ~problem.shown
        slack, excess = np.zeros((2, matrix.shape[0]), dtype=np.int64)
        np.add.at(slack, matrix.rows, (room * hidden)[matrix.columns])
        above = np.where(hidden, problem.values - problem.least, 0)[matrix.columns]
        np.add.at(excess, matrix.rows, np.where(matrix.values > 0, above, 0))
        return cls(matrix, matrix.rows[order], starts, hidden, room, slack, excess)

    def rows_of(self, cell: int) -> Int64:
        """The equations of a cell."""
        return self.rows[self.starts[cell] : self.starts[cell + 1]]

    def cells(self, rows: Int64, wanted: Mask) -> Int64:
        """The cells of some equations of which something holds."""
        matrix = self.equations
        parts = [matrix.columns[matrix.starts[row] : matrix.starts[row + 1]] for row in rows]
        cells = np.unique(np.concatenate([np.zeros(0, dtype=np.int64), *parts]))
        return np.asarray(cells[wanted[cells]], dtype=np.int64)

    def holding(self, cell: int, free: Mask, width: int) -> Int64:
        """Open cells of the equation that holds a cell: the one whose parts can shrink least.

        If all its cells are closed, what holds one of them holds the cell.

        Args:
            cell: The cell.
            free: Cells that may be closed.
            width: How far apart its bounds have to be.
        """
        seen: set[int] = set()
        waiting = self._tight(cell, seen, width)
        heapq.heapify(waiting)
        while waiting:
            _, row = heapq.heappop(waiting)
            every = np.array([row])
            opened = self.cells(every, free)
            if opened.size:
                return opened
            for each in self.cells(every, self.hidden).tolist():
                for further in self._tight(each, seen, width):
                    heapq.heappush(waiting, further)
        return np.zeros(0, dtype=np.int64)

    def _tight(self, cell: int, seen: set[int], width: int) -> list[tuple[int, int]]:
        """Equations of a cell that leave it too little room and were not seen, by their excess."""
        rows = self.rows_of(cell)
        tight = rows[self.slack[rows] - self.room[cell] < width].tolist()
        fresh = [row for row in tight if row not in seen]
        seen.update(fresh)
        return [(int(self.excess[row]), row) for row in fresh]
