"""Controlled rounding as a problem: what every cell may become, what that costs, what adds up."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.controlled_rounding.costs import CellCosts
from sdcensus.model.confidential import Confidential
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.linked.tables import LinkedTables

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Steps that cells which nobody sees may take for each base cell in them, besides the allowed
#: ones. Bounds of the distance need some limit; flows do not.
_HIDDEN_STEPS = 3
#: No cell takes more steps than this.
_MOST_STEPS = 1 << 20


class Weights(StrEnum):
    """What a unit of distance costs: the same in every cell, or more the more cells are in it."""

    EQUAL = "equal"
    TOTALS = "totals"


class Zeros(StrEnum):
    """Whether an empty cell stays 0 where cells may take more steps than one."""

    KEEP = "keep"
    CHANGE = "change"


@dataclass(frozen=True, slots=True, kw_only=True)
class RoundingRule:
    """To what cells may be rounded.

    Attributes:
        base: What results are multiples of.
        steps: How many multiples farther than the nearest two a cell may go.
        zeros: Whether empty cells stay 0.
        weights: What distance costs.
        protect_below: Counts from 1 to below this must not be published near the truth; 0 for
            none.
        lower, upper: How far below or above the truth such a count is published at least.
    """

    base: int
    steps: int = 0
    zeros: Zeros = Zeros.KEEP
    weights: Weights = Weights.EQUAL
    protect_below: int = 0
    lower: int = 1
    upper: int = 1


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class RoundingProblem(Confidential):
    """Cells of tables that are rounded together.

    Every cell is published as the multiple below its count and some steps of the base more.

    Attributes:
        tables: What adds up.
        rule: To what cells may be rounded.
        below: The multiple below each count, by the base.
        rest: How far each count lies above it.
        weight: What a unit of distance costs; 0 for cells that nobody sees.
        low, high: The fewest and the most steps that each cell may take.
        gap_low, gap_high: Steps between these, both included, are not allowed either; the first
            above the second where there is no such gap.
        walls: Cells that stay as they are whatever it costs: empty ones.
    """

    tables: LinkedTables
    rule: RoundingRule
    below: Int64
    rest: Int64
    weight: Int64
    low: Int64
    high: Int64
    gap_low: Int64
    gap_high: Int64
    walls: Mask

    def __repr__(self) -> str:
        return f"<RoundingProblem of {len(self.tables.specs)} tables: confidential>"

    @classmethod
    def of(
        cls, linked: LinkedCubes, rule: RoundingRule, *, hidden_limit: bool = True
    ) -> RoundingProblem:
        """The problem of some tables.

        Args:
            linked: The tables.
            rule: To what cells may be rounded.
            hidden_limit: Whether cells that nobody sees stay near the truth too; if not, they
                only stay 0 or more.
        """
        tables, counts = linked.tables, linked.counts
        below, rest = np.divmod(counts, rule.base)
        low = np.maximum(-below, -rule.steps)
        high = np.minimum(rule.steps + (rest > 0), _MOST_STEPS)
        empty = (counts == 0) & tables.published
        kept = empty if rule.zeros is Zeros.KEEP or rule.steps == 0 else np.zeros_like(empty)
        high[kept] = 0
        hidden = ~tables.published
        if hidden.any():
            room = np.full(np.count_nonzero(hidden), _MOST_STEPS)
            if hidden_limit:
                near = (rule.steps + _HIDDEN_STEPS) * tables.depth()[hidden]
                room = np.minimum(near, room)
            low[hidden] = np.maximum(-below[hidden], -room)
            high[hidden] = room
        weight = tables.published.astype(np.int64)
        if rule.weights is Weights.TOTALS:
            # Twice the cells, one more: how often the number of cells can be halved.
            weight *= np.frexp(np.maximum(tables.depth(), 1).astype(np.float64))[1].astype(np.int64)
        none = np.ones_like(low)
        problem = cls(tables, rule, below, rest, weight, low, high, none, none - 1, kept)
        return problem._protected(counts) if rule.protect_below else problem

    def _protected(self, counts: Int64) -> RoundingProblem:
        """The same with the steps left out that lie too near to the truth of some cells."""
        rule = self.rule
        chosen = (counts > 0) & (counts < rule.protect_below) & self.tables.published
        # The most steps that end low enough, and the fewest that end high enough.
        down = np.floor_divide(self.rest - rule.lower, rule.base)
        up = -np.floor_divide(-(self.rest + rule.upper), rule.base)
        too_high, too_low = chosen & (up > self.high), chosen & (down < self.low)
        high = np.where(too_high, np.minimum(self.high, down), self.high)
        low = np.where(too_low, np.maximum(self.low, up), self.low)
        both = chosen & ~too_high & ~too_low & (down + 1 < up)
        return replace(
            self,
            low=low,
            high=high,
            gap_low=np.where(both, down + 1, self.gap_low),
            gap_high=np.where(both, up - 1, self.gap_high),
        )

    @property
    def size(self) -> int:
        """How many cells there are."""
        return self.below.size

    @property
    def hides(self) -> bool:
        """Whether cells that nobody sees are kept near the truth: what is not found may exist."""
        hidden = ~self.tables.published
        return bool((self.high[hidden] < _MOST_STEPS).any())

    @property
    def has_gaps(self) -> bool:
        """Whether some cell may go down or up but not stay."""
        return bool((self.gap_low <= self.gap_high).any())

    def published(self, steps: Int64) -> Int64:
        """What is published for some steps."""
        return self.rule.base * (self.below + steps)

    def distance(self, steps: Int64) -> int:
        """The weighted distance of published from true counts, over all cells."""
        return int((self.weight * np.abs(self.rest - self.rule.base * steps)).sum())

    @property
    def usual(self) -> int:
        """What cells cost together if every one went to its nearest multiple."""
        return int((self.weight * np.minimum(self.rest, self.rule.base - self.rest)).sum())

    def away(self, steps: Int64) -> int:
        """How many cells are not at their nearest multiple; decides between equal distances."""
        nearest = np.abs(self.rest - self.rule.base * steps) * 2 <= self.rule.base
        return int(np.count_nonzero(~nearest & (self.weight > 0)))

    def farther(self, steps: Int64) -> tuple[int, int]:
        """How many cells are not at a multiple next to their count, and the largest distance."""
        shown = self.weight > 0
        outside = shown & ((steps < 0) | (steps > (self.rest > 0)))
        distance = np.abs(self.rest - self.rule.base * steps)[shown]
        return int(np.count_nonzero(outside)), int(distance.max(initial=0))

    def needed(self, steps: Int64) -> int:
        """How many extra steps would have to be allowed for these, by cells that are seen."""
        shown = self.tables.published
        beyond = np.maximum(-steps, steps - (self.rest > 0))[shown]
        return int(beyond.max(initial=0))

    def wrong(self, steps: Int64) -> Mask:
        """Cells that took steps which they may not take."""
        outside = (steps < self.low) | (steps > self.high)
        return np.asarray(outside | ((steps >= self.gap_low) & (steps <= self.gap_high)))

    def adds_up(self, steps: Int64) -> bool:
        """Whether everything adds up, in whole numbers."""
        return self.tables.adds_up(self.published(steps))

    def holds(self, steps: Int64) -> bool:
        """Whether these steps are a rounding: allowed everywhere, and everything adds up."""
        return not self.wrong(steps).any() and self.adds_up(steps)

    def costs(
        self,
        factor: int = 1,
        *,
        cells: Int64 | slice = slice(None),
        ties: bool = True,
        penalty: int = 0,
    ) -> CellCosts:
        """What steps cost.

        Args:
            factor: What a unit of distance costs.
            cells: The cells that are asked for; all by default.
            ties: Whether a step away from the nearest multiple costs 1 more, so that of equally
                near tables the one with more cells at their nearest multiple is taken.
            penalty: What each step costs that is not allowed.
        """
        base, weight = self.rule.base, self.weight[cells]
        nearer = base - 2 * self.rest[cells]
        rise = weight * nearer * factor
        if ties:
            rise += np.sign(nearer) * (weight > 0)
        step = weight * base * factor
        if ties:
            step += weight > 0
        return CellCosts(rise, step, self.low[cells], self.high[cells], penalty)

    def narrowed(self, low: Int64, high: Int64) -> RoundingProblem:
        """The same with narrower bounds and without gaps."""
        none = np.ones_like(low)
        return replace(self, low=low, high=high, gap_low=none, gap_high=none - 1)

    def sided(self, steps: Int64) -> RoundingProblem:
        """The same with every gap decided: cells go down or up as these steps are nearer to.

        Steps in the middle of a gap go where the count is nearer.
        """
        base = self.rule.base
        gap = self.gap_low <= self.gap_high
        down, up = self.gap_low - 1, self.gap_high + 1
        inside = gap & (steps > down) & (steps < up)
        nearer_up = up * base - self.rest < self.rest - down * base
        goes_up = np.where(inside, nearer_up, steps >= up)
        low = np.where(gap & goes_up, up, self.low)
        high = np.where(gap & ~goes_up, down, self.high)
        return self.narrowed(low, high)
