"""The search for a near table of multiples, in tables of any axes: plane by plane, with less noise
and less pull towards fractions from sweep to sweep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.controlled_rounding.plane_places import Stars
from sdcensus.kernels.controlled_rounding.planes import Pull, visit
from sdcensus.methods.controlled_rounding.draws import Sequence
from sdcensus.methods.controlled_rounding.grid import Grid
from sdcensus.methods.controlled_rounding.planes import draw_planes, planes_through
from sdcensus.methods.controlled_rounding.problem import RoundingProblem

Int64 = npt.NDArray[np.int64]

#: What the base costs in a search: fine enough for noise.
_FINE = 4096
#: What a step that is not allowed costs, in bases; and by how much more if some are left.
_PENALTY, _HARDER, _MOST_PENALTY = 40, 4, 1 << 44
#: Noise at the beginning and at the end, and pull at the beginning, in bases.
_NOISE, _LEAST_NOISE, _PULL = 0.8, 0.15, 0.4
#: Arcs that are looked at in one sweep, for each cell.
_ARCS = 30
#: Sweeps without noise, at most.
_MOST_SWEEPS = 40
#: How often cells that are wrong are tried to be mended, and how many at once.
_MENDING, _MENDED_AT_ONCE = 60, 200

#: Told how much was done; whether to go on.
Spend = Callable[[int], bool]


@dataclass(slots=True)
class Found:
    """The best table so far.

    Attributes:
        steps: Its steps, of all cells of the problem; ``None`` if none is allowed yet.
        distance, away: How far it is from the truth, and how many cells are not at their nearest.
    """

    steps: Int64 | None = None
    distance: int = -1
    away: int = -1

    def consider(self, problem: RoundingProblem, steps: Int64) -> bool:
        """Take steps if they are allowed and nearer; they add up."""
        if problem.wrong(steps).any():
            return False
        distance, away = problem.distance(steps), problem.away(steps)
        if self.steps is None or (distance, away) < (self.distance, self.away):
            self.steps, self.distance, self.away = steps.copy(), distance, away
            return True
        return False


class Search:
    """A search in one grid, for the cells that can change there.

    Attributes:
        steps: The steps of the grid's cells as they stand; everything adds up all the time.
    """

    __slots__ = ("_average", "_costs", "_draws", "_grid", "_scale", "_spend", "steps")

    def __init__(
        self,
        problem: RoundingProblem,
        grid: Grid,
        average: Int64,
        steps: Int64,
        draws: Sequence,
        spend: Spend,
    ) -> None:
        """Begin a search.

        Args:
            problem: What cells may become.
            grid: Where they lie.
            average: Fractions towards which costs pull, for all cells of the problem.
            steps: From where it begins, for the cells of the grid.
            draws: By which it tries one thing and then another.
            spend: Told how much was done.
        """
        factor = max(_FINE // problem.rule.base, 2)
        self._scale = problem.rule.base * factor
        heaviest = int(problem.weight[grid.numbers].max(initial=1))
        self._costs = problem.costs(
            factor, cells=grid.numbers, penalty=_PENALTY * self._scale * heaviest
        )
        self._grid = grid
        self._average = average[grid.numbers]
        self._draws = draws
        self._spend = spend
        self.steps = steps.copy()

    @property
    def wrong(self) -> int:
        """How many steps are taken that are not allowed."""
        return int(self._wrong.sum())

    @property
    def _wrong(self) -> Int64:
        """How many steps each cell has taken that it may not take."""
        over = np.maximum(self.steps - self._costs.high, 0)
        under = np.maximum(self._costs.low - self.steps, 0)
        return np.asarray(over + under)

    def cool(self, sweeps: int, seen: Callable[[], None]) -> None:
        """Go through planes with less and less noise and pull, then without."""
        for sweep in range(sweeps):
            done = sweep / sweeps
            noise = _NOISE * (_LEAST_NOISE / _NOISE) ** done
            if not self._sweep(noise, _PULL * (1 - done))[1]:
                break
            seen()
        self.settle()
        seen()

    def settle(self) -> None:
        """Make every change that pays, then come within what is allowed if that is possible."""
        for _ in range(_MOST_SWEEPS):
            changes, goes_on = self._sweep(0.0, 0.0)
            if not (changes and goes_on):
                break
        self.mend()

    def mend(self, attempts: int = _MENDING) -> None:
        """Look for changes through cells that are where they may not be; so often at most."""
        usual = self._costs
        least = self._wrong.sum()
        for attempt in range(attempts):
            wrong = np.flatnonzero(self._wrong)
            if not wrong.size:
                break
            # The longer it takes, the more a step that is not allowed costs, and the wider the
            # noise around it.
            penalty = min(usual.penalty * _HARDER ** (1 + attempt // 8), _MOST_PENALTY)
            self._costs = usual._replace(penalty=penalty)
            chosen = wrong[self._draws.shuffled(wrong.size)[:_MENDED_AT_ONCE]]
            stars, planes = planes_through(self._grid, self._draws, chosen)
            noise = _NOISE if attempt % 2 else 0.0
            if not self._visit(stars, planes, noise, 0.0)[1]:
                break
            if attempt % 8 == 7:
                now = self._wrong.sum()
                if now >= least:
                    break
                least = now
        self._costs = usual

    def _sweep(self, noise: float, pull: float) -> tuple[int, bool]:
        """One sweep: how many changes were made, and whether to go on."""
        arcs = _ARCS * max(self._grid.numbers.size, 1)
        stars, planes = draw_planes(self._grid, self._draws, arcs)
        return self._visit(stars, planes, noise, pull)

    def _visit(self, stars: Stars, planes: Int64, noise: float, pull: float) -> tuple[int, bool]:
        changes, work = visit(
            self._grid.kernel,
            stars,
            planes,
            self._costs,
            Pull(self._average, round(pull * self._scale)),
            round(noise * self._scale),
            self._draws.state,
            self.steps,
        )
        return int(changes), self._spend(work)
