"""The largest contributions to each cell: lists that merge.

A list holds ``size`` entries of ``fields`` numbers each, one entry after the other, the largest
first. The first field is the contribution, signed; an entry is larger if its contribution is
larger without its sign, then with it, then by the further fields in their order. That order tells
all entries apart that differ at all, so lists do not depend on the order of rows, blocks or
threads, and a list of merged lists is the list of everything that they were made of. An entry of
contribution 0 is a free place.

Entries are compared where they stand: a view of an array for each of them would take longer than
the comparison.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]


@compiled
def _above(mine: Int64, row: Any, at: Any, other: Int64, cell: Any, to: Any, fields: int) -> bool:
    """Whether one entry is larger than another; each stands in a row, from a column on."""
    left, right = mine[row, at], other[cell, to]
    size, held = abs(left), abs(right)
    if size != held:
        return bool(size > held)
    if left != right:
        return bool(left > right)
    for field in range(1, fields):
        left, right = mine[row, at + field], other[cell, to + field]
        if left != right:
            return bool(left > right)
    return False


@compiled
def amounts_of_ranks(lists: Int64) -> None:
    """Turn ranks back into the amounts that they are of; free places stay free."""
    flat = lists.reshape(-1)
    for at in range(flat.size):
        size = flat[at] >> 1
        flat[at] = size if flat[at] & 1 else -size


@compiled
def _enter(number: Any, flat: Int64, start: Any, rank: int, places: tuple[int, ...]) -> None:
    """Enter a number that belongs behind ``rank`` others into the list that stands here."""
    # Exchanging along the whole list without a jump is faster than looking for the place.
    for place in range(len(places)):
        if place >= rank:
            at = start + np.uint64(place)
            held = flat[at]
            flat[at] = max(number, held)
            number = min(number, held)


@compiled
def _enter_numbers(cells: Integers, numbers: Int64, lists: Int64, places: tuple[int, ...]) -> None:
    flat = lists.reshape(-1)
    width = np.uint64(len(places))
    for i in range(cells.size):
        _enter(numbers[i], flat, np.uint64(cells[i]) * width, 0, places)


def enter_numbers(cells: Integers, numbers: Int64, lists: Int64) -> None:
    """Enter each number into the list of its cell: lists of packed entries; 0 changes nothing."""
    _enter_numbers(cells, numbers, lists, _places(lists))


def _places(lists: Int64) -> tuple[int, ...]:
    """As many as there are places in a list: of a tuple, a compiler knows the length."""
    return (0,) * int(lists.shape[1])


@compiled
def contribute(
    cells: Integers,
    amounts: Int64,
    keys: Integers,
    total: Int64,
    packed: Integers,
    lowest: Int64,
) -> None:
    """Add contributions to what cells hold of them besides lists, in one pass.

    Args:
        cells, amounts, keys: The cell, the contribution and the key of each row.
        total: The sum of each cell.
        packed: Its contributors in the low and their keys in the high 32 bits.
        lowest: Its smallest contribution; empty where it is not asked for.
    """
    spread = lowest.size > 0
    for i in range(cells.size):
        amount = amounts[i]
        if amount == 0:
            continue
        cell = cells[i]
        total[cell] += amount
        packed[cell] += (np.uint64(keys[i]) << np.uint64(32)) | np.uint64(1)
        if spread:
            lowest[cell] = min(lowest[cell], amount)


@compiled
def largest_entries(cells: Integers, entries: Int64, lists: Int64) -> None:
    """Enter each entry, a row of ``entries``, into the list of its cell."""
    fields = entries.shape[1]
    width = lists.shape[1]
    for i in range(cells.size):
        cell = cells[i]
        at = width - fields
        if entries[i, 0] == 0 or not _above(entries, i, 0, lists, cell, at, fields):
            continue
        while at > 0 and _above(entries, i, 0, lists, cell, at - fields, fields):
            for field in range(fields):
                lists[cell, at + field] = lists[cell, at - fields + field]
            at -= fields
        for field in range(fields):
            lists[cell, at + field] = entries[i, field]


@compiled
def merge_into(
    lists: Int64,
    row: Any,
    start: Any,
    end: Any,
    target: Int64,
    cell: Any,
    low: Any,
    high: Any,
    fields: int,
    spare: Int64,
) -> None:
    """Enter the entries of one list into another.

    Args:
        lists, row, start, end: The list stands in these columns of a row.
        target, cell, low, high: The same of the list that it is entered into.
        fields: How many fields an entry has.
        spare: A row that is at least as wide as the list that it is entered into.
    """
    # Most lists are too small for a coarser cell: this alone is looked at.
    if not _above(lists, row, start, target, cell, high - fields, fields):
        return
    if lists[row, start] == 0:
        return
    for at in range(low, high):
        spare[0, at - low] = target[cell, at]
    own = 0
    for at in range(low, high, fields):
        if start < end and _above(lists, row, start, spare, 0, own, fields):
            for field in range(fields):
                target[cell, at + field] = lists[row, start + field]
            start += fields
        else:
            for field in range(fields):
                target[cell, at + field] = spare[0, own + field]
            own += fields


def merge_axis(
    source: Int64,
    target: Int64,
    outer: int,
    positions: int,
    places: int,
    inner: int,
    low: int,
    high: int,
    first: int,
    group: Int64,
    start: int,
    fields: int,
) -> None:
    """Merge the lists of positions of an axis into those of groups of them.

    Args:
        source: Lists of ``outer`` times ``positions`` times ``inner`` cells, one in a row.
        target: Lists of ``outer`` times ``places`` times ``inner`` cells; may be ``source``.
        outer, positions, places, inner: How many there are.
        low, high: Only these of the inner cells.
        first: The first position that belongs to a group.
        group: The group of each position from there on.
        start: The position in ``target`` of group 0.
        fields: How many fields an entry has; 0 where it is one number, not below 0.
    """
    axis = outer, positions, places, inner, low, high, first, group, start
    if fields:
        _merge_entries(source, target, *axis, fields)
    else:
        _merge_numbers(source, target, *axis, _places(target))


@compiled
def _merge_entries(
    source: Int64,
    target: Int64,
    outer: int,
    positions: int,
    places: int,
    inner: int,
    low: int,
    high: int,
    first: int,
    group: Int64,
    start: int,
    fields: int,
) -> None:
    width, wide = source.shape[1], target.shape[1]
    spare = np.empty((1, wide), dtype=np.int64)
    for o in range(outer):
        for p in range(group.size):
            row = (o * positions + first + p) * inner
            cell = (o * places + start + group[p]) * inner
            for i in range(low, high):
                merge_into(source, row + i, 0, width, target, cell + i, 0, wide, fields, spare)


@compiled
def _merge_numbers(
    source: Int64,
    target: Int64,
    outer: int,
    positions: int,
    places: int,
    inner: int,
    low: int,
    high: int,
    first: int,
    group: Int64,
    start: int,
    entries: tuple[int, ...],
) -> None:
    flat, merged = source.reshape(-1), target.reshape(-1)
    width = np.uint64(len(entries))
    for o in range(outer):
        for p in range(group.size):
            row = (o * positions + first + p) * inner
            cell = (o * places + start + group[p]) * inner
            for i in range(low, high):
                own, to = np.uint64(row + i) * width, np.uint64(cell + i) * width
                # Most lists are too small for a coarser cell.
                if flat[own] > merged[to + width - np.uint64(1)]:
                    for rank in range(len(entries)):
                        _enter(flat[own + np.uint64(rank)], merged, to, rank, entries)


def merge_groups(source: Int64, group: Int64, target: Int64, start: int, fields: int) -> None:
    """Merge the lists of positions of an axis into those of groups of them.

    Args:
        source: Lists as ``(outer, positions, inner, width)``.
        group: The group of each of the first ``group.size`` positions of ``source``.
        target: Lists as ``(outer, positions, inner, width)``; may be ``source`` itself.
        start: The position in ``target`` of group 0.
        fields: How many fields an entry has.
    """
    outer, positions, inner, width = source.shape
    merge_axis(
        source.reshape(-1, width),
        target.reshape(-1, target.shape[3]),
        outer,
        positions,
        target.shape[1],
        inner,
        0,
        inner,
        0,
        group,
        start,
        fields,
    )


@compiled
def merge_lists(cells: Integers, lists: Int64, target: Int64, fields: int) -> None:
    """Merge each list, a row, into that of its cell."""
    width, wide = lists.shape[1], target.shape[1]
    spare = np.empty((1, wide), dtype=np.int64)
    for i in range(cells.size):
        merge_into(lists, i, 0, width, target, cells[i], 0, wide, fields, spare)
