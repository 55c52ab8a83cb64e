"""What every pattern has to keep to that protects everything: cuts, from proofs that others fail.

Where a target goes no farther than a certain way, the tableau proves it: the change of the target
is a sum of changes of others, so the leeway of those that are closed bounds it. That bound holds
for any pattern; written with a variable for each unit (closed or not) it is a linear inequality
that the pattern at hand breaks.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.methods.suppression.search.leeway import PARTS, Ask, Goal, Leeway
from sdcensus.methods.suppression.search.task import Task
from sdcensus.solvers.program import LinearProgram

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: By how much of what is needed a cut has to be broken to be worth keeping.
_BROKEN = 1e-3


@dataclass(frozen=True, slots=True, eq=False)
class Cut:
    """The factors of those of these units that are closed sum to what is needed, or more."""

    units: Int64
    factors: Int64
    needed: int

    def broken(self, share: Float64) -> bool:
        """Whether units that are closed in part fall short of it."""
        return bool(self.factors @ share[self.units] < self.needed * (1 - _BROKEN))


class Proof:
    """The bound of one thing that is asked: of the way up, the way down, or both together."""

    __slots__ = ("_factors", "_most", "_needed", "_task")

    def __init__(self, task: Task, needed: int) -> None:
        self._task = task
        self._needed = self._most = needed * PARTS
        self._factors = np.zeros(task.size, dtype=np.int64)

    def take(self, leeway: Leeway, goal: Goal, reached: float) -> bool:
        """Add what the tableau proves of one way; whether it proves anything.

        Args:
            leeway: Where the unit was just sent as far as it goes.
            goal: Where it was to go.
            reached: How far it went.
        """
        task, units = self._task, leeway.units
        own = int((task.above if goal.sign > 0 else task.below)[goal.unit])
        if reached > own - _BROKEN:  # it is itself what it cannot leave behind
            self._needed -= own * PARTS
            return True
        shares = leeway.proof(goal)
        if shares is None:
            return False
        signed = shares.astype(np.int64) * goal.sign
        room = np.where(signed > 0, task.above[units], task.below[units])
        if goal.person >= 0:
            room = np.where(task.alone[units] == goal.person, 0, room)
        # More than what is needed is never needed.
        most = np.minimum(np.minimum(room, self._most) * np.abs(signed), self._most)
        self._factors[units] += most
        return True

    def cut(self) -> Cut | None:
        """The cut; ``None`` where what is closed from the beginning keeps to it."""
        given = self._task.given
        needed = self._needed - int(self._factors[given].sum())
        if needed <= 0:
            return None
        units = np.flatnonzero((self._factors > 0) & ~given)
        factors = np.minimum(self._factors[units], needed)
        common = int(np.gcd.reduce(np.append(factors, needed)))
        return Cut(units, factors // common, needed // common)


class Cuts:
    """Cuts without repetitions, and the program of the cheapest pattern that keeps to them."""

    __slots__ = ("_cuts", "_known", "_place", "_task", "candidates")

    def __init__(self, task: Task) -> None:
        self._task = task
        self._cuts: list[Cut] = []
        self._known: set[tuple[bytes, bytes, int]] = set()
        self.candidates = np.flatnonzero(~task.given)
        self._place = np.full(task.size, -1, dtype=np.int64)
        self._place[self.candidates] = np.arange(self.candidates.size)

    def __len__(self) -> int:
        return len(self._cuts)

    def add(self, cut: Cut) -> bool:
        """Keep a cut; whether it is new."""
        key = (cut.units.tobytes(), cut.factors.tobytes(), cut.needed)
        if key in self._known:
            return False
        self._known.add(key)
        self._cuts.append(cut)
        return True

    def at_least_one(self, closed: Mask) -> bool:
        """Keep that a pattern needs a unit besides some that do not do; whether that is new."""
        units = np.flatnonzero(~closed & ~self._task.given)
        return self.add(Cut(units, np.ones(units.size, dtype=np.int64), 1))

    def program(self, *, never: Mask | None = None, start: Mask | None = None) -> LinearProgram:
        """The cheapest pattern; its variables are the candidates.

        Args:
            never: Units that no better pattern closes.
            start: A pattern to begin with.
        """
        cost = self._task.cost[self.candidates].astype(np.float64)
        lengths = [cut.units.size for cut in self._cuts]
        nothing = [np.zeros(0, dtype=np.int64)]
        upper = np.ones(cost.size)
        if never is not None:
            upper[never[self.candidates]] = 0
        return LinearProgram(
            cost=cost,
            lower=np.zeros(cost.size),
            upper=upper,
            integer=np.ones(cost.size, dtype=bool),
            rows=np.repeat(np.arange(len(lengths), dtype=np.int64), lengths),
            columns=self._place[np.concatenate([cut.units for cut in self._cuts] or nothing)],
            values=np.concatenate([cut.factors for cut in self._cuts] or nothing).astype(float),
            row_lower=np.array([cut.needed for cut in self._cuts], dtype=np.float64),
            row_upper=np.full(len(lengths), np.inf),
            start=None if start is None else start[self.candidates].astype(np.float64),
        )

    def pattern(self, values: Float64) -> Mask:
        """The units that are closed in a solution of the program."""
        closed = self._task.given.copy()
        closed[self.candidates[values > 0.5]] = True
        return closed

    def shares(self, values: Float64) -> Float64:
        """How much of each unit is closed in a solution of the program without whole numbers."""
        share = self._task.given.astype(np.float64)
        share[self.candidates] = np.clip(values, 0.0, 1.0)
        return share


def broken_cut(task: Task, leeway: Leeway, ask: Ask, share: Float64) -> Cut | None:
    """A cut that units closed in part break; ``None`` where they give what is asked."""

    def farthest(goal: Goal) -> float:
        return leeway.farthest_in_part(goal, share)

    cut = _cut(task, leeway, ask, farthest)
    return cut if cut is not None and cut.broken(share) else None


def failed_cut(task: Task, leeway: Leeway, ask: Ask, closed: Mask) -> Cut | None:
    """A cut that a pattern breaks; ``None`` where it gives what is asked."""

    def farthest(goal: Goal) -> float:
        return leeway.farthest(goal, closed)[0]

    cut = _cut(task, leeway, ask, farthest)
    return cut if cut is not None and cut.broken(closed.astype(np.float64)) else None


def _cut(task: Task, leeway: Leeway, ask: Ask, farthest: Callable[[Goal], float]) -> Cut | None:
    needed, reached = ask.needed, 0.0
    proof = Proof(task, needed)
    for goal in ask.goals:
        way = farthest(goal)
        reached += way
        if reached >= needed * (1 - _BROKEN) or not proof.take(leeway, goal, way):
            return None
    return proof.cut()
