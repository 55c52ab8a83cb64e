"""Further measures of a study as sheets: every method and point, the frontier, the order."""

from __future__ import annotations

from sdcensus.model.vocabulary import RiskAxis
from sdcensus.report.study.figures import COMBINED, FURTHER, combined_figures, further_figures
from sdcensus.report.study.frontier import frontier_of
from sdcensus.report.study.ons_figures import ons_rows
from sdcensus.report.study.order import agreements
from sdcensus.report.study.published import ONS, Published
from sdcensus.report.study.results import Study
from sdcensus.report.study.sheet import (
    Form,
    StudySheet,
    made_sheet,
    sheet_column,
    sheet_columns,
    text_columns,
)
from sdcensus.report.study.withheld import WITHHELD, withheld_figures
from sdcensus.report.study.words import called, drawn, measure_name, say


def further_sheets(study: Study) -> list[StudySheet]:
    """Sheets of a study whose further measures were taken."""
    results = [result for table in study.tables for result in table.results]
    if all(result.further is None for result in results):
        return []
    every = [_further(study)]
    if study.withholds:
        every.append(_withheld(study))
    if study.left_out:
        every.append(_left_out(study))
    if study.preset == ONS:
        every.append(_ons(study))
    return every


def _further(study: Study) -> StudySheet:
    rows = []
    broken = dict(study.violations)
    for table in study.tables:
        best = [frontier_of(study, table, axis) for axis in RiskAxis]
        for result in table.results:
            candidate, draw = result.candidate, result.candidate.draw
            figures = further_figures(result) | combined_figures(result)
            rows.append(
                (
                    called(study, table),
                    candidate.name,
                    "" if draw is None else drawn(study, draw),
                    candidate.point,
                    " | ".join(candidate.before),
                    result.risk,
                    result.loss,
                    result.hellinger,
                    *(figures[name] for name in (*FURTHER, *COMBINED)),
                    figures["largest_marginal_change_pct"],
                    figures["association_change_pct"],
                    *(int(candidate.title in titles) for titles in best),
                    broken.get(candidate.title, 0),
                )
            )
    columns = (
        *text_columns(study, "table", "scheme", "draw"),
        sheet_column(study, "point", Form.COUNT),
        sheet_column(study, "before"),
        *sheet_columns(
            study,
            ("R", Form.RISK),
            ("mean_absolute_distance", Form.PERCENT),
            ("hellinger", Form.RISK),
            *((name, Form.RISK) for name in (*FURTHER, *COMBINED)),
            ("largest_marginal_change_pct", Form.PERCENT),
            ("association_change_pct", Form.PERCENT),
            ("on_the_frontier", Form.COUNT),
            ("on_the_frontier_untouched", Form.COUNT),
            ("on_the_frontier_claim", Form.COUNT),
            ("new_violations", Form.COUNT),
        ),
    )
    return made_sheet(study, "further_measures", columns, rows, frozen=2)


def _withheld(study: Study) -> StudySheet:
    rows = [
        (called(study, table), result.candidate.title, *withheld_figures(result).values())
        for table in study.tables
        for result in table.results
    ]
    columns = (
        *text_columns(study, "table", "scheme"),
        *sheet_columns(study, *((name, Form.RISK) for name in WITHHELD)),
    )
    return made_sheet(study, "withheld", columns, rows, frozen=2)


def _left_out(study: Study) -> StudySheet:
    columns = text_columns(study, "scheme", "reason")
    return made_sheet(study, "left_out", columns, study.left_out, frozen=1)


def _ons(study: Study) -> StudySheet:
    rows = [
        (
            row.numbers,
            say(study, f"ons.{row.measure}"),
            called(study, row.table),
            row.method,
            row.value,
            row.variance,
            row.standard_error,
        )
        for row in ons_rows(study)
    ]
    columns = (
        *text_columns(study, "ons_table", "measure", "table", "scheme"),
        sheet_column(study, "value", Form.RISK),
        sheet_column(study, "between_areas", Form.RISK),
        sheet_column(study, "standard_error", Form.SMALL),
    )
    return made_sheet(study, "ons_tables", columns, rows, frozen=4)


def order_sheet(study: Study, published: Published) -> StudySheet:
    """How many pairs of methods stand in the printed order, by measure and table."""
    rows = [
        (
            called(study, agreement.table),
            measure_name(study, published, agreement.measure),
            agreement.same,
            agreement.pairs,
            "; ".join(agreement.turned),
        )
        for agreement in agreements(study, published)
    ]
    columns = (
        *text_columns(study, "table", "measure"),
        sheet_column(study, "same_order", Form.COUNT),
        sheet_column(study, "pairs", Form.COUNT),
        sheet_column(study, "turned"),
    )
    return made_sheet(study, "order", columns, rows, frozen=2)
