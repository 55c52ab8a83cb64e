"""Secondary suppression with protection intervals: what is asked, an engine, and the audit."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.methods.suppression.combinations import (
    few_enough,
    say_more_than_sums,
    with_combinations,
)
from sdcensus.methods.suppression.intervals import (
    Protection,
    Requirements,
    lone_persons,
    requirements,
)
from sdcensus.methods.suppression.modular import Answer
from sdcensus.methods.suppression.problem import Pattern, SuppressionProblem
from sdcensus.methods.suppression.search.reasons import listed
from sdcensus.methods.suppression.widening import BY_SUMS, MOST_AUDITED
from sdcensus.model.confidential import Confidential
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.model.progress import Progress, no_progress
from sdcensus.solvers.audit.audit import audit_cells
from sdcensus.solvers.audit.intervals import CellStatus, Requirement
from sdcensus.solvers.audit.system import FREE

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: What an engine does: tables, what becomes of cells, how well they are protected, progress.
IntervalEngine = Callable[[LinkedTables, SuppressionProblem, Requirements, Progress], Answer]
#: Closing a cell that was open before costs so many times as much.
_OPEN_BEFORE = 1_000


@dataclass(frozen=True, slots=True, kw_only=True)
class IntervalTask:
    """What a method with intervals asks for.

    Attributes:
        protection: How well closed cells are protected.
        engine: Who chooses the cells.
        zeros_open: Whether empty cells that are not primary are shown.
    """

    protection: Protection
    engine: IntervalEngine
    zeros_open: bool


def protected_pattern(
    linked: LinkedCubes,
    problem: SuppressionProblem,
    task: IntervalTask,
    progress: Progress = no_progress,
) -> Pattern:
    """Close cells until every primary one is protected as required, and audit the result.

    Raises:
        SpecError: A cell cannot be protected; it is named with the reason.
    """
    tables = linked.tables
    problem = _with_known_cells(problem, task)
    chosen = _chosen(linked, problem, task, progress)
    answer = chosen.answer
    remarks = [
        *chosen.remarks,
        _audited(tables, chosen.problem, chosen.asked, answer.closed, progress),
    ]
    closed = answer.closed[: tables.size] & problem.shown
    secondary = int((closed & ~problem.primary & ~problem.frozen).sum())
    statement = (
        f"{int(problem.primary.sum()):,} primary and {secondary:,} secondary cells are closed."
    )
    again = np.flatnonzero(closed & problem.opened_before)
    if again.size:
        remarks.append(
            f"Open before and closed now, to protect others: {listed(again.tolist(), tables.name)}."
        )
    return Pattern(closed, " ".join([statement, *remarks]), answer.report)


def pattern_to_check(
    linked: LinkedCubes,
    problem: SuppressionProblem,
    task: IntervalTask,
    progress: Progress = no_progress,
) -> Mask:
    """The cells that an engine closes, before any audit.

    Raises:
        SpecError: A cell cannot be protected.
    """
    chosen = _chosen(linked, _with_known_cells(problem, task), task, progress)
    return np.asarray(chosen.answer.closed[: linked.tables.size] & problem.shown)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _Chosen(Confidential):
    """What an engine answers, and what it was asked: with combinations of codes where need be."""

    problem: SuppressionProblem
    asked: Requirements
    answer: Answer
    remarks: tuple[str, ...]

    def __repr__(self) -> str:
        return "<_Chosen: confidential>"


def _chosen(
    linked: LinkedCubes, problem: SuppressionProblem, task: IntervalTask, progress: Progress
) -> _Chosen:
    alone = lone_persons(linked) if task.protection.insiders else None
    wanted = _asked(problem, task.protection, alone)
    remarks: tuple[str, ...] = ()
    whole = problem
    if say_more_than_sums(linked):
        if few_enough(linked):
            whole, wanted = with_combinations(linked, problem, wanted)
        else:
            remarks = (BY_SUMS,)
    answer = task.engine(linked.tables, _with_empty_parts(whole), wanted, progress)
    wanted = replace(wanted, lower=np.minimum(wanted.lower, answer.lower))
    return _Chosen(whole, wanted, answer, remarks)


def _asked(
    problem: SuppressionProblem, protection: Protection, alone: Int64 | None
) -> Requirements:
    """What is asked for each cell."""
    reach = problem.reach
    if reach is None:
        return requirements(
            problem.counts,
            problem.primary,
            protection,
            frozen=problem.frozen,
            alone=alone,
            least=problem.least,
        )
    nobody = np.full(problem.size, -1, dtype=np.int64)
    return Requirements(
        lower=reach.lower,
        upper=reach.upper,
        width=np.where(problem.primary | problem.frozen, reach.width, 0),
        least=problem.least,
        most=reach.most,
        alone=nobody if alone is None else alone,
    )


def _with_known_cells(problem: SuppressionProblem, task: IntervalTask) -> SuppressionProblem:
    """Empty cells that are shown must stay open, and what was open before is dear."""
    forced = problem.forced.copy()
    if task.zeros_open:
        empty = problem.counts == 0
        # Parts of an empty cell that is not to be shown would tell that it is empty.
        hiding = _with_parts(problem, (problem.primary | problem.frozen) & empty)
        forced |= empty & problem.shown & ~problem.primary & ~problem.frozen & ~hiding
    dear = problem.opened_before & ~forced
    cost = np.where(dear, _OPEN_BEFORE * problem.cost, problem.cost)
    return replace(problem, forced=forced, cost=cost)


def _with_empty_parts(problem: SuppressionProblem) -> SuppressionProblem:
    """Parts of an open sum that is 0 are known to be 0, whether they are shown or not."""
    known = _with_parts(problem, problem.forced & (problem.counts == 0))
    return replace(problem, forced=problem.forced | known)


def _with_parts(problem: SuppressionProblem, cells: Mask) -> Mask:
    """Some cells with all their parts, and the parts of these."""
    matrix = problem.equations
    total = np.full(matrix.shape[0], -1, dtype=np.int64)
    negative = matrix.values < 0
    total[matrix.rows[negative]] = matrix.columns[negative]
    parts = (matrix.values > 0) & (total[matrix.rows] >= 0)
    part, whole = matrix.columns[parts], total[matrix.rows[parts]]
    inside = cells.copy()
    while True:
        further = part[inside[whole] & ~inside[part]]
        if not further.size:
            return inside
        inside[further] = True


def _audited(
    tables: LinkedTables,
    problem: SuppressionProblem,
    asked: Requirements,
    closed: Mask,
    progress: Progress,
) -> str:
    """Let the audit say what anybody can compute of a pattern; what is to be told of it."""
    targets = asked.asked
    if not targets.any():
        return "No cell has to be protected."
    if int(targets.sum()) > MOST_AUDITED:
        return (
            "For each of them tables of whole numbers are known that fit everything open and reach"
            f" its interval. They were not audited again: that is done for up to {MOST_AUDITED:,}."
        )
    counts, hidden = problem.values, closed | ~problem.shown
    intervals = audit_cells(
        problem.equations,
        np.where(hidden, 0, counts),
        hidden,
        lower=asked.least,
        upper=asked.most,
        asked=targets,
        integer=problem.reach is None,
        solution=counts,
        progress=lambda stage, done: progress(f"audit: {stage}", done),
    )
    low = np.where(targets, counts - asked.lower, FREE)
    high = np.where(targets, counts + asked.upper, -FREE)
    required = Requirement(width=int(asked.width.max()), reach=(low, high))
    status = intervals.status(required)
    failed = np.flatnonzero(status != CellStatus.PROTECTED)
    if failed.size:
        raise SpecError(
            f"{failed.size} cells are not as well protected as the search has it, says the audit:"
            f" {listed(failed.tolist(), tables.name)}. Nothing is published. Take another engine,"
            " and tell the makers of the program."
        )
    return "Each of them was audited: its possible values are as far apart as is required."
