"""What no solution can be better than, proven by counting.

A control cell is a sum of combinations that have none or enough, so it has none or enough itself.
If no deviation were above a limit, every control cell of a finer table would lie between two such
numbers, and the control cell that they add up to between the sums of these. Where that contradicts
what it was, the limit cannot be kept.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.microdata.safe.combinations import Combinations
from sdcensus.microdata.safe.controls import LayerKey, level_of
from sdcensus.microdata.safe.layers import Layers
from sdcensus.microdata.safe.variables import ListedVariables

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]


def unavoidable(found: Combinations, layers: Layers, least: int, reached: int | None = None) -> int:
    """A deviation that no solution is below, in the measure of ``Layers.levels``.

    Args:
        found: The combinations.
        layers: The control cells.
        least: How many are enough.
        reached: A deviation that some solution has; without it one that is surely large enough.
    """
    if not found.counts.size or not found.small(least).any():
        return 0
    totals = layers.totals(found.counts)
    pairs = list(_sums(found, layers))
    impossible = 0  # something has to change
    possible = layers.multiple * max(int(totals.max(initial=0)), least)
    if reached is not None:
        possible = min(possible, reached)
    while possible - impossible > 1:
        middle = (impossible + possible) // 2
        if _may_hold(layers, totals, pairs, least, middle):
            possible = middle
        else:
            impossible = middle
    return possible if layers.keys else 0


def _may_hold(
    layers: Layers, totals: Int64, pairs: list[tuple[int, int, Int64]], least: int, level: int
) -> bool:
    """Whether nothing contradicts a solution without deviations above a level."""
    room = level // np.repeat(layers.scales, layers.sizes)
    low, high = totals - room, totals + room
    low = np.where(low <= 0, 0, np.maximum(low, least))
    high = np.where(high >= least, high, 0)
    if (low > high).any():
        return False
    for fine, coarse, sums in pairs:
        own = slice(layers.starts[fine], layers.starts[fine + 1])
        whole = slice(layers.starts[coarse], layers.starts[coarse + 1])
        size = int(layers.sizes[coarse])
        lowest = np.bincount(sums, weights=low[own], minlength=size)
        highest = np.bincount(sums, weights=high[own], minlength=size)
        if (lowest > high[whole]).any() or (highest < low[whole]).any():
            return False
    return True


def _sums(found: Combinations, layers: Layers) -> Iterator[tuple[int, int, Int64]]:
    """Layers that add up to others: the finer, the coarser, and which cell each of its adds to."""
    for fine, key in enumerate(layers.keys):
        for coarse, other in enumerate(layers.keys):
            if fine != coarse and _refines(found.listed, key, other):
                sums = np.zeros(int(layers.sizes[fine]), dtype=np.int64)
                sums[layers.index[:, fine]] = layers.index[:, coarse]
                yield fine, coarse, sums


def _refines(listed: ListedVariables, fine: LayerKey, coarse: LayerKey) -> bool:
    """Whether every cell of a layer lies in one of another."""
    levels = dict(fine)
    return all(
        name in levels
        and (
            levels[name] == level
            or level_of(listed, name, levels[name]).refines(level_of(listed, name, level))
        )
        for name, level in coarse
    )
