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
def rank_of(amount: Any) -> Any:
    """A number above 0 that is larger where an amount is, without its sign and then with it."""
    sign = amount >> 63
    return (((amount ^ sign) - sign) << 1) | (sign + 1)


@compiled
def amounts_of_ranks(lists: Int64) -> None:
    """Turn ranks back into the amounts that they are of; free places stay free."""
    flat = lists.reshape(-1)
    for at in range(flat.size):
        size = flat[at] >> 1
        flat[at] = size if flat[at] & 1 else -size


@compiled
def _enter_rank(rank: Any, flat: Int64, start: Any, end: Any) -> None:
    """Enter a rank into a list of ranks that stands at these places."""
    if rank <= flat[end - np.uint64(1)]:
        return
    # Exchanging along the list without a jump is faster than looking for the place.
    for at in range(start, end):
        held = flat[at]
        flat[at] = max(rank, held)
        rank = min(rank, held)


@compiled
def _enter_pair(amount: Any, second: Any, flat: Int64, start: Any, end: Any) -> None:
    """Enter an amount and its key into a list of them that stands at these places."""
    step, beside = np.uint64(2), np.uint64(1)
    rank = rank_of(amount)
    at = end - step
    held = rank_of(flat[at])
    if rank < held or (rank == held and second <= flat[at + beside]):
        return
    while at > start:
        held = rank_of(flat[at - step])
        if held > rank or (held == rank and flat[at - beside] >= second):
            break
        flat[at] = flat[at - step]
        flat[at + beside] = flat[at - beside]
        at -= step
    flat[at] = amount
    flat[at + beside] = second


@compiled
def largest_ranks(cells: Integers, amounts: Int64, lists: Int64) -> None:
    """Enter the rank of each amount into the list of its cell: lists of one field."""
    width, flat = np.uint64(lists.shape[1]), lists.reshape(-1)
    for i in range(cells.size):
        if amounts[i] != 0:
            start = np.uint64(cells[i]) * width
            _enter_rank(rank_of(amounts[i]), flat, start, start + width)


@compiled
def enter_rows(
    cells: Integers,
    amounts: Int64,
    blank: int,
    keys: Integers,
    total: Int64,
    packed: Integers,
    lists: Int64,
    fields: int,
) -> None:
    """Add rows to all that cells hold of their contributions, in one pass.

    Args:
        cells, amounts, keys: The cell, the contribution and the key of each row.
        blank: The contribution of a row that has none.
        total: The sum of each cell.
        packed: Its contributors in the low and their keys in the high 32 bits.
        lists: The ranks of its largest contributions; where an entry has two fields, its largest
            contributions with their keys.
        fields: How many.
    """
    width, flat = np.uint64(lists.shape[1]), lists.reshape(-1)
    for i in range(cells.size):
        amount = amounts[i]
        if amount == 0 or amount == blank:
            continue
        cell = cells[i]
        total[cell] += amount
        packed[cell] += (np.uint64(keys[i]) << np.uint64(32)) | np.uint64(1)
        start = np.uint64(cell) * width
        if fields == 1:
            _enter_rank(rank_of(amount), flat, start, start + width)
        else:
            _enter_pair(amount, np.int64(keys[i]), flat, start, start + width)


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


@compiled
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
    ranks: bool,
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
        fields: How many fields an entry has.
        ranks: Whether the lists hold ranks; in them numbers alone are compared.
    """
    width, wide = source.shape[1], target.shape[1]
    spare = np.empty((1, wide), dtype=np.int64)
    flat, merged = source.reshape(-1), target.reshape(-1)
    for o in range(outer):
        for p in range(group.size):
            row = (o * positions + first + p) * inner
            cell = (o * places + start + group[p]) * inner
            for i in range(low, high):
                if not ranks:
                    merge_into(source, row + i, 0, width, target, cell + i, 0, wide, fields, spare)
                    continue
                place = np.uint64((cell + i) * wide)
                end = place + np.uint64(wide)
                own = np.uint64((row + i) * width)
                for at in range(own, own + np.uint64(width)):
                    # The rest of the list is smaller still.
                    if flat[at] <= merged[end - np.uint64(1)]:
                        break
                    _enter_rank(flat[at], merged, place, end)


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
        False,
    )


@compiled
def merge_lists(cells: Integers, lists: Int64, target: Int64, fields: int) -> None:
    """Merge each list, a row, into that of its cell."""
    width, wide = lists.shape[1], target.shape[1]
    spare = np.empty((1, wide), dtype=np.int64)
    for i in range(cells.size):
        merge_into(lists, i, 0, width, target, cells[i], 0, wide, fields, spare)
