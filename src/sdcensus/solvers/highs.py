"""HiGHS, as it comes with scipy."""

from __future__ import annotations

from math import inf

import numpy as np

from sdcensus.solvers.limits import NO_LIMITS, Limits
from sdcensus.solvers.program import LinearProgram, Solution, Status, found, nothing

#: What scipy calls the ways to end.
_STATUS = {
    0: Status.OPTIMAL,
    1: Status.LIMIT,
    2: Status.INFEASIBLE,
    3: Status.UNBOUNDED,
    4: Status.FAILED,
}


#: About how many nodes of the search tree a usual processor looks at in a second.
_NODES_A_SECOND = 100


def solve(program: LinearProgram, *, limits: Limits = NO_LIMITS) -> Solution:
    """Solve to the proven best, or until a limit."""
    # Loading scipy's optimisation takes longer than most tables.
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import csr_array

    if program.width == 0:
        return found(program, _of_constant(program), np.zeros(0))
    constraints = []
    if program.height:
        shape = (program.height, program.width)
        matrix = csr_array((program.values, (program.rows, program.columns)), shape=shape)
        constraints.append(LinearConstraint(matrix, program.row_lower, program.row_upper))
    options: dict[str, object] = {"mip_rel_gap": limits.gap}
    nodes = _nodes(limits)
    if nodes is not None:
        options["node_limit"] = nodes
    if limits.seconds is not None:
        options["time_limit"] = limits.seconds
    result = milp(
        program.cost,
        integrality=program.integer.astype(np.int64),
        bounds=Bounds(program.lower, program.upper),
        constraints=constraints,
        options=options,
    )
    status = _STATUS.get(result.status, Status.FAILED)
    if status is Status.FAILED and nodes is not None and (result.mip_node_count or 0) >= nodes:
        status = Status.LIMIT  # scipy has no word of its own for this limit
    by_nodes = nodes is not None and (result.mip_node_count or 0) >= nodes
    repeatable = status is not Status.LIMIT or limits.seconds is None or by_nodes
    work = (result.mip_node_count or 1) / _NODES_A_SECOND
    if result.x is None:
        return nothing(status, repeatable=repeatable, work=work)
    bound = -inf if result.mip_dual_bound is None else float(result.mip_dual_bound)
    if status is Status.OPTIMAL and program.integer.any() and limits.gap:
        status = Status.LIMIT  # near enough, and not proven to be the best
    return found(program, status, result.x, bound=bound, repeatable=repeatable, work=work)


def _nodes(limits: Limits) -> int | None:
    """How many nodes of the search tree may be looked at."""
    wanted = [limits.steps] if limits.steps is not None else []
    if limits.work is not None:
        wanted.append(max(1, round(limits.work * _NODES_A_SECOND)))
    return min(wanted, default=None)


def _of_constant(program: LinearProgram) -> Status:
    holds = (program.row_lower <= 0).all() and (program.row_upper >= 0).all()
    return Status.OPTIMAL if holds else Status.INFEASIBLE
