"""The measures of the study of the Office for National Statistics (ONS, 2011), method by method.

Its Table 5 is about disclosure risk, 6 and 7 about distances (in output areas and in wards), 8
about margins, 9 about variances, 10 about ranks. Associations stand in none of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from sdcensus.model.confidential import Confidential
from sdcensus.report.study.figures import ons_figure
from sdcensus.report.study.results import Study, StudyTable

#: Its subjects in the order of its tables, with our measures of each.
ONS_LAYOUT = {
    "risk": ("untouched_cells", "untouched_records"),
    "distances": ("hellinger", "relative", "absolute"),
    "margins": ("margins", "margins_largest"),
    "variances": ("variance_ratio",),
    "ranks": ("ranks",),
    "association": ("association",),
}
#: The numbers of its tables; it has none on associations.
ONS_NUMBERS = {"risk": "5", "distances": "6, 7", "margins": "8", "variances": "9", "ranks": "10"}


@dataclass(frozen=True, slots=True, repr=False)
class OnsRow(Confidential):
    """One figure: its tables in the study, measure, table of the census, method, and dispersion."""

    numbers: str
    measure: str
    table: StudyTable
    method: str
    value: float | None
    variance: float | None
    standard_error: float | None

    def __repr__(self) -> str:
        return f"<OnsRow {self.measure}: confidential>"


def ons_rows(study: Study) -> Iterator[OnsRow]:
    """Every figure of its subjects."""
    for subject, measures in ONS_LAYOUT.items():
        for measure in measures:
            for table in study.tables:
                for result in study.mains(table):
                    figure = ons_figure(result, measure)
                    name = result.candidate.name
                    numbers = ONS_NUMBERS.get(subject, "")
                    yield OnsRow(numbers, measure, table, name, *figure)
