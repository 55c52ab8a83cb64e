"""Whether readers would rank areas in another order: change of rank group."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.parts import Int64, Mask, TablePart
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.published.table import AnyTable
from sdcensus.utility.by_row import Rows, rows_of

#: Groups of equal size, as ONS 2011 has them.
GROUPS = 10


@dataclass(frozen=True, slots=True, repr=False)
class RankChange(Confidential):
    """How many cells change their group when areas are ranked.

    Attributes:
        groups: How many groups of equal size.
        columns: How many columns were ranked.
        rows: How many cells a column has.
        withheld: How many cells have no published number; they are left out.
        percent: The share of cells that change their group, in percent, mean over columns.
        reason: Why ``percent`` is ``None``; empty where it is not.
    """

    groups: int
    columns: int
    rows: int
    withheld: int
    percent: float | None
    reason: str = ""

    def __repr__(self) -> str:
        return f"<RankChange of {self.columns:,} columns: confidential>"


def rank_change(
    cube: AnyCube,
    table: AnyTable,
    *,
    groups: int = GROUPS,
    axis: str | None = None,
    level: str | None = None,
    part: TablePart | str = TablePart.INTERIOR,
) -> RankChange:
    """Rank the areas in each column of a table, before and after.

    Areas that become equal keep the order that they had: a tie is no change of rank. By their
    position in the table they would be put into another order, and a method that makes many ties
    would look worse than one that really turns areas around.

    Args:
        cube: True counts.
        table: The published table of the same cells.
        groups: How many groups of equal size a column is cut into.
        axis: The variable whose codes are ranked; by default the geography.
        level: Their level; by default the finest.
        part: Which combinations of the other axes are columns.
    """
    rows = rows_of(cube, table, axis=axis, level=level, part=part)
    return rank_change_of_rows(rows, groups=groups)


def rank_change_of_rows(rows: Rows, *, groups: int = GROUPS) -> RankChange:
    """The same for rows: the cells of each column are ranked."""
    if type(groups) is not int or groups < 2:
        raise SpecError("Ranks are cut into 2 groups or more.")
    height = len(rows.names)
    shown = rows.shown
    position = np.broadcast_to(np.arange(height)[:, None], shown.shape)
    before = _ranks(rows.true, position, shown)
    after = _ranks(rows.published, before, shown)
    cells = shown.sum(axis=0)
    used = cells > 0
    if not used.any():
        why = "every cell is withheld" if shown.size else "there is no cell to rank"
        return RankChange(groups, 0, height, rows.withheld, None, why)
    many = np.maximum(cells, 1)
    changed = shown & (before * groups // many != after * groups // many)
    share = changed.sum(axis=0)[used] / cells[used]
    return RankChange(groups, int(used.sum()), height, rows.withheld, 100 * float(share.mean()))


def _ranks(values: Int64, ties: Int64, shown: Mask) -> Int64:
    """The rank of each cell in its column from 0 on; cells without a number come last."""
    order = np.lexsort((ties, values, ~shown), axis=0)
    ranks: npt.NDArray[np.int64] = np.empty(values.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, np.arange(values.shape[0])[:, None], axis=0)
    return ranks
