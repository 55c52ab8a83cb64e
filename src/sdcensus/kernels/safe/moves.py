"""What a move of units between two combinations changes in control cells, and making it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.safe.problem import LARGEST_LISTED, Layout, State
from sdcensus.kernels.safe.worst import set_level

Integers = npt.NDArray[Any]

#: Units of a combination that are looked at for those that may go somewhere.
_MOST_LOOKED_AT = 64


@compiled
def _cost(table: Integers, row: int, deviation: int) -> Any:
    """What a deviation costs; beyond the table it grows by the last step of it."""
    size = abs(deviation)
    if size < LARGEST_LISTED:
        return table[row, size]
    last = table[row, LARGEST_LISTED - 1]
    return last + (size - LARGEST_LISTED + 1) * (last - table[row, LARGEST_LISTED - 2])


@compiled
def change_of_cost(
    layout: Layout, state: State, table: Integers, giver: int, taker: int, units: Any
) -> Any:
    """By how much the costs of all control cells grow when units go from one to another."""
    change = np.int64(0)
    fed, starts, deviations = layout.fed, layout.starts, state.deviations
    for layer in range(fed.shape[1]):
        left, reached = fed[giver, layer], fed[taker, layer]
        if left != reached:
            start, row = starts[layer], layout.costs[layer]
            less, more = deviations[start + left], deviations[start + reached]
            change += _cost(table, row, less - units) - _cost(table, row, less)
            change += _cost(table, row, more + units) - _cost(table, row, more)
    return change


@compiled
def may_go(layout: Layout, state: State, unit: int, taker: int) -> Any:
    """Whether rules let a unit go to a combination; everybody may go home."""
    if state.frozen[unit]:
        return False
    if layout.homes[unit] == taker:
        return True
    return layout.allowed[layout.profiles[taker], layout.classes[unit]] != 0


@compiled
def choose(
    layout: Layout, state: State, giver: int, taker: int, units: Any, chosen: Integers
) -> Any:
    """Choose who goes: who goes home, then others who are not at home; whether there are enough."""
    unit = state.firsts[giver]
    if not layout.ruled[0]:
        for at in range(units):
            chosen[at] = unit
            unit = state.following[unit]
        return True
    number = 0
    for wish in range(3):
        unit = state.firsts[giver]
        for _ in range(max(_MOST_LOOKED_AT, units)):
            if unit < 0:
                break
            home = layout.homes[unit]
            liked = 0 if home == taker else (2 if home == giver else 1)
            if liked == wish and may_go(layout, state, unit, taker):
                chosen[number] = unit
                number += 1
                if number == units:
                    return True
            unit = state.following[unit]
    return False


@compiled
def shift(layout: Layout, state: State, giver: int, taker: int, units: Any) -> None:
    """Count units for another combination, in it and in all control cells."""
    fed, starts, deviations = layout.fed, layout.starts, state.deviations
    squares = np.int64(0)
    for layer in range(fed.shape[1]):
        left, reached = fed[giver, layer], fed[taker, layer]
        if left != reached:
            for cell, added in ((starts[layer] + left, -units), (starts[layer] + reached, units)):
                before = np.int64(deviations[cell])
                after = before + added
                squares += after * after - before * before
                deviations[cell] = after
                set_level(state.levels, state.ties, cell, abs(after) * layout.scales[layer])
    state.squares[0] += squares
    state.counts[giver] -= units
    state.counts[taker] += units


@compiled
def relink(state: State, unit: int, taker: int) -> None:
    """Take a unit out of the list of its combination and put it first in that of another."""
    giver, before, behind = state.cells[unit], state.preceding[unit], state.following[unit]
    if before >= 0:
        state.following[before] = behind
    else:
        state.firsts[giver] = behind
    if behind >= 0:
        state.preceding[behind] = before
    first = state.firsts[taker]
    state.preceding[unit] = -1
    state.following[unit] = first
    if first >= 0:
        state.preceding[first] = unit
    state.firsts[taker] = unit
    state.cells[unit] = taker


@compiled
def move(
    layout: Layout, state: State, giver: int, taker: int, units: Any, chosen: Integers
) -> None:
    """Let chosen units go from one combination to another."""
    shift(layout, state, giver, taker, units)
    for at in range(units):
        relink(state, chosen[at], taker)
