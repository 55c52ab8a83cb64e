"""The engine that closes fewer cells: by elimination, or down the hierarchy.

Both patterns keep the same promise, that of elimination: the second one passes the same rules and
the same audit, and the same last pass opens what hides nothing.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.elimination.suppression import Singles
from sdcensus.methods.suppression.combinations import few_enough, say_more_than_sums
from sdcensus.methods.suppression.elimination import eliminate
from sdcensus.methods.suppression.interval_settings import DEFAULT_WORK
from sdcensus.methods.suppression.intervals import Protection
from sdcensus.methods.suppression.modular import modular_pattern
from sdcensus.methods.suppression.problem import Pattern, SuppressionProblem
from sdcensus.methods.suppression.protected import IntervalTask, pattern_to_check
from sdcensus.methods.suppression.widening import MOST_AUDITED
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.progress import Progress, no_progress
from sdcensus.solvers.limits import Limits

Mask = npt.NDArray[np.bool_]

#: Tables of more distinct cells are protected by elimination alone; so are several that say more
#: than their sums where they have too many combinations of codes (``few_enough``).
MOST_COMPARED = 10_000


def fewest_closed(
    linked: LinkedCubes,
    problem: SuppressionProblem,
    *,
    singles: Singles = Singles.ALONE,
    width: int = 1,
    progress: Progress = no_progress,
) -> Pattern:
    """The pattern of elimination or that of the modular engine, whichever closes fewer cells.

    Which of the two is decided by the tables alone: the same tables have the same pattern.

    Args:
        linked: The tables.
        problem: What is asked.
        singles: What is done for those who are alone in a primary cell.
        width: How far apart the smallest and the largest possible value have to be.
        progress: Told how far it is.

    Raises:
        SpecError: A primary cell cannot be protected.
    """
    pattern = partial(eliminate, linked, problem, singles=singles, width=width, progress=progress)
    first = pattern()
    primary = int(problem.primary.sum())
    if not primary:
        return first
    few = few_enough(linked) if say_more_than_sums(linked) else problem.size <= MOST_COMPARED
    if not few or primary > MOST_AUDITED:
        return replace(
            first,
            statement=f"{first.statement} The modular engine was not tried: there are too many"
            " cells.",
        )
    protection = Protection(lower=0, upper=0, width=width, insiders=singles is not Singles.IGNORED)
    engine = partial(modular_pattern, limits=Limits(work=DEFAULT_WORK))
    task = IntervalTask(protection=protection, engine=engine, zeros_open=True)
    try:
        closed = pattern_to_check(linked, problem, task, progress)
        second = pattern(begin=closed)
    except SpecError:
        # It asks for more in places: elimination protects what it cannot.
        return first
    first_price, second_price = (_price(problem, each.closed) for each in (first, second))
    if second_price < first_price:
        more = f" Elimination would close {first_price[1]:,}."
        return replace(second, statement=f"{second.statement}{more}")
    return first


def _price(problem: SuppressionProblem, closed: Mask) -> tuple[int, int, int]:
    """Cells that were open elsewhere, secondary cells, and what they cost."""
    secondary = closed & problem.shown & ~problem.primary & ~problem.frozen
    return (
        int((secondary & problem.opened_before).sum()),
        int(secondary.sum()),
        int(problem.cost[secondary].sum()),
    )
