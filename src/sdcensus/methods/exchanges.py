"""A table that adds up, near to a published one, found fast by exchanges between its cells.

Nothing depends on the order of axes or codes, or on the names of levels: cells are told apart,
ordered and drawn for by a hash of the leaves that they are made of.
"""

from __future__ import annotations

import hashlib
import itertools
import json
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.perturbation.additivity import (
    LONGEST_RUN,
    ExchangeRuns,
    Grid,
    exchange,
    scattered,
)
from sdcensus.model.cube.constraints import interior, with_totals
from sdcensus.model.cube.layout import mixed_radix
from sdcensus.model.spec.axis import Axis, Block
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]

#: Rounds of exchanges: as many as this much work allows, so that large tables take seconds.
_WORK = 15_000_000
_FEWEST_ROUNDS, _MOST_ROUNDS = 5, 30
#: In the first rounds large gaps count more; the last ones go on only while something is found.
_SQUARE_ROUNDS, _LAST_ROUNDS = 2, 3
#: By how much long runs are cut elsewhere in the next round; coprime to their length.
_TURN = 7


def weights(spec: TableSpec) -> Int64:
    """What a unit of change costs in each cell: 1 inside, twice as much for each axis summed over.

    Totals are read most, and stand in more tables than interior cells.
    """
    summed = np.zeros(spec.shape, dtype=np.int64)
    for at, axis in enumerate(spec.axes):
        above = np.arange(len(axis.codes)) >= axis.base_size
        summed += above.reshape([-1 if at == other else 1 for other in range(len(spec.axes))])
    return np.left_shift(np.int64(1), summed)


def distance(spec: TableSpec, values: Int64, published: Int64) -> int:
    """How far a table is from what was published: the sum of weighted absolute changes."""
    return int((weights(spec) * np.abs(values - published)).sum())


def by_exchange(spec: TableSpec, published: Int64, *, blocked: int) -> Int64:
    """A table that adds up and is near to the published one, found by exchanging units."""
    hashes = cell_hashes(spec)[interior(spec)]
    whole = with_totals(spec, _allowed(published[interior(spec)], hashes, blocked)).copy()
    values, target = whole.reshape(-1), published.flatten()
    axes = sorted(enumerate(spec.axes), key=lambda axis: axis[1].variable.name)
    places = [_place(axis, mixed_radix(spec.shape)[at]) for at, axis in axes]
    places += [_NO_AXIS] * (2 - len(places))
    grid = _grid(places)
    work = int(np.count_nonzero(published[interior(spec)])) * int(grid.blocks.prod())
    rounds = min(max(_WORK // max(work, 1), _FEWEST_ROUNDS), _MOST_ROUNDS)
    for number in range(rounds + _LAST_ROUNDS):
        runs = [_runs(place, turn=number * _TURN) for place in places]
        exchanges = 0
        for row_axis, column_axis in itertools.combinations(range(len(places)), 2):
            if grid.sizes[row_axis] < grid.sizes[column_axis]:  # paths run over columns: few
                row_axis, column_axis = column_axis, row_axis
            for step in sorted({1, blocked + 1}):
                exchanges += exchange(
                    values,
                    target,
                    grid,
                    (row_axis, column_axis),
                    (runs[row_axis], runs[column_axis]),
                    step=step,
                    blocked=blocked,
                    square=number < _SQUARE_ROUNDS,
                    draw=number if _SQUARE_ROUNDS < number < rounds else 0,
                )
        if not exchanges and number >= rounds:
            break
    return whole


def _allowed(inner: Int64, hashes: UInt64, blocked: int) -> Int64:
    """Interior cells with blocked counts moved to the nearer side; the hash decides ties."""
    above = 2 * inner > blocked + 1
    tie = (2 * inner == blocked + 1) & (hashes & np.uint64(1) == 1)
    moved = np.where(above | tie, blocked + 1, 0)
    return np.where((inner > 0) & (inner <= blocked), moved, inner)


def _position_hashes(axis: Axis) -> UInt64:
    """For each position of an axis, a number made from its variable and its leaves."""
    hashes = np.zeros(len(axis.codes), dtype=np.uint64)
    leaves: list[list[str]] = [[] for _ in axis.codes]
    for block in axis.blocks:
        of_leaf = block.start + block.group[axis.base]
        for code, position in zip(axis.variable.codes, of_leaf.tolist(), strict=True):
            leaves[position].append(code.code)
    for position, (inside, shown) in enumerate(zip(leaves, axis.codes, strict=True)):
        names = sorted(inside) or ["", shown.code]  # a code without leaves stands for itself
        text = json.dumps([axis.variable.name, *names], ensure_ascii=False)
        digest = hashlib.blake2b(text.encode(), digest_size=8, person=b"adding-up").digest()
        hashes[position] = int.from_bytes(digest, "little")
    return hashes


def cell_hashes(spec: TableSpec) -> UInt64:
    """For each cell a number that depends on what it is, not on where it stands."""
    total = np.zeros(spec.shape, dtype=np.uint64)
    for at, axis in enumerate(spec.axes):
        own = _position_hashes(axis)
        total += own.reshape([-1 if at == other else 1 for other in range(len(spec.axes))])
    return scattered(total)


@dataclass(frozen=True, slots=True, eq=False)
class _Place:
    """An axis as the kernel needs it: base groups ordered by their hash."""

    groups: tuple[Int64, ...]
    offsets: tuple[Int64, ...]
    salts: UInt64


_NO_AXIS = _Place((np.zeros(1, np.int64),), (np.zeros(1, np.int64),), np.zeros(1, np.uint64))


def _place(axis: Axis, stride: int) -> _Place:
    hashes = _position_hashes(axis)
    order = np.argsort(hashes[: axis.base_size], kind="stable")
    groups, offsets = [], []
    for block in (axis.blocks[0], *sorted(axis.blocks[1:], key=lambda block: _sum(hashes, block))):
        own = block.group[order]
        ranks = np.argsort(np.argsort(hashes[block.start : block.start + block.size]))
        groups.append(ranks[own])
        offsets.append((block.start + own) * stride)
    return _Place(tuple(groups), tuple(offsets), hashes[: axis.base_size][order])


def _sum(hashes: UInt64, block: Block) -> int:
    return int(hashes[block.start : block.start + block.size].sum())


def _grid(places: Sequence[_Place]) -> Grid:
    sizes = np.array([place.salts.size for place in places], dtype=np.int64)
    blocks = np.array([len(place.groups) for place in places], dtype=np.int64)
    offsets = np.zeros((len(places), int(blocks.max()), int(sizes.max())), dtype=np.int64)
    salts = np.zeros((len(places), int(sizes.max())), dtype=np.uint64)
    for at, place in enumerate(places):
        salts[at, : place.salts.size] = place.salts
        for block, offset in enumerate(place.offsets):
            offsets[at, block, : offset.size] = offset
    return Grid(sizes, blocks, offsets, salts)


def _runs(place: _Place, *, turn: int) -> ExchangeRuns:
    """The base groups of an axis in runs within each code above them.

    Groups that are too long for one run are cut elsewhere in every round.
    """
    size = place.salts.size
    above = place.groups[1:] or (np.zeros(size, dtype=np.int64),)
    runs: list[Int64] = []
    for group in above:
        ordered = np.argsort(group, kind="stable")
        for inside in np.split(ordered, np.flatnonzero(np.diff(group[ordered])) + 1):
            turned = np.roll(inside, turn) if inside.size > LONGEST_RUN else inside
            runs += np.split(turned, range(LONGEST_RUN, inside.size, LONGEST_RUN))
    members = np.concatenate(runs)
    starts = np.cumsum([0, *(run.size for run in runs)])
    shared = np.zeros((len(runs), len(place.groups)), dtype=bool)
    if size:
        for block, group in enumerate(place.groups[1:], start=1):
            lowest = np.minimum.reduceat(group[members], starts[:-1])
            highest = np.maximum.reduceat(group[members], starts[:-1])
            shared[:, block] = lowest == highest
    return ExchangeRuns(members, starts, shared)
