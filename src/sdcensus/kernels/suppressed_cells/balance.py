"""Whether a change of some cells leaves every sum as it is, in whole numbers."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]


@compiled
def balanced(starts: Int32, sums: Int32, factors: Int64, cells: Int64, amounts: Int64) -> bool:
    """Whether all sums stay 0.

    Args:
        starts: Where the sums of each cell begin in ``sums``, and behind it where all end.
        sums: The sums that each cell is in.
        factors: How often it counts in them.
        cells: The cells that change.
        amounts: By how much.
    """
    entries = 0
    for cell in cells:
        entries += starts[cell + 1] - starts[cell]
    touched = np.empty(entries, dtype=np.int64)
    added = np.empty(entries, dtype=np.int64)
    at = 0
    for place in range(cells.size):
        cell = cells[place]
        for entry in range(starts[cell], starts[cell + 1]):
            touched[at] = sums[entry]
            added[at] = factors[entry] * amounts[place]
            at += 1
    order = np.argsort(touched)
    total = 0
    for place in range(entries):
        total += added[order[place]]
        last = place + 1 == entries or touched[order[place + 1]] != touched[order[place]]
        if last:
            if total != 0:
                return False
            total = 0
    return True
