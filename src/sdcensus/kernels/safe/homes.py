"""Who goes where: counts stay as they are, and as many units as possible stay what they were."""

from __future__ import annotations

from typing import Any

import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.safe.moves import may_go, relink
from sdcensus.kernels.safe.problem import Layout, State

Integers = npt.NDArray[Any]

#: Units of a combination that are looked at, those that came last first.
_MOST_LOOKED_AT = 64
#: How far combinations stand in an order that are looked at.
_NEAR = 4


@compiled
def send_home(layout: Layout, state: State) -> Any:
    """Let units change places with whoever took theirs; how many went home.

    Where no rule is in the way, nobody is left away from home whose place somebody else has.
    """
    gone_home = 0
    for unit in range(layout.homes.size):
        home, away = layout.homes[unit], state.cells[unit]
        if home == away:
            continue
        other = state.firsts[home]
        for _ in range(_MOST_LOOKED_AT):
            if other < 0:
                break
            if layout.homes[other] != home and may_go(layout, state, other, away):
                relink(state, unit, home)
                relink(state, other, away)
                gone_home += 1
                break
            other = state.following[other]
    return gone_home


@compiled
def _distance(codes: Integers, one: int, other: int) -> Any:
    """In how many columns two combinations differ."""
    differences = 0
    for column in range(codes.shape[1]):
        if codes[one, column] != codes[other, column]:
            differences += 1
    return differences


@compiled
def bring_nearer(layout: Layout, state: State, codes: Integers) -> Any:
    """Let pairs of units that are away change places where both together change less.

    Args:
        layout, state: What does not change, and who is where.
        codes: For each combination its codes, at all levels that count.

    Returns:
        How many pairs have changed places.
    """
    changed = 0
    for unit in range(layout.homes.size):
        home, away = layout.homes[unit], state.cells[unit]
        if home == away:
            continue
        block = layout.blocks[home]
        first, last = layout.block_starts[block], layout.block_starts[block + 1]
        own = _distance(codes, home, away)
        gain, partner = 0, -1
        for order in range(layout.orders.shape[0]):
            place = layout.places[order, home]
            for at in range(max(first, place - _NEAR), min(last, place + _NEAR + 1)):
                cell = layout.orders[order, at]
                if cell in (away, home) or state.counts[cell] == 0:
                    continue
                nearer = own - _distance(codes, home, cell)
                if nearer <= gain or not may_go(layout, state, unit, cell):
                    continue
                other = state.firsts[cell]
                for _ in range(_NEAR):
                    if other < 0:
                        break
                    theirs = layout.homes[other]
                    if theirs != cell and may_go(layout, state, other, away):
                        both = nearer + _distance(codes, theirs, cell)
                        both -= _distance(codes, theirs, away)
                        if both > gain:
                            gain, partner = both, other
                    other = state.following[other]
        if partner >= 0:
            cell = state.cells[partner]
            relink(state, unit, cell)
            relink(state, partner, away)
            changed += 1
    return changed
