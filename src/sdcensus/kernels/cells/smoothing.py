"""Values on a plane, smoothed by a kernel of stated width."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]


def smoothed(values: Floats, known: Mask, reach: float) -> Floats:
    """The mean of the known values around each place, the nearest weighing most.

    The weight at distance d is (1 - (d / reach)²)² (the biweight kernel), 0 from the reach on.
    Places without a value count for nothing. NaN where nothing is known within reach. The order
    of additions is fixed, so that the same values give the same bits.

    Args:
        values: One value for each place, by row and column.
        known: Where there is a value.
        reach: How far the kernel reaches, in places; above 0.
    """
    rows, columns = values.shape
    held = np.where(known, values, 0.0)
    sums, weights = np.zeros_like(held), np.zeros_like(held)
    most = int(np.ceil(reach)) - 1
    for down in range(-min(most, rows - 1), min(most, rows - 1) + 1):
        for across in range(-min(most, columns - 1), min(most, columns - 1) + 1):
            near = 1 - (down * down + across * across) / (reach * reach)
            if near <= 0:
                continue
            here = _overlap(down, rows), _overlap(across, columns)
            there = _overlap(-down, rows), _overlap(-across, columns)
            sums[here] += near * near * held[there]
            weights[here] += near * near * known[there]
    with np.errstate(invalid="ignore"):
        return np.where(weights > 0, sums / weights, np.nan)


def _overlap(step: int, size: int) -> slice:
    return slice(max(0, step), size + min(0, step))
