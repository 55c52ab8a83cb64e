"""How many others are like a record in its area, at several nested levels in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.cells.sparse import sort_cells

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

#: The count of a unit without records: nobody of it can be found.
NONE_THERE = (1 << 31) - 1


@compiled
def _fewest(
    keys: Integers,
    order: Integers,
    units: Integers,
    places: Integers,
    areas: Integers,
    fewest: Integers,
    most: Integers,
) -> None:
    """For each level the smallest count of the records of each unit, and the largest of all."""
    for level in range(areas.shape[0]):
        start = 0
        while start < keys.size:
            kind = keys[start] // np.uint64(places)
            area = areas[level, keys[start] % np.uint64(places)]
            end = start + 1
            while (
                end < keys.size
                and keys[end] // np.uint64(places) == kind
                and areas[level, keys[end] % np.uint64(places)] == area
            ):
                end += 1
            most[level] = max(most[level], end - start)
            for at in range(start, end):
                unit = units[order[at]]
                if unit >= 0 and end - start < fewest[level, unit]:
                    fewest[level, unit] = end - start
            start = end


def fewest_alike(
    kinds: Int64, places: Int64, units: Integers, areas: Int64, *, count: int
) -> tuple[npt.NDArray[np.int32], Int64]:
    """The rarest record of each unit: how many are of its kind in its area, at every level.

    Records are sorted once by kind and place. Places are numbered so that those of one area follow
    each other at every level; groups of all levels are then runs of the same order.

    Args:
        kinds: The kind of each record, such as its combination of sex and age.
        places: Its finest area, numbered in the order of all levels.
        units: The unit that holds it; below 0 for none.
        areas: For each level the area of each place.
        count: How many units there are.

    Returns:
        By level and unit the smallest count, ``NONE_THERE`` for units without records; and the
        largest count of each level.
    """
    fewest = np.full((areas.shape[0], count), NONE_THERE, dtype=np.int32)
    most = np.zeros(areas.shape[0], dtype=np.int64)
    width = max(areas.shape[1], 1)
    keys = (kinds * width + places).astype(np.uint64)
    keys, order = sort_cells(keys, largest=int(keys.max(initial=0)))
    _fewest(keys, order, units, width, areas, fewest, most)
    return fewest, most
