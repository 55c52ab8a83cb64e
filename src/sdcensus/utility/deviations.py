"""The changes themselves: how often each occurs, and where the largest are."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.pairs import Pair, pair_of
from sdcensus.model.cube.parts import Int64, Numbers, TablePart, known_axes
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.published.table import AnyTable
from sdcensus.model.vocabulary import option
from sdcensus.utility.bases import Base

Float64 = npt.NDArray[np.float64]

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
    cube: AnyCube,
    table: AnyTable,
    part: TablePart | str = TablePart.ALL,
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
    """What makes a cell one of the worst.

    ``absolute``: the size of its change. ``relative``: its size against the true count.
    ``root``: the difference of square roots, which lies between the two and is what the Hellinger
    distance adds up.
    """

    ABSOLUTE = "absolute"
    RELATIVE = "relative"
    ROOT = "root"


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
    cube: AnyCube,
    table: AnyTable,
    limit: int = 10,
    *,
    by: Worst | str = Worst.ABSOLUTE,
    part: TablePart | str = TablePart.ALL,
) -> WorstCells:
    """The cells that changed most; cells that did not change are never among them.

    Args:
        cube: True counts.
        table: The published table of the same cells.
        limit: How many cells at most.
        by: By the size of the change, the smaller count first among equals; relative to the true
            count, where empty cells that are published as something else come first; or by square
            roots, where cells at more totals come first among equals, as more people read them.
        part: Which cells are looked at.
    """
    chosen = option(Worst, "order of worst cells", by)
    if type(limit) is not int or limit < 0:
        raise SpecError("The number of worst cells is a whole number, 0 or more.")
    pair = pair_of(cube, table, part, numbers=True)
    score = _score(pair, chosen)
    cells = np.flatnonzero(score)
    if 0 < limit < cells.size:
        least = np.partition(score[cells], cells.size - limit)[cells.size - limit]
        cells = cells[score[cells] >= least]
    true, published = pair.true[cells], pair.published[cells]
    numbers = np.zeros(0, dtype=np.uint64) if pair.numbers is None else pair.numbers[cells]
    if chosen is Worst.ABSOLUTE:
        among_equals = true
    elif chosen is Worst.RELATIVE:
        among_equals = -np.abs(published - true)
    else:
        among_equals = known_axes(cube.spec, numbers)
    first = np.lexsort((numbers, among_equals, -score[cells]))[:limit]
    return WorstCells(chosen, numbers[first], true[first], published[first])


def _score(pair: Pair, by: Worst) -> Float64:
    """How bad the change of each cell is; 0 where there is none."""
    if by is Worst.ROOT:
        return np.asarray(np.abs(np.sqrt(pair.published) - np.sqrt(pair.true)))
    size = np.abs(pair.deviation).astype(np.float64)
    if by is Worst.RELATIVE:
        # An empty cell has no relative change, so any change of it is larger than all others.
        beyond = np.where(size > 0, np.inf, 0.0)
        return np.asarray(np.divide(size, pair.true, out=beyond, where=pair.true > 0))
    return size
