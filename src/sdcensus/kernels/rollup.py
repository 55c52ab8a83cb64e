"""Margins and coarser levels from finer cells, without a second look at the records."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.tabulate import Combine

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
