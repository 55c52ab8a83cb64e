"""Expectation ratios: how many of a published code are expected to be it, against the others.

For a code k: p[k,k] T[k] over the sum of p[l,k] T[l] for all other l (Gouweleeuw and others 1998).
A rare code is safe where at most as many are right as wrong: a ratio of at most 1. For an invariant
matrix it is p[k,k] / (1 - p[k,k]), however rare the code is: such a matrix seldom passes. It is
told to the office and decides nothing.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

#: What a ratio is held against unless the office says otherwise.
LIMIT = 1.0


def expectation_ratios(probabilities: Float64, totals: Int64) -> Float64:
    """The ratio of each code; infinite where nobody comes, not a number where nobody is.

    Examples:
        >>> matrix = np.array([[0.9, 0.1], [0.1, 0.9]])
        >>> expectation_ratios(matrix, np.array([90, 10])).tolist()
        [81.0, 1.0]
    """
    stayed = np.diagonal(probabilities) * totals
    others = probabilities.copy()
    np.fill_diagonal(others, 0.0)
    come = totals @ others
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(stayed / come)
