"""A table as rows of cells, and measures of each row with their dispersion."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.pairs import (
    check_match,
    check_published,
    hidden_cells,
    published_values,
    true_values,
)
from sdcensus.model.cube.parts import Int64, Mask, TablePart, block_of, region_at
from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube
from sdcensus.model.published.table import AnyTable
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.table_spec import area_axis


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


Float64 = npt.NDArray[np.float64]

#: Of a normal distribution, 95 % lie within so many standard errors.
_NINETY_FIVE = 1.96


@dataclass(frozen=True, slots=True, repr=False)
class Dispersion(Confidential):
    """The mean of a measure over rows, and how far rows differ.

    Attributes:
        rows: How many rows have the measure.
        skipped: How many rows have none.
        mean: Its mean over rows; ``None`` where no row has it.
        variance: The sample variance between rows, which ONS 2011 prints as "standard error";
            ``None`` with fewer than two rows.
        standard_error: The root of the variance divided by the number of rows.
        half_width: 1.96 standard errors: half of the interval of 95 %.
        reason: Why something is ``None`` or why rows were skipped; empty without reason.
    """

    rows: int
    skipped: int
    mean: float | None
    variance: float | None
    standard_error: float | None
    half_width: float | None
    reason: str = ""

    def __repr__(self) -> str:
        return f"<Dispersion over {self.rows + self.skipped:,} rows: confidential>"


@dataclass(frozen=True, slots=True, repr=False)
class RowMeasures(Confidential):
    """Measures row by row, as ONS 2011 compares methods.

    Attributes:
        rows, cells: How many rows there are, and cells in all of them.
        withheld: How many of the cells have no published number; they are left out.
        hellinger: Of each row ``sqrt(0.5 · sum((sqrt(published) - sqrt(true))²))``.
        relative_distance: Of each row the *sum* of ``|published - true| / true`` over its cells
            with records.
        absolute_distance: Of each row the mean of ``|published - true|``, empty cells included.
        variance_ratio: Of each row the variance of its published counts divided by that of its
            true ones. Rows whose true counts are all equal have none.
    """

    rows: int
    cells: int
    withheld: int
    hellinger: Dispersion
    relative_distance: Dispersion
    absolute_distance: Dispersion
    variance_ratio: Dispersion

    def __repr__(self) -> str:
        return f"<RowMeasures of {self.rows:,} rows: confidential>"


def per_row(
    cube: AnyCube,
    table: AnyTable,
    *,
    axis: str | None = None,
    level: str | None = None,
    part: TablePart | str = TablePart.INTERIOR,
) -> RowMeasures:
    """Measure each code of an axis and tell how far they differ; by default each area.

    Args:
        cube: True counts.
        table: The published table of the same cells.
        axis: The variable whose codes are the rows; by default the geography.
        level: Their level; by default the finest.
        part: Which cells of the other axes belong to a row.
    """
    return row_measures(rows_of(cube, table, axis=axis, level=level, part=part))


_NO_NUMBER = sentence("assess.reason.row_withheld")
_NO_VARIANCE = sentence("assess.reason.row_equal")


def row_measures(rows: Rows) -> RowMeasures:
    """The measures of rows and their dispersion."""
    shown = rows.shown
    used = np.asarray(shown.any(axis=1))
    size = np.where(shown, np.abs(rows.published - rows.true), 0)
    root = np.where(shown, np.sqrt(rows.published) - np.sqrt(rows.true), 0.0)
    filled = rows.true > 0
    relative = np.divide(size, rows.true, out=np.zeros(size.shape), where=filled)
    cells = np.maximum(shown.sum(axis=1), 1)
    before, after = _variance(rows.true, shown), _variance(rows.published, shown)
    varied = used & (before > 0)
    ratio = np.divide(after, before, out=np.zeros(before.shape), where=varied)
    return RowMeasures(
        rows=len(rows.names),
        cells=shown.size,
        withheld=rows.withheld,
        hellinger=dispersion(np.sqrt(0.5 * (root * root).sum(axis=1)), used, _NO_NUMBER),
        relative_distance=dispersion(relative.sum(axis=1), used, _NO_NUMBER),
        absolute_distance=dispersion(size.sum(axis=1) / cells, used, _NO_NUMBER),
        variance_ratio=dispersion(ratio, varied, _NO_VARIANCE),
    )


def _variance(values: npt.NDArray[np.int64], shown: Mask) -> Float64:
    """The variance within each row; its divisor cancels in a ratio."""
    # From a count of the row itself, so that equal counts give exactly 0.
    first = np.take_along_axis(values, shown.argmax(axis=1)[:, None], axis=1)
    away = np.where(shown, values - first, 0)
    cells = np.maximum(shown.sum(axis=1), 1)
    distance = np.where(shown, away - (away.sum(axis=1) / cells)[:, None], 0.0)
    return np.asarray((distance * distance).sum(axis=1) / cells)


def dispersion(values: Float64, used: Mask, why_skipped: str) -> Dispersion:
    """Mean, variance between rows and standard error of the rows that are used."""
    kept = values[used]
    skipped = int(values.size - kept.size)
    reason = sentence("assess.reason.skipped", n=skipped, why=why_skipped) if skipped else ""
    if not kept.size:
        why = reason or sentence("assess.reason.no_rows")
        return Dispersion(0, skipped, None, None, None, None, why)
    mean = float(kept.mean())
    if kept.size < 2:
        why = sentence("assess.reason.one_row")
        if reason:
            why = sentence("assess.reason.both", first=reason, second=why)
        reason = why
        return Dispersion(1, skipped, mean, None, None, None, reason)
    variance = float(kept.var(ddof=1))
    error = math.sqrt(variance / kept.size)
    return Dispersion(int(kept.size), skipped, mean, variance, error, _NINETY_FIVE * error, reason)
