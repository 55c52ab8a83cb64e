"""How far every cell of some tables may move, and how far those must that may not be shown."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.linked.tables import LinkedTables

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: How many cells a message names.
MOST_NAMED = 10


@dataclass(frozen=True, slots=True, eq=False, repr=False, kw_only=True)
class Requirements(Confidential):
    """What is asked of the change of every cell, in the order of the cells of linked tables.

    Attributes:
        counts: True counts.
        least, most: The lowest and the highest change, from below 0 to above it; 0 where a cell
            stays as it is.
        sensitive: Cells that must move.
        down, up: By how much a sensitive cell is moved at least, if it goes down or up.
        weight: What one unit of change costs; 0 for cells that nobody sees.
    """

    counts: Int64
    least: Int64
    most: Int64
    sensitive: Mask
    down: Int64
    up: Int64
    weight: Int64

    def __repr__(self) -> str:
        return f"<Requirements of {self.counts.size} cells: confidential>"

    @property
    def can_fall(self) -> Mask:
        """Sensitive cells that may go down far enough."""
        return self.sensitive & (-self.least >= self.down)

    @property
    def can_rise(self) -> Mask:
        """Sensitive cells that may go up far enough."""
        return self.sensitive & (self.most >= self.up)

    def met_by(self, change: Int64) -> bool:
        """Whether a change is within all bounds and moves every sensitive cell far enough."""
        inside = (change >= self.least) & (change <= self.most)
        moved = (change <= -self.down) | (change >= self.up)
        return bool(inside.all() and moved[self.sensitive].all())

    def cost(self, change: Int64) -> int:
        """What a change costs."""
        return int((self.weight * np.abs(change)).sum())

    def check(self, tables: LinkedTables) -> None:
        """Refuse cells that can be moved neither down nor up far enough.

        Raises:
            SpecError: There are some; they are named.
        """
        stuck = self.sensitive & ~self.can_fall & ~self.can_rise
        if stuck.any():
            raise SpecError(
                "Some cells may not be shown as they are, and their bounds, or that they are to"
                f" stay as they are, let them move neither far enough up nor down:"
                f" {named(tables, np.flatnonzero(stuck))}. Take lower protection levels or wider"
                " bounds, or let these cells change."
            )


def named(tables: LinkedTables, cells: Sequence[int] | Int64) -> str:
    """Cells by their codes, the first of them, for messages of the office."""
    names = [tables.name(int(cell)) for cell in cells[:MOST_NAMED]]
    if len(cells) > MOST_NAMED:
        names.append(f"and {len(cells) - MOST_NAMED:,} more")
    return "; ".join(names)
