"""Whether sums are a network: whether all can be turned so that each cell joins two of them.

A cell that is a part in two sums goes out of one node and into another if one of the sums is turned
round. Which sums have to be turned is found by following cells from sum to sum.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Int64 = npt.NDArray[np.int64]


@compiled
def turned_sums(first: Int64, second: Int64, alike: Int64, size: int) -> tuple[bool, Int64]:
    """For pairs of sums that have to be turned alike (1) or differently (-1), how each is turned.

    Args:
        first, second: The two sums of each pair.
        alike: 1 or -1 for each pair.
        size: How many sums there are.

    Returns:
        Whether that is possible; and 1 or -1 for each sum.
    """
    above = np.arange(size)
    sign = np.ones(size, dtype=np.int64)
    for pair in range(first.size):
        one, one_sign = _root(above, sign, first[pair])
        other, other_sign = _root(above, sign, second[pair])
        if one == other:
            if one_sign * other_sign != alike[pair]:
                return False, sign
        else:
            above[one] = other
            sign[one] = one_sign * other_sign * alike[pair]
    turned = np.empty(size, dtype=np.int64)
    for row in range(size):
        _, turned[row] = _root(above, sign, row)
    return True, turned


@compiled
def _root(above: Int64, sign: Int64, row: int) -> tuple[int, int]:
    """The sum to which others are compared, and how this one is turned compared to it."""
    root, total = row, 1
    while above[root] != root:
        total *= sign[root]
        root = above[root]
    # Whoever was met on the way is compared to it directly from now on.
    left = total
    while above[row] != root and row != root:
        following, own = above[row], sign[row]
        above[row], sign[row] = root, left
        left *= own
        row = following
    return root, total
