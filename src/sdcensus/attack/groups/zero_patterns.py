"""Zero patterns: how many parts of a cell are above 0 under each variable, whatever their values.

One person is in one part under every variable, and everybody else in none: parts above 0 then never
come in twos. Two persons differ in most variables, so that after twenty of them some show both. No
value is compared with another, so the attack also works where every cell has noise of its own. How
often a count is published as 0 is learned from the tables themselves, and so is how often an empty
cell is not, where zeros are changed too.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from sdcensus.attack.assumptions import Assumptions
from sdcensus.attack.claims import MOST_MEMBERS, AttackResult, Float64, GroupClaims, Int64, Mask
from sdcensus.attack.groups.breakdowns import Breakdowns, CellBreakdown
from sdcensus.attack.groups.patterns import (
    FEWEST_VARIABLES,
    MOST_PUBLISHED,
    share_of_equal,
)
from sdcensus.attack.groups.single_persons import PersonReading, claims_of, summary
from sdcensus.attack.keys.gaps import learn
from sdcensus.attack.pieces import Piece
from sdcensus.attack.targets import Target, families, named
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.quantities import share_text

NAME = "zero-patterns"
#: Groups up to this size are told apart; larger ones are like the largest.
_SIZES = 6
#: Parts above 0 that are counted apart.
_SEEN = 4
#: Rows of parts from which the chances of vanishing are learned, and how often.
_LEARNED_ROWS, _ROUNDS = 20_000, 4
#: Rows whose chances are worked out at a time.
_ROWS = 50_000
#: Variables hang together: so much of what each says is new.
_NEW = 0.6
#: Two persons are taken to share a code if that is as likely as this.
_SHARED = 0.9
#: From this share of equal values on, values tell more than zeros do.
_VALUES_TELL = 0.6
_EQUAL = (
    "{share} of small cells with a single part above 0 have the value of that part: the same"
    " people have the same number in these tables, so values tell more than zeros (patterns)."
)


@dataclass(frozen=True, slots=True)
class Visibility:
    """How often parts are published above 0.

    Attributes:
        excess: By how much a count that is published above 0 exceeds the truth, on average: noise
            without bias then leaves a count c above 0 with the probability c / (c + excess).
        empty: How often an empty cell is published above 0.
        prior: How common cells of each size from 0 on are among the candidates.
    """

    excess: float = 1.0
    empty: float = 0.0
    prior: tuple[float, ...] = (1.0,) * (_SIZES + 1)

    def chances(self, most: int) -> Float64:
        """For counts from 0 on, the probability of being published above 0."""
        counts = np.arange(most + 1)
        made = counts / (counts + max(self.excess, 1e-6))
        made[0] = self.empty
        return np.asarray(made)


@dataclass(frozen=True, slots=True, eq=False)
class _Block:
    """Candidates of one piece: where they stand, and what breaks them down.

    Attributes:
        shares: For each breakdown, what share of a cell each part is expected to have.
        nonzero: For each breakdown and cell the parts above 0.
        usable: For each breakdown and cell whether every part has a number.
    """

    piece: Piece
    breakdowns: tuple[CellBreakdown, ...]
    places: Int64
    shares: tuple[Float64, ...]
    nonzero: Int64
    usable: Mask


def attack_zero_patterns(
    targets: Sequence[Target], assumptions: Assumptions, progress: Progress = no_progress
) -> AttackResult:
    """Claim groups of one, two and three persons by how many parts are above 0."""
    blocks: list[_Block] = []
    examined: list[tuple[str, Int64]] = []
    index = Breakdowns(targets)
    equal = share_of_equal(index)
    every = [] if equal is not None and equal >= _VALUES_TELL else list(index)
    for at, (piece, breakdowns) in enumerate(every):
        progress("parts above 0 under every variable", 0.6 * at / len(every))
        block, looked_at = _block(piece, breakdowns, zeros_known=assumptions.zeros_known)
        if looked_at.size:
            examined.append((piece.target.name, piece.cells.reshape(-1)[looked_at]))
        if block is not None:
            blocks.append(block)
    if not every and equal is not None:
        return AttackResult(NAME, (), (_EQUAL.format(share=share_text(equal, digits=0)),))
    progress("how often counts vanish", 0.6)
    seen = _learned(blocks, zeros_known=assumptions.zeros_known)
    variances = _variances(targets, assumptions)
    claims: list[GroupClaims] = []
    for block, chances in zip(blocks, _sizes(blocks, seen, variances), strict=True):
        readings = _readings(block, chances, assumptions.group_limit)
        claims += claims_of(NAME, block.piece, block.breakdowns, readings, block.places)
    said, figures = summary(claims, sum(cells.size for _, cells in examined))
    figures["a one is published above 0"] = float(seen.chances(1)[1])
    figures["an empty cell is published above 0"] = seen.empty
    sentences = (
        f"An intruder who counts the parts above 0 of every small cell of {named(targets)} under"
        f" every further variable {said}",
    )
    return AttackResult(
        NAME, (), sentences, MappingProxyType(figures), tuple(examined), tuple(claims)
    )


def _variances(targets: Sequence[Target], assumptions: Assumptions) -> dict[str, float]:
    made: dict[str, float] = {}
    for family in families(targets):
        variance = assumptions.variance or learn(family).variance
        if variance is not None:
            made.update((target.name, max(variance, 0.25)) for target in family)
    return made


def _block(
    piece: Piece, breakdowns: Sequence[CellBreakdown], *, zeros_known: bool
) -> tuple[_Block | None, Int64]:
    """The cells of a piece that may be groups of few, and all that were looked at."""
    nobody = np.zeros(0, dtype=np.int64)
    if len({breakdown.variable for breakdown in breakdowns}) < FEWEST_VARIABLES:
        return None, nobody
    # One level of each variable: finer ones show the same persons again.
    kept: dict[str, CellBreakdown] = {}
    for one in sorted(breakdowns, key=lambda breakdown: -breakdown.side.size):
        kept.setdefault(one.variable, one)
    chosen = tuple(kept.values())
    values = piece.values.reshape(-1)
    small = piece.known.reshape(-1) & (values <= MOST_PUBLISHED)
    if not zeros_known:
        small &= values > 0
    places = np.flatnonzero(small)
    if not places.size:
        return None, nobody
    nonzero = np.zeros((len(chosen), places.size), dtype=np.int64)
    usable = np.zeros((len(chosen), places.size), dtype=bool)
    for at, one in enumerate(chosen):
        rows = one.rows(places)
        nonzero[at] = np.count_nonzero(rows.values, axis=1)
        usable[at] = rows.whole
    enough = usable.sum(axis=0) >= FEWEST_VARIABLES
    few = np.where(usable, nonzero, 0)
    fitting = enough & ((few > 0).sum(axis=0) >= FEWEST_VARIABLES)
    if zeros_known:
        fitting &= (few <= MOST_MEMBERS).all(axis=0)
    else:
        fitting &= few.sum(axis=0) <= MOST_MEMBERS * usable.sum(axis=0)
    looked_at = places[enough & (values[places] > 0)]
    if not fitting.any():
        return None, looked_at
    places = places[fitting]
    shares = tuple(breakdown.expected(places) for breakdown in chosen)
    return (
        _Block(piece, chosen, places, shares, nonzero[:, fitting], usable[:, fitting]),
        looked_at,
    )


def chances_of_seen(shares: Float64, visible: Float64, sizes: int, seen: int) -> Float64:
    """How likely so many parts are above 0, for groups of each size whose members are drawn alike.

    Args:
        shares: For each row the probability of each part.
        visible: For counts from 0 on, how likely a part with such a count is above 0.
        sizes: The largest group.
        seen: So many parts above 0 or more are counted together.

    Returns:
        For each row, size (from 0 on) and number of parts above 0 its probability.
    """
    rows, parts = shares.shape
    # Rows stand last: what is added lies side by side in memory.
    chances = np.zeros((sizes + 1, seen + 1, rows))
    chances[0, 0] = 1.0
    for part in range(parts):
        share = np.ascontiguousarray(shares[:, part])
        following = np.zeros_like(chances)
        for inside in range(sizes + 1):
            factor = share**inside / math.factorial(inside)
            moved = chances[: sizes + 1 - inside] * factor
            if visible[inside] != 1:
                following[inside:] += moved * (1 - visible[inside])
            if visible[inside] != 0:
                above = moved * visible[inside]
                following[inside:, 1:] += above[:, :-1]
                following[inside:, -1] += above[:, -1]
        chances = following
    factorials = np.array([math.factorial(size) for size in range(sizes + 1)], dtype=np.float64)
    return np.ascontiguousarray(np.moveaxis(chances * factorials[:, None, None], 2, 0))


def _sizes(
    blocks: Sequence[_Block], seen: Visibility, variances: Mapping[str, float]
) -> list[Float64]:
    """For each candidate of each block the probability of each size from 0 on."""
    prior = np.log(np.maximum(np.array(seen.prior), 1e-12))
    if not seen.empty:  # parts above 0 hold somebody
        prior[0] = -np.inf
    scores = [np.tile(prior, (block.places.size, 1)) for block in blocks]
    alike: dict[int, list[tuple[int, int]]] = {}
    for number, block in enumerate(blocks):
        for at, shares in enumerate(block.shares):
            alike.setdefault(shares.shape[1], []).append((number, at))
    visible = seen.chances(_SIZES)
    for places in alike.values():
        shares = np.concatenate([blocks[number].shares[at] for number, at in places])
        above = np.concatenate([blocks[number].nonzero[at] for number, at in places])
        likely = np.concatenate(
            [
                _likely(shares[start : start + _ROWS], above[start : start + _ROWS], visible)
                for start in range(0, above.size, _ROWS)
            ]
        )
        start = 0
        for number, at in places:
            usable = blocks[number].usable[at]
            own = likely[start : start + usable.size]
            scores[number] += np.where(usable[:, None], _NEW * np.log(np.maximum(own, 1e-12)), 0.0)
            start += usable.size
    return [
        _normed(score, block, variances.get(block.piece.target.name))
        for score, block in zip(scores, blocks, strict=True)
    ]


def _likely(shares: Float64, above: Int64, visible: Float64) -> Float64:
    """For each row and size from 0 on, how likely so many parts are above 0."""
    chances = chances_of_seen(shares, visible, _SIZES, _SEEN)
    counted = np.minimum(above, _SEEN)
    made: Float64 = np.take_along_axis(chances, counted[:, None, None], axis=2)[:, :, 0]
    return made


def _normed(score: Float64, block: _Block, variance: float | None) -> Float64:
    """Probabilities of sizes, with what the published value of the cell itself says."""
    if variance is not None:
        published = block.piece.values.reshape(-1)[block.places]
        apart = published[:, None] - np.arange(_SIZES + 1)
        score = score - np.where(published > 0, 1.0, 0.0)[:, None] * apart**2 / (2 * variance)
    made = np.exp(score - score.max(axis=1, keepdims=True))
    result: Float64 = made / made.sum(axis=1, keepdims=True)
    return result


def _learned(blocks: Sequence[_Block], *, zeros_known: bool) -> Visibility:
    """How often counts vanish and empty cells appear, from those who look like one person."""
    seen = Visibility(empty=0.0 if zeros_known else 0.02)
    used: list[_Block] = []
    rows = 0
    for block in blocks:
        used.append(block)
        rows += block.nonzero.size
        if rows > _LEARNED_ROWS:
            break
    for _ in range(_ROUNDS):
        weight = above = extra = places = 0.0
        sizes = np.zeros(_SIZES + 1)
        for block, chances in zip(used, _sizes(used, seen, {}), strict=True):
            sizes += chances.sum(axis=0)
            for at, shares in enumerate(block.shares):
                share = np.where(block.usable[at], chances[:, 1], 0.0)
                weight += float(share.sum())
                above += float((share * (block.nonzero[at] > 0)).sum())
                extra += float((share * np.maximum(block.nonzero[at] - 1, 0)).sum())
                places += float((share * (np.count_nonzero(shares, axis=1) - 1)).sum())
        if weight < 1:
            break
        visible = min(max(above / weight, 0.05), 0.98)
        empty = 0.0 if zeros_known or not places else min(extra / places, 0.5)
        prior = seen.prior if zeros_known else tuple((sizes / sizes.sum()).tolist())
        seen = Visibility(1 / visible - 1, empty, prior)
    return seen


def _readings(block: _Block, chances: Float64, limit: float) -> list[PersonReading]:
    readings = []
    best = chances.argmax(axis=1)
    sure = chances.max(axis=1)
    rows = [breakdown.rows(block.places) for breakdown in block.breakdowns]
    few = (best >= 1) & (best <= MOST_MEMBERS)
    for cell in np.flatnonzero(few & (sure >= limit)).tolist():
        size = int(best[cell])
        members: dict[tuple[int, int], int] = {}
        for at, parts in enumerate(rows):
            above = parts.values[cell][parts.values[cell] > 0].tolist()
            if not block.usable[at, cell] or len(above) > size:
                continue  # some of them hold nobody, and nothing tells which
            if len(above) == size:
                members |= {(at, value): 1 for value in above}
            elif len(above) == 1 and (block.shares[at][cell] ** 2).sum() >= _SHARED:
                members[at, above[0]] = size
        readings.append(PersonReading(cell, size, float(sure[cell]), members))
    return readings
