"""The nearest table of multiples: by a flow, by a search, down the hierarchy or by a program."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from sdcensus.methods.controlled_rounding.atoms import rounded_atoms
from sdcensus.methods.controlled_rounding.blocks import LARGE, Descent
from sdcensus.methods.controlled_rounding.bound import Bound
from sdcensus.methods.controlled_rounding.budget import WORK_OF_A_SECOND, Budget
from sdcensus.methods.controlled_rounding.draws import Sequence
from sdcensus.methods.controlled_rounding.grid import Grid, GridAxis, GridTable, grid_tables
from sdcensus.methods.controlled_rounding.network import TableNetwork, nearest_by_flow
from sdcensus.methods.controlled_rounding.problem import RoundingProblem
from sdcensus.methods.controlled_rounding.program import ProgramResult, nearest_by_program
from sdcensus.methods.controlled_rounding.search import Found, Search
from sdcensus.methods.controlled_rounding.start import rounded_base
from sdcensus.methods.controlled_rounding.sums import every_sum
from sdcensus.model.confidential import Confidential
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.solvers.limits import NO_LIMITS, Limits, relative_gap
from sdcensus.solvers.program import Status
from sdcensus.solvers.solve import Solver

Int64 = npt.NDArray[np.int64]

#: Up to so many cells that can move, a program is asked whether there is a nearer table, and
#: whether there is any at all; for the effort ``exact`` up to many more.
_SMALL, _SMALL_TO_FIND_ANY, _LARGEST_PROGRAM = 400, 1_000, 30_000
#: What such a program may do without being asked to, in about seconds.
_LITTLE_WORK = 2.0
#: Sweeps of a search, more each time until it is near enough; so many times where it is fast.
_SWEEPS, _FEW = (10, 30, 100, 300, 1000, 3000), 2
#: Sweeps in the blocks of a large table: at least and at most.
_BLOCK_SWEEPS = (4, 40)
#: Cells and arcs that a sweep looks at, for each cell.
_WORK_OF_A_SWEEP = 80
#: How often cells of a large table that are wrong are tried to be mended in all of it: each time
#: takes seconds.
_MENDING_LARGE = 8
#: A search that finds no table goes on as long as so much of what is wrong goes away.
_HOPE = 0.7


class Effort(StrEnum):
    """How hard the nearest table is looked for.

    ``fast``: as little as possible. ``auto``: until it is near enough, small tables until it is
    proven that there is no nearer one. ``exact``: a program tries to prove it for larger ones too.
    """

    FAST = "fast"
    AUTO = "auto"
    EXACT = "exact"


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchSettings:
    """How the nearest table is looked for."""

    effort: Effort = Effort.AUTO
    solver: Solver = Solver.HIGHS
    limits: Limits = NO_LIMITS


@dataclass(slots=True, eq=False, repr=False)
class Rounding(Confidential):
    """What was found.

    Attributes:
        best: The best table so far.
        bound: No table is nearer than this.
        impossible: Whether it is proven that there is none.
        last: Steps that add up, where no table is allowed: what came nearest to allowed.
    """

    best: Found
    bound: int = 0
    impossible: bool = False
    last: Int64 | None = None

    def __repr__(self) -> str:
        return "<Rounding: confidential>"

    @property
    def gap(self) -> float:
        """How far the best may be from the nearest, as a share."""
        if self.best.steps is None:
            return float("inf")
        return relative_gap(self.best.distance, self.bound)


class Rounder:
    """The search for the nearest table of one problem.

    Attributes:
        result: What was found so far; read by whoever tells how far it is.
    """

    __slots__ = ("_budget", "_linked", "_network", "_problem", "_settings", "result")

    def __init__(
        self,
        problem: RoundingProblem,
        linked: LinkedCubes,
        settings: SearchSettings,
        budget: Budget,
        network: TableNetwork | None,
        before: Int64 | None = None,
    ) -> None:
        """Begin.

        Args:
            problem: What cells may become.
            linked: True counts.
            settings: How hard to look.
            budget: How much may be done.
            network: The tables as a network, if they are one.
            before: Steps that add up, from an earlier search, if there are any.
        """
        self._problem = problem
        self._linked = linked
        self._settings = settings
        self._budget = budget
        self._network = network
        self.result = Rounding(Found(), last=before)

    def run(self) -> Rounding:
        """Look for the nearest table."""
        problem, result = self._problem, self.result
        if (problem.low > problem.high).any():
            result.impossible = True
            return result
        if self._network is not None:
            self._by_flow(self._network)
        else:
            self._by_search()
        return result

    # -- networks --------------------------------------------------------------------------------

    def _by_flow(self, network: TableNetwork) -> None:
        problem, result = self._problem, self.result
        open_problem = problem.narrowed(problem.low, problem.high)
        steps = nearest_by_flow(open_problem, network)
        if steps is None:
            result.impossible = True
            return
        result.bound = problem.distance(steps)
        result.last = steps
        if result.best.consider(problem, steps):
            return
        # Some cells are inside of gaps: decide to which side they go.
        sided = nearest_by_flow(problem.sided(steps), network)
        if sided is not None:
            result.best.consider(problem, sided)
        self._by_program()

    # -- search ----------------------------------------------------------------------------------

    def _by_search(self) -> None:
        problem, result = self._problem, self.result
        bound = Bound(
            problem.narrowed(problem.low, problem.high), every_sum(problem.tables), self._goes_on
        )
        result.bound = bound.distance
        parts = grid_tables(problem.tables)
        if parts is None or problem.tables.size == 0:
            self._by_program(anyway=True)
            return
        axes, tables = parts
        near = problem.sided((bound.average + (1 << 13)) >> 14) if problem.has_gaps else problem
        lengths = _SWEEPS[:_FEW] if self._settings.effort is Effort.FAST else _SWEEPS
        # A program proves more about a small table than a long search finds in it.
        soon = _FEW if self._small else len(lengths)
        if len(tables) == 1 and tables[0].cells.size > LARGE:
            # What came nearest when cells were allowed less may do now, and was dear to find.
            if result.last is not None:
                self._mend(near, bound, axes, tables[0], result.last)
            if result.best.steps is None:
                self._descend(near, bound, axes, tables[0])
            lengths = ()
        self._search(near, bound, axes, tables, lengths[:soon])
        if not self._near_enough:
            self._by_program()
        if result.gap > self._settings.limits.gap and not result.impossible:
            self._search(near, bound, axes, tables, lengths[soon:])

    @property
    def _near_enough(self) -> bool:
        result, gap = self.result, self._settings.limits.gap
        return result.gap == 0 or (result.gap <= gap and not self._small)

    @property
    def _small(self) -> bool:
        """Whether a program is asked."""
        movable = int(np.count_nonzero(self._problem.low < self._problem.high))
        if self._settings.effort is Effort.EXACT:
            return movable <= _LARGEST_PROGRAM
        if self.result.best.steps is None:
            return movable <= _SMALL_TO_FIND_ANY
        return movable <= _SMALL and self._settings.effort is Effort.AUTO

    def _goes_on(self) -> bool:
        return self._budget.goes_on

    def _search(
        self,
        problem: RoundingProblem,
        bound: Bound,
        axes: list[GridAxis],
        tables: list[GridTable],
        lengths: tuple[int, ...],
    ) -> None:
        result = self.result
        if not lengths or self._budget.over:
            return
        grid = _grid(problem, axes, tables)
        if result.last is not None:
            steps = result.last[grid.numbers]
        elif len(tables) == 1:
            steps = rounded_base(problem, grid, bound.average)
        else:
            steps = rounded_atoms(self._linked, problem.rule.base)[grid.numbers]
            steps -= problem.below[grid.numbers]
        whole = np.zeros(problem.size, dtype=np.int64)
        search = Search(problem, grid, bound.average, steps, Sequence(1), self._budget.spend)

        def seen() -> None:
            whole[grid.numbers] = search.steps
            result.best.consider(self._problem, whole)

        seen()
        wrong = np.inf
        for sweeps in lengths:
            search.cool(sweeps, seen)
            if result.gap <= self._settings.limits.gap or self._budget.over:
                break
            if result.best.steps is None:
                # A program tells sooner whether there is any.
                if self._small or search.wrong > _HOPE * wrong:
                    break
                wrong = search.wrong
        whole[grid.numbers] = search.steps
        result.last = whole

    def _descend(
        self, problem: RoundingProblem, bound: Bound, axes: list[GridAxis], table: GridTable
    ) -> None:
        result, budget = self.result, self._budget
        work = self._settings.limits.work
        affordable = _BLOCK_SWEEPS[1]
        if work is not None:
            affordable = int(work * WORK_OF_A_SECOND / (_WORK_OF_A_SWEEP * problem.size))
        sweeps = min(max(affordable, _BLOCK_SWEEPS[0]), _BLOCK_SWEEPS[1])
        if self._settings.effort is Effort.FAST:
            sweeps = _BLOCK_SWEEPS[0]
        descent = Descent(problem, bound.average, sweeps, budget.note, _no_one)
        descent.run(axes, table)
        result.last = descent.steps
        self._mend(problem, bound, axes, table, descent.steps)

    def _mend(
        self,
        problem: RoundingProblem,
        bound: Bound,
        axes: list[GridAxis],
        table: GridTable,
        steps: Int64,
    ) -> None:
        """Take steps of a large table, mended where they are not allowed: every total may move."""
        result, budget = self.result, self._budget
        result.best.consider(self._problem, steps)
        if result.best.steps is not None or not budget.goes_on:
            return
        grid = _grid(problem, axes, [table])
        search = Search(problem, grid, bound.average, steps[grid.numbers], Sequence(1), budget.note)
        search.mend(_MENDING_LARGE)
        whole = np.zeros(problem.size, dtype=np.int64)
        whole[grid.numbers] = search.steps
        result.last = whole
        result.best.consider(self._problem, whole)

    # -- programs --------------------------------------------------------------------------------

    def _by_program(self, *, anyway: bool = False) -> None:
        """Ask a program for a nearer table, or for a proof that there is none."""
        if not self._budget.goes_on or not (self._small or anyway):
            return
        settings, result = self._settings, self.result
        work = settings.limits.work
        if settings.effort is not Effort.EXACT:
            work = _LITTLE_WORK if work is None else min(work, _LITTLE_WORK)
        limits = Limits(work=work, seconds=self._budget.seconds)
        told = nearest_by_program(self._problem, settings.solver, limits, result.best.steps)
        self._take(told)

    def _take(self, told: ProgramResult) -> None:
        result = self.result
        if not told.repeatable:
            self._budget.late = True
        if told.status is Status.STOPPED:
            self._budget.stopped = True
        if told.status is Status.INFEASIBLE:
            result.impossible = result.best.steps is None and not self._problem.hides
        result.bound = max(result.bound, told.distance)
        if told.steps is not None:
            result.last = told.steps
            result.best.consider(self._problem, told.steps)


def _no_one(done: float) -> None:
    """Nobody is told."""


def _grid(problem: RoundingProblem, axes: list[GridAxis], tables: list[GridTable]) -> Grid:
    walls = [problem.walls[np.where(table.cells >= 0, table.cells, 0)] for table in tables]
    return Grid.of(axes, tables, walls)
