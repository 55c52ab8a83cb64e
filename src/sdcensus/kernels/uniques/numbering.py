"""Numbers without gaps for the combinations of keys that occur, exactly: never by a hash.

A bit for every number that could occur is set where it does; the bits before a number, counted word
by word, are its new number. Where there are too many bits, numbers are sorted.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.cells.sparse import sort_cells
from sdcensus.kernels.perturbation.lookup import frozen

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

#: So many numbers may be possible for each record before they are sorted: 24 bytes a record.
_BITS_PER_RECORD = 128
#: And so many whatever the number of records.
_ALWAYS_BITS = 1 << 22
#: So many may be possible for each record where a counter of four bytes is kept for each.
_COUNTERS_PER_RECORD = 8


@compiled
def _ones(word: Any) -> Any:
    """How many bits of a word are set."""
    rest = np.uint64(word)
    rest -= (rest >> np.uint64(1)) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    rest = (rest & pairs) + ((rest >> np.uint64(2)) & pairs)
    rest = (rest + (rest >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return (rest * np.uint64(0x0101010101010101)) >> np.uint64(56)


@compiled
def _mark(numbers: Integers, bits: Integers) -> None:
    for i in range(numbers.size):
        number = np.int64(numbers[i])
        bits[number >> 6] |= np.uint64(1) << np.uint64(number & 63)


@compiled
def _rank(bits: Integers, ranks: Integers) -> Any:
    """How many bits are set before each word, and in all."""
    count = np.int64(0)
    for word in range(bits.size):
        ranks[word] = count
        if bits[word]:
            count += np.int64(_ones(bits[word]))
    return count


@compiled
def _number(numbers: Integers, bits: Integers, ranks: Integers, out: Integers) -> None:
    for i in range(numbers.size):
        number = np.int64(numbers[i])
        word = number >> 6
        below = bits[word] & ((np.uint64(1) << np.uint64(number & 63)) - np.uint64(1))
        out[i] = np.int64(ranks[word]) + np.int64(_ones(below))


@compiled
def _known(bits: Integers, out: Integers) -> None:
    """The numbers whose bits are set, ascending."""
    place = 0
    for word in range(bits.size):
        rest = bits[word]
        while rest:
            without_lowest = rest & (rest - np.uint64(1))
            out[place] = word * 64 + np.int64(_ones((rest ^ without_lowest) - np.uint64(1)))
            rest = without_lowest
            place += 1


@compiled
def _append(numbers: Integers, column: Integers, size: int) -> None:
    """One more key: the number of the combination with it."""
    for i in range(numbers.size):
        numbers[i] = np.int64(numbers[i]) * size + np.int64(column[i])


@compiled
def _tally(numbers: Integers, counts: Integers) -> None:
    for i in range(numbers.size):
        counts[numbers[i]] += 1


@compiled
def _tally_marked(numbers: Integers, marks: Integers, counts: Integers) -> None:
    for i in range(numbers.size):
        counts[numbers[i]] += marks[i]


@compiled
def _look_up(numbers: Integers, counts: Integers, out: Integers) -> None:
    for i in range(numbers.size):
        out[i] = counts[numbers[i]]


def compressed(numbers: Integers, largest: int) -> tuple[Int64, Int64]:
    """Numbers from 0 without gaps in the same order, and the old number of each.

    Args:
        numbers: From 0 to ``largest``.
        largest: The largest that there may be.

    Examples:
        >>> compressed(np.array([7, 2, 7, 9]), 9)
        (array([1, 0, 1, 2]), array([2, 7, 9]))
    """
    if largest < _bits_for(numbers.size):
        number, bits, count = _by_bits(numbers, largest)
        known = np.empty(count, dtype=np.int64)
        _known(bits, known)
        return number, known
    number, ordered, fresh = _by_sorting(numbers, largest)
    return number, ordered[fresh].astype(np.int64)


def _dense(numbers: Integers, largest: int) -> tuple[Int64, int]:
    """Numbers without gaps, and how many there are."""
    if largest < _bits_for(numbers.size):
        number, _, count = _by_bits(numbers, largest)
        return number, count
    number, _, fresh = _by_sorting(numbers, largest)
    return number, int(np.count_nonzero(fresh))


def _bits_for(size: int) -> int:
    """How many numbers may be possible where a bit is kept for each."""
    return max(_BITS_PER_RECORD * size, _ALWAYS_BITS)


def _by_bits(numbers: Integers, largest: int) -> tuple[Int64, npt.NDArray[np.uint64], int]:
    numbers = frozen(numbers)
    number = np.empty(numbers.size, dtype=np.int64)
    bits = np.zeros((largest >> 6) + 1, dtype=np.uint64)
    ranks = np.empty(bits.size, dtype=np.uint32)
    _mark(numbers, bits)
    count = int(_rank(bits, ranks))
    _number(numbers, bits, ranks, number)
    return number, bits, count


def _by_sorting(
    numbers: Integers, largest: int
) -> tuple[Int64, npt.NDArray[np.uint64], npt.NDArray[np.bool_]]:
    number = np.empty(numbers.size, dtype=np.int64)
    ordered, order = sort_cells(numbers.astype(np.uint64), largest=largest)
    fresh = np.ones(ordered.size, dtype=bool)
    fresh[1:] = ordered[1:] != ordered[:-1]
    number[order] = np.cumsum(fresh) - 1
    return number, ordered, fresh


def combined(columns: Sequence[Integers], size: int) -> tuple[Int64, int]:
    """A number for each combination of whole numbers that occurs, and how many there are.

    Combinations are numbered in their order, the first column first.

    Args:
        columns: Whole numbers from 0 on, one for each record.
        size: How many records there are.
    """
    whole, count = _products(columns, size)
    return _dense(whole, count - 1)


def _products(columns: Sequence[Integers], size: int) -> tuple[Int64, int]:
    """Numbers of combinations, with gaps, and how many numbers are possible.

    Numbered anew where there would be more than a bit can be kept for.
    """
    whole, count = np.zeros(size, dtype=np.int64), 1
    limit = max(_BITS_PER_RECORD * size, 1 << 16)
    for place, column in enumerate(columns):
        values = int(column.max(initial=0)) + 1
        if place and count * values > limit:
            whole, count = _dense(whole, count - 1)
            count = max(count, 1)
        if count * values > limit:
            column, values = _dense(column, values - 1)
            values = max(values, 1)
        _append(whole, frozen(column), values)
        count *= values
    return whole, count


def group_sizes(columns: Sequence[Integers], size: int) -> npt.NDArray[np.int32]:
    """How many records share the combination of each.

    Examples:
        >>> group_sizes([np.array([0, 1, 0]), np.array([2, 2, 2])], 3)
        array([2, 1, 2], dtype=int32)
    """
    whole, count = _products(columns, size)
    if count > max(_COUNTERS_PER_RECORD * size, 1 << 16):
        whole, count = _dense(whole, count - 1)
    counts = np.zeros(count, dtype=np.int32)
    _tally(whole, counts)
    out = np.empty(size, dtype=np.int32)
    _look_up(whole, counts, out)
    return out


@dataclass(frozen=True, slots=True, eq=False)
class Refinement:
    """Combinations of keys with one key more.

    Attributes:
        numbers: The combination of each record.
        parents: For each combination the one without the last key.
        codes: For each its value of the last key.
    """

    numbers: Int64
    parents: Int64
    codes: Int64

    @property
    def count(self) -> int:
        """How many combinations there are."""
        return int(self.codes.size)


def refined(numbers: Int64, count: int, column: Integers, size: int) -> Refinement:
    """Combinations with one more key, in their order.

    Args:
        numbers: The combination of each record so far, from 0 without gaps.
        count: How many there are.
        column: The next key of each record.
        size: How many values it has: all are below.

    Examples:
        >>> step = refined(np.array([0, 1, 0]), 2, np.array([2, 2, 0]), 3)
        >>> step.numbers, step.parents, step.codes
        (array([1, 2, 0]), array([0, 0, 1]), array([0, 2, 2]))
    """
    pairs = np.array(numbers, dtype=np.int64)
    _append(pairs, frozen(column), size)
    fresh, known = compressed(pairs, max(count, 1) * size - 1)
    return Refinement(fresh, known // size, known % size)


def counted(
    numbers: Int64, count: int, marked: npt.NDArray[np.bool_] | None = None
) -> npt.NDArray[np.int64]:
    """How many records each combination has; of those that are marked, if any are named."""
    counts = np.zeros(count, dtype=np.int64)
    if marked is None:
        _tally(frozen(numbers), counts)
    else:
        _tally_marked(frozen(numbers), frozen(marked.view(np.uint8)), counts)
    return counts
