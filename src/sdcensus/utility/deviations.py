"""The changes themselves: how often each occurs, and where the largest are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube import Cube
from sdcensus.model.sparse_cube import SparseCube
from sdcensus.model.table import SparseTable, Table
from sdcensus.utility.pairs import Pair, pair_of
from sdcensus.utility.parts import Base, Int64, Numbers, Part, option

_MOST_DEVIATIONS = 10_000_000


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Deviations(Confidential):
    """How often each change occurs.

    Attributes:
        base: Whether only cells with records are counted.
        deviation: The changes from the smallest to the largest, with 0 and all between them; empty
            where there is no cell.
        cells: How many cells have each.
    """

    base: Base
    deviation: Int64
    cells: Int64

    def __repr__(self) -> str:
        return "<Deviations: confidential>"

    @property
    def share(self) -> tuple[float, ...]:
        """The share of cells of each change; empty where there is no cell."""
        total = int(self.cells.sum())
        return tuple((self.cells / total).tolist()) if total else ()


def deviation_distribution(
    cube: Cube | SparseCube,
    table: Table | SparseTable,
    part: Part | str = Part.ALL,
    base: Base | str = Base.NONZERO,
) -> Deviations:
    """How often each change occurs in a part of a table."""
    return deviation_distribution_of_pair(pair_of(cube, table, part), base)


def deviation_distribution_of_pair(pair: Pair, base: Base | str = Base.NONZERO) -> Deviations:
    """The same for cells that stand side by side."""
    chosen = option(Base, "base of a mean", base)
    change = pair.deviation
    absent = pair.absent
    if chosen is Base.NONZERO:
        change, absent = change[pair.true > 0], 0
    if not change.size and not absent:
        none = np.zeros(0, dtype=np.int64)
        return Deviations(chosen, none, none)
    low, high = int(change.min(initial=0)), int(change.max(initial=0))
    if high - low > _MOST_DEVIATIONS:
        raise SpecError(
            "The changes are too far apart to be listed one by one: these counts do not belong"
            " together. Compare a table with the cube that it was made from."
        )
    cells = np.bincount(change - low, minlength=high - low + 1).astype(np.int64)
    cells[-low] += absent
    return Deviations(chosen, np.arange(low, high + 1, dtype=np.int64), cells)


class Worst(StrEnum):
    """What makes a cell one of the worst: the size of its change, or its size against the count."""

    ABSOLUTE = "absolute"
    RELATIVE = "relative"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class WorstCells(Confidential):
    """The cells that changed most, the worst first.

    Attributes:
        by: What makes them the worst.
        numbers: The cells by their numbers in the table, the last axis running fastest.
        true, published: Their counts.
    """

    by: Worst
    numbers: Numbers
    true: Int64
    published: Int64

    def __repr__(self) -> str:
        return f"<WorstCells by {self.by} change: confidential>"


def worst_cells(
    cube: Cube | SparseCube,
    table: Table | SparseTable,
    limit: int = 10,
    *,
    by: Worst | str = Worst.ABSOLUTE,
    part: Part | str = Part.ALL,
) -> WorstCells:
    """The cells that changed most; cells that did not change are never among them.

    Args:
        cube: True counts.
        table: The published table of the same cells.
        limit: How many cells at most.
        by: By the size of the change, the smaller count first among equals; or relative to the
            true count, where empty cells that are published as something else come first.
        part: Which cells are looked at.
    """
    chosen = option(Worst, "order of worst cells", by)
    if type(limit) is not int or limit < 0:
        raise SpecError("The number of worst cells is a whole number, 0 or more.")
    pair = pair_of(cube, table, part, numbers=True)
    size = np.abs(pair.deviation)
    changed = np.flatnonzero(size)
    change, count = size[changed], pair.true[changed]
    numbers = np.zeros(0, dtype=np.uint64) if pair.numbers is None else pair.numbers[changed]
    if chosen is Worst.ABSOLUTE:
        order = np.lexsort((numbers, count, -change))
    else:
        relative = np.divide(change, count, out=np.full(change.shape, np.inf), where=count > 0)
        order = np.lexsort((numbers, -change, -relative))
    first = order[:limit]
    return WorstCells(chosen, numbers[first], count[first], pair.published[changed][first])
