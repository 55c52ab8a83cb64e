"""Cells of a study: how they change, which change most, which are given away."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.layout import positions_of
from sdcensus.model.cube.pairs import pair_of
from sdcensus.model.cube.parts import TablePart, known_axes
from sdcensus.model.inference.intervals import Intervals
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.published.table import Table
from sdcensus.model.spec.headings import code_label, variable_heading
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.report.study.results import GROUPS, CellFigures, DeviationProfile
from sdcensus.risk.feasibility import SMALL
from sdcensus.utility.against_design import chi_square_of_pair
from sdcensus.utility.deviations import Worst, worst_cells

Int64 = npt.NDArray[np.int64]
Float64 = npt.NDArray[np.float64]

#: Cells of each kind that are told.
MOST_CELLS = 5


def profile(cube: Cube, table: Table, perturbation: Perturbation) -> DeviationProfile:
    """Compare the changes of interior cells with a design."""
    pair = pair_of(cube, table, TablePart.INTERIOR)
    counts, change = pair.true[pair.true > 0], pair.deviation[pair.true > 0]
    most, tail = perturbation.max_deviation, perturbation.tail
    width = 2 * most + 1
    # What the design does not have is told by the test.
    change = np.clip(change, -most, most) + most
    groups = np.minimum(counts, len(GROUPS)) - 1
    chances = np.zeros((tail.rows, width))
    for row in range(tail.rows):
        for value, chance in perturbation.distribution(row):
            chances[row, value + most] = float(chance)
    of_group = np.bincount(
        groups * tail.rows + tail.rows_of(counts), minlength=len(GROUPS) * tail.rows
    )
    observed = np.bincount(groups * width + change, minlength=len(GROUPS) * width)
    return DeviationProfile(
        deviations=tuple(range(-most, most + 1)),
        observed=observed.reshape(len(GROUPS), width).astype(np.int64),
        expected=of_group.reshape(len(GROUPS), tail.rows) @ chances,
        test=chi_square_of_pair(pair, perturbation),
    )


def worst(
    cube: Cube, table: Table, *, most: int = MOST_CELLS, language: str | None = None
) -> tuple[CellFigures, ...]:
    """The cells that are changed most, by the difference of square roots."""
    worst_of_all = worst_cells(cube, table, most, by=Worst.ROOT)
    return tuple(_told(cube, table, int(number), None, language) for number in worst_of_all.numbers)


def given_away(
    cube: Cube,
    table: Table,
    intervals: Intervals,
    *,
    most: int = MOST_CELLS,
    language: str | None = None,
) -> tuple[CellFigures, ...]:
    """Cells with a true count of 1 or 2 that can be worked out, the most prominent first.

    Those of which one count is left come before those that may be 0 or 1.
    """
    given_away = intervals.disclosed & (cube.count > 0) & (cube.count <= SMALL)
    numbers = np.flatnonzero(given_away.reshape(-1)).astype(np.uint64)
    known = (intervals.lower == intervals.upper).reshape(-1)[numbers.astype(np.int64)]
    order = np.lexsort((numbers, known_axes(cube.spec, numbers), ~known))[:most]
    return tuple(_told(cube, table, int(number), intervals, language) for number in numbers[order])


def _told(
    cube: Cube, table: Table, number: int, intervals: Intervals | None, language: str | None
) -> CellFigures:
    place = positions_of(cube.shape, number)
    codes, labels, words = cell_words(cube.spec, place, language)
    return CellFigures(
        codes=codes,
        labels=labels,
        words=words,
        true=int(cube.count[place]),
        published=int(table.published[place]),
        lower=None if intervals is None else int(intervals.lower[place]),
        upper=None if intervals is None else int(intervals.upper[place]),
    )


def cell_words(
    spec: TableSpec, place: Sequence[int], language: str | None = None
) -> tuple[tuple[str, ...], tuple[str, ...], str]:
    """Codes, labels, and the cell in words: labels of the axes that do not stand at their total.

    A label that begins with a digit says nothing by itself: the variable stands before it.
    """
    pairs = [*zip(spec.axes, place, strict=True)]
    codes = [axis.codes[at] for axis, at in pairs]
    labels = tuple(code_label(axis, at, language) for axis, at in pairs)
    named = [
        f"{variable_heading(axis.variable, language)} {label}" if label[:1].isdigit() else label
        for axis, label, code in zip(spec.axes, labels, codes, strict=True)
        if not code.is_total
    ]
    return tuple(code.code for code in codes), labels, ", ".join(named) or f"all {spec.of.plural}"
