"""Which published cells count which inner cells: a matrix of zeros and ones, row by row."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False)
class Incidence:
    """The published cells that count each inner cell.

    Attributes:
        starts: Where the cells of each inner cell begin in ``cells``, and behind it where all end.
        cells: Numbers of published cells; none twice for the same inner cell.
        size: How many published cells there are.
    """

    starts: Int64
    cells: Integers
    size: int

    def __len__(self) -> int:
        """How many inner cells there are."""
        return self.starts.size - 1

    def sums(self, inner: Int64) -> Int64:
        """The published cells as sums of inner cells."""
        sums = np.zeros(self.size, dtype=np.int64)
        self.add(np.flatnonzero(inner), inner[inner != 0], sums)
        return sums

    def add(self, rows: Int64, values: Int64, sums: Int64) -> None:
        """Add what some inner cells hold to the published cells that count them, in place."""
        _add_up(self.starts, self.cells, rows, values, sums)

    def feeding(self, rows: Int64, cells: Mask) -> Int64:
        """Those of some inner cells that are counted in any of these published cells."""
        feeding = np.zeros(rows.size, dtype=np.bool_)
        _mark_feeding(self.starts, self.cells, rows, cells, feeding)
        return rows[feeding]


@compiled
def _add_up(starts: Int64, cells: Integers, rows: Int64, values: Int64, sums: Int64) -> None:
    for place in range(rows.size):
        for at in range(starts[rows[place]], starts[rows[place] + 1]):
            sums[cells[at]] += values[place]


@compiled
def _mark_feeding(starts: Int64, cells: Integers, rows: Int64, marked: Mask, feeding: Mask) -> None:
    for place in range(rows.size):
        for at in range(starts[rows[place]], starts[rows[place] + 1]):
            if marked[cells[at]]:
                feeding[place] = True
                break
