"""Charts of an assessment."""

from __future__ import annotations

from typing import Any

from sdcensus.report.charts import INK, STRONG, WEAK, altair_library
from sdcensus.report.perturbation.words import signed
from sdcensus.report.study.plots import Plot, risk_map
from sdcensus.report.study.results import Study
from sdcensus.utility.deviations import Deviations

#: More bars than this are not drawn one by one.
MOST_BARS = 61


def deviations_chart(found: Deviations) -> tuple[Any, str] | None:
    """How often each change occurs, with words for those who cannot see it."""
    share = found.share
    if not share or len(share) > MOST_BARS:
        return None
    alt = altair_library()
    values = [
        {"change": signed(change), "order": change, "percent": 100 * one, "stays": change == 0}
        for change, one in zip(found.deviation.tolist(), share, strict=True)
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
