"""The twin attack: two large cells that differ by few persons have equal breakdowns but for them.

Where the same records have the same number, a cell and another one that holds one person more have
equal parts under every variable, except in the code of that person. The two need not be nested:
those of one age and religion, and those of one occupation and religion, may be the same people but
for one. No cell is small, so nothing that hides small cells stops it.

All pairs of cells are compared without comparing all pairs: for every variable each cell has one
signature for each of its parts, of all parts but that one, and twins have a signature in common.
Where small cells are hidden, other parts are hidden in one than in the other, so that there is a
second signature of large parts alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from sdcensus.attack.assumptions import Assumptions
from sdcensus.attack.claims import MOST_MEMBERS, AttackResult, Figure, GroupClaims, Int64, Traits
from sdcensus.attack.groups.breakdowns import Breakdowns, CellBreakdown
from sdcensus.attack.groups.patterns import FEWEST_VARIABLES
from sdcensus.attack.pieces import Piece, Side
from sdcensus.attack.targets import Target, named
from sdcensus.model.progress import Progress, no_progress

NAME = "twins"
UInt64 = npt.NDArray[np.uint64]
#: Smaller cells are left to the pattern attack.
FEWEST_PUBLISHED = 10
#: Parts from which signatures are made: all that are above 0, and large ones.
_SIGNED_FROM = (1, 20)
#: All parts but one tell something if so many of them are above 0.
_FEWEST_PARTS = 2
#: Signatures that more cells share say little.
_MOST_ALIKE = 30
#: Parts of large cells that are signed, at most; coarse cells come first.
MOST_PARTS = 30_000_000
#: Pairs that are compared part by part, and pairs that are claimed, at most.
MOST_PAIRS, MOST_CLAIMS = 2_000_000, 20_000
#: Twins have a signature in common under so many variables, and so many equal parts.
_FEWEST_VOTES, _FEWEST_EQUAL = 2, 10
#: Of the parts above 0, twins have so many in common.
_EQUAL_SHARE = 0.75


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """Cells that are broken down, numbered through over all pieces.

    Attributes:
        pieces: The pieces.
        piece, place: For each cell its piece, and where it stands in it.
    """

    pieces: tuple[Piece, ...]
    piece: Int64
    place: Int64


@dataclass(frozen=True, slots=True, eq=False)
class _Broken:
    """All cells that are broken down by one side, with their parts.

    Attributes:
        side: What breaks them down.
        cells: The numbers of the cells.
        values: The published values of their parts, one row for each; -1 where there is none.
        breakdowns: For each piece by its number, the breakdown that gave the parts.
        row: For each cell its row; -1 for none.
        most: The place of the code that most people have.
    """

    side: Side
    cells: Int64
    values: Int64
    breakdowns: dict[int, CellBreakdown]
    row: Int64
    most: int


@dataclass(frozen=True, slots=True, eq=False)
class TwinPair:
    """Two cells that differ by few persons.

    Attributes:
        first, second: The numbers of the cells.
        size: By at least how many persons they differ.
        different: For each variable under which they differ, the places of the codes.
        equal: How many parts above 0 they have in common.
        probability: How sure the intruder is.
    """

    first: int
    second: int
    size: int
    different: tuple[tuple[int, tuple[int, ...]], ...]
    equal: int
    probability: float


def attack_twins(
    targets: Sequence[Target], assumptions: Assumptions, progress: Progress = no_progress
) -> AttackResult:
    """Claim the few persons by whom two large cells differ."""
    progress("breakdowns of large cells", 0.0)
    cells, broken, left_out = broken_down(Breakdowns(targets))
    pairs, stopped = candidate_pairs(broken, cells.piece.size, progress)
    twin_pairs: list[TwinPair] = []
    compared = _compared(pairs, broken, zeros_known=assumptions.zeros_known)
    for at, pair in enumerate(compared):
        if at % 1000 == 0:
            progress("comparing twins", 0.5 + 0.5 * at / max(len(pairs), 1))
        if pair.probability >= assumptions.group_limit:
            twin_pairs.append(pair)
    twin_pairs.sort(
        key=lambda twin_pair: (
            -twin_pair.probability,
            -twin_pair.equal,
            twin_pair.first,
            twin_pair.second,
        )
    )
    claims = _claims(twin_pairs[:MOST_CLAIMS], cells, broken)
    persons = {
        _record(twin_pair, broken) for twin_pair in twin_pairs[:MOST_CLAIMS] if twin_pair.size == 1
    }
    attributes = sum(claim.attributes for claim in claims)
    text = (
        f"An intruder who compares the breakdowns of {cells.piece.size:,} large cells of"
        f" {named(targets)} finds {len(twin_pairs):,} pairs that differ by few persons,"
        f" {sum(pair.size == 1 for pair in twin_pairs):,} of them by one, and reads off"
        f" {attributes:,} codes of those persons."
    )
    if persons:
        mean = sum(map(len, persons)) / len(persons)
        text += f" The single ones have {len(persons):,} different records, of {mean:.1f} codes."
    said = [text]
    if left_out:
        said.append(
            f"Tables as many as these have too many large cells to compare all: {left_out:,} of the"
            " finest were left out. To go further, attack fewer tables together."
        )
    if stopped:
        said.append(
            f"Where more than {_MOST_ALIKE} cells are alike but for one part, or more than"
            f" {MOST_PAIRS:,} pairs are, they were not compared."
        )
    if len(twin_pairs) > MOST_CLAIMS:
        said.append(f"The surest {MOST_CLAIMS:,} pairs are claimed.")
    figures: dict[str, Figure] = {
        "cells compared": int(cells.piece.size),
        "pairs compared": len(pairs),
        "pairs that differ by few": len(twin_pairs),
        "codes read off": attributes,
        "records of single persons": len(persons),
    }
    return AttackResult(NAME, (), tuple(said), MappingProxyType(figures), (), tuple(claims))


def broken_down(
    index: Breakdowns, *, most_parts: int = MOST_PARTS
) -> tuple[_Cells, tuple[_Broken, ...], int]:
    """All large cells that are broken down, by each side that breaks them down.

    Args:
        index: What is broken down by what.
        most_parts: About how many parts are looked at; coarse cells come first.

    Returns:
        The cells, their parts by side, and how many cells had to be left out.
    """
    pieces: list[Piece] = []
    numbers: list[Int64] = []
    places: list[Int64] = []
    rows: dict[Side, list[tuple[Int64, Int64]]] = {}
    used: dict[Side, dict[int, CellBreakdown]] = {}
    total = parts_seen = left_out = 0
    for piece, breakdowns in sorted(index, key=lambda one: one[0].values.size):
        others = [breakdown for breakdown in breakdowns if breakdown.coarse is None]
        values = piece.values.reshape(-1)
        large = np.flatnonzero(piece.known.reshape(-1) & (values >= FEWEST_PUBLISHED))
        if not large.size or len({other.variable for other in others}) < FEWEST_VARIABLES:
            continue
        parts_seen += large.size * sum(other.side.size for other in others)
        if parts_seen > most_parts and pieces:
            left_out += large.size
            continue
        at = len(pieces)
        pieces.append(piece)
        numbers.append(np.full(large.size, at, dtype=np.int64))
        places.append(large)
        own = np.arange(total, total + large.size, dtype=np.int64)
        total += large.size
        for other in others:
            parts = other.rows(large)
            used.setdefault(other.side, {})[at] = other
            shown = np.where(parts.known, parts.values, -1)
            rows.setdefault(other.side, []).append((own, shown))
    nothing = np.zeros(0, dtype=np.int64)
    cells = _Cells(
        tuple(pieces), np.concatenate([nothing, *numbers]), np.concatenate([nothing, *places])
    )
    broken = tuple(_broken(side, found, used[side], total) for side, found in rows.items())
    return cells, broken, left_out


def _broken(
    side: Side,
    found: Sequence[tuple[Int64, Int64]],
    breakdowns: dict[int, CellBreakdown],
    total: int,
) -> _Broken:
    cells = np.concatenate([one for one, _ in found])
    values = np.concatenate([one for _, one in found])
    row = np.full(total, -1, dtype=np.int64)
    row[cells] = np.arange(cells.size)
    most = int(values.sum(axis=0).argmax()) if values.size else 0
    return _Broken(side, cells, values, breakdowns, row, most)


def candidate_pairs(
    broken: Sequence[_Broken], cells: int, progress: Progress = no_progress
) -> tuple[Int64, bool]:
    """Pairs of cells with all parts but one in common under several variables.

    Returns:
        The pairs as two columns, and whether some had to be left out.
    """
    voted: list[Int64] = [np.zeros(0, dtype=np.int64)]
    stopped = False
    for at, one in enumerate(broken):
        progress("signatures of large cells", 0.5 * at / len(broken))
        keys, left_out = _alike(one, cells)
        stopped |= left_out
        voted.append(keys)
    found, votes = np.unique(np.concatenate(voted), return_counts=True)
    pairs = found[votes >= _FEWEST_VOTES]
    stopped |= pairs.size > MOST_PAIRS
    pairs = pairs[:MOST_PAIRS]
    return np.stack([pairs // max(cells, 1), pairs % max(cells, 1)], axis=1), stopped


def _alike(one: _Broken, cells: int) -> tuple[Int64, bool]:
    """Pairs that share a signature under one side, each once, as single numbers."""
    mixed = _mixed(one.values, np.arange(one.side.size))
    pairs: list[Int64] = []
    stopped = False
    for least in _SIGNED_FROM:
        signed = one.values >= least
        hashes = np.where(signed, mixed, np.uint64(0))
        whole = hashes.sum(axis=1, dtype=np.uint64)
        above = np.count_nonzero(signed, axis=1)
        for code in range(one.side.size):
            telling = np.flatnonzero(above - signed[:, code] >= _FEWEST_PARTS)
            signature = whole[telling] - hashes[telling, code]
            found, left_out = _same_signature(signature, one.cells[telling], cells)
            pairs += found
            stopped |= left_out
    made = np.concatenate([np.zeros(0, dtype=np.int64), *pairs])
    return np.unique(made), stopped


def _same_signature(signature: UInt64, numbers: Int64, cells: int) -> tuple[list[Int64], bool]:
    """Pairs of cells of equal signature, and whether some are shared by too many to be told."""
    order = np.argsort(signature, kind="stable")
    ordered = signature[order]
    starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]]) if order.size else order
    sizes = np.diff(np.r_[starts, order.size])
    several = (sizes > 1) & (sizes <= _MOST_ALIKE)
    group = np.repeat(np.arange(starts.size)[several], sizes[several])
    own = numbers[order[np.repeat(several, sizes)]]
    pairs = []
    # Cells of equal signature stand side by side: each is compared with those that follow.
    for apart in range(1, int(sizes[several].max(initial=0))):
        same = group[apart:] == group[:-apart]
        first, second = own[:-apart][same], own[apart:][same]
        pairs.append(np.minimum(first, second) * cells + np.maximum(first, second))
    return pairs, bool((sizes > _MOST_ALIKE).any())


def _mixed(values: Int64, codes: Int64) -> UInt64:
    """A number for each value at each place, such that sums of different ones differ."""
    mixed = values.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
    mixed += (codes.astype(np.uint64) + np.uint64(1)) * np.uint64(0xC2B2AE3D27D4EB4F)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
    return np.asarray(mixed ^ (mixed >> np.uint64(31)))


def _compared(pairs: Int64, broken: Sequence[_Broken], *, zeros_known: bool) -> Iterator[TwinPair]:
    """Pairs that differ in few codes under every variable that breaks both down.

    Where empty parts may be above 0, a part that is 0 in one of the cells says nothing.
    """
    first, second = pairs[:, 0], pairs[:, 1]
    equal = np.zeros(first.size, dtype=np.int64)
    above = np.zeros(first.size, dtype=np.int64)
    most = np.zeros(first.size, dtype=np.int64)
    differing: list[npt.NDArray[np.bool_]] = []
    for one in broken:
        a, b = one.row[first], one.row[second]
        mine, theirs = one.values[np.maximum(a, 0)], one.values[np.maximum(b, 0)]
        both = ((a >= 0) & (b >= 0))[:, None] & (mine >= 0) & (theirs >= 0)
        if not zeros_known:
            both &= (mine > 0) & (theirs > 0)
        unlike = (mine != theirs) & both
        parts = ((mine > 0) | (theirs > 0)) & both
        above += parts.sum(axis=1)
        equal += (parts & ~unlike).sum(axis=1)
        most = np.maximum(most, unlike.sum(axis=1))
        differing.append(unlike)
    fitting = (most >= 1) & (most <= MOST_MEMBERS) & (equal >= _FEWEST_EQUAL)
    fitting &= equal >= _EQUAL_SHARE * above
    for at in np.flatnonzero(fitting).tolist():
        codes = tuple(
            (number, tuple(np.flatnonzero(unlike[at]).tolist()))
            for number, unlike in enumerate(differing)
            if unlike[at].any()
        )
        chance = 0.5 ** (len(codes) - 1) + 0.2 ** (int(equal[at]) / 4)
        yield TwinPair(
            int(first[at]),
            int(second[at]),
            int(most[at]),
            codes,
            int(equal[at]),
            max(0.0, 1 - chance),
        )


def _record(pair: TwinPair, broken: Sequence[_Broken]) -> tuple[tuple[str, int], ...]:
    return tuple(sorted((broken[at].side.variable, codes[0]) for at, codes in pair.different))


def _claims(
    pairs: Sequence[TwinPair], cells: _Cells, broken: Sequence[_Broken]
) -> list[GroupClaims]:
    """Claims about pairs, those of the same two tables together."""
    together: dict[tuple[int, int], list[TwinPair]] = {}
    for pair in pairs:
        key = (int(cells.piece[pair.first]), int(cells.piece[pair.second]))
        together.setdefault(key, []).append(pair)
    made = []
    for (one, other), own in together.items():
        first, second = cells.pieces[one], cells.pieces[other]
        made.append(
            GroupClaims(
                NAME,
                first.target.name,
                first.target.table.spec,
                first.cells.reshape(-1)[cells.place[[pair.first for pair in own]]],
                np.array([pair.size for pair in own], dtype=np.int64),
                np.array([pair.probability for pair in own]),
                tuple(_traits(own, one, other, cells, broken)),
                second.target.name,
                second.target.table.spec,
                second.cells.reshape(-1)[cells.place[[pair.second for pair in own]]],
            )
        )
    return made


def _traits(
    pairs: Sequence[TwinPair], one: int, other: int, cells: _Cells, broken: Sequence[_Broken]
) -> Iterator[Traits]:
    """What the persons are by whom the pairs of two pieces differ."""
    for number, side in enumerate(broken):
        found = [
            (owner, code)
            for owner, pair in enumerate(pairs)
            for at, codes in pair.different
            if at == number and len(codes) <= pair.size
            for code in codes
        ]
        if not found:
            continue
        owner = np.array([at for at, _ in found], dtype=np.int64)
        code = np.array([at for _, at in found], dtype=np.int64)
        parts = []
        for piece, places in (
            (one, cells.place[[pairs[at].first for at in owner]]),
            (other, cells.place[[pairs[at].second for at in owner]]),
        ):
            rows = side.breakdowns[piece].rows(places).cells
            parts.append((rows[np.arange(owner.size), code], rows[:, side.most]))
        breakdown = side.breakdowns[one]
        yield Traits(
            breakdown.variable,
            breakdown.fine.target.name,
            breakdown.fine.target.table.spec,
            owner,
            parts[0][0],
            np.ones(owner.size, dtype=np.int64),
            parts[0][1],
            parts[1][0],
            parts[1][1],
            side.breakdowns[other].fine.target.name,
        )
