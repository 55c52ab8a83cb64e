"""The parts of an assessment about what readers lose, and about other methods. Confidential."""

from __future__ import annotations

from typing import Any

from sdcensus.model.measure import Side
from sdcensus.model.quantities import NOTHING, decimal_text, number_text, share_text
from sdcensus.model.spec.axis import TOTAL
from sdcensus.model.spec.headings import variable_heading
from sdcensus.report.assessment.results import COMPARED, Assessment
from sdcensus.report.assessment.risk import measures
from sdcensus.report.assessment.words import knows_text, part_text, units
from sdcensus.report.charts import INK, STRONG, WEAK, altair_library
from sdcensus.report.page import Html, PageCell, Tone, details, figure, section, side_by_side, table
from sdcensus.report.perturbation.words import signed
from sdcensus.report.study.plots import MAP_LEGEND, Plot, risk_map
from sdcensus.report.study.results import Study
from sdcensus.utility.by_row import RowMeasures
from sdcensus.utility.deviations import Deviations
from sdcensus.utility.distances import Utility
from sdcensus.utility.levels import UtilityAt

#: More bars than this are not drawn one by one.
MOST_BARS = 61


def deviations_chart(found: Deviations) -> tuple[Any, str] | None:
    """How often each change occurs, with words for those who cannot see it."""
    share = found.share
    if not share or len(share) > MOST_BARS:
        return None
    alt = altair_library()
    values = [
        {"change": signed(change), "order": change, "percent": 100 * part, "stays": change == 0}
        for change, part in zip(found.deviation.tolist(), share, strict=True)
    ]
    bars = (
        alt.Chart(alt.Data(values=values))
        .mark_bar()
        .encode(
            x=alt.X(
                "change:N",
                sort=alt.EncodingSortField("order"),
                title="published less true",
                axis=alt.Axis(labelAngle=0, labelOverlap="parity", labelSeparation=4),
            ),
            y=alt.Y("percent:Q", title="% of cells"),
            color=alt.condition("datum.stays", alt.value(STRONG), alt.value(WEAK)),
        )
    )
    labels = bars.mark_text(dy=-6, fontSize=11, color=INK).encode(
        text=alt.Text("percent:Q", format=".1f"), color=alt.value(INK)
    )
    chart = (bars + labels) if len(values) <= 15 else bars
    words = "; ".join(f"{value['change']}: {value['percent']:.1f} %" for value in values)
    return chart.properties(width=560, height=150), f"Share of cells by change. {words}"


def methods_map(study: Study) -> Plot | None:
    """Each method a point, on the one table of a comparison; nothing where no point has a place."""
    return risk_map(study, study.tables[0])


_HEAD = (
    "cells",
    "mean change",
    "relative",
    "Hellinger",
    "largest change",
    "unchanged",
    "false zeros",
)


def lost(assessment: Assessment, language: str | None) -> Html:
    """Distances between published and true counts."""
    rows = [[part_text(part), *_utility(utility)] for part, utility in assessment.utility]
    parts: list[str] = [
        f"Means are over cells that hold anyone, in {units(assessment)}. Withheld cells are left"
        " out. A false zero holds someone and is published as 0.",
        table(
            "Distance between published and true counts of this table",
            ["cells of the table", *_HEAD],
            rows,
        ),
    ]
    if assessment.levels:
        levels = [
            [_level_text(assessment, level, language), *_utility(level.utility)]
            for level in assessment.levels
        ]
        parts.append(table("The same by level of area", ["level", *_HEAD], levels))
    if assessment.rows is not None and assessment.rows.rows:
        parts.append(_rows(assessment.rows))
    parts.append(measures(assessment, Side.LOSS, "Loss in figures, of this table alone"))
    chart = None if assessment.deviations is None else deviations_chart(assessment.deviations)
    if chart is not None:
        drawn, words = chart
        parts.append(
            figure(
                drawn,
                words,
                title="How often each change occurs.",
                caption="Of cells that hold anyone, totals included.",
            )
        )
    if assessment.worst:
        parts.append(_worst(assessment))
    return section("What the public loses", *parts)


def _rows(measured: RowMeasures) -> Html:
    listed = [
        ("Hellinger distance", measured.hellinger),
        ("sum of relative changes", measured.relative_distance),
        ("mean change, empty cells included", measured.absolute_distance),
        ("variance of counts, published to true", measured.variance_ratio),
    ]
    rows = [
        [
            name,
            number_text(dispersion.rows),
            decimal_text(dispersion.mean, 3),
            decimal_text(dispersion.variance, 4),
            decimal_text(dispersion.half_width, 3),
        ]
        for name, dispersion in listed
    ]
    return table(
        "Each area by itself, then the mean over areas and how far they differ",
        ["measure", "areas", "mean", "variance between areas", "± 1.96 standard errors"],
        rows,
    )


def _worst(assessment: Assessment) -> Html:
    rows = [
        [cell_figures.words, number_text(cell_figures.true), number_text(cell_figures.published)]
        for cell_figures in assessment.worst
    ]
    return details(
        "The cells that changed most",
        table("The largest changes", ["cell", "true", "published"], rows, wrapped=True),
    )


def _level_text(assessment: Assessment, one: UtilityAt, language: str | None) -> str:
    if one.level == TOTAL:
        return "all together"
    axis = assessment.table.spec.axis(one.axis)
    label = variable_heading(axis.variable, language)
    return label if one.level == axis.variable.leaf_level else f"{label} ({one.level})"


def _utility(one: Utility) -> list[str]:
    return [
        number_text(one.cells),
        decimal_text(one.mean_absolute_distance, 2),
        share_text(one.mean_relative_distance),
        decimal_text(one.hellinger_normalised, 3),
        NOTHING if one.max_deviation is None else str(one.max_deviation),
        share_text(one.share_unchanged_nonzero, digits=0),
        number_text(one.false_zeros),
    ]


def methods(assessment: Assessment) -> Html:
    """The table beside the same table by other methods."""
    study = assessment.compared
    if study is None:
        return Html("")
    results = study.tables[0].results
    own = [at for at, result in enumerate(results) if result.candidate.name == assessment.chosen]
    rows: list[list[PageCell | str]] = [
        [
            result.candidate.name,
            PageCell(
                share_text(result.share, digits=2), Tone.BAD if result.disclosed else Tone.PLAIN
            ),
            decimal_text(result.risk, 3),
            decimal_text(result.utility.mean_absolute_distance, 2),
            decimal_text(result.utility.hellinger_normalised, 3),
        ]
        for result in results
    ]
    shown: list[str] = [
        table(
            "Each method on this table alone; this table is marked",
            ["method", "given away", "risk R", "mean change", "Hellinger"],
            rows,
            picked=own,
        )
    ]
    drawn = methods_map(study)
    if drawn is not None:
        shown.append(
            figure(drawn.chart, drawn.alternative, title="Risk and loss.", caption=MAP_LEGEND)
        )
    feasibility, own_name = assessment.main, assessment.chosen
    knows = ""
    if feasibility is not None and own_name not in COMPARED:
        knows = f"; of this table, {knows_text(feasibility)}"
    return section(
        "Methods compared on this table",
        "Schemes of the founding study, their keys looked up as they are (ascending); totals and"
        " parts compared line by line, by an intruder who knows the largest change of a scheme and"
        f" that empty cells are published as 0{knows}.",
        side_by_side(*shown) if len(shown) > 1 else Html(shown[0]),
    )
