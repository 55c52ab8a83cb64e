"""Maps of risk and loss: each method a point, the frontier a line."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from sdcensus.model.vocabulary import RiskAxis
from sdcensus.report.charts import BAD, INK, PAPER, SOFT, STRONG, altair_library
from sdcensus.report.study.frontier import on_frontier
from sdcensus.report.study.labels import Point, leader, place_labels, text_width
from sdcensus.report.study.plots import Plot
from sdcensus.report.study.results import Study, StudyResult, StudyTable
from sdcensus.report.study.words import Verdict, called, fixed, say, verdict

_LABEL = 11
_RADIUS = 4.5
#: More points than this have no room for their names: those of the frontier have numbers.
_NAMED = 14
#: How far apart the places of a line are that labels keep away from.
_APART = 8.0
#: Points that are not on the frontier, where there are many.
_PALE = 0.35
#: How methods are drawn: told apart by form, and not by colour alone.
_FORMS = {
    Verdict.FALLS: ("triangle-up", BAD, BAD),
    Verdict.LEAKS: ("circle", STRONG, PAPER),
    Verdict.HOLDS: ("circle", STRONG, STRONG),
    Verdict.UNKNOWN: ("circle", SOFT, SOFT),
    Verdict.UNJUDGED: ("square", STRONG, PAPER),
}


@dataclass(frozen=True, slots=True)
class _Mark:
    name: str
    x: float
    y: float
    kind: Verdict
    number: str


@dataclass(frozen=True, slots=True)
class _Frame:
    """The size of a map and the ranges of its axes."""

    width: int
    height: int
    across: tuple[float, float]
    up: tuple[float, float]

    def pixels(self, mark: _Mark, label: str) -> Point:
        """Where a point stands, and the size of its label."""
        (left, right), (low, high) = self.across, self.up
        return Point(
            (mark.x - left) / (right - left) * self.width,
            (high - mark.y) / (high - low) * self.height,
            text_width(label, _LABEL),
            _LABEL + 2,
            _RADIUS + 1,
        )

    def back(self, x: float, y: float) -> tuple[float, float]:
        """Values of a place."""
        (left, right), (low, high) = self.across, self.up
        return left + x / self.width * (right - left), high - y / self.height * (high - low)


_HEIGHTS = {
    RiskAxis.COMPOSITE: "plot.risk",
    RiskAxis.UNTOUCHED: "plot.untouched",
    RiskAxis.CLAIM: "plot.claim",
}


def risk_map(
    study: Study, table: StudyTable, axis: RiskAxis = RiskAxis.COMPOSITE, *, frontier: bool = False
) -> Plot | None:
    """Each method a point: a figure of risk over the mean change."""
    plain = axis is RiskAxis.COMPOSITE
    marks = _marks(study, table, lambda result: result.height(axis))
    if not marks or not (plain or any(mark.y for mark in marks)):
        return None
    what = say(study, _HEIGHTS[axis])
    return _map(study, table, marks, what, from_zero=not plain, frontier=frontier)


def disclosure_map(study: Study, table: StudyTable) -> Plot | None:
    """Each method a point: the share of small cells that are given away over the mean change."""
    marks = _marks(study, table, _shown_share)
    if not any(mark.y for mark in marks):
        return None
    small = any(result.small_share is not None for result in study.mains(table))
    what = say(study, "plot.small" if small else "plot.cells")
    return _map(study, table, marks, what, from_zero=True, frontier=study.has_long_names)


def _marks(
    study: Study, table: StudyTable, height: Callable[[StudyResult], float | None]
) -> list[_Mark]:
    marks = []
    for result in study.mains(table):
        change, value = result.loss, height(result)
        if change is not None and value is not None:
            name, point = result.candidate.name, result.candidate.point
            number = name if point is None else f"P{point}"
            marks.append(_Mark(name, change, value, verdict([result]), number))
    return marks


def _shown_share(result: StudyResult) -> float | None:
    share = result.share if result.small_share is None else result.small_share
    return None if share is None else 100 * share


def _map(
    study: Study,
    table: StudyTable,
    marks: list[_Mark],
    what: str,
    *,
    from_zero: bool,
    frontier: bool,
) -> Plot:
    alt = altair_library()
    across = _span([mark.x for mark in marks], from_zero=False)
    up = _span([mark.y for mark in marks], from_zero=from_zero)
    many = frontier and (len(marks) > _NAMED or study.has_grid)
    wide = many or (frontier and study.has_long_names)
    frame = _Frame(760, 340, across, up) if wide else _Frame(370, 210, across, up)
    digits, fine = _digits(up, 0), _digits(across, 1)
    x = (
        alt.X("x:Q")
        .title(say(study, "plot.across"))
        .scale(domain=list(across), nice=False, zero=False)
        .axis(tickCount=5, format=f".{fine}f", grid=False, domainColor=SOFT, tickColor=SOFT)
    )
    y = (
        alt.Y("y:Q")
        .title(say(study, "plot.up", what=what))
        .scale(domain=list(up), nice=False, zero=False)
        .axis(tickCount=5, format=f".{digits}f", domain=False, ticks=False, minExtent=34)
    )
    best = on_frontier([(mark.x, mark.y) for mark in marks])
    named = best if many else [True] * len(marks)
    drawn = [kept and frontier for kept in best]
    joined = [mark for mark, kept in zip(marks, drawn, strict=True) if kept]
    layers = [_line(joined, x, y)] if len(joined) > 1 else []
    values, labels, lines = _placed(marks, named, drawn, frame, many=many)
    if lines:
        layers.append(
            alt.Chart(alt.Data(values=lines))
            .mark_rule(color=SOFT, strokeWidth=0.8)
            .encode(x=x, y=y, x2="to_x:Q", y2="to_y:Q")
        )
    layers.append(
        alt.Chart(alt.Data(values=values))
        .mark_point(size=70, strokeWidth=1.6)
        .encode(
            x=x,
            y=y,
            shape=alt.Shape("form:N").scale(None).legend(None),
            stroke=alt.Stroke("edge:N").scale(None).legend(None),
            fill=alt.Fill("inside:N").scale(None).legend(None),
            opacity=alt.Opacity("strength:Q").scale(None).legend(None),
        )
    )
    layers.append(
        alt.Chart(alt.Data(values=labels))
        .mark_text(align="left", baseline="middle", fontSize=_LABEL, color=INK)
        .encode(x=alt.X("left:Q"), y=alt.Y("middle:Q"), text="name:N")
    )
    name = called(study, table)
    spoken = _spoken(
        study, [mark for mark, kept in zip(marks, named, strict=True) if kept], digits, fine
    )
    key = "plot.map_many" if many else "plot.map"
    counted = {"n": len(marks)} if many else {}
    return Plot(
        name[:1].upper() + name[1:],
        say(study, key, table=name, what=what, points=spoken, **counted),
        alt.layer(*layers).properties(width=frame.width, height=frame.height),
    )


def _digits(span: tuple[float, float], least: int) -> int:
    """Decimals by which the ticks of an axis differ."""
    low, high = span
    return max(least, -math.floor(math.log10((high - low) / 4)))


def _line(marks: Sequence[_Mark], x: Any, y: Any) -> Any:
    """The points of the frontier, joined."""
    alt = altair_library()
    points = sorted((mark.x, mark.y) for mark in marks)
    return (
        alt.Chart(alt.Data(values=[{"x": across, "y": up} for across, up in points]))
        .mark_line(color=STRONG, strokeWidth=1.4, strokeDash=[5, 3], opacity=0.7)
        .encode(x=x, y=y)
    )


def _spoken(study: Study, marks: Sequence[_Mark], digits: int, fine: int) -> str:
    """Points in words, for those who cannot see them."""
    return "; ".join(
        say(
            study,
            "plot.point",
            name=mark.name,
            y=fixed(study, mark.y, digits),
            x=fixed(study, mark.x, max(2, fine)),
        )
        for mark in marks
    )


def _along(points: Sequence[Point]) -> list[Point]:
    """Places on the line through the points of a frontier, which labels keep away from."""
    places = []
    for first, second in itertools.pairwise(sorted(points, key=lambda point: point.x)):
        steps = int(math.hypot(second.x - first.x, second.y - first.y) / _APART)
        for step in range(1, steps):
            share = step / steps
            x = first.x + share * (second.x - first.x)
            y = first.y + share * (second.y - first.y)
            places.append(Point(x, y, 0, 0, 2.0))
    return places


def _placed(
    marks: Sequence[_Mark],
    named: Sequence[bool],
    joined: Sequence[bool],
    frame: _Frame,
    *,
    many: bool,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], list[dict[str, float]]]:
    """Points, labels in their places, and lines to labels that had to move away."""
    texts = [mark.number if many else mark.name for mark in marks]
    points = [frame.pixels(mark, text) for mark, text in zip(marks, texts, strict=True)]
    labelled = [point for point, kept in zip(points, named, strict=True) if kept]
    others = [point for point, kept in zip(points, named, strict=True) if not kept]
    others += _along([point for point, kept in zip(points, joined, strict=True) if kept])
    places = iter(place_labels(labelled, frame.width, frame.height, others=others))
    values: list[dict[str, Any]] = []
    labels, lines = [], []
    for mark, point, text, kept in zip(marks, points, texts, named, strict=True):
        form, edge, inside = _FORMS[mark.kind]
        look = {"form": form, "edge": edge, "inside": inside}
        strength = 1.0 if kept else _PALE
        values.append({"x": mark.x, "y": mark.y, "strength": strength, **look})
        if not kept:
            continue
        place = next(places)
        left, middle = frame.back(place.x, place.y)
        labels.append({"name": text, "left": left, "middle": middle})
        if place.led:
            to_x, to_y = frame.back(*map(float, leader(point, place.x, place.y)))
            lines.append({"x": mark.x, "y": mark.y, "to_x": to_x, "to_y": to_y})
    # Pale points lie below the others.
    values.sort(key=lambda value: float(value["strength"]))
    return values, labels, lines


def _span(values: list[float], *, from_zero: bool) -> tuple[float, float]:
    """The range of an axis with room around the points, also where all of them are equal."""
    low, high = min(values), max(values)
    room = 0.16 * (high - low) or 0.1 * abs(high) or 1.0
    return (0.0 - 0.06 * (high or 1.0) if from_zero else low - room, high + room)
