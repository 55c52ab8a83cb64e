"""A pattern for large tables: down the hierarchy, module by module, each change proven at once.

The coarsest cells are protected first. For each one a module is looked at, few codes of every axis
with all their sums up to the totals, and within it the cheapest change is closed that makes the
cell go as far as is required. A change keeps every sum of all tables, so what protects a cell in
its module protects it in all of them: nothing is gone back to, and the result passes an audit.
Where a module has no such change it grows, at last to everything. Afterwards cells are opened again
for which others can stand in.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.methods.suppression.intervals import Requirements
from sdcensus.methods.suppression.problem import SuppressionProblem
from sdcensus.methods.suppression.search.closing import Closing, Leeways, Unprotected
from sdcensus.methods.suppression.search.effort import Effort
from sdcensus.methods.suppression.search.leeway import Ask, Leeway
from sdcensus.methods.suppression.search.neighbourhoods import SMALL, Everything, Neighbourhoods
from sdcensus.methods.suppression.search.reasons import cannot_be_protected
from sdcensus.methods.suppression.search.task import Task
from sdcensus.model.confidential import Confidential
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.progress import Progress, no_progress
from sdcensus.solvers.audit.system import FREE
from sdcensus.solvers.limits import NO_LIMITS, Limits
from sdcensus.solvers.program import Status
from sdcensus.solvers.report import SolutionReport

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

WHAT = "cost of closed cells"
#: How far from a whole number a way may end to have reached it.
_NEAR = 1e-5


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Answer(Confidential):
    """What an engine with intervals answers.

    Attributes:
        closed: The cells that are closed, primary and frozen ones among them.
        lower: How far below its count each cell can be: as asked, or as far as it can be with
            everything closed, where everybody knows more.
        report: What they cost, and how near that is to the least.
    """

    closed: Mask
    lower: Int64
    report: SolutionReport

    def __repr__(self) -> str:
        return f"<Answer for {self.closed.size} cells: confidential>"


def modular_pattern(
    tables: LinkedTables,
    problem: SuppressionProblem,
    asked: Requirements,
    progress: Progress = no_progress,
    *,
    limits: Limits = NO_LIMITS,
) -> Answer:
    """A pattern that protects every target, found down the hierarchy.

    Limits end what is done to make the pattern cheaper, never what makes it safe. An interruption
    keeps the pattern, once there is one.

    Args:
        tables: The tables.
        problem: What has to become of the cells.
        asked: How well they have to be protected.
        progress: Told how far it is.
        limits: When it is cheap enough.

    Raises:
        SpecError: A cell cannot be protected, whatever is closed.
    """
    task = Task.of(problem, asked, tables.name)
    if not task.targets.size:
        return no_targets(task, problem)
    effort = Effort(limits)
    closing = first_pattern(task, tables, problem, effort, progress)
    task, stopped = closing.task, False
    try:
        make_cheaper(closing, progress)
        closing.open_needless()
    except KeyboardInterrupt:
        stopped = True
    return answered(
        task,
        problem,
        closing,
        status=Status.STOPPED if stopped else Status.LIMIT,
        bound=float(task.paid) if not closing.cost else float("-inf"),
        repeatable=not (stopped or effort.by_clock),
    )


def first_pattern(
    task: Task,
    tables: LinkedTables,
    problem: SuppressionProblem,
    effort: Effort,
    progress: Progress,
) -> Closing:
    """A pattern that protects every target, the coarsest first.

    A target that cannot go down as far as is asked, with everything closed, goes as far as it can:
    whoever sees the empty cells knows the rest, and who is alone in a closed one knows more. Its
    task is then another one, that of the result.

    Raises:
        SpecError: A target cannot be protected, whatever is closed.
    """
    leeways: Leeways
    # Combinations of codes behind the cells of the tables have no place in these.
    if task.size <= SMALL or problem.size > tables.size:
        leeways = Everything(Leeway(task, np.arange(task.size, dtype=np.int64), effort))
    else:
        leeways = Neighbourhoods(task, tables, effort)
    closing = Closing(task, leeways, effort)
    targets = _downwards(task, tables)
    for done, target in enumerate(targets):
        while True:
            try:
                closing.protect([target])
                break
            except Unprotected as failure:
                less = _as_low_as_it_goes(closing.task, tables, problem, failure.ask, effort)
                if less is None:
                    raise _reason(task, tables, problem, failure.ask, effort) from None
                closing = closing.asking_for(less)
        progress("closing cells", (done + 1) / len(targets))
    return closing


def _as_low_as_it_goes(
    task: Task, tables: LinkedTables, problem: SuppressionProblem, ask: Ask, effort: Effort
) -> Task | None:
    """The same with less asked of a target that cannot be so low; ``None`` if that is no help.

    What earlier releases show is no excuse: these cells are named instead.
    """
    cells = np.flatnonzero(task.unit == ask.unit)
    if ask.up or _forced_beside(tables, problem, cells):
        return None
    leeway = Leeway(task, np.arange(task.size, dtype=np.int64), effort)
    (goal,) = ask.goals
    farthest = int(leeway.farthest(goal, np.ones(task.size, dtype=bool))[0] + _NEAR)
    if farthest >= ask.down:
        return None
    return task.lowered(ask.unit, farthest, inside_only=ask.person >= 0)


def make_cheaper(closing: Closing, progress: Progress) -> None:
    """Open cells that others can stand in for, until there are none or it is time to end."""
    while closing.improve(lambda done: progress("opening cells again", done)):
        pass


def no_targets(task: Task, problem: SuppressionProblem) -> Answer:
    """Where nothing has to be protected, nothing is closed but what has to be."""
    closed = task.cells_closed(task.given, problem)
    report = SolutionReport(
        what=WHAT, status=Status.OPTIMAL, objective=float(task.paid), bound=float(task.paid)
    )
    return Answer(closed, task.lower_of_cells(), report)


def answered(
    task: Task,
    problem: SuppressionProblem,
    closing: Closing,
    *,
    status: Status,
    bound: float,
    repeatable: bool,
    remarks: tuple[str, ...] = (),
) -> Answer:
    """A pattern of units as one of cells, with what is known of its cost."""
    cost = float(task.paid + closing.cost)
    report = SolutionReport(
        what=WHAT,
        status=Status.OPTIMAL if bound >= cost else status,
        objective=cost,
        bound=bound,
        repeatable=repeatable,
        remarks=remarks,
    )
    return Answer(task.cells_closed(closing.closed, problem), task.lower_of_cells(), report)


def _downwards(task: Task, tables: LinkedTables) -> list[int]:
    """The targets, those that are the sum of most cells first."""
    depth = np.zeros(task.size, dtype=np.int64)
    inside = np.flatnonzero(task.unit[: tables.size] >= 0)
    np.maximum.at(depth, task.unit[inside], tables.depth()[inside])
    targets = task.targets
    needed = np.maximum(task.upper, task.lower)[targets]
    order = np.lexsort((targets, -needed, -depth[targets]))
    return [int(target) for target in targets[order]]


def _reason(
    task: Task, tables: LinkedTables, problem: SuppressionProblem, ask: Ask, effort: Effort
) -> SpecError:
    """Why a target cannot be protected: how far it goes at most, and what stands in the way."""
    everything = np.ones(task.size, dtype=bool)
    leeway = Leeway(task, np.arange(task.size, dtype=np.int64), effort)
    ways = [leeway.farthest(goal, everything)[0] for goal in ask.goals]
    cells = np.flatnonzero(task.unit == ask.unit)
    wanted = cells[(problem.primary | problem.frozen)[cells]]
    count = int(problem.counts[wanted[0]])
    sign = {1: "up", -1: "down"}
    asked = " and ".join(
        f"{sign[goal.sign]} to {max(count + goal.sign * goal.amount, 0):,}" for goal in ask.goals
    )
    both = len(ways) > 1
    text = f"a width of {ask.needed:,}" if both else asked
    if problem.reach is not None:
        text = "a width" if both else f"{sign[ask.goals[0].sign]}, as its rule asks"
    own = np.flatnonzero((task.unit >= 0) & (task.alone[task.unit] == ask.person))
    return cannot_be_protected(
        int(wanted[0]),
        text,
        at_most=int(sum(ways) + _NEAR) if problem.reach is None else None,
        enough=sum(ways) >= ask.needed - _NEAR,
        forced=_forced_beside(tables, problem, wanted),
        known=bool((task.above < FREE).any()),
        person=int(own[0]) if ask.person >= 0 and own.size else -1,
        names=task.names,
    )


def _forced_beside(tables: LinkedTables, problem: SuppressionProblem, cells: Int64) -> list[int]:
    """Cells of earlier releases that must stay open, in a sum with some cells if there are any."""
    forced = problem.forced & (problem.counts > 0) & problem.shown
    matrix = problem.equations
    rows = np.unique(matrix.rows[np.isin(matrix.columns, cells)])
    beside = np.unique(matrix.columns[np.isin(matrix.rows, rows)])
    near = beside[forced[beside]]
    return [int(cell) for cell in (near if near.size else np.flatnonzero(forced))]
