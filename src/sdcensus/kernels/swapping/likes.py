"""How many others are like a record in its area, at several nested levels in one pass."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.cells.sparse import sort_cells
from sdcensus.kernels.records.ordering import gather

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

#: The count of a unit without records: nobody of it can be found.
NONE_THERE = (1 << 31) - 1


@compiled
def _runs(keys: Integers, width: int, starts: Integers, kinds: Integers, places: Integers) -> int:
    """Where records of one kind in one place begin in sorted keys, and what they are; how many."""
    runs = 0
    for at in range(keys.size):
        if at == 0 or keys[at] != keys[at - 1]:
            starts[runs] = at
            kinds[runs] = keys[at] // np.uint64(width)
            places[runs] = keys[at] % np.uint64(width)
            runs += 1
    starts[runs] = keys.size
    return runs


@compiled
def _fewest(
    starts: Integers,
    kinds: Integers,
    places: Integers,
    order: Integers,
    units: Integers,
    areas: Integers,
    fewest: Integers,
    most: Integers,
) -> None:
    """For each level the smallest count of the records of each unit, and the largest of all."""
    sizes = np.empty((kinds.size, areas.shape[0]), dtype=np.int32)
    for level in range(areas.shape[0]):
        first = 0
        while first < kinds.size:
            last = first + 1
            while (
                last < kinds.size
                and kinds[last] == kinds[first]
                and areas[level, places[last]] == areas[level, places[first]]
            ):
                last += 1
            size = starts[last] - starts[first]
            most[level] = max(most[level], size)
            for run in range(first, last):
                sizes[run, level] = size
            first = last
    for run in range(kinds.size):
        for at in range(starts[run], starts[run + 1]):
            unit = units[order[at]]
            if unit >= 0:
                for level in range(areas.shape[0]):
                    fewest[level, unit] = min(fewest[level, unit], sizes[run, level])


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
    keys, order = _sorted_keys(kinds, places, width)
    starts = np.empty(keys.size + 1, dtype=np.int64)
    run_kinds, run_places = np.empty((2, keys.size), dtype=np.int64)
    runs = _runs(keys, width, starts, run_kinds, run_places)
    own = (starts[: runs + 1], run_kinds[:runs], run_places[:runs])
    _fewest(*own, order, units, areas, fewest, most)
    return fewest, most


def _sorted_keys(
    kinds: Int64, places: Int64, width: int
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint32]]:
    """Kind and place of records as one number, ascending, and where each stood."""
    keys = np.empty(kinds.size, dtype=np.uint64)
    np.multiply(kinds, width, out=keys, casting="unsafe")
    np.add(keys, places, out=keys, casting="unsafe")
    if places.size and not (places[1:] < places[:-1]).any():
        # As a store lies on disk: by kind alone, and places stay in order in each.
        kind, order = sort_cells(kinds.astype(np.uint64), largest=int(kinds.max(initial=0)))
        gather(keys, order, kind)
        return kind, order
    return sort_cells(keys, largest=int(keys.max(initial=0)))
