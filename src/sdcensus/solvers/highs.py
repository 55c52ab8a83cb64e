"""HiGHS, as it comes with scipy."""

from __future__ import annotations

import numpy as np

from sdcensus.solvers.program import LinearProgram, Solution, Status, found, nothing

#: What scipy calls the ways to end.
_STATUS = {
    0: Status.OPTIMAL,
    1: Status.LIMIT,
    2: Status.INFEASIBLE,
    3: Status.UNBOUNDED,
    4: Status.FAILED,
}


def solve(program: LinearProgram, *, steps: int | None = None) -> Solution:
    """Solve to the proven best, or until so many nodes of the search tree were looked at."""
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
    # A gap of 0: "near enough" would depend on the path of the search.
    options: dict[str, object] = {"mip_rel_gap": 0.0}
    if steps is not None:
        options["node_limit"] = steps
    result = milp(
        program.cost,
        integrality=program.integer.astype(np.int64),
        bounds=Bounds(program.lower, program.upper),
        constraints=constraints,
        options=options,
    )
    status = _STATUS.get(result.status, Status.FAILED)
    if status is Status.FAILED and steps is not None and (result.mip_node_count or 0) >= steps:
        status = Status.LIMIT  # scipy has no word of its own for this limit
    return nothing(status) if result.x is None else found(program, status, result.x)


def _of_constant(program: LinearProgram) -> Status:
    holds = (program.row_lower <= 0).all() and (program.row_upper >= 0).all()
    return Status.OPTIMAL if holds else Status.INFEASIBLE
