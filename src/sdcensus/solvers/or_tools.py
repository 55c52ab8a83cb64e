"""OR-tools: GLOP for a program with many goals, PDLP for those too large for the simplex."""

from __future__ import annotations

from typing import Any

import numpy as np

from sdcensus.errors import MissingExtra, SpecError
from sdcensus.solvers.program import Float64, LinearProgram, Solution, Status, found, nothing

# Without preprocessing, or the solver would forget where it was. The largest gain first: the goals
# here are so near to each other that better rules cost more than the steps that they save.
_PARAMETERS = "use_preprocessing: false optimization_rule: DANTZIG"
# The same where goals lie further apart: better rules pay there.
_FAR_APART = "use_preprocessing: false optimization_rule: STEEPEST_EDGE"


class Glop:
    """A linear program that is kept in the solver between goals.

    Not for several threads at once; different programs can be solved at the same time.
    """

    __slots__ = ("_cost", "_program", "_rows", "_solver", "_variables")

    def __init__(self, program: LinearProgram, *, far_apart: bool = False) -> None:
        try:
            from ortools.linear_solver import pywraplp  # type: ignore[import-untyped]
        except ImportError:
            raise MissingExtra("optimise", needed_for="The solver 'glop'") from None
        if program.integer.any():
            raise SpecError("The solver 'glop' knows no whole numbers. Take 'highs' or 'cp-sat'.")
        self._program = program
        self._cost = np.zeros(program.width)
        self._solver = solver = pywraplp.Solver.CreateSolver("GLOP")
        solver.SetSolverSpecificParametersAsString(_FAR_APART if far_apart else _PARAMETERS)
        bounds = zip(program.lower.tolist(), program.upper.tolist(), strict=True)
        self._variables = [solver.NumVar(low, high, "") for low, high in bounds]
        ranges = zip(program.row_lower.tolist(), program.row_upper.tolist(), strict=True)
        self._rows = rows = [solver.Constraint(low, high) for low, high in ranges]
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

    def prices(self) -> Float64:
        """What a unit of each row costs in the solution found last: by these the goal is proven."""
        return np.array([row.dual_value() for row in self._rows], dtype=np.float64)


#: How far the cost of a solution may lie from what is proven, and a row outside of its bounds.
_GAP, _OUTSIDE = 0.02, 1e-4
#: How exactly to solve, and with how many steps: at first, and if that was not enough.
_TRIES = ((1e-6, 20_000), (1e-8, 100_000))


class Pdlp:
    """A linear program that is solved nearly, with a proof of how nearly.

    The objective of a solution is what no solution is below, not what this one costs. Where the
    two are not close together the status is ``FAILED``; whether a program can be solved at all is
    for others to say. Not for several threads at once.
    """

    __slots__ = ("_matrix", "_parameters", "_pdlp", "_program", "_solution", "_stated")

    def __init__(self, program: LinearProgram) -> None:
        try:
            from ortools.pdlp import solvers_pb2  # type: ignore[import-untyped]
            from ortools.pdlp.python import pdlp  # type: ignore[import-untyped]
        except ImportError:
            raise MissingExtra("optimise", needed_for="The solver 'pdlp'") from None
        from scipy.sparse import csc_matrix

        if program.integer.any():
            raise SpecError("The solver 'pdlp' knows no whole numbers. Take 'highs' or 'cp-sat'.")
        self._program = program
        self._pdlp: Any = pdlp
        shape = (program.height, program.width)
        self._matrix = csc_matrix((program.values, (program.rows, program.columns)), shape=shape)
        self._stated = pdlp.QuadraticProgram()
        self._stated.variable_lower_bounds = program.lower
        self._stated.variable_upper_bounds = program.upper
        self._stated.constraint_lower_bounds = program.row_lower
        self._stated.constraint_upper_bounds = program.row_upper
        self._stated.constraint_matrix = self._matrix
        self._parameters: Any = solvers_pb2.PrimalDualHybridGradientParams()
        self._parameters.num_threads = 1
        self._solution: Any = None

    def solve(self, cost: Float64) -> Solution:
        """Make a goal as small as possible, beginning with the solution before."""
        self._stated.objective_vector = cost
        for exactness, steps in _TRIES:
            ends = self._parameters.termination_criteria
            ends.iteration_limit = steps
            ends.simple_optimality_criteria.eps_optimal_absolute = exactness
            ends.simple_optimality_criteria.eps_optimal_relative = exactness * 1e-3
            result = self._pdlp.primal_dual_hybrid_gradient(
                self._stated, self._parameters, self._solution
            )
            values = np.clip(result.primal_solution, self._program.lower, self._program.upper)
            sums = self._matrix @ values
            outside = np.maximum(self._program.row_lower - sums, sums - self._program.row_upper)
            proven = self._at_least(cost, result.dual_solution)
            if outside.max(initial=0) <= _OUTSIDE and cost @ values - proven <= _GAP:
                self._solution = self._pdlp.PrimalAndDualSolution()
                self._solution.primal_solution = values
                self._solution.dual_solution = np.zeros(self._program.height)
                return Solution(Status.OPTIMAL, values, float(proven))
            self._solution = None
        return nothing(Status.FAILED)

    def _at_least(self, cost: Float64, prices: Float64) -> float:
        """What no solution is below, from any prices of the rows."""
        program = self._program
        # A bound that is not there has no price; the little that is left of one proves nothing.
        prices = np.where(np.isinf(program.row_upper), np.maximum(prices, 0), prices)
        left = cost - self._matrix.T @ prices
        return _least(left, program.lower, program.upper) + _least(
            prices, program.row_lower, program.row_upper
        )


def _least(rates: Float64, lower: Float64, upper: Float64) -> float:
    chosen = np.where(rates > 0, lower, upper)
    used = rates != 0
    return float(np.sum(rates[used] * chosen[used]))
