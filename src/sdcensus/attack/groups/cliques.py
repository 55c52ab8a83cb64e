"""The clique attack: a person who is unique in overlapping combinations has one number in all.

Who is alone in (a, b, c), in (a, b, d), in (a, c, d) and in (b, c, d) has the same value in all
four tables, though no table shows a, b, c and d together and no cell of two variables is small.
Further variables join the clique as long as the values agree. The chance that values agree by
themselves falls with every table, so cliques of five variables and more are claimed.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

import numpy as np
import numpy.typing as npt

from sdcensus.attack.assumptions import Assumptions
from sdcensus.attack.claims import AttackResult, Figure, GroupClaims, Int64, Traits
from sdcensus.attack.groups.patterns import MOST_PUBLISHED
from sdcensus.attack.groups.persons import different_persons
from sdcensus.attack.pieces import Piece, Side, pieces_of, variable_name
from sdcensus.attack.targets import Target, named
from sdcensus.model.progress import Progress, no_progress

NAME = "cliques"
#: Variables of a cell from which a clique starts, and of a clique that is claimed.
_START, FEWEST_NODES = 3, 5
#: Cells from which cliques are sought, at most.
MOST_STARTS = 300_000
#: How often values agree that have nothing to do with each other, about.
_CHANCE = 0.15
#: Of three tables that tie two further variables to a clique, so many must agree.
_AGREEING = 2

#: A code: a side by its number, and its place.
Node = tuple[int, int]


@dataclass(frozen=True, slots=True, eq=False)
class Clique:
    """A person who seems to be alone in many combinations.

    Attributes:
        piece, place: The cell from which the clique starts.
        value: The value that all tables show.
        further: The codes besides those of that cell.
        agreeing: How many tables show the value, the first one not counted.
        probability: How sure the intruder is.
    """

    piece: Piece
    place: int
    value: int
    further: tuple[Node, ...]
    agreeing: int
    probability: float


@dataclass(frozen=True, slots=True, eq=False)
class _Triples:
    """Pieces of three variables, by their sides.

    Attributes:
        sides: All sides that stand in them.
        found: For the numbers of three sides in ascending order the values, axes in that order, -1
            where there is none; the numbers of the cells; and the piece.
    """

    sides: tuple[Side, ...]
    found: Mapping[tuple[int, int, int], tuple[Int64, Int64, Piece]]
    used: set[tuple[Node, ...]] = field(default_factory=set)

    def value(self, nodes: Sequence[Node]) -> int:
        """The value of three codes together; -2 where no table shows them."""
        first, second, third = sorted(nodes)
        entry = self.found.get((first[0], second[0], third[0]))
        return -2 if entry is None else int(entry[0][first[1], second[1], third[1]])


def attack_cliques(
    targets: Sequence[Target], assumptions: Assumptions, progress: Progress = no_progress
) -> AttackResult:
    """Claim single persons whose value is the same in many overlapping tables."""
    progress("overlapping tables", 0.0)
    cliques: list[Clique] = []
    starts, stopped = 0, False
    families: dict[tuple[object, ...], list[Piece]] = {}
    for piece in pieces_of(targets):
        families.setdefault((piece.context, piece.target.making), []).append(piece)
    claims: list[GroupClaims] = []
    for family in families.values():
        triples = triples_of(family)
        every = list(triples.found)
        own: list[Clique] = []
        for at, key in enumerate(every):
            if at % 16 == 0:
                progress("overlapping tables", at / len(every))
            if starts >= MOST_STARTS:
                stopped = True
                break
            found, tried = cliques_from(triples, key)
            starts += tried
            own += [one for one in found if one.probability >= assumptions.group_limit]
        cliques += own
        claims += _claims(own, triples)
    attributes = sum(len(clique.further) for clique in cliques)
    persons = different_persons(claims)
    said = [
        f"An intruder who looks for the same value in overlapping tables among {named(targets)}"
        f" claims {len(cliques):,} combinations of {FEWEST_NODES} variables and more, taken three"
        f" at a time, in which somebody is alone, and reads off {attributes:,} further codes."
    ]
    if persons.most:
        said.append(f"These are {persons.text}{persons.why}.")
    if stopped:
        said.append(
            f"There are more cells to start from than {MOST_STARTS:,}: the rest was left out. To go"
            " further, attack fewer tables together."
        )
    figures: dict[str, Figure] = {
        "cells to start from": starts,
        "combinations": len(cliques),
        "persons": persons.most,
        "persons at least": persons.least,
        "codes read off": attributes,
    }
    return AttackResult(NAME, (), tuple(said), MappingProxyType(figures), (), tuple(claims))


def triples_of(pieces: Sequence[Piece]) -> _Triples:
    """The pieces that are restricted by three variables, each by all of its codes."""
    chosen = [
        piece
        for piece in pieces
        if len(piece.sides) == _START and not any((side.group < 0).any() for side in piece.sides)
    ]
    sides = list(dict.fromkeys(side for piece in chosen for side in piece.sides))
    sides.sort(key=lambda side: (side.variable, -side.size))
    number = {side: at for at, side in enumerate(sides)}
    found = {}
    for piece in chosen:
        own = [number[side] for side in piece.sides]
        order = np.argsort(own)
        values = np.where(piece.known, piece.values, -1).transpose(order)
        key = (own[order[0]], own[order[1]], own[order[2]])
        found[key] = (values, piece.cells.transpose(order), piece)
    return _Triples(tuple(sides), found)


def cliques_from(triples: _Triples, key: tuple[int, int, int]) -> tuple[list[Clique], int]:
    """The cliques that start from small cells of one piece, and how many cells were tried."""
    values, _, piece = triples.found[key]
    places = np.argwhere((values >= 1) & (values <= MOST_PUBLISHED))
    if not places.size:
        return [], 0
    own = values[tuple(places.T)]
    matches = _matches(triples, key, places, own)
    several = sum((found >= 0).astype(np.int64) for _, found in matches) if matches else None
    if several is None:
        return [], 0
    cliques = []
    starts = np.flatnonzero(several >= FEWEST_NODES - _START)
    for at in starts.tolist():
        seed = tuple(zip(key, places[at].tolist(), strict=True))
        if seed in triples.used:
            continue
        candidates = [(number, int(found[at])) for number, found in matches if found[at] >= 0]
        clique = _grown(triples, piece, seed, int(own[at]), candidates)
        if clique is not None:
            cliques.append(clique)
    return cliques, int(starts.size)


def _matches(
    triples: _Triples, key: tuple[int, int, int], places: Int64, own: Int64
) -> list[tuple[int, Int64]]:
    """For each further side and cell the only code that all three tables agree on; -1 for none."""
    names = {triples.sides[at].variable for at in key}
    made = []
    for number, side in enumerate(triples.sides):
        if side.variable in names:
            continue
        agree: npt.NDArray[np.bool_] | None = None
        for left, right in itertools.combinations(range(_START), 2):
            together = sorted((key[left], key[right], number))
            entry = triples.found.get((together[0], together[1], together[2]))
            if entry is None:
                agree = None
                break
            free = together.index(number)
            values = np.moveaxis(entry[0], free, -1)
            # The other two stand in ascending order, as the sides of the key do.
            same = values[places[:, left], places[:, right]] == own[:, None]
            agree = same if agree is None else agree & same
        if agree is not None:
            only = agree.sum(axis=1) == 1
            made.append((number, np.where(only, agree.argmax(axis=1), -1)))
    return made


def _grown(
    triples: _Triples,
    piece: Piece,
    seed: tuple[Node, ...],
    value: int,
    candidates: Sequence[Node],
) -> Clique | None:
    """The largest clique that grows from a cell, taking codes that agree with all before them."""
    best: list[Node] = []
    agreeing = 0
    variables = [triples.sides[number].variable for number, _ in candidates]
    # A clique may begin with any candidate; few beginnings find what is there.
    for first in range(min(len(candidates), 4)):
        chosen: list[Node] = []
        equal = 0
        order = [*range(first, len(candidates)), *range(first)]
        taken: set[str] = set()
        for at in order:
            if variables[at] in taken:
                continue
            ties = [
                sum(triples.value((node, other, candidates[at])) == value for node in seed)
                for other in chosen
            ]
            if all(tie >= _AGREEING for tie in ties):
                chosen.append(candidates[at])
                taken.add(variables[at])
                equal += _START + sum(ties)
        if len(chosen) > len(best):
            best, agreeing = chosen, equal
    if len(best) < FEWEST_NODES - _START:
        return None
    nodes = sorted((*seed, *best))
    triples.used.update(itertools.combinations(nodes, _START))
    place = _place(triples, seed)
    sure = 1 / (1 + MOST_STARTS * _CHANCE**agreeing)
    return Clique(piece, place, value, tuple(best), agreeing, sure)


def _place(triples: _Triples, seed: tuple[Node, ...]) -> int:
    """The number of the cell of a seed in its table."""
    first, second, third = seed
    cells = triples.found[(first[0], second[0], third[0])][1]
    return int(cells[first[1], second[1], third[1]])


def _claims(cliques: Sequence[Clique], triples: _Triples) -> list[GroupClaims]:
    together: dict[str, list[Clique]] = {}
    for clique in cliques:
        together.setdefault(clique.piece.target.name, []).append(clique)
    made = []
    for own in together.values():
        target = own[0].piece.target
        made.append(
            GroupClaims(
                NAME,
                target.name,
                target.table.spec,
                np.array([clique.place for clique in own], dtype=np.int64),
                np.ones(len(own), dtype=np.int64),
                np.array([clique.probability for clique in own]),
                tuple(_traits(own, triples)),
            )
        )
    return made


def _traits(cliques: Sequence[Clique], triples: _Triples) -> list[Traits]:
    """The further codes, each by a cell that holds the person and the code."""
    found: dict[tuple[int, str], list[tuple[int, int, int]]] = {}
    pieces: dict[str, Piece] = {}
    for owner, clique in enumerate(cliques):
        seed = _seed(clique, triples)
        for number, code in clique.further:
            tied = sorted(((number, code), *seed[:2]))
            _, cells, piece = triples.found[(tied[0][0], tied[1][0], tied[2][0])]
            pieces[piece.target.name] = piece
            most = _most(triples, number)
            guess = sorted(((number, most), *seed[:2]))
            found.setdefault((number, piece.target.name), []).append(
                (
                    owner,
                    int(cells[tied[0][1], tied[1][1], tied[2][1]]),
                    int(cells[guess[0][1], guess[1][1], guess[2][1]]),
                )
            )
    made = []
    for (number, name), rows in found.items():
        owners, cells_of, guesses = (
            np.array([row[at] for row in rows], dtype=np.int64) for at in range(3)
        )
        made.append(
            Traits(
                variable_name(triples.sides[number]),
                name,
                pieces[name].target.table.spec,
                owners,
                cells_of,
                np.ones(owners.size, dtype=np.int64),
                guesses,
                inside=False,
            )
        )
    return made


def _seed(one: Clique, triples: _Triples) -> tuple[Node, ...]:
    """The codes of the cell from which a clique started."""
    number = {side: at for at, side in enumerate(triples.sides)}
    where = np.argwhere(one.piece.cells == one.place)[0].tolist()
    nodes = [(number[side], at) for side, at in zip(one.piece.sides, where, strict=True)]
    return tuple(sorted(nodes))


def _most(triples: _Triples, number: int) -> int:
    """The code of a side that most people have."""
    for key, (values, _, _) in triples.found.items():
        if number in key:
            axis = key.index(number)
            others = tuple(at for at in range(values.ndim) if at != axis)
            return int(np.maximum(values, 0).sum(axis=others).argmax())
    return 0
