"""Back-estimation: what counts were before PRAM, from counts after it and the matrix.

With P the matrix and T the counts after it, the estimate is the inverse of the transposed P, times
T. It is unbiased. Given the true counts t, those after PRAM are sums of multinomial draws, and the
variance of the estimate of code c is the sum over k of t[k] (P (A o A))[k,c], less t[c], where A is
the inverse of P and o multiplies entry by entry. With the estimate in the place of t that is an
unbiased estimate of the variance. For tables by several changed variables matrices are multiplied
along each axis, as independent draws allow.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError

Float64 = npt.NDArray[np.float64]

#: Beyond this condition number, rounding of the published counts decides the estimate.
LARGEST_CONDITION = 1e6
#: Estimates are rounded to so many decimals: what is left of sums in 64 bits is no digit of theirs.
DECIMALS = 6


def back_estimate(
    counts: npt.NDArray[Any], matrices: Mapping[int, Float64]
) -> tuple[Float64, Float64]:
    """Estimates of the true counts, and their standard errors.

    Args:
        counts: Counts after PRAM, one axis for each variable.
        matrices: For the axes whose variable was changed the matrix, rows being true codes.

    Raises:
        SpecError: A matrix has no inverse that could be used, or another size than its axis.

    Examples:
        >>> matrix = np.array([[0.9, 0.1], [0.1, 0.9]])
        >>> estimate, error = back_estimate(np.array([108, 92]), {0: matrix})
        >>> estimate.tolist(), error.round(2).tolist()
        ([110.0, 90.0], [5.3, 5.3])
    """
    estimate: Float64 = np.asarray(counts, dtype=np.float64)
    inverses = {axis: inverse_of(matrix) for axis, matrix in matrices.items()}
    for axis, inverse in inverses.items():
        if inverse.shape[0] != estimate.shape[axis]:
            raise SpecError(
                f"The matrix has {inverse.shape[0]} codes, and axis {axis + 1} of the table"
                f" {estimate.shape[axis]}. They have to be the same codes in the same order."
            )
        estimate = _along(estimate, inverse, axis)
    variance = estimate
    for axis, inverse in inverses.items():
        variance = _along(variance, matrices[axis] @ (inverse * inverse), axis)
    error = np.sqrt(np.maximum(variance - estimate, 0.0))
    # Adding 0.0 makes a zero of what is rounded to minus zero.
    return estimate.round(DECIMALS) + 0.0, error.round(DECIMALS)


def inverse_of(matrix: Float64) -> Float64:
    """The inverse of a transition matrix.

    Raises:
        SpecError: It has none, or one that would blow up every rounding.
    """
    condition = float(np.linalg.cond(matrix))
    if not condition <= LARGEST_CONDITION:
        raise SpecError(
            "True counts cannot be estimated with this matrix: it is singular, or nearly so."
            " Different true counts lead to the same published ones, as where every code becomes"
            " another as often as it stays. Estimate for groups of codes within which values were"
            " exchanged, or use published counts as they are."
        )
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def _along(values: Float64, matrix: Float64, axis: int) -> Float64:
    """The transposed matrix times the values along an axis."""
    turned = np.moveaxis(values, axis, -1) @ matrix
    return np.moveaxis(turned, -1, axis)
