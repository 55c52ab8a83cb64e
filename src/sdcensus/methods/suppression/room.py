"""How much room the primary cells of a problem have to have, and who is inside closed ones."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from sdcensus.methods.suppression.problem import SuppressionProblem
from sdcensus.model.confidential import Confidential
from sdcensus.solvers.audit.certificate import Side

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Room(Confidential):
    """How much room primary cells have to have.

    Attributes:
        width: How far apart the smallest and the largest possible value have to be.
        low, high: Values that have to be possible; the true ones of counts.
        needed: All of it as one distance for each cell.
    """

    width: int
    low: Int64
    high: Int64
    needed: Int64

    @classmethod
    def of(cls, problem: SuppressionProblem, width: int) -> Room:
        """What is asked of counts is a width; of sums, what their rules ask."""
        values, reach = problem.values, problem.reach
        if reach is None:
            return cls(width, values, values, np.full(values.shape, width, dtype=np.int64))
        far = np.maximum(reach.lower + reach.upper, reach.width)
        return cls(reach.width, values - reach.lower, values + reach.upper, far)

    def upwards(self, problem: SuppressionProblem) -> Room:
        """The same without what is asked downwards: who is inside knows a part that is there."""
        return replace(
            self, low=problem.values, needed=np.maximum(self.high - problem.values, self.width)
        )

    def not_below(self, low: Int64) -> Room:
        """The same without values that cannot be."""
        possible = np.maximum(self.low, low)
        return replace(self, low=possible, needed=np.maximum(self.high - possible, self.width))

    def __repr__(self) -> str:
        return "<Room: confidential>"

    def lacking(self, low: Int64, high: Int64, side: Side | None = None) -> Mask:
        """Cells for which bounds are too near; on one side, or at all."""
        width = high - low < self.width
        if side is Side.UPPER:
            return np.asarray(width | (high < self.high))
        if side is Side.LOWER:
            return np.asarray(width | (low > self.low))
        return np.asarray(width | (high < self.high) | (low > self.low))


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
