"""From what was read off single cells to claims about groups, and what they come to together."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from sdcensus.attack.claims import MOST_MEMBERS, Figure, GroupClaims, Int64, Traits
from sdcensus.attack.groups.breakdowns import CellBreakdown
from sdcensus.attack.groups.persons import different_persons
from sdcensus.attack.pieces import Piece


@dataclass(frozen=True, slots=True, eq=False)
class PersonReading:
    """One group, as it was read off a cell and its parts.

    Attributes:
        cell: Which of the cells that were looked at.
        size: How many persons it holds.
        probability: How sure the intruder is.
        members: For breakdowns and values of parts, how many of the group are in such a part.
    """

    cell: int
    size: int
    probability: float
    members: Mapping[tuple[int, int], int]


def claims_of(
    attack: str,
    piece: Piece,
    breakdowns: Sequence[CellBreakdown],
    readings: Sequence[PersonReading],
    places: Int64,
) -> list[GroupClaims]:
    """Claims about groups of one piece, with the codes of every variable that breaks it down.

    Args:
        attack: The name of the attack.
        piece: The piece.
        breakdowns: What breaks it down, as readings number it.
        readings: The groups.
        places: Where the cells that readings number stand in the piece.
    """
    if not readings:
        return []
    cells = piece.cells.reshape(-1)
    chosen = places[[reading.cell for reading in readings]]
    traits = []
    for at, breakdown in enumerate(breakdowns):
        made = _traits(at, breakdown, readings, chosen)
        if made is not None:
            traits.append(made)
    return [
        GroupClaims(
            attack,
            piece.target.name,
            piece.target.table.spec,
            cells[chosen],
            np.array([reading.size for reading in readings], dtype=np.int64),
            np.array([reading.probability for reading in readings]),
            _finest(traits, len(readings)),
        )
    ]


def _traits(
    at: int, breakdown: CellBreakdown, readings: Sequence[PersonReading], chosen: Int64
) -> Traits | None:
    rows = breakdown.rows(chosen)
    guess = np.argmax(breakdown.expected_anywhere(chosen), axis=1)
    found: list[tuple[int, int, int, int]] = []
    for number, reading in enumerate(readings):
        for part in np.flatnonzero(rows.values[number]).tolist():
            held = reading.members.get((at, int(rows.values[number, part])))
            if held is not None:
                parts = rows.cells[number]
                found.append((number, int(parts[part]), held, int(parts[guess[number]])))
    if not found:
        return None
    owner, cells, members, guesses = np.array(found, dtype=np.int64).T
    target = breakdown.fine.target
    return Traits(
        breakdown.variable, target.name, target.table.spec, owner, cells, members, guesses
    )


def _finest(traits: Sequence[Traits], groups: int) -> tuple[Traits, ...]:
    """For each group and variable the traits of one table only: others say the same again."""
    kept = []
    seen: dict[str, Int64] = {}
    # The table whose axis has most codes tells most.
    finest = sorted(traits, key=lambda trait: -len(trait.spec.axis(trait.variable).codes))
    for one in finest:
        done = seen.setdefault(one.variable, np.zeros(groups, dtype=np.int64))
        new = done[one.owner] == 0
        done[one.owner] = 1
        if new.all():
            kept.append(one)
        elif new.any():
            arrays = (one.owner[new], one.cells[new], one.members[new], one.guess[new])
            owner, cells, members, guess = arrays
            kept.append(replace(one, owner=owner, cells=cells, members=members, guess=guess))
    return tuple(kept)


def summary(claims: Sequence[GroupClaims], examined: int) -> tuple[str, dict[str, Figure]]:
    """What claims come to: the rest of a sentence, and figures."""
    sizes = np.concatenate([np.zeros(0, dtype=np.int64), *(claim.sizes for claim in claims)])
    counts = [int(np.count_nonzero(sizes == size)) for size in range(1, MOST_MEMBERS + 1)]
    attributes = sum(claim.attributes for claim in claims)
    persons = different_persons(claims)
    text = (
        f"names {counts[0]:,} cells of one person, {counts[1]:,} of two and {counts[2]:,} of three,"
        f" among {examined:,} that are broken down by enough variables, and reads off"
        f" {attributes:,} codes of them."
    )
    if persons.most:
        text += (
            f" The single ones are {persons.text}, with {persons.attributes:.1f} attributes each"
            f"{persons.why}."
        )
    figures: dict[str, Figure] = {
        "cells looked at": examined,
        "groups of one": counts[0],
        "groups of two": counts[1],
        "groups of three": counts[2],
        "codes read off": attributes,
        "single persons": persons.most,
        "single persons at least": persons.least,
        "attributes of each": round(persons.attributes, 2) if persons.most else None,
    }
    return text, figures
