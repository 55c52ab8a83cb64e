"""One door to every solver."""

from __future__ import annotations

from enum import StrEnum

from sdcensus.errors import SpecError
from sdcensus.model.vocabulary import option
from sdcensus.solvers import cp_sat, highs
from sdcensus.solvers.program import LinearProgram, Solution


class Solver(StrEnum):
    """Which program looks for the optimum: HiGHS is always there, CP-SAT comes with an extra."""

    HIGHS = "highs"
    CP_SAT = "cp-sat"


def solve(
    program: LinearProgram, solver: Solver | str = Solver.HIGHS, *, steps: int | None = None
) -> Solution:
    """Solve a program.

    Args:
        program: What to minimise.
        solver: Who does it.
        steps: How much work it may take: nodes of the search tree for HiGHS, contradictions for
            CP-SAT. There is no limit by the clock: what is published must not depend on how fast
            a machine is.
    """
    chosen = option(Solver, "solver", solver)
    if steps is not None and steps < 1:
        raise SpecError("A solver takes at least one step.")
    engine = {Solver.HIGHS: highs.solve, Solver.CP_SAT: cp_sat.solve}[chosen]
    return engine(program, steps=steps)
