"""GLOP of OR-tools: for one linear program with many goals, each solved from the last solution."""

from __future__ import annotations

import numpy as np

from sdcensus.errors import MissingExtra, SpecError
from sdcensus.solvers.program import Float64, LinearProgram, Solution, Status, found, nothing

# Without preprocessing, or the solver would forget where it was. The largest gain first: the goals
# here are so near to each other that better rules cost more than the steps that they save.
_PARAMETERS = "use_preprocessing: false optimization_rule: DANTZIG"


class Glop:
    """A linear program that is kept in the solver between goals.

    Not for several threads at once; different programs can be solved at the same time.
    """

    __slots__ = ("_cost", "_program", "_solver", "_variables")

    def __init__(self, program: LinearProgram) -> None:
        try:
            from ortools.linear_solver import pywraplp  # type: ignore[import-untyped]
        except ImportError:
            raise MissingExtra("optimise", needed_for="The solver 'glop'") from None
        if program.integer.any():
            raise SpecError("The solver 'glop' knows no whole numbers. Take 'highs' or 'cp-sat'.")
        self._program = program
        self._cost = np.zeros(program.width)
        self._solver = solver = pywraplp.Solver.CreateSolver("GLOP")
        solver.SetSolverSpecificParametersAsString(_PARAMETERS)
        bounds = zip(program.lower.tolist(), program.upper.tolist(), strict=True)
        self._variables = [solver.NumVar(low, high, "") for low, high in bounds]
        ranges = zip(program.row_lower.tolist(), program.row_upper.tolist(), strict=True)
        rows = [solver.Constraint(low, high) for low, high in ranges]
        entries = zip(
            program.rows.tolist(), program.columns.tolist(), program.values.tolist(), strict=True
        )
        for row, column, value in entries:
            rows[row].SetCoefficient(self._variables[column], value)
        solver.Objective().SetMinimization()

    def solve(self, cost: Float64) -> Solution:
        """Make a goal as small as possible."""
        goal = self._solver.Objective()
        for column in np.flatnonzero(cost != self._cost).tolist():
            goal.SetCoefficient(self._variables[column], float(cost[column]))
        self._cost = cost.copy()
        solver = self._solver
        status = {
            solver.OPTIMAL: Status.OPTIMAL,
            solver.INFEASIBLE: Status.INFEASIBLE,
            solver.UNBOUNDED: Status.UNBOUNDED,
        }.get(solver.Solve(), Status.FAILED)
        if status is not Status.OPTIMAL:
            return nothing(status)
        values = np.array(
            [variable.solution_value() for variable in self._variables], dtype=np.float64
        )
        return found(self._program.with_cost(cost), status, values)
