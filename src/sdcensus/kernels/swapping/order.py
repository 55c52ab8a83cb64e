"""Random orders in which some come earlier than others: waiting times, as whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

UInt64 = npt.NDArray[np.uint64]
Integers = npt.NDArray[Any]

#: A waiting time of 1 as a whole number.
UNIT = 1 << 32
_LN2 = 0.6931471805599453
_ROOT2 = 1.4142135623730951


@compiled
def _wait(word: Any) -> Any:
    """``-log(u)`` of a uniform ``u`` from 52 bits of a word, in units of ``2**-32``."""
    odd = (word >> np.uint64(12)) * np.uint64(2) + np.uint64(1)
    halvings = 53
    fraction = np.float64(odd)
    while fraction >= 2.0:
        fraction *= 0.5
        halvings -= 1
    if fraction > _ROOT2:
        fraction *= 0.5
        halvings -= 1
    tangent = (fraction - 1.0) / (fraction + 1.0)
    square = tangent * tangent
    total = 0.0
    for power in range(25, 0, -2):
        total = total * square + 1.0 / power
    return np.uint64((halvings * _LN2 - 2.0 * tangent * total) * 4294967296.0)


@compiled
def _waits(words: Integers, out: Integers) -> None:
    for at in range(words.size):
        out[at] = _wait(words[at])


def waiting_times(words: UInt64) -> UInt64:
    """Exponential waiting times with mean ``UNIT``, one for each random word.

    Only additions, multiplications and divisions of double precision are used, each of which has
    one right result, and the series is summed in a fixed order. The logarithm of a library would
    differ in its last bit from platform to platform, and two units would change their places.

    Examples:
        >>> waiting_times(np.array([0, 1 << 63], dtype=np.uint64)) / UNIT
        array([36.73680057,  0.69314718])
    """
    result = np.empty(words.size, dtype=np.uint64)
    _waits(np.ascontiguousarray(words), result)
    return result
