"""Exact help: integer programs over few combinations, the whole problem if it is no larger.

What a program finds is counted again in whole numbers, and taken only where it is better. It looks
at counts and not at who may go where: where edit rules forbid something, only the bound of a whole
problem is of use, which holds all the more with rules.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.safe.moves import choose, move
from sdcensus.kernels.safe.problem import State
from sdcensus.kernels.safe.worst import pick_worst
from sdcensus.microdata.safe.problem import Problem
from sdcensus.microdata.safe.searching import Score
from sdcensus.model.confidential import Confidential
from sdcensus.solvers.limits import Limits
from sdcensus.solvers.program import LinearProgram
from sdcensus.solvers.solve import solve

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

#: Nodes of a search tree: a program that needs more is given up.
_STEPS = 400
#: Programs in all, and programs in a row without a gain, until it is given up.
_MOST_PROGRAMS, _MOST_IN_VAIN = 20, 2


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExactHelp(Confidential):
    """What integer programs found.

    Attributes:
        cells: For each unit its combination; ``None`` where nothing better was found.
        bound: The largest deviation that no solution is below, in the measure of the search; 0
            where nothing is proven.
        programs: How many were solved.
    """

    cells: Int64 | None
    bound: int
    programs: int

    def __repr__(self) -> str:
        return "<ExactHelp: confidential>"


def helped(problem: Problem, state: State, most: int) -> ExactHelp:
    """Ask integer programs for a better solution.

    Args:
        problem: The problem.
        state: The best state so far; it is changed.
        most: How many combinations a program has at most.
    """
    cells = problem.found.counts.size
    if not cells or most < 2 or not state.levels[1]:
        return ExactHelp(None, 0, 0)
    free = not problem.layout.ruled[0] and not state.frozen.any()
    if cells <= most:
        counts, bound = _best_counts(problem, state, np.arange(cells))
        gained = free and counts is not None and _taken(problem, state, counts)
        return ExactHelp(_cells(state) if gained else None, bound, 1)
    if not free:
        return ExactHelp(None, 0, 0)
    gains, in_vain, programs = 0, 0, 0
    while programs < _MOST_PROGRAMS and in_vain < _MOST_IN_VAIN and state.levels[1]:
        chosen = _through_worst(problem, state, most)
        counts, _ = _best_counts(problem, state, chosen)
        programs += 1
        if counts is not None and _taken(problem, state, counts):
            gains, in_vain = gains + 1, 0
        else:
            in_vain += 1
    return ExactHelp(_cells(state) if gains else None, 0, programs)


def _cells(state: State) -> Int64:
    return state.cells.astype(np.int64)


def _score(state: State) -> Score:
    return Score(int(state.levels[1]), int(state.ties[1]), int(state.squares[0]))


def _through_worst(problem: Problem, state: State, most: int) -> Int64:
    """Combinations that feed one of the worst control cells, and neighbours that do not."""
    layout = problem.layout
    worst = int(pick_worst(state.levels, state.ties, state.stream))
    layer = int(layout.layers[worst])
    first, last = layout.member_starts[worst], layout.member_starts[worst + 1]
    members = layout.members[first:last]
    busy = members[state.counts[members] > 0]
    chosen: dict[int, None] = {}
    for cell in (busy if busy.size else members).tolist():
        for order in np.unique(layout.layer_orders[layer]).tolist():
            block = layout.blocks[cell]
            low, high = layout.block_starts[block], layout.block_starts[block + 1]
            place = int(layout.places[order, cell])
            near = layout.orders[order, max(low, place - 2) : min(high, place + 3)]
            chosen |= dict.fromkeys([cell, *near.tolist()])
        if len(chosen) >= most:
            break
    return np.array(sorted(list(chosen)[:most]), dtype=np.int64)


def _best_counts(problem: Problem, state: State, chosen: Int64) -> tuple[Int64 | None, int]:
    """The best numbers of units for some combinations while all others stay; and the bound.

    The program has for each of them how many units it has, and whether it has any; and the largest
    weighted deviation, which is made as small as possible.
    """
    found, layers, least = problem.found, problem.layers, problem.least
    size = chosen.size
    counts = state.counts[chosen]
    blocks, inverse = np.unique(found.blocks[chosen], return_inverse=True)
    in_blocks = np.bincount(inverse, weights=counts).astype(np.int64)
    largest = in_blocks[inverse].astype(np.float64)
    entries: list[tuple[Integers, Integers, Integers]] = []
    lows: list[Integers] = []
    highs: list[Integers] = []
    at = np.arange(size)
    # None or enough: least * open <= units <= largest * open.
    for number, factor in ((0, -float(least)), (1, -1.0)):
        rows = at + number * size
        entries += [(rows, at, np.ones(size)), (rows, at + size, np.full(size, factor))]
    entries[-1] = (at + size, at + size, -largest)
    lows += [np.zeros(size), np.full(size, -np.inf)]
    highs += [np.full(size, np.inf), np.zeros(size)]
    height = 2 * size
    entries.append((height + inverse.reshape(-1), at, np.ones(size)))
    lows.append(in_blocks.astype(np.float64))
    highs.append(in_blocks.astype(np.float64))
    height += blocks.size
    # Deviations, those of the others included, between minus and plus the largest.
    cells = layers.index[chosen].astype(np.int64) + layers.starts[:-1]
    touched, rows_of = np.unique(cells.reshape(-1), return_inverse=True)
    columns = np.repeat(at, cells.shape[1])
    own = np.bincount(rows_of.reshape(-1), weights=np.repeat(counts, cells.shape[1]))
    others = state.deviations[touched] - own
    scale = np.repeat(layers.scales, layers.sizes)[touched].astype(np.float64)
    for sign in (1.0, -1.0):
        rows = height + rows_of.reshape(-1)
        entries.append((rows, columns, sign * scale[rows_of.reshape(-1)]))
        all_rows = height + np.arange(touched.size)
        entries.append((all_rows, np.full(touched.size, 2 * size), np.full(touched.size, -1.0)))
        lows.append(np.full(touched.size, -np.inf))
        highs.append(-sign * scale * others)
        height += touched.size
    program = LinearProgram(
        cost=np.append(np.zeros(2 * size), 1.0),
        lower=np.zeros(2 * size + 1),
        upper=np.concatenate([largest, np.ones(size), [float(state.levels[1])]]),
        integer=np.ones(2 * size + 1, dtype=bool),
        rows=np.concatenate([entry[0] for entry in entries]).astype(np.int64),
        columns=np.concatenate([entry[1] for entry in entries]).astype(np.int64),
        values=np.concatenate([entry[2] for entry in entries]).astype(np.float64),
        row_lower=np.concatenate(lows),
        row_upper=np.concatenate(highs),
    )
    solution = solve(program, limits=Limits(steps=_STEPS))
    bound = 0
    if np.isfinite(solution.bound):
        bound = max(0, int(np.ceil(solution.bound - 1e-6)))
    if not solution.has_values:
        return None, bound
    better = state.counts.copy()
    better[chosen] = np.round(solution.values[:size]).astype(np.int64)
    return better, bound


def _taken(problem: Problem, state: State, counts: Int64) -> bool:
    """Move units until every combination has the number that is said, if that is better.

    Everything is checked in whole numbers; a program counts with others.
    """
    found = problem.found
    wanted, held = (np.bincount(found.blocks, weights=each) for each in (counts, state.counts))
    safe = ((counts == 0) | (counts >= problem.least)).all()
    if not safe or not np.array_equal(wanted, held):
        return False
    deviations = problem.layers.totals(counts - found.counts)
    levels = problem.layers.levels(deviations)
    worst = int(levels.max(initial=0))
    reached = Score(worst, int((levels == worst).sum()), int(np.square(deviations).sum()))
    if reached >= _score(state):
        return False
    change = counts - state.counts
    chosen = np.zeros(int(state.counts.max()) + 1, dtype=np.int64)
    for block in np.unique(found.blocks[change != 0]).tolist():
        low, high = found.block_starts[block], found.block_starts[block + 1]
        givers = [low + at for at in np.flatnonzero(change[low:high] < 0).tolist()]
        takers = [low + at for at in np.flatnonzero(change[low:high] > 0).tolist()]
        while givers:
            giver, taker = givers[-1], takers[-1]
            units = int(min(-change[giver], change[taker]))
            choose(problem.layout, state, giver, taker, units, chosen)
            move(problem.layout, state, giver, taker, units, chosen)
            change[giver] += units
            change[taker] -= units
            if not change[giver]:
                givers.pop()
            if not change[taker]:
                takers.pop()
    return True
