"""Closing cells until everything is protected: the cheapest change for one target after another."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Protocol

import numpy as np
import numpy.typing as npt

from sdcensus.methods.suppression.search.changes import Change, Changes, whole_change
from sdcensus.methods.suppression.search.effort import Effort
from sdcensus.methods.suppression.search.leeway import CLOSED_COST, Ask, Goal, Leeway, slopes
from sdcensus.methods.suppression.search.task import Task
from sdcensus.methods.suppression.search.whole import Undecided, whole_search

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: How far from a whole number a way may end to have reached it.
_NEAR = 1e-5


class Leeways(Protocol):
    """For a target the units that are looked at: few at first, then more; at last all."""

    def __call__(
        self, unit: int, allowed: Mask, closed: Mask, *, few: bool = False
    ) -> Iterator[Leeway]:
        """Some units that may change, and more where these do not do (``few``: no more)."""


class Unprotected(Exception):
    """A target cannot be protected, whatever is closed.

    Attributes:
        ask: What cannot be had for it.
    """

    def __init__(self, ask: Ask) -> None:
        super().__init__()
        self.ask = ask


class Closing:
    """A pattern that grows until every target is protected, with the changes that prove it.

    Attributes:
        task: What has to be done.
        closed: The units that are closed.
        changes: What proves that targets are protected.
        insiders: What was asked for the sake of insiders that was not there already.
    """

    __slots__ = (
        "_effort",
        "_leeways",
        "_prices",
        "_slopes",
        "changes",
        "closed",
        "insiders",
        "task",
    )

    def __init__(
        self,
        task: Task,
        leeways: Leeways,
        effort: Effort,
        *,
        closed: Mask | None = None,
        changes: Changes | None = None,
        discount: Float64 | None = None,
    ) -> None:
        self.task = task
        self._leeways = leeways
        self._effort = effort
        self._slopes = slopes(task.cost)
        self.closed = task.given.copy() if closed is None else closed.copy()
        self.changes = Changes(task)
        self.insiders: dict[Ask, None] = {}
        for change in changes or ():
            if change.within(self.closed):
                self.changes.add(change)
        self._prices = self._slopes if discount is None else self._slopes * discount

    def asking_for(self, task: Task) -> Closing:
        """The same pattern where something else is asked of it."""
        other = Closing(task, self._leeways, self._effort, closed=self.closed, changes=self.changes)
        other.insiders.update(self.insiders)
        return other

    @property
    def cost(self) -> int:
        """What the pattern costs besides what is closed from the beginning."""
        return int(self.task.cost[self.closed].sum())

    def protect(self, targets: Iterable[int]) -> None:
        """Close what is missing for some targets.

        Raises:
            Unprotected: One of them cannot be protected, whatever is closed.
        """
        for target in targets:
            while asks := self.changes.open_asks(target):
                change = self._cheapest(asks[0], self.closed, self._prices)
                if change is None:
                    raise Unprotected(asks[0])
                if asks[0].person >= 0:
                    self.insiders.setdefault(asks[0])
                self.closed[change.units] = True
                self.changes.add(change)

    def improve(self, told: Callable[[float], None] | None = None) -> bool:
        """Open units that others can stand in for, the dearest first; whether it can go on.

        Args:
            told: Told how much of it is done.
        """
        better = False
        order = self._dearest_first()
        for done, unit in enumerate(order):
            if self._effort.over:
                return False
            if told is not None:
                told(done / len(order))
            better = self._open(unit) or better
        return better

    def open_needless(self) -> None:
        """Open each unit without which every target is protected by what is closed anyway.

        ``improve`` looks near each target. Here everything that is closed is looked at, so at the
        end no unit can be opened by itself. It may take as much again as the search before.
        """
        self._effort.begin_anew()
        for unit in self._dearest_first():
            if self._effort.over:
                return
            self._open(unit, instead=False)

    def _dearest_first(self) -> list[int]:
        """The units that may be opened."""
        chosen = np.flatnonzero(self.closed & ~self.task.given)
        return [int(unit) for unit in chosen[np.argsort(-self.task.cost[chosen], kind="stable")]]

    def _open(self, unit: int, *, instead: bool = True) -> bool:
        """Open a unit if what has to be closed instead costs less; or nothing may be."""
        changes, task = self.changes, self.task
        closed = self.closed.copy()
        closed[unit] = False
        before = changes.using(unit)
        added: list[int] = []
        spare = int(task.cost[unit])
        targets = sorted({target for number in before for target in changes.targets_of(number)})
        for target in targets:
            while asks := changes.open_asks(target, without=unit):
                # Nothing may be closed that costs as much as what is left to gain.
                cost = np.where(instead & (task.cost < spare), self._slopes, np.inf)
                cost[unit] = np.inf
                change = self._cheapest(asks[0], closed, cost, without=unit, few=instead)
                if change is not None:
                    spare -= self._price(change, closed)
                if change is None or (spare <= 0 and spare < task.cost[unit]):
                    for number in added:
                        if not changes.get(number).within(self.closed):
                            changes.remove(number)
                    return False
                closed[change.units] = True
                added.append(changes.add(change))
        for number in before:
            changes.remove(number)
        self.closed = closed
        return True

    def within(self, ask: Ask, closed: Mask, *, without: int = -1) -> Change | None:
        """A change of closed units alone that has what is asked, or goes a part of the way.

        Args:
            ask: What is asked.
            closed: The units that may change.
            without: Changes that touch this unit are not counted.
        """
        nothing_else = np.full(self.task.size, np.inf)
        return self._cheapest(ask, closed, nothing_else, without=without, few=False)

    def _cheapest(
        self, ask: Ask, closed: Mask, cost: Float64, *, without: int = -1, few: bool = False
    ) -> Change | None:
        """The change that costs least of those that have what is asked, or go a part of the way."""
        up, down = self.changes.reached(ask.unit, without=without, person=ask.person)
        allowed = closed | np.isfinite(cost)
        for leeway in self._leeways(ask.unit, allowed, closed, few=few):
            each = [self._change(leeway, goal, closed, cost) for goal in ask.rest(up, down)]
            changes = [change for change in each if change is not None]
            if changes:
                return min(changes, key=lambda change: self._price(change, closed))
            if ask.up and ask.down:
                change = self._as_far_as_possible(leeway, ask, closed, cost, (up, down))
                if change is not None:
                    return change
        return None

    def _as_far_as_possible(
        self, leeway: Leeway, ask: Ask, closed: Mask, cost: Float64, reached: tuple[int, int]
    ) -> Change | None:
        """Where neither way alone is far enough: one way as far as it goes."""
        allowed = closed | np.isfinite(cost)
        for goal, before in zip(ask.goals, reached, strict=True):
            farthest = int(leeway.farthest(goal, allowed)[0] + _NEAR)
            if farthest > before:
                change = self._change(leeway, replace(goal, amount=farthest), closed, cost)
                if change is not None:
                    return change
        return None

    def _price(self, change: Change, closed: Mask) -> int:
        return int(self.task.cost[change.units[~closed[change.units]]].sum())

    def _change(self, leeway: Leeway, goal: Goal, closed: Mask, cost: Float64) -> Change | None:
        values = leeway.cheapest(goal, closed, cost)
        if values is None:
            return None
        change = whole_change(self.task, leeway.units, values)
        if change is not None:
            return change
        # First among the units that the solution moves and those that are closed anyway.
        price = np.where(closed, CLOSED_COST, cost)[leeway.units]
        allowed = np.isfinite(price)
        for chosen in (allowed & ((values != 0) | closed[leeway.units]), allowed):
            units = leeway.units[chosen]
            try:
                change = whole_search(self.task, units, goal, price[chosen], self._effort)
            except Undecided:
                change = None
            if change is not None:
                return change
        return None
