"""How noise of several parts and of their total hangs together when keys add up.

For two parts there is an exact form in whole numbers (``kernels.coupling``). With more parts the
numbers of keys exceed 64 bits; here they are probabilities, with errors below 1e-12.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]


def joint_of_line(parts: Sequence[Sequence[int]], total: Sequence[int], modulus: int) -> Float64:
    """The probability that keys of parts and their sum lie in each combination of intervals.

    Args:
        parts: For each part, and each interval of its row, the first key behind it.
        total: The same for the total.
        modulus: How many keys there are.

    Examples:
        >>> joint_of_line([(2, 4)], (2, 4), 4)
        array([[0.5, 0. ],
               [0. , 0.5]])
    """
    number = len(parts)
    ends = [np.array([0, *uppers], dtype=np.int64) for uppers in (*parts, total)]
    limit = np.zeros((1,) * (number + 1), dtype=np.int64)
    for at, end in enumerate(ends):
        along = end.reshape([-1 if axis == at else 1 for axis in range(number + 1)])
        limit = limit + (along if at == number else -along)
    below = np.zeros(limit.shape)
    for turn in range(number):
        below += _choices(limit + turn * modulus, number, modulus)
    for axis in range(number + 1):
        below = np.diff(below, axis=axis)
    # Going up in the key of a part lowers what is left for the others, once for each part.
    joint: Float64 = np.maximum(below if number % 2 == 0 else -below, 0.0)
    return joint


def _choices(limit: Int64, number: int, modulus: int) -> Float64:
    """The share of choices of whole numbers from 0 on whose sum is below each limit."""
    left = np.maximum(limit, 0).astype(np.float64)
    share = np.where(left > 0, 1 / math.factorial(number), 0.0)
    for step in range(number):
        share = share * ((left + step) / modulus)
    return share


def joint_of_line_by_keys(
    parts: Sequence[Int64], total: Int64, sizes: Sequence[int], modulus: int
) -> Float64:
    """The same by going through all keys, for rows with about as many intervals as keys.

    Args:
        parts: For each part the number of the deviation of every key.
        total: The same for the total.
        sizes: How many deviations each part has, and then the total.
        modulus: How many keys there are.
    """
    waves = np.ones((1, modulus // 2 + 1), dtype=np.complex128)
    for part, size in zip(parts, sizes[:-1], strict=True):
        waves = waves[:, None, :] * np.fft.rfft(_indicators(part, size), axis=1)[None, :, :]
        waves = waves.reshape(-1, waves.shape[-1])
    together = np.fft.irfft(waves, n=modulus, axis=1) @ _indicators(total, sizes[-1]).T
    joint: Float64 = np.maximum(together / float(modulus) ** len(parts), 0.0)
    return joint.reshape(tuple(sizes))


def _indicators(numbers: Int64, size: int) -> Float64:
    found: Float64 = (numbers[None, :] == np.arange(size)[:, None]).astype(np.float64)
    return found
