"""Decoding totals where keys add up and deviations stand in the order of keys.

With the look-up ``ascending`` the key of a total is the sum of the keys of its parts, and a key
says the deviation. So a total and its parts tell not one thing about the noise but two: deviations
have to explain the gap between them, and keys have to add up. Each way to split a total is one more
message about its key and its deviation; taken together they give the count far more often than the
average of as many looks would.

Messages are passed along trees. Areas lie in areas: what the splits of a parish say about its key
goes up to the district and, with what is known of the other parishes, down again. All other splits
are leaves. The same steps with keys left out are the best that can be done against independent
noise, so both are tried, and the lines themselves say which fits better.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from sdcensus.attack.assumptions import Assumptions, KnownNoise
from sdcensus.attack.claims import AttackResult, CellClaims, Float64, Int64, exact_claims
from sdcensus.attack.keys.noise import BUCKETS, NoiseModel, chances
from sdcensus.attack.pieces import Index, Piece, pieces_of, tiling
from sdcensus.attack.targets import Target, families, named
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.quantities import share_text

NAME = "key-decoding"
#: Lines of more noisy parts say next to nothing.
MOST_PARTS = 8
#: Lines that are used of each count, those of few parts first.
MOST_LINES = 60
#: Areas with more areas in them are not decoded through these.
MOST_AREAS = 12
#: Counts that are decoded in all.
MOST_COUNTS = 4_000
#: Weights that are held at the same time, for totals of areas.
MOST_HELD = 20_000_000
#: Smaller parts have equal values by chance all the time.
_LARGE_PART = 10
#: Lines by which the two kinds of noise are told apart.
_LINES_TO_TELL = 2_000


def attack_key_decoding(
    targets: Sequence[Target], assumptions: Assumptions, progress: Progress = no_progress
) -> AttackResult:
    """Claim counts whose deviation follows from all the ways to split them up."""
    if assumptions.noise is None:
        return AttackResult(
            NAME,
            (),
            ("Nothing was decoded: the deviations and their probabilities are not known.",),
        )
    claims: list[CellClaims] = []
    sentences: list[str] = []
    examined: list[tuple[str, Int64]] = []
    figures: dict[str, float | int | str | None] = {}
    for family in families(targets):
        decoded = _decode(family, assumptions, assumptions.noise, progress)
        claims += decoded.claims
        sentences.append(decoded.sentence)
        examined += decoded.examined
        mark = "" if len(family) == len(targets) else f" ({family[0].name})"
        figures[f"lines{mark}"] = decoded.lines
        figures[f"keys add up{mark}"] = "yes" if decoded.additive else "no"
    return AttackResult(
        NAME, tuple(claims), tuple(sentences), MappingProxyType(figures), tuple(examined)
    )


#: A cell: what makes its piece equal to others, and its number there.
_Place = tuple[tuple[str, frozenset[tuple[str, bytes]]], int]


@dataclass(frozen=True, slots=True, eq=False)
class _Decoded:
    claims: tuple[CellClaims, ...]
    sentence: str
    examined: tuple[tuple[str, Int64], ...]
    lines: int
    additive: bool


def _decode(
    family: Sequence[Target], assumptions: Assumptions, noise: KnownNoise, progress: Progress
) -> _Decoded:
    pieces = pieces_of(family)
    trunk = _trunk(pieces)
    counts = list(_counts(pieces, trunk, progress))
    zeros = assumptions.zeros_known
    additive_model, single = NoiseModel(noise, BUCKETS, zeros), NoiseModel(noise, 1, zeros)
    additive = _keys_add_up(counts, additive_model, single)
    model = additive_model if additive else single
    beliefs = _beliefs(counts, _branches(pieces, counts, trunk), model, progress)
    rows: dict[str, list[tuple[int, int, float]]] = {}
    looked_at: dict[str, list[int]] = {}
    for count, likely in zip(counts, beliefs, strict=True):
        best = int(np.argmax(likely))
        name = count.piece.target.name
        looked_at.setdefault(name, []).append(count.cell)
        if likely[best] >= assumptions.limit:
            value = count.value - (best - model.reach)
            rows.setdefault(name, []).append((count.cell, value, float(likely[best])))
    claims = exact_claims(NAME, {target.name: target.table.spec for target in family}, rows)
    lines = sum(len(count.lines) for count in counts)
    how = "keys of totals are the sums of keys of parts" if additive else "noise is independent"
    sentence = (
        f"In {named(family)}, {how}. An intruder who knows the deviations and their probabilities,"
        " and claims what he reckons to get right with a probability of"
        f" {share_text(assumptions.limit, digits=0)} or"
        f" more, names {sum(claim.count for claim in claims):,} of {len(counts):,} counts from"
        f" {lines:,} lines."
    )
    examined = tuple((name, np.array(cells, dtype=np.int64)) for name, cells in looked_at.items())
    return _Decoded(claims, sentence, examined, lines, additive)


@dataclass(frozen=True, slots=True, eq=False)
class _Count:
    """A published count and the ways in which it is split up.

    Attributes:
        piece: Where it stands.
        number: Its number among the cells of the piece.
        cell: Its number among those of the table.
        value: What is published.
        lines: For each way, areas aside, the published values of the parts that are noisy.
    """

    piece: Piece
    number: int
    cell: int
    value: int
    lines: tuple[tuple[int, ...], ...]


@dataclass(frozen=True, slots=True)
class _Branch:
    """A count and the counts of the areas in it, by their places in the list of counts."""

    total: int
    parts: tuple[int, ...]
    gap: int


def _trunk(pieces: Sequence[Piece]) -> str | None:
    """The variable with most levels, if any has several: the one whose codes lie in each other."""
    levels: dict[str, set[tuple[str, bytes]]] = {}
    for piece in pieces:
        for side in piece.sides:
            levels.setdefault(side.variable, set()).add(side.key)
    best = max(levels, key=lambda name: len(levels[name]), default=None)
    return best if best is not None and len(levels[best]) > 1 else None


def _counts(pieces: Sequence[Piece], trunk: str | None, progress: Progress) -> Iterator[_Count]:
    """Counts above 0, those of coarse pieces first."""
    index = Index(pieces)
    left = MOST_COUNTS
    ordered = sorted(_once(pieces), key=lambda one: one.values.size)
    for at, coarse in enumerate(ordered):
        progress("finding lines", at / len(ordered))
        finer = index.finer(coarse, most_more=1)
        splits = [fine for fine in finer if trunk is None or _same_side(fine, coarse, trunk)]
        # Where nothing else splits it, areas in areas are lines like others.
        lines = _lines(coarse, splits if len(splits) > 1 else finer)
        values, known = coarse.values.reshape(-1), coarse.known.reshape(-1)
        for number in np.flatnonzero(known & (values > 0)).tolist():
            if left > 0 and lines[number]:
                left -= 1
                cell = int(coarse.cells.reshape(-1)[number])
                yield _Count(coarse, number, cell, int(values[number]), tuple(lines[number]))


def _once(pieces: Sequence[Piece]) -> list[Piece]:
    """The first piece of those that show the same cells."""
    return list({piece.key: piece for piece in reversed(pieces)}.values())


def _same_side(piece: Piece, other: Piece, variable: str) -> bool:
    """Whether two pieces are restricted alike by a variable."""
    mine, theirs = piece.side(variable), other.side(variable)
    if mine is None or theirs is None:
        return mine is theirs
    return mine.key == theirs.key


def _branches(
    pieces: Sequence[Piece], counts: Sequence[_Count], trunk: str | None
) -> tuple[_Branch, ...]:
    """Totals of areas with the areas in them, finest first; every area is in one branch at most."""
    if trunk is None:
        return ()
    place = {(count.piece.key, count.number): at for at, count in enumerate(counts)}
    index = Index(pieces)
    families_of: dict[object, list[Piece]] = {}
    for piece in _once(pieces):
        rest = frozenset(side.key for side in piece.sides if side.variable != trunk)
        finer = index.finer(piece, most_more=1)
        if sum(_same_side(fine, piece, trunk) for fine in finer) > 1:
            families_of.setdefault((piece.context, rest), []).append(piece)
    branches: list[_Branch] = []
    for alike in families_of.values():
        ordered = sorted(alike, key=lambda one: -one.values.size)
        for at, fine in enumerate(ordered):
            # The next coarser level that these areas make up.
            for coarse in ordered[at + 1 :]:
                one = tiling(fine, coarse)
                if one is not None and bool(one.whole.all()):
                    branches += _in_areas(fine, coarse, one.holder().reshape(-1), place)
                    break
    return tuple(branches)


def _in_areas(
    fine: Piece, coarse: Piece, holder: Int64, place: Mapping[_Place, int]
) -> Iterator[_Branch]:
    values, known = fine.values.reshape(-1), fine.known.reshape(-1)
    for number in range(coarse.values.size):
        inside = np.flatnonzero(holder == number)
        noisy = [at for at in inside.tolist() if values[at] > 0]
        parts = [place.get((fine.key, at), -1) for at in noisy]
        total = place.get((coarse.key, number), -1)
        usable = known[inside].all() and 2 <= len(parts) <= MOST_AREAS
        if usable and total >= 0 and min(parts) >= 0:
            gap = int(coarse.values.reshape(-1)[number]) - int(values[noisy].sum())
            yield _Branch(total, tuple(parts), gap)


def _beliefs(
    counts: Sequence[_Count], branches: Sequence[_Branch], model: NoiseModel, progress: Progress
) -> list[Float64]:
    """For each count the chance of each deviation."""
    kept = branches[: MOST_HELD // max(model.buckets * (2 * model.reach + 1), 1)]
    held = {at for branch in kept for at in (branch.total, *branch.parts)}
    own: dict[int, Float64] = {}
    likely: dict[int, Float64] = {}
    for at, count in enumerate(counts):
        if at % 256 == 0:
            progress("decoding keys", at / len(counts))
        belief = model.belief(count.value, count.lines)
        if at in held:
            own[at] = belief
        else:
            likely[at] = chances(belief)
    said: dict[int, Float64] = {}
    # Upwards, finest areas first, so that a total knows all that its parts know.
    for number, branch in enumerate(kept):
        said[number] = model.from_parts(branch.gap, [own[part] for part in branch.parts])
        own[branch.total] = own[branch.total] + said[number]
    # And down again, each part told what the total knows without it.
    for number in reversed(range(len(kept))):
        branch = kept[number]
        before = own[branch.total] - said.pop(number)
        told = [
            model.to_part(
                branch.gap, before, [own[other] for other in branch.parts if other != part]
            )
            for part in branch.parts
        ]
        for part, message in zip(branch.parts, told, strict=True):
            own[part] = own[part] + message
    likely.update((at, chances(belief)) for at, belief in own.items())
    return [likely[at] for at in range(len(counts))]


def _lines(coarse: Piece, finer: Sequence[Piece]) -> dict[int, list[tuple[int, ...]]]:
    """For each cell of a piece the values of its noisy parts, in each way to split it."""
    found: dict[int, dict[tuple[int, ...], str]] = {
        number: {} for number in range(coarse.values.size)
    }
    for fine in finer:
        one = tiling(fine, coarse)
        if fine.key == coarse.key or one is None:
            continue
        splitting = next(
            side.variable for side in fine.sides if not _same_side(fine, coarse, side.variable)
        )
        holder = one.holder().reshape(-1)
        whole = one.whole.reshape(-1)
        values, known = fine.values.reshape(-1), fine.known.reshape(-1)
        order = np.argsort(holder, kind="stable")
        order = order[holder[order] >= 0]
        starts = np.flatnonzero(np.diff(holder[order], prepend=-1))
        for part in np.split(order, starts[1:]) if order.size else ():
            number = int(holder[part[0]])
            line = _noisy(values[part]) if known[part].all() and whole[number] else ()
            if len(line) >= 2:
                found[number].setdefault(line, splitting)
    return {number: _apart(lines)[:MOST_LINES] for number, lines in found.items()}


def _apart(lines: Mapping[tuple[int, ...], str]) -> list[tuple[int, ...]]:
    """One line for each variable, without those that share a larger part with one before.

    Those without work are a part under occupation, under industry and under travel; their noise
    must not be counted three times.
    """
    kept: list[tuple[int, ...]] = []
    seen: set[int] = set()
    used: set[str] = set()
    for line in sorted(lines, key=len):
        large = {value for value in line if value >= _LARGE_PART}
        # Two parts that are both the same as before are one line, and are here once.
        if lines[line] not in used and (len(line) == 2 or not large & seen):
            kept.append(line)
            used.add(lines[line])
            seen |= large
    return kept


def _noisy(values: Int64) -> tuple[int, ...]:
    """The values of parts that are noisy; of those published as 0 as many as there are ones.

    A line with one part above 0 may hold the same records as its total, and says nothing.
    """
    positive = np.sort(values[values > 0])
    if positive.size < 2:
        return ()
    zeros = min(int((values == 0).sum()), int((positive == 1).sum()))
    line = (*([0] * zeros), *positive.tolist())
    return line if len(line) <= MOST_PARTS else ()


def _keys_add_up(counts: Sequence[_Count], additive: NoiseModel, single: NoiseModel) -> bool:
    """Which kind of noise the lines fit better, those of large counts and few parts first."""
    lines = [(count.value, parts) for count in counts for parts in count.lines]
    lines.sort(key=lambda line: (min(line[1]) < single.large, len(line[1])))
    better = 0.0
    for total, parts in lines[:_LINES_TO_TELL]:
        with_keys = additive.likelihood(total, parts)
        without = single.likelihood(total, parts)
        better += math.log(max(with_keys, 1e-300)) - math.log(max(without, 1e-300))
    return better > 0
