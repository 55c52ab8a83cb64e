"""The evaluation sheet of Statistics Netherlands: a row for each table, before and after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.pairs import Pair, counts_of, pair_of
from sdcensus.model.cube.parts import Int64, Part
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.published.table import AnyTable

#: Counts from 1 to this are unsafe, unless said otherwise.
UNSAFE = 2


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
    "share of unsafe cells": "unsafe_share",
    "mean": "mean",
    "median": "median",
    "mean change": "mean_change",
    "median change": "median_change",
    "largest change": "max_change",
    "share equal to original": "share_equal",
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
        for stage in dict.fromkeys(one.stage for one in self.stages):
            for margins, cells in ((True, "with margins"), (False, "without margins")):
                found = [one for one in self.stages if (one.stage, one.margins) == (stage, margins)]
                values = found[0].columns() if found else dict.fromkeys(_HEADINGS)
                for heading, value in values.items():
                    made[f"{stage}, {cells}: {heading}"] = value
        return made

    def records(self) -> Iterator[dict[str, int | float | str | None]]:
        """The same as one record for each stage, with margins and without."""
        for one in self.stages:
            yield {
                **self._head(),
                "stage": one.stage.value,
                "margins": "with" if one.margins else "without",
                **one.columns(),
                "note": one.reason,
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
    spec = cube.spec
    stages: list[StageFigures] = []
    parts = [Part.ALL]
    if all(axis.base_is_shown for axis in spec.axes):
        parts.append(Part.INTERIOR)
    steps: list[tuple[Stage, AnyTable | None]] = [
        (Stage.ORIGINAL, None),
        *others,
        (Stage.PUBLISHED, table),
    ]
    for stage, values in steps:
        for part in parts:
            pair = _unchanged(cube, part) if values is None else pair_of(cube, values, part)
            stages.append(_figures(pair, stage, part is Part.ALL, unsafe))
    return EvaluationRow(
        number,
        spec.title,
        tuple(axis.name for axis in spec.axes),
        tuple(len(axis.levels) for axis in spec.axes),
        unsafe,
        tuple(stages),
    )


def _unchanged(cube: AnyCube, part: Part) -> Pair:
    """The true counts beside themselves: the table as if it were published exactly."""
    counts = counts_of(cube, part)
    return Pair(counts.true, counts.true, counts.absent)


def _figures(pair: Pair, stage: Stage, margins: bool, unsafe: int) -> StageFigures:
    values, cells = pair.published, pair.cells
    size = np.abs(pair.deviation)
    original = stage is Stage.ORIGINAL
    total = int(values.sum())
    risky = int(((values >= 1) & (values <= unsafe)).sum())
    compared = bool(cells) and not original
    low = int(values.min(initial=np.iinfo(np.int64).max))
    return StageFigures(
        stage=stage,
        margins=margins,
        cells=cells,
        withheld=pair.withheld,
        zeros=int((values == 0).sum()) + pair.absent,
        total=total,
        minimum=(0 if pair.absent else low) if cells else None,
        maximum=int(values.max(initial=0)) if cells else None,
        mean=total / cells if cells else None,
        median=_median(values, pair.absent) if cells else None,
        unsafe=risky,
        unsafe_share=risky / cells if cells else None,
        mean_change=int(size.sum()) / cells if compared else None,
        median_change=_median(size, pair.absent) if compared else None,
        max_change=int(size.max(initial=0)) if compared else None,
        share_equal=(int((size == 0).sum()) + pair.absent) / cells if compared else None,
        reason="" if cells else "there is no cell with a number",
    )


def _median(values: Int64, absent: int) -> float:
    """The median of values, none below 0, and of so many further zeros."""
    cells = values.size + absent
    middle = [(cells - 1) // 2, cells // 2]
    inside = [at - absent for at in middle if at >= absent]
    if not inside:
        return 0.0
    ordered = np.partition(values, inside)
    # One of the two may be a further zero, which adds nothing.
    return sum(int(ordered[at]) for at in inside) / 2
