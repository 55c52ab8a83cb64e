"""Which complete cells fit cells with missing values, and how these are shared out among them."""

from __future__ import annotations

from math import gcd
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]

#: Denominators of shares stay below this; longer ones are not kept.
_LONGEST = 1 << 31


@compiled
def _slot(words: UInt64, cell: int, stated: UInt64, size: int) -> Any:
    """Where a table keeps a cell by the keys that are stated."""
    mixed = np.uint64(0)
    for word in range(stated.size):
        mixed ^= words[cell, word] & stated[word]
        # Keys stand at the top of words, and a product moves nothing down.
        mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0x9E3779B97F4A7C15)
        mixed = (mixed ^ (mixed >> np.uint64(32))) * np.uint64(0xD6E8FEB86659FD93)
    mixed ^= mixed >> np.uint64(32)
    return np.int64(mixed & np.uint64(size - 1))


@compiled
def _alike(words: UInt64, first: int, second: int, stated: UInt64) -> bool:
    for word in range(stated.size):
        if (words[first, word] ^ words[second, word]) & stated[word]:
            return False
    return True


@compiled
def _bound(
    words: UInt64, cells: Int64, place: int, wanted: int, prefix: UInt64, behind: bool
) -> int:
    """Where ascending cells, from a place on, begin to have the prefix of another; or go on."""
    low, high = place, cells.size
    while low < high:
        middle = (low + high) // 2
        before = behind
        for word in range(prefix.size):
            own = words[cells[middle], word] & prefix[word]
            other = words[wanted, word] & prefix[word]
            if own != other:
                before = own < other
                break
        if before:
            low = middle + 1
        else:
            high = middle
    return low


@compiled
def _fit(
    words: UInt64,
    absent: UInt64,
    complete: Int64,
    incomplete: Int64,
    stated: UInt64,
    prefix: UInt64,
    hidden: int,
    table: Integers,
    counts: Int64,
    fitting: Int64,
    pairs: Int64,
) -> int:
    for at in range(incomplete.size):
        slot = _slot(words, incomplete[at], stated, table.size)
        while table[slot] >= 0:
            slot = (slot + 1) & (table.size - 1)
        table[slot] = at
    size, end, turn = 0, 0, 0
    while turn < incomplete.size:
        first = incomplete[turn]
        begin = _bound(words, complete, end, first, prefix, False)
        end = _bound(words, complete, begin, first, prefix, True)
        for cell in complete[begin:end]:
            if absent[cell] & np.uint64(hidden):
                continue
            slot = _slot(words, cell, stated, table.size)
            while table[slot] >= 0:
                at = table[slot]
                if _alike(words, incomplete[at], cell, stated):
                    fitting[0, at] += counts[0, cell]
                    fitting[1, at] += counts[1, cell]
                    if counts[1, cell]:
                        pairs[0, size] = cell
                        pairs[1, size] = at
                        size += 1
                    break
                slot = (slot + 1) & (table.size - 1)
        while turn < incomplete.size and _alike(words, first, incomplete[turn], prefix):
            turn += 1
    return size


def fitting_cells(
    words: UInt64,
    absent: UInt64,
    complete: Int64,
    incomplete: Int64,
    stated: UInt64,
    prefix: UInt64,
    hidden: int,
    counts: Int64,
) -> tuple[Int64, Int64]:
    """Complete cells that agree with cells of one pattern of missing values on what is stated.

    Args:
        words: By cell the codes of its keys, packed into words from the top: they ascend.
        absent: By cell a bit for each key that is not applicable: such a value fits nothing.
        complete: The cells without missing values, ascending.
        incomplete: The cells of the pattern, ascending, no two alike.
        stated: The bits of words that hold stated keys.
        prefix: The bits of the keys before the first that is missing: only cells that agree there
            with some cell of the pattern are looked at.
        hidden: A bit for each key that is missing.
        counts: By cell how many there are in the population (row 0) and in the sample (row 1).

    Returns:
        For each incomplete cell how many in the population and in the sample fit; and pairs of a
        complete cell of the sample and the place in ``incomplete`` of the cell that it fits.
    """
    table = np.full(1 << (4 * incomplete.size).bit_length(), -1, dtype=np.int32)
    fitting = np.zeros((2, incomplete.size), dtype=np.int64)
    pairs = np.empty((2, complete.size), dtype=np.int64)
    size = _fit(
        words, absent, complete, incomplete, stated, prefix, hidden, table, counts, fitting, pairs
    )
    return fitting, pairs[:, :size]


@compiled
def share_out(
    cells: Int64,
    amounts: Int64,
    totals: Int64,
    numerators: Int64,
    denominators: Int64,
    values: npt.NDArray[np.float64],
) -> None:
    """Add ``amounts / totals`` to cells, as fractions while they are short, and as numbers.

    A denominator becomes 0, and stays so, once it would be too long.
    """
    for at in range(cells.size):
        cell, amount, total = cells[at], amounts[at], totals[at]
        values[cell] += amount / total
        if denominators[cell] == 0:
            continue
        common = gcd(amount, total)
        amount, total = amount // common, total // common
        common = gcd(denominators[cell], total)
        own = denominators[cell] // common
        if own * total >= _LONGEST or values[cell] >= _LONGEST:
            denominators[cell] = 0
            continue
        numerators[cell] = numerators[cell] * (total // common) + amount * own
        denominators[cell] = own * total


@compiled
def survival(
    found: npt.NDArray[np.float64],
    order: Integers,
    starts: Int64,
    out: npt.NDArray[np.float64],
) -> None:
    """For each unit the chance that none of its members is found.

    Multiplied from the smallest on: the order of members in a file must not change the result.
    """
    for unit in range(out.size):
        members = found[order[starts[unit] : starts[unit + 1]]]
        members.sort()
        product = 1.0
        for at in range(members.size - 1, -1, -1):
            product *= 1.0 - members[at]
        out[unit] = product
