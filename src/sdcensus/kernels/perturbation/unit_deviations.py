"""Deviations of single units, summed: the exact distribution for any count, in whole numbers.

Each unit of a count ``n`` is left out (-1), counted twice more (+2) or counted as it is. With
probability ``x / n`` it changes at all (always when ``n <= x``), and a changed unit goes down two
times in three. So the number of changed units is binomial, and so is the number of those that go
up among ``k`` changed ones, which makes the sum ``3 * ups - k``.

All arithmetic is in whole numbers (fixed point of 128 bits), so that every machine publishes the
same numbers. Numbers of changed units whose probability is below ``2**-48`` together are left out.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.perturbation.quantise import quantise

Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]
UInt64 = npt.NDArray[np.uint64]

#: How many units may change on average; the literature has 2, 4 and 6.
MOST_UNITS = 20

_KEYS = 1 << 32
_BITS = 128
_ONE = 1 << _BITS
#: Bytes for one probability in a product of two fixed-point numbers, with room for carries.
_SLOT_BYTES = 2 * _BITS // 8 + 8
_NEGLIGIBLE = 48
#: Up to here binomial probabilities are computed as fractions: powers lose too many bits.
_SMALL = 512
#: Counts below this are found by their place, larger ones (there are few) by searching.
_BY_PLACE = 1 << 20


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UnitRow:
    """How many of 2**32 keys each deviation of a count has, from the lowest deviation on."""

    lowest: int
    widths: UInt32


def unit_probabilities(units: int, count: int) -> dict[int, Fraction]:
    """The probability of each deviation of a count, ascending; correct to ``2**-48`` together.

    Exact where every unit changes.

    Examples:
        >>> unit_probabilities(2, 2)
        {-2: Fraction(4, 9), 1: Fraction(4, 9), 4: Fraction(1, 9)}
    """
    if count <= units:
        return {
            3 * ups - count: Fraction(math.comb(count, ups) * 2 ** (count - ups), 3**count)
            for ups in range(count + 1)
        }
    most = most_changed(units)
    packed = _mixed(units, count)
    found = {}
    for slot in range(3 * most + 1):
        parts = (packed >> (8 * _SLOT_BYTES * slot)) & ((1 << 8 * _SLOT_BYTES) - 1)
        if parts:
            found[slot - most] = Fraction(parts, 1 << (2 * _BITS))
    return found


@lru_cache(maxsize=1 << 15)
def unit_row(units: int, count: int) -> UnitRow:
    """The distribution of a count in whole numbers of 2**32 keys, with mean 0 where possible.

    The same numbers as ``quantise`` gives. Rows of counts up to ``units`` have deviations three
    apart, and 2**32 is not a multiple of three: their mean can be off by less than ``3 / 2**32``.
    """
    if count <= units:
        exact = unit_probabilities(units, count)
        deviations = list(exact)
        widths = np.zeros(deviations[-1] - deviations[0] + 1, dtype=np.uint64)
        widths[np.array(deviations) - deviations[0]] = quantise(
            list(exact.values()), deviations, _KEYS
        )
        return _trimmed(deviations[0], widths)
    most = most_changed(units)
    raw = _mixed(units, count).to_bytes(_SLOT_BYTES * (3 * most + 1), "little")
    words = np.frombuffer(raw, dtype="<u8").reshape(-1, _SLOT_BYTES // 8)
    # A probability is a number of 2**256 parts: the last word holds whole ones, of which there is
    # none here, the one before the 64 bits behind the point.
    whole = words[:, -2] >> np.uint64(32)
    rest = (words[:, -2] << np.uint64(32)) | (words[:, -3] >> np.uint64(32))
    order = np.argsort(~rest, kind="stable")
    whole[order[: _KEYS - int(whole.sum())]] += np.uint64(1)
    return _trimmed(-most, _balanced(whole, -most))


@lru_cache(maxsize=MOST_UNITS)
def most_changed(units: int) -> int:
    """The smallest number of changed units that no count reaches but with probability 2**-48.

    The probability of ``k`` or more is at most ``comb(n, k) (x / n)**k <= x**k / k!``.
    """
    changed = 1
    while units**changed << _NEGLIGIBLE >= math.factorial(changed):
        changed += 1
    return changed - 1


def _balanced(widths: UInt64, lowest: int) -> UInt64:
    """Move keys between the two neighbouring deviations with most keys until the mean is 0."""
    deviations = np.arange(lowest, lowest + widths.size)
    total = int(deviations @ widths.astype(np.int64))
    pair = int(np.argmax(widths[:-1] + widths[1:]))
    move = np.uint64(abs(total))
    lower, higher = (pair, pair + 1) if total > 0 else (pair + 1, pair)
    widths[lower] += move
    widths[higher] -= move
    return widths


def _trimmed(lowest: int, widths: UInt64) -> UnitRow:
    there = np.flatnonzero(widths)
    kept = widths[there[0] : there[-1] + 1].astype(np.uint32)
    kept.flags.writeable = False
    return UnitRow(lowest + int(there[0]), kept)


def _mixed(units: int, count: int) -> int:
    """All probabilities of a count in one long number, a slot for each deviation."""
    return sum(
        chance * given for chance, given in zip(_changed(units, count), _ups(units), strict=False)
    )


def _changed(units: int, count: int) -> list[int]:
    """The probability that so many units of a count change, in fixed point."""
    most = min(count, most_changed(units))
    if count <= _SMALL:
        whole = count**count
        return [
            (math.comb(count, k) * units**k * (count - units) ** (count - k) << _BITS) // whole
            for k in range(most + 1)
        ]
    chance = _power(((count - units) << _BITS) // count, count)
    found = []
    for k in range(most + 1):
        found.append(chance)
        chance = chance * (count - k) * units // ((k + 1) * (count - units))
    return found


def _power(base: int, exponent: int) -> int:
    """A power of a fixed-point number."""
    result = _ONE
    while exponent:
        if exponent & 1:
            result = result * base >> _BITS
        base = base * base >> _BITS
        exponent >>= 1
    return result


@lru_cache(maxsize=MOST_UNITS)
def _ups(units: int) -> tuple[int, ...]:
    """For each number of changed units, the probabilities of the deviations, in slots."""
    most = most_changed(units)
    rows = []
    for changed in range(most + 1):
        packed = 0
        for ups in range(changed + 1):
            chance = (math.comb(changed, ups) * 2 ** (changed - ups) << _BITS) // 3**changed
            packed |= chance << (8 * _SLOT_BYTES * (3 * ups - changed + most))
        rows.append(packed)
    return tuple(rows)


def distinct_counts(count: Int64) -> tuple[Int64, Int64]:
    """The counts that occur, 0 first, and for each cell the place of its count among them.

    Examples:
        >>> distinct_counts(np.array([7, 3, 7]))
        (array([0, 3, 7]), array([2, 1, 2]))
    """
    cells = np.ascontiguousarray(count).reshape(-1).view()
    cells.flags.writeable = False
    limit = min(int(cells.max(initial=0)) + 1, _BY_PLACE)
    occurs = np.zeros(limit + 1, dtype=np.uint8)
    occurs[0] = 1
    _mark(cells, occurs)
    small = np.flatnonzero(occurs[:limit])
    place = np.zeros(limit + 1, dtype=np.int64)
    place[small] = np.arange(small.size)
    places = np.empty(count.shape, dtype=np.int64)
    flat = places.reshape(-1)
    _put_places(cells, place, flat)
    if not occurs[limit]:
        return small, places
    is_large = cells >= limit
    large = np.unique(cells[is_large])
    flat[is_large] = small.size + np.searchsorted(large, cells[is_large])
    return np.concatenate([small, large]), places


@compiled
def _mark(count: Int64, occurs: npt.NDArray[np.uint8]) -> None:
    last = occurs.size - 1
    for cell in range(count.size):
        occurs[min(count[cell], last)] = 1


@compiled
def _put_places(count: Int64, place: Int64, out: Int64) -> None:
    last = place.size - 1
    for cell in range(count.size):
        out[cell] = place[min(count[cell], last)]
