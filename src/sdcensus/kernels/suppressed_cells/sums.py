"""The sums that some cells are in, as a full matrix."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]
Int32 = npt.NDArray[np.int32]


@compiled
def sums_of(starts: Int32, sums: Int32, factors: Int64, cells: Int64) -> Float64:
    """One row for each sum that holds any of the cells, one column for each cell.

    Args:
        starts: Where the sums of each cell begin in ``sums``, and behind it where all end.
        sums: The sums that each cell is in.
        factors: How often it counts in them.
        cells: The cells.
    """
    entries = 0
    for cell in cells:
        entries += starts[cell + 1] - starts[cell]
    touched = np.empty(entries, dtype=np.int64)
    at = 0
    for cell in cells:
        for entry in range(starts[cell], starts[cell + 1]):
            touched[at] = sums[entry]
            at += 1
    rows = np.unique(touched)
    matrix = np.zeros((rows.size, cells.size))
    for column in range(cells.size):
        cell = cells[column]
        for entry in range(starts[cell], starts[cell + 1]):
            matrix[np.searchsorted(rows, sums[entry]), column] = factors[entry]
    return matrix
