"""Outlines of areas: read from GeoJSON, joined to larger areas, made small enough for a screen.

Points that are one point are found by their rounded coordinates, so that neighbours keep one border
between them whatever is done to it.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import InputError
from sdcensus.model.schema.variable import Variable
from sdcensus.model.text import parse_json

Floats = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]

#: How fine coordinates are told apart: in metres, and in degrees (a tenth of a metre or so).
METRE, DEGREE = 1.0, 1e-6
#: Coordinates fit into half a whole number of the machine, so that a point fits into one.
_FARTHEST = 1 << 30


@dataclass(frozen=True, slots=True, eq=False)
class Shapes:
    """Outlines of the areas of one level. Public.

    Attributes:
        codes: The code of each area.
        points: The points of all rings, one ring after another, without the closing point. Whole
            numbers of ``unit``.
        starts: Where each ring begins, and where the last one ends.
        area_of: For each ring, the position of its area in ``codes``.
        unit: How long 1 is in the coordinates of the map.
        degrees: Whether coordinates are longitude and latitude; else they are metres or the like.
    """

    codes: tuple[str, ...]
    points: Int64
    starts: Int64
    area_of: Int64
    unit: float
    degrees: bool

    @property
    def rings(self) -> int:
        """How many rings there are."""
        return self.area_of.size

    @property
    def extent(self) -> int:
        """The longer side of the map, in units."""
        return int(np.ptp(self.points, axis=0).max()) if self.points.size else 0


# ---------------------------------------------------------------------------------------- reading


def read_shapes(content: bytes, variable: Variable, where: str) -> dict[str, Shapes]:
    """The outlines in a GeoJSON, by the level of the geography that they belong to.

    Features that name a level in their property ``level`` belong to it; all others to the leaves.
    Codes are the values of the property that fits the code list best, or the ids of the features.

    Args:
        content: The file.
        variable: The geography.
        where: What the file is called in messages.

    Raises:
        InputError: It is no map of that geography.
    """
    features = _features(content, where)
    by_level: dict[str, list[Mapping[str, Any]]] = {}
    levels = {level.name for level in variable.levels()}
    for feature in features:
        named = _properties(feature).get("level")
        level = named if isinstance(named, str) and named in levels else variable.leaf_level
        by_level.setdefault(level, []).append(feature)
    by_code = {}
    for name, members in by_level.items():
        known = {code.code for code in variable.level(name).codes}
        chosen = _with_codes(members, known)
        if chosen:
            by_code[name] = chosen
    if not by_code:
        raise InputError(
            f"{where}: no feature has a code of {variable.name!r}. Put the code of each area into a"
            ' property of its feature, such as "code".'
        )
    drawn = {name: _Drawn(members, where) for name, members in by_code.items()}
    degrees = all(shapes.degrees for shapes in drawn.values())
    return {name: one.shapes(degrees, where) for name, one in drawn.items()}


def _features(content: bytes, where: str) -> list[Mapping[str, Any]]:
    try:
        document = parse_json(content)
    except (ValueError, UnicodeDecodeError, RecursionError):
        raise InputError(f"{where} is not JSON. A map is a GeoJSON file.") from None
    kind = document.get("type") if isinstance(document, dict) else None
    features = document.get("features") if isinstance(document, dict) else None
    if kind != "FeatureCollection" or not isinstance(features, list):
        raise InputError(f"{where} is no GeoJSON FeatureCollection.")
    collected: list[Mapping[str, Any]] = [
        feature
        for feature in features
        if isinstance(feature, dict) and feature.get("type") == "Feature"
    ]
    if len(collected) != len(features):
        raise InputError(f"{where}: every member of 'features' must be a Feature.")
    return collected


def _properties(feature: Mapping[str, Any]) -> Mapping[str, Any]:
    properties = feature.get("properties")
    return properties if isinstance(properties, dict) else {}


def _with_codes(
    features: Sequence[Mapping[str, Any]], known: set[str]
) -> dict[str, Mapping[str, Any]]:
    """Features by their codes; the property that gives most codes is taken."""
    names = {name: None for feature in features for name in _properties(feature)}
    ways = [
        {_text(_properties(feature).get(name)): feature for feature in features}
        for name in sorted(names, key=lambda name: name != "code")
    ]
    ways.append({_text(feature.get("id")): feature for feature in features})
    best = max(ways, key=lambda way: len(way.keys() & known))
    return {code: one for code, one in best.items() if code in known and one.get("geometry")}


def _text(value: object) -> str:
    return str(value) if isinstance(value, (str, int)) and not isinstance(value, bool) else ""


class _Drawn:
    """The rings of some features, as they are written."""

    def __init__(self, members: Mapping[str, Mapping[str, Any]], where: str) -> None:
        self.codes = tuple(members)
        rings: list[Any] = []
        self.area_of: list[int] = []
        self.exterior: list[bool] = []
        for at, member in enumerate(members.values()):
            for polygon in _polygons(member["geometry"], where):
                rings += polygon
                self.area_of += [at] * len(polygon)
                self.exterior += [number == 0 for number in range(len(polygon))]
        self.sizes = [len(ring) for ring in rings]
        self.points = _points(rings, where)

    @property
    def degrees(self) -> bool:
        """Whether all points can be longitude and latitude."""
        return bool((np.abs(self.points) <= (180, 90)).all())

    def shapes(self, degrees: bool, where: str) -> Shapes:
        unit = DEGREE if degrees else METRE
        rounded = np.rint(self.points / unit)
        if not (np.abs(rounded) < _FARTHEST).all():
            raise InputError(f"{where}: coordinates are degrees, or metres of a projected map.")
        starts = np.concatenate([[0], np.cumsum(self.sizes)])
        area_of = np.array(self.area_of, dtype=np.int64)
        shapes = Shapes(self.codes, rounded.astype(np.int64), starts, area_of, unit, degrees)
        clean = without_needless_points(shapes, straight=False)
        return _turned(clean.shapes, np.array(self.exterior)[clean.kept])


def _polygons(geometry: Any, where: str) -> list[Any]:
    """The polygons of a feature, each a list of rings."""
    kind = geometry.get("type") if isinstance(geometry, dict) else None
    if kind not in ("Polygon", "MultiPolygon"):
        raise InputError(f"{where}: areas are drawn as Polygon or MultiPolygon, not as {kind!r}.")
    coordinates = geometry.get("coordinates")
    polygons = [coordinates] if kind == "Polygon" else coordinates
    if not isinstance(polygons, list) or not all(
        isinstance(polygon, list)
        and all(isinstance(ring, list) and len(ring) > 2 for ring in polygon)
        for polygon in polygons
    ):
        raise InputError(f"{where}: the coordinates of an area are no rings of points.")
    return polygons


def _points(rings: Sequence[Any], where: str) -> Floats:
    """The points of all rings; heights are left out."""
    points = [*itertools.chain.from_iterable(rings)]
    try:
        numbers = np.fromiter(itertools.chain.from_iterable(points), dtype=np.float64)
        if numbers.size != 2 * len(points) or any(len(point) != 2 for point in points):
            numbers = np.array([(point[0], point[1]) for point in points], dtype=np.float64)
    except (ValueError, TypeError, IndexError, KeyError):
        numbers = np.array([np.nan])
    if not np.isfinite(numbers).all():
        raise InputError(f"{where}: the coordinates of an area are no numbers.")
    return numbers.reshape(-1, 2)


# ------------------------------------------------------------------------------------------ rings


@dataclass(frozen=True, slots=True, eq=False)
class Cleaned:
    """Rings without needless points, and which of the former rings are left."""

    shapes: Shapes
    kept: Int64


def without_needless_points(shapes: Shapes, *, straight: bool = True) -> Cleaned:
    """Without repeated points and rings that vanish.

    Args:
        shapes: The areas.
        straight: Whether points on a straight line and spikes go as well. Not before areas are
            joined: such a point may be a corner of a neighbour.
    """
    ring_of = np.repeat(np.arange(shapes.rings), np.diff(shapes.starts))
    points = shapes.points
    while points.size:
        before, after = neighbours(ring_of)
        back = points - points[before]
        needless = (back == 0).all(axis=1)
        if straight and not needless.any():
            # Neighbours that all lie on one line can go at once.
            needless = cross(back, points[after] - points) == 0
        if not needless.any():
            break
        points, ring_of = points[~needless], ring_of[~needless]
    kept, starts = np.unique(ring_of, return_index=True)
    sizes = np.diff(np.append(starts, ring_of.size))
    alive = sizes > 2
    inside = np.repeat(alive, sizes)
    simpler = Shapes(
        shapes.codes,
        points[inside],
        np.concatenate([[0], np.cumsum(sizes[alive])]),
        shapes.area_of[kept[alive]],
        shapes.unit,
        shapes.degrees,
    )
    return Cleaned(simpler, kept[alive])


def neighbours(ring_of: Int64) -> tuple[Int64, Int64]:
    """For each point the one before it and the one after it in its ring."""
    size = ring_of.size
    first = np.flatnonzero(np.append(True, ring_of[1:] != ring_of[:-1]))
    last = np.append(first[1:], size) - 1
    before, after = np.arange(size) - 1, np.arange(size) + 1
    before[first], after[last] = last, first
    return before, after


def numbered_points(points: Int64) -> tuple[Int64, Int64]:
    """All different points, and for each point its number among them."""
    packed = ((points[:, 0] + _FARTHEST) << 32) | (points[:, 1] + _FARTHEST)
    different, number = np.unique(packed, return_inverse=True)
    places = np.stack([(different >> 32) - _FARTHEST, (different & 0xFFFFFFFF) - _FARTHEST], axis=1)
    return places, number.reshape(-1).astype(np.int64)


def cross(one: Int64, other: Int64) -> Int64:
    """Twice the area between two vectors; above 0 where the second lies to the left."""
    return np.asarray(one[:, 0] * other[:, 1] - one[:, 1] * other[:, 0])


def doubled_areas(shapes: Shapes) -> Int64:
    """Twice the area of each ring, in units; below 0 where it runs clockwise."""
    if not shapes.rings:
        return np.zeros(0, dtype=np.int64)
    ring_of = np.repeat(np.arange(shapes.rings), np.diff(shapes.starts))
    _, after = neighbours(ring_of)
    # From a point of the map, so that products stay small.
    local = shapes.points - shapes.points[0]
    return np.asarray(np.add.reduceat(cross(local, local[after]), shapes.starts[:-1]))


def _turned(shapes: Shapes, exterior: npt.NDArray[np.bool_]) -> Shapes:
    """Outer rings counterclockwise, holes clockwise."""
    wrong = (doubled_areas(shapes) > 0) != exterior
    if not wrong.any():
        return shapes
    order = np.arange(len(shapes.points))
    sizes = np.diff(shapes.starts)
    mirrored = np.repeat(shapes.starts[:-1] + shapes.starts[1:] - 1, sizes) - order
    order = np.where(np.repeat(wrong, sizes), mirrored, order)
    return Shapes(
        shapes.codes,
        shapes.points[order],
        shapes.starts,
        shapes.area_of,
        shapes.unit,
        shapes.degrees,
    )


# ---------------------------------------------------------------------------------------- joining


def join_areas(shapes: Shapes, group: Sequence[int], codes: Sequence[str]) -> Shapes:
    """Larger areas from smaller ones: borders between two parts of one area go.

    A border goes where both parts draw it through the same points. Where they do not, the parts
    stay beside each other, as one area of several parts.

    Args:
        shapes: The parts.
        group: For each part the position of its area among ``codes``.
        codes: The areas.
    """
    group_of = np.asarray(group, dtype=np.int64)[shapes.area_of]
    ring_of = np.repeat(np.arange(shapes.rings), np.diff(shapes.starts))
    _, after = neighbours(ring_of)
    corners, name = numbered_points(shapes.points)
    start, end, owner = name, name[after], group_of[ring_of]
    many = np.int64(len(corners))
    low, high = np.minimum(start, end), np.maximum(start, end)
    key, place = np.unique((owner * many + low) * many + high, return_inverse=True)
    net = np.bincount(place.reshape(-1), weights=np.where(start < end, 1, -1), minlength=key.size)
    net = net.astype(np.int64)
    left = np.repeat(np.arange(key.size), np.abs(net))
    low, high = key // many % many, key % many
    forth = net[left] > 0
    start = np.where(forth, low[left], high[left])
    end = np.where(forth, high[left], low[left])
    owner = (key // many // many)[left]
    order = np.lexsort((start, owner))
    rings = [
        *_traced(owner[order] * many + start[order], owner[order] * many + end[order], corners)
    ]
    sizes = np.array([len(ring) for ring in rings], dtype=np.int64)
    flat = np.array([*itertools.chain.from_iterable(rings)], dtype=np.int64)
    joined = Shapes(
        tuple(codes),
        corners[flat % many] if flat.size else np.zeros((0, 2), dtype=np.int64),
        np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        np.array([ring[0] // many for ring in rings], dtype=np.int64),
        shapes.unit,
        shapes.degrees,
    )
    return without_needless_points(joined).shapes


def _traced(start: Int64, end: Int64, corners: Int64) -> Iterator[list[int]]:
    """Closed rings from edges that are sorted by their start; the area lies to the left of them."""
    first = np.searchsorted(start, end, side="left").tolist()
    beyond = np.searchsorted(start, end, side="right").tolist()
    starts, ends = start.tolist(), end.tolist()
    used = bytearray(len(starts))
    many = len(corners)
    for edge in range(len(starts)):
        if used[edge]:
            continue
        ring = []
        now = edge
        while not used[now]:
            used[now] = 1
            ring.append(starts[now])
            if beyond[now] - first[now] == 1:
                now = first[now]
            else:
                ways = [edge for edge in range(first[now], beyond[now]) if not used[edge]]
                if not ways:
                    break
                now = _leftmost(
                    starts[now] % many,
                    [ends[way] % many for way in ways],
                    ways,
                    ends[now] % many,
                    corners,
                )
        yield ring


def _leftmost(
    came: int, targets: Sequence[int], ways: Sequence[int], here: int, corners: Int64
) -> int:
    """Where areas touch in a point: the way on that stays with the area that one came from."""
    vectors = corners[[came, *targets]] - corners[here]
    angles = np.arctan2(vectors[:, 1], vectors[:, 0])
    turns = (angles[0] - angles[1:]) % (2 * np.pi)
    return ways[int(np.argmin(np.where(turns == 0, 2 * np.pi, turns)))]
