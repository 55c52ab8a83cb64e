"""What readers lose in a table of sums: how far sums are off, relative to what they are.

Amounts have no natural unit in which a change is large or small, so every figure is relative. Means
of published sums over published counts move by both.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.pairs import check_match, hidden_cells, true_values
from sdcensus.model.cube.parts import TablePart, parts_of, region
from sdcensus.model.published.table import Table

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: Changes that are counted as small, in percent of the true sum.
WITHIN = (1, 5, 10)


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class RelativeChanges(Confidential):
    """Relative changes of some cells whose true sum is not 0; ``None`` where there is none.

    Attributes:
        cells: How many cells have a published number and a true sum that is not 0.
        withheld: How many others have no number.
        mean, median, ninth: The mean, the median and the ninth decile of the relative change,
            without its sign.
        largest: The largest.
        bias: The mean with its sign.
        within: The share of cells that change by no more than each of ``WITHIN`` percent.
        unchanged: The share of cells that are published as they are.
    """

    cells: int
    withheld: int
    mean: float | None = None
    median: float | None = None
    ninth: float | None = None
    largest: float | None = None
    bias: float | None = None
    within: tuple[float, ...] | None = None
    unchanged: float | None = None

    def __repr__(self) -> str:
        return "<RelativeChanges: confidential>"


def relative_changes(
    true: Int64, published: Int64, withheld: Mask | None = None
) -> RelativeChanges:
    """Compare sums with what is published for them.

    Args:
        true, published: Of the same cells.
        withheld: Cells without a published number.
    """
    shown = true != 0
    hidden = 0
    if withheld is not None:
        hidden = int((shown & withheld).sum())
        shown = shown & ~withheld
    if not shown.any():
        return RelativeChanges(cells=0, withheld=hidden)
    # Differences of whole numbers first: two large amounts differ by less than a float can hold.
    change = (published[shown] - true[shown]) / np.abs(true[shown]).astype(np.float64)
    size = np.abs(change)
    limits = np.array(WITHIN) / 100 * (1 + 1e-12)
    return RelativeChanges(
        cells=int(size.size),
        withheld=hidden,
        mean=float(size.mean()),
        median=float(np.median(size)),
        ninth=float(np.quantile(size, 0.9)),
        largest=float(size.max()),
        bias=float(change.mean()),
        within=tuple(float((size <= limit).mean()) for limit in limits),
        unchanged=float((change == 0).mean()),
    )


def changes_by_part(cube: Cube, table: Table) -> tuple[tuple[TablePart, RelativeChanges], ...]:
    """Relative changes in interior cells, in totals and in all cells, as far as there are any."""
    true, published, withheld = _compared(cube, table)
    changes = []
    for part in parts_of(cube.spec):
        where = region(cube.spec, part)
        hidden = None if withheld is None else where.take(withheld)
        changes.append((part, relative_changes(where.take(true), where.take(published), hidden)))
    return tuple(changes)


def changes_in(cube: Cube, table: Table, cells: Mask) -> RelativeChanges:
    """Relative changes of some cells of a table."""
    true, published, withheld = _compared(cube, table)
    hidden = None if withheld is None else withheld[cells]
    return relative_changes(true[cells], published[cells], hidden)


def mean_changes(
    cube: Cube, table: Table, counts: Table, *, part: TablePart = TablePart.ALL
) -> RelativeChanges:
    """How far means are off that readers make of published sums and published counts.

    The true mean is the true sum over all units of the cell. Cells with a published count of 0 have
    no mean, and count as withheld.

    Args:
        cube: Sums and counts.
        table: The published sums.
        counts: The published counts of the same cells.
        part: Which cells.
    """
    true, published, withheld = _compared(cube, table)
    if counts.spec.amount is not None or counts.spec.axes != table.spec.axes:
        raise SpecError(
            f"{table.spec.title}: means need the published counts of the same cells, by the same"
            " axes."
        )
    where = region(cube.spec, part)
    below = where.take(cube.count).astype(np.float64)
    shown = where.take(counts.published).astype(np.float64)
    gone = np.zeros(below.shape, dtype=bool) if withheld is None else where.take(withheld)
    hidden = hidden_cells(counts)
    if hidden is not None:
        gone = gone | where.take(hidden)
    gone = gone | (shown == 0)
    # A millionth of a mean of the last decimal is nothing that a reader sees.
    exact = where.take(true) * 1e6 / np.maximum(below, 1)
    rebuilt = where.take(published) * 1e6 / np.maximum(shown, 1)
    return relative_changes(
        np.rint(exact).astype(np.int64), np.rint(rebuilt).astype(np.int64), gone
    )


def _compared(cube: Cube, table: Table) -> tuple[Int64, Int64, Mask | None]:
    check_match(cube, table)
    if cube.spec.amount is None:
        raise SpecError(f"{cube.spec.title}: relative changes of sums need a table of sums.")
    return true_values(cube), table.published, hidden_cells(table)
