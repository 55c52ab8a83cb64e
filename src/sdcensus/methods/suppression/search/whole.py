"""Changes of whole numbers where the linear search ends between them."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.methods.suppression.search.changes import Change, whole_change
from sdcensus.methods.suppression.search.effort import Effort
from sdcensus.methods.suppression.search.leeway import Goal
from sdcensus.methods.suppression.search.task import Task
from sdcensus.solvers import highs
from sdcensus.solvers.audit.system import FREE
from sdcensus.solvers.limits import Limits
from sdcensus.solvers.program import LinearProgram, Status

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

#: Nodes of the search tree, and what a search costs in seconds of a usual processor for each unit.
_NODES, _SECONDS_A_UNIT = 300, 1e-4
#: No unit changes by more than so many times the goal.
_TIMES = 20


class Undecided(Exception):
    """Neither a change of whole numbers was found nor that there is none."""


def whole_search(
    task: Task, units: Int64, goal: Goal, cost: Float64, effort: Effort
) -> Change | None:
    """The cheapest change of whole numbers that reaches a goal; ``None`` where there is none.

    Args:
        task: What has to be done.
        units: The units that may change.
        goal: Where one of them is to go.
        cost: What a unit of the change of each of ``units`` costs.
        effort: Counts the work.

    Raises:
        Undecided: The search ended before.
    """
    effort.add(_SECONDS_A_UNIT * units.size)
    program = _program(task, units, goal, cost)
    solution = highs.solve(program, limits=Limits(steps=_NODES))
    if solution.has_values:
        values = solution.values[: units.size] - solution.values[units.size :]
        change = whole_change(task, units, values)
        if change is not None:
            return change
    if solution.status is Status.INFEASIBLE:
        return None
    raise Undecided


def _program(task: Task, units: Int64, goal: Goal, cost: Float64) -> LinearProgram:
    """Every unit goes up, down or not at all; the goal is reached exactly."""
    size = units.size
    sums = task.matrix[:, units]
    sums = sums[np.flatnonzero(np.diff(sums.indptr))].tocoo()
    most = max(_TIMES * goal.amount, _TIMES)
    up = np.minimum(np.where(task.above[units] >= FREE, most, task.above[units]), most)
    down = np.minimum(np.where(task.below[units] >= FREE, most, task.below[units]), most)
    if goal.person >= 0:
        known = task.alone[units] == goal.person
        up[known], down[known] = 0, 0
    at = int(np.searchsorted(units, goal.unit))
    lower = np.zeros(2 * size)
    side, other = (at, size + at) if goal.sign > 0 else (size + at, at)
    upper = np.concatenate([up, down]).astype(np.float64)
    upper[other] = 0
    if upper[side] >= goal.amount:
        lower[side] = upper[side] = goal.amount
    else:  # no such change: let the solver find that out
        lower[side], upper[side] = 0, 0
    row, column = sums.coords
    rows = np.concatenate([row, row])
    columns = np.concatenate([column, column + size])
    height = sums.shape[0]
    impossible = lower[side] < goal.amount
    return LinearProgram(
        cost=np.concatenate([cost, cost]),
        lower=lower,
        upper=upper,
        integer=np.ones(2 * size, dtype=bool),
        rows=np.append(rows, height).astype(np.int64),
        columns=np.append(columns, side).astype(np.int64),
        values=np.concatenate([sums.data, -sums.data, [1]]).astype(np.float64),
        row_lower=np.append(np.zeros(height), goal.amount),
        row_upper=np.append(np.zeros(height), np.inf if not impossible else goal.amount),
    )
