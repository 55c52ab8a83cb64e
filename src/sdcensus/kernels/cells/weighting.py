"""Weighted counts from perturbed ones, in whole numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Int64 = npt.NDArray[np.int64]


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
