"""Units in larger ones: which codes no larger unit holds twice, and how many each code's hold."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.kernels.perturbation.lookup import frozen

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
UInt32 = npt.NDArray[np.uint32]
Mask = npt.NDArray[np.bool_]


@compiled
def _ascend(places: UInt32, nowhere: np.uint32) -> bool:
    earlier = np.uint32(0)
    for place in places:
        if place != nowhere:
            if place < earlier:
                return False
            earlier = place
    return True


@compiled
def _count_held(
    places: UInt32, codes: Integers, nowhere: np.uint32, last: Int64, counts: Int64, twice: Mask
) -> None:
    left = counts.size
    for row in range(places.size):
        place = places[row]
        if place == nowhere:
            continue
        code = codes[row]
        if last[code] == place and not twice[code]:
            twice[code] = True
            left -= 1
            if left == 0:
                return
        last[code] = place
        counts[code] += 1


def held_once(places: UInt32, codes: Integers, size: int) -> tuple[Int64, Mask]:
    """For each code how many units have it, and whether no larger unit holds two of them.

    Counts of codes that are held twice are not complete.

    Args:
        places: For each unit the row of the larger one that holds it, or ``NO_ROW``.
        codes: The code of each unit, below ``size``.
        size: How many codes there are.

    Examples:
        >>> places = np.array([0, 0, 1, NO_ROW, 1], dtype=np.uint32)
        >>> counts, once = held_once(places, np.array([0, 1, 0, 0, 0], dtype=np.uint8), 2)
        >>> once.tolist(), int(counts[1])
        ([False, True], 1)
    """
    if not _ascend(frozen(places), NO_ROW):
        order = np.argsort(places, kind="stable")
        places, codes = places[order], codes[order]
    last = np.full(size, -1, dtype=np.int64)
    counts, twice = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.bool_)
    _count_held(frozen(places), frozen(codes), NO_ROW, last, counts, twice)
    return counts, ~twice


@compiled
def _find_extremes(
    codes: Integers, numbers: Int64, least: Int64, most: Int64, units: Int64
) -> None:
    for row in range(codes.size):
        code, number = codes[row], numbers[row]
        units[code] += 1
        least[code] = min(least[code], number)
        most[code] = max(most[code], number)


def extremes(codes: Integers, numbers: Int64, size: int) -> tuple[Int64, Int64, Int64]:
    """For each code the least and the largest number of its units, and how many have it.

    Examples:
        >>> least, most, units = extremes(np.array([1, 1], dtype=np.uint8), np.array([4, 2]), 2)
        >>> int(least[1]), most.tolist(), units.tolist()
        (2, [-1, 4], [0, 2])
    """
    least = np.full(size, np.iinfo(np.int64).max)
    most, units = np.full(size, -1, dtype=np.int64), np.zeros(size, dtype=np.int64)
    _find_extremes(frozen(codes), frozen(numbers), least, most, units)
    return least, most, units
