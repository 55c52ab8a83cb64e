"""The figures of a study as sheets of rows, in the layout of the founding study.

All of it is computed from true counts and stays in the office.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sdcensus.model.vocabulary import NoiseDraw
from sdcensus.report.study.published import SOURCE, Figures, Published
from sdcensus.report.study.results import GROUPS, CellFigures, Study, StudyResult, StudyTable
from sdcensus.report.study.words import verdict

Value = str | int | float | None


class Form(StrEnum):
    """How a column is shown."""

    TEXT = "text"
    COUNT = "#,##0"
    PERCENT = "0.00"
    SHORT = "0.0"
    RISK = "0.000"
    SMALL = "0.00000"


@dataclass(frozen=True, slots=True)
class SheetColumn:
    """A column: its heading for people, its name for programs, and how it is shown."""

    heading: str
    name: str
    form: Form = Form.TEXT


@dataclass(frozen=True, slots=True, repr=False)
class StudySheet:
    """Rows of figures under one title.

    Attributes:
        name: Of the sheet, and in small letters of the csv file.
        title: What it shows.
        columns: In their order.
        rows: Plain values; ``None`` where a figure has no meaning.
        frozen: Columns that stay in sight.
    """

    name: str
    title: str
    columns: tuple[SheetColumn, ...]
    rows: tuple[tuple[Value, ...], ...]
    frozen: int = 2

    def __repr__(self) -> str:
        return f"<Sheet {self.name}: confidential>"

    @property
    def file(self) -> str:
        """The name of its csv file."""
        return f"{self.name.lower().replace(' ', '_')}.csv"


def sheets(study: Study, published: Published | None = None) -> list[StudySheet]:
    """Everything that was measured."""
    every = [
        _tables(study),
        _methods(study),
        _totals(study),
        _results(study),
        _deviations(study),
        _cells(study, "Worst cells", "The cells that each method changes most", worst=True),
        _cells(study, "Given away", "Small cells that can be worked out", worst=False),
    ]
    if published is not None:
        every.append(_printed(study, published))
    return every


# ---------------------------------------------------------------- what is in them


def _tables(study: Study) -> StudySheet:
    rows = []
    for table in study.tables:
        of = table.original
        rows.append(
            (
                table.name,
                ", ".join(axis.name for axis in table.spec.axes),
                table.spec.of.plural,
                of.population,
                table.spec.cells,
                of.interior_cells,
                of.mean_cell_size,
                100 * of.share_small,
                100 * of.share_small_or_empty,
                of.risk,
            )
        )
    return StudySheet(
        "Tables",
        "The tables before protection (laid out as Table 9 of ECLAC 2020)",
        (
            SheetColumn("Table", "table"),
            SheetColumn("Axes", "axes"),
            SheetColumn("Units", "units"),
            SheetColumn("Population", "population", Form.COUNT),
            SheetColumn("Cells with totals", "cells", Form.COUNT),
            SheetColumn("Interior cells", "interior_cells", Form.COUNT),
            SheetColumn("Mean cell size", "mean_cell_size", Form.PERCENT),
            SheetColumn("Cells of 1 and 2, %", "pct_cells_1_2", Form.SHORT),
            SheetColumn("Cells of 0, 1 and 2, %", "pct_cells_0_1_2", Form.SHORT),
            SheetColumn("Risk R", "R", Form.RISK),
        ),
        tuple(rows),
        frozen=1,
    )


_MEASURES = (
    SheetColumn("Disclosed cells, %", "disclosed_cells_pct", Form.PERCENT),
    SheetColumn("Risk R", "R", Form.RISK),
    SheetColumn("Mean absolute distance", "mean_absolute_distance", Form.PERCENT),
    SheetColumn("Mean relative distance", "mean_relative_distance", Form.PERCENT),
    SheetColumn("Hellinger distance", "hellinger", Form.RISK),
    SheetColumn("Small cells disclosed, %", "small_cells_disclosed_pct", Form.PERCENT),
    SheetColumn(
        "Mean absolute distance, small cells", "mean_absolute_distance_small", Form.PERCENT
    ),
)


def measures(result: StudyResult) -> dict[str, float | None]:
    """The measures of Table 10, by their names."""
    utility = result.utility
    return {
        "disclosed_cells_pct": percentage(result.share),
        "R": result.risk,
        "mean_absolute_distance": utility.mean_absolute_distance,
        "mean_relative_distance": utility.mean_relative_distance,
        "hellinger": utility.hellinger_normalised,
        "small_cells_disclosed_pct": percentage(result.small_share),
        "mean_absolute_distance_small": utility.mean_absolute_distance_small,
    }


def percentage(share: float | None) -> float | None:
    """A share in percent."""
    return None if share is None else 100 * share


def _methods(study: Study) -> StudySheet:
    """One block of rows for each table, the methods in their order."""
    drawn = f", drawn {study.main}" if study.main is not None else ""
    rows = [
        (table.name, main.candidate.name, *measures(main).values(), verdict([main]).value)
        for table in study.tables
        for main in study.mains(table)
    ]
    return StudySheet(
        "Methods",
        f"Every method on every table{drawn} (laid out as Tables 10, A1 and A2 of ECLAC 2020)",
        (
            SheetColumn("Table", "table"),
            SheetColumn("Scheme", "scheme"),
            *_MEASURES,
            SheetColumn("The method", "verdict"),
        ),
        tuple(rows),
    )


def _totals(study: Study) -> StudySheet:
    columns = [SheetColumn("Table", "table"), SheetColumn("Scheme", "scheme")]
    for draw in study.draws:
        columns.append(SheetColumn(f"All cells, {draw}, %", f"disclosed_pct_{draw}", Form.PERCENT))
    for draw in study.draws:
        columns.append(
            SheetColumn(f"Small cells, {draw}, %", f"small_disclosed_pct_{draw}", Form.PERCENT)
        )
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
                rows.append((table.name, name, *shares, *small))
    return StudySheet(
        "Totals",
        "Disclosed cells by how totals are drawn (laid out as Table 12 of ECLAC 2020)",
        tuple(columns),
        tuple(rows),
    )


def _results(study: Study) -> StudySheet:
    rows = []
    for table, study_result in _pairs(study):
        utility = study_result.utility
        rows.append(
            (
                table.name,
                study_result.candidate.name,
                _drawn(study_result),
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
    return StudySheet(
        "All results",
        "Every table, method and draw",
        (
            SheetColumn("Table", "table"),
            SheetColumn("Scheme", "scheme"),
            SheetColumn("Draw", "draw"),
            SheetColumn("Axes", "ways", Form.COUNT),
            SheetColumn("Non-empty cells", "cells", Form.COUNT),
            SheetColumn("Disclosed", "disclosed", Form.COUNT),
            SheetColumn("Small cells", "small_cells", Form.COUNT),
            SheetColumn("Small, disclosed", "small_disclosed", Form.COUNT),
            *_MEASURES,
            SheetColumn("Largest change", "max_deviation", Form.COUNT),
            SheetColumn("Variance of changes, all cells", "variance", Form.RISK),
            SheetColumn("Published as 0 though not", "false_zeros", Form.COUNT),
            SheetColumn("Published though 0", "false_nonzeros", Form.COUNT),
            SheetColumn("Unchanged non-empty cells, %", "pct_unchanged", Form.PERCENT),
            SheetColumn("Rank correlation", "spearman", Form.SMALL),
            SheetColumn("Chi-square against design", "chi_square", Form.PERCENT),
            SheetColumn("Degrees of freedom", "freedom", Form.COUNT),
            SheetColumn("Probability", "probability", Form.RISK),
        ),
        tuple(rows),
        frozen=3,
    )


def _deviations(study: Study) -> StudySheet:
    rows: list[tuple[Value, ...]] = []
    for table, study_result in _pairs(study):
        if study_result.profile is None:
            continue
        for at, group in enumerate(GROUPS):
            cells = int(study_result.profile.observed[at].sum())
            for column, value in enumerate(study_result.profile.deviations):
                seen = int(study_result.profile.observed[at, column])
                wanted = float(study_result.profile.expected[at, column])
                if cells and (seen or wanted):
                    rows.append(
                        (
                            table.name,
                            study_result.candidate.name,
                            _drawn(study_result),
                            group,
                            value,
                            seen,
                            wanted,
                            100 * seen / cells,
                            100 * wanted / cells,
                        )
                    )
    return StudySheet(
        "Deviations",
        "Changes of non-empty interior cells beside what the design expects",
        (
            SheetColumn("Table", "table"),
            SheetColumn("Scheme", "scheme"),
            SheetColumn("Draw", "draw"),
            SheetColumn("True count", "true_count"),
            SheetColumn("Change", "deviation", Form.COUNT),
            SheetColumn("Cells", "observed", Form.COUNT),
            SheetColumn("Expected cells", "expected", Form.SHORT),
            SheetColumn("Cells, %", "observed_pct", Form.PERCENT),
            SheetColumn("Expected, %", "expected_pct", Form.PERCENT),
        ),
        tuple(rows),
        frozen=3,
    )


def _cells(study: Study, name: str, title: str, *, worst: bool) -> StudySheet:
    rows: list[tuple[Value, ...]] = []
    for table, study_result in _pairs(study):
        cells: Sequence[CellFigures] = study_result.worst if worst else study_result.given_away
        for cell in cells:
            bounds = () if worst else (cell.lower, cell.upper)
            row = (
                table.name,
                study_result.candidate.name,
                _drawn(study_result),
                cell.words,
                " × ".join(cell.codes),
            )
            rows.append((*row, cell.true, cell.published, *bounds))
    bounded = (
        SheetColumn("Lowest that fits", "lower", Form.COUNT),
        SheetColumn("Highest that fits", "upper", Form.COUNT),
    )
    return StudySheet(
        name,
        title,
        (
            SheetColumn("Table", "table"),
            SheetColumn("Scheme", "scheme"),
            SheetColumn("Draw", "draw"),
            SheetColumn("Cell", "cell"),
            SheetColumn("Codes", "codes"),
            SheetColumn("True", "true_count", Form.COUNT),
            SheetColumn("Published", "published", Form.COUNT),
            *(() if worst else bounded),
        ),
        tuple(rows),
        frozen=3,
    )


@dataclass(frozen=True, slots=True, repr=False)
class Compared:
    """A printed figure beside ours; shares of disclosed cells by sums of interior cells alone."""

    table: str
    scheme: str
    measure: str
    printed: float
    ours: float | None
    all_sums: float | None = None


def counted_as_printed(result: StudyResult) -> tuple[float | None, float | None]:
    """Disclosed cells and small cells in percent, by the sums that the printed figures fit."""
    alone = result.by_interior
    if alone is None:
        return percentage(result.share), percentage(result.small_share)
    return percentage(alone.share), percentage(alone.small_share)


def compared(study: Study, published: Published) -> Iterator[Compared]:
    """Every printed figure that has one of ours beside it."""
    for table in study.tables:
        of = table.original
        original: dict[str, float | None] = {
            "interior_cells": of.interior_cells,
            "mean_cell_size": of.mean_cell_size,
            "pct_cells_1_2": 100 * of.share_small,
            "pct_cells_0_1_2": 100 * of.share_small_or_empty,
            "R": of.risk,
        }
        yield from _beside(table, "original", original, published.of(table))
        for name in study.names:
            printed = published.of(table, name)
            main = next((main for main in study.mains(table) if main.candidate.name == name), None)
            if main is not None:
                every = measures(main)
                mine = dict(every)
                mine["disclosed_cells_pct"], mine["small_cells_disclosed_pct"] = counted_as_printed(
                    main
                )
                yield from _beside(table, name, mine, printed, every)
            fresh = table.result(name, NoiseDraw.INDEPENDENT)
            if fresh is not None:
                names = "disclosed_pct_independent", "small_disclosed_pct_independent"
                alone = dict(zip(names, counted_as_printed(fresh), strict=True))
                shares = percentage(fresh.share), percentage(fresh.small_share)
                every = dict(zip(names, shares, strict=True))
                yield from _beside(table, name, alone, printed, every)


def _beside(
    table: StudyTable,
    scheme: str,
    mine: Mapping[str, float | None],
    printed: Figures,
    every: Mapping[str, float | None] | None = None,
) -> Iterator[Compared]:
    for measure, ours in mine.items():
        if measure in printed:
            by_all = None
            if every is not None and "disclosed" in measure:
                by_all = every[measure]
            yield Compared(table.name, scheme, measure, printed[measure], ours, by_all)


def _printed(study: Study, published: Published) -> StudySheet:
    rows = tuple(
        (
            comparison.table,
            comparison.scheme,
            comparison.measure.replace("_", " "),
            comparison.printed,
            comparison.ours,
            None if comparison.ours is None else comparison.ours - comparison.printed,
            comparison.all_sums,
        )
        for comparison in compared(study, published)
    )
    return StudySheet(
        "Printed figures",
        f"{published.country} as printed ({SOURCE}), and this study",
        (
            SheetColumn("Table", "table"),
            SheetColumn("Scheme", "scheme"),
            SheetColumn("Measure", "measure"),
            SheetColumn("Printed", "printed", Form.RISK),
            SheetColumn("This study, counted alike", "ours", Form.RISK),
            SheetColumn("Difference", "difference", Form.RISK),
            SheetColumn("This study, by all sums", "ours_all_sums", Form.RISK),
        ),
        rows,
        frozen=3,
    )


def _pairs(study: Study) -> Iterator[tuple[StudyTable, StudyResult]]:
    for table in study.tables:
        for result in table.results:
            yield table, result


def _drawn(result: StudyResult) -> str:
    return "" if result.candidate.draw is None else result.candidate.draw.value
