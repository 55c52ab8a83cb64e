"""Why there is no table of multiples as it was asked for: which cells stand in the way, and what
can be done."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Refused, SpecError
from sdcensus.methods.controlled_rounding.network import blocking_cells, network_of
from sdcensus.methods.controlled_rounding.problem import RoundingProblem
from sdcensus.methods.controlled_rounding.solve import Rounding

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: So many cells are named.
_NAMED = 5


def failure(problem: RoundingProblem, result: Rounding, *, cut_short: bool) -> SpecError | Refused:
    """The error for a problem without a result.

    Args:
        problem: What was asked for.
        result: What was found.
        cut_short: Whether the clock or a person ended the search.
    """
    title = ", ".join(spec.title for spec in problem.tables.specs)
    rule = problem.rule
    never = np.flatnonzero(problem.low > problem.high)
    if never.size:
        return SpecError(
            f"{title}: no allowed multiple of {rule.base} is far enough from the truth for"
            f" {_named(problem, never)}. {_more_steps(problem)}, ask for less distance, or take"
            " another base."
        )
    cells = _in_the_way(problem, result)
    around = f" It fails around {_named(problem, cells)}." if cells.size else ""
    reach = "next to it" if rule.steps == 0 else f"at most {rule.steps} farther than next to it"
    what = f"table of multiples of {rule.base} in which every count goes to one {reach}"
    if result.impossible:
        first = f"{title}: no {what} adds up."
    elif cut_short:
        first = f"{title}: no {what} was found before the search was ended."
    else:
        first = f"{title}: no {what} was found."
    asked = " Or ask for less distance from small counts." if rule.protect_below else ""
    return SpecError(
        f"{first}{around} {_more_steps(problem)}, or let cells go as far as they have to"
        f" (infeasible = 'widen').{asked}"
    )


def _more_steps(problem: RoundingProblem) -> str:
    steps = problem.rule.steps + 1
    return f"Allow more steps (extra_steps = {steps})"


def _in_the_way(problem: RoundingProblem, result: Rounding) -> Int64:
    """Cells of which it is known that they stand in the way; those that are seen."""
    shown = problem.tables.published
    network = network_of(problem.tables)
    if network is not None:
        blocking = blocking_cells(problem, network) & shown
        asked = blocking & _narrowed(problem)
        return np.flatnonzero(asked if asked.any() else blocking)
    if result.last is None:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(problem.wrong(result.last) & shown)


def _narrowed(problem: RoundingProblem) -> Mask:
    """Cells that may take fewer steps than the rule allows, because they are protected."""
    high = problem.rule.steps + (problem.rest > 0)
    low = np.maximum(-problem.below, -problem.rule.steps)
    return np.asarray((problem.low > low) | (problem.high < high)) & ~problem.walls


def _named(problem: RoundingProblem, cells: Int64) -> str:
    names = [f"({problem.tables.name(int(cell))})" for cell in cells[:_NAMED]]
    more = cells.size - len(names)
    return ", ".join(names) + (f" and {more:,} more cells" if more else "")
