"""Pictures of a derivation: where it protects, and how far tables move."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sdcensus.model.quantities import decimal_text, share_text
from sdcensus.model.sentences import speak
from sdcensus.report.charts import BAD, INK, SERIES, STRONG, altair_library
from sdcensus.report.derivation.results import Effects
from sdcensus.report.derivation.tables import called, level_name, stage_text
from sdcensus.report.study.plots import Plot

_WIDTH, _BAR = 460, 26
#: More lines than this are read in the table.
_MOST_LINES = 24


def levels_plot(effects: Effects) -> Plot | None:
    """The share with another area, level by level; a level without any says so."""
    language = effects.language
    values = [
        {
            "name": level_name(change, language),
            "share": share,
            "text": share_text(share, language),
        }
        for change in effects.area_levels
        if (share := change.share if change.persons_share is None else change.persons_share)
        is not None
    ]
    title = speak("derive.chart.levels", language)
    return _bars(values, title, language) if values else None


def small_plot(effects: Effects) -> Plot | None:
    """The share of small cells with a changed record, by table and level."""
    language = effects.language
    values = [
        {
            "name": f"{called(table, language)} · {small.level or country}"
            if len(effects.tables) > 1
            else small.level or country,
            "share": small.share,
            "text": share_text(small.share, language),
        }
        for country in [speak("derive.level_country", language)]
        for table in effects.tables
        for small in table.small
        if small.share is not None
    ]
    title = speak("derive.chart.small", language)
    return _bars(values, title, language) if 0 < len(values) <= _MOST_LINES else None


def _bars(values: Sequence[dict[str, Any]], title: str, language: str | None) -> Plot:
    """Lying bars with their shares, those of nothing in the colour of what needs a look."""
    alt = altair_library()
    names = [value["name"] for value in values]
    most = max(value["share"] for value in values) or 1.0
    base = alt.Chart(alt.Data(values=list(values))).encode(
        y=alt.Y("name:N", sort=names, title=None, axis=alt.Axis(labelLimit=330)),
        x=alt.X("share:Q", title=None, axis=None, scale=alt.Scale(domain=[0, most * 1.15])),
    )
    nothing = "datum.share === 0"
    bars = base.mark_bar(color=STRONG)
    text = base.mark_text(align="left", dx=5, fontSize=12).encode(
        text="text:N", color=alt.condition(nothing, alt.value(BAD), alt.value(INK))
    )
    listed = "; ".join(f"{value['name']}: {value['text']}" for value in values)
    chart = (bars + text).properties(width=_WIDTH, height=_BAR * len(values))
    return Plot(title, speak("derive.chart.levels_words", language, bars=listed), chart)


def distance_plot(effects: Effects) -> Plot | None:
    """How far each table is from the original at both stages, and how far that varies."""
    language = effects.language
    values: list[dict[str, Any]] = []
    for table in effects.tables:
        for stage in table.stages:
            distance = stage.utility.hellinger_normalised
            if distance is None:
                continue
            span = stage.repeated.get("hellinger_normalised")
            values.append(
                {
                    "name": called(table, language),
                    "stage": stage_text(stage.stage, language),
                    "distance": distance,
                    "least": distance if span is None else min(span[0], distance),
                    "most": distance if span is None else max(span[2], distance),
                }
            )
    if not values or len(values) > _MOST_LINES:
        return None
    alt = altair_library()
    stages = list(dict.fromkeys(value["stage"] for value in values))
    names = list(dict.fromkeys(value["name"] for value in values))
    base = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y("name:N", sort=names, title=None, axis=alt.Axis(labelLimit=330)),
        yOffset=alt.YOffset("stage:N", sort=stages),
        color=alt.Color(
            "stage:N",
            sort=stages,
            scale=alt.Scale(domain=stages, range=[SERIES[2], SERIES[0]][: len(stages)]),
            legend=alt.Legend(title=None, orient="top"),
        ),
    )
    lines = base.mark_rule(strokeWidth=3, opacity=0.45).encode(
        x=alt.X("least:Q", title=speak("derive.head.hellinger", language)), x2="most:Q"
    )
    points = base.mark_point(filled=True, size=70, opacity=1).encode(x="distance:Q")
    listed = "; ".join(
        f"{value['name']}, {value['stage']}: {decimal_text(value['distance'], 3, language)}"
        for value in values
    )
    return Plot(
        speak("derive.chart.distance", language),
        speak("derive.chart.levels_words", language, bars=listed),
        (lines + points).properties(width=_WIDTH, height=2 * _BAR * len(names)),
    )
