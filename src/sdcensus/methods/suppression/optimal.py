"""The cheapest pattern of closed cells that protects every primary one, with a proof of how cheap.

A pattern of the modular engine comes first, so there is always one that protects everything. Then a
master program chooses patterns that keep to the cuts found so far; for each target that such a
pattern fails, a new cut says what any pattern needs. First units may be closed in part, which is
quick and gives most of the cuts; then they are closed or not. What the master costs is below what
any pattern costs. Meanwhile every pattern of the master is completed and made cheaper, and the best
is kept.
"""

from __future__ import annotations

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.methods.suppression.intervals import Requirements
from sdcensus.methods.suppression.modular import (
    Answer,
    answered,
    first_pattern,
    make_cheaper,
    no_targets,
)
from sdcensus.methods.suppression.problem import SuppressionProblem
from sdcensus.methods.suppression.search.effort import Effort
from sdcensus.methods.suppression.search.leeway import MOST_DENSE, Leeway
from sdcensus.methods.suppression.search.master import Master
from sdcensus.methods.suppression.search.neighbourhoods import Everything
from sdcensus.methods.suppression.search.task import Task
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.progress import Progress, no_progress
from sdcensus.solvers.limits import NO_LIMITS, Limits, relative_gap
from sdcensus.solvers.program import Status
from sdcensus.solvers.solve import Solver, check_installed, reported

#: The most units for which patterns are proven to be the cheapest.
MOST_UNITS = MOST_DENSE


def cheapest_pattern(
    tables: LinkedTables,
    problem: SuppressionProblem,
    asked: Requirements,
    progress: Progress = no_progress,
    *,
    limits: Limits = NO_LIMITS,
    solver: Solver = Solver.CP_SAT,
) -> Answer:
    """The cheapest pattern that protects every target, or the best within the limits.

    An interruption keeps the best pattern so far, once there is one.

    Args:
        tables: The tables.
        problem: What has to become of the cells.
        asked: How well they have to be protected.
        progress: Told the best cost, the bound and the gap.
        limits: When the search ends before the best is proven.
        solver: Who solves the master program.

    Raises:
        SpecError: A cell cannot be protected, or there are too many cells for a proof.
        MissingExtra: The solver is not installed.
    """
    check_installed(solver)
    task = Task.of(problem, asked, tables.name)
    if task.size > MOST_UNITS:
        raise SpecError(
            f"{task.size:,} cells can change on their own, and for at most {MOST_UNITS:,} the"
            ' cheapest pattern can be proven. Take secondary = "modular", or fewer or coarser axes.'
        )
    if not task.targets.size:
        return no_targets(task, problem)
    effort = Effort(limits)
    best = first_pattern(task, tables, problem, effort, progress)
    task, stopped = best.task, False
    leeway = Leeway(task, np.arange(task.size, dtype=np.int64), effort)
    master = Master(
        task,
        leeway,
        Everything(leeway),
        best,
        effort,
        solver=solver,
        gap=limits.gap,
        search=reported(progress, "closing cells"),
    )
    try:
        make_cheaper(best, progress)
        master.run()
        master.best.open_needless()
    except KeyboardInterrupt:
        stopped = True
    cost, bound = master.best.cost, master.bound
    proven = relative_gap(cost, bound) == 0
    near = relative_gap(cost, bound) <= limits.gap
    status = Status.STOPPED if stopped else Status.LIMIT
    remarks: tuple[str, ...] = ()
    if near and not proven:
        remarks = ("That is as near as was asked for (gap).",)
    return answered(
        task,
        problem,
        master.best,
        status=Status.OPTIMAL if proven else status,
        bound=float(task.paid + bound),
        repeatable=proven or not (stopped or effort.by_clock),
        remarks=remarks,
    )
