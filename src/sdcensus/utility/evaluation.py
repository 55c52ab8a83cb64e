"""The evaluation sheet of Statistics Netherlands: a row for each table, before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from enum import StrEnum

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tabulate import tally_pairs
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.pairs import Pair, counts_of, pair_of
from sdcensus.model.cube.parts import Int64, TablePart
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.published.table import AnyTable
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.table_spec import TableSpec

#: Counts from 1 to this are unsafe, unless said otherwise.
UNSAFE = 2
#: Values below this have a bin of their own; there are few cells with larger ones.
BINS = 1 << 15


class Stage(StrEnum):
    """At which stage the numbers of a table are looked at."""

    ORIGINAL = "original"
    SWAPPED = "after swap"
    PUBLISHED = "published"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class StageFigures(Confidential):
    """The numbers of a table at one stage, with or without its margins.

    Attributes:
        stage: At which stage.
        margins: Whether totals and subtotals are among the cells.
        cells: How many cells have a number.
        withheld: How many have none; they are left out.
        zeros: How many are 0.
        total: The sum of all of them.
        minimum, maximum, mean, median: Of their values.
        unsafe, unsafe_share: How many hold an unsafe count, and their share of all cells.
        mean_change, median_change, max_change: Of the size of the changes since the original;
            ``None`` for the original itself.
        share_equal: The share of cells that equal the original; ``None`` for the original itself.
        reason: Why figures are ``None``; empty where none is.
    """

    stage: Stage
    margins: bool
    cells: int
    withheld: int
    zeros: int
    total: int
    minimum: int | None
    maximum: int | None
    mean: float | None
    median: float | None
    unsafe: int
    unsafe_share: float | None
    mean_change: float | None
    median_change: float | None
    max_change: int | None
    share_equal: float | None
    reason: str = ""

    def __repr__(self) -> str:
        return f"<StageFigures {self.stage}: confidential>"

    def columns(self) -> dict[str, int | float | str | None]:
        """The figures by the headings of the sheet."""
        return {heading: getattr(self, name) for heading, name in _HEADINGS.items()}


_HEADINGS = {
    "cells": "cells",
    "withheld": "withheld",
    "zeros": "zeros",
    "total": "total",
    "minimum": "minimum",
    "maximum": "maximum",
    "unsafe cells": "unsafe",
    "unsafe cells, share of cells": "unsafe_share",
    "mean": "mean",
    "median": "median",
    "mean change, empty cells included": "mean_change",
    "median change": "median_change",
    "largest change": "max_change",
    "equal to original, share of cells": "share_equal",
}


@dataclass(frozen=True, slots=True, repr=False)
class EvaluationRow(Confidential):
    """One table on the evaluation sheet.

    Attributes:
        number: Its number on the sheet.
        table: What it is called.
        variables: Its variables with the levels that it shows, in the grammar of plans.
        levels: How many levels each variable has in the table, the total not counted.
        unsafe_up_to: Counts from 1 to this are unsafe.
        stages: The figures of each stage, with margins and without; a table that has no interior
            is given with margins only.
    """

    number: int
    table: str
    variables: tuple[str, ...]
    levels: tuple[int, ...]
    unsafe_up_to: int
    stages: tuple[StageFigures, ...]

    def __repr__(self) -> str:
        return f"<EvaluationRow {self.number} {self.table}: confidential>"

    def columns(self) -> dict[str, int | float | str | None]:
        """The row by its headings: one column for each figure of each stage.

        Headings are the same for all tables with the same stages; where a table has no interior,
        its columns without margins are empty.
        """
        made = self._head()
        for stage in dict.fromkeys(stage.stage for stage in self.stages):
            for margins, cells in ((True, "with margins"), (False, "without margins")):
                found = [
                    stage_figures
                    for stage_figures in self.stages
                    if (stage_figures.stage, stage_figures.margins) == (stage, margins)
                ]
                values = found[0].columns() if found else dict.fromkeys(_HEADINGS)
                for heading, value in values.items():
                    made[f"{stage}, {cells}: {heading}"] = value
        return made

    def records(self) -> Iterator[dict[str, int | float | str | None]]:
        """The same as one record for each stage, with margins and without."""
        for stage in self.stages:
            yield {
                **self._head(),
                "stage": stage.stage.value,
                "margins": "with" if stage.margins else "without",
                **stage.columns(),
                "note": stage.reason,
            }

    def _head(self) -> dict[str, int | float | str | None]:
        return {
            "number": self.number,
            "table": self.table,
            "variables": ", ".join(self.variables),
            "hierarchy levels": ", ".join(map(str, self.levels)),
            "unsafe up to": self.unsafe_up_to,
        }


def evaluation_row(
    number: int,
    cube: AnyCube,
    table: AnyTable,
    *,
    unsafe: int = UNSAFE,
    others: Sequence[tuple[Stage, AnyTable]] = (),
) -> EvaluationRow:
    """The row of a table on the sheet.

    Args:
        number: Its number on the sheet.
        cube: True counts.
        table: What is published.
        unsafe: Counts from 1 to this are unsafe: 2, or 1.
        others: Further stages between the two, such as the counts after swapping.
    """
    if type(unsafe) is not int or unsafe < 1:
        raise SpecError("Unsafe counts are those from 1 to a whole number, 1 or more.")
    parts = [TablePart.ALL]
    if all(axis.base_is_shown for axis in cube.spec.axes):
        parts.append(TablePart.INTERIOR)
    stages: list[StageFigures] = []
    for stage, values in ((Stage.ORIGINAL, None), *others, (Stage.PUBLISHED, table)):
        for part in parts:
            if values is None:
                counts = counts_of(cube, part)
                pair = Pair(counts.true, counts.true, counts.absent)
            else:
                pair = pair_of(cube, values, part)
            before, after = Tally.of(pair.true, pair.published).figures(
                cells=pair.cells, margins=part is TablePart.ALL, unsafe=unsafe
            )
            figures = before if values is None else replace(after, stage=stage)
            stages.append(replace(figures, withheld=pair.withheld))
    row = tallied_row(cube.spec.title, cube.spec, stages, unsafe=unsafe)
    return replace(row, number=number)


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
        tally = cls()
        sound = tally_pairs(
            np.ascontiguousarray(true),
            np.ascontiguousarray(published),
            tally.true.bins,
            tally.published.bins,
            tally.change.bins,
        )
        if not sound:
            raise SpecError("Some values are below 0, which no count is.")
        # A change is never larger than both: where no value is large, none is.
        if max(true.max(initial=0), published.max(initial=0)) >= BINS:
            change = np.abs(published - true)
            for values, kept in zip((true, published, change), tally._parts(), strict=True):
                kept.large.append(values[values >= BINS])
        return tally

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
    absent = cells - int(of.bins.sum()) - sum(values.size for values in of.large)
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
        reason="" if cells else sentence("assess.reason.no_number"),
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
