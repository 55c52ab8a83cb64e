"""How a delivered table is laid out for people: in rows, in columns, over sheets."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.published.delivery import NO_PARENT, DeliveredAxis, DeliveredTable

#: Columns of numbers that people still read side by side.
MOST_ACROSS = 100


@dataclass(frozen=True, slots=True)
class PageLayout:
    """The axes that go down the rows and those that stand side by side, the first outermost."""

    down: tuple[int, ...]
    across: tuple[int, ...]

    def grid(self, array: npt.NDArray[np.generic]) -> npt.NDArray[np.generic]:
        """The cells of a table in rows and columns."""
        rows = math.prod(array.shape[at] for at in self.down)
        return np.transpose(array, (*self.down, *self.across)).reshape(rows, -1)


def choose_layout(table: DeliveredTable) -> PageLayout:
    """Areas go down the rows, or the first axis where there are none; the others side by side.

    Where those would make too many columns, the first of them go down the rows as well, below each
    area. A table that says how many of its axes stand in rows is laid out as it says.
    """
    every = range(len(table.axes))
    if table.rows is not None:
        if not 0 <= table.rows <= len(table.axes):
            raise SpecError(f"{table.name}: {table.rows} of {len(table.axes)} axes stand in rows.")
        return PageLayout(tuple(every[: table.rows]), tuple(every[table.rows :]))
    down = [at for at in every if table.axes[at].geography] or list(every[:1])
    across = [at for at in every if at not in down]
    while across and math.prod(len(table.axes[at]) for at in across) > MOST_ACROSS:
        down.append(across.pop(0))
    return PageLayout(tuple(down), tuple(across))


def parts(axes: Sequence[DeliveredAxis], most: int) -> list[range]:
    """Combinations of codes in parts of at most so many, the last axis running fastest.

    A part ends where a code of the first axes ends, as far as that is possible: what belongs to
    one area stands on one sheet.
    """
    whole = math.prod(map(len, axes))
    step = max(1, most)
    for at in range(1, len(axes) + 1):
        inner = math.prod(map(len, axes[at:]))
        if 0 < inner <= step:
            step -= step % inner
            break
    return [range(start, min(start + step, whole)) for start in range(0, max(whole, 1), step)]


def combinations(axes: Sequence[DeliveredAxis], part: range) -> Iterator[tuple[int, ...]]:
    """For each combination of a part, the place of its code on each axis."""
    every = itertools.product(*(range(len(axis)) for axis in axes))
    return itertools.islice(every, part.start, part.stop)


def indents(axis: DeliveredAxis) -> list[int]:
    """How far each code is indented: not at all, unless parts stand below their whole."""
    depths: list[int] = []
    for at, above in enumerate(axis.parents):
        if above >= at:
            return [0] * len(axis)
        depths.append(0 if above in (NO_PARENT, axis.total) else depths[above] + 1)
    return depths
