"""The pattern attack: a small cell split by every further variable shows how many persons it holds.

Where the same records have the same number in every table, one person gives one part above 0 under
every variable, with the value of the whole cell. Two persons give that, or one fixed pair of
values; three that, a fixed triple, or one of three fixed pairs (one of them, and the value that the
two others have together). Nothing need be known of the noise. Which part it is tells the code of
the person, so the claim comes with attributes.

What is found is what is published above 0: who vanishes in one table vanishes in all of them.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType

import numpy as np

from sdcensus.attack.assumptions import Assumptions
from sdcensus.attack.claims import MOST_MEMBERS, AttackResult, Float64, GroupClaims, Int64, Mask
from sdcensus.attack.groups.breakdowns import Breakdowns, CellBreakdown
from sdcensus.attack.groups.single_persons import PersonReading, claims_of, summary
from sdcensus.attack.pieces import Piece
from sdcensus.attack.targets import Target, named
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.quantities import share_text

NAME = "patterns"
#: Larger published values are no groups of three or fewer, whatever the noise.
MOST_PUBLISHED = 60
#: A cell that fewer variables break down tells too little.
FEWEST_VARIABLES = 3
#: How often two values that have nothing to do with each other agree, about.
_CHANCE = 0.15
#: Small published values; and for each single person, about so many groups of whom all vanish but
#: one.
_SMALL, _VANISHING = 10, 1.0
#: Variables hang together: so much of what each says is new.
_NEW = 0.5
#: From this share of equal values on, the same people are taken to have the same number.
SAME_PEOPLE = 0.4
#: Rows from which that is judged.
_JUDGED = 200_000
#: Values of parts, the largest first, of a cell under one variable.
Pattern = tuple[int, ...]


@dataclass(frozen=True, slots=True, eq=False)
class Patterns:
    """The parts above 0 of some cells under every variable that breaks them down.

    Attributes:
        piece: The cells belong to it.
        places: Where they stand in it.
        breakdowns: What breaks them down.
        largest: For each breakdown and cell the largest values, the largest first; 0 for none.
        nonzero: How many parts are above 0.
        usable: Where no part is without a number.
        holding: How many parts have the value of the cell itself.
    """

    piece: Piece
    places: Int64
    breakdowns: tuple[CellBreakdown, ...]
    largest: Int64
    nonzero: Int64
    usable: Mask
    holding: Int64

    @property
    def values(self) -> Int64:
        """The published values of the cells."""
        return self.piece.values.reshape(-1)[self.places]


def patterns_of(
    piece: Piece, breakdowns: Sequence[CellBreakdown], places: Int64, *, kept: int = MOST_MEMBERS
) -> Patterns:
    """How some cells of a piece are broken down under every variable."""
    shape = (len(breakdowns), places.size)
    largest = np.zeros((*shape, kept), dtype=np.int64)
    nonzero = np.zeros(shape, dtype=np.int64)
    usable = np.zeros(shape, dtype=bool)
    holding = np.zeros(shape, dtype=np.int64)
    own = piece.values.reshape(-1)[places]
    for at, breakdown in enumerate(breakdowns):
        rows = breakdown.rows(places)
        ordered = np.sort(rows.values, axis=1)[:, ::-1][:, :kept]
        largest[at, :, : ordered.shape[1]] = ordered
        nonzero[at] = np.count_nonzero(rows.values, axis=1)
        usable[at] = rows.whole
        holding[at] = np.count_nonzero(rows.values == own[:, None], axis=1)
    return Patterns(piece, places, tuple(breakdowns), largest, nonzero, usable, holding)


def share_of_equal(index: Breakdowns) -> float | None:
    """How often a small cell with a single part above 0 has the value of that part.

    Nearly always where the same people have the same number, now and then where they do not.
    ``None`` where there is no such cell.
    """
    equal = rows = 0
    for piece, breakdowns in index:
        values = piece.values.reshape(-1)
        small = piece.known.reshape(-1) & (values >= 1) & (values <= MOST_PUBLISHED)
        places = np.flatnonzero(small)
        if not places.size or not piece.sides:
            continue
        seen = patterns_of(piece, breakdowns, places, kept=1)
        single = seen.usable & (seen.nonzero == 1)
        rows += int(np.count_nonzero(single))
        equal += int(np.count_nonzero(single & (seen.largest[:, :, 0] == seen.values)))
        if rows > _JUDGED:
            break
    return equal / rows if rows else None


def attack_patterns(
    targets: Sequence[Target], assumptions: Assumptions, progress: Progress = no_progress
) -> AttackResult:
    """Claim groups of one, two and three persons whose parts have the same values everywhere."""
    index = Breakdowns(targets)
    equal = share_of_equal(index)
    claims: list[GroupClaims] = []
    examined: list[tuple[str, Int64]] = []
    every = list(index) if equal is not None and equal >= SAME_PEOPLE else []
    if not every:
        return AttackResult(NAME, (), (_nothing(equal),))
    coincidence = coincidence_of(every)
    for at, (piece, breakdowns) in enumerate(every):
        progress("small cells under every variable", at / len(every))
        values = piece.values.reshape(-1)
        small = piece.known.reshape(-1) & (values >= 1) & (values <= MOST_PUBLISHED)
        places = np.flatnonzero(small)
        if (
            not places.size
            or len({breakdown.variable for breakdown in breakdowns}) < FEWEST_VARIABLES
        ):
            continue
        seen = patterns_of(piece, breakdowns, places)
        enough = _variables(seen) >= FEWEST_VARIABLES
        examined.append((piece.target.name, piece.cells.reshape(-1)[places[enough]]))
        read = read_groups if assumptions.zeros_known else read_among_noise
        found = read(seen, enough, coincidence)
        readings = [reading for reading in found if reading.probability >= assumptions.group_limit]
        claims += claims_of(NAME, piece, breakdowns, readings, places)
    said, figures = summary(claims, sum(cells.size for _, cells in examined))
    sentences = (
        f"An intruder who splits every small cell of {named(targets)} by every further variable,"
        f" and takes equal values for the same people, {said}",
    )
    return AttackResult(
        NAME, (), sentences, MappingProxyType(figures), tuple(examined), tuple(claims)
    )


def _nothing(equal: float | None) -> str:
    if equal is None:
        return "No small cell is broken down by a further variable with a single part above 0."
    return (
        f"{share_text(equal, digits=0)} of small cells with a single part above 0 have the value"
        " of that part: the"
        " same people do not have the same number in these tables, so equal values show nobody."
    )


def _variables(seen: Patterns) -> Int64:
    """By how many different variables each cell is broken down completely."""
    names = [breakdown.variable for breakdown in seen.breakdowns]
    counts = np.zeros(seen.places.size, dtype=np.int64)
    for name in set(names):
        counts += seen.usable[[at for at, one in enumerate(names) if one == name]].any(axis=0)
    return counts


def coincidence_of(pieces: Iterable[tuple[Piece, Sequence[CellBreakdown]]]) -> float:
    """How likely two persons look like one because the other vanishes and the values agree.

    The same values stand in every table, so one coincidence is enough, however many there are.
    """
    counts = np.zeros(MOST_PUBLISHED + 1)
    for piece, _ in pieces:
        values = piece.values[piece.known & (piece.values >= 1) & (piece.values <= _SMALL)]
        counts += np.bincount(values, minlength=counts.size)
    shares = counts / max(float(counts.sum()), 1.0)
    return _VANISHING * float((shares**2).sum())


def read_groups(seen: Patterns, enough: Mask, coincidence: float) -> list[PersonReading]:
    """The groups that patterns of values show."""
    values = seen.values
    fitting = enough & ((seen.nonzero <= MOST_MEMBERS) | ~seen.usable).all(axis=0)
    alone = fitting & ((seen.largest[:, :, 0] == values) | ~seen.usable).all(axis=0)
    alone &= ((seen.nonzero == 1) | ~seen.usable).all(axis=0)
    agreeing = _agreeing(seen, fitting)
    readings: list[PersonReading] = []
    for cell in np.flatnonzero(fitting).tolist():
        used = np.flatnonzero(seen.usable[:, cell])
        if alone[cell]:
            weight = {(int(at), int(values[cell])): 1 for at in used}
            sure = 1 / (1 + coincidence + _alike(agreeing[used, cell]))
            readings.append(PersonReading(cell, 1, sure, weight))
        else:
            several = _several(seen, cell, used.tolist(), int(values[cell]))
            if several is not None:
                sure = several.probability / (1 + coincidence)
                readings.append(replace(several, probability=sure))
    return readings


def read_among_noise(seen: Patterns, enough: Mask, coincidence: float) -> list[PersonReading]:
    """The single persons that patterns of values show where empty parts may be above 0 too.

    Other parts then say nothing; but the person is in every variable, with the same value.
    """
    fitting = enough & ((seen.holding > 0) | ~seen.usable).all(axis=0)
    values, agreeing = seen.values, _agreeing(seen, fitting)
    readings: list[PersonReading] = []
    for cell in np.flatnonzero(fitting).tolist():
        used = np.flatnonzero(seen.usable[:, cell])
        chance = 1 - (1 - _CHANCE) ** np.maximum(seen.nonzero[used, cell], 1)
        alike = agreeing[used, cell] + (1 - agreeing[used, cell]) * chance
        # Two who look like one; and nobody at all, in a cell that noise has filled.
        against = coincidence + float(np.prod(alike**_NEW)) + float(np.prod(chance))
        held = seen.holding[used, cell] == 1
        weight = {(int(at), int(values[cell])): 1 for at in used[held]}
        readings.append(PersonReading(cell, 1, 1 / (1 + against), weight))
    return readings


def _agreeing(seen: Patterns, fitting: Mask) -> Float64:
    """How likely two persons of each cell have the same code, for each variable."""
    chosen = np.flatnonzero(fitting)
    agreement = np.ones((len(seen.breakdowns), seen.places.size))
    for at, breakdown in enumerate(seen.breakdowns):
        shares = breakdown.expected(seen.places[chosen])
        agreement[at, chosen] = (shares**2).sum(axis=1)
    return agreement


def _alike(agreeing: Float64) -> float:
    """How likely two persons agree in every variable."""
    return math.exp(_NEW * float(np.log(np.maximum(agreeing, 1e-9)).sum()))


def _several(seen: Patterns, cell: int, used: Sequence[int], whole: int) -> PersonReading | None:
    """Two or three persons, if a fixed pair or triple of values explains every pattern."""
    patterns: dict[int, Pattern] = {
        at: tuple(value for value in seen.largest[at, cell].tolist() if value) for at in used
    }
    names = {at: seen.breakdowns[at].variable for at in used}
    split = {at: pattern for at, pattern in patterns.items() if pattern != (whole,)}
    different = Counter(split.values())
    repeats = len({(names[at], pattern) for at, pattern in split.items()}) - len(different)
    if len(different) == 1 and repeats >= 1:
        (pair,) = different
        if len(pair) <= 2:
            sure = 1 - 0.25 * 0.5 ** (repeats - (1 if len(pair) < 2 else 0))
            weight = {(at, value): 1 for at in split for value in pair}
            weight |= {(at, whole): 2 for at in used if at not in split}
            return PersonReading(cell, 2, sure, weight)
    if not 2 <= len(different) <= 4 or repeats < len(different) - 1:
        return None
    singles = _singles(different)
    if singles is None:
        return None
    alone = tuple(sorted((value for value in singles if value), reverse=True))
    weight = {(at, whole): 3 for at in used if at not in split}
    for at, pattern in split.items():
        if pattern == alone:
            weight |= {(at, value): 1 for value in pattern}
        elif len(set(pattern)) == 2 and len(set(pattern) & set(singles)) == 1:
            weight |= {(at, value): 1 if value in singles else 2 for value in pattern}
    return PersonReading(cell, 3, 1 - 0.7 * 0.75 ** (repeats - len(different) + 1), weight)


def _singles(patterns: Iterable[Pattern]) -> tuple[int, int, int] | None:
    """Values of three persons that explain all patterns; ``None`` where no three do."""
    every = list(patterns)
    triples = [pattern for pattern in every if len(pattern) == 3]
    if len(triples) > 1:
        return None
    if triples:
        x, y, z = triples[0]
        return (x, y, z) if _explained(every, (x, y, z)) else None
    values = sorted({value for pattern in every for value in pattern} | {0}, reverse=True)
    for x, y, z in itertools.combinations_with_replacement(values, 3):
        if _explained(every, (x, y, z)):
            return x, y, z
    return None


def _explained(patterns: Sequence[Pattern], singles: tuple[int, int, int]) -> bool:
    """Whether each pattern is all three apart, or another one of them apart from the others."""
    alone = tuple(sorted((value for value in singles if value), reverse=True))
    choices = []
    for pattern in patterns:
        if pattern == alone:
            continue
        padded = (*pattern, 0) if len(pattern) < 2 else pattern
        if len(padded) > 2:
            return False
        choices.append([at for at, value in enumerate(singles) if value in padded])
    return any(len(set(chosen)) == len(chosen) for chosen in itertools.product(*choices))
