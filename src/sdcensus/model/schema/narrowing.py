"""Levels cut down to the codes that somebody needs; everything else of them is one code."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sdcensus.model.schema.variable import Code, Level

Int64 = npt.NDArray[np.int64]

#: The code for everything of a level that nobody asked for. It is counted and never shown.
REST = "\N{HORIZONTAL ELLIPSIS}"


def narrowed(level: Level, wanted: Sequence[int], *, name: str = "") -> tuple[Level, Int64]:
    """A level with these of its codes and one code for all others, and where each code is in it.

    The others stand where the first of them stood: levels that tell the same apart have the same
    order, so that what was counted for one question is right for another.

    Args:
        level: The level.
        wanted: The positions of the codes that are needed, ascending.
        name: What the cut level is called, if not as the whole one.
    """
    size = len(level.codes)
    called = name or level.name
    if len(wanted) == size:
        whole = level if called == level.name else Level(called, level.codes, level.group)
        return whole, np.arange(size)
    other = np.ones(size, dtype=bool)
    other[list(wanted)] = False
    first = int(np.flatnonzero(other)[0])
    shown = sorted([*wanted, first])
    place = np.full(size, shown.index(first), dtype=np.int64)
    place[shown] = np.arange(len(shown))
    codes = [Code(REST) if at == first else level.codes[at] for at in shown]
    return Level(called, tuple(codes), tuple(place[level.group_array].tolist())), place
