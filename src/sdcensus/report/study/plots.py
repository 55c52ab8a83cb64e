"""Pictures of a study: maps of risk and loss, and changes beside their design."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from sdcensus.model.quantities import share_text
from sdcensus.report.charts import BAD, INK, PAPER, SOFT, STRONG, WEAK, altair_library
from sdcensus.report.labels import Point, leader, place_labels, text_width
from sdcensus.session.perturbation.words import signed
from sdcensus.session.study.study import Study, StudyResult, StudyTable
from sdcensus.session.study.words import Verdict, verdict

_WIDTH, _HEIGHT = 370, 210
_LABEL = 11
_RADIUS = 4.5
#: Panels of the chart of changes stand in so many columns.
_COLUMNS = 4
#: How methods are drawn: told apart by form, and not by colour alone.
_FORMS = {
    Verdict.FALLS: ("triangle-up", BAD, BAD),
    Verdict.LEAKS: ("circle", STRONG, PAPER),
    Verdict.HOLDS: ("circle", STRONG, STRONG),
    Verdict.UNKNOWN: ("circle", SOFT, SOFT),
}

#: How to read a map.
MAP_LEGEND = (
    "Filled points hold in this table, hollow ones leak a little, triangles give away one in a"
    " hundred of its cells, or of its ones and twos, or more."
)


@dataclass(frozen=True, slots=True, repr=False)
class Plot:
    """A chart with its title and what it shows, for those who cannot see it."""

    title: str
    alternative: str
    chart: Any

    def __repr__(self) -> str:
        return f"<Plot {self.title}: confidential>"


@dataclass(frozen=True, slots=True)
class _Mark:
    name: str
    x: float
    y: float
    kind: Verdict


def risk_map(study: Study, table: StudyTable) -> Plot | None:
    """Each method a point: the composite risk over the mean change."""
    marks = [
        _Mark(one.candidate.name, one.utility.mean_absolute_distance, one.risk, verdict([one]))
        for one in study.mains(table)
        if one.utility.mean_absolute_distance is not None and one.risk is not None
    ]
    if not marks:
        return None
    return _map(table, marks, "risk R", from_zero=False)


def disclosure_map(study: Study, table: StudyTable) -> Plot | None:
    """Each method a point: the share of small cells that are given away over the mean change."""
    marks = [
        _Mark(one.candidate.name, change, 100 * share, verdict([one]))
        for one in study.mains(table)
        if (change := one.utility.mean_absolute_distance) is not None
        and (share := _told_share(one)) is not None
    ]
    if not any(mark.y for mark in marks):
        return None
    small = any(one.small_share is not None for one in study.mains(table))
    what = "ones and twos given away, %" if small else "cells given away, %"
    return _map(table, marks, what, from_zero=True)


def _told_share(result: StudyResult) -> float | None:
    return result.share if result.small_share is None else result.small_share


def _map(table: StudyTable, marks: list[_Mark], what: str, *, from_zero: bool) -> Plot:
    alt = altair_library()
    across = _span([one.x for one in marks], from_zero=False)
    up = _span([one.y for one in marks], from_zero=from_zero)
    form = f".{max(0, -math.floor(math.log10((up[1] - up[0]) / 4)))}f"

    def pixels(mark: _Mark) -> Point:
        return Point(
            (mark.x - across[0]) / (across[1] - across[0]) * _WIDTH,
            (up[1] - mark.y) / (up[1] - up[0]) * _HEIGHT,
            text_width(mark.name, _LABEL),
            _LABEL + 2,
            _RADIUS + 1,
        )

    points = [pixels(one) for one in marks]
    places = place_labels(points, _WIDTH, _HEIGHT)

    def back(x: float, y: float) -> tuple[float, float]:
        return (
            across[0] + x / _WIDTH * (across[1] - across[0]),
            up[1] - y / _HEIGHT * (up[1] - up[0]),
        )

    values, lines = [], []
    for mark, point, place in zip(marks, points, places, strict=True):
        form_of, edge, inside = _FORMS[mark.kind]
        left, middle = back(place.x, place.y)
        values.append(
            {
                "name": mark.name,
                "x": mark.x,
                "y": mark.y,
                "left": left,
                "middle": middle,
                "form": form_of,
                "edge": edge,
                "inside": inside,
            }
        )
        if place.led:
            to_x, to_y = back(*map(float, leader(point, place.x, place.y)))
            lines.append({"x": mark.x, "y": mark.y, "to_x": to_x, "to_y": to_y})
    x = (
        alt.X("x:Q")
        .title("mean change of a non-empty cell →")
        .scale(domain=list(across), nice=False, zero=False)
        .axis(tickCount=5, format=".1f", grid=False, domainColor=SOFT, tickColor=SOFT)
    )
    y = (
        alt.Y("y:Q")
        .title(f"{what} →")
        .scale(domain=list(up), nice=False, zero=False)
        .axis(tickCount=5, format=form, domain=False, ticks=False, minExtent=34)
    )
    data = alt.Data(values=values)
    layers = []
    if lines:
        layers.append(
            alt.Chart(alt.Data(values=lines))
            .mark_rule(color=SOFT, strokeWidth=0.8)
            .encode(x=x, y=y, x2="to_x:Q", y2="to_y:Q")
        )
    layers.append(
        alt.Chart(data)
        .mark_point(size=70, strokeWidth=1.6, opacity=1)
        .encode(
            x=x,
            y=y,
            shape=alt.Shape("form:N").scale(None).legend(None),
            stroke=alt.Stroke("edge:N").scale(None).legend(None),
            fill=alt.Fill("inside:N").scale(None).legend(None),
        )
    )
    layers.append(
        alt.Chart(data)
        .mark_text(align="left", baseline="middle", fontSize=_LABEL, color=INK)
        .encode(x=alt.X("left:Q"), y=alt.Y("middle:Q"), text="name:N")
    )
    spoken = "; ".join(f"{one.name}: {format(one.y, form)} at {one.x:.2f}" for one in marks)
    return Plot(
        table.name[:1].upper() + table.name[1:],
        f"Scatter chart of the {table.name} table, {what} over the mean change. {spoken}.",
        alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT),
    )


def _span(values: list[float], *, from_zero: bool) -> tuple[float, float]:
    """The range of an axis with room around the points, also where all of them are equal."""
    low, high = min(values), max(values)
    room = 0.16 * (high - low) or 0.1 * abs(high) or 1.0
    return (0.0 - 0.06 * (high or 1.0) if from_zero else low - room, high + room)


def changes(study: Study) -> Plot | None:
    """Changes of the interior cells of the most detailed table, beside their design."""
    alt = altair_library()
    table = study.tables[-1]
    panels, spoken = [], []
    shown = [one for one in study.mains(table) if one.profile is not None]
    shown = [one for one in shown if one.profile is not None and one.profile.observed.sum()]
    if not shown:
        return None
    most = max(
        float((one.profile.observed.sum(axis=0) / one.profile.observed.sum()).max())
        for one in shown
        if one.profile is not None
    )
    width = (_WIDTH * 2 + 70 - (_COLUMNS - 1) * 44) // _COLUMNS
    for at, one in enumerate(shown):
        found = one.profile
        if found is None:
            continue
        cells = int(found.observed.sum())
        observed = (found.observed.sum(axis=0) / cells).tolist()
        expected = (found.expected.sum(axis=0) / cells).tolist()
        values = [
            {"change": signed(value), "observed": seen, "expected": wanted}
            for value, seen, wanted in zip(found.deviations, observed, expected, strict=True)
        ]
        stays = observed[found.deviations.index(0)]
        spoken.append(f"{one.candidate.name}: {share_text(stays, digits=2)} unchanged")
        step = 1 if len(found.deviations) <= 7 else 2
        base = alt.Chart(alt.Data(values=values)).encode(
            x=alt.X("change:N", sort=[signed(value) for value in found.deviations])
            .title(None)
            .axis(
                labelAngle=0,
                ticks=False,
                domain=False,
                labelPadding=5,
                values=[signed(value) for value in found.deviations if value % step == 0],
            )
        )
        y = (
            alt.Y("observed:Q")
            .title("share of cells" if at % _COLUMNS == 0 else None)
            .scale(domain=[0, 1.05 * most], nice=False)
            .axis(
                labelExpr="format(datum.value * 100, 'd') + ' %'",
                tickCount=3,
                ticks=False,
                domain=False,
                minExtent=34,
            )
        )
        bars = base.mark_bar(color=WEAK, cornerRadiusEnd=1).encode(y=y)
        design = base.mark_tick(color=INK, thickness=2, width={"band": 1.1}).encode(
            y=alt.Y("expected:Q")
        )
        panels.append(
            (bars + design).properties(
                width=width,
                height=84,
                title=alt.TitleParams(one.candidate.name, fontSize=12, offset=6, frame="group"),
            )
        )
    return Plot(
        "Changes beside their design",
        f"Small bar charts of the changes in the {table.name} table, one for each method, with the"
        f" shares of the design as lines. {'; '.join(spoken)}.",
        alt.concat(*panels, columns=_COLUMNS, spacing=14),
    )
