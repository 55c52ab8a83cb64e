"""Outlines of areas for the screen: few points, no area lost, as GeoJSON that d3 draws rightly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.schema.area_shapes import (
    Shapes,
    cross,
    doubled_areas,
    neighbours,
    numbered_points,
)

#: Points that make about a megabyte; of a map with more, details go that a screen does not show.
MOST_POINTS = 50_000
#: How many details make the longer side of a map: at first, and at least.
_FINEST, _COARSEST = 4_096, 512
#: A ring keeps so many points.
_FEWEST = 4


def for_screen(shapes: Shapes) -> Shapes:
    """Areas with as few points as a screen needs, if they have many."""
    steps = _FINEST
    simpler = shapes
    while len(simpler.points) > MOST_POINTS and steps >= _COARSEST:
        simpler = simplified(simpler, max(shapes.extent // steps, 1))
        steps //= 2
    return simpler


def simplified(shapes: Shapes, step: int) -> Shapes:
    """The same areas with fewer points; neighbours keep one border, and no area vanishes.

    A point goes if it and its two neighbours span a triangle that is smaller than a square of the
    step. Points where more than two areas meet stay. Whether a point goes depends on it and its
    neighbours only, so that both sides of a border lose the same points.

    Args:
        shapes: The areas.
        step: How large details are that can be seen, in units.
    """
    corners, name = numbered_points(shapes.points)
    ring_of = np.repeat(np.arange(shapes.rings), np.diff(shapes.starts))
    before, after = neighbours(ring_of)
    low = np.minimum(name[before], name[after])
    high = np.maximum(name[before], name[after])
    # Between the same two points wherever it stands: a point of a border between two areas.
    first = np.zeros(len(corners), dtype=np.int64)
    first[name] = np.arange(name.size)
    odd = (low != low[first[name]]) | (high != high[first[name]])
    free = np.ones(len(corners), dtype=bool)
    free[name[odd]] = False
    while name.size:
        before, after = neighbours(ring_of)
        points = corners[name]
        size = np.abs(cross(points - points[before], points[after] - points))
        large = np.bincount(ring_of, minlength=shapes.rings)[ring_of] > _FEWEST
        # A ring that must not get smaller keeps its points, and so do those it shares them with.
        held = np.zeros(len(corners), dtype=bool)
        held[name[~large]] = True
        may_go = free[name] & ~held[name] & (size < 2 * step * step)
        rank = np.where(may_go, size * len(corners) + name, np.iinfo(np.int64).max)
        goes = may_go & (rank < rank[before]) & (rank < rank[after])
        if not goes.any():
            break
        name, ring_of = name[~goes], ring_of[~goes]
    sizes = np.bincount(ring_of, minlength=shapes.rings)
    starts = np.concatenate([[0], np.cumsum(sizes)])
    return replace(shapes, points=corners[name], starts=starts)


def to_geojson(shapes: Shapes) -> dict[str, Any]:
    """A FeatureCollection with one feature for each area; its only property is its code.

    Outer rings run clockwise, as d3 wants them on a sphere: the other way round it fills
    everything but the area. ``degrees`` tells whether coordinates are longitude and latitude.
    """
    outer = doubled_areas(shapes) > 0
    numbers = shapes.points.tolist()
    if shapes.degrees:
        numbers = np.round(shapes.points * shapes.unit, 6).tolist()
    by_area: dict[int, list[int]] = {}
    for ring, area in enumerate(shapes.area_of.tolist()):
        by_area.setdefault(area, []).append(ring)
    begins = shapes.starts.tolist()

    def drawn(ring: int) -> list[Any]:
        line = numbers[begins[ring] : begins[ring + 1]]
        return [line[0], *line[:0:-1], line[0]]

    features = []
    for area in sorted(by_area):
        polygons = [
            [drawn(ring) for ring in polygon] for polygon in _polygons(shapes, by_area[area], outer)
        ]
        one_part = len(polygons) == 1
        features.append(
            {
                "type": "Feature",
                "properties": {"code": shapes.codes[area]},
                "geometry": {
                    "type": "Polygon" if one_part else "MultiPolygon",
                    "coordinates": polygons[0] if one_part else polygons,
                },
            }
        )
    return {"type": "FeatureCollection", "degrees": shapes.degrees, "features": features}


def all_levels(shapes: Mapping[str, Shapes]) -> dict[str, Any]:
    """A FeatureCollection with the areas of several levels, each with its code and level."""
    features = []
    for level, shape in shapes.items():
        for feature in to_geojson(shape)["features"]:
            feature["properties"]["level"] = level
            features.append(feature)
    return {"type": "FeatureCollection", "features": features}


def _polygons(
    shapes: Shapes, rings: Sequence[int], outer: npt.NDArray[np.bool_]
) -> list[list[int]]:
    """The rings of an area: each outer ring, followed by its holes."""
    outside = [ring for ring in rings if outer[ring]] or [*rings]
    if len(outside) == 1 or len(outside) == len(rings):
        rest = [ring for ring in rings if ring not in outside]
        return [[ring, *(rest if at == 0 else [])] for at, ring in enumerate(outside)]
    polygons = {ring: [ring] for ring in outside}
    for hole in (ring for ring in rings if not outer[ring]):
        around = [ring for ring in outside if _inside(shapes, hole, ring)]
        smallest = min(around or outside, key=lambda ring: _size(shapes, ring))
        polygons[smallest].append(hole)
    return [*polygons.values()]


def _size(shapes: Shapes, ring: int) -> int:
    own = shapes.points[shapes.starts[ring] : shapes.starts[ring + 1]]
    return int(np.ptp(own, axis=0).prod())


def _inside(shapes: Shapes, hole: int, ring: int) -> bool:
    """Whether the middle of an edge of a hole lies inside a ring, by crossings to the right."""
    start = int(shapes.starts[hole])
    middle = shapes.points[start : start + 2].mean(axis=0)
    own = shapes.points[shapes.starts[ring] : shapes.starts[ring + 1]].astype(np.float64)
    after = np.roll(own, -1, axis=0)
    crosses = (own[:, 1] > middle[1]) != (after[:, 1] > middle[1])
    one, other = own[crosses], after[crosses]
    at = one[:, 0] + (middle[1] - one[:, 1]) / (other[:, 1] - one[:, 1]) * (other[:, 0] - one[:, 0])
    return bool((at > middle[0]).sum() % 2)
