"""Finding changes: the farthest that a cell can go, and the cheapest way to make it go far."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.suppressed_cells.sums import sums_of
from sdcensus.kernels.suppressed_cells.tableau import Bends, Tableau, eliminate, minimise
from sdcensus.methods.suppression.search.effort import Effort
from sdcensus.methods.suppression.search.sparse import cheapest_change, farthest_change
from sdcensus.methods.suppression.search.task import Task
from sdcensus.solvers.audit.system import FREE

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Proofs are fractions with this denominator.
PARTS = 60
#: How far sums may be from 0 before a tableau counts as worn out.
_WORN = 1e-6
#: More units than this are too many for a tableau.
MOST_DENSE = 2_500
#: What a question to a solver costs, in seconds of a usual processor for each unit.
_SECONDS_A_UNIT = 1e-4
#: Steps for one question, for each number of rows and columns, and at least.
_STEPS, _LEAST_STEPS = 20, 2_000
#: What a unit of the change that is asked for is worth: more than any change costs.
_WORTH = 1e10
#: Costs lie between these; a change of a cell that is closed anyway costs a little, so that changes
#: stay small.
LARGEST_COST, CLOSED_COST = 1e6, 1e-3


@dataclass(frozen=True, slots=True)
class Goal:
    """Where a unit is to go.

    Attributes:
        unit: The unit.
        sign: Up (1) or down (-1).
        amount: How far.
        person: Who must not notice: what this person knows stays as it is. -1 for nobody.
    """

    unit: int
    sign: int
    amount: int
    person: int = -1


@dataclass(frozen=True, slots=True)
class Ask:
    """Something that is asked for a target: to go up, to go down, or both ways together so far.

    Attributes:
        unit: The target.
        up, down: How far; 0 for a way that does not count.
        person: Who must not notice; -1 for nobody.
    """

    unit: int
    up: int
    down: int
    person: int = -1

    @property
    def needed(self) -> int:
        """How far it has to go, all ways that count together."""
        return max(self.up, self.down)

    @property
    def goals(self) -> tuple[Goal, ...]:
        """The ways that count."""
        ways = ((1, self.up), (-1, self.down))
        return tuple(Goal(self.unit, sign, way, self.person) for sign, way in ways if way)

    def rest(self, up: int, down: int) -> tuple[Goal, ...]:
        """What is missing, each way alone, where it goes so far already."""
        if not (self.up and self.down):
            return self.goals
        return (
            Goal(self.unit, 1, self.needed - down, self.person),
            Goal(self.unit, -1, self.needed - up, self.person),
        )


class Leeway:
    """Changes of some units that leave every sum as it is.

    Attributes:
        units: The units that can change, ascending; all others stay.
    """

    __slots__ = ("_effort", "_first", "_lower", "_sums", "_tableau", "_task", "_upper", "units")

    def __init__(self, task: Task, units: Int64, effort: Effort) -> None:
        self.units = units
        self._task = task
        self._effort = effort
        self._lower = -_number(task.below[units])
        self._upper = _number(task.above[units])
        self._first: Tableau | None = None
        self._tableau: Tableau | None = None
        if units.size <= MOST_DENSE:
            columns = task.columns
            self._sums = sums_of(columns.indptr, columns.indices, columns.data, units)
            self._first = Tableau(*eliminate(self._sums.copy()))
            self._tableau = _copy(self._first)
            effort.question(self._first.basic.size // 8, self._sums.size)

    def place(self, unit: int) -> int:
        """Where a unit stands among those that can change; -1 where it does not."""
        at = int(np.searchsorted(self.units, unit))
        return at if at < self.units.size and self.units[at] == unit else -1

    def farthest(self, goal: Goal, closed: Mask) -> tuple[float, Float64]:
        """How far a unit can go, at most as far as its goal, and by which change.

        Args:
            goal: Where it is to go.
            closed: The units of the task that are closed; the others do not change.
        """
        share = closed[self.units].astype(np.float64)
        return self._farthest(goal, share, self._lower, self._upper)

    def farthest_in_part(self, goal: Goal, share: Float64) -> float:
        """The same where units are closed in part: each has a share of its leeway.

        More than the goal is nobody's leeway, or the least share of no bound would be enough.
        """
        lower = np.maximum(self._lower, -float(goal.amount))
        upper = np.minimum(self._upper, float(goal.amount))
        return self._farthest(goal, share[self.units], lower, upper)[0]

    def _farthest(
        self, goal: Goal, share: Float64, lowest: Float64, highest: Float64
    ) -> tuple[float, Float64]:
        at = self.place(goal.unit)
        if at < 0:
            return 0.0, np.zeros(self.units.size)
        lower, upper = self._within(goal, at, _times(lowest, share), _times(highest, share))
        slope = np.zeros(self.units.size)
        slope[at] = -goal.sign
        values = self._solve(Bends(lower, upper, slope, -slope))
        if values is None:
            self._effort.add(_SECONDS_A_UNIT * self.units.size)
            values = farthest_change(self._task, self.units, lower, upper, at, goal.sign)
        return float(goal.sign * values[at]), values

    def cheapest(self, goal: Goal, closed: Mask, cost: Float64) -> Float64 | None:
        """The change that reaches a goal at the least cost; ``None`` where nothing reaches it.

        Args:
            goal: Where a unit is to go.
            closed: The units of the task that are closed.
            cost: What closing each of the others costs (``slopes``); infinite for those that
                must stay open.
        """
        at = self.place(goal.unit)
        if at < 0:
            return None
        slope = np.where(closed[self.units], CLOSED_COST, cost[self.units])
        share = np.isfinite(slope).astype(np.float64)
        slope[share == 0] = 0.0
        lower, upper = _times(self._lower, share), _times(self._upper, share)
        lower, upper = self._within(goal, at, lower, upper)
        up, down = slope.copy(), slope.copy()
        up[at], down[at] = -goal.sign * _WORTH, goal.sign * _WORTH
        values = self._solve(Bends(lower, upper, up, down))
        if values is None:
            self._effort.add(_SECONDS_A_UNIT * self.units.size)
            return cheapest_change(
                self._task, self.units, lower, upper, slope, at, goal.sign * goal.amount
            )
        return values if goal.sign * values[at] >= goal.amount - _WORN else None

    def proof(self, goal: Goal) -> Float64 | None:
        """Why a unit goes no farther: its change by those of others, for any change.

        After ``farthest``: the change of the unit is the sum of the changes of all units times
        these factors. ``None`` where the arithmetic is in doubt.
        """
        at = self.place(goal.unit)
        if self._first is None or self._tableau is None:
            return None
        row = np.flatnonzero(self._tableau.basic == at)
        if not row.size:
            return None
        factors = np.zeros(self.units.size)
        factors[self._tableau.free] = self._tableau.rows[row[0]]
        rounded = np.rint(factors * PARTS)
        if np.abs(rounded / PARTS - factors).max(initial=0) > _WORN:
            return None
        # Whether that holds is checked on changes from which all others can be made.
        rows, basic, free = self._first
        difference = rounded.copy()
        difference[at] -= PARTS
        if np.abs(difference[free] + difference[basic] @ rows).max(initial=0) > _WORN:
            self._tableau = _copy(self._first)
            return None
        return rounded

    def _within(
        self, goal: Goal, at: int, lower: Float64, upper: Float64
    ) -> tuple[Float64, Float64]:
        if goal.person >= 0:
            known = self._task.alone[self.units] == goal.person
            lower[known], upper[known] = 0.0, 0.0
        # The unit itself goes no farther than it has to.
        if goal.sign > 0:
            lower[at], upper[at] = 0.0, min(self._upper[at], float(goal.amount))
        else:
            lower[at], upper[at] = max(self._lower[at], -float(goal.amount)), 0.0
        return lower, upper

    def _solve(self, bends: Bends) -> Float64 | None:
        """The least cost by the tableau; ``None`` where there is none or it does not get there."""
        if self._first is None or self._tableau is None:
            return None
        numbers = int(self._first.rows.size)
        most = max(_LEAST_STEPS, _STEPS * sum(self._first.rows.shape))
        for _ in range(2):
            values = np.zeros(self.units.size)
            steps = minimise(self._tableau, bends, values, most)
            self._effort.question(steps, numbers)
            if steps < most and np.abs(self._sums @ values).max(initial=0) <= _WORN:
                return values
            self._tableau = _copy(self._first)
        return None


def _copy(tableau: Tableau) -> Tableau:
    return Tableau(tableau.rows.copy(), tableau.basic.copy(), tableau.free.copy())


def slopes(cost: Int64) -> Float64:
    """Costs as the search takes them: a range that its arithmetic can hold."""
    positive = cost[cost > 0]
    unit = float(positive.min()) if positive.size else 1.0
    return np.clip(cost / unit, 2 * CLOSED_COST, LARGEST_COST)


def _number(bounds: Int64) -> Float64:
    return np.where(bounds >= FREE, np.inf, bounds.astype(np.float64))


def _times(bounds: Float64, share: Float64) -> Float64:
    """Bounds times shares, where no share of no bound is 0."""
    times = np.zeros(bounds.size)
    np.multiply(bounds, share, out=times, where=share > 0)
    return times
