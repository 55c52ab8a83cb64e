"""Gaussian elimination of whole numbers, exactly in a field of residues."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Integers = npt.NDArray[Any]

#: A prime whose residues multiply within 63 bits.
PRIME = 2147483647


@compiled
def _inverse(value: int, prime: int) -> int:
    """The inverse of a residue, by a power (the prime is fixed, so its exponent is)."""
    result, base, power = 1, value, prime - 2
    while power:
        if power & 1:
            result = result * base % prime
        base = base * base % prime
        power >>= 1
    return result


@compiled
def _reduce(rows: Integers, columns: int, pivots: Integers, prime: int) -> int:
    """Bring the first ``columns`` columns into reduced row echelon form, in place."""
    rank = 0
    height, width = rows.shape
    for column in range(columns):
        found = -1
        for row in range(rank, height):
            if rows[row, column] != 0:
                found = row
                break
        if found < 0:
            continue
        for at in range(width):
            kept = rows[rank, at]
            rows[rank, at] = rows[found, at]
            rows[found, at] = kept
        scale = _inverse(rows[rank, column], prime)
        for at in range(width):
            rows[rank, at] = rows[rank, at] * scale % prime
        for row in range(height):
            factor = rows[row, column]
            if row == rank or factor == 0:
                continue
            for at in range(width):
                if rows[rank, at] != 0:
                    rows[row, at] = (rows[row, at] - factor * rows[rank, at]) % prime
        pivots[rank] = column
        rank += 1
        if rank == height:
            break
    return rank


def reduced(
    matrix: npt.NDArray[np.int64],
) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """The reduced row echelon form of a matrix of small whole numbers, and how it comes about.

    Residues are shown as whole numbers of either sign, the nearest to 0. Whoever relies on a row
    checks that the combination times the matrix is the row in whole numbers: a row that needs
    fractions, or a pivot that is 0 in the field only, fails that check.

    Returns:
        The rows, for each row its combination of the rows of the matrix, and the column of its
        pivot.
    """
    height, width = matrix.shape
    work = np.concatenate([matrix % PRIME, np.eye(height, dtype=np.int64)], axis=1)
    pivots = np.zeros(min(height, width), dtype=np.int64)
    rank = _reduce(work, width, pivots, PRIME)
    signed = np.where(work > PRIME // 2, work - PRIME, work)
    return signed[:rank, :width], signed[:rank, width:], pivots[:rank]
