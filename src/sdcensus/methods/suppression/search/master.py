"""The search for the cheapest pattern: a master program with more and more cuts."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sdcensus.methods.suppression.search.changes import Change, Changes, whole_change
from sdcensus.methods.suppression.search.closing import Closing, Leeways
from sdcensus.methods.suppression.search.cuts import Cuts, broken_cut, failed_cut
from sdcensus.methods.suppression.search.effort import Effort
from sdcensus.methods.suppression.search.leeway import CLOSED_COST, Ask, Goal, Leeway
from sdcensus.methods.suppression.search.task import Task
from sdcensus.methods.suppression.search.whole import Undecided, whole_search
from sdcensus.solvers.limits import Search, relative_gap
from sdcensus.solvers.program import LinearProgram, Solution, Status
from sdcensus.solvers.solve import Solver, solve

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Rounds with units closed in part: so many in a row that gain less than this share end it.
_PATIENCE, _GAIN = 4, 2e-3
#: Rounds in which an ask that was met is not looked at again.
_REST = 3
#: How far from a whole number a way may end to have reached it; solvers are right to about 1e-7.
_NEAR = 1e-5
#: Seconds of a usual processor for one round of the master program, and for one in part with each
#: cut that it has.
_MASTER, _PART = 60.0, 1e-4
#: Patterns that cost at most so many times the best are made cheaper.
_PROMISING = 1.1
#: The share of the gap that is left which a pattern of the master may be away from its cheapest.
_NEARLY = 0.25
#: How much of the cost of a unit counts that is wholly closed where units are closed in part.
_GUIDED = 0.1


class Master:
    """Looks for the cheapest pattern, with the best one so far and what none is below.

    Attributes:
        best: The cheapest pattern so far that protects everything, with its proof.
        bound: What no such pattern costs less than.
        sure: Whether the bound is proven in whole numbers too.
    """

    __slots__ = (
        "_asks",
        "_cuts",
        "_effort",
        "_gap",
        "_leeway",
        "_leeways",
        "_never",
        "_pool",
        "_rest",
        "_search",
        "_solver",
        "_task",
        "best",
        "bound",
        "sure",
    )

    def __init__(
        self,
        task: Task,
        leeway: Leeway,
        leeways: Leeways,
        best: Closing,
        effort: Effort,
        *,
        solver: Solver,
        gap: float,
        search: Search,
    ) -> None:
        self._task = task
        self._leeway = leeway
        self._leeways = leeways
        self._effort = effort
        self._gap = gap
        self._search = search
        self._solver = solver
        self._cuts = Cuts(task)
        self._pool = Changes(task)
        self._asks = {
            ask: None for target in task.targets.tolist() for ask in _standing(task, target)
        }
        self._rest: dict[Ask, int] = {}
        self._never = np.zeros(task.size, dtype=bool)
        self.bound = 0
        self.sure = True
        self.best = best
        self._learn(best)

    def done(self) -> bool:
        """Whether the best pattern is good enough, or it is time to end."""
        return relative_gap(self.best.cost, self.bound) <= self._gap or self._effort.over

    def run(self) -> None:
        """Search until the best pattern is good enough or it is time to end."""
        while not self.done():
            self._in_part()
            if not self._decide():
                return

    # -- units that are closed in part ----------------------------------------------------------

    def _in_part(self) -> None:
        """Add cuts for as long as they raise what units closed in part cost."""
        share = self._cuts.shares(np.zeros(self._cuts.candidates.size))
        if len(self._cuts):
            share = self._cheapest_in_part()
        costs: list[float] = []
        while not self.done() and self._separate(share):
            share = self._cheapest_in_part()
            costs.append(float(self._task.cost @ share))
            before = costs[-1 - _PATIENCE] if len(costs) > _PATIENCE else -math.inf
            if costs[-1] - before < _GAIN * costs[-1]:
                break
        if not self.done():
            self._round_up(share)

    def _round_up(self, share: Float64) -> None:
        """Close what is closed in part rather than what is not."""
        closing = Closing(
            self._task, self._leeways, self._effort, discount=1 - (1 - _GUIDED) * share
        )
        closing.protect(self._task.targets.tolist())
        self._offer(closing)

    def _offer(self, closing: Closing) -> None:
        """Make a pattern cheaper, and keep it if it is the best."""
        while closing.cost < self.best.cost * _PROMISING and closing.improve():
            pass
        self._learn(closing)
        if closing.cost < self.best.cost:
            self.best = closing
            self._raise(self.bound)

    def _separate(self, share: Float64) -> bool:
        """Add cuts that units closed in part break; whether there were any."""
        new = False
        for waiting in (True, False):
            for ask in list(self._asks):
                if waiting and self._rest.get(ask, 0) > 0:
                    self._rest[ask] -= 1
                    continue
                cut = broken_cut(self._task, self._leeway, ask, share)
                self._rest[ask] = _REST if cut is None else 0
                if cut is not None:
                    new = self._cuts.add(cut) or new
            if new:
                break
        return new

    def _cheapest_in_part(self) -> Float64:
        """The cheapest that keeps to the cuts where units may be closed in part."""
        from scipy.optimize import linprog
        from scipy.sparse import csr_array

        program = self._cuts.program(never=self._never)
        matrix = csr_array(
            (program.values, (program.rows, program.columns)), (program.height, program.width)
        )
        self._effort.add(_PART * program.height)
        result = linprog(
            program.cost,
            A_ub=-matrix,
            b_ub=-program.row_lower,
            bounds=np.stack([program.lower, program.upper], axis=1),
            method="highs",
        )
        if result.status == 2:  # nothing that is cheaper than the best keeps to all cuts
            self._raise(self.best.cost)
            return self._cuts.shares(np.zeros(program.width))
        if result.status != 0:
            return self._cuts.shares(np.zeros(program.width))
        self._raise(math.ceil(result.fun - 1e-4))
        # Units that make any pattern dearer than the best one.
        dear = result.fun + result.lower.marginals > self.best.cost + 1e-4
        self._never[self._cuts.candidates[dear]] = True
        return self._cuts.shares(result.x)

    def _raise(self, bound: int) -> None:
        if self.sure:
            self.bound = min(max(self.bound, bound), self.best.cost)
        self._search(float(self.best.cost), float(self.bound))

    # -- units that are closed or not -----------------------------------------------------------

    def _decide(self) -> bool:
        """Let the master choose a pattern; whether there is anything left to do."""
        if self.done():
            return False
        program = self._cuts.program(never=self._never, start=self.best.closed)
        solution = self._solved(program)
        if solution.status is Status.INFEASIBLE:
            self._raise(self.best.cost)
            return False
        if solution.bound > self.bound:
            self._raise(math.ceil(solution.bound - 1e-4))
        if solution.status is Status.STOPPED:
            raise KeyboardInterrupt
        if self.done() or not solution.has_values:
            return not self.done()
        closed = self._cuts.pattern(solution.values)
        closing = Closing(
            self._task, self._leeways, self._effort, closed=closed, changes=self._pool
        )
        new = self._examine(closing)
        closing.protect(self._task.targets.tolist())
        self._offer(closing)
        return new or not self.done()

    def _solved(self, program: LinearProgram) -> Solution:
        # While cuts are missing, a nearly cheapest pattern of the master is as good as any.
        gap = max(self._gap, _NEARLY * relative_gap(self.best.cost, self.bound))
        limits = replace(self._effort.left(_MASTER), gap=gap)

        def search(best: float, bound: float) -> None:
            known = max(float(self.bound), bound) if self.sure else float(self.bound)
            self._search(float(self.best.cost), min(known, float(self.best.cost)))

        solution = solve(program, self._solver, limits=limits, search=search)
        self._effort.add(solution.work)
        return solution

    def _examine(self, closing: Closing) -> bool:
        """Add cuts for everything that a pattern does not give; whether there are new ones."""
        new = False
        for target in self._task.targets.tolist():
            failed: set[Ask] = set()
            while asks := [ask for ask in closing.changes.open_asks(target) if ask not in failed]:
                for ask in asks:
                    if not self._met(closing, ask):
                        failed.add(ask)
                        self._asks.setdefault(ask)
                        self._rest[ask] = 0
                        new = self._fails(ask, closing.closed) or new
                if failed:
                    break
        return new

    def _met(self, closing: Closing, ask: Ask) -> bool:
        """Whether a pattern gives what is asked; the changes that prove it are kept."""
        up, down = closing.changes.reached(ask.unit, person=ask.person)
        total = 0
        for goal in ask.goals:
            before = up if goal.sign > 0 else down
            way, values = self._leeway.farthest(goal, closing.closed)
            whole = int(way + _NEAR)
            if whole > before:
                change = self._whole(goal, whole, way, values, closing.closed)
                if change is not None:
                    closing.changes.add(change)
                    before = whole
            total += before
        return total >= ask.needed

    def _whole(
        self, goal: Goal, whole: int, way: float, values: Float64, closed: Mask
    ) -> Change | None:
        if whole < way - _NEAR:
            values = self._leeway.farthest(replace(goal, amount=whole), closed)[1]
        change = whole_change(self._task, self._leeway.units, values)
        if change is not None:
            return change
        units = self._leeway.units[closed[self._leeway.units]]
        cost = np.full(units.size, CLOSED_COST)
        try:
            return whole_search(self._task, units, replace(goal, amount=whole), cost, self._effort)
        except Undecided:
            self.sure = False
            return None

    def _fails(self, ask: Ask, closed: Mask) -> bool:
        """Add the cut that a pattern breaks which does not give what is asked."""
        cut = failed_cut(self._task, self._leeway, ask, closed)
        if cut is not None:
            return self._cuts.add(cut)
        # In fractions it would be given, in whole numbers it is not.
        return self._cuts.at_least_one(closed)

    def _learn(self, closing: Closing) -> None:
        """Keep the changes that were found, and what insiders were found to ask."""
        for change in closing.changes:
            self._pool.add(change)
        for ask in closing.insiders:
            self._asks.setdefault(ask)


def _standing(task: Task, target: int) -> list[Ask]:
    """What is asked for a target whatever the pattern."""
    up, down = int(task.upper[target]), int(task.lower[target])
    width = int(task.width[target])
    asks = [Ask(target, up, 0)] if up else []
    if down:
        asks.append(Ask(target, 0, down))
    if width > up + down:
        asks.append(Ask(target, width, width))
    return asks
