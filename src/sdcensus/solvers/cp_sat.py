"""CP-SAT of OR-tools: for programs of whole numbers that are hard for others."""

from __future__ import annotations

import math
import threading
from typing import Any

import numpy as np

from sdcensus.errors import MissingExtra, SpecError
from sdcensus.solvers.limits import NO_LIMITS, Limits, Search, relative_gap
from sdcensus.solvers.program import Float64, LinearProgram, Solution, Status, found, nothing

#: How often whoever waits looks whether somebody wants the search to stop, and tells how far it is.
_PATIENCE = 0.2


def solve(
    program: LinearProgram, *, limits: Limits = NO_LIMITS, search: Search | None = None
) -> Solution:
    """Solve to the proven best, or until a limit; the first interruption keeps the best so far."""
    try:
        from ortools.sat.python import cp_model
    except ImportError:
        raise MissingExtra("optimise", needed_for="The solver 'cp-sat'") from None
    _check(program)
    model, variables = _model(program, cp_model)
    solver = cp_model.CpSolver()
    # One worker: several race against each other, and the clock decides which of them wins.
    solver.parameters.num_workers = 1
    solver.parameters.catch_sigint_signal = False  # interruptions are ours to answer
    solver.parameters.linearization_level = 2
    solver.parameters.relative_gap_limit = limits.gap
    if limits.steps is not None:
        solver.parameters.max_number_of_conflicts = limits.steps
    if limits.work is not None:
        solver.parameters.max_deterministic_time = limits.work
    if limits.seconds is not None:
        solver.parameters.max_time_in_seconds = limits.seconds
    ended, stopped = _run(solver, model, cp_model, search)
    status = {
        cp_model.OPTIMAL: Status.OPTIMAL,
        cp_model.FEASIBLE: Status.LIMIT,
        cp_model.UNKNOWN: Status.LIMIT,
        cp_model.INFEASIBLE: Status.INFEASIBLE,
    }.get(ended, Status.FAILED)
    if status is Status.OPTIMAL and solver.objective_value > solver.best_objective_bound + 0.5:
        status = Status.LIMIT  # near enough, and not proven to be the best
    if status is Status.LIMIT and stopped:
        status = Status.STOPPED
    repeatable = not stopped and (limits.seconds is None or _by_its_own(solver, limits, status))
    if ended not in (cp_model.OPTIMAL, cp_model.FEASIBLE):
        if stopped:
            raise KeyboardInterrupt
        return nothing(status, repeatable=repeatable, work=solver.deterministic_time)
    values = np.array([solver.value(variable) for variable in variables], dtype=np.float64)
    bound = math.ceil(solver.best_objective_bound - 1e-6)
    work = solver.deterministic_time
    return found(program, status, values, bound=bound, repeatable=repeatable, work=work)


def _model(program: LinearProgram, cp_model: Any) -> tuple[Any, list[Any]]:
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
    if program.start is not None:
        for variable, value in zip(variables, program.start.tolist(), strict=True):
            model.add_hint(variable, int(value))
    return model, variables


def _run(solver: Any, model: Any, cp_model: Any, search: Search | None) -> tuple[Any, bool]:
    """Let the solver work in a thread of its own, so that an interruption reaches us meanwhile."""
    best = [math.nan, -math.inf]

    class Watch(cp_model.CpSolverSolutionCallback):  # type: ignore[misc]
        def on_solution_callback(self) -> None:
            best[0] = self.objective_value

    def bound(value: float) -> None:
        best[1] = value

    ended: list[Any] = []
    failure: list[BaseException] = []

    def work() -> None:
        try:
            ended.append(solver.solve(model, Watch()))
        except BaseException as error:  # raised again by whoever waits
            failure.append(error)

    solver.best_bound_callback = bound
    thread = threading.Thread(target=work, name="cp-sat", daemon=True)
    thread.start()
    stopped = False
    while thread.is_alive():
        try:
            thread.join(_PATIENCE)
            if search is not None:
                search(best[0], best[1])
        except KeyboardInterrupt:
            if stopped:  # somebody means it
                raise
            stopped = True
            solver.stop_search()
    if failure:
        raise failure[0]
    return ended[0], stopped


def _by_its_own(solver: Any, limits: Limits, status: Status) -> bool:
    """Whether the search ended by what it did, and not by the clock."""
    if status is not Status.LIMIT:
        return True
    reached = solver.response_proto
    return bool(
        (limits.work is not None and reached.deterministic_time >= limits.work)
        or (limits.steps is not None and reached.num_conflicts >= limits.steps)
        or (
            limits.gap
            and relative_gap(reached.objective_value, reached.best_objective_bound) <= limits.gap
        )
    )


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
