"""Averaging: every table that shows a count in other parts is another look at it.

A count can be read off its own cell, and as the sum of its parts in any table that splits it by
something else. Sums of k noisy cells have k times the noise of one. The best average of all looks
weighs each by 1/k; its variance is that of one cell divided by the sum of these weights, and where
that is small, rounding it gives the true count.

Which parts are noisy is not known for those that are published as 0: they are empty and without
noise, or hold a few that were lowered to 0. As many of them are taken to be noisy as parts of the
same look are published as 1, since ones vanish about as often as they stay.

The same records have the same noise, so a part that turns up in several looks (those without work
under occupation, industry and travel) brings nothing new. Looks whose parts have all the same
published values count once. When the intruder asks himself how sure he is, large parts of the same
value are reckoned to be one part as far as they agree more often than chance lets them.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt
from scipy.special import ndtr

from sdcensus.attack.assumptions import Assumptions
from sdcensus.attack.claims import AttackResult, CellClaims, Float64, Int64, Mask
from sdcensus.attack.keys.gaps import learn
from sdcensus.attack.pieces import Index, Piece, PieceTiling, pieces_of, tiling
from sdcensus.attack.targets import Target, families, named
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.quantities import share_text

NAME = "averaging"
#: Looks at a cell that are held at the same time, best ones first.
MOST_LOOKS = 400
#: Cells times looks that are held at the same time.
_MOST_HELD = 40_000_000
#: Cells that are added up in all, about a minute of it: whole programmes have very many looks.
MOST_ADDED = 3_000_000_000
#: What one look takes besides, as so many cells.
_LOOK = 50_000
#: Pieces, the smallest first, among which looks at a cell are sought.
_MOST_TRIED = 2_000
#: Values are compared with others of about their size; smaller ones agree by chance all the time.
_BANDS = (3, 6, 12, 30, 100, 1 << 40)
#: Values that miss each other by so much are told apart from equal ones.
_NEAR = (-2, -1, 1, 2)
#: Ways to make tables that are told apart.
_MOST_FAMILIES = 64


@dataclass(frozen=True, slots=True, eq=False)
class Averages:
    """The best average of all looks at the cells of one piece of a table. Public.

    Attributes:
        piece: The cells.
        estimate: The average; what stands there means nothing where ``precision`` is 0.
        precision: One over its variance, as the intruder reckons.
        looks: How many different looks there are.
    """

    piece: Piece
    estimate: Float64
    precision: Float64
    looks: Int64

    @property
    def probability(self) -> Float64:
        """The chance that the nearest whole number is right, if the noise is normal."""
        return chance(self.precision)


def chance(precision: Float64) -> Float64:
    """The chance that an unbiased normal estimate rounds to the truth."""
    made: Float64 = 2 * ndtr(np.sqrt(precision) / 2) - 1
    return made


def attack_averaging(
    targets: Sequence[Target], assumptions: Assumptions, progress: Progress = no_progress
) -> AttackResult:
    """Claim every count whose average is reckoned right with the probability that is asked for."""
    variances, missing = variances_of(targets, assumptions)
    usable = [target for target in targets if target.name in variances]
    claims: list[CellClaims] = []
    examined: list[tuple[str, Int64]] = []
    best, cells = 0.0, 0
    found = averages(usable, variances, zeros_known=assumptions.zeros_known, progress=progress)
    for one in found:
        cells += one.estimate.size
        examined.append((one.piece.target.name, one.piece.cells.reshape(-1)))
        best = max(best, float(one.probability.max(initial=0.0)))
        claims += _claims(one, assumptions)
    said = list(missing)
    if usable:
        said.append(
            f"An intruder who averages {named(usable)} and claims what he reckons to get right with"
            f" a probability of {share_text(assumptions.limit, digits=0)} or more names"
            f" {sum(claim.count for claim in claims):,} of {cells:,} different counts."
            " The best chance"
            f" that he reckons with is {share_text(best, digits=0)}."
        )
    kinds = len({piece.key for piece in pieces_of(usable)})
    if len(found) < kinds:
        said.append(
            f"Tables as many as these have too many looks to add up all of them: cells of the"
            f" {len(found):,} coarsest of {kinds:,} kinds were averaged. To average finer ones,"
            " attack fewer tables together."
        )
    figures = MappingProxyType({"counts": cells, "best chance": best})
    return AttackResult(NAME, tuple(claims), tuple(said), figures, tuple(examined))


def variances_of(
    targets: Sequence[Target], assumptions: Assumptions
) -> tuple[dict[str, float], list[str]]:
    """The variance of one cell of each table: given, or estimated from gaps."""
    variances: dict[str, float] = {}
    missing: list[str] = []
    for family in families(targets):
        variance = assumptions.variance
        if variance is None:
            variance = learn(family).variance
        if variance is None:
            missing.append(
                f"Averaging without {named(family)}: no gap tells how large the noise is. Give a"
                " variance."
            )
            continue
        variances.update((target.name, variance) for target in family)
    return variances, missing


def averages(
    targets: Sequence[Target],
    variances: dict[str, float],
    *,
    zeros_known: bool = True,
    most_added: int = MOST_ADDED,
    progress: Progress = no_progress,
) -> list[Averages]:
    """The average of all looks at every cell of every table.

    Args:
        targets: The tables.
        variances: For each table by name, the variance of one cell.
        zeros_known: Whether empty cells have no noise.
        most_added: About how many cells are added up; fine pieces for which nothing is left are
            not averaged.
        progress: Told how far it is.
    """
    pieces = pieces_of(targets)
    index = Index(pieces)
    first: dict[object, Piece] = {}
    for piece in pieces:
        first.setdefault(piece.key, piece)
    by_number: dict[int, Averages] = {}
    added = 0
    # Coarse cells have the most looks, so they come first where there is no room for all.
    coarsest = sorted(enumerate(first.values()), key=lambda one: one[1].values.size)
    for at, (number, coarse) in enumerate(coarsest):
        progress("averaging", max(at / len(first), min(added / most_added, 1.0)))
        finer = sorted(index.finer(coarse), key=lambda one: one.values.size)[:_MOST_TRIED]
        looks = [found for found in (tiling(one, coarse) for one in finer) if found is not None]
        looks = _best(coarse, looks)
        added += sum(look.fine.values.size + _LOOK for look in looks) + _LOOK
        if added > most_added and by_number:
            break
        by_number[number] = _average(coarse, looks, variances, zeros_known=zeros_known)
    return [by_number[number] for number in sorted(by_number)]


def _best(piece: Piece, tilings: Sequence[PieceTiling]) -> list[PieceTiling]:
    """As many looks as can be held; few parts make a good one, and their mean decides."""
    most = max(1, min(MOST_LOOKS, _MOST_HELD // max(piece.values.size, 1)))
    return sorted(tilings, key=lambda tiling: float(tiling.parts.mean()))[:most]


@dataclass(frozen=True, slots=True, eq=False)
class _Look:
    """One look at every cell of a piece.

    Attributes:
        tiling: Which cells it adds up.
        variance: Of one of them.
        value: Their sum.
        precision: One over the variance of the sum; 0 where there is no look.
        mark: A number that is equal for equal sets of published values.
    """

    tiling: PieceTiling
    variance: float
    value: Float64
    precision: Float64
    mark: npt.NDArray[np.uint64]


def _average(
    piece: Piece, tilings: Sequence[PieceTiling], variances: dict[str, float], *, zeros_known: bool
) -> Averages:
    looks = [
        _look(tiling, variances[tiling.fine.target.name], zeros_known=zeros_known)
        for tiling in tilings
    ]
    precision = np.stack([look.precision for look in looks])
    again = _again(np.stack([look.mark for look in looks]), precision > 0)
    precision = np.where(again, 0.0, precision)
    total = precision.sum(axis=0)
    weights = np.divide(precision, total, out=np.zeros_like(precision), where=total > 0)
    estimate = (np.stack([look.value for look in looks]) * weights).sum(axis=0)
    variance = _variance_of(looks, weights, np.asarray(total))
    reckoned = np.divide(1.0, variance, out=np.zeros_like(variance), where=variance > 0)
    count = (precision > 0).sum(axis=0).astype(np.int64)
    return Averages(piece, np.asarray(estimate), reckoned, np.asarray(count))


def _variance_of(looks: Sequence[_Look], weights: Float64, total: Float64) -> Float64:
    """The variance of a weighted mean of looks that share their large parts of equal value."""
    alone = np.divide(1.0, total, out=np.zeros_like(total), where=total > 0).reshape(-1)
    keys: list[Int64] = [np.zeros(0, dtype=np.int64)]
    shares: list[Float64] = [np.zeros(0)]
    families_seen: dict[float, int] = {}
    for look, weight in zip(looks, weights, strict=True):
        holder = look.tiling.holder().reshape(-1)
        values = look.tiling.fine.values.reshape(-1)
        flat = weight.reshape(-1)
        large = np.flatnonzero((holder >= 0) & (values >= _BANDS[0]))
        large = large[flat[holder[large]] > 0]
        family = families_seen.setdefault(look.variance, len(families_seen))
        keys.append((values[large] * _MOST_FAMILIES + family) * alone.size + holder[large])
        shares.append(flat[holder[large]] * math.sqrt(look.variance))
    key, share = np.concatenate(keys), np.concatenate(shares)
    # Large parts were reckoned one by one; now those of one value together.
    same, place = np.unique(key, return_inverse=True)
    together: Float64 = np.bincount(place, weights=share, minlength=same.size).astype(np.float64)
    step = _MOST_FAMILIES * alone.size
    shared = np.zeros(alone.size)
    for low, high in itertools.pairwise(_BANDS):
        here = (same >= low * step) & (same < high * step)
        inside = here[place]
        joint = np.bincount(same[here] % alone.size, together[here] ** 2, minlength=alone.size)
        single = np.bincount(key[inside] % alone.size, share[inside] ** 2, minlength=alone.size)
        agree = joint - single
        shared += agree * _not_by_chance(float(agree.sum()), same, together, here, step)
    return np.asarray(alone + shared, dtype=np.float64).reshape(total.shape)


def _not_by_chance(agree: float, keys: Int64, together: Float64, here: Mask, step: int) -> float:
    """Which share of equal values is more than chance.

    Different parts miss each other by 1 or 2 about as often as they agree; parts that are the
    same always agree.
    """
    if agree <= 0:
        return 0.0
    near = 0.0
    for distance in _NEAR:
        wanted = keys[here] + distance * step
        found = np.minimum(np.searchsorted(keys, wanted), keys.size - 1)
        met = keys[found] == wanted
        near += float((together[here] * together[found])[met].sum()) / len(_NEAR)
    return min(1.0, max(0.0, 1 - near / agree))


def _look(one: PieceTiling, variance: float, *, zeros_known: bool) -> _Look:
    values = one.fine.values
    parts = one.parts
    noisy = parts
    if zeros_known:
        positive = one.summed((values > 0).astype(np.int64))
        ones = one.summed((values == 1).astype(np.int64))
        noisy = positive + np.minimum(parts - positive, ones)
    unknown = one.summed((~one.fine.known).astype(np.int64))
    usable = one.whole & (unknown == 0)
    precision = np.where(usable, 1 / (np.maximum(noisy, 1) * variance), 0.0)
    mark = one.summed(_marks(values).view(np.int64)).view(np.uint64)
    return _Look(one, variance, one.summed(values).astype(np.float64), precision, mark)


def _marks(values: Int64) -> npt.NDArray[np.uint64]:
    """A number for each published value such that sums of them tell sets of values apart."""
    # A single number would warn when it wraps round, which is meant here.
    mixed = np.atleast_1d(values).astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(29)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(32)
    return np.where(values > 0, mixed.reshape(values.shape), np.uint64(0)).astype(np.uint64)


def _again(marks: npt.NDArray[np.uint64], usable: Mask) -> Mask:
    """Looks whose parts have the same values as an earlier look."""
    # Looks that cannot be used stand behind all others, so that they hide none.
    order = np.lexsort((marks, ~usable), axis=0)
    ranked = np.take_along_axis(marks, order, axis=0)
    kept = np.take_along_axis(usable, order, axis=0)
    repeated = np.zeros(marks.shape, dtype=bool)
    repeated[1:] = (ranked[1:] == ranked[:-1]) & kept[1:] & kept[:-1]
    found = np.zeros(marks.shape, dtype=bool)
    np.put_along_axis(found, order, repeated, axis=0)
    return found


def rounded(averages: Averages, *, zeros_known: bool = True) -> Int64:
    """The nearest counts; what is published above 0 is at least 1 where zeros are known."""
    least = (averages.piece.values > 0) & zeros_known
    return np.maximum(np.rint(averages.estimate), least).astype(np.int64)


def _claims(one: Averages, assumptions: Assumptions) -> list[CellClaims]:
    probability = one.probability
    chosen = (one.precision > 0) & (probability >= assumptions.limit)
    if not chosen.any():
        return []
    piece = one.piece
    value = rounded(one, zeros_known=assumptions.zeros_known)[chosen]
    return [
        CellClaims(
            NAME,
            piece.target.name,
            piece.target.table.spec,
            piece.cells[chosen],
            value,
            value.copy(),
            probability[chosen],
        )
    ]
