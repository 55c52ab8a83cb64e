"""Exact intervals of cells: the smallest and largest count in any table that fits.

Every solution says something about every cell: a bound of the shuttle that some solution reaches
needs no program of its own. So goals are first set for many cells at once, and the cells that
remain are done one by one, each from the solution before.
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import MissingExtra, SpecError
from sdcensus.model.axis import Axis
from sdcensus.model.intervals import Intervals, shuttle
from sdcensus.model.knowledge import UNBOUNDED, cell_mask
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.table_spec import TableSpec
from sdcensus.solvers import cp_sat, highs
from sdcensus.solvers.glop import Glop
from sdcensus.solvers.program import Float64, Int64, Program, Solution, Status

Goal = Callable[[Float64], Solution]

#: The largest table for which programs are solved.
MOST_CELLS = 100_000
#: The largest table of which all cells are done when none are named.
MOST_CELLS_AT_ONCE = 25_000

#: How far from a whole number a solution may lie to be taken for it. Solvers are right to about
#: 1e-7; the fractions that occur in tables have small denominators.
_NEAR = 1e-5
#: The most cells that share a goal, of linear and of integer programs.
_MOST_TOGETHER = 32
_MOST_WHOLE_TOGETHER = 8
_GOLDEN = 0.6180339887498949


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
    bounds is the count of the cell in some table that fits. Where no table fits, the cells that
    were asked for have empty intervals (lower above upper).

    OR-tools is used where it is installed; without it, HiGHS solves each program from scratch.

    Args:
        spec: The table, of at most 100,000 cells.
        lower, upper: What is known of each cell (``Knowledge.bounds``).
        cells: The cells that are asked for, by number (the last axis running fastest) or as a
            mask; all of a small table if ``None``. Other cells keep the bounds of the shuttle.
        integer: Whether cells are whole numbers in the programs.
        workers: How many threads solve linear programs; as many as processors if ``None``.
        progress: Told how many bounds are settled.
    """
    _check_size(spec, everything=cells is None)
    if workers is not None and (type(workers) is not int or workers < 1):
        raise SpecError("Programs are solved by one worker or more.")
    asked = np.ones(spec.shape, dtype=bool) if cells is None else cell_mask(spec, cells)
    start = shuttle(spec, lower, upper)
    if start.contradictory or not asked.any():
        return start
    search = _Search(
        _problem(start),
        np.flatnonzero(asked),
        integer=integer,
        workers=workers or os.cpu_count() or 1,
        progress=progress,
    )
    fits = search.linear() and (not integer or search.whole())
    low, high = start.lower.copy(), start.upper.copy()
    if fits:
        low.reshape(-1)[search.asked] = search.lower
        high.reshape(-1)[search.asked] = search.upper
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


@dataclass(frozen=True, slots=True, eq=False)
class _Problem:
    """A table as a program: the variables are its base cells, the rows are sums that bind.

    Attributes:
        program: Without a goal; real numbers.
        sums: Shown cells by base cells, as a sparse matrix of scipy.
        lower, upper: Bounds of the shown cells.
    """

    program: Program
    sums: Any
    lower: Int64
    upper: Int64

    def fits(self, base: Int64) -> bool:
        """Whether whole base cells make a table that fits."""
        shown = self.sums @ base
        return bool(
            (base >= 0).all() and (shown >= self.lower).all() and (shown <= self.upper).all()
        )


def _problem(start: Intervals) -> _Problem:
    from scipy.sparse import csr_array, kron

    sums: Any = csr_array(np.ones((1, 1), dtype=np.int64))
    for axis in start.spec.axes:
        sums = kron(sums, _sums_along(axis), format="csr")
    sums = csr_array(sums, dtype=np.int64)
    sums.sort_indices()
    low, high = start.lower.reshape(-1), start.upper.reshape(-1)
    least = np.zeros(sums.shape[1], dtype=np.int64)
    most = np.full(sums.shape[1], UNBOUNDED, dtype=np.int64)
    length = np.diff(sums.indptr)
    single = np.flatnonzero(length == 1)
    column = sums.indices[sums.indptr[single]]
    np.maximum.at(least, column, low[single])
    np.minimum.at(most, column, high[single])
    # Only sums that can leave their bounds need a row.
    binding = (length > 1) & ((sums @ least < low) | (sums @ most > high))
    rows = sums[np.flatnonzero(binding)].tocoo()
    program = Program(
        cost=np.zeros(least.size),
        lower=least.astype(np.float64),
        upper=_infinite(most),
        integer=np.zeros(least.size, dtype=bool),
        rows=rows.coords[0].astype(np.int64),
        columns=rows.coords[1].astype(np.int64),
        values=np.ones(rows.nnz),
        row_lower=low[binding].astype(np.float64),
        row_upper=_infinite(high[binding]),
    )
    return _Problem(program, sums, low, high)


def _sums_along(axis: Axis) -> Any:
    """The positions of an axis by its base groups."""
    from scipy.sparse import csr_array

    rows = np.concatenate([block.start + block.group for block in axis.blocks])
    columns = np.tile(np.arange(axis.base_size), len(axis.blocks))
    ones = np.ones(rows.size, dtype=np.int64)
    return csr_array((ones, (rows, columns)), shape=(len(axis.codes), axis.base_size))


def _infinite(upper: Int64) -> Float64:
    return np.where(upper >= UNBOUNDED, np.inf, upper.astype(np.float64))


@dataclass(slots=True, eq=False)
class _Side:
    """One bound of every cell that is asked for: the lower ones, or the upper ones upside down.

    Attributes:
        sign: 1 for lower bounds, -1 for upper ones: everything else is multiplied by it.
        bound: What is proven.
        seen: The least that some solution has reached.
        seen_whole: The least that some solution of whole numbers has reached.
        waiting: Cells whose bound no solution is known to have reached.
        together: How many cells share the next goal.
    """

    sign: int
    bound: Int64
    seen: Float64
    seen_whole: Float64
    waiting: deque[int] = field(default_factory=deque)
    together: int = 1
    most_together: int = 1


class _Search:
    """The bounds of the cells that are asked for, while solutions come in."""

    def __init__(
        self,
        problem: _Problem,
        asked: Int64,
        *,
        integer: bool,
        workers: int,
        progress: Progress,
    ) -> None:
        self.asked = asked
        self._problem = problem
        self._integer = integer
        self._workers = workers
        self._progress = progress
        self._sums = problem.sums[asked]
        self._lock = Lock()
        self._sides = tuple(
            _Side(sign, sign * bound[asked], *np.full((2, asked.size), np.inf))
            for sign, bound in ((1, problem.lower), (-1, problem.upper))
        )

    @property
    def lower(self) -> Int64:
        """The lower bounds of the cells that are asked for."""
        return self._sides[0].bound

    @property
    def upper(self) -> Int64:
        """The upper bounds of the cells that are asked for."""
        return -self._sides[1].bound

    def linear(self) -> bool:
        """Settle every bound by linear programs; false if no table fits."""
        return self._settle_all(
            "linear programs", lambda: _linear(self._problem.program), _MOST_TOGETHER
        )

    def whole(self) -> bool:
        """Settle every bound by integer programs; false if no table of whole numbers fits."""
        for side in self._sides:
            side.seen = side.seen_whole
        program = _whole_program(self._problem)
        return self._settle_all("integer programs", lambda: _whole(program), _MOST_WHOLE_TOGETHER)

    def _settle_all(self, stage: str, solver: Callable[[], Goal], most_together: int) -> bool:
        first = solver()
        solution = first(np.zeros(self._problem.program.width))
        if solution.status is Status.INFEASIBLE:
            return False
        self._take(solution)
        # Neighbours share sums and stand in each other's way, so goals take cells far apart.
        apart = np.argsort(np.arange(self.asked.size) * _GOLDEN % 1.0, kind="stable")
        for side in self._sides:
            bounded = np.abs(side.bound[apart]) < UNBOUNDED  # else the shuttle has proven it
            side.waiting = deque(apart[bounded].tolist())
            side.together = side.most_together = most_together

        def work(number: int) -> None:
            mine = first if number == 0 else None
            # Even workers begin below, odd ones above.
            for side in self._sides if number % 2 == 0 else self._sides[::-1]:
                while chosen := self._next(side):
                    mine = mine or solver()
                    self._settle(mine, side, chosen)
                    left = sum(len(one.waiting) for one in self._sides)
                    self._progress(stage, 1 - left / (2 * self.asked.size))

        with ThreadPoolExecutor(max_workers=self._workers) as threads:
            list(threads.map(work, range(self._workers)))
        return True

    def _next(self, side: _Side) -> list[int]:
        chosen: list[int] = []
        with self._lock:
            while side.waiting and len(chosen) < side.together:
                cell = side.waiting.popleft()
                if not _reached(side, cell):
                    chosen.append(cell)
        return chosen

    def _settle(self, solver: Goal, side: _Side, chosen: list[int]) -> None:
        """Make cells as small (or as large) as possible, all together or one alone."""
        goal = np.zeros(self.asked.size)
        goal[chosen] = side.sign
        solution = solver(self._sums.T @ goal)
        self._take(solution)
        with self._lock:
            missed = [one for one in chosen if not _reached(side, one)]
            if len(chosen) > 1:
                side.waiting.extend(missed)
            elif missed and solution.optimal:
                # Else the solver gave up, and the bound of the shuttle stands.
                least = int(np.ceil(solution.objective - _NEAR))
                side.bound[missed] = max(int(side.bound[missed[0]]), least)
            worked = 2 * len(missed) <= len(chosen)
            side.together = min(2 * side.together, side.most_together) if worked else 1

    def _take(self, solution: Solution) -> None:
        """Remember what a solution reaches."""
        if not solution.optimal:
            return
        shown = self._sums @ solution.values
        base = np.round(solution.values).astype(np.int64)
        is_whole = self._integer and self._problem.fits(base)
        whole = self._sums @ base if is_whole else shown
        with self._lock:
            for side in self._sides:
                np.minimum(side.seen, side.sign * shown, out=side.seen)
                if is_whole:
                    np.minimum(side.seen_whole, side.sign * whole, out=side.seen_whole)


def _reached(side: _Side, cell: int) -> bool:
    return bool(side.seen[cell] <= side.bound[cell] + _NEAR)


def _linear(program: Program) -> Goal:
    """GLOP where it is installed and gets through, else HiGHS."""

    def from_scratch(cost: Float64) -> Solution:
        return highs.solve(program.with_cost(cost))

    try:
        warm = Glop(program)
    except MissingExtra:
        return from_scratch

    def solve(cost: Float64) -> Solution:
        solution = warm.solve(cost)
        return solution if solution.optimal else from_scratch(cost)

    return solve


def _whole(program: Program) -> Goal:
    """CP-SAT where it is installed, else HiGHS."""

    def solve(cost: Float64) -> Solution:
        try:
            return cp_sat.solve(program.with_cost(cost))
        except MissingExtra:
            return highs.solve(program.with_cost(cost))

    return solve


def _whole_program(problem: _Problem) -> Program:
    program = problem.program
    # A cell without an upper bound is in sums without one only: more than the largest lower bound
    # of a sum never helps.
    most = float(problem.lower.max(initial=1))
    return replace(
        program,
        integer=np.ones(program.width, dtype=bool),
        upper=np.where(np.isfinite(program.upper), program.upper, program.lower + most),
    )
