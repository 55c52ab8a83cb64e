"""Draw the picture of the README: the demo country, its districts shaded by density.

Usage: python scripts/picture.py DEMO_FOLDER OUT.svg
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import sdcensus as sc

_WIDTH = 760
_MARGIN = 6
#: Light to dark, readable on a white and on a dark page.
_SHADES = ("#d8ebe6", "#a9d3ca", "#6fb3a8", "#3b8c82", "#155e57")
#: Upper limits of persons per km² for all shades but the last.
_LIMITS = (50, 100, 400, 1600)

Ring = list[tuple[float, float]]


def rings(geometry: dict[str, Any]) -> list[Ring]:
    """The outlines of a polygon or of several."""
    many = geometry["type"] == "MultiPolygon"
    polygons = geometry["coordinates"] if many else [geometry["coordinates"]]
    return [[(x, y) for x, y in ring] for polygon in polygons for ring in polygon]


def square_kilometres(ring: Ring) -> float:
    """The area of a ring in metres, by the shoelace formula."""
    corners = zip(ring, ring[1:] + ring[:1], strict=True)
    return abs(sum(x * v - u * y for (x, y), (u, v) in corners)) / 2e6


def shade(density: float) -> str:
    """The colour of a density."""
    return _SHADES[sum(density >= limit for limit in _LIMITS)]


def draw(demo: Path) -> str:
    """The map as SVG."""
    content = json.loads((demo / "country" / "codes" / "areas.geojson").read_text("utf-8"))
    areas = {
        level: [one for one in content["features"] if one["properties"]["level"] == level]
        for level in ("ed", "parish")
    }
    cube = sc.open_store(demo / "census.store").tabulate("ed")
    persons = {cell.codes[0]: cell.count for cell in cube.cells()}
    points = [p for one in areas["parish"] for ring in rings(one["geometry"]) for p in ring]
    left, top = min(x for x, _ in points), max(y for _, y in points)
    scale = (_WIDTH - 2 * _MARGIN) / (max(x for x, _ in points) - left)
    height = round((top - min(y for _, y in points)) * scale) + 2 * _MARGIN

    def path(geometry: dict[str, Any]) -> str:
        parts = []
        for ring in rings(geometry):
            places = [
                f"{(x - left) * scale + _MARGIN:.0f} {(top - y) * scale + _MARGIN:.0f}"
                for x, y in ring
            ]
            kept = [place for at, place in enumerate(places) if at == 0 or place != places[at - 1]]
            parts.append(f"M{'L'.join(kept)}Z")
        return "".join(parts)

    lines = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {_WIDTH} {height + 26}"'
        ' font-family="system-ui, sans-serif" font-size="12">',
        "<title>Persons per square kilometre in Isla Demo, which does not exist</title>",
    ]
    for one in areas["ed"]:
        area = sum(square_kilometres(ring) for ring in rings(one["geometry"]))
        colour = shade(persons[one["properties"]["code"]] / area)
        lines.append(f'<path d="{path(one["geometry"])}" fill="{colour}" stroke="{colour}"/>')
    for one in areas["parish"]:
        drawn = path(one["geometry"])
        lines.append(f'<path d="{drawn}" fill="none" stroke="#ffffff" stroke-width="1.2"/>')
    names = ["under 50", "50", "100", "400", "1,600 and over"]
    for at, (colour, name) in enumerate(zip(_SHADES, names, strict=True)):
        x = _MARGIN + at * 104
        lines.append(f'<rect x="{x}" y="{height + 8}" width="14" height="14" fill="{colour}"/>')
        lines.append(f'<text x="{x + 19}" y="{height + 19}" fill="#7a7a7a">{name}</text>')
    lines.append(
        f'<text x="{_WIDTH - _MARGIN}" y="{height + 19}" text-anchor="end" fill="#7a7a7a">'
        "persons per km², demo country</text></svg>"
    )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    Path(sys.argv[2]).write_text(draw(Path(sys.argv[1])), encoding="utf-8", newline="\n")
