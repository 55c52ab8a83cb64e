"""The page of trials: claims against households touched, in words, a plot and tables."""

from __future__ import annotations

from itertools import groupby
from typing import Any

from sdcensus.model.catalogue import FIRST
from sdcensus.model.quantities import NOTHING, decimal_text, number_text, share_text
from sdcensus.model.sentences import Value, speak
from sdcensus.report import page as shell
from sdcensus.report.charts import BAD, SERIES, STRONG, altair_library
from sdcensus.report.lab.results import LabLine, LabReport
from sdcensus.report.page import Html, PageCell, Tone
from sdcensus.report.study.plots import Plot

_WIDTH, _HEIGHT = 640, 320


def lab_page(report: LabReport) -> str:
    """The whole page."""
    language = report.language or FIRST
    plot = touched_plot(report)
    blocks = [shell.section(_say(report, "findings"), shell.bullets(report.findings))]
    if plot is not None:
        drawn = shell.figure(plot.chart, plot.alternative, title=plot.title)
        blocks.append(shell.section(_say(report, "plot"), drawn))
    blocks.append(shell.section(_say(report, "rules"), _rules(report)))
    blocks.append(shell.section(_say(report, "lines"), _lines(report)))
    return shell.page(
        _say(report, "title", n=report.tables),
        *blocks,
        facts=report.census,
        stamp=_say(report, "stamp"),
        language=language,
    )


def _say(report: LabReport, key: str, **values: Value) -> str:
    return speak(f"combined.lab.{key}", report.language, **values)


def _trials(report: LabReport) -> list[list[LabLine]]:
    keys = groupby(report.lines, key=lambda line: (line.change, line.measured))
    return [list(lines) for _, lines in keys]


def touched_plot(report: LabReport) -> Plot | None:
    """The largest share of right claims over the share of households that are touched."""
    values: list[dict[str, Any]] = [
        {
            "touched": line.touched_share or 0.0,
            "worst": line.worst,
            "kind": _say(report, "measured" if line.measured else "foreseen"),
        }
        for line, *_ in _trials(report)
        if line.touched_share is not None or not line.change
    ]
    if len(values) < 2:
        return None
    alt: Any = altair_library()
    kinds = [_say(report, "measured"), _say(report, "foreseen")]
    points = (
        alt.Chart(alt.Data(values=values))
        .mark_point(filled=True, size=70)
        .encode(
            x=alt.X("touched:Q", title=_say(report, "touched"), axis=alt.Axis(format="%")),
            y=alt.Y(
                "worst:Q",
                title=_say(report, "worst"),
                axis=alt.Axis(format="%"),
                scale=alt.Scale(domain=[0, 1]),
            ),
            color=alt.Color(
                "kind:N", title=None, scale=alt.Scale(domain=kinds, range=[STRONG, SERIES[1]])
            ),
            shape=alt.Shape("kind:N", title=None, scale=alt.Scale(domain=kinds)),
        )
    )
    limit = (
        alt.Chart(alt.Data(values=[{"limit": report.limit}]))
        .mark_rule(color=BAD, strokeDash=[4, 3])
        .encode(y="limit:Q")
    )
    listed = "; ".join(
        f"{share_text(value['touched'], report.language)}:"
        f" {share_text(value['worst'], report.language)}"
        for value in values
    )
    chart = (points + limit).properties(width=_WIDTH, height=_HEIGHT)
    return Plot(_say(report, "plot"), _say(report, "plot_words", points=listed), chart)


def _rules(report: LabReport) -> Html:
    """One line for each change: whom it touches, what it leaves, what it costs."""
    language = report.language
    names = ("step", "how", "touched", "worst", "distance", "hellinger", "combined")
    rows: list[list[PageCell | str]] = []
    picked = []
    for number, (line, *_) in enumerate(_trials(report)):
        if line.change == report.chosen:
            picked.append(number)
        tone = Tone.BAD if line.worst > report.limit else Tone.GOOD
        rows.append(
            [
                line.change or _say(report, "none"),
                _say(report, "measured" if line.measured else "foreseen"),
                _touched(line, language),
                PageCell(share_text(line.worst, language), tone),
                decimal_text(line.mean_distance, 3, language),
                decimal_text(line.hellinger, 3, language),
                share_text(line.combined, language),
            ]
        )
    heads = [_say(report, name) for name in names]
    return shell.table(_say(report, "rules"), heads, rows, words=2, picked=picked, wrapped=True)


def _touched(line: LabLine, language: str | None) -> str:
    if line.touched is None:
        return NOTHING
    if line.touched_share is None:
        return number_text(line.touched, language)
    return f"{number_text(line.touched, language)} ({share_text(line.touched_share, language)})"


def _lines(report: LabReport) -> Html:
    """Claims by level and size, of the trials that were attacked."""
    language = report.language
    names = ("step", "level", "persons", "claims", "right", "share")
    rows: list[list[PageCell | str]] = []
    for lines in _trials(report):
        change = lines[0].change or _say(report, "none")
        for line in lines if lines[0].measured else ():
            numbers = (number_text(number, language) for number in (line.claims, line.right))
            size = number_text(line.size, language)
            rows.append([change, line.level, size, *numbers, share_text(line.share, language)])
            change = ""
    heads = [_say(report, name) for name in names]
    return shell.table(_say(report, "lines"), heads, rows, words=2, wrapped=True)
