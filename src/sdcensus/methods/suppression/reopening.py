"""The last pass: closed cells that hide nothing are opened again.

A cell that is closed for another need not stay so: what is closed after it may do without it. The
cells are gone through once, those first that are wanted most. Each is opened if everything that was
asked of the pattern holds without it, by the same rules by which it was closed. Whatever is opened,
nothing becomes harder to compute: a cell that was refused stays refused, and at the end none can be
opened by itself.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.inference.row_bounds import Narrowed, narrow_rows
from sdcensus.methods.suppression.combinations import with_combinations
from sdcensus.methods.suppression.intervals import Requirements
from sdcensus.methods.suppression.problem import SuppressionProblem
from sdcensus.methods.suppression.room import Insiders
from sdcensus.methods.suppression.search.closing import Closing, Leeways
from sdcensus.methods.suppression.search.effort import Effort
from sdcensus.methods.suppression.search.leeway import Leeway
from sdcensus.methods.suppression.search.neighbourhoods import SMALL, Everything, Neighbourhoods
from sdcensus.methods.suppression.search.task import Task
from sdcensus.methods.suppression.widening import RoomAudit, Way, Widened
from sdcensus.model.progress import Progress, no_progress
from sdcensus.solvers.audit.audit import narrowed
from sdcensus.solvers.audit.system import FREE
from sdcensus.solvers.limits import Limits

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Which of some closed cells elimination lets open, all of them together, in their order.
Openable = Callable[[Mask, Int64], Int64]


def opened_again(
    problem: SuppressionProblem,
    widened: Widened,
    openable: Openable,
    *,
    insiders: Insiders | None,
    limits: Limits,
    progress: Progress = no_progress,
) -> Mask:
    """Open closed cells until none can be opened by itself.

    Args:
        problem: What is asked.
        widened: The cells that are closed, and what has to hold for them.
        openable: What elimination says.
        insiders: Those who are alone in a closed cell; ``None`` for nobody.
        limits: When it is time to end; what is closed then stays closed.
        progress: Told how far it is.
    """
    closed = widened.closed.copy()
    order = problem.order
    left = order[(closed & ~problem.primary & ~problem.frozen & problem.shown)[order]]
    check: _Check | None = None
    effort = Effort(limits)
    while left.size:
        candidates = openable(closed, left)
        if not candidates.size:
            break
        check = check or _Check(problem, widened, insiders, effort)
        refused = np.zeros(problem.size, dtype=bool)
        for done, cell in enumerate(candidates.tolist()):
            if effort.over:
                return closed
            progress("opening cells again", done / candidates.size)
            if check.opens(cell):
                closed[cell] = False
            else:
                refused[cell] = True
        # What elimination refused it would open only without a cell that was refused after all.
        left = left[closed[left] & ~refused[left]] if refused.any() else left[:0]
    return closed


class _Check:
    """Whether cells can be opened, one after the other, by what has to hold for a pattern."""

    def __init__(
        self,
        problem: SuppressionProblem,
        widened: Widened,
        insiders: Insiders | None,
        effort: Effort,
    ) -> None:
        self._problem, self._widened, self._insiders = problem, widened, insiders
        self._closed = widened.closed.copy()
        self._sums = _SingleSums(problem, widened)
        self._changes: _KnownChanges | None = None
        self._effort = effort

    def opens(self, cell: int) -> bool:
        """Open a cell if that exposes nothing; whether it did."""
        bounds = self._sums.without(cell)
        if bounds is None:
            return False
        if Way.PROGRAMS in self._widened.audit.ways:
            if self._changes is None:
                self._changes = _KnownChanges(
                    self._problem, self._widened, self._insiders, self._closed, self._effort
                )
            if not self._holds_without(self._changes, cell):
                return False
            self._changes.open(cell)
        self._sums.take(bounds)
        self._closed[cell] = False
        return True

    def _holds_without(self, changes: _KnownChanges, cell: int) -> bool:
        """Whether all primary cells have room without a closed cell, for those inside as well."""
        closed = self._closed.copy()
        closed[cell] = False
        audit, widened = self._widened.audit, self._widened
        for asked, persons in changes.in_doubt(cell):
            # What changes of whole numbers do not show, the audit has to say.
            if persons is None:
                if not audit.has_room(closed, asked, widened.room, no_progress):
                    return False
                continue
            for known in persons:
                if self._insiders is None or not closed[known]:
                    continue
                others = asked & audit.others(self._insiders, known)
                if not audit.has_room(closed, others, audit.room_inside(), no_progress, known):
                    return False
        return True


class _SingleSums:
    """Bounds of closed cells as far as sums one by one narrow them: what is quick to see."""

    def __init__(self, problem: SuppressionProblem, widened: Widened) -> None:
        system = widened.audit.system(widened.closed, None)
        start = narrowed(system.unknowns())
        self._rows, self._bounds = start.rows, (start.lower, start.upper)
        self._place = np.full(system.hidden.size, -1, dtype=np.int64)
        self._place[start.cells] = np.arange(start.cells.size)
        self._values = problem.values
        self._cells = np.flatnonzero(problem.primary)
        self._room = widened.room

    def without(self, cell: int) -> tuple[Int64, Int64] | None:
        """The bounds with a cell opened; nothing where a primary cell has too little room then."""
        lower, upper = (bounds.copy() for bounds in self._bounds)
        lower[self._place[cell]] = upper[self._place[cell]] = self._values[cell]
        visits = 1_000 * max(self._rows.starts.size - 1, 1)
        if narrow_rows(self._rows, lower, upper, FREE, visits) >= Narrowed.CONTRADICTION:
            return None
        low, high = self._values.copy(), self._values.copy()
        low[self._cells] = lower[self._place[self._cells]]
        high[self._cells] = upper[self._place[self._cells]]
        lacking = self._room.lacking(low, high)[self._cells]
        return None if lacking.any() else (lower, upper)

    def take(self, bounds: tuple[Int64, Int64]) -> None:
        """Go on with what ``without`` answered."""
        self._bounds = bounds


class _KnownChanges:
    """Changes of closed cells that prove that primary cells have room, found as they are needed."""

    def __init__(
        self,
        problem: SuppressionProblem,
        widened: Widened,
        insiders: Insiders | None,
        closed: Mask,
        effort: Effort,
    ) -> None:
        self._problem, self._known = problem, widened.known
        task = _task(problem, widened, insiders, closed)
        self._task, self._closed = task, np.ones(task.size, dtype=bool)
        self._closing = Closing(task, _leeways(task, widened.audit, effort), effort)
        self._proven: set[int] = set()

    def in_doubt(self, cell: int) -> Iterator[tuple[Mask, tuple[int, ...] | None]]:
        """Primary cells for which no change shows that they have room without a closed cell.

        Yields:
            A mask of some of them, with the cells of those inside for whom that is so, or ``None``
            where it is for everybody.
        """
        unit = int(self._task.unit[cell])
        if unit < 0:
            return
        changes, closed = self._closing.changes, self._closed.copy()
        closed[unit] = False
        touched = {target for use in changes.using(unit) for target in changes.targets_of(use)}
        for target in self._task.targets.tolist():
            if target not in touched and target in self._proven:
                continue
            failed: set[int] = set()
            while True:
                asks = changes.open_asks(target, without=unit)
                ask = next((ask for ask in asks if ask.person not in failed), None)
                if ask is None:
                    break
                change = self._closing.within(ask, closed, without=unit)
                if change is not None:
                    changes.add(change)
                    continue
                failed.add(ask.person)
                if ask.person < 0:
                    yield self._cells(target), None
                    yield self._cells(target), self._known
                    break
                yield self._cells(target), self._persons(ask.person)
            if failed:
                self._proven.discard(target)
            else:
                self._proven.add(target)

    def open(self, cell: int) -> None:
        """Go on without a closed cell."""
        unit = int(self._task.unit[cell])
        if unit < 0:
            return
        self._closed[unit] = False
        for number in self._closing.changes.using(unit):
            self._closing.changes.remove(number)

    def _cells(self, target: int) -> Mask:
        """The primary cells of a unit."""
        return np.asarray(self._problem.primary & (self._task.unit[: self._problem.size] == target))

    def _persons(self, person: int) -> tuple[int, ...]:
        """The cells of those who count as one person."""
        task = self._task
        return tuple(
            cell
            for cell in self._known
            if task.unit[cell] >= 0 and task.alone[task.unit[cell]] == person
        )


def _task(
    problem: SuppressionProblem, widened: Widened, insiders: Insiders | None, closed: Mask
) -> Task:
    """What changes have to show: nothing but closed cells change."""
    room, primary, values = widened.room, problem.primary, problem.values
    upper = np.where(primary, room.high - values, 0)
    if problem.reach is not None:
        upper = np.where(primary, np.maximum(upper, room.width), 0)
    alone = np.full(problem.size, -1, dtype=np.int64)
    if insiders is not None and widened.known:
        group = insiders.group
        named = np.isin(group, group[np.array(widened.known, dtype=np.int64)])
        alone = np.where(named & (problem.counts == 1), group, -1)
    asked = Requirements(
        lower=np.where(primary, values - room.low, 0),
        upper=upper,
        width=np.where(primary, room.width, 0),
        least=problem.least,
        most=np.full(problem.size, FREE) if problem.reach is None else problem.reach.most,
        alone=alone,
    )
    audit = widened.audit
    opened = replace(problem, forced=problem.shown & ~closed)
    if audit.has_combinations:
        opened, asked = with_combinations(audit.linked, opened, asked)
    task = Task.of(opened, asked, audit.tables.name)
    # Who is inside a sum knows a part that is there: nothing is asked downwards.
    return replace(task, lower_inside=np.zeros_like(task.lower_inside))


def _leeways(task: Task, audit: RoomAudit, effort: Effort) -> Leeways:
    """Where changes are looked for: among all units if they are few, else near the target."""
    if task.size <= SMALL or audit.has_combinations:
        return Everything(Leeway(task, np.arange(task.size, dtype=np.int64), effort))
    return Neighbourhoods(task, audit.tables, effort)
