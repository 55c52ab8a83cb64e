"""Finding partners: for each unit in turn the first donor in a fixed order that fits it.

Donors that are alike lie in one group; inside it, those of one site (an area, or one place in an
area) wait in a queue in the order of the donors. A heap over the queues knows the best head. Who
asks passes over the sites that do not fit, not over their members: a group that nearly all lies in
the own area is not read again and again. Each donor is taken once and skipped once, so that the
whole costs little more than sorting.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Integers = npt.NDArray[Any]

#: No partner: nobody fitted, and nobody was asked for one.
FAILED, NOT_TRIED = -1, -2


@compiled
def _head(queue: int, heads: Integers, ends: Integers, ranks: Integers) -> Any:
    """The rank of the donor at the head of a queue; far behind everybody if it is empty."""
    return np.int64(ranks[heads[queue]]) if heads[queue] < ends[queue] else np.int64(1 << 62)


@compiled
def _sift(
    heap: Integers, first: int, size: int, at: int, heads: Integers, ends: Integers, ranks: Integers
) -> None:
    """Let a queue sink in its heap until both below it have later heads."""
    while True:
        child = 2 * at + 1
        if child >= size:
            return
        other = child + 1
        if other < size and _head(heap[first + other], heads, ends, ranks) < _head(
            heap[first + child], heads, ends, ranks
        ):
            child = other
        if _head(heap[first + at], heads, ends, ranks) <= _head(
            heap[first + child], heads, ends, ranks
        ):
            return
        heap[first + at], heap[first + child] = heap[first + child], heap[first + at]
        at = child


@compiled
def _freshen(
    heap: Integers,
    first: int,
    size: int,
    at: int,
    heads: Integers,
    ends: Integers,
    ranks: Integers,
    donors: Integers,
    used: Integers,
) -> Any:
    """Skip donors that are taken, until the best of this part of a heap is free; its rank."""
    while True:
        queue = heap[first + at]
        moved = False
        while heads[queue] < ends[queue] and used[donors[ranks[heads[queue]]]]:
            heads[queue] += 1
            moved = True
        if not moved:
            return _head(queue, heads, ends, ranks)
        _sift(heap, first, size, at, heads, ends, ranks)


@compiled
def _push(nodes: Integers, ranks: Integers, size: int, node: int, rank: int) -> int:
    """Add to the nodes that wait to be looked at, the earliest rank on top; their number."""
    at = size
    while at > 0 and ranks[(at - 1) // 2] > rank:
        nodes[at], ranks[at] = nodes[(at - 1) // 2], ranks[(at - 1) // 2]
        at = (at - 1) // 2
    nodes[at], ranks[at] = node, rank
    return size + 1


@compiled
def _pop(nodes: Integers, ranks: Integers, size: int) -> int:
    """Take away the earliest; how many are left."""
    size -= 1
    node, rank = nodes[size], ranks[size]
    at = 0
    while True:
        child = 2 * at + 1
        if child >= size:
            break
        if child + 1 < size and ranks[child + 1] < ranks[child]:
            child += 1
        if ranks[child] >= rank:
            break
        nodes[at], ranks[at] = nodes[child], ranks[child]
        at = child
    nodes[at], ranks[at] = node, rank
    return size


@compiled
def _first_in_group(
    group: int,
    own: int,
    before: Any,
    farthest: int,
    group_starts: Integers,
    ready: Integers,
    heap: Integers,
    heads: Integers,
    ends: Integers,
    ranks: Integers,
    queue_sites: Integers,
    site_areas: Integers,
    site_values: Integers,
    site_x: Integers,
    site_y: Integers,
    donors: Integers,
    used: Integers,
    nodes: Integers,
    node_ranks: Integers,
) -> Any:
    """The rank of the first free donor of a group that fits a unit at site ``own``.

    ``before`` if there is none with an earlier rank. A distance below 0 is no limit.
    """
    first = group_starts[group]
    size = group_starts[group + 1] - first
    if not ready[group]:
        for at in range(size // 2 - 1, -1, -1):
            _sift(heap, first, size, at, heads, ends, ranks)
        ready[group] = True
    waiting = _push(
        nodes,
        node_ranks,
        0,
        0,
        _freshen(heap, first, size, 0, heads, ends, ranks, donors, used),
    )
    while waiting > 0:
        at, rank = nodes[0], node_ranks[0]
        if rank >= before:
            return before
        site = queue_sites[heap[first + at]]
        if site_areas[site] != site_areas[own] and (
            site_values[own] < 0 or site_values[site] != site_values[own]
        ):
            across = site_x[site] - site_x[own]
            along = site_y[site] - site_y[own]
            if farthest < 0 or across * across + along * along <= farthest * farthest:
                return rank
        waiting = _pop(nodes, node_ranks, waiting)
        for child in (2 * at + 1, 2 * at + 2):
            if child < size:
                best = _freshen(heap, first, size, child, heads, ends, ranks, donors, used)
                waiting = _push(nodes, node_ranks, waiting, child, best)
    return before


@compiled
def _find(keys: Integers, key: int) -> int:
    """The place of a key among ascending ones; -1 if it is not there."""
    low, high = 0, keys.size
    while low < high:
        middle = (low + high) // 2
        if keys[middle] < key:
            low = middle + 1
        else:
            high = middle
    if low < keys.size and keys[low] == key:
        return low
    return -1


@compiled
def _count_wanted(free: Integers, classes: Integers, wanted: Integers) -> int:
    count = 0
    for profile in range(classes.shape[0]):
        for at in range(free.size):
            if wanted[classes[profile, free[at]]]:
                count += 1
    return count


@compiled
def _write_keys(
    free: Integers,
    classes: Integers,
    wanted: Integers,
    sites: Integers,
    width: int,
    keys: Integers,
    ranks: Integers,
) -> None:
    end = 0
    for profile in range(classes.shape[0]):
        for at in range(free.size):
            number = classes[profile, free[at]]
            if wanted[number]:
                keys[end] = number * width + sites[free[at]]
                ranks[end] = at
                end += 1


def donor_keys(
    free: Integers, classes: Integers, wanted: Integers, sites: Integers, width: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    """Class and site of donors whose class is wanted, as one number, and the rank of each.

    Args:
        free: The donors, in the order of their ranks.
        classes: The class of each unit, one row for each profile.
        wanted: Which classes anybody looks for.
        sites: The site of each unit.
        width: How many sites there are.
    """
    count = _count_wanted(free, classes, wanted)
    keys, ranks = np.empty(count, dtype=np.uint64), np.empty(count, dtype=np.uint32)
    _write_keys(free, classes, wanted, sites, width, keys, ranks)
    return keys, ranks


@compiled
def find_in_turn(
    initiators: Integers,
    turn_starts: Integers,
    quotas: Integers,
    taking: bool,
    classes: Integers,
    match_starts: Integers,
    matches: Integers,
    sites: Integers,
    site_areas: Integers,
    site_values: Integers,
    site_x: Integers,
    site_y: Integers,
    site_wards: Integers,
    ward_starts: Integers,
    wards: Integers,
    farthest: int,
    group_keys: Integers,
    group_starts: Integers,
    heads: Integers,
    ends: Integers,
    queue_sites: Integers,
    ranks: Integers,
    donors: Integers,
    used: Integers,
    partners: Integers,
    profiles: Integers,
) -> None:
    """Give each initiator in turn the first donor that fits it, profile by profile.

    Args:
        initiators: The units that look for a partner, in order.
        turn_starts: Where each turn (an area, say) begins among them; one more at the end.
        quotas: How many partners are looked for in each turn; then the turn is over.
        taking: Whether both units are taken then. Otherwise it only says who has a partner.
        classes: The class of each unit, one row for each profile; classes of different profiles
            have different numbers.
        match_starts, matches: For each class those that match it.
        sites: The site of each unit.
        site_areas, site_x, site_y, site_wards: Area, place and ward of each site.
        site_values: What would be exchanged at each site, which must differ; below 0 for anything.
        ward_starts, wards: For each ward those in which partners may lie.
        farthest: The largest distance; below 0 for none.
        group_keys: Class times the number of wards, plus ward, of each group of donors, ascending.
        group_starts: Where the queues of each group begin; one more at the end.
        heads, ends: The members of each queue that are left, as places in ``ranks``.
        queue_sites: The site of each queue.
        ranks: The places of donors in their order, queue by queue.
        donors: The donors in their order.
        used: Which units are taken.
        partners, profiles: Out: the partner of each initiator, or ``FAILED`` or ``NOT_TRIED``, and
            the profile by which it was found.
    """
    heap = np.arange(heads.size)
    ready = np.zeros(group_keys.size, dtype=np.bool_)
    longest = 2
    for group in range(group_keys.size):
        longest = max(longest, group_starts[group + 1] - group_starts[group] + 2)
    nodes, node_ranks = np.empty(longest, np.int64), np.empty(longest, np.int64)
    for turn in range(quotas.size):
        left = quotas[turn]
        for at in range(turn_starts[turn], turn_starts[turn + 1]):
            unit = initiators[at]
            if left <= 0:
                break
            if taking and used[unit]:
                continue
            partners[at] = -1
            own = sites[unit]
            ward = site_wards[own]
            for profile in range(classes.shape[0]):
                best: Any = np.int64(1 << 62)
                own_class = classes[profile, unit]
                for match in range(match_starts[own_class], match_starts[own_class + 1]):
                    for near in range(ward_starts[ward], ward_starts[ward + 1]):
                        key = matches[match] * (ward_starts.size - 1) + wards[near]
                        group = _find(group_keys, key)
                        if group >= 0:
                            best = _first_in_group(
                                group,
                                own,
                                best,
                                farthest,
                                group_starts,
                                ready,
                                heap,
                                heads,
                                ends,
                                ranks,
                                queue_sites,
                                site_areas,
                                site_values,
                                site_x,
                                site_y,
                                donors,
                                used,
                                nodes,
                                node_ranks,
                            )
                if best < np.int64(1 << 62):
                    partners[at] = donors[best]
                    profiles[at] = profile
                    if taking:
                        used[unit] = True
                        used[donors[best]] = True
                    left -= 1
                    break
