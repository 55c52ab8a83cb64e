"""Identities between units: a count of households that tables of persons show k times as large.

Persons in households of size k are k times those households. Their noise is as large as that of any
other count, so divided by k it is small: two questions, one about households and one about persons,
give the count away. Every further table of the same persons is one more look.

Which codes tie two kinds of units is not told to the intruder. He sees it in the published numbers:
of a code that ties them, one count is the other times a whole number, everywhere, as far as noise
lets it be; and often the label says so.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from sdcensus.attack.assumptions import Assumptions, KnownNoise
from sdcensus.attack.averaging import Averages, averages, variances_of
from sdcensus.attack.claims import AttackResult, Float64, Int64, Mask, exact_claims
from sdcensus.attack.pieces import Piece, Side, pieces_of
from sdcensus.attack.targets import Target, named
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.quantities import share_text
from sdcensus.model.schema.variable import Entity

NAME = "identities"
#: Larger units with more of the smaller ones in them are rare.
_MOST_TIMES = 20
#: Fewer pairs of counts than this tell nothing about a code.
_FEWEST = 5
#: A ratio that is known less well may be a whole number by chance.
_SURE = 0.02
#: Counts have to be so many variances of noise: units that hold different numbers would then show.
_LARGE = 2.0
#: So many standard deviations from a whole number, and it is none.
_FAR = 3.0
#: Codes that say their number have to fit for at least so many of them.
_FEWEST_CODES = 3
#: Counts that are tried are so many standard deviations around the estimate.
_WIDE = 6.0


@dataclass(frozen=True, slots=True)
class SeenTie:
    """A code that ties two kinds of units, as published numbers show it.

    Attributes:
        variable: The variable, with a mark of its code list.
        leaves: Which leaves the code holds.
        times: How many of the smaller units lie in each larger one.
        extra: Whether the larger units do not show the variable: one of the smaller units in each
            has the code.
    """

    variable: str
    leaves: bytes
    times: int
    extra: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class _Pair:
    """The same cells counted in larger units, and in smaller ones; axes in the same order.

    Attributes:
        upper, lower: The pieces.
        held: The values of the smaller units, axes as those of the larger ones, the further
            variable of the smaller units last.
        known: Where both are published.
        extra: The further variable; ``None`` where there is none.
        where: For each cell of ``held`` its number in the flat array of the smaller units.
    """

    upper: Piece
    lower: Piece
    held: Int64
    known: Mask
    extra: Side | None
    where: Int64


def attack_identities(
    targets: Sequence[Target], assumptions: Assumptions, progress: Progress = no_progress
) -> AttackResult:
    """Claim counts of larger units that tables of smaller ones show as well, k times as large."""
    variances, missing = variances_of(targets, assumptions)
    usable = [target for target in targets if target.name in variances]
    pairs = tuple(_pairs(pieces_of(usable)))
    if not pairs:
        said = (*missing, "No two tables count different units by the same variables.")
        return AttackResult(NAME, (), said)
    progress("identities between units", 0.1)
    ties = seen_ties(pairs, variances)
    chosen = [pair for pair in pairs if _tied_cells(pair, ties) is not None]
    looked_through = [target for target in usable if _shows(target, chosen, ties)]
    found = averages(
        looked_through,
        variances,
        zeros_known=assumptions.zeros_known,
        progress=progress,
    )
    by_key = {averages.piece.key: averages for averages in found}
    examined: dict[tuple[str, int], None] = {}
    # Of several tables of persons that show the same households, the best is taken.
    best: dict[tuple[str, int], tuple[float, int]] = {}
    for pair in chosen:
        upper, lower = by_key.get(pair.upper.key), by_key.get(pair.lower.key)
        if upper is None or lower is None:
            continue
        times = _tied_cells(pair, ties)
        assert times is not None
        # Averages may stand on another table that shows the same cells.
        for cell, value, probability in _decoded(pair, times, upper, lower, assumptions):
            place = (pair.upper.target.name, cell)
            examined[place] = None
            if probability > best.get(place, (0.0, 0))[0]:
                best[place] = (probability, value)
    rows: dict[str, list[tuple[int, int, float]]] = {}
    for (table, cell), (probability, value) in best.items():
        if probability >= assumptions.limit:
            rows.setdefault(table, []).append((cell, value, probability))
    claims = exact_claims(NAME, {target.name: target.table.spec for target in usable}, rows)
    count = sum(claim.count for claim in claims)
    said_of_ties = _sentence(ties, looked_through, count, len(examined), assumptions)
    figures = MappingProxyType({"codes that tie units": len(ties), "counts": len(examined)})
    looked_at = tuple(
        (name, np.array([cell for table, cell in examined if table == name], dtype=np.int64))
        for name in dict.fromkeys(table for table, _ in examined)
    )
    return AttackResult(NAME, claims, (*missing, said_of_ties), figures, looked_at)


def _shows(target: Target, pairs: Sequence[_Pair], ties: Sequence[SeenTie]) -> bool:
    """Whether a table is a look at the larger units, or at smaller ones that are tied to them."""
    spec = target.table.spec
    if any(spec.of is pair.upper.target.table.spec.of for pair in pairs):
        return True
    shown = {axis.variable.name for axis in spec.axes}
    shown |= {variable.name for variable in spec.universe.variables}
    tied = any(tie.variable.rsplit(" ", 1)[0] in shown for tie in ties)
    return tied and any(spec.of is pair.lower.target.table.spec.of for pair in pairs)


def _pairs(pieces: Sequence[Piece]) -> Iterator[_Pair]:
    """Pieces of different units that show the same cells, or those with one variable more."""
    uppers: dict[tuple[str, frozenset[tuple[str, bytes]]], list[Piece]] = {}
    for piece in pieces:
        # A condition on the larger units is left out where the smaller ones do not have it.
        shown = [side for side in piece.sides if side.size > 1]
        for sides in {piece.key[1], frozenset(side.key for side in shown)}:
            if sides:
                uppers.setdefault((_records(piece), sides), []).append(piece)
    for lower in pieces:
        sides = lower.key[1]
        for upper in uppers.get((_records(lower), sides), ()):
            if _holds(upper, lower):
                yield from _paired(upper, lower, None)
        for extra in lower.sides:
            rest = frozenset(sides - {extra.key})
            for upper in uppers.get((_records(lower), rest), ()):
                if _holds(upper, lower):
                    yield from _paired(upper, lower, extra)


def _holds(upper: Piece, lower: Piece) -> bool:
    """Whether units of the one are of a kind that holds those of the other."""
    kinds = list(Entity)
    larger, smaller = (kinds.index(piece.target.table.spec.of) for piece in (upper, lower))
    return larger > smaller


def _records(piece: Piece) -> str:
    """Which records are counted, whatever units they are."""
    return piece.context.partition(":")[2]


def _paired(upper: Piece, lower: Piece, extra: Side | None) -> Iterator[_Pair]:
    names = [side.variable for side in lower.sides]
    order = [names.index(side.variable) for side in upper.sides if side.variable in names]
    if extra is not None:
        order.append(names.index(extra.variable))
    if sorted(order) != list(range(len(names))):
        return
    shape = tuple(
        lower.sides[names.index(side.variable)].size if side.variable in names else 1
        for side in upper.sides
    )
    shape += () if extra is None else (extra.size,)
    numbers = np.arange(lower.values.size, dtype=np.int64).reshape(lower.values.shape)
    known = lower.known.transpose(order).reshape(shape)
    yield _Pair(
        upper,
        lower,
        lower.values.transpose(order).reshape(shape),
        known & (upper.known if extra is None else upper.known[..., None]),
        extra,
        numbers.transpose(order).reshape(shape),
    )


def seen_ties(pairs: Sequence[_Pair], variances: Mapping[str, float]) -> tuple[SeenTie, ...]:
    """The codes that tie two kinds of units, by what is published."""
    found: dict[SeenTie, None] = {}
    for pair in pairs:
        noise = variances[pair.upper.target.name], variances[pair.lower.target.name]
        if pair.extra is not None:
            for code in range(pair.extra.size):
                times = _times(
                    pair.upper.values, pair.held[..., code], pair.known[..., code], noise
                )
                if times is not None:
                    found[_tie(pair.extra, code, times, extra=True)] = None
            continue
        for axis, side in enumerate(pair.upper.sides):
            if side.variable not in pair.lower.variables:
                continue
            numbers = _said_numbers(pair.upper, side)
            arrays = (pair.upper.values, pair.held, pair.known)
            sliced = [_slice(*arrays, axis, code) for code in range(side.size)]
            fitting = [
                code
                for code, number in enumerate(numbers)
                if number is not None and _fits(*sliced[code], number, noise)
            ]
            failing = sum(number is not None for number in numbers) - len(fitting)
            if len(fitting) >= _FEWEST_CODES and failing <= 1:
                for code in fitting:
                    found[_tie(side, code, numbers[code] or 1)] = None
            for code in range(side.size):
                times = _times(*sliced[code], noise)
                if times is not None:
                    found[_tie(side, code, times)] = None
    return tuple(found)


def _slice(
    larger: Int64, held: Int64, known: Mask, axis: int, code: int
) -> tuple[Int64, Int64, Mask]:
    """Both counts under one code of a variable, and where they are published."""
    return (
        np.take(larger, code, axis=axis),
        np.take(held, code, axis=axis),
        np.take(known, code, axis=axis),
    )


def _tie(side: Side, code: int, times: int, *, extra: bool = False) -> SeenTie:
    return SeenTie(side.variable, (side.group == code).tobytes(), times, extra)


def _said_numbers(piece: Piece, side: Side) -> list[int | None]:
    """What number the code of each set says, where it is a single leaf."""
    spec = piece.target.table.spec
    name = side.variable.rsplit(" ", 1)[0]
    known = [axis.variable for axis in spec.axes] + list(spec.universe.variables)
    variable = next(variable for variable in known if variable.name == name)
    numbers: list[int | None] = []
    for code in range(side.size):
        leaves = np.flatnonzero(side.group == code)
        number = None
        if leaves.size == 1:
            leaf = variable.codes[int(leaves[0])]
            plain = leaf.code.isascii() and leaf.code.isdigit() and not leaf.is_missing
            number = int(leaf.code) if plain else None
        numbers.append(number if number is not None and 1 <= number <= _MOST_TIMES else None)
    largest = max((number for number in numbers if number is not None), default=None)
    # The last one is "and more" as a rule.
    return [None if number == largest else number for number in numbers]


def _sums(
    larger: Int64, held: Int64, known: Mask, times: int, noise: tuple[float, float]
) -> tuple[float, float, int]:
    """How far sums are from a multiple, how far pairs are, both in variances, and how many."""
    used = known & ((larger > 0) | (held > 0))
    pairs = int(used.sum())
    rest = (held - times * larger)[used].astype(np.float64)
    variance = times**2 * noise[0] + noise[1]
    if not pairs:
        return 0.0, 0.0, 0
    return float(rest.sum() / np.sqrt(pairs * variance)), float((rest**2).sum() / variance), pairs


def _fits(larger: Int64, held: Int64, known: Mask, times: int, noise: tuple[float, float]) -> bool:
    """Whether nothing speaks against a multiple."""
    off, squares, pairs = _sums(larger, held, known, times, noise)
    return pairs > 0 and abs(off) <= _FAR and squares <= pairs + _FAR * np.sqrt(2 * pairs) + _FAR


def _times(larger: Int64, held: Int64, known: Mask, noise: tuple[float, float]) -> int | None:
    """The whole number by which counts differ, if they do and it can be told from others."""
    used = known & (larger > 0)
    total = int(larger[used].sum())
    pairs = int(used.sum())
    if pairs < _FEWEST or total == 0:
        return None
    times = round(int(held[used].sum()) / total)
    if not 1 <= times <= _MOST_TIMES:
        return None
    variance = times**2 * noise[0] + noise[1]
    sure = np.sqrt(pairs * variance) / total
    if sure > _SURE or total < _LARGE * variance * pairs:
        return None
    return times if _fits(larger, held, known, times, noise) else None


def _tied_cells(pair: _Pair, ties: Sequence[SeenTie]) -> Int64 | None:
    """For each cell of ``held`` the number by which it is a multiple; 0 where it is none."""
    times = np.zeros(pair.held.shape, dtype=np.int64)
    sides = [
        (axis, side)
        for axis, side in enumerate(pair.upper.sides)
        if side.variable in pair.lower.variables
    ]
    if pair.extra is not None:  # of one of the smaller units, whatever else they are
        sides = [(times.ndim - 1, pair.extra)]
    for axis, side in sides:
        for tie in ties:
            if tie.variable != side.variable or tie.extra is not (pair.extra is not None):
                continue
            for code in range(side.size):
                if (side.group == code).tobytes() == tie.leaves:
                    index: list[int | slice] = [slice(None)] * times.ndim
                    index[axis] = code
                    times[tuple(index)] = tie.times
    return times if times.any() else None


def _decoded(
    pair: _Pair, times: Int64, upper: Averages, lower: Averages, assumptions: Assumptions
) -> Iterator[tuple[int, int, float]]:
    """For each tied cell of the larger units the likeliest count, and how likely it is."""
    size = pair.extra.size if pair.extra is not None else 1
    cells = np.repeat(pair.upper.cells.reshape(-1), size)
    own = _aligned(upper, pair.upper)
    estimate, precision = (np.repeat(array.reshape(-1), size) for array in own)
    held, held_precision = (
        array.reshape(-1)[pair.where.reshape(-1)] for array in _aligned(lower, pair.lower)
    )
    shown = np.repeat(pair.upper.values.reshape(-1), size)
    single = np.repeat(_aligned_looks(upper, pair.upper).reshape(-1), size) == 1
    flat = times.reshape(-1)
    usable = (flat > 0) & pair.known.reshape(-1) & (shown > 0)
    usable &= (precision > 0) & (held_precision > 0)
    for at in np.flatnonzero(usable).tolist():
        value, probability = posterior(
            float(estimate[at]),
            float(precision[at]),
            [(int(flat[at]), float(held[at]), float(held_precision[at]))],
            least=1 if assumptions.zeros_known else 0,
            published=int(shown[at]) if single[at] else None,
            noise=assumptions.noise,
        )
        yield int(cells[at]), value, probability


def _aligned(one: Averages, piece: Piece) -> tuple[Float64, Float64]:
    """Estimates and their precision, with the axes of another piece of the same cells."""
    order = _order(one.piece, piece)
    return one.estimate.transpose(order), one.precision.transpose(order)


def _aligned_looks(one: Averages, piece: Piece) -> Int64:
    return one.looks.transpose(_order(one.piece, piece))


def _order(given: Piece, wanted: Piece) -> list[int]:
    keys = [side.key for side in given.sides]
    return [keys.index(side.key) for side in wanted.sides]


def posterior(
    estimate: float,
    precision: float,
    looks: Sequence[tuple[int, float, float]],
    *,
    least: int = 0,
    published: int | None = None,
    noise: KnownNoise | None = None,
) -> tuple[int, float]:
    """The likeliest count, and how likely it is, if no count was likelier before.

    Args:
        estimate, precision: What tables of the units themselves say, and one over its variance.
        looks: What tables of the held units say: how many of them each holds, the estimate of
            their count, and one over its variance.
        least: The smallest count that is possible.
        published: The published count, where it is the only look at the units themselves.
        noise: The deviations with their probabilities, where they are known; then they take the
            place of a normal error of the published count.

    Examples:
        >>> posterior(11.0, 1 / 7, [(4, 33.0, 1 / 7)])[0]
        8
    """
    weights = [precision, *(times**2 * one for times, _, one in looks)]
    centres = [estimate, *(value / times for times, value, _ in looks)]
    middle = sum(w * c for w, c in zip(weights, centres, strict=True)) / sum(weights)
    reach = _WIDE / np.sqrt(sum(weights)) + 1
    if noise is not None and published is not None:
        # The own look is no longer normal, so that the mean may lie a little off.
        reach += _WIDE
    counts = np.arange(max(least, int(middle - reach)), max(least, int(middle + reach)) + 1)
    logs = np.zeros(counts.size)
    if noise is not None and published is not None:
        chances = np.array([noise.chance(int(count), published) for count in counts])
        if chances.any():
            logs += np.log(np.maximum(chances, 1e-300))
        else:
            logs -= (estimate - counts) ** 2 * precision / 2
    else:
        logs -= (estimate - counts) ** 2 * precision / 2
    for times, value, look in looks:
        logs -= (value - times * counts) ** 2 * look / 2
    likely = np.exp(logs - logs.max())
    best = int(np.argmax(likely))
    return int(counts[best]), float(likely[best] / likely.sum())


def _sentence(
    ties: Sequence[SeenTie],
    targets: Sequence[Target],
    claims: int,
    cells: int,
    assumptions: Assumptions,
) -> str:
    if not ties or not targets:
        return (
            "No code was found under which counts of one kind of unit are a multiple of another's."
        )
    return (
        f"In {named(targets)}, {len(ties):,} codes tie two kinds of units: one count is a multiple"
        " of the other. Who puts both together and claims what he reckons to get right with a"
        f" probability of {share_text(assumptions.limit, digits=0)} or more names {claims:,} of"
        f" {cells:,} counts of"
        " the larger units."
    )
