"""Margins and coarser levels from finer cells, without a second look at the records."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.cells.tabulate import Combine

Integers = npt.NDArray[Any]


@compiled
def add_groups(
    source: Integers, group: Integers, target: Integers, start: int, combine: int
) -> None:
    """Combine positions of an axis into groups of them.

    Args:
        source: Cells as ``(outer, positions, inner)``; position ``p`` belongs to ``group[p]``.
        group: The group of each of the first ``group.size`` positions of ``source``.
        target: Cells as ``(outer, positions, inner)``; may be ``source`` itself.
        start: The position in ``target`` of group 0.
        combine: A member of ``Combine``.
    """
    outer, _, inner = source.shape
    for o in range(outer):
        for p in range(group.size):
            g = start + group[p]
            if combine == 0:
                for i in range(inner):
                    target[o, g, i] += source[o, p, i]
            elif combine == 1:
                for i in range(inner):
                    target[o, g, i] ^= source[o, p, i]
            elif combine == 2:
                for i in range(inner):
                    target[o, g, i] = min(target[o, g, i], source[o, p, i])
            else:
                for i in range(inner):
                    target[o, g, i] = max(target[o, g, i], source[o, p, i])


def regroup(
    cells: Integers, axis: int, group: Integers, size: int, combine: Combine, empty: int
) -> Integers:
    """Replace one axis of an array by groups of its positions."""
    shape = cells.shape
    outer = int(np.prod(shape[:axis], dtype=np.int64))
    inner = int(np.prod(shape[axis + 1 :], dtype=np.int64))
    target = np.full((outer, size, inner), empty, dtype=cells.dtype)
    source = np.ascontiguousarray(cells).reshape(outer, shape[axis], inner)
    add_groups(source, group, target, 0, int(combine))
    return target.reshape(*shape[:axis], size, *shape[axis + 1 :])


@compiled
def fold_packed(
    count: Integers, key: Integers, outer: Integers, inner: Integers, packed: Integers
) -> None:
    """Add finer cells to those that hold them: counts in the low, keys in the high 32 bits.

    Args:
        count, key: Finer cells as ``(outer, inner)``.
        outer, inner: What the two positions of a finer cell add to the number of its cell.
        packed: The cells.
    """
    for o in range(count.shape[0]):
        for i in range(count.shape[1]):
            if count[o, i] != 0:
                value = np.uint64(count[o, i]) + (np.uint64(key[o, i]) << np.uint64(32))
                packed[outer[o] + inner[i]] += value


@compiled
def fold(
    count: Integers,
    values: Integers,
    outer: Integers,
    inner: Integers,
    target: Integers,
    combine: int,
) -> None:
    """Combine values of finer cells in those that hold them; finer cells without records have none.

    Args:
        count, values: Finer cells as ``(outer, inner)``.
        outer, inner: What the two positions of a finer cell add to the number of its cell.
        target: The cells.
        combine: A member of ``Combine``.
    """
    for o in range(count.shape[0]):
        for i in range(count.shape[1]):
            if count[o, i] == 0:
                continue
            at = outer[o] + inner[i]
            value = values[o, i]
            if combine == 0:
                target[at] += value
            elif combine == 1:
                target[at] ^= value
            elif combine == 2:
                target[at] = min(target[at], value)
            else:
                target[at] = max(target[at], value)
