"""From encoded columns to cells: mixed-radix cell numbers and what is added up in each cell.

A block of rows gets its cell numbers by one table look-up per axis (``offsets`` already holds
group times stride), then every accumulator takes one pass over the same numbers while they are
still in the cache. Margins, coarser levels and small cells above others come from finer cells,
without a second look at the records. Everything is an integer: results do not depend on the order
of rows, blocks or threads.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.cells.ranked import merge_groups

Integers = npt.NDArray[Any]

#: Rows per block: the cell numbers of a block stay in the second-level cache.
BLOCK_ROWS = 1 << 16
#: Marks a record without a parent in a column of row numbers.
NO_ROW = np.uint32(0xFFFFFFFF)


class Combine(IntEnum):
    """How the values of a cell, and later cells themselves, become one."""

    SUM = 0
    XOR = 1
    LOW = 2
    HIGH = 3
    LARGEST = 4


@compiled
def start_cells(cells: Integers, column: Integers, offsets: Integers) -> None:
    """Set ``cells[i]`` to ``offsets[column[i]]``."""
    for i in range(cells.size):
        cells[i] = offsets[column[i]]


@compiled
def add_axis(cells: Integers, column: Integers, offsets: Integers) -> None:
    """Add ``offsets[column[i]]`` to ``cells[i]``."""
    for i in range(cells.size):
        cells[i] += offsets[column[i]]


@compiled
def drop_outside(cells: Integers, combination: Integers, truth: Integers, outside: int) -> None:
    """Send every row whose combination of classes is not true to the cell ``outside``."""
    for i in range(cells.size):
        if not truth[combination[i]]:
            cells[i] = outside


@compiled
def inherit(rows: Integers, column: Integers, missing: int, out: Integers) -> None:
    """Look up a parent's value for each row; ``missing`` where there is no parent."""
    for i in range(rows.size):
        out[i] = column[rows[i]] if rows[i] != NO_ROW else missing


@compiled
def count_and_key(cells: Integers, keys: Integers, packed: Integers) -> None:
    """Count in the low and sum keys in the high 32 bits of one 64-bit integer.

    The count cannot reach 2**32, and a key sum that leaves the top is reduced modulo 2**32 by
    that very fact: both are exact, for one memory access per record instead of two.
    """
    for i in range(cells.size):
        packed[cells[i]] += (np.uint64(keys[i]) << np.uint64(32)) | np.uint64(1)


@compiled
def count(cells: Integers, out: Integers) -> None:
    """Count the rows of each cell."""
    for i in range(cells.size):
        out[cells[i]] += 1


@compiled
def add(cells: Integers, values: Integers, out: Integers) -> None:
    """Sum a column in each cell."""
    for i in range(cells.size):
        out[cells[i]] += values[i]


@compiled
def scale(amounts: Integers, weights: Integers, unit: int, out: Integers) -> None:
    """Amounts times weights, rounded half away from zero; ``unit`` is a weight of 1.

    The weight is cut into its whole part and the rest, so that no product leaves 64 bits that the
    result does not leave.
    """
    for i in range(amounts.size):
        size = abs(np.int64(amounts[i]))
        weight = np.int64(weights[i])
        whole = weight // unit
        scaled = size * whole + (size * (weight - whole * unit) + unit // 2) // unit
        out[i] = -scaled if amounts[i] < 0 else scaled


@compiled
def exclusive_or(cells: Integers, values: Integers, out: Integers) -> None:
    """Combine a column by exclusive or in each cell."""
    for i in range(cells.size):
        out[cells[i]] ^= values[i]


@compiled
def lowest(cells: Integers, values: Integers, out: Integers) -> None:
    """The smallest value in each cell."""
    for i in range(cells.size):
        out[cells[i]] = min(out[cells[i]], values[i])


@compiled
def highest(cells: Integers, values: Integers, out: Integers) -> None:
    """The largest value in each cell."""
    for i in range(cells.size):
        out[cells[i]] = max(out[cells[i]], values[i])


SCATTER = {
    Combine.SUM: add,
    Combine.XOR: exclusive_or,
    Combine.LOW: lowest,
    Combine.HIGH: highest,
}


def identity(combine: Combine, dtype: npt.DTypeLike) -> int:
    """What an empty cell holds, so that combining with it changes nothing."""
    limits = np.iinfo(np.dtype(dtype))
    if combine is Combine.LOW:
        return int(limits.max)
    return int(limits.min) if combine is Combine.HIGH else 0


@compiled
def unpack(packed: Integers, counts: Integers, keys: Integers, modulus_mask: int) -> None:
    """Split packed cells into counts and keys below a power of two."""
    for i in range(packed.size):
        counts[i] = np.int64(packed[i] & np.uint64(0xFFFFFFFF))
        keys[i] = np.uint32(packed[i] >> np.uint64(32)) & np.uint32(modulus_mask)


@compiled
def add_groups(
    source: Integers, group: Integers, target: Integers, start: int, combine: int, first: int = 0
) -> None:
    """Combine positions of an axis into groups of them.

    Args:
        source: Cells as ``(outer, positions, inner)``.
        group: The group of each of ``group.size`` positions of ``source``, from ``first`` on.
        target: Cells as ``(outer, positions, inner)``; may be ``source`` itself.
        start: The position in ``target`` of group 0.
        combine: A member of ``Combine``.
        first: The first position that belongs to a group.
    """
    outer, _, inner = source.shape
    for o in range(outer):
        for p in range(group.size):
            g = start + group[p]
            if combine == 0:
                for i in range(inner):
                    target[o, g, i] += source[o, first + p, i]
            elif combine == 1:
                for i in range(inner):
                    target[o, g, i] ^= source[o, first + p, i]
            elif combine == 2:
                for i in range(inner):
                    target[o, g, i] = min(target[o, g, i], source[o, first + p, i])
            else:
                for i in range(inner):
                    target[o, g, i] = max(target[o, g, i], source[o, first + p, i])


def regroup(
    cells: Integers,
    axis: int,
    group: Integers,
    size: int,
    combine: Combine,
    empty: int,
    fields: int = 0,
) -> Integers:
    """Replace one axis of an array by groups of its positions.

    Lists of largest contributions have one more axis, the last, with entries of ``fields`` numbers.
    """
    shape = cells.shape
    if combine is Combine.LARGEST:
        before, behind = shape[:axis], shape[axis + 1 : -1]
        outer, inner = (int(np.prod(part, dtype=np.int64)) for part in (before, behind))
        lists = np.zeros((outer, size, inner, shape[-1]), dtype=cells.dtype)
        finer = np.ascontiguousarray(cells).reshape(outer, shape[axis], inner, shape[-1])
        merge_groups(finer, group, lists, 0, fields)
        return lists.reshape(*before, size, *behind, shape[-1])
    outer = int(np.prod(shape[:axis], dtype=np.int64))
    inner = int(np.prod(shape[axis + 1 :], dtype=np.int64))
    target = np.full((outer, size, inner), empty, dtype=cells.dtype)
    source = np.ascontiguousarray(cells).reshape(outer, shape[axis], inner)
    add_groups(source, group, target, 0, int(combine))
    return target.reshape(*shape[:axis], size, *shape[axis + 1 :])


@compiled
def fold_packed(
    count: Integers, key: Integers, outer: Integers, inner: Integers, packed: Integers
) -> None:
    """Add finer cells to those that hold them: counts in the low, keys in the high 32 bits.

    Args:
        count, key: Finer cells as ``(outer, inner)``.
        outer, inner: What the two positions of a finer cell add to the number of its cell.
        packed: The cells.
    """
    for o in range(count.shape[0]):
        for i in range(count.shape[1]):
            if count[o, i] != 0:
                value = np.uint64(count[o, i]) + (np.uint64(key[o, i]) << np.uint64(32))
                packed[outer[o] + inner[i]] += value


@compiled
def fold(
    count: Integers,
    values: Integers,
    outer: Integers,
    inner: Integers,
    target: Integers,
    combine: int,
) -> None:
    """Combine values of finer cells in those that hold them; finer cells without records have none.

    Args:
        count, values: Finer cells as ``(outer, inner)``.
        outer, inner: What the two positions of a finer cell add to the number of its cell.
        target: The cells.
        combine: A member of ``Combine``.
    """
    for o in range(count.shape[0]):
        for i in range(count.shape[1]):
            if count[o, i] == 0:
                continue
            at = outer[o] + inner[i]
            value = values[o, i]
            if combine == 0:
                target[at] += value
            elif combine == 1:
                target[at] ^= value
            elif combine == 2:
                target[at] = min(target[at], value)
            else:
                target[at] = max(target[at], value)


Int64 = npt.NDArray[np.int64]
Bits = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]

#: In ``state``: the cell itself or one that holds it is small; one that is larger is.
_SMALL, _SMALL_ABOVE = 1, 2


@compiled
def _along_axis(state: Bits, kept: Int64, start: Int64, larger: Int64, made: Bits) -> None:
    """One step of ``small_above``: the arrays are ``(outer, positions, inner)``."""
    outer, _, inner = state.shape
    for o in range(outer):
        for place in range(kept.size):
            own = kept[place]
            for i in range(inner):
                made[o, place, i] = state[o, own, i]
            for at in range(start[place], start[place + 1]):
                above = larger[at]
                for i in range(inner):
                    # What is small above, itself or further above, is so above this cell too.
                    made[o, place, i] |= (state[o, above, i] & 1) * 3


def small_above(
    small: Mask, axes: Sequence[tuple[Int64, Int64, Int64]], *, itself: bool = False
) -> Mask:
    """For each cell that is kept, whether a cell that holds it, and more, is small.

    A cell holds another if each of its positions holds that of the other or is the same. Axis by
    axis two things are carried on: whether any cell is small that holds it along the axes so far,
    itself included, and whether one of them is that is larger. So the work grows with the cells
    and the number of their ancestors along one axis, not with the product of these numbers.

    Args:
        small: Which cells are small.
        axes: For each axis the positions that are kept; and for each of these, from
            ``start[at]`` to ``start[at + 1]``, the positions in ``larger`` that hold it and more.
        itself: Whether a cell counts among those that hold it.

    Returns:
        An array over the kept positions.
    """
    state = small.astype(np.uint8)
    # The axis that loses most goes first: what is left to do is then the least.
    for at in sorted(range(small.ndim), key=lambda one: axes[one][0].size / small.shape[one]):
        kept, start, larger = axes[at]
        shape = state.shape
        if not larger.size and np.array_equal(kept, np.arange(shape[at])):
            continue
        outer = int(np.prod(shape[:at], dtype=np.int64))
        inner = int(np.prod(shape[at + 1 :], dtype=np.int64))
        made = np.empty((outer, kept.size, inner), dtype=np.uint8)
        _along_axis(state.reshape(outer, shape[at], inner), kept, start, larger, made)
        state = made.reshape((*shape[:at], kept.size, *shape[at + 1 :]))
    return np.asarray(state & (_SMALL if itself else _SMALL_ABOVE), dtype=bool)


@compiled
def tally_pairs(
    true: Int64, published: Int64, of_true: Int64, of_published: Int64, of_change: Int64
) -> bool:
    """Count true values, published values and the sizes of their differences, one bin for each.

    Values beyond the last bin are not counted. False if a value is below 0.
    """
    for cell in range(true.size):
        before, after = true[cell], published[cell]
        if before < 0 or after < 0:
            return False
        change = abs(after - before)
        if before < of_true.size:
            of_true[before] += 1
        if after < of_published.size:
            of_published[after] += 1
        if change < of_change.size:
            of_change[change] += 1
    return True


def weighted_counts(count: Int64, perturbed: Int64, weight: Int64, *, decimals: int) -> Int64:
    """``perturbed · weight / count``, rounded half to even to a whole number; 0 where empty.

    The mean weight of the records is given to the perturbed count. Whole numbers, because the
    digits behind a decimal point would tell the true count to whoever knows the weights. Every
    step stays within 64 bits for up to 2**31 records with weights of up to nine decimals.

    Args:
        count: True counts.
        perturbed: What would be published without weights.
        weight: Sums of weights, in units of the last decimal.
        decimals: How many decimals the weights have.

    Examples:
        >>> one = np.array([3, 2, 0])
        >>> weighted_counts(one, np.array([4, 2, 0]), np.array([450, 250, 0]), decimals=2)
        array([6, 2, 0])
    """
    unit = np.int64(10**decimals)
    units = np.where(count > 0, count, 1)
    whole, rest = np.divmod(weight, unit)
    # perturbed/count = 1 + deviation/count, so that no product of two large numbers is needed.
    more, remainder = np.divmod(whole * (perturbed - count), units)
    below = units * unit
    extra, left = np.divmod(remainder * unit + rest * perturbed, below)
    result = whole + more + extra
    up = (2 * left > below) | ((2 * left == below) & (result % 2 == 1))
    return np.where(count > 0, result + up, 0).astype(np.int64)
