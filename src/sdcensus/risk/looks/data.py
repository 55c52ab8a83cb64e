"""Looks at the cells of a census as it is: a bound on the best linear estimate.

Cells without records are published as 0 and carry no noise, so an intruder knows more than code
lists say: a sum over twenty codes of which three are filled has three noisy parts; and where two
variables go together, a table by one tells about the other. How much more follows from the counts.
As for a plan (``risk.looks_plan``), every change of the counts by which a cell changes by 1 gives a
bound: what all tables see of it. The changes that are tried here take records evenly from some
cells and give them evenly to others; they change no empty cell. For cells of a few records there
are better ones, so there the bound is far above the truth.

Every cell of every table has noise of its own, also where two cells hold the same records. Keys by
which these have the same noise give fewer looks, and much else (``docs/attacks``).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.risk.looks.chance import large_variance, recoveries

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

#: Larger classes are added up without their empty parts.
LARGEST_DENSE = 2_000_000
#: By this much more is seen of every change.
RIDGE = 1e-9
#: Sizes of cells that are told apart: the smallest of each class.
SIZES = (1, 2, 3, 6, 11, 51)


@dataclass(frozen=True, slots=True, repr=False)
class LooksBySize(Confidential):
    """The looks at cells of a size.

    Attributes:
        smallest, largest: The size; without a largest, and over.
        cells: How many there are.
        looks: At such a cell, on average.
        recovery: The share of them that averaging finds, for the perturbation that was given.
    """

    smallest: int
    largest: int | None
    cells: int
    looks: float
    recovery: float | None

    def __repr__(self) -> str:
        return "<LooksBySize: confidential>"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class CellLooks(Confidential):
    """The looks at every non-empty cell of a table, from true counts.

    Attributes:
        title: What the cells are about.
        count: True counts.
        looks: The variance of one published value divided by that of the best linear estimate, at
            most.
        tables: How many choices of variables were taken together.
        left_out: How many more the menu has, which were not.
    """

    title: str
    count: Int64
    looks: Float64
    tables: int
    left_out: int = 0

    def __repr__(self) -> str:
        return f"<CellLooks {self.title}: confidential>"

    def by_size(
        self, perturbation: Perturbation | None = None, sizes: Sequence[int] = SIZES
    ) -> tuple[LooksBySize, ...]:
        """Averages over cells of a size; sizes without a cell are left out."""
        looks_by_sizes = []
        for at, smallest in enumerate(sizes):
            largest = sizes[at + 1] - 1 if at + 1 < len(sizes) else None
            inside = self.count >= smallest
            if largest is not None:
                inside &= self.count <= largest
            if not inside.any():
                continue
            looks = self.looks[inside]
            chance = None
            if perturbation is not None:
                chance = float(recoveries(looks, perturbation).mean())
            looks_by_sizes.append(
                LooksBySize(smallest, largest, int(inside.sum()), float(looks.mean()), chance)
            )
        return tuple(looks_by_sizes)

    def recovery(self, perturbation: Perturbation) -> float | None:
        """The share of cells that are found; ``None`` if there is no cell with records."""
        if not self.count.size:
            return None
        return float(recoveries(self.looks, perturbation).mean())


class Collector:
    """Takes classes of cells one by one, and adds up what they see of changes of each cell.

    Args:
        count: The records of each cell; every one has some.
        perturbation: With which the cells get their noise, if that is known. Small counts often
            have less of it than large ones, and are seen the better.
    """

    def __init__(self, count: Int64, perturbation: Perturbation | None = None) -> None:
        self._count = count.astype(np.float64)
        self._seen = np.zeros((count.size, count.size))
        self._sight = np.ones(1)
        if perturbation is not None:
            rows = range(1, perturbation.tail.rows + 2 * perturbation.max_deviation)
            variance = large_variance(perturbation)
            sight = [variance / max(perturbation.variance(row), 1e-6) for row in rows]
            # Without records there is no noise, and no change either.
            self._sight = np.sqrt(np.array([1.0, *np.maximum(sight, 1.0), 1.0]))

    def add(self, cell: Int64, part: Int64, count: Int64) -> None:
        """Add a class of cells.

        Args:
            cell: Of some disjoint groups of records, the cell in which each lies.
            part: The cell of the class in which each lies.
            count: How many records it has.
        """
        parts = int(part.max(initial=-1)) + 1
        records = np.bincount(part, count, minlength=parts).astype(np.int64)
        sight = self._sight[np.minimum(records, self._sight.size - 1)]
        share = count / self._count[cell] * sight[part]
        if parts * self._count.size <= LARGEST_DENSE:
            seen = np.bincount(cell * parts + part, share, minlength=parts * self._count.size)
            seen = seen.reshape(self._count.size, parts)
            self._seen += seen @ seen.T
        else:
            from scipy.sparse import coo_array

            shape = (self._count.size, parts)
            sparse = coo_array((share, (cell, part)), shape=shape).tocsr()
            self._seen += (sparse @ sparse.T).toarray()

    def looks(self) -> Float64:
        """For each cell, at most so many looks."""
        if not self._count.size:
            return np.zeros(0)
        # The smallest of all changes by which a cell changes by 1: the others are free.
        scale = 1 / np.sqrt(np.diag(self._seen))
        scaled = self._seen * scale[:, None] * scale[None, :]
        # A little more than is seen: a bound all the same, and an inverse that exists.
        inverse = np.linalg.inv(scaled + RIDGE * np.eye(scale.size))
        return np.maximum(1.0, 1 / (np.diag(inverse) * scale**2))
