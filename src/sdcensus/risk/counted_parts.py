"""The cells that figures of risk are about, counted alike in every part of a table.

A share can be compared with another if both are of the same cells. So each of these figures is
given for interior cells, for totals and subtotals, and for all cells: the first two add up to the
third.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.pairs import counts_of
from sdcensus.model.cube.parts import TablePart, parts_of
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.published.table import AnyTable
from sdcensus.risk.posterior import PerceivedDisclosure, perceived_disclosure
from sdcensus.risk.unperturbed import Unperturbed, unperturbed_small_of


@dataclass(frozen=True, slots=True, repr=False)
class PartCounts(Confidential):
    """How many cells of a part of a table are empty, small, kept and seen.

    Attributes:
        part: Which cells.
        cells: How many there are, withheld ones included.
        nonempty: How many of them hold records.
        small: Those with a true count of 1 or 2, the records in them, and what is published as it
            is.
        perceived: Those that are published as 1 or 2, and how many have that true count.
    """

    part: TablePart
    cells: int
    nonempty: int
    small: Unperturbed
    perceived: PerceivedDisclosure

    def __repr__(self) -> str:
        return f"<PartCounts of {self.part}: confidential>"

    @property
    def empty(self) -> int:
        """How many cells hold no record."""
        return self.cells - self.nonempty

    @property
    def visible(self) -> int:
        """How many cells are published as 1 or 2."""
        return sum(self.perceived.seen.visible)

    @property
    def right(self) -> int:
        """How many of the visible ones have the true count that is published."""
        return sum(self.perceived.right)


def part_counts(cube: AnyCube, table: AnyTable) -> tuple[PartCounts, ...]:
    """The same figures for every part that a table has, all cells last.

    Args:
        cube: True counts.
        table: What is published of them.
    """
    counted = []
    for part in parts_of(cube.spec):
        counts = counts_of(cube, part, counts_only=True)
        counted.append(
            PartCounts(
                part,
                counts.cells,
                int(np.count_nonzero(counts.true)),
                unperturbed_small_of(cube, table, part=part),
                perceived_disclosure(cube, table, part=part),
            )
        )
    return tuple(counted)
