"""The largest contributions to each cell: lists that merge.

A list holds ``size`` entries of ``fields`` numbers each, one entry after the other, the largest
first. The first field is the contribution, signed; an entry is larger if its contribution is
larger without its sign, then with it, then by the further fields in their order. That order tells
all entries apart that differ at all, so lists do not depend on the order of rows, blocks or
threads, and a list of merged lists is the list of everything that they were made of. An entry of
contribution 0 is a free place.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]


@compiled
def insert(entry: Int64, lists: Int64, cell: Any, fields: int) -> bool:
    """Put an entry into the list of a cell; False if it is too small for it."""
    width = lists.shape[1]
    size = abs(entry[0])
    at = width - fields
    held = lists[cell, at]
    if abs(held) > size or size == 0:
        return False
    if not _above(entry, lists, cell, at, fields):
        return False
    while at > 0 and _above(entry, lists, cell, at - fields, fields):
        for field in range(fields):
            lists[cell, at + field] = lists[cell, at - fields + field]
        at -= fields
    for field in range(fields):
        lists[cell, at + field] = entry[field]
    return True


@compiled
def _above(entry: Int64, lists: Int64, cell: Any, at: int, fields: int) -> bool:
    """Whether an entry is larger than the one that stands at a place of a list."""
    mine, theirs = abs(entry[0]), abs(lists[cell, at])
    if mine != theirs:
        return bool(mine > theirs)
    for field in range(fields):
        if entry[field] != lists[cell, at + field]:
            return bool(entry[field] > lists[cell, at + field])
    return False


@compiled
def largest_amounts(cells: Integers, amounts: Int64, lists: Int64) -> None:
    """Enter each amount into the list of its cell: lists of one field, the common case."""
    width = lists.shape[1]
    for i in range(cells.size):
        amount = amounts[i]
        size = abs(amount)
        cell = cells[i]
        last = lists[cell, width - 1]
        if size < abs(last) or size == 0 or (size == abs(last) and amount <= last):
            continue
        at = width - 1
        while at > 0:
            held = lists[cell, at - 1]
            if abs(held) > size or (abs(held) == size and held >= amount):
                break
            lists[cell, at] = held
            at -= 1
        lists[cell, at] = amount


@compiled
def largest_entries(cells: Integers, entries: Int64, lists: Int64) -> None:
    """Enter each entry, a row of ``entries``, into the list of its cell."""
    fields = entries.shape[1]
    for i in range(cells.size):
        insert(entries[i], lists, cells[i], fields)


@compiled
def merge_into(lists: Int64, source: Any, target: Int64, cell: Any, fields: int) -> None:
    """Enter the entries of one list into another."""
    for at in range(0, lists.shape[1], fields):
        # The rest of the list is smaller still.
        if not insert(lists[source, at : at + fields], target, cell, fields):
            break


@compiled
def merge_groups(source: Int64, group: Int64, target: Int64, start: int, fields: int) -> None:
    """Merge the lists of positions of an axis into those of groups of them.

    Args:
        source: Lists as ``(outer, positions, inner, width)``.
        group: The group of each of the first ``group.size`` positions of ``source``.
        target: Lists as ``(outer, positions, inner, width)``; may be ``source`` itself.
        start: The position in ``target`` of group 0.
        fields: How many fields an entry has.
    """
    outer, _, inner, _ = source.shape
    for o in range(outer):
        for p in range(group.size):
            g = start + group[p]
            for i in range(inner):
                if source[o, p, i, 0] != 0:
                    merge_into(source[o, p], i, target[o, g], i, fields)


@compiled
def merge_lists(cells: Integers, lists: Int64, target: Int64, fields: int) -> None:
    """Merge each list, a row, into that of its cell."""
    for i in range(cells.size):
        merge_into(lists, i, target, cells[i], fields)
