"""The evaluation of a table that is never held whole, from how often each value stands in it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tallies import tally_pairs
from sdcensus.model.confidential import Confidential
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.utility.evaluation import UNSAFE, EvaluationRow, Stage, StageFigures

Int64 = npt.NDArray[np.int64]

#: Values below this have a bin of their own; there are few cells with larger ones.
BINS = 1 << 15


@dataclass(slots=True, eq=False, repr=False)
class _Values(Confidential):
    """How often each value stands among some cells; values beyond the bins stand one by one."""

    bins: Int64 = field(default_factory=lambda: np.zeros(BINS, dtype=np.int64))
    large: list[Int64] = field(default_factory=list)

    def add(self, other: _Values) -> None:
        self.bins += other.bins
        self.large += other.large

    def ordered(self, absent: int) -> tuple[Int64, list[int]]:
        """The values that occur, ascending, with ``absent`` further zeros, and how often each."""
        low = self.bins.copy()
        low[0] += absent
        small = np.flatnonzero(low)
        above = np.concatenate([np.zeros(0, dtype=np.int64), *self.large])
        values, often = np.unique(above, return_counts=True)
        return np.append(small, values), [*low[small].tolist(), *often.tolist()]


@dataclass(slots=True, eq=False, repr=False)
class Tally(Confidential):
    """True and published values of cells that go by once, and what they say about a table."""

    true: _Values = field(default_factory=_Values)
    published: _Values = field(default_factory=_Values)
    change: _Values = field(default_factory=_Values)

    def __repr__(self) -> str:
        return "<Tally: confidential>"

    @classmethod
    def of(cls, true: Int64, published: Int64) -> Tally:
        """The tally of some cells, which are of one shape in both."""
        made = cls()
        sound = tally_pairs(
            np.ascontiguousarray(true),
            np.ascontiguousarray(published),
            made.true.bins,
            made.published.bins,
            made.change.bins,
        )
        if not sound:
            raise SpecError("Some values are below 0, which no count is.")
        # A change is never larger than both: where no value is large, none is.
        if max(true.max(initial=0), published.max(initial=0)) >= BINS:
            change = np.abs(published - true)
            for values, kept in zip((true, published, change), made._parts(), strict=True):
                kept.large.append(values[values >= BINS])
        return made

    def _parts(self) -> tuple[_Values, _Values, _Values]:
        return self.true, self.published, self.change

    def add(self, other: Tally) -> None:
        """Take the cells of another tally in as well."""
        for mine, theirs in zip(self._parts(), other._parts(), strict=True):
            mine.add(theirs)

    def figures(self, *, cells: int, margins: bool, unsafe: int) -> tuple[StageFigures, ...]:
        """The figures of a table before and after.

        Args:
            cells: How many cells the table has; those that did not go by are 0 in both.
            margins: Whether totals and subtotals are among the cells.
            unsafe: Counts from 1 to this are unsafe.
        """
        return (
            _figures(Stage.ORIGINAL, self.true, None, cells, margins, unsafe),
            _figures(Stage.PUBLISHED, self.published, self.change, cells, margins, unsafe),
        )


def tallied_row(
    name: str, spec: TableSpec, stages: Sequence[StageFigures], *, unsafe: int = UNSAFE
) -> EvaluationRow:
    """The row of a table on the evaluation sheet, from figures of tallies; not numbered yet."""
    return EvaluationRow(
        0,
        name,
        tuple(axis.name for axis in spec.axes),
        tuple(len(axis.levels) for axis in spec.axes),
        unsafe,
        tuple(stages),
    )


def _figures(
    stage: Stage, of: _Values, change: _Values | None, cells: int, margins: bool, unsafe: int
) -> StageFigures:
    absent = cells - int(of.bins.sum()) - sum(one.size for one in of.large)
    values, often = of.ordered(absent)
    risky = int(of.bins[1 : unsafe + 1].sum())
    total = _sum(values, often)
    sizes, how_often = (None, []) if change is None else change.ordered(absent)
    return StageFigures(
        stage=stage,
        margins=margins,
        cells=cells,
        withheld=0,
        zeros=int(of.bins[0]) + absent,
        total=total,
        minimum=int(values[0]) if cells else None,
        maximum=int(values[-1]) if cells else None,
        mean=total / cells if cells else None,
        median=_median(values, often) if cells else None,
        unsafe=risky,
        unsafe_share=risky / cells if cells else None,
        mean_change=_sum(sizes, how_often) / cells if cells and sizes is not None else None,
        median_change=_median(sizes, how_often) if cells and sizes is not None else None,
        max_change=int(sizes[-1]) if cells and sizes is not None else None,
        share_equal=(int(change.bins[0]) + absent) / cells if cells and change else None,
        reason="" if cells else "there is no cell with a number",
    )


def _sum(values: Int64, often: Sequence[int]) -> int:
    times = np.asarray(often, dtype=np.int64)
    if float(values.astype(np.float64) @ times) < 2.0**62:
        return int(values @ times)
    return sum(value * count for value, count in zip(values.tolist(), often, strict=True))


def _median(values: Int64, often: Sequence[int]) -> float:
    ends = np.cumsum(often)
    cells = int(ends[-1])
    middle = np.searchsorted(ends, [(cells - 1) // 2, cells // 2], side="right")
    return sum(int(values[at]) for at in middle) / 2
