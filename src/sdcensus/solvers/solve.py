"""One door to every solver."""

from __future__ import annotations

import math
from enum import StrEnum
from importlib.util import find_spec

from sdcensus.errors import MissingExtra
from sdcensus.model.progress import Progress
from sdcensus.model.vocabulary import option
from sdcensus.solvers import cp_sat, highs
from sdcensus.solvers.limits import NO_LIMITS, Limits, Search, relative_gap
from sdcensus.solvers.program import LinearProgram, Solution


class Solver(StrEnum):
    """Which program looks for the optimum: HiGHS is always there, CP-SAT comes with an extra."""

    HIGHS = "highs"
    CP_SAT = "cp-sat"


def solve(
    program: LinearProgram,
    solver: Solver | str = Solver.HIGHS,
    *,
    limits: Limits = NO_LIMITS,
    search: Search | None = None,
) -> Solution:
    """Solve a program.

    Args:
        program: What to minimise.
        solver: Who does it.
        limits: When it ends before it has proven the best. Without a clock among them the same
            program has the same solution on every machine.
        search: Told the best cost so far and what no solution costs less than; by CP-SAT only,
            which a person can also stop: the first interruption keeps the best so far.
    """
    chosen = option(Solver, "solver", solver)
    if chosen is Solver.CP_SAT:
        return cp_sat.solve(program, limits=limits, search=search)
    return highs.solve(program, limits=limits)


def check_installed(solver: Solver) -> None:
    """Whether a solver can be used, before anything else is done.

    Raises:
        MissingExtra: It comes with an extra that is not installed.
    """
    if solver is Solver.CP_SAT and find_spec("ortools") is None:
        raise MissingExtra("optimise", needed_for="The solver 'cp-sat'")


def reported(progress: Progress, what: str) -> Search:
    """Tell the progress of a search: the best so far, the bound and the gap."""

    def search(best: float, bound: float) -> None:
        if math.isnan(best):
            progress(f"{what}: nothing found yet", 0.0)
            return
        gap = relative_gap(best, bound)
        known = f", bound {bound:,.10g}, gap {gap:.1%}" if math.isfinite(bound) else ""
        progress(f"{what}: best {best:,.10g}{known}", max(0.0, 1.0 - min(gap, 1.0)))

    return search
