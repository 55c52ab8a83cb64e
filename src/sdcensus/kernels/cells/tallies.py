"""How often each value stands among cells that go by once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Int64 = npt.NDArray[np.int64]


@compiled
def tally_pairs(
    true: Int64, published: Int64, of_true: Int64, of_published: Int64, of_change: Int64
) -> bool:
    """Count true values, published values and the sizes of their differences, one bin for each.

    Values beyond the last bin are not counted. False if a value is below 0.
    """
    for cell in range(true.size):
        before, after = true[cell], published[cell]
        if before < 0 or after < 0:
            return False
        change = abs(after - before)
        if before < of_true.size:
            of_true[before] += 1
        if after < of_published.size:
            of_published[after] += 1
        if change < of_change.size:
            of_change[change] += 1
    return True
