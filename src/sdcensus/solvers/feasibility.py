"""Exact intervals of cells: the smallest and the largest count in any table that fits.

Most bounds of the shuttle are exact, and a table that reaches one proves it. Such tables are
looked for by changing cells one at a time, which takes a thousandth of the time of a linear
program and gives whole numbers. Programs are solved for the bounds that remain.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from concurrent.futures import Executor, ThreadPoolExecutor
from threading import Lock, local
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import MissingExtra, SpecError
from sdcensus.kernels.inference.whole_tables import CellBounds, reach, repair
from sdcensus.model.inference.intervals import Intervals, shuttle
from sdcensus.model.inference.knowledge import UNBOUNDED, cell_mask
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.solvers import cp_sat, highs
from sdcensus.solvers.or_tools import Glop, Pdlp
from sdcensus.solvers.program import Float64, Int64, LinearProgram, Solution, Status
from sdcensus.solvers.table_program import TableProgram, bounds_of

Goal = Callable[[Float64], Solution]
#: Something that is done for the bound of a cell: the lower one (1) or the upper one (-1).
Settle = Callable[[int, int], None]

#: The largest table for which programs are solved.
MOST_CELLS = 100_000
#: The largest table of which all cells are done when none are named.
MOST_CELLS_AT_ONCE = 25_000

#: How far from a whole number a solution may lie to be taken for it. Solvers are right to about
#: 1e-7; the fractions that occur in tables have small denominators.
_NEAR = 1e-5
#: Programs with more variables than this are too large for the simplex method, and for integer
#: programs that may take for ever.
_LARGE = 5_000
#: Cells that are looked at to find a first table, for each entry of the table's sums; and at most
#: to find one that reaches a bound: from the table before, and anew.
_STEPS_TO_START, _STEPS_TO_REACH, _STEPS_ANEW = 500, 500_000, 10_000_000
#: Cells whose bounds are looked for in one go, and how often one bound is moved without a program.
_IN_ONE_GO, _MOVES = 64, 20


def exact_intervals(
    spec: TableSpec,
    lower: Int64,
    upper: Int64,
    *,
    cells: npt.NDArray[Any] | None = None,
    integer: bool = False,
    workers: int | None = None,
    progress: Progress = no_progress,
) -> Intervals:
    """The narrowest intervals that bounds and sums allow.

    A linear program lets cells be fractions; its bounds are rounded inwards, which is right
    because counts are whole. An integer program lets them be whole numbers only: each of its
    bounds is the count of the cell in some table that fits. (In a table of more than 5,000 base
    cells, where for a cell no such table is found, the bound of the linear program stands.)
    Where no table fits, the cells that were asked for have empty intervals (lower above upper).

    OR-tools is used where it is installed; without it, HiGHS solves each program from scratch.

    Args:
        spec: The table, of at most 100,000 cells.
        lower, upper: What is known of each cell (``Knowledge.bounds``).
        cells: The cells that are asked for, by number (the last axis running fastest) or as a
            mask; all of a small table if ``None``. Other cells keep the bounds of the shuttle.
        integer: Whether cells are whole numbers in the programs.
        workers: How many threads work; as many as processors if ``None``.
        progress: Told how many bounds are settled.
    """
    _check_size(spec, everything=cells is None)
    if workers is not None and (type(workers) is not int or workers < 1):
        raise SpecError("Intervals are found by one worker or more.")
    asked = np.ones(spec.shape, dtype=bool) if cells is None else cell_mask(spec, cells)
    start = shuttle(spec, lower, upper)
    if start.contradictory or not asked.any():
        return start
    search = _Search(TableProgram.of(start), np.flatnonzero(asked), progress)
    with ThreadPoolExecutor(max_workers=workers or os.cpu_count() or 1) as threads:
        fits = search.run(threads, integer=integer)
    low, high = start.lower.copy(), start.upper.copy()
    if fits:
        low[asked] = search.bounds.lower.reshape(spec.shape)[asked]
        high[asked] = search.bounds.upper.reshape(spec.shape)[asked]
    else:
        low[asked] = high[asked] + 1
    return Intervals(spec, low, high, start.rounds)


def _check_size(spec: TableSpec, *, everything: bool) -> None:
    remedy = "Take coarser levels or a part of the areas, or use the shuttle."
    size = max(spec.cells, spec.base_cells)
    if size > MOST_CELLS:
        raise SpecError(
            f"{spec.title}: exact intervals are found for tables of at most {MOST_CELLS:,} cells,"
            f" and this one has {size:,}. {remedy}"
        )
    if everything and size > MOST_CELLS_AT_ONCE:
        raise SpecError(
            f"{spec.title}: exact intervals of all cells are found for tables of at most"
            f" {MOST_CELLS_AT_ONCE:,} cells, and this one has {size:,}. Name the cells that"
            f" matter. {remedy}"
        )


class _Search:
    """Bounds of cells, while they are narrowed or proven to be exact.

    Attributes:
        bounds: What is proven so far; bounds of cells that are not asked for stay as they are.
    """

    def __init__(self, program: TableProgram, asked: Int64, progress: Progress) -> None:
        given = program.bounds
        self.bounds = CellBounds(given.least, given.most, given.lower.copy(), given.upper.copy())
        self._program = program
        self._sums = program.adding()
        self._asked = asked
        self._progress = progress
        self._table: Int64 | None = None
        # The smallest and the largest count of each cell in the whole tables that were found, and
        # the same in tables of fractions.
        size = given.lower.size
        self._smallest = np.full(size, 2 * UNBOUNDED, dtype=np.int64)
        self._largest = np.full(size, -1, dtype=np.int64)
        self._low, self._high = np.full(size, np.inf), np.full(size, -np.inf)
        self._lock = Lock()

    def run(self, threads: Executor, *, integer: bool) -> bool:
        """Do everything; false if no table fits."""
        if not self._start(integer=integer):
            return False
        self._reach(threads)
        self._each("moving bounds", threads, self._move, fractions=True)
        linear = _of_thread(lambda: _linear(self._program.linear))
        self._each("linear programs", threads, self._solve_with(linear), fractions=True)
        if integer:
            self._each("moving bounds", threads, self._move, fractions=False)
        if integer and self._program.linear.width <= _LARGE:
            whole = _whole(self._program.whole())
            self._each("integer programs", threads, self._solve_with(whole), fractions=False)
        return True

    def _start(self, *, integer: bool) -> bool:
        """Find a first table of whole numbers; false if there is none, or not even of fractions."""
        if self._repaired(_middle(self.bounds)):
            return True
        program = self._program.linear
        solution = _linear(program)(np.zeros(program.width))
        if solution.status is Status.INFEASIBLE:
            return False
        if solution.optimal:
            self._take(solution)
            values = np.rint(solution.values).astype(np.int64)
            if self._repaired(np.clip(values, self.bounds.least, self.bounds.most)):
                return True
        if integer and program.width <= _LARGE:
            solution = _whole(self._program.whole())(np.zeros(program.width))
            if solution.status is Status.INFEASIBLE:
                return False
            if solution.optimal:
                self._table = solution.values.astype(np.int64)
        return True

    def _repaired(self, values: Int64) -> bool:
        steps = _STEPS_TO_START * self._sums.cells.size
        if repair(values, self._sums, self.bounds, steps):
            self._table = values
        return self._table is not None

    # -- tables that reach bounds ---------------------------------------------------------------

    def _reach(self, threads: Executor) -> None:
        """Look for whole tables in which the cells that are asked for are at their bounds."""
        table = self._table
        if table is None:
            return
        goes = [self._asked[at : at + _IN_ONE_GO] for at in range(0, self._asked.size, _IN_ONE_GO)]
        steps = self._most(_STEPS_TO_REACH)

        def go(cells: Int64) -> None:
            bounded = cells[self.bounds.upper[cells] < UNBOUNDED]
            with self._lock:
                small, large = self._smallest.copy(), self._largest.copy()
            reach(table.copy(), self._sums, self.bounds, bounded, small, large, steps)
            with self._lock:
                np.minimum(self._smallest, small, out=self._smallest)
                np.maximum(self._largest, large, out=self._largest)

        for done, _ in enumerate(threads.map(go, goes), start=1):
            self._progress("looking for tables", done / len(goes))

    def _move(self, cell: int, sign: int) -> None:
        """Take a bound for the count of a cell: it is reached by a table, or it moves by one."""
        # Other cells keep the bounds that were given: those that were moved are rounded inwards,
        # and what follows from them depends on the order of cells.
        bounds, given, shape = self.bounds, self._program.bounds, self._program.spec.shape
        for _ in range(_MOVES):
            lower = given.lower.reshape(shape).copy()
            upper = given.upper.reshape(shape).copy()
            goal = bounds.lower[cell] if sign > 0 else bounds.upper[cell]
            lower.reshape(-1)[cell] = upper.reshape(-1)[cell] = goal
            with_goal = shuttle(self._program.spec, lower, upper)
            if not with_goal.contradictory:
                inside = bounds_of(with_goal, self._program.sums)
                values = _middle(inside)
                if repair(values, self._sums, inside, self._most(_STEPS_ANEW)):
                    self._take(Solution(Status.OPTIMAL, values.astype(np.float64), 0.0))
                return
            with self._lock:
                if sign > 0:
                    bounds.lower[cell] += 1
                else:
                    bounds.upper[cell] -= 1
            if bounds.lower[cell] > bounds.upper[cell]:
                return

    def _most(self, steps: int) -> int:
        """A small table needs fewer steps."""
        return min(steps, 100 * self._sums.cells.size)

    # -- programs -------------------------------------------------------------------------------

    def _solve_with(self, solve: Goal) -> Settle:
        def settle(cell: int, sign: int) -> None:
            solution = solve(self._program.goal(cell, sign))
            if not solution.optimal:
                return
            self._take(solution)
            # Every bound is the least of something: an upper one of the count turned round.
            least = int(np.ceil(solution.objective - _NEAR))
            with self._lock:
                if sign > 0:
                    self.bounds.lower[cell] = max(self.bounds.lower[cell], least)
                else:
                    self.bounds.upper[cell] = min(self.bounds.upper[cell], -least)

        return settle

    def _each(self, stage: str, threads: Executor, settle: Settle, *, fractions: bool) -> None:
        """Do something for every bound that no table is known to reach."""
        todo = list(self._unreached(fractions=fractions))

        def one(bound: tuple[int, int]) -> None:
            if not self._is_reached(*bound, fractions=fractions):
                settle(*bound)

        for done, _ in enumerate(threads.map(one, todo), start=1):
            self._progress(stage, done / len(todo))

    def _unreached(self, *, fractions: bool) -> Iterator[tuple[int, int]]:
        for cell in self._asked.tolist():
            for sign in (1, -1):
                if not self._is_reached(cell, sign, fractions=fractions):
                    yield cell, sign

    def _is_reached(self, cell: int, sign: int, *, fractions: bool) -> bool:
        if sign < 0 and self.bounds.upper[cell] >= UNBOUNDED:
            return True  # nothing that is published bounds the cell
        if sign > 0:
            bound, whole, near = self.bounds.lower[cell], self._smallest[cell], self._low[cell]
            return bool(whole <= bound or (fractions and near <= bound + _NEAR))
        bound, whole, near = self.bounds.upper[cell], self._largest[cell], self._high[cell]
        return bool(whole >= bound or (fractions and near >= bound - _NEAR))

    def _take(self, solution: Solution) -> None:
        """Remember what a solution reaches."""
        shown = self._program.sums @ solution.values
        base = np.rint(solution.values).astype(np.int64)
        whole = self._program.sums @ base
        given = self._program.bounds
        fits = ((whole >= given.lower) & (whole <= given.upper)).all() and (base >= 0).all()
        with self._lock:
            np.minimum(self._low, shown, out=self._low)
            np.maximum(self._high, shown, out=self._high)
            if fits:
                np.minimum(self._smallest, whole, out=self._smallest)
                np.maximum(self._largest, whole, out=self._largest)


def _middle(bounds: CellBounds) -> Int64:
    """Base cells in the middle of their bounds, to begin with."""
    half = (bounds.least + bounds.most) // 2
    return np.where(bounds.most < UNBOUNDED, half, bounds.least)


def _of_thread(make: Callable[[], Goal]) -> Goal:
    """A solver that every thread makes for itself, when it first needs it."""
    own = local()

    def solve(cost: Float64) -> Solution:
        if not hasattr(own, "solver"):
            own.solver = make()
        solution: Solution = own.solver(cost)
        return solution

    return solve


def _linear(program: LinearProgram) -> Goal:
    """A solver of OR-tools where it is installed and gets through, else HiGHS."""

    def from_scratch(cost: Float64) -> Solution:
        return highs.solve(program.with_cost(cost))

    try:
        kept = Glop(program) if program.width <= _LARGE else Pdlp(program)
    except MissingExtra:
        return from_scratch

    def solve(cost: Float64) -> Solution:
        solution = kept.solve(cost)
        return solution if solution.optimal else from_scratch(cost)

    return solve


def _whole(program: LinearProgram) -> Goal:
    """CP-SAT where it is installed, else HiGHS."""

    def solve(cost: Float64) -> Solution:
        try:
            return cp_sat.solve(program.with_cost(cost))
        except MissingExtra:
            return highs.solve(program.with_cost(cost))

    return solve
