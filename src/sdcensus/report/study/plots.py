"""Pictures of a study: maps of risk and loss, and changes beside their design."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.quantities import share_text
from sdcensus.report.charts import BAD, INK, PAPER, SOFT, STRONG, WEAK, altair_library
from sdcensus.report.perturbation.words import signed
from sdcensus.report.study.results import DeviationProfile, Study, StudyResult, StudyTable
from sdcensus.report.study.words import Verdict, called, fixed, say, verdict

#: Left, upper, right and lower edges.
Boxes = npt.NDArray[np.float64]

#: Room between a point and its label, and between two labels.
GAP = 3.0
#: Places are tried in steps of so many pixels.
_STEP = 3.0
#: Parts of the way from a point to its label at which a line is looked at.
_ALONG = np.linspace(0.3, 0.95, 6)
#: How much room a line takes around each of them.
_THIN = np.array([-1.0, -1.0, 1.0, 1.0])


@dataclass(frozen=True, slots=True)
class Point:
    """A point with what is written beside it, in pixels from the left and from the top.

    Attributes:
        x, y: Its middle.
        width, height: The size of its label.
        radius: Its own size.
    """

    x: float
    y: float
    width: float
    height: float
    radius: float = 5.0


@dataclass(frozen=True, slots=True)
class LabelPlace:
    """Where a label stands: its left edge and its middle, and whether a line leads to it."""

    x: float
    y: float
    led: bool


def text_width(text: str, size: float) -> float:
    """About how wide a text is; rather too wide than too narrow.

    Examples:
        >>> text_width("CP3(EU)", 11) > text_width("CP1", 11)
        True
    """
    return sum(0.34 if letter in "iljt.,()|:' " else 0.7 for letter in text) * size + 1


def place_labels(points: Sequence[Point], width: float, height: float) -> list[LabelPlace]:
    """Find a place for every label inside a box, as near to its point as the others allow.

    Points with the fewest free places around them are served first. A line that leads from a
    point to its label runs over no other label. Where there are more labels than room, the last
    ones stand where they are least in the way.
    """
    taken = np.array(
        [(p.x - p.radius, p.y - p.radius, p.x + p.radius, p.y + p.radius) for p in points]
    ).reshape(-1, 4)
    crowd = [
        sum(abs(p.x - other.x) < p.width and abs(p.y - other.y) < 3 * p.height for other in points)
        for p in points
    ]
    lines: list[tuple[float, float, float, float]] = []
    places: dict[int, LabelPlace] = {}
    for at in sorted(range(len(points)), key=lambda index: (-crowd[index], index)):
        point = points[at]
        place = _nearest(point, taken, lines, width, height)
        half = point.height / 2
        box = (place.x, place.y - half, place.x + point.width, place.y + half)
        taken = np.vstack([taken, box])
        if place.led:
            x, y = leader(point, place.x, place.y)
            lines.append((point.x, point.y, float(x), float(y)))
            line = point.x + _ALONG * (x - point.x), point.y + _ALONG * (y - point.y)
            taken = np.vstack([taken, np.stack([*line, *line], axis=1) + _THIN])
        places[at] = place
    return [places[at] for at in range(len(points))]


def leader(point: Point, left: Any, middle: Any) -> tuple[Any, Any]:
    """Where a line from a point to its label ends: at the nearest edge of the label."""
    half = point.height / 2
    x = np.clip(point.x, left, left + point.width)
    return x, np.clip(point.y, middle - half, middle + half)


def _nearest(
    point: Point,
    taken: Boxes,
    lines: Sequence[tuple[float, float, float, float]],
    width: float,
    height: float,
) -> LabelPlace:
    """The free place nearest to a point; the one that covers least if none is free."""
    last = max(width - point.width, 0.0)
    half = point.height / 2
    lowest = max(height - half, half)
    beside = [point.x + point.radius + GAP, point.x - point.radius - GAP - point.width]
    lefts = np.clip([*np.arange(0.0, last + 1, _STEP), *beside], 0.0, last)
    middles = np.clip([*np.arange(half, lowest + 1, _STEP), point.y], half, lowest)
    grid = np.meshgrid(lefts, middles)
    x, y = grid[0].reshape(-1, 1), grid[1].reshape(-1, 1)
    wide = np.minimum(x + point.width + GAP, taken[:, 2]) - np.maximum(x - GAP, taken[:, 0])
    high = np.minimum(y + half, taken[:, 3]) - np.maximum(y - half, taken[:, 1])
    covered = (np.clip(wide, 0, None) * np.clip(high, 0, None)).sum(axis=1)
    end_x, end_y = leader(point, x, y)
    far = np.hypot(end_x - point.x, end_y - point.y).reshape(-1)
    led = far > point.radius + 3 * GAP
    # What a line would cross counts as much as a little of what a label would cover.
    for share in _ALONG[1:]:
        at_x, at_y = point.x + share * (end_x - point.x), point.y + share * (end_y - point.y)
        inside = (taken[:, 0] < at_x) & (at_x < taken[:, 2])
        inside &= (taken[:, 1] < at_y) & (at_y < taken[:, 3])
        covered += led * inside.sum(axis=1)
    for line in lines:
        covered += led * _crosses(point, end_x, end_y, line).reshape(-1)
    # Beside is better than above or below, and right of a point better than left of it.
    far += 0.05 * np.abs(y - point.y).reshape(-1) + (x < point.x).reshape(-1)
    best = int(np.lexsort((far, np.round(covered, 6)))[0])
    return LabelPlace(float(x[best, 0]), float(y[best, 0]), bool(led[best]))


def _crosses(point: Point, x: Any, y: Any, line: tuple[float, float, float, float]) -> Any:
    """Whether lines from a point to these ends cross another line."""
    ax, ay, bx, by = line

    def side(px: Any, py: Any, qx: Any, qy: Any, rx: Any, ry: Any) -> Any:
        return (qx - px) * (ry - py) - (qy - py) * (rx - px)

    apart = side(ax, ay, bx, by, point.x, point.y) * side(ax, ay, bx, by, x, y) < 0
    return apart & (side(point.x, point.y, x, y, ax, ay) * side(point.x, point.y, x, y, bx, by) < 0)


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
    Verdict.UNJUDGED: ("square", STRONG, PAPER),
}


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
        _Mark(result.candidate.name, change, result.risk, verdict([result]))
        for result in study.mains(table)
        if (change := result.utility.mean_absolute_distance) is not None and result.risk is not None
    ]
    if not marks:
        return None
    return _map(study, table, marks, say(study, "plot.risk"), from_zero=False)


def disclosure_map(study: Study, table: StudyTable) -> Plot | None:
    """Each method a point: the share of small cells that are given away over the mean change."""
    marks = [
        _Mark(result.candidate.name, change, 100 * share, verdict([result]))
        for result in study.mains(table)
        if (change := result.utility.mean_absolute_distance) is not None
        and (share := _shown_share(result)) is not None
    ]
    if not any(mark.y for mark in marks):
        return None
    small = any(result.small_share is not None for result in study.mains(table))
    what = say(study, "plot.small" if small else "plot.cells")
    return _map(study, table, marks, what, from_zero=True)


def _shown_share(result: StudyResult) -> float | None:
    return result.share if result.small_share is None else result.small_share


def _map(
    study: Study, table: StudyTable, marks: list[_Mark], what: str, *, from_zero: bool
) -> Plot:
    alt = altair_library()
    across = _span([mark.x for mark in marks], from_zero=False)
    up = _span([mark.y for mark in marks], from_zero=from_zero)
    digits = max(0, -math.floor(math.log10((up[1] - up[0]) / 4)))
    x = (
        alt.X("x:Q")
        .title(say(study, "plot.across"))
        .scale(domain=list(across), nice=False, zero=False)
        .axis(tickCount=5, format=".1f", grid=False, domainColor=SOFT, tickColor=SOFT)
    )
    y = (
        alt.Y("y:Q")
        .title(say(study, "plot.up", what=what))
        .scale(domain=list(up), nice=False, zero=False)
        .axis(tickCount=5, format=f".{digits}f", domain=False, ticks=False, minExtent=34)
    )
    values, lines = _placed(marks, across, up)
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
    spoken = [
        say(
            study,
            "plot.point",
            name=mark.name,
            y=fixed(study, mark.y, digits),
            x=fixed(study, mark.x),
        )
        for mark in marks
    ]
    name = called(study, table)
    return Plot(
        name[:1].upper() + name[1:],
        say(study, "plot.map", table=name, what=what, points="; ".join(spoken)),
        alt.layer(*layers).properties(width=_WIDTH, height=_HEIGHT),
    )


def _placed(
    marks: list[_Mark], across: tuple[float, float], up: tuple[float, float]
) -> tuple[list[dict[str, Any]], list[dict[str, float]]]:
    """Points with places for their labels, and lines to labels that had to move away."""

    def pixels(mark: _Mark) -> Point:
        return Point(
            (mark.x - across[0]) / (across[1] - across[0]) * _WIDTH,
            (up[1] - mark.y) / (up[1] - up[0]) * _HEIGHT,
            text_width(mark.name, _LABEL),
            _LABEL + 2,
            _RADIUS + 1,
        )

    def back(x: float, y: float) -> tuple[float, float]:
        return (
            across[0] + x / _WIDTH * (across[1] - across[0]),
            up[1] - y / _HEIGHT * (up[1] - up[0]),
        )

    points = [pixels(mark) for mark in marks]
    places = place_labels(points, _WIDTH, _HEIGHT)
    values, lines = [], []
    for mark, point, place in zip(marks, points, places, strict=True):
        form, edge, inside = _FORMS[mark.kind]
        left, middle = back(place.x, place.y)
        look = {"form": form, "edge": edge, "inside": inside}
        label = {"name": mark.name, "left": left, "middle": middle}
        values.append({"x": mark.x, "y": mark.y, **label, **look})
        if place.led:
            to_x, to_y = back(*map(float, leader(point, place.x, place.y)))
            lines.append({"x": mark.x, "y": mark.y, "to_x": to_x, "to_y": to_y})
    return values, lines


def _span(values: list[float], *, from_zero: bool) -> tuple[float, float]:
    """The range of an axis with room around the points, also where all of them are equal."""
    low, high = min(values), max(values)
    room = 0.16 * (high - low) or 0.1 * abs(high) or 1.0
    return (0.0 - 0.06 * (high or 1.0) if from_zero else low - room, high + room)


def changes(study: Study) -> Plot | None:
    """Changes of the interior cells of the most detailed table, beside their design."""
    alt = altair_library()
    table = study.tables[-1]
    shown = [
        (result.candidate.name, result.profile)
        for result in study.mains(table)
        if result.profile is not None and result.profile.observed.sum()
    ]
    if not shown:
        return None
    most = max(max(_shares(profile.observed)) for _, profile in shown)
    panels = [
        _panel(name, profile, most, say(study, "plot.share") if at % _COLUMNS == 0 else None)
        for at, (name, profile) in enumerate(shown)
    ]
    unchanged = [
        (name, _shares(profile.observed)[profile.deviations.index(0)]) for name, profile in shown
    ]
    spoken = [
        say(
            study,
            "plot.unchanged",
            name=name,
            share=share_text(share, study.language, digits=2),
        )
        for name, share in unchanged
    ]
    return Plot(
        say(study, "section.changes"),
        say(study, "plot.changes", table=called(study, table), shares="; ".join(spoken)),
        alt.concat(*panels, columns=_COLUMNS, spacing=14),
    )


def _shares(cells: npt.NDArray[Any], of: int | None = None) -> list[float]:
    """The share of each change, over all groups of counts."""
    whole = int(cells.sum()) if of is None else of
    return [float(share) for share in cells.sum(axis=0) / whole]


def _panel(name: str, profile: DeviationProfile, most: float, title: str | None) -> Any:
    """The changes of one method as bars, its design as lines."""
    alt = altair_library()
    signs = [signed(value) for value in profile.deviations]
    observed = _shares(profile.observed)
    expected = _shares(profile.expected, int(profile.observed.sum()))
    values = [
        {"change": change, "observed": seen, "expected": wanted}
        for change, seen, wanted in zip(signs, observed, expected, strict=True)
    ]
    step = 1 if len(signs) <= 7 else 2
    labelled = [signed(value) for value in profile.deviations if value % step == 0]
    base = alt.Chart(alt.Data(values=values)).encode(
        x=alt.X("change:N", sort=signs)
        .title(None)
        .axis(labelAngle=0, ticks=False, domain=False, labelPadding=5, values=labelled)
    )
    y = (
        alt.Y("observed:Q")
        .title(title)
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
    return (bars + design).properties(
        width=(_WIDTH * 2 + 70 - (_COLUMNS - 1) * 44) // _COLUMNS,
        height=84,
        title=alt.TitleParams(name, fontSize=12, offset=6, frame="group"),
    )
