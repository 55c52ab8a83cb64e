"""Maps as RFC 7946 wants GeoJSON: longitude and latitude, outer rings against the clock, a box."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import MissingExtra, SpecError
from sdcensus.kernels.grids.projection import LAEA_EUROPE, laea_to_degrees
from sdcensus.model.published.area_outlines import DEGREES

Floats = npt.NDArray[np.float64]
Json = dict[str, Any]

#: Decimals of a degree, as RFC 7946 advises to think of: a centimetre.
_DECIMALS = 7
#: Systems in degrees that differ from that of GeoJSON by less than a map can show.
_SAME = (DEGREES, 4258)


def in_degrees(document: Json, epsg: int | None) -> Json:
    """A map in longitude and latitude.

    Args:
        document: The map: polygons and multipolygons, outer rings first.
        epsg: The coordinate reference system of its points; ``None`` where nobody knows.

    Raises:
        SpecError: The system is not known, or the points are not in it.
        MissingExtra: The system needs the projection library, which is not installed.
    """
    rings = [
        (ring, number == 0)
        for feature in document["features"]
        for polygon in polygons_of(feature["geometry"])
        for number, ring in enumerate(polygon)
    ]
    points = np.array([point for ring, _ in rings for point in ring], dtype=np.float64)
    degrees = _to_degrees(points.reshape(-1, 2), epsg)
    if not (np.abs(degrees) <= (180, 90)).all():  # NaN is not either
        raise SpecError(
            f"The points of the map do not lie in its coordinate reference system, EPSG {epsg}."
            " Correct the system that the map names in crs, and load the census again."
        )
    degrees = degrees.round(_DECIMALS) + 0.0  # no -0.0
    ends = np.cumsum([len(ring) for ring, _ in rings], dtype=np.int64)
    lines = iter(
        [
            _turned(line, left=outer).tolist()
            for line, (_, outer) in zip(np.split(degrees, ends)[:-1], rings, strict=True)
        ]
    )
    result: Json = {"type": "FeatureCollection"}
    if len(degrees):
        result["bbox"] = [*degrees.min(axis=0).tolist(), *degrees.max(axis=0).tolist()]
    result["features"] = [_redrawn(feature, lines) for feature in document["features"]]
    return result


def polygons_of(geometry: Json) -> Sequence[Any]:
    """The polygons of a geometry, each an outer ring followed by its holes."""
    coordinates: Sequence[Any] = geometry["coordinates"]
    return [coordinates] if geometry["type"] == "Polygon" else coordinates


def _redrawn(feature: Json, lines: Iterator[Any]) -> Json:
    """A feature with the next rings in the place of its own."""
    geometry = feature["geometry"]
    polygons = [[next(lines) for _ in polygon] for polygon in polygons_of(geometry)]
    drawn = polygons[0] if geometry["type"] == "Polygon" else polygons
    return {**feature, "geometry": {"type": geometry["type"], "coordinates": drawn}}


def _turned(ring: Floats, *, left: bool) -> Floats:
    """A ring that runs against the clock, or with it for a hole."""
    x, y = (ring - ring[0]).T
    turns_left = float(np.sum(x[:-1] * y[1:] - x[1:] * y[:-1])) > 0
    return ring if turns_left == left else ring[::-1]


def _to_degrees(points: Floats, epsg: int | None) -> Floats:
    if epsg is None:
        raise SpecError(
            "The map does not say in which coordinate reference system its points are. Name it in"
            " the GeoJSON, as crs, and load the census again."
        )
    if epsg in _SAME:
        return points
    if epsg == LAEA_EUROPE:
        return laea_to_degrees(points)
    try:
        from pyproj import Transformer
        from pyproj.exceptions import CRSError
    except ImportError:
        raise MissingExtra("geography", needed_for=f"A map of EPSG {epsg} in degrees") from None
    try:
        system = Transformer.from_crs(epsg, DEGREES, always_xy=True)
    except CRSError:
        raise SpecError(
            f"EPSG {epsg} is no coordinate reference system that is known. Correct the system that"
            " the map names in crs, and load the census again."
        ) from None
    longitude, latitude = system.transform(points[:, 0], points[:, 1])
    return np.column_stack([longitude, latitude])
