"""A table as rows of cells: each code of one axis with everything that is shown for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.pairs import (
    check_match,
    check_published,
    hidden_cells,
    mask_of,
    published_values,
    true_values,
    whole_numbers,
)
from sdcensus.model.cube.parts import Int64, Mask, TablePart, block_of, region_at
from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube
from sdcensus.model.published.table import AnyTable
from sdcensus.model.spec.area_axis import area_axis


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Rows(Confidential):
    """True and published values, row by row.

    Attributes:
        names: The code of each row.
        true, published: One row for each code, one column for each cell of it.
        shown: Which cells have a published number; the others are left out of every measure.
    """

    names: tuple[str, ...]
    true: Int64
    published: Int64
    shown: Mask

    def __repr__(self) -> str:
        return f"<Rows {self.true.shape[0]}×{self.true.shape[1]}: confidential>"

    @property
    def withheld(self) -> int:
        """How many cells have no published number."""
        return int(self.shown.size - self.shown.sum())


def rows_of(
    cube: AnyCube,
    table: AnyTable,
    *,
    axis: str | None = None,
    level: str | None = None,
    part: TablePart | str = TablePart.INTERIOR,
) -> Rows:
    """A cube and its table as rows.

    Args:
        cube: True counts.
        table: The published table of the same cells.
        axis: The variable whose codes are the rows; by default the geography.
        level: Their level; by default the finest.
        part: Which cells of the other axes belong to a row.
    """
    check_match(cube, table)
    spec = cube.spec
    if isinstance(cube, SparseCube):
        raise SpecError(
            f"{spec.title}: the table is too large to be measured row by row. Take"
            " cube.rollup(...) to fewer or coarser axes."
        )
    at = area_axis(spec, axis, how="axis=")
    block = block_of(spec, at, level)
    where = region_at(spec, at, block, part)
    # The axis of the rows comes first, so that the cells of a row lie one behind the other.
    moved = where.with_axis_first(at)
    if not where.cells:
        raise SpecError(
            f"{spec.title}: beside the codes of {spec.axes[at].name!r} the table shows no such"
            f" cells (part={str(part)!r}). Take part='all', or add axes or totals."
        )

    def rows(array: npt.NDArray[np.int64]) -> Int64:
        return moved.take(np.moveaxis(array, at, 0)).reshape(block.size, -1)

    published = rows(published_values(table))
    check_published(published, spec)
    hidden = hidden_cells(table)
    shown = np.ones(published.shape, dtype=bool)
    if hidden is not None:
        shown = rows(hidden.astype(np.int64)) == 0
    codes = spec.axes[at].codes[block.start : block.start + block.size]
    return Rows(tuple(code.code for code in codes), rows(true_values(cube)), published, shown)


def rows_of_values(
    true: npt.ArrayLike,
    published: npt.ArrayLike,
    *,
    withheld: npt.ArrayLike | None = None,
    names: Sequence[str] | None = None,
) -> Rows:
    """Two arrays as rows: the first axis tells them apart."""
    counts = whole_numbers(true, "true counts")
    values = whole_numbers(published, "published counts")
    if counts.shape != values.shape or counts.ndim < 2:
        raise SpecError(
            f"The true counts have the shape {counts.shape} and the published ones {values.shape}."
            " Rows need two arrays of one shape with two axes or more."
        )
    if not counts.size:
        raise SpecError("There is no cell to measure. Give arrays with one row and column or more.")
    hidden = np.zeros(counts.shape, dtype=bool)
    if withheld is not None:
        hidden = mask_of(withheld, counts.shape, "withheld")
    height = len(counts)
    named = [str(at) for at in range(height)] if names is None else list(names)
    if len(named) != height:
        raise SpecError(f"There are {height} rows and {len(named)} names. Give each row one name.")
    flat = (height, counts.size // height)
    return Rows(tuple(named), counts.reshape(flat), values.reshape(flat), ~hidden.reshape(flat))
