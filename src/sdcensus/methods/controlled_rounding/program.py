"""The nearest table of multiples as an integer program, for small tables of any kind."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.methods.controlled_rounding.problem import RoundingProblem
from sdcensus.methods.controlled_rounding.sums import sums_of
from sdcensus.solvers.limits import Limits
from sdcensus.solvers.program import LinearProgram, Status
from sdcensus.solvers.solve import Solver, solve

Int64 = npt.NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class ProgramResult:
    """What an integer program told.

    Attributes:
        status: How it ended.
        steps: The steps of all cells; ``None`` where none were found.
        distance: No table is nearer than this; below 0 where nothing is known.
        repeatable: Whether every machine finds the same.
    """

    status: Status
    steps: Int64 | None
    distance: int
    repeatable: bool


def nearest_by_program(
    problem: RoundingProblem, solver: Solver, limits: Limits, start: Int64 | None = None
) -> ProgramResult:
    """Look for the nearest table, and prove that it is; of equally near ones with fewest away.

    Args:
        problem: What cells may become.
        solver: Who looks.
        limits: When it ends.
        start: Steps from which the search may begin.
    """
    model = _Model(problem)
    solution = solve(model.program(start), solver, limits=limits)
    steps = None
    if solution.has_values:
        steps = model.steps(solution.values)
        # Solvers work with rounded numbers; what they found is checked in whole ones.
        if not problem.holds(steps):
            steps = None
    distance = -1
    if np.isfinite(solution.bound):
        distance = model.least_distance(solution.bound)
    status = solution.status
    if status is Status.OPTIMAL:
        status = Status.FAILED if steps is None else status
        distance = -1 if steps is None else problem.distance(steps)
    return ProgramResult(status, steps, distance, solution.repeatable)


class _Model:
    """The variables: for each cell that can move its steps below the first, the first step from
    the multiple below to the one above, and its steps beyond; and the side of gaps.

    Attributes:
        factor: What a unit of distance costs; a step away from the nearest costs 1 more, and all
            these together less than a unit of distance.
        constant: What cells cost that take no step.
    """

    __slots__ = ("_cells", "_gaps", "_problem", "_ties", "constant", "factor")

    def __init__(self, problem: RoundingProblem) -> None:
        self._problem = problem
        self._cells = np.flatnonzero(problem.low < problem.high)
        gaps = problem.gap_low <= problem.gap_high
        self._gaps = np.flatnonzero(gaps[self._cells])
        seen = self._cells[problem.weight[self._cells] > 0]
        far = np.maximum(-problem.low[seen], problem.high[seen])
        self._ties = int(np.maximum(far, 1).sum())
        self.factor = self._ties + seen.size + 1
        fixed = np.where(problem.low == problem.high, problem.low, 0)
        self.constant = problem.distance(fixed)

    def least_distance(self, bound: float) -> int:
        """The distance that no table is below if none costs less than this."""
        # Of what a table costs, so much at most is not for its distance.
        return int(np.ceil((bound - self._ties) / self.factor - 1e-6)) + self.constant

    def program(self, start: Int64 | None) -> LinearProgram:
        """The program."""
        problem, cells, gaps = self._problem, self._cells, self._gaps
        size = cells.size
        costs = problem.costs(self.factor, cells=cells)
        # Down, the first step, up: costs are convex, so none is taken before the one it follows.
        lower = np.zeros(3 * size + gaps.size)
        upper = np.concatenate(
            [
                np.maximum(-costs.low, 0),
                np.clip(costs.high, 0, 1),
                np.maximum(costs.high - 1, 0),
                np.ones(gaps.size),
            ]
        ).astype(np.float64)
        lower[size : 2 * size] = np.clip(costs.low, 0, 1)
        lower[2 * size : 3 * size] = np.maximum(costs.low - 1, 0)
        lower[:size] = np.maximum(-costs.high, 0)
        rows, columns, values, wanted = self._sums()
        low, high = [wanted], [wanted]
        height = wanted.size
        own = np.arange(gaps.size)
        gap_low, gap_high = problem.gap_low[cells][gaps], problem.gap_high[cells][gaps]
        least, most = costs.low[gaps], costs.high[gaps]
        for side in range(2):
            # Steps are at most those below the gap, or at least those above it.
            reach = (gap_low - 1 - most) if side == 0 else (least - gap_high - 1)
            for part, sign in enumerate((-1, 1, 1)):
                rows.append(height + own)
                columns.append(part * size + gaps)
                values.append(np.full(gaps.size, sign))
            rows.append(height + own)
            columns.append(3 * size + own)
            values.append(reach)
            low.append(np.full(gaps.size, -np.inf) if side == 0 else least)
            high.append(gap_low - 1 if side == 0 else np.full(gaps.size, np.inf))
            height += gaps.size
        return LinearProgram(
            cost=_real(costs.step, costs.rise, costs.step, np.zeros(gaps.size)),
            lower=lower,
            upper=upper,
            integer=np.ones(lower.size, dtype=bool),
            rows=np.concatenate(rows).astype(np.int64),
            columns=np.concatenate(columns).astype(np.int64),
            values=_real(*values),
            row_lower=_real(*low),
            row_upper=_real(*high),
            start=None if start is None else self._start(start),
        )

    def _sums(self) -> tuple[list[Int64], list[Int64], list[Int64], Int64]:
        problem, cells = self._problem, self._cells
        sums = sums_of(problem.tables)
        number = np.full(problem.size, -1, dtype=np.int64)
        number[cells] = np.arange(cells.size)
        fixed = np.where(problem.low == problem.high, problem.low, 0)
        wanted = -sums.times(problem.below + fixed)
        used = number[sums.cells] >= 0
        row, column, sign = sums.rows[used], number[sums.cells[used]], sums.signs[used]
        rows = [row, row, row]
        columns = [part * cells.size + column for part in range(3)]
        return rows, columns, [-sign, sign, sign], wanted

    def _start(self, steps: Int64) -> npt.NDArray[np.float64]:
        own = steps[self._cells]
        sides = own[self._gaps] <= self._problem.gap_high[self._cells][self._gaps]
        return _real(np.maximum(-own, 0), np.clip(own, 0, 1), np.maximum(own - 1, 0), ~sides)

    def steps(self, values: npt.NDArray[np.float64]) -> Int64:
        """The steps of all cells from values of the variables."""
        whole = np.rint(values).astype(np.int64)
        size = self._cells.size
        steps = np.where(self._problem.low == self._problem.high, self._problem.low, 0)
        steps[self._cells] = whole[size : 2 * size] + whole[2 * size : 3 * size] - whole[:size]
        return steps


def _real(*parts: npt.NDArray[np.generic]) -> npt.NDArray[np.float64]:
    return np.concatenate([np.asarray(part, dtype=np.float64) for part in parts])
