"""The control cells that deviate most: a tree of which every node knows the worst below it."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.safe.problem import below

Integers = npt.NDArray[Any]


def tree_of(levels: Integers) -> tuple[Integers, Integers]:
    """A tree over the levels of control cells: the worst below each node, and how many there are.

    Examples:
        >>> worst, ties = tree_of(np.array([1, 4, 4]))
        >>> int(worst[1]), int(ties[1])
        (4, 2)
    """
    size = 1
    while size < max(levels.size, 1):
        size *= 2
    worst = np.full(2 * size, -1, dtype=np.int64)
    ties = np.ones(2 * size, dtype=np.int64)
    worst[size : size + levels.size] = levels
    while size > 1:
        size //= 2
        left, right = slice(2 * size, 4 * size, 2), slice(2 * size + 1, 4 * size, 2)
        worst[size : 2 * size] = np.maximum(worst[left], worst[right])
        ties[size : 2 * size] = np.where(worst[left] >= worst[right], ties[left], 0)
        ties[size : 2 * size] += np.where(worst[right] >= worst[left], ties[right], 0)
    return worst, ties


@compiled
def set_level(worst: Integers, ties: Integers, cell: int, level: int) -> None:
    """Write down how bad a control cell is now."""
    node = cell + worst.size // 2
    worst[node] = level
    node >>= 1
    while node >= 1:
        left, right = worst[2 * node], worst[2 * node + 1]
        above, number = left, ties[2 * node]
        if right > left:
            above, number = right, ties[2 * node + 1]
        elif right == left:
            number += ties[2 * node + 1]
        if worst[node] == above and ties[node] == number:
            return
        worst[node] = above
        ties[node] = number
        node >>= 1


@compiled
def pick_worst(worst: Integers, ties: Integers, stream: npt.NDArray[np.uint64]) -> Any:
    """One of the worst control cells, drawn among them."""
    size = worst.size // 2
    left_out = below(stream, ties[1])
    node = 1
    while node < size:
        node *= 2
        if worst[node] == worst[node // 2]:
            if left_out < ties[node]:
                continue
            left_out -= ties[node]
        node += 1
    return node - size
