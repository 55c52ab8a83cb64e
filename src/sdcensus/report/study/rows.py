"""The figures of a study as sheets of rows, in the layout of the founding study.

All of it is computed from true counts and stays in the office.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdcensus.model.spec.headings import entity_text
from sdcensus.model.vocabulary import NoiseDraw
from sdcensus.report.study.figures import compared, measures, percentage
from sdcensus.report.study.further_rows import further_sheets, order_sheet
from sdcensus.report.study.published import ORIGINAL, Published
from sdcensus.report.study.results import GROUPS, CellFigures, Study, StudyResult, StudyTable
from sdcensus.report.study.sheet import (
    Form,
    SheetColumn,
    StudySheet,
    Value,
    made_sheet,
    sheet_column,
    sheet_columns,
    text_columns,
)
from sdcensus.report.study.words import called, drawn, measure_name, say, verdict


def sheets(study: Study, published: Published | None = None) -> list[StudySheet]:
    """Everything that was measured."""
    every = [
        _tables(study),
        _methods(study),
        _totals(study),
        _results(study),
        *further_sheets(study),
        _deviations(study),
        _cells(study, "worst_cells", worst=True),
        _cells(study, "given_away", worst=False),
    ]
    if published is not None:
        every.append(_printed(study, published))
        every.append(order_sheet(study, published))
    return every


# ---------------------------------------------------------------- what is in them


def _tables(study: Study) -> StudySheet:
    rows = []
    for table in study.tables:
        of = table.original
        rows.append(
            (
                called(study, table),
                ", ".join(axis.name for axis in table.spec.axes),
                entity_text(table.spec.of, study.language),
                of.population,
                table.spec.cells,
                of.interior_cells,
                of.mean_cell_size,
                100 * of.share_small,
                100 * of.share_small_or_empty,
                of.risk,
            )
        )
    return made_sheet(
        study,
        "tables",
        (
            *text_columns(study, "table", "axes", "units"),
            sheet_column(study, "population", Form.COUNT),
            sheet_column(study, "cells", Form.COUNT, heading="cells_with_totals"),
            *sheet_columns(
                study,
                ("interior_cells", Form.COUNT),
                ("mean_cell_size", Form.PERCENT),
                ("pct_cells_1_2", Form.SHORT),
                ("pct_cells_0_1_2", Form.SHORT),
                ("R", Form.RISK),
            ),
        ),
        rows,
        frozen=1,
    )


_MEASURES = (
    ("disclosed_cells_pct", Form.PERCENT),
    ("R", Form.RISK),
    ("mean_absolute_distance", Form.PERCENT),
    ("mean_relative_distance", Form.PERCENT),
    ("hellinger", Form.RISK),
    ("small_cells_disclosed_pct", Form.PERCENT),
    ("mean_absolute_distance_small", Form.PERCENT),
)


def _methods(study: Study) -> StudySheet:
    """One block of rows for each table, the methods in their order."""
    rows = [
        (
            called(study, table),
            main.candidate.name,
            *measures(main).values(),
            say(study, f"verdict.{verdict([main]).name.lower()}"),
        )
        for table in study.tables
        for main in study.mains(table)
    ]
    title = None
    if study.main is not None:
        title = say(study, "sheet_title.methods_drawn", draw=drawn(study, study.main))
    columns = (
        *text_columns(study, "table", "scheme"),
        *sheet_columns(study, *_MEASURES),
        sheet_column(study, "verdict"),
    )
    return made_sheet(study, "methods", columns, rows, title=title)


def _totals(study: Study) -> StudySheet:
    columns = [
        *text_columns(study, "table", "scheme"),
        *(_drawn_column(study, "all_drawn", "disclosed_pct", draw) for draw in study.draws),
        *(_drawn_column(study, "small_drawn", "small_disclosed_pct", draw) for draw in study.draws),
    ]
    rows: list[tuple[Value, ...]] = []
    for table in study.tables:
        for name in study.names:
            results = [table.result(name, draw) for draw in study.draws]
            if any(study_result is not None for study_result in results):
                shares = [
                    None if study_result is None else percentage(study_result.share)
                    for study_result in results
                ]
                small = [
                    None if study_result is None else percentage(study_result.small_share)
                    for study_result in results
                ]
                rows.append((called(study, table), name, *shares, *small))
    return made_sheet(study, "totals", columns, rows)


def _drawn_column(study: Study, heading: str, name: str, draw: NoiseDraw) -> SheetColumn:
    shown = say(study, f"column.{heading}", draw=drawn(study, draw))
    return SheetColumn(shown, f"{name}_{draw.value}", Form.PERCENT)


def _results(study: Study) -> StudySheet:
    rows = []
    for table, study_result in _pairs(study):
        utility = study_result.utility
        rows.append(
            (
                called(study, table),
                study_result.candidate.name,
                _draw(study, study_result),
                len(table.spec.axes),
                study_result.cells,
                study_result.disclosed,
                study_result.small_cells,
                study_result.small_disclosed,
                *measures(study_result).values(),
                utility.max_deviation,
                utility.variance,
                utility.false_zeros,
                utility.false_nonzeros,
                percentage(utility.share_unchanged_nonzero),
                utility.spearman,
                None if study_result.profile is None else study_result.profile.test.statistic,
                None if study_result.profile is None else study_result.profile.test.degrees,
                None if study_result.profile is None else study_result.profile.test.p_value,
            )
        )
    columns = (
        *text_columns(study, "table", "scheme", "draw"),
        *sheet_columns(
            study,
            ("ways", Form.COUNT),
            ("cells", Form.COUNT),
            ("disclosed", Form.COUNT),
            ("small_cells", Form.COUNT),
            ("small_disclosed", Form.COUNT),
            *_MEASURES,
            ("max_deviation", Form.COUNT),
            ("variance", Form.RISK),
            ("false_zeros", Form.COUNT),
            ("false_nonzeros", Form.COUNT),
            ("pct_unchanged", Form.PERCENT),
            ("spearman", Form.SMALL),
            ("chi_square", Form.PERCENT),
            ("freedom", Form.COUNT),
            ("probability", Form.RISK),
        ),
    )
    return made_sheet(study, "all_results", columns, rows, frozen=3)


def _deviations(study: Study) -> StudySheet:
    rows: list[tuple[Value, ...]] = []
    for table, study_result in _pairs(study):
        if study_result.profile is None:
            continue
        for at in range(len(GROUPS)):
            cells = int(study_result.profile.observed[at].sum())
            for column, value in enumerate(study_result.profile.deviations):
                seen = int(study_result.profile.observed[at, column])
                wanted = float(study_result.profile.expected[at, column])
                if cells and (seen or wanted):
                    rows.append(
                        (
                            called(study, table),
                            study_result.candidate.name,
                            _draw(study, study_result),
                            say(study, f"group.{at}"),
                            value,
                            seen,
                            wanted,
                            100 * seen / cells,
                            100 * wanted / cells,
                        )
                    )
    columns = (
        *text_columns(study, "table", "scheme", "draw", "true_count"),
        *sheet_columns(
            study,
            ("deviation", Form.COUNT),
            ("observed", Form.COUNT),
            ("expected", Form.SHORT),
            ("observed_pct", Form.PERCENT),
            ("expected_pct", Form.PERCENT),
        ),
    )
    return made_sheet(study, "deviations", columns, rows, frozen=3)


def _cells(study: Study, key: str, *, worst: bool) -> StudySheet:
    rows: list[tuple[Value, ...]] = []
    for table, study_result in _pairs(study):
        cells: Sequence[CellFigures] = study_result.worst if worst else study_result.given_away
        for cell in cells:
            bounds = () if worst else (cell.lower, cell.upper)
            row = (
                called(study, table),
                study_result.candidate.name,
                _draw(study, study_result),
                cell.words,
                " × ".join(cell.codes),
            )
            rows.append((*row, cell.true, cell.published, *bounds))
    bounded = sheet_columns(study, ("lower", Form.COUNT), ("upper", Form.COUNT))
    columns = (
        *text_columns(study, "table", "scheme", "draw", "cell", "codes"),
        sheet_column(study, "true_count", Form.COUNT, heading="true"),
        sheet_column(study, "published", Form.COUNT),
        *(() if worst else bounded),
    )
    return made_sheet(study, key, columns, rows, frozen=3)


def _printed(study: Study, published: Published) -> StudySheet:
    names = {table.name: called(study, table) for table in study.tables}
    rows = tuple(
        (
            names[comparison.table],
            say(study, "original") if comparison.scheme == ORIGINAL else comparison.scheme,
            measure_name(study, published, comparison.measure),
            comparison.printed,
            comparison.ours,
            None if comparison.ours is None else comparison.ours - comparison.printed,
            comparison.all_sums,
        )
        for comparison in compared(study, published)
    )
    title = say(
        study,
        "sheet_title.printed_figures",
        country=published.country,
        source=say(study, published.source),
    )
    columns = (
        *text_columns(study, "table", "scheme", "measure"),
        *sheet_columns(
            study,
            ("printed", Form.RISK),
            ("ours", Form.RISK),
            ("difference", Form.RISK),
            ("ours_all_sums", Form.RISK),
        ),
    )
    return made_sheet(study, "printed_figures", columns, rows, title=title, frozen=3)


def _pairs(study: Study) -> Iterator[tuple[StudyTable, StudyResult]]:
    for table in study.tables:
        for result in table.results:
            yield table, result


def _draw(study: Study, result: StudyResult) -> str:
    draw = result.candidate.draw
    return "" if draw is None else drawn(study, draw)
