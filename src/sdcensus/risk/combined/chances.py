"""The chance that a small published cell is true, and that a claim about it is right.

True count t, count s after the exchange, published count m. Of t records j stay; of those that
leave some are replaced by the like, and others arrive: s is their sum. The noise makes m of s and
of nothing else. Everything is a finite sum over t, j and s:

    P(t, j, s, m) = P(t) · P(j, s | t) · P(m | s)

Without moves s is t, and what remains is the posterior of the noise; without noise m is s.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.risk.combined.moves import CellMoves, Moves
from sdcensus.risk.combined.priors import CountPrior
from sdcensus.risk.posterior import published_given_true

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

#: The published values of which claims are made.
CLAIMED = (1, 2, 3)
_VANISHING = -math.inf


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SmallValueChance(Confidential):
    """What one published value m says; ``None`` where it is never published.

    Attributes:
        published: m.
        cells: How many cells are published so, as they are expected or in proportion.
        count_true: The probability that m live there: t = m.
        counted_true: The probability that m records are counted there: s = m. What the noise
            alone leaves uncertain.
        all_residents: The probability that the m records that are counted there are the m persons
            who live there: nobody left, nobody came. For m = 1: it is one true resident.
        claim_right: The probability that m are counted there and that the one who is meant, one of
            the m, lives there.
    """

    published: int
    cells: float
    count_true: float | None
    counted_true: float | None
    all_residents: float | None
    claim_right: float | None

    def __repr__(self) -> str:
        return "<SmallValueChance: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class CombinedRisk(Confidential):
    """What small published values say under an exchange of records and noise together.

    Attributes:
        values: For each published value that was asked for.
    """

    values: tuple[SmallValueChance, ...]

    def __repr__(self) -> str:
        return "<CombinedRisk: confidential>"

    def of(self, published: int) -> SmallValueChance:
        """What one published value says."""
        for value in self.values:
            if value.published == published:
                return value
        asked = ", ".join(str(value.published) for value in self.values)
        raise SpecError(f"Only these published values were looked at: {asked}.")

    @property
    def worst_claim(self) -> float | None:
        """The largest probability that a claim is right; ``None`` if no value is published."""
        return max((v.claim_right for v in self.values if v.claim_right is not None), default=None)

    @property
    def share_true(self) -> float | None:
        """Of all cells that are published with these values, the share that is true."""
        return self._share("count_true")

    @property
    def share_right(self) -> float | None:
        """Of all claims about these cells, the share that is right."""
        return self._share("claim_right")

    def _share(self, name: str) -> float | None:
        cells = sum(value.cells for value in self.values)
        if not cells > 0:
            return None
        return sum((getattr(value, name) or 0.0) * value.cells for value in self.values) / cells


def combined_risk(
    perturbation: Perturbation | None,
    prior: CountPrior,
    moves: Moves,
    *,
    published: Sequence[int] = CLAIMED,
) -> CombinedRisk:
    """What small published values say about residents, by swapping and noise together.

    For an intruder who knows both parameters and how often each count occurs in the table, but not
    where. Each cell is looked at alone.

    Args:
        perturbation: The noise; ``None`` where counts are published as they are.
        prior: How often each true count occurs: the office's own, or ``reference_prior()``.
        moves: How records move between cells of the table's level; ``NO_MOVES`` above the level of
            the swap.
        published: The published values to look at, 1 or more.
    """
    values = _claimed(published)
    most = values[-1] + (0 if perturbation is None else perturbation.max_deviation)
    counts = np.arange(most + 1, dtype=np.int64)
    noise = _noise(perturbation, counts, values)
    stays = _joint(prior.counts, moves, most)  # true count × stayed × counted
    weighted = stays * prior.cells[:, None, None]
    by_count = weighted.sum(axis=1)
    all_cells = by_count.sum(axis=0) @ noise
    staying = weighted.sum(axis=0)
    chances = []
    for at, value in enumerate(values):
        row = np.flatnonzero(prior.counts == value)
        own = float(noise[value, at])
        true = float((by_count[row] @ noise[:, at]).sum())
        residents = float(weighted[row, value, value].sum()) * own
        right = float((staying[:, value] * np.arange(most + 1)).sum()) / value * own
        counted = float(by_count[:, value].sum()) * own
        chances.append(_chance(value, float(all_cells[at]), true, counted, residents, right))
    return CombinedRisk(tuple(chances))


def observed_risk(
    cells: CellMoves,
    perturbation: Perturbation | None,
    *,
    published: Sequence[int] = CLAIMED,
) -> CombinedRisk:
    """The same chances as they are in one derived store: counted, with the noise to be expected.

    Args:
        cells: Who left and who came, by cell.
        perturbation: The noise; ``None`` where counts are published as they are.
        published: The published values to look at, 1 or more.
    """
    values = _claimed(published)
    most = values[-1] + (0 if perturbation is None else perturbation.max_deviation)
    near = cells.after <= most
    kept = CellMoves(cells.before[near], cells.after[near], cells.stayed[near])
    noise = _noise(perturbation, np.arange(most + 1, dtype=np.int64), values)
    return _counted(kept, values, noise[kept.after])


def published_risk(
    cells: CellMoves,
    shown: Int64,
    *,
    published: Sequence[int] = CLAIMED,
) -> CombinedRisk:
    """The same as it is in one published table, for methods whose noise is not known by cells.

    Args:
        cells: Who left and who came, by cell.
        shown: What is published for the same cells; below 0 where nothing is.
        published: The published values to look at, 1 or more.
    """
    values = _claimed(published)
    weights = np.asarray(shown[:, None] == np.asarray(values)[None, :], dtype=np.float64)
    return _counted(cells, values, weights)


def _claimed(published: Sequence[int]) -> list[int]:
    values = sorted(set(published))
    if not values or values[0] < 1:
        raise SpecError("Claims are made about published values of 1 or more.")
    return values


def _counted(cells: CellMoves, values: Sequence[int], weights: Float64) -> CombinedRisk:
    """Cells counted by how likely each is published with each of the values (columns)."""
    true, after, stayed = cells.before, cells.after, cells.stayed
    chances = []
    for at, value in enumerate(values):
        weight = weights[:, at]
        equal = after == value
        whole = equal & (true == value) & (stayed == value)
        chances.append(
            _chance(
                value,
                float(weight.sum()),
                float(weight[true == value].sum()),
                float(weight[equal].sum()),
                float(weight[whole].sum()),
                float((weight * stayed)[equal].sum()) / value,
            )
        )
    return CombinedRisk(tuple(chances))


def _chance(
    value: int, cells: float, true: float, counted: float, residents: float, right: float
) -> SmallValueChance:
    shares = [
        min(part / cells, 1.0) if cells > 0 else None for part in (true, counted, residents, right)
    ]
    return SmallValueChance(
        published=value,
        cells=cells,
        count_true=shares[0],
        counted_true=shares[1],
        all_residents=shares[2],
        claim_right=shares[3],
    )


def _noise(perturbation: Perturbation | None, counts: Int64, published: Sequence[int]) -> Float64:
    """The probability of each published value (columns) for each count (rows)."""
    if perturbation is None:
        return np.asarray(counts[:, None] == np.asarray(published)[None, :], dtype=np.float64)
    return published_given_true(perturbation, counts.tolist(), published)


def _joint(counts: Int64, moves: Moves, most: int) -> Float64:
    """P(j stay, s are counted | t) for each t (first axis), j and s from 0 to ``most``.

    Each record stays, goes and is replaced by the like, or goes: a trinomial. Arrivals are Poisson.
    Larger j and s are left out: no small value is published for them.
    """
    leave = moves.leaving(counts)
    arrivals = _poisson(moves.arriving(counts), most)
    result = np.zeros((counts.size, most + 1, most + 1))
    factorials = np.array([math.lgamma(each + 1) for each in range(most + 1)])
    of_count = np.array([math.lgamma(count + 1) for count in counts.tolist()])
    stay_log, like_log = _log(1.0 - leave), _log(leave * moves.alike)
    gone_log = _log(leave * (1.0 - moves.alike))
    for stayed in range(most + 1):
        for replaced in range(most + 1 - stayed):
            rest = counts - stayed - replaced
            possible = rest >= 0
            logs = of_count - factorials[stayed] - factorials[replaced]
            logs = logs - np.array([math.lgamma(max(each, 0) + 1) for each in rest.tolist()])
            logs = logs + _times(stayed, stay_log) + _times(replaced, like_log)
            logs = logs + _times(np.maximum(rest, 0), gone_log)
            chance = np.where(possible, np.exp(logs), 0.0)
            kept = stayed + replaced
            result[:, stayed, kept:] += chance[:, None] * arrivals[:, : most + 1 - kept]
    return result


def _poisson(means: Float64, most: int) -> Float64:
    """The probabilities of 0 to ``most`` arrivals, for each mean."""
    numbers = np.arange(most + 1)
    factorials = np.array([math.lgamma(each + 1) for each in range(most + 1)])
    logs = _times(numbers[None, :], _log(means)[:, None]) - means[:, None] - factorials[None, :]
    return np.asarray(np.exp(logs))


def _log(values: Float64) -> Float64:
    """Logarithms; minus infinity of 0."""
    positive = values > 0
    return np.asarray(np.where(positive, np.log(np.where(positive, values, 1.0)), _VANISHING))


def _times(number: int | Int64, logs: Float64) -> Float64:
    """How often a factor stands in a product; none of it is 1, also of 0."""
    times = np.asarray(number)
    shape = np.broadcast_shapes(times.shape, logs.shape)
    wide, factor = np.broadcast_to(times, shape), np.broadcast_to(logs, shape)
    result = np.zeros(shape)
    present = wide > 0
    result[present] = wide[present] * factor[present]
    return result
