"""Amounts of records that are grouped or exchanged: groups of similar ones, partners of near rank.

Callers put records into an order that depends on nothing but who they are; ties go to the first.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]

#: No partner.
ALONE = -1


@compiled
def _distance(points: Int64, record: int, centre: Int64) -> int:
    total = 0
    for at in range(points.shape[1]):
        apart = points[record, at] - centre[at]
        total += apart * apart
    return total


@compiled
def _farthest(points: Int64, left: Int64, number: int, centre: Int64) -> int:
    best, most = int(left[0]), -1
    for at in range(number):
        distance = _distance(points, left[at], centre)
        if distance > most:
            best, most = int(left[at]), distance
    return best


@compiled
def _take_nearest(
    points: Int64, left: Int64, number: int, record: int, size: int, group: int, groups: Int64
) -> int:
    """Put a record and those nearest to it into a group; how many are left over."""
    nearest = np.empty(size, dtype=np.int64)
    distances = np.empty(size, dtype=np.int64)
    known = 0
    for at in range(number):
        distance = _distance(points, left[at], points[record])
        if left[at] == record:
            distance = -1
        if known == size and distance >= distances[known - 1]:
            continue
        place = known if known < size else size - 1
        while place > 0 and distances[place - 1] > distance:
            distances[place], nearest[place] = distances[place - 1], nearest[place - 1]
            place -= 1
        distances[place], nearest[place] = distance, left[at]
        known = min(known + 1, size)
    for at in range(size):
        groups[nearest[at]] = group
    kept = 0
    for at in range(number):
        if groups[left[at]] < 0:
            left[kept] = left[at]
            kept += 1
    return kept


@compiled
def _mdav(points: Int64, size: int, groups: Int64) -> int:
    left = np.arange(points.shape[0])
    number = left.size
    group = 0
    centre = np.zeros(points.shape[1], dtype=np.int64)
    while number >= 2 * size:
        for key in range(points.shape[1]):
            total = np.int64(0)
            for at in range(number):
                total += points[left[at], key]
            centre[key] = total // number
        first = _farthest(points, left, number, centre)
        both = number >= 3 * size
        number = _take_nearest(points, left, number, first, size, group, groups)
        group += 1
        if both:
            second = _farthest(points, left, number, points[first])
            number = _take_nearest(points, left, number, second, size, group, groups)
            group += 1
    for at in range(number):
        groups[left[at]] = group
    return group + 1 if number else group


def similar_groups(points: Int64, size: int) -> Int64:
    """Groups of similar records by MDAV: the farthest from the centre first, with its nearest.

    Every group has ``size`` records, the last up to ``2 * size - 1``.

    Args:
        points: Standardised whole numbers, a row for each record, below 2**24.
        size: How many records a group has.
    """
    groups = np.full(points.shape[0], -1, dtype=np.int64)
    _mdav(np.ascontiguousarray(points), size, groups)
    return groups


@compiled
def _best_cuts(values: Int64, size: int, cuts: Int64) -> None:
    number = values.size
    cost = np.full(number + 1, np.inf)
    cost[0] = 0.0
    for stop in range(size, number + 1):
        centre = values[stop - 1]
        total = 0.0
        squares = 0.0
        for start in range(stop - 1, max(stop - 2 * size, -1), -1):
            apart = float(values[start] - centre)
            total += apart
            squares += apart * apart
            members = stop - start
            if members < size or cost[start] == np.inf:
                continue
            here = cost[start] + squares - total * total / members
            if here < cost[stop]:
                cost[stop] = here
                cuts[stop] = start


def optimal_groups(values: Int64, size: int) -> Int64:
    """The groups of ascending values whose squared distances from their means are smallest.

    Dynamic programming over where groups end; a best grouping has neighbours together, and no
    group of ``2 * size`` or more.

    Examples:
        >>> optimal_groups(np.array([1, 2, 3, 10, 11, 12, 13]), 3)
        array([0, 0, 0, 1, 1, 1, 1])
    """
    cuts = np.zeros(values.size + 1, dtype=np.int64)
    _best_cuts(np.ascontiguousarray(values), size, cuts)
    starts = []
    stop = values.size
    while stop > 0:
        stop = int(cuts[stop])
        starts.append(stop)
    groups = np.zeros(values.size, dtype=np.int64)
    groups[[start for start in starts if start]] = 1
    return np.cumsum(groups)


@compiled
def _half_even(total: int, number: int) -> int:
    quotient = total // number
    twice = 2 * (total - quotient * number)
    if twice > number or (twice == number and quotient % 2 != 0):
        quotient += 1
    return quotient


@compiled
def _group_values(values: Int64, starts: Int64, median: bool, out: Int64) -> None:
    for group in range(starts.size - 1):
        first, last = starts[group], starts[group + 1]
        members = np.sort(values[first:last])
        number = members.size
        if median:
            value = _half_even(members[(number - 1) // 2] + members[number // 2], 2)
        else:
            # Around the first, so that no sum leaves 64 bits.
            total = 0
            for at in range(number):
                total += members[at] - members[0]
            value = members[0] + _half_even_from(total, number, members[0])
        out[first:last] = value


@compiled
def _half_even_from(total: int, number: int, base: int) -> int:
    """The mean above a base so that the sum of both is rounded half to even."""
    quotient = total // number
    twice = 2 * (total - quotient * number)
    if twice > number or (twice == number and (quotient + base) % 2 != 0):
        quotient += 1
    return quotient


def group_values(values: Int64, groups: Int64, *, median: bool) -> Int64:
    """For each record the mean or the median of its group, rounded half to even.

    Examples:
        >>> group_values(np.array([1, 2, 4, 5]), np.array([0, 0, 1, 1]), median=False)
        array([2, 2, 4, 4])
    """
    order = np.argsort(groups, kind="stable")
    numbers = int(groups.max(initial=-1)) + 1
    starts = np.searchsorted(groups[order], np.arange(numbers + 1))
    aggregated = np.empty(values.size, dtype=np.int64)
    _group_values(np.ascontiguousarray(values[order]), starts, median, aggregated)
    result = np.empty_like(aggregated)
    result[order] = aggregated
    return result


@compiled
def _add(tree: Int64, place: int, amount: int) -> None:
    at = place + 1
    while at < tree.size:
        tree[at] += amount
        at += at & -at


@compiled
def _sum_to(tree: Int64, stop: int) -> int:
    total = 0
    at = stop
    while at > 0:
        total += tree[at]
        at -= at & -at
    return total


@compiled
def _find(tree: Int64, rank: int) -> int:
    """The place of the free record with a rank, from 0."""
    at = 0
    step = 1
    while step * 2 < tree.size:
        step *= 2
    left = rank
    while step:
        if at + step < tree.size and tree[at + step] <= left:
            at += step
            left -= tree[at]
        step //= 2
    return at


@compiled
def _near_partners(words: UInt64, reach: int, partners: Int64) -> None:
    number = words.size
    tree = np.zeros(number + 1, dtype=np.int64)
    for place in range(number):
        _add(tree, place, 1)
    for place in range(number):
        if partners[place] >= 0:
            continue
        _add(tree, place, -1)
        before = _sum_to(tree, place + 1)
        free = _sum_to(tree, min(place + reach + 1, number)) - before
        if free <= 0:
            continue
        chosen = int(((words[place] >> np.uint64(32)) * np.uint64(free)) >> np.uint64(32))
        partner = _find(tree, before + chosen)
        _add(tree, partner, -1)
        partners[place] = partner
        partners[partner] = place


def near_partners(words: UInt64, reach: int) -> Int64:
    """A partner for each record, at most ``reach`` ranks away; each record has one or none.

    Args:
        words: 64 random bits of each record, in the order of ranks.
        reach: How many ranks a partner may be away.
    """
    partners = np.full(words.size, ALONE, dtype=np.int64)
    if reach > 0:
        _near_partners(np.ascontiguousarray(words), reach, partners)
    return partners
