"""ETRS89-LAEA (EPSG 3035), the plane of the European grid, back to longitude and latitude.

Lambert's azimuthal equal-area projection of the ellipsoid GRS80, by its closed formulas (EPSG
guidance note 7-2, method 9820). They are exact: without the projection library, coordinates are
the same to a fraction of a millimetre.
"""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt

Floats = npt.NDArray[np.float64]

#: The system whose coordinates are turned back.
LAEA_EUROPE = 3035

_AXIS, _FLATTENING = 6_378_137.0, 1 / 298.257222101
_FALSE_EASTING, _FALSE_NORTHING = 4_321_000.0, 3_210_000.0
_LONGITUDE, _LATITUDE = math.radians(10), math.radians(52)

_E2 = _FLATTENING * (2 - _FLATTENING)
_E = math.sqrt(_E2)
#: Newton's steps from the authalic latitude, which is near; each doubles the correct digits.
_STEPS = 3


def _authalic(sine: Floats) -> Floats:
    """The area from the equator to a latitude, by its sine."""
    inner = _E * sine
    return (1 - _E2) * (sine / (1 - inner**2) + np.arctanh(inner) / _E)


_POLE = float(_authalic(np.array(1.0)))
_RADIUS = _AXIS * math.sqrt(_POLE / 2)
_CENTRE = math.asin(float(_authalic(np.array(math.sin(_LATITUDE)))) / _POLE)
_SCALE = (
    _AXIS
    * math.cos(_LATITUDE)
    / (math.sqrt(1 - _E2 * math.sin(_LATITUDE) ** 2) * _RADIUS * math.cos(_CENTRE))
)


def laea_to_degrees(points: Floats) -> Floats:
    """Longitude and latitude of points of EPSG 3035; NaN for what is on no map of the earth.

    Args:
        points: Metres to the east and to the north, a row for each point.

    Examples:
        >>> laea_to_degrees(np.array([[4_321_000.0, 3_210_000.0]])).round(7).tolist()
        [[10.0, 52.0]]
    """
    across = (points[:, 0] - _FALSE_EASTING) / _SCALE
    up = (points[:, 1] - _FALSE_NORTHING) * _SCALE
    distance = np.hypot(across, up)
    with np.errstate(invalid="ignore", divide="ignore"):
        angle = 2 * np.arcsin(distance / (2 * _RADIUS))
        share = np.where(distance > 0, np.sin(angle) / distance, 1 / _RADIUS)
        sine = np.cos(angle) * math.sin(_CENTRE) + up * share * math.cos(_CENTRE)
        latitude = np.arcsin(np.clip(sine, -1, 1))
        longitude = _LONGITUDE + np.arctan2(
            across * share, np.cos(angle) * math.cos(_CENTRE) - up * share * math.sin(_CENTRE)
        )
        area = sine * _POLE
        for _ in range(_STEPS):
            now = np.sin(latitude)
            slope = 2 * (1 - _E2) * np.cos(latitude) / (1 - _E2 * now**2) ** 2
            latitude = latitude + np.where(slope > 0, (area - _authalic(now)) / slope, 0.0)
        degrees = np.degrees(np.column_stack([longitude, latitude]))
    return np.where(np.isfinite(degrees).all(axis=1)[:, None], degrees, np.nan)
