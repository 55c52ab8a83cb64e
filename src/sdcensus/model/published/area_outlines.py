"""Where the areas of a published table lie: squares by their codes, others by outlines. Public."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sdcensus.model.schema.grids import Square

#: Points of a ring; the first one closes it.
Ring = Sequence[Sequence[float]]
#: Outer rings, each followed by its holes.
Polygons = Sequence[Sequence[Ring]]

#: Longitude and latitude.
DEGREES = 4326

_COUNTRY = re.compile(r"[A-Z]{2}_")


@dataclass(frozen=True, slots=True)
class AreaOutlines:
    """Outlines of the areas of one level.

    Attributes:
        polygons: The polygons of each code.
        epsg: The coordinate reference system; ``None`` where the map does not say which.
    """

    polygons: Mapping[str, Polygons]
    epsg: int | None


#: The outlines of a level of a geography, by their names; ``None`` where there is no map of it.
OutlinesOf = Callable[[str, str], AreaOutlines | None]


def square_of(code: str) -> Square | None:
    """The square that a code names, with or without the letters of a country before it.

    Examples:
        >>> square_of("NL_CRS3035RES1000mN2000E4000").size
        1000
        >>> square_of("D01") is None
        True
    """
    return Square.read(code[3:] if _COUNTRY.match(code) else code)


def square_ring(square: Square) -> Ring:
    """The corners of a square, against the clock from the south-west."""
    west, south = square.east, square.north
    east, north = west + square.size, south + square.size
    return ((west, south), (east, south), (east, north), (west, north), (west, south))
