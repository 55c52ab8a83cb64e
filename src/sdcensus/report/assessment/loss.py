"""The parts of an assessment about what readers lose, and about other methods. Confidential."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from sdcensus.model.measure import Side
from sdcensus.model.quantities import NOTHING, decimal_text, number_text, share_text
from sdcensus.model.sentences import speak
from sdcensus.model.spec.axis import TOTAL
from sdcensus.model.spec.headings import variable_heading
from sdcensus.report.assessment.results import COMPARED, Assessment
from sdcensus.report.assessment.risk import measures
from sdcensus.report.assessment.words import base_text, knows_text, part_text, units
from sdcensus.report.charts import INK, STRONG, WEAK, altair_library
from sdcensus.report.page import Html, PageCell, Tone, details, figure, section, side_by_side, table
from sdcensus.report.perturbation.words import signed
from sdcensus.report.study.maps import risk_map
from sdcensus.report.study.plots import Plot
from sdcensus.report.study.results import Study
from sdcensus.utility.by_row import RowMeasures
from sdcensus.utility.deviations import Deviations
from sdcensus.utility.distances import Utility
from sdcensus.utility.levels import UtilityAt

#: More bars than this are not drawn one by one.
MOST_BARS = 61


def deviations_chart(found: Deviations, language: str | None = None) -> tuple[Any, str] | None:
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
                title=speak("assess.loss.less_true", language),
                axis=alt.Axis(labelAngle=0, labelOverlap="parity", labelSeparation=4),
            ),
            y=alt.Y("percent:Q", title=speak("assess.loss.percent_of_cells", language)),
            color=alt.condition("datum.stays", alt.value(STRONG), alt.value(WEAK)),
        )
    )
    labels = bars.mark_text(dy=-6, fontSize=11, color=INK).encode(
        text=alt.Text("percent:Q", format=".1f"), color=alt.value(INK)
    )
    chart = (bars + labels) if len(values) <= 15 else bars
    words = "; ".join(
        f"{value['change']}: {share_text(value['percent'] / 100, language)}" for value in values
    )
    spoken = speak("assess.loss.changes_words", language, words=words)
    return chart.properties(width=560, height=150), spoken


def methods_map(study: Study, language: str | None = None) -> Plot | None:
    """Each method a point, on the one table of a comparison; nothing where no point has a place."""
    return risk_map(replace(study, language=language), study.tables[0])


_HEAD = (
    "numbers",
    "nonempty",
    "mean_change",
    "relative",
    "hellinger",
    "largest_change",
    "unchanged",
    "false_zeros",
)


def _heads(names: Sequence[str], language: str | None) -> list[str]:
    return [speak(f"assess.loss.{name}", language) for name in names]


def lost(assessment: Assessment, language: str | None) -> Html:
    """Distances between published and true counts."""
    rows = [
        [part_text(part, language), *_utility(utility, language)]
        for part, utility in assessment.utility
    ]
    parts: list[str] = [
        speak("assess.loss.means", language, units=units(assessment, language)),
        table(
            speak("assess.loss.distance", language),
            _heads(("cells_of", *_HEAD), language),
            rows,
        ),
    ]
    if assessment.levels:
        levels = [
            [_level_text(assessment, level, language), *_utility(level.utility, language)]
            for level in assessment.levels
        ]
        caption = speak("assess.loss.by_level", language)
        parts.append(table(caption, _heads(("level", *_HEAD), language), levels))
    if assessment.rows is not None and assessment.rows.rows:
        parts.append(_rows(assessment.rows, language))
    parts.append(measures(assessment, Side.LOSS, speak("assess.loss.figures", language), language))
    chart = None
    if assessment.deviations is not None:
        chart = deviations_chart(assessment.deviations, language)
    if chart is not None:
        drawn, words = chart
        base = _changed(assessment, language)
        parts.append(
            figure(
                drawn,
                words,
                title=speak("assess.loss.changes", language),
                caption=speak("assess.loss.changes_of", language, of=base),
            )
        )
    if assessment.worst:
        parts.append(_worst(assessment, language))
    return section(speak("assess.loss.title", language), *parts)


def _changed(assessment: Assessment, language: str | None) -> str:
    """The cells whose changes are drawn."""
    deviations = assessment.deviations
    cells = 0 if deviations is None else int(deviations.cells.sum())
    return base_text(assessment, cells, language)


def _rows(measured: RowMeasures, language: str | None) -> Html:
    listed = [
        ("hellinger_distance", measured.hellinger),
        ("relative_sum", measured.relative_distance),
        ("absolute_mean", measured.absolute_distance),
        ("variance_ratio", measured.variance_ratio),
    ]
    rows = [
        [
            speak(f"assess.loss.{name}", language),
            number_text(dispersion.rows, language),
            decimal_text(dispersion.mean, 3, language),
            decimal_text(dispersion.variance, 4, language),
            decimal_text(dispersion.half_width, 3, language),
        ]
        for name, dispersion in listed
    ]
    return table(
        speak("assess.loss.each_area", language, n=measured.cells - measured.withheld),
        [
            speak("assess.risk.measure", language),
            *_heads(("areas", "mean", "between", "errors"), language),
        ],
        rows,
    )


def _worst(assessment: Assessment, language: str | None) -> Html:
    rows = [
        [
            cell_figures.words,
            number_text(cell_figures.true, language),
            number_text(cell_figures.published, language),
        ]
        for cell_figures in assessment.worst
    ]
    heads = [speak(f"assess.risk.{name}", language) for name in ("cell", "true", "published")]
    return details(
        speak("assess.loss.worst", language),
        table(speak("assess.loss.largest_changes", language), heads, rows, wrapped=True),
    )


def _level_text(assessment: Assessment, one: UtilityAt, language: str | None) -> str:
    if one.level == TOTAL:
        return speak("assess.loss.all_together", language)
    axis = assessment.table.spec.axis(one.axis)
    label = variable_heading(axis.variable, language)
    return label if one.level == axis.variable.leaf_level else f"{label} ({one.level})"


def _utility(one: Utility, language: str | None) -> list[str]:
    return [
        number_text(one.cells, language),
        number_text(one.nonzero, language),
        decimal_text(one.mean_absolute_distance, 2, language),
        share_text(one.mean_relative_distance, language),
        decimal_text(one.hellinger_normalised, 3, language),
        NOTHING if one.max_deviation is None else number_text(one.max_deviation, language),
        share_text(one.share_unchanged_nonzero, language, digits=0),
        number_text(one.false_zeros, language),
    ]


def methods(assessment: Assessment, language: str | None) -> Html:
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
                share_text(result.share, language, digits=2),
                Tone.BAD if result.disclosed else Tone.PLAIN,
            ),
            decimal_text(result.risk, 3, language),
            decimal_text(result.utility.mean_absolute_distance, 2, language),
            decimal_text(result.utility.hellinger_normalised, 3, language),
        ]
        for result in results
    ]
    shown: list[str] = [
        table(
            speak("assess.loss.methods_table", language),
            [
                speak("assess.loss.method", language),
                speak("assess.risk.given_away", language),
                *_heads(("risk_r", "mean_change", "hellinger"), language),
            ],
            rows,
            picked=own,
        )
    ]
    drawn = methods_map(study, language)
    if drawn is not None:
        shown.append(
            figure(
                drawn.chart,
                drawn.alternative,
                title=speak("assess.loss.map", language),
                caption=speak("assess.loss.map_legend", language),
            )
        )
    feasibility, own_name = assessment.main, assessment.chosen
    text = speak("assess.loss.methods_text", language)
    if feasibility is not None and own_name not in COMPARED:
        knows = knows_text(feasibility, language)
        text = speak("assess.loss.methods_text_own", language, knows=knows)
    return section(
        speak("assess.loss.methods", language),
        text,
        side_by_side(*shown) if len(shown) > 1 else Html(shown[0]),
    )
