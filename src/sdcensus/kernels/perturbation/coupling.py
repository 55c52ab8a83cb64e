"""How noise of parts and of their total hangs together when the key of the total is a sum.

Rows of a perturbation table cut the keys into intervals. Keys of two parts are independent and
uniform; the key of their total is their sum, modulo the number of keys. How often the three fall
into three given intervals is then a number of pairs of keys below a line, which has a closed form.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.keys.siphash import siphash_words

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
#: An interval of keys: the first key, and the first one behind it.
Interval = tuple[int, int]

_HALF, _BYTE = np.uint64(32), np.uint64(0xFF)
_8, _16, _MASK = np.uint64(8), np.uint64(16), np.uint64(0xFFFFFFFF)
_ZERO = np.uint64(0)


def keys_together(parts: Sequence[Interval], total: Interval, modulus: int) -> int:
    """How many keys of parts lie in their intervals, with a sum that lies in that of the total.

    Of ``modulus ** len(parts)`` choices of one key for each part; exact, for any number of parts.

    Examples:
        >>> keys_together([(0, 2), (0, 2)], (1, 2), 4)
        2
    """
    number = len(parts)

    def below(limit: int) -> int:
        """Choices inside the intervals whose sum, before it is reduced, is below a limit."""
        found = 0
        for corner in itertools.product((0, 1), repeat=number):
            rest = limit - sum(part[side] for part, side in zip(parts, corner, strict=True))
            if rest > 0:
                found += (-1) ** sum(corner) * math.comb(rest + number - 1, number)
        return found

    first, behind = total
    return sum(
        below(behind + turn * modulus) - below(first + turn * modulus) for turn in range(number)
    )


def joint_of_intervals(
    first: Sequence[int], second: Sequence[int], total: Sequence[int], modulus: int
) -> Float64:
    """The probability that two keys and their sum lie in each triple of intervals.

    Args:
        first, second, total: For each interval of a row the first key behind it.
        modulus: How many keys there are.
    """
    ends = [np.array([0, *uppers], dtype=np.int64) for uppers in (first, second, total)]
    left, right = ends[0][:, None, None], ends[1][None, :, None]
    pairs = np.zeros((ends[0].size, ends[1].size, ends[2].size), dtype=np.uint64)
    for turn in (0, modulus):  # the sum is reduced at most once
        limit = ends[2][None, None, :] + turn
        pairs += _pairs(limit) + _pairs(limit - left - right)
        pairs -= _pairs(limit - left) + _pairs(limit - right)
    for axis in range(3):
        pairs = np.diff(pairs, axis=axis)
    if pairs.size == 1:  # every pair of keys, whose number may be 2**64
        return np.ones((1, 1, 1))
    return pairs / float(modulus) ** 2


def _pairs(limit: Int64) -> UInt64:
    """How many pairs of whole numbers from 0 on have a sum below each limit, modulo 2**64.

    Numbers of pairs may wrap around on the way: what comes out at the end is below 2**64.
    """
    above = np.maximum(limit, 0)
    odd = above & 1
    halved: UInt64 = ((above + odd) >> 1).astype(np.uint64)
    other: UInt64 = (above + 1 - odd).astype(np.uint64)
    return np.multiply(halved, other)


def joint_of_keys(first: Int64, second: Int64, total: Int64, deviations: int) -> Float64:
    """The probability that two keys and their sum have each triple of deviations.

    Every pair of keys is looked at, for tables whose rows have about as many intervals as keys.

    Args:
        first, second, total: For each key the number of its deviation.
        deviations: How many numbers there are.
    """
    found = np.zeros((deviations, deviations, deviations), dtype=np.int64)
    _count_pairs(first, second, total, found)
    return found / first.size**2


def joint_of_folded_keys(
    first: Int64, second: Int64, total: Int64, deviations: int, *, samples: int = 1 << 21
) -> Float64:
    """The same for 32-bit keys whose four bytes are folded into one by exclusive or.

    A folded sum is not the sum of what is folded. A fixed sample stands for the pairs of keys;
    errors are about ``samples ** -0.5 / 2``.
    """
    found = np.zeros((deviations, deviations, deviations), dtype=np.int64)
    _count_folded(first, second, total, samples, found)
    return found / samples


@compiled
def _count_pairs(first: Int64, second: Int64, total: Int64, found: Int64) -> None:
    size = first.size
    for left in range(size):
        for right in range(size):
            both = left + right
            if both >= size:
                both -= size
            found[first[left], second[right], total[both]] += 1


@compiled
def _folded(key: np.uint64) -> np.uint64:
    half = key ^ (key >> _16)
    return (half ^ (half >> _8)) & _BYTE


@compiled
def _count_folded(first: Int64, second: Int64, total: Int64, samples: int, found: Int64) -> None:
    for sample in range(samples):
        pair = siphash_words(_ZERO, _ZERO, (np.uint64(sample),))  # type: ignore[arg-type]
        left, right = pair >> _HALF, pair & _MASK
        both = (left + right) & _MASK
        found[first[_folded(left)], second[_folded(right)], total[_folded(both)]] += 1
