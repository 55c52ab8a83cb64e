"""Codes that change by a transition matrix: 32 random bits against whole-number thresholds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Integers = npt.NDArray[Any]

#: Rows of a transition matrix are whole numbers that sum to this.
WHOLE = 1 << 32
_32 = np.uint64(32)


def thresholds(matrix: Int64) -> tuple[Int64, Int64]:
    """For each code below which number it stays, and at which numbers the others begin to end.

    A code stays where the number lies below its own probability, whatever the order of the list:
    a matrix that changes a little changes few records.

    Args:
        matrix: Rows of whole numbers that sum to ``WHOLE``.

    Examples:
        >>> half = WHOLE // 2
        >>> stay, ends = thresholds(np.array([[half, half], [0, WHOLE]]))
        >>> stay.tolist() == [half, WHOLE], ends.tolist() == [[half, WHOLE], [WHOLE, WHOLE]]
        (True, True)
    """
    stay = np.ascontiguousarray(np.diagonal(matrix))
    others = matrix.copy()
    np.fill_diagonal(others, 0)
    return stay, stay[:, None] + np.cumsum(others, axis=1)


@compiled
def move_codes(
    words: UInt64, codes: Integers, stay: Int64, ends: Int64, rows: Int64, after: Integers
) -> int:
    """Find the records whose random word leads to another code, and which one it is.

    Writes their rows and their new codes to the beginning of ``rows`` and ``after``, and says how
    many they are.
    """
    changed = 0
    for row in range(codes.size):
        code = codes[row]
        drawn = np.int64(words[row] >> _32)
        if drawn < stay[code]:
            continue
        low, high = 0, ends.shape[1] - 1
        while low < high:
            middle = (low + high) // 2
            if drawn < ends[code, middle]:
                high = middle
            else:
                low = middle + 1
        rows[changed] = row
        after[changed] = low
        changed += 1
    return changed


@compiled
def count_codes(codes: Integers, counts: Int64) -> None:
    """Count the records of each code; ``counts`` has four lines, which together are the counts.

    Records with equal codes behind each other would wait for one counter.
    """
    whole = codes.size // 4 * 4
    for row in range(0, whole, 4):
        counts[0, codes[row]] += 1
        counts[1, codes[row + 1]] += 1
        counts[2, codes[row + 2]] += 1
        counts[3, codes[row + 3]] += 1
    for row in range(whole, codes.size):
        counts[0, codes[row]] += 1
