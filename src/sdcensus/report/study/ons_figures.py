"""The measures of the study of the Office for National Statistics (ONS, 2011), method by method.

Six tables: disclosure risk, distances, variances, associations, ranks, margins. Which measure
stands in which of its Tables 5 to 10 is not told in our sources: the numbers are our arrangement.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sdcensus.model.confidential import Confidential
from sdcensus.report.study.figures import further_figures
from sdcensus.report.study.results import Study, StudyResult, StudyTable
from sdcensus.utility.by_row import Dispersion

#: The measures under numbers of our own arrangement.
ONS_LAYOUT = {
    5: ("untouched_cells", "untouched_records"),
    6: ("hellinger", "relative", "absolute"),
    7: ("variance_ratio",),
    8: ("association",),
    9: ("ranks",),
    10: ("margins", "margins_largest"),
}


@dataclass(frozen=True, slots=True, repr=False)
class OnsRow(Confidential):
    """One figure: the number of its table, measure, table of the census, method, and dispersion."""

    number: int
    measure: str
    table: StudyTable
    method: str
    value: float | None
    variance: float | None
    standard_error: float | None

    def __repr__(self) -> str:
        return f"<OnsRow {self.measure}: confidential>"


def ons_rows(study: Study) -> Iterator[OnsRow]:
    """Every figure of the six tables."""
    for number, measures in ONS_LAYOUT.items():
        for measure in measures:
            for table in study.tables:
                for result in study.mains(table):
                    figure = ons_figure(result, measure)
                    name = result.candidate.name
                    yield OnsRow(number, measure, table, name, *figure)


def ons_figure(
    result: StudyResult, measure: str
) -> tuple[float | None, float | None, float | None]:
    """A figure with the variance between areas and the standard error of its mean."""
    rows = None if result.further is None else result.further.rows
    by_row: dict[str, Dispersion | None] = {
        "hellinger": None if rows is None else rows.hellinger,
        "relative": None if rows is None else rows.relative_distance,
        "absolute": None if rows is None else rows.absolute_distance,
        "variance_ratio": None if rows is None else rows.variance_ratio,
    }
    if measure in by_row:
        mean = by_row[measure]
        if mean is None:
            return None, None, None
        return mean.mean, mean.variance, mean.standard_error
    figures = further_figures(result)
    return figures[_FIGURES[measure]], None, None


_FIGURES = {
    "untouched_cells": "untouched_cells_pct",
    "untouched_records": "untouched_records_pct",
    "association": "association_change_pct",
    "ranks": "rank_change_pct",
    "margins": "marginal_change_pct",
    "margins_largest": "largest_marginal_change_pct",
}
