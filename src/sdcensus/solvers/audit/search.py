"""The smallest and the largest value of withheld cells that hang together.

Bounds that follow from single rows are exact for most cells, and a table that reaches one proves
it. So every table that a program finds is remembered for all cells, and a program is solved for a
bound only while no table reaches it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from threading import Lock

import numpy as np

from sdcensus.errors import MissingExtra
from sdcensus.solvers import cp_sat, highs
from sdcensus.solvers.audit.linear import Answer, Solver, program_of, proof, solver_of
from sdcensus.solvers.audit.system import FREE, Int64, Mask, Unknowns
from sdcensus.solvers.limits import Limits
from sdcensus.solvers.program import Float64, LinearProgram, Solution, Status

#: How far from a whole number a solution may lie to be taken for it.
_NEAR, _DIGITS = 1e-5, 1e-11
#: Programs with a goal for many cells at once go on while each settles more bounds than this.
_SWEEP_PAYS = 4
#: How much is done, at most, to find whether a whole table reaches one bound.
_WHOLE = Limits(work=10)


class Contradiction(Exception):
    """No values fit the rows; who asked for them says which cells that is."""


class ComponentSearch:
    """Bounds of withheld cells, while they are narrowed or proven to be exact.

    Several threads can settle cells of one search, each with a solver of its own.

    Attributes:
        lower, upper: What is proven so far.
        smallest, largest: The least and the most of each cell in all whole tables found.
        unproven: The bounds that rest on the solver alone, a row for lower and one for upper.
    """

    def __init__(self, unknowns: Unknowns, asked: Mask, solution: Int64 | None = None) -> None:
        size = unknowns.size
        self.lower, self.upper = unknowns.lower.copy(), unknowns.upper.copy()
        self.smallest = np.full(size, FREE, dtype=np.int64)
        self.largest = np.full(size, -FREE, dtype=np.int64)
        self.unproven = np.zeros((2, size), dtype=bool)
        self.cells = np.flatnonzero(asked)
        self._unknowns = unknowns
        self._matrix = unknowns.matrix()
        self._low, self._high = np.full(size, np.inf), np.full(size, -np.inf)
        self._done = np.zeros((2, size), dtype=bool)  # bounds of which nothing more is to be had
        self._lock = Lock()
        if solution is not None:
            self._take(solution.astype(np.float64))

    # -- what is settled ------------------------------------------------------------------------

    def _unsettled(self, side: int) -> Int64:
        """The cells whose lower (1) or upper (-1) bound may be narrower."""
        cells = self.cells
        if side > 0:
            reached = self._low[cells] <= self.lower[cells] + _NEAR
        else:
            reached = self._high[cells] >= self.upper[cells] - _NEAR
        return np.asarray(cells[~(reached | self._done[_at(side), cells])])

    def _is_settled(self, cell: int, side: int) -> bool:
        if self._done[_at(side), cell]:
            return True
        if side > 0:
            return bool(self._low[cell] <= self.lower[cell] + _NEAR)
        return bool(self._high[cell] >= self.upper[cell] - _NEAR)

    def _take(self, values: Float64) -> None:
        """Remember what a table reaches."""
        whole = np.rint(values).astype(np.int64)
        given, rows = self._unknowns, self._unknowns.rows
        sums = self._matrix @ whole
        fits = (
            ((sums >= rows.lower) & (sums <= rows.upper)).all()
            and (whole >= given.lower).all()
            and (whole <= given.upper).all()
        )
        with self._lock:
            np.minimum(self._low, values, out=self._low)
            np.maximum(self._high, values, out=self._high)
            if fits:
                np.minimum(self.smallest, whole, out=self.smallest)
                np.maximum(self.largest, whole, out=self.largest)

    # -- linear programs ------------------------------------------------------------------------

    def solver(self) -> Solver:
        """A solver for the programs of this search; one for each thread."""
        return solver_of(self._unknowns)

    def sweep(self, solver: Solver) -> None:
        """Goals for all unsettled bounds at once, for as long as that pays."""
        while True:
            below, above = self._unsettled(1), self._unsettled(-1)
            before = below.size + above.size
            if before <= _SWEEP_PAYS:
                return
            for cells, side in ((below, 1), (above, -1)):
                cost = np.zeros(self._unknowns.size)
                cost[cells] = side
                answer = solver(cost)
                if answer.status is Status.INFEASIBLE:
                    raise Contradiction
                if answer.status is Status.OPTIMAL:
                    self._take(answer.values)
            if before - self._unsettled(1).size - self._unsettled(-1).size <= _SWEEP_PAYS:
                return

    def settle(self, solver: Solver, cells: Int64) -> None:
        """Both bounds of some cells."""
        for side in (1, -1):
            for cell in cells.tolist():
                if not self._is_settled(cell, side):
                    self._settle(solver, cell, side)

    def _settle(self, solver: Solver, cell: int, side: int) -> None:
        goal = np.zeros(self._unknowns.size, dtype=np.int64)
        goal[cell] = side
        answer = solver(goal.astype(np.float64))
        if answer.status is Status.INFEASIBLE:
            raise Contradiction
        if answer.status is Status.OPTIMAL:
            self._take(answer.values)
            self._narrow(cell, side, goal, answer)
        elif answer.status is not Status.UNBOUNDED:
            self.unproven[_at(side), cell] = True
        self._done[_at(side), cell] = True

    def _narrow(self, cell: int, side: int, goal: Int64, answer: Answer) -> None:
        proven = proof(self._unknowns, goal, answer.prices)
        # A solver is right to so many digits: of large values the last ones are not its own.
        value = side * float(answer.values[cell])
        told = int(np.ceil(value - _NEAR - _DIGITS * np.abs(answer.values).max()))
        if proven is None or proven.least < told:
            # The prices were too far off to prove what the solver says.
            self.unproven[_at(side), cell] = True
            self._set(cell, side, told)
        else:
            self._set(cell, side, proven.least)

    def _set(self, cell: int, side: int, least: int) -> None:
        """Every bound is the least of something: an upper one of the value turned round."""
        if side > 0:
            self.lower[cell] = max(self.lower[cell], least)
        else:
            self.upper[cell] = min(self.upper[cell], -least)

    # -- whole numbers --------------------------------------------------------------------------

    def settle_whole(self) -> Iterator[float]:
        """Move bounds that no whole table reaches to where one does; tells how much is done."""
        program = _whole_program(self._unknowns)
        todo = [(cell, side) for side in (1, -1) for cell in self.cells.tolist()]
        for done, (cell, side) in enumerate(todo, start=1):
            self._settle_whole(program, cell, side)
            yield done / len(todo)

    def _settle_whole(self, program: LinearProgram, cell: int, side: int) -> None:
        if side > 0:
            bound, reached = self.lower[cell], self.smallest[cell] <= self.lower[cell]
        else:
            bound, reached = self.upper[cell], self.largest[cell] >= self.upper[cell]
        if reached or abs(int(bound)) >= FREE:
            return
        cost = np.zeros(self._unknowns.size)
        cost[cell] = side
        solution = _solve_whole(program.with_cost(cost))
        if solution.status is Status.INFEASIBLE:
            raise Contradiction
        if solution.has_values:
            self._take(solution.values)
        if solution.optimal:
            self._set(cell, side, round(solution.objective))


def _at(side: int) -> int:
    return 0 if side > 0 else 1


def _whole_program(unknowns: Unknowns) -> LinearProgram:
    return replace(program_of(unknowns), integer=np.ones(unknowns.size, dtype=bool))


def _solve_whole(program: LinearProgram) -> Solution:
    """CP-SAT where it is installed and every cell has bounds, else HiGHS."""
    if np.isfinite(program.lower).all() and np.isfinite(program.upper).all():
        try:
            return cp_sat.solve(program, limits=_WHOLE)
        except MissingExtra:
            pass
    return highs.solve(program, limits=_WHOLE)
