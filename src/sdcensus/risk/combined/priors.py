"""How often each count occurs in a table: as the office knows it, or a fixed public reference."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.pairs import counts_of, counts_of_values
from sdcensus.model.cube.parts import TablePart
from sdcensus.model.cube.sparse_cube import AnyCube

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

#: The reference prior goes up to this count.
LARGEST_REFERENCE = 1_000
#: Counts below this have an expected size of their own; larger ones are taken to be expected.
_SPREAD_UP_TO = 10


@dataclass(frozen=True, slots=True, eq=False)
class CountPrior:
    """How many cells have each count, as far as anybody may know it.

    Attributes:
        counts: Counts that occur, ascending.
        cells: How many cells have each, or in which proportion.
    """

    counts: Int64
    cells: Float64

    def __post_init__(self) -> None:
        if self.counts.shape != self.cells.shape or self.counts.ndim != 1 or not self.counts.size:
            raise SpecError("A prior needs a number of cells for each count.")
        if (self.counts < 0).any() or (np.diff(self.counts) <= 0).any():
            raise SpecError("The counts of a prior are 0 or more, ascending, each once.")
        if (self.cells < 0).any() or not self.cells.sum() > 0:
            raise SpecError("The numbers of cells of a prior are 0 or more, and not all 0.")

    def __repr__(self) -> str:
        return "<CountPrior>"

    @property
    def records(self) -> float:
        """How many records all cells hold."""
        return float((self.counts * self.cells).sum())

    def expected_sizes(self) -> Float64:
        """For each count the mean size of the cells that happen to have it.

        A count of 1 is often a cell in which fewer are to be expected, and a 0 one in which a few
        are. If counts are Poisson around the size that is to be expected, the mean of that size is
        (t + 1) P(t + 1) / P(t) (Robbins 1956), whatever the sizes are. It is used for small
        counts; larger ones are taken as they are. All of it is scaled so that the cells hold as
        many records as before.
        """
        sizes = self.counts.astype(np.float64)
        known = dict(zip(self.counts.tolist(), self.cells.tolist(), strict=True))
        for at, count in enumerate(self.counts.tolist()):
            here, above = known[count], known.get(count + 1, 0.0)
            if count < _SPREAD_UP_TO and here > 0 and above > 0:
                sizes[at] = (count + 1) * above / here
        sizes = np.maximum.accumulate(sizes)
        whole = float((sizes * self.cells).sum())
        return sizes * (self.records / whole) if whole > 0 else sizes


class OfficePrior(Confidential, CountPrior):
    """How many cells have each true count. What is told to the public is never computed with it."""

    __slots__ = ()

    def __repr__(self) -> str:
        return "<OfficePrior: confidential>"


def reference_prior() -> CountPrior:
    """A fixed prior that depends on no census: P(t) = 1 / ((t + 1)(t + 2)).

    Half of the cells are empty, a sixth hold one, a twelfth two: what sparse tables look like. What
    is told to the public is computed with it, so that it says nothing about any table.
    """
    counts = np.arange(LARGEST_REFERENCE + 1, dtype=np.int64)
    return CountPrior(counts, 1.0 / ((counts + 1.0) * (counts + 2.0)))


def prior_of_counts(counts: npt.ArrayLike, *, cells: int | None = None) -> OfficePrior:
    """How often each count occurs among true counts. Confidential.

    Args:
        counts: The counts, in any shape.
        cells: How many cells there are, if empty ones are left out of ``counts``.
    """
    known = counts_of_values(counts, cells=cells)
    return _occurring(known.true, known.absent)


def prior_of(cube: AnyCube, part: TablePart | str = TablePart.INTERIOR) -> OfficePrior:
    """How often each count occurs in a part of a cube. Confidential."""
    known = counts_of(cube, part, counts_only=True)
    return _occurring(known.true, known.absent)


def mixed(priors: Sequence[OfficePrior]) -> OfficePrior:
    """Several tables as one."""
    counts = np.unique(np.concatenate([prior.counts for prior in priors]))
    cells = np.zeros(counts.size)
    for prior in priors:
        cells[np.searchsorted(counts, prior.counts)] += prior.cells
    return OfficePrior(counts, cells)


def _occurring(true: Int64, absent: int) -> OfficePrior:
    counts, times = np.unique(true, return_counts=True)
    cells = times.astype(np.float64)
    if absent and counts.size and counts[0] == 0:
        cells[0] += absent
    elif absent:
        counts, cells = np.concatenate([[0], counts]), np.concatenate([[absent], cells])
    if not counts.size:
        raise SpecError("There is no cell to be looked at.")
    return OfficePrior(counts.astype(np.int64), cells.astype(np.float64))
