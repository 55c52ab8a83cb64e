"""Differencing: those who are in a cell of one table and not in a cell of another.

Two tables about nested groups of people (all who are 15 and older, all who are 16 and older; an
area, and its parts but one) give away the few in between, whom no table shows. The attack finds
all such pairs of cells, subtracts them, and claims what their bounds leave no doubt about.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from sdcensus.attack.assumptions import Assumptions
from sdcensus.attack.bounding import Believed, believed, intervals_of
from sdcensus.attack.claims import AttackResult, CellClaims, Int64, Mask, Subtracted
from sdcensus.attack.pieces import Index, Piece, PieceTiling, nesting_of, pieces_of
from sdcensus.attack.targets import Target, families, named
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.spec.headings import joined
from sdcensus.model.spec.leaf_groups import Nesting

NAME = "differencing"
#: Published differences up to this look like single persons.
SMALL = 2


@dataclass(frozen=True, slots=True, eq=False)
class _Bounds:
    """The bounds of the cells of one table."""

    lower: Int64
    upper: Int64


def attack_differencing(
    targets: Sequence[Target], assumptions: Assumptions, progress: Progress = no_progress
) -> AttackResult:
    """Claim the counts of those between two nested cells, where their bounds settle them."""
    bounds: dict[str, _Bounds] = {}
    said: list[str] = []
    beliefs: list[tuple[Sequence[Target], Believed]] = []
    wrong: list[Target] = []
    for family in families(targets):
        belief = believed(family, assumptions)
        if belief.knowledge is None:
            said.append(f"No differences with {named(family)}: {belief.reason}.")
            continue
        for one in family:
            intervals = intervals_of(one, belief.knowledge)
            if intervals.contradictory:
                wrong.append(one)
            else:
                bounds[one.name] = _Bounds(intervals.lower.reshape(-1), intervals.upper.reshape(-1))
        fitting = [target for target in family if target.name in bounds]
        if fitting:
            beliefs.append((fitting, belief))
    claims: list[CellClaims] = []
    pairs = apparent = 0
    usable = [target for target in targets if target.name in bounds]
    pieces = pieces_of(usable)
    index = Index(pieces)
    for at, large in enumerate(pieces):
        progress("differences between tables", at / len(pieces))
        for small in index.finer(large, most_more=1):
            found_one = _nested(small, large)
            if found_one is None:
                continue
            made, seen, looks_small = _differences(found_one, bounds)
            claims += made
            pairs += seen
            apparent += looks_small
    if wrong:
        said.append(
            f"No differences with {named(wrong)}: what the intruder takes to be known cannot be"
            " true there, since no counts fit."
        )
    if usable:
        exact = sum(int(claim.exact.sum()) for claim in claims)
        said.append(
            f"{_scope(beliefs)}, and who subtracts cells of {named(usable)} from each other, finds"
            f" {pairs:,} groups of people between two published cells, settles {exact:,} of them"
            f" exactly, and sees {apparent:,} that look like one or two persons."
        )
    figures = {"groups between cells": pairs, "that look like 1 or 2": apparent}
    return AttackResult(NAME, tuple(claims), tuple(said), MappingProxyType(figures))


def _scope(beliefs: Sequence[tuple[Sequence[Target], Believed]]) -> str:
    """The intruder whom a conclusion is about that rests on tables of several makings."""
    scopes = {belief.scope for _, belief in beliefs}
    if len(scopes) == 1:
        return scopes.pop()
    bounds = joined(
        [
            f"{belief.knowledge.max_deviation} in {named(family)}"
            for family, belief in beliefs
            if belief.knowledge is not None
        ]
    )
    known = beliefs[0][1].knowledge
    zeros = " and that empty cells are published as 0" if known and known.zeros_known else ""
    return (
        f"An intruder who knows that no count was changed by more than {bounds}{zeros} (found from"
        " the tables: it may be more)"
    )


def _nested(small: Piece, large: Piece) -> PieceTiling | None:
    """How cells of one piece lie in cells of another with a rest of one variable.

    All other variables are the same, so that each difference is about one group of codes.
    """
    if small is large or small.context != large.context:
        return None
    names = sorted(small.variables | large.variables)
    maps: dict[str, Nesting] = {}
    rests = 0
    for name in names:
        inner, outer = small.side(name), large.side(name)
        if inner is None:  # the inner cells are not restricted where the outer ones are
            return None
        if outer is None:
            nesting = Nesting(
                np.zeros(inner.size, dtype=np.int64),
                np.array([inner.size]),
                np.array([bool((inner.group >= 0).all())]),
            )
        else:
            nesting = nesting_of(inner, outer)
        if not (nesting.parts > 0).any():
            return None
        if not nesting.whole[nesting.parts > 0].all():
            rests += 1
        elif outer is None or (nesting.parts > 1).any():
            return None
        maps[name] = nesting
    if rests != 1:
        return None
    return PieceTiling(small, large, tuple(maps[side.variable] for side in large.sides))


def _differences(
    found: PieceTiling, bounds: dict[str, _Bounds]
) -> tuple[list[CellClaims], int, int]:
    """Claims about the differences of one pair of pieces; how many there are; small ones."""
    small, large = found.fine, found.coarse
    inner, outer = bounds[small.target.name], bounds[large.target.name]
    # Where the rest lies in a variable of the inner cells alone, every outer cell has one.
    everywhere = all(nesting.whole[nesting.parts > 0].all() for nesting in found.maps)
    rest = np.asarray(found.whole if everywhere else ~found.whole)
    some: Mask = (found.parts > 0) & rest & large.known
    some &= found.summed((~small.known).astype(np.int64)) == 0
    lower = outer.lower[large.cells] - found.summed(inner.upper[small.cells])
    upper = outer.upper[large.cells] - found.summed(inner.lower[small.cells])
    lower = np.maximum(lower, 0)
    published = large.values - found.summed(small.values)
    settled = some & (lower <= upper) & ((lower == upper) | (upper == 1))
    apparent = int((some & (published >= 1) & (published <= SMALL)).sum())
    if not settled.any():
        return [], int(some.sum()), apparent
    chosen = np.flatnonzero(settled.reshape(-1))
    claims = CellClaims(
        NAME,
        large.target.name,
        large.target.table.spec,
        large.cells.reshape(-1)[chosen],
        lower.reshape(-1)[chosen],
        upper.reshape(-1)[chosen],
        None,
        _subtracted(found, chosen),
    )
    return [claims], int(some.sum()), apparent


def _subtracted(found: PieceTiling, chosen: Int64) -> Subtracted:
    """The cells that are taken away from each chosen one."""
    small = found.fine
    holder = found.holder().reshape(-1)
    place = np.full(found.coarse.values.size, -1, dtype=np.int64)
    place[chosen] = np.arange(chosen.size)
    owner = np.where(holder >= 0, place[np.maximum(holder, 0)], -1)
    order = np.argsort(owner, kind="stable")
    order = order[owner[order] >= 0]
    counts = np.bincount(owner[order], minlength=chosen.size)
    starts = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(counts)])
    cells = small.cells.reshape(-1)[order]
    return Subtracted(small.target.name, small.target.table.spec, starts, cells)
