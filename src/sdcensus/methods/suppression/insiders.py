"""Who is inside closed cells and knows them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Insiders(Confidential):
    """Those who are alone in a cell, and know it where it is closed.

    Attributes:
        cells: A mask of these cells.
        group: For each cell a number, the same for cells that hold the same records: whoever is
            alone in one of them is alone in all.
    """

    cells: Mask
    group: Int64

    def __repr__(self) -> str:
        return f"<Insiders of {int(self.cells.sum())} cells: confidential>"

    def each(self, closed: Mask) -> list[int]:
        """A cell for each of those who are alone in a closed one."""
        numbers = np.flatnonzero(self.cells & closed)
        _, first = np.unique(self.group[numbers], return_index=True)
        return [int(cell) for cell in numbers[np.sort(first)]]
