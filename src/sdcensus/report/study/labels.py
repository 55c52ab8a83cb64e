"""Places for labels beside the points of a chart, so that none hides another."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

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


def place_labels(
    points: Sequence[Point], width: float, height: float, *, others: Sequence[Point] = ()
) -> list[LabelPlace]:
    """Find a place for every label inside a box, as near to its point as the others allow.

    Points with the fewest free places around them are served first. A line that leads from a
    point to its label runs over no other label. Where there are more labels than room, the last
    ones stand where they are least in the way. Points without labels (``others``) are in the way
    as well.
    """
    taken = np.array(
        [
            (p.x - p.radius, p.y - p.radius, p.x + p.radius, p.y + p.radius)
            for p in (*points, *others)
        ]
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
