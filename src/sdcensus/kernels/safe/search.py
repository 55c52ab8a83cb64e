"""A search for smaller deviations: through the worst control cells, with moves that are tabu.

``descend`` goes through all combinations and makes every move that is cheaper; ``search_worst``
takes a control cell that deviates most and makes the best move that changes it, also where that is
dearer, and never at once the way back. Every move is written down, so that the best state can be
come back to.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.safe.moves import change_of_cost, choose, may_go, move, relink, shift
from sdcensus.kernels.safe.problem import Layout, State, below
from sdcensus.kernels.safe.worst import pick_worst

Integers = npt.NDArray[Any]

_NOTHING = np.int64(1) << 62
#: How far partners stand in an order; how many are tried for a combination; how many moves are
#: compared for one control cell; for how long a move is tabu.
_NEAR, _PARTNERS, _COMPARED, _TENURE = 6, 12, 64, 12
#: Pairs of combinations that are looked at for one move at most, and how many of them that make
#: no move count as one that was looked at.
_MOST_TRIED, _TRIED_AS_ONE = 1024, 16
#: Combinations and units that are looked at for a way round a rule.
_TRIED_BETWEEN = 6
#: A move takes at most so many times the least number of units.
_LARGEST = 2


@compiled
def _partner(layout: Layout, stream: npt.NDArray[np.uint64], order: int, cell: int) -> Any:
    """A combination of the same block that stands near in an order; -1 beyond its ends."""
    block = layout.blocks[cell]
    place = layout.places[order, cell] + below(stream, 2 * _NEAR + 1) - _NEAR
    if place < layout.block_starts[block] or place >= layout.block_starts[block + 1]:
        return np.int64(-1)
    other = np.int64(layout.orders[order, place])
    return np.int64(-1) if other == cell else other


@compiled
def _between(layout: Layout, state: State, giver: int, taker: int, chosen: Integers) -> Any:
    """A combination from which one unit may go where none of the giver's may, and one may come.

    ``chosen`` then has the unit that comes and the one that goes; -1 if none is found. Without it
    units that went where others cannot follow would never come back.
    """
    for _ in range(_TRIED_BETWEEN):
        order = below(state.stream, layout.orders.shape[0])
        other = _partner(layout, state.stream, order, giver)
        if other < 0 or other == taker or state.counts[other] == 0:
            continue
        leaver = state.firsts[other]
        for _ in range(_TRIED_BETWEEN):
            if leaver < 0 or may_go(layout, state, leaver, taker):
                break
            leaver = state.following[leaver]
        if leaver < 0 or not may_go(layout, state, leaver, taker):
            continue
        if choose(layout, state, giver, other, 1, chosen):
            chosen[1] = leaver
            return other
    return np.int64(-1)


@compiled
def _consider(
    layout: Layout,
    state: State,
    table: Integers,
    giver: int,
    taker: int,
    best: Integers,
    chosen: Integers,
) -> Any:
    """Compare the moves from one combination to another with the best so far; how many there are.

    One unit goes, or all of them, or as many as open a combination; both stay without or with
    enough.
    """
    least = layout.least[0]
    own, theirs = state.counts[giver], state.counts[taker]
    looked = 0
    for way in range(3):
        units = np.int64(1)
        if way == 1:
            units = np.int64(own)
        elif way == 2:
            units = np.int64(least)
        if (way > 0 and units == 1) or (way == 2 and units == own):
            continue
        left, reached = own - units, theirs + units
        if units > _LARGEST * least or left < 0 or 0 < left < least or reached < least:
            continue
        between = np.int64(-1)
        if layout.ruled[0] and not choose(layout, state, giver, taker, units, chosen):
            if units == 1:
                between = _between(layout, state, giver, taker, chosen)
            if between < 0:
                continue
        looked += 1
        cost = change_of_cost(layout, state, table, giver, taker, units)
        if cost < best[0]:
            best[0], best[1], best[2], best[3], best[4] = cost, giver, taker, units, between
            if between >= 0:
                best[5], best[6] = chosen[0], chosen[1]
    return looked


@compiled
def _anyone(layout: Layout, stream: npt.NDArray[np.uint64], cell: int) -> Any:
    """Any combination of the same block."""
    block = layout.blocks[cell]
    first = layout.block_starts[block]
    return first + below(stream, layout.block_starts[block + 1] - first)


@compiled
def _make(layout: Layout, state: State, best: Integers, chosen: Integers, diary: Integers) -> None:
    """Make the best move, and write down who went from where."""
    giver, taker, units, between = best[1], best[2], best[3], best[4]
    line = diary[0, 0] + 1
    if between >= 0:
        shift(layout, state, giver, taker, 1)
        relink(state, best[5], between)
        relink(state, best[6], taker)
        diary[line, 0], diary[line, 1] = best[5], giver
        diary[line + 1, 0], diary[line + 1, 1] = best[6], between
        diary[0, 0] += 2
        return
    choose(layout, state, giver, taker, units, chosen)
    move(layout, state, giver, taker, units, chosen)
    for at in range(units):
        diary[line + at, 0], diary[line + at, 1] = chosen[at], giver
    diary[0, 0] += units


@compiled
def _is_better(state: State, record: Integers) -> Any:
    """Whether this is the best state so far: the worst deviation, how many have it, the squares."""
    if state.levels[1] != record[0]:
        return state.levels[1] < record[0]
    if state.ties[1] != record[1]:
        return state.ties[1] < record[1]
    return state.squares[0] < record[2]


@compiled
def _note(state: State, record: Integers, diary: Integers) -> None:
    """Keep this state as the best one."""
    record[0], record[1], record[2] = state.levels[1], state.ties[1], state.squares[0]
    diary[0, 0] = 0


@compiled
def go_back(layout: Layout, state: State, diary: Integers) -> None:
    """Go back to the best state, by everything that was written down since."""
    for line in range(diary[0, 0], 0, -1):
        unit, cell = diary[line, 0], diary[line, 1]
        shift(layout, state, state.cells[unit], cell, 1)
        relink(state, unit, cell)
    diary[0, 0] = 0


@compiled
def descend(
    layout: Layout,
    state: State,
    table: Integers,
    order: Integers,
    record: Integers,
    diary: Integers,
    work: Integers,
    until: int,
) -> Any:
    """Go once through all combinations, and let each make its cheapest move if it is a gain.

    Args:
        layout, state: What does not change, and what does.
        table: What deviations cost.
        order: Combinations in the order in which they are gone through.
        record: The best state: its worst deviation, how many have it, its squares.
        diary: What was done since: in the first line how much, then units and where they were.
        work: One number, to which the moves that were looked at are added.
        until: At how much work it ends.

    Returns:
        How many moves were made.
    """
    largest = _LARGEST * layout.least[0]
    best, chosen = np.zeros(7, dtype=np.int64), np.zeros(largest, dtype=np.int64)
    made = 0
    for at in range(order.size):
        if work[0] >= until:
            break
        if diary[0, 0] + largest >= diary.shape[0] - 1:
            go_back(layout, state, diary)
        cell = order[at]
        if state.counts[cell] == 0:
            continue
        best[0] = 0
        for _ in range(_PARTNERS):
            which = below(state.stream, layout.orders.shape[0])
            other = _partner(layout, state.stream, which, cell)
            if other >= 0:
                work[0] += _consider(layout, state, table, cell, other, best, chosen)
        work[0] += 1
        if best[0] < 0:
            _make(layout, state, best, chosen, diary)
            made += 1
            if _is_better(state, record):
                _note(state, record, diary)
    return made


@compiled
def _through(
    layout: Layout,
    state: State,
    table: Integers,
    worst: int,
    moves: int,
    tabu: Integers,
    best: Integers,
    chosen: Integers,
) -> Any:
    """Compare moves that bring a control cell nearer to what it was; how many there are."""
    layer = layout.layers[worst]
    first = layout.member_starts[worst]
    number = layout.member_starts[worst + 1] - first
    # Not one behind the other: neighbours are alike, and what rules forbid to one they often
    # forbid to all.
    begin, step = below(state.stream, number), 1
    if number > _MOST_TRIED // _PARTNERS:
        step += below(state.stream, number)
    leaving = state.deviations[worst] > 0
    best[0] = _NOTHING
    looked, tried = 0, 0
    for at in range(number):
        cell = layout.members[first + (begin + at * step) % number]
        tried += 1
        if leaving and state.counts[cell] == 0:
            continue
        tried += _PARTNERS
        for attempt in range(_PARTNERS):
            if attempt % 5 == 4:
                other = _anyone(layout, state.stream, cell)
            else:
                order = layout.layer_orders[layer, attempt % 5]
                other = _partner(layout, state.stream, order, cell)
            if other < 0 or layout.fed[other, layer] == layout.fed[cell, layer]:
                continue
            giver, taker = (cell, other) if leaving else (other, cell)
            if state.counts[giver] == 0 or tabu[giver, 0] > moves or tabu[taker, 1] > moves:
                continue
            looked += _consider(layout, state, table, giver, taker, best, chosen)
        if looked >= _COMPARED or tried >= _MOST_TRIED:
            break
    return looked + tried // _TRIED_AS_ONE


@compiled
def search_worst(
    layout: Layout,
    state: State,
    table: Integers,
    record: Integers,
    diary: Integers,
    tabu: Integers,
    work: Integers,
    until: int,
) -> None:
    """Make moves through the worst control cells until so much was looked at.

    Args:
        layout, state: What does not change, and what does.
        table: What deviations cost.
        record: The best state: its worst deviation, how many have it, its squares, and how many
            moves were made in all.
        diary: What was done since: in the first line how much, then units and where they were.
        tabu: For each combination until which move it may neither give nor take.
        work: One number, to which the moves that were looked at are added.
        until: At how much work it ends.
    """
    largest = _LARGEST * layout.least[0]
    best, chosen = np.zeros(7, dtype=np.int64), np.zeros(largest, dtype=np.int64)
    while work[0] < until and state.levels[1] > 0:
        if diary[0, 0] + largest >= diary.shape[0] - 1:
            go_back(layout, state, diary)
        record[3] += 1
        moves = record[3]
        worst = pick_worst(state.levels, state.ties, state.stream)
        looked = _through(layout, state, table, worst, moves, tabu, best, chosen)
        work[0] += looked + 1
        if best[0] == _NOTHING:
            continue
        _make(layout, state, best, chosen, diary)
        held = moves + _TENURE + below(state.stream, _TENURE)
        tabu[best[1], 1] = held
        tabu[best[2], 0] = held
        if _is_better(state, record):
            _note(state, record, diary)
