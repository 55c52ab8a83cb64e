"""Multilevel grids: squares that are too small are put together, from the coarsest size down.

A square with at least so many units is split into its children. If every child that is not empty
has enough, the children are kept, and split in turn. Else the smallest child below the threshold
is merged with the one that keeps the merged group smallest and lets it reach the threshold, until
none is below; where that is impossible, or where all children become one group, the parent stays
whole. Merged groups are not split again.
Squares of the coarsest size below the threshold are joined to their nearest neighbour first; what
is joined is then one square of that size. Ties go to the lower code. An empty child is a group of
its own.
"""

from __future__ import annotations

import heapq
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Int64 = npt.NDArray[np.int64]
Integers = npt.NDArray[Any]

#: A square whose group is not decided yet.
OPEN = -1


class SquareGroups(NamedTuple):
    """A partition of the finest squares.

    Groups are numbered by their lowest finest square. A group consists of ``members`` squares of
    one size: ``level`` is 0 for the finest, and ``first`` the lowest of them among the squares of
    that size.
    """

    group: Int64
    level: Int64
    first: Int64
    members: Int64


@compiled
def _merged(counts: Int64, roots: Int64, threshold: int) -> bool:
    """Merge squares that hold too few; whether that was possible.

    ``roots`` is the own number of each square before, and the lowest of its group afterwards.
    Groups are kept in the order of their counts and lowest numbers, so that the smallest is the
    first, and the partner that makes the smallest sum is found by bisection.
    """
    numbers = np.flatnonzero(counts)
    numbers = numbers[np.argsort(counts[numbers], kind="mergesort")]
    sums = counts[numbers]
    for first in range(sums.size):
        if sums[first] >= threshold:
            break
        low, high = first + 1, sums.size
        while low < high:
            middle = (low + high) // 2
            if sums[middle] + sums[first] < threshold:
                low = middle + 1
            else:
                high = middle
        if low == sums.size:
            return False
        total = sums[first] + sums[low]
        kept = min(numbers[first], numbers[low])
        roots[max(numbers[first], numbers[low])] = kept
        at = low
        while at + 1 < sums.size and (
            sums[at + 1] < total or (sums[at + 1] == total and numbers[at + 1] < kept)
        ):
            sums[at], numbers[at] = sums[at + 1], numbers[at + 1]
            at += 1
        sums[at], numbers[at] = total, kept
    for i in range(roots.size):  # a root is lower than what it is the root of
        roots[i] = roots[roots[i]]
    return True


@compiled
def _split_level(
    starts: Int64,
    children: Int64,
    totals: Int64,
    threshold: int,
    stop: bool,
    whole: Int64,
    group: Int64,
    first: Int64,
    members: Int64,
    used: int,
) -> int:
    """Split parents: what becomes of their children, and which parents stay whole.

    ``whole`` of a parent is 1 afterwards if it is not split; ``group`` of a child is its group, or
    open where it is split in turn. New groups are numbered from ``used`` on.
    """
    for parent in range(starts.size - 1):
        if whole[parent] != 0:
            continue
        low, high = starts[parent], starts[parent + 1]
        counts = np.empty(high - low, dtype=np.int64)
        roots = np.arange(high - low)
        small = False
        for i in range(counts.size):
            counts[i] = totals[children[low + i]]
            small |= 0 < counts[i] < threshold
        if small and (stop or not _merged(counts, roots, threshold)):
            whole[parent] = 1
            continue
        size = np.zeros(counts.size, dtype=np.int64)
        for i in range(counts.size):
            size[roots[i]] += 1
        if size[0] == counts.size > 1:
            whole[parent] = 1  # all of them together are the parent
            continue
        number = np.full(counts.size, -1, dtype=np.int64)
        for i in range(counts.size):
            root, child = roots[i], children[low + i]
            if size[root] == 1 and totals[child] > 0:
                continue  # it is split in turn
            if number[root] < 0:
                number[root] = used
                first[used] = child
                members[used] = size[root]
                used += 1
            group[child] = number[root]
    return used


@compiled
def _nearest(
    lattice: Int64, place: int, roots: Int64, own: int, wide: int, high: int
) -> tuple[int, int]:
    """The nearest other square of a lattice and how far it is, squared; ties by the lower place.

    ``lattice`` is the number of the square at each place, or -1 where none is or it is empty.
    """
    row, column = place // wide, place % wide
    best, distance = -1, -1
    radius = 0
    while radius <= max(wide, high):
        radius += 1
        # What lies on this ring is at least as far as its radius.
        if best >= 0 and radius * radius > distance:
            break
        for i in range(max(0, row - radius), min(high - 1, row + radius) + 1):
            edge = abs(i - row) == radius
            step = 1 if edge else 2 * radius
            for j in range(column - radius, column + radius + 1, step):
                if j < 0 or j >= wide:
                    continue
                other = lattice[i * wide + j]
                if other < 0 or roots[other] == own:
                    continue
                far = (i - row) * (i - row) + (j - column) * (j - column)
                nearer = best < 0 or far < distance
                if nearer or (far == distance and other < best):
                    best, distance = other, far
    return best, distance


def joined_tops(totals: Int64, rows: Int64, columns: Int64, threshold: int) -> Int64:
    """For each square of the coarsest size the lowest square that it is joined with.

    The smallest below the threshold is joined first, to the nearest square that is not empty.

    Args:
        totals: The units in each, in the order of codes.
        rows, columns: Where each lies, counted in squares of this size.
        threshold: How many units what is joined must have.
    """
    roots = np.arange(totals.size, dtype=np.int64)
    filled = np.flatnonzero(totals)
    if not filled.size:
        return roots
    rows, columns = rows - rows.min(), columns - columns.min()
    wide, high = int(columns.max()) + 1, int(rows.max()) + 1
    lattice = np.full(wide * high, -1, dtype=np.int64)
    places = rows * wide + columns
    lattice[places[filled]] = filled
    sums = totals.copy()
    squares = {int(top): [int(top)] for top in filled}
    waiting = [(int(totals[top]), int(top)) for top in filled if totals[top] < threshold]
    heapq.heapify(waiting)
    while waiting:
        count, own = heapq.heappop(waiting)
        if roots[own] != own or sums[own] != count or len(squares) == 1:
            continue
        neighbours = [
            _nearest(lattice, int(places[top]), roots, own, wide, high) for top in squares[own]
        ]
        _, other = min((distance, top) for top, distance in neighbours)
        kept, gone = sorted((own, int(roots[other])))
        squares[kept] += squares.pop(gone)
        roots[squares[kept]] = kept
        sums[kept] += sums[gone]
        if sums[kept] < threshold:
            heapq.heappush(waiting, (int(sums[kept]), kept))
    return roots


def square_groups(
    counts: Int64,
    parents: Sequence[Integers],
    places: tuple[Int64, Int64],
    threshold: int,
    *,
    quadtree: bool = False,
) -> SquareGroups:
    """Groups of finest squares with at least ``threshold`` units each, or none.

    Fewer than ``threshold`` units altogether are one group below it: whoever asks has to refuse.

    Args:
        counts: The units in each finest square, in the order of codes.
        parents: From the finest size on, for each square the number of the next coarser one in
            which it lies, among those in the order of codes.
        places: Rows and columns of the squares of the coarsest size.
        threshold: How many units a group has at least; 1 or more.
        quadtree: Whether a square stays whole if a child would be below the threshold, instead of
            merging children.
    """
    totals = [np.ascontiguousarray(counts, dtype=np.int64)]
    for link, coarse in zip(parents, _sizes(parents, places), strict=True):
        sums = np.zeros(coarse, dtype=np.int64)
        np.add.at(sums, link, totals[-1])
        totals.append(sums)
    roots = joined_tops(totals[-1], *places, threshold)
    group, level, first, members = _from_the_top(totals, parents, roots, threshold, quadtree)
    return _numbered(group, level, first, members)


def _sizes(parents: Sequence[Integers], places: tuple[Int64, Int64]) -> list[int]:
    """How many squares there are of each size but the finest."""
    return [*(link.size for link in parents[1:]), places[0].size] if parents else []


def _from_the_top(
    totals: Sequence[Int64],
    parents: Sequence[Integers],
    roots: Int64,
    threshold: int,
    quadtree: bool,
) -> tuple[Int64, Int64, Int64, Int64]:
    """Split level by level; the group of each finest square, and what groups consist of."""
    top = len(totals) - 1
    tops, owner, sizes = np.unique(roots, return_inverse=True, return_counts=True)
    owner = owner.reshape(-1).astype(np.int64)
    # The squares to be split: those of the coarsest size as they were joined, then single ones.
    heads, joined = tops, sizes.astype(np.int64)
    # Groups of squares above; -1 while they are split. An empty or lone square below stays whole.
    above = np.full(heads.size, OPEN, dtype=np.int64)
    sums = np.zeros(heads.size, dtype=np.int64)
    np.add.at(sums, owner, totals[top])
    whole = (sums < threshold).astype(np.int64)
    levels: list[Int64] = []
    firsts: list[Int64] = []
    counted: list[Int64] = []
    used = 0
    for at in range(top, -1, -1):
        below = at - 1
        if at == 0:
            whole = np.ones(heads.size, dtype=np.int64)
        whole[above != OPEN] = 2
        child_group = np.zeros(0, dtype=np.int64)
        if at > 0:
            link = owner[parents[below]]
            order = np.argsort(link, kind="stable").astype(np.int64)
            starts = np.zeros(heads.size + 1, dtype=np.int64)
            np.cumsum(np.bincount(link, minlength=heads.size), out=starts[1:])
            child_group = np.full(link.size, OPEN, dtype=np.int64)
            first, members = np.empty(link.size, np.int64), np.empty(link.size, np.int64)
            groups = _split_level(
                *(starts, order, totals[below], threshold, quadtree, whole),
                *(child_group, first, members, 0),
            )
            child_group[child_group != OPEN] += used
            levels.append(np.full(groups, below, dtype=np.int64))
            firsts.append(first[:groups])
            counted.append(members[:groups])
            used += groups
        stays = np.flatnonzero(whole == 1)
        above[stays] = used + np.arange(stays.size)
        levels.append(np.full(stays.size, at, dtype=np.int64))
        firsts.append(heads[stays])
        counted.append(joined[stays])
        used += stays.size
        if at == 0:
            break
        inherited = above[owner[parents[below]]]
        above = np.where(inherited != OPEN, inherited, child_group)
        heads = np.arange(totals[below].size, dtype=np.int64)
        owner, joined = heads, np.ones(heads.size, dtype=np.int64)
        whole = np.zeros(heads.size, dtype=np.int64)
    return above[owner], np.concatenate(levels), np.concatenate(firsts), np.concatenate(counted)


def _numbered(group: Int64, level: Int64, first: Int64, members: Int64) -> SquareGroups:
    """The same groups, numbered by their lowest finest square."""
    old, lowest, inverse = np.unique(group, return_index=True, return_inverse=True)
    order = np.argsort(lowest, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(order.size)
    chosen = old[order]
    return SquareGroups(rank[inverse.reshape(-1)], level[chosen], first[chosen], members[chosen])
