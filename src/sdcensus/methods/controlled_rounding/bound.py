"""What no table of multiples is nearer than, and a table of fractions that is nearly as near."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.controlled_rounding.costs import CellCosts
from sdcensus.kernels.controlled_rounding.prices import (
    PRICE_SCALE,
    STEP_SCALE,
    SumLists,
    first_share,
    improve_prices,
)
from sdcensus.methods.controlled_rounding.problem import RoundingProblem
from sdcensus.methods.controlled_rounding.sums import Entries

Int64 = npt.NDArray[np.int64]

#: Rounds, and how fine they are: coarse ones first.
_ROUNDS = ((400, 10), (300, 40), (300, 160))
#: Entries of sums that are gone through in all rounds together, at most: fewer rounds for large
#: tables.
_MOST_ENTRIES = 1_200_000_000


#: Entries that are gone through at once, before somebody may stop.
_AT_ONCE = 200_000_000


class Bound:
    """A proven bound of the distance.

    Attributes:
        distance: No table of multiples is nearer than this.
        average: Steps of all cells, times ``STEP_SCALE``, of a table of fractions that nearly
            adds up and is nearly the nearest.
    """

    __slots__ = ("average", "distance")

    def __init__(
        self, problem: RoundingProblem, sums: Entries, goes_on: Callable[[], bool]
    ) -> None:
        """Find the bound.

        Args:
            problem: What cells may become.
            sums: What adds up.
            goes_on: Whether to go on; whatever was found is a bound.
        """
        # Cells that cannot move are part of no search.
        movable = problem.low < problem.high
        fixed = np.where(movable, 0, problem.low)
        rows = np.unique(sums.rows[movable[sums.cells]])
        wanted = -sums.times(problem.below + fixed)[rows]
        lists = sums.kept(movable).lists(int(np.count_nonzero(movable)), wanted)
        self.average = fixed * STEP_SCALE
        cells = problem.costs(cells=np.flatnonzero(movable), ties=False)
        bound, self.average[movable] = _improved(lists, cells, max(problem.usual, 1), goes_on)
        # Costs are counted from the multiples below; cells that cannot move cost what they cost.
        self.distance = max(-(-bound // PRICE_SCALE) + problem.distance(fixed), 0)


def _improved(
    lists: SumLists, costs: CellCosts, usual: int, goes_on: Callable[[], bool]
) -> tuple[int, Int64]:
    """What no rounding costs less than, times ``PRICE_SCALE``, and the average of steps."""
    prices = np.zeros(lists.wanted.size, dtype=np.int64)
    average = np.zeros(costs.rise.size, dtype=np.int64)
    size = max(lists.cells.size, 1)
    part = min(1.0, _MOST_ENTRIES / (size * sum(rounds for rounds, _ in _ROUNDS)))
    bound, _ = improve_prices(lists, costs, prices, average, 0, 1, 1.0, usual)
    for rounds, newest in _ROUNDS:
        left, share = max(int(rounds * part), 10), first_share(newest)
        while left and goes_on():
            now = min(left, max(_AT_ONCE // size, 1))
            bound, share = improve_prices(lists, costs, prices, average, now, newest, share, usual)
            left -= now
    return int(bound), average
