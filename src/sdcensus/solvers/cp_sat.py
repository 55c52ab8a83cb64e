"""CP-SAT of OR-tools: for programs of whole numbers that are hard for others."""

from __future__ import annotations

import numpy as np

from sdcensus.errors import MissingExtra, SpecError
from sdcensus.solvers.program import Float64, LinearProgram, Solution, Status, found, nothing


def solve(program: LinearProgram, *, steps: int | None = None) -> Solution:
    """Solve to the proven best, or until the search ran so often into a contradiction."""
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        raise MissingExtra("optimise", needed_for="The solver 'cp-sat'") from None
    _check(program)
    model = cp_model.CpModel()
    variables = [
        model.new_int_var(int(low), int(high), "")
        for low, high in zip(program.lower.tolist(), program.upper.tolist(), strict=True)
    ]
    order = np.argsort(program.rows, kind="stable")
    columns, values = program.columns[order].tolist(), program.values[order].tolist()
    ends = np.searchsorted(program.rows[order], np.arange(program.height + 1)).tolist()
    lowest, highest = _bounds(program)
    for row in range(program.height):
        part = slice(ends[row], ends[row + 1])
        total = cp_model.LinearExpr.weighted_sum(
            [variables[column] for column in columns[part]], [int(value) for value in values[part]]
        )
        model.add_linear_constraint(total, lowest[row], highest[row])
    cost = [int(value) for value in program.cost.tolist()]
    model.minimize(cp_model.LinearExpr.weighted_sum(variables, cost))
    solver = cp_model.CpSolver()
    # One worker: several race against each other, and the clock decides which of them wins.
    solver.parameters.num_workers = 1
    solver.parameters.linearization_level = 2
    if steps is not None:
        solver.parameters.max_number_of_conflicts = steps
    ended = solver.solve(model)
    status = {
        cp_model.OPTIMAL: Status.OPTIMAL,
        cp_model.FEASIBLE: Status.LIMIT,
        cp_model.UNKNOWN: Status.LIMIT,
        cp_model.INFEASIBLE: Status.INFEASIBLE,
    }.get(ended, Status.FAILED)
    if ended not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        return nothing(status)
    values_found = np.array([solver.value(variable) for variable in variables], dtype=np.float64)
    return found(program, status, values_found)


def _check(program: LinearProgram) -> None:
    if not program.integer.all():
        raise SpecError("The solver 'cp-sat' needs whole numbers throughout. Take 'highs'.")
    if not (np.isfinite(program.lower).all() and np.isfinite(program.upper).all()):
        raise SpecError("The solver 'cp-sat' needs bounds for every variable. Take 'highs'.")
    for numbers in (program.cost, program.values, program.row_lower, program.row_upper):
        if not _whole(numbers):
            raise SpecError("The solver 'cp-sat' needs whole coefficients. Take 'highs'.")


def _bounds(program: LinearProgram) -> tuple[list[int], list[int]]:
    """Bounds of rows; a number that no row can reach stands for none."""
    far = 1 << 60
    lowest = [int(bound) if np.isfinite(bound) else -far for bound in program.row_lower.tolist()]
    highest = [int(bound) if np.isfinite(bound) else far for bound in program.row_upper.tolist()]
    return lowest, highest


def _whole(numbers: Float64) -> bool:
    finite = numbers[np.isfinite(numbers)]
    return bool((finite == np.round(finite)).all())
