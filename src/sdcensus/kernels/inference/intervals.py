"""Narrowing intervals of cells by sums of which they are part: the shuttle algorithm.

Bounds of the parts give bounds of their sum, and the sum with all parts but one bounds that part.
One axis is done at a time, in place: the cells of a table are an array of outer positions,
positions of the axis and inner positions, and neighbouring inner positions are done together.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Int64 = npt.NDArray[np.int64]

#: Inner positions that are done together: their sums stay in the nearest cache.
_TOGETHER = 512


class SumLines(NamedTuple):
    """Sums along one axis.

    Attributes:
        totals: The position of each sum.
        starts: Where the parts of each sum begin in ``parts``, and behind it where all end. A sum
            without parts is 0.
        parts: The positions of the parts.
    """

    totals: Int64
    starts: Int64
    parts: Int64


class Ended(IntEnum):
    """How a narrowing ended."""

    SETTLED = 0
    LIMIT = 1
    CONTRADICTION = 2


def narrow(
    lower: Int64, upper: Int64, lines: Sequence[SumLines], *, unbounded: int, rounds: int
) -> tuple[int, Ended]:
    """Narrow the intervals of a table in place until nothing changes.

    Stops after the round in which some interval becomes empty, or after so many rounds: the
    intervals are right then, but more could be done.

    Args:
        lower, upper: Bounds of every cell, contiguous; ``upper`` is at most ``unbounded``.
        lines: The sums along each axis.
        unbounded: An upper bound that says nothing.
        rounds: The most rounds; one goes through every axis.

    Returns:
        The number of rounds that were needed, and how they ended.
    """
    if (lower > upper).any():
        return 0, Ended.CONTRADICTION
    shape = lower.shape
    views = []
    for at in range(len(shape)):
        outer = int(np.prod(shape[:at], dtype=np.int64))
        size = (outer, shape[at], -1) if lower.size else (0, shape[at], 0)
        views.append((lower.reshape(size), upper.reshape(size), lines[at]))
    unchanged = 0
    for done in range(1, rounds + 1):
        for low, high, along in views:
            change = _narrow_axis(low, high, *along, unbounded)
            if change == 2:
                return done, Ended.CONTRADICTION
            unchanged = 0 if change else unchanged + 1
        if unchanged >= len(views):
            return done, Ended.SETTLED
    return rounds, Ended.LIMIT


@compiled
def _narrow_axis(
    lower: Int64, upper: Int64, totals: Int64, starts: Int64, parts: Int64, unbounded: int
) -> int:
    """Go once through the sums of an axis: 0 if nothing changed, 2 if an interval became empty."""
    outer, _, inner = lower.shape
    least = np.empty(_TOGETHER, dtype=np.int64)
    most = np.empty(_TOGETHER, dtype=np.int64)
    widest = np.empty(_TOGETHER, dtype=np.int64)
    changed, empty = False, False
    for o in range(outer):
        for begin in range(0, inner, _TOGETHER):
            size = min(_TOGETHER, inner - begin)
            for line in range(totals.size):
                least[:size] = 0
                most[:size] = 0
                widest[:size] = 0
                for at in range(starts[line], starts[line + 1]):
                    p = parts[at]
                    for i in range(size):
                        low, high = lower[o, p, begin + i], upper[o, p, begin + i]
                        least[i] += low
                        most[i] += high
                        widest[i] = max(widest[i], high - low)
                t = totals[line]
                useful = False
                for i in range(size):
                    low, high = lower[o, t, begin + i], upper[o, t, begin + i]
                    if least[i] > low:
                        low = least[i]
                        lower[o, t, begin + i] = low
                        changed = True
                    if most[i] < high:
                        high = most[i]
                        upper[o, t, begin + i] = high
                        changed = True
                    if low > high:
                        empty = True
                    # From here on: how far a part can lie below its upper bound, and above its
                    # lower bound. Only a part that is wider than that becomes narrower.
                    most[i] -= low
                    least[i] = 2 * unbounded if high >= unbounded else high - least[i]
                    if widest[i] > most[i] or widest[i] > least[i]:
                        useful = True
                if not useful:
                    continue
                for at in range(starts[line], starts[line + 1]):
                    p = parts[at]
                    for i in range(size):
                        low, high = lower[o, p, begin + i], upper[o, p, begin + i]
                        if high - low > least[i]:
                            upper[o, p, begin + i] = low + least[i]
                            changed = True
                        if high - low > most[i]:
                            lower[o, p, begin + i] = high - most[i]
                            changed = True
                        if lower[o, p, begin + i] > upper[o, p, begin + i]:
                            empty = True
    if empty:
        return 2
    return 1 if changed else 0
