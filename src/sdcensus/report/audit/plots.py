"""The picture of an audit: how wide the intervals of withheld cells are."""

from __future__ import annotations

from sdcensus.model.sentences import speak
from sdcensus.report.audit.results import AuditFindings
from sdcensus.report.audit.words import amount_text
from sdcensus.report.charts import BAD, STRONG, altair_library
from sdcensus.report.study.plots import Plot

_WIDTH, _BAR = 460, 24
#: Widths from which on a bar stands for several: each is ten times as wide as the one before.
_STEPS = (0, 1, 2, 5, 10, 20, 50, 100, 1_000, 10_000, 100_000, 1_000_000)


def widths(findings: AuditFindings, language: str | None = None) -> list[tuple[str, int]]:
    """How many cells have an interval of each class of widths, in words; empty ones in between."""
    unit = 10**findings.decimals
    counts = findings.widths()
    classes: list[tuple[str, int]] = []
    for at, low in enumerate(_STEPS):
        high = _STEPS[at + 1] - 1 if at + 1 < len(_STEPS) else None
        first = low * unit if low > 1 else low
        last = None if high is None else (high + 1) * unit - 1 if high >= 1 else high
        number = sum(
            count
            for width, count in counts.items()
            if width is not None and width >= first and (last is None or width <= last)
        )
        name = amount_text(low * unit, findings.decimals, language) if low else "0"
        if high is None:
            name += "…"
        elif high > low:
            name += f"–{amount_text(high * unit, findings.decimals, language)}"
        classes.append((name, number))
    while len(classes) > 1 and not classes[-1][1]:
        classes.pop()
    unbounded = counts.get(None, 0)
    if unbounded:
        classes.append((speak("audit.page.no_bound", language), unbounded))
    return classes


def widths_plot(findings: AuditFindings, language: str | None = None) -> Plot:
    """Lying bars, that of disclosed cells in the colour of what should be looked at."""
    alt = altair_library()
    shown = widths(findings, language)
    values = [{"name": name, "cells": number} for name, number in shown]
    most = max((number for _, number in shown), default=0) or 1
    base = alt.Chart(alt.Data(values=values)).encode(
        y=alt.Y(
            "name:N",
            sort=[name for name, _ in shown],
            title=speak("audit.page.chart_width", language),
        ),
        # The numbers stand beside the bars.
        x=alt.X("cells:Q", title=None, axis=None, scale=alt.Scale(domain=[0, most * 1.12])),
    )
    bars = base.mark_bar().encode(
        color=alt.condition("datum.name === '0'", alt.value(BAD), alt.value(STRONG))
    )
    text = base.mark_text(align="left", dx=5, fontSize=12).encode(text="cells:Q")
    chart = (bars + text).properties(width=_WIDTH, height=_BAR * len(values))
    listed = "; ".join(f"{name}: {number}" for name, number in shown)
    words = speak("audit.page.chart_words", language, bars=listed)
    return Plot(speak("audit.page.chart", language), words, chart)
