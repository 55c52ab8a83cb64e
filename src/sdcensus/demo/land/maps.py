"""The map of the demo country: a GeoJSON with the areas of every level."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import TextIO

import numpy as np
import numpy.typing as npt

from sdcensus.demo.census import DemoCensus
from sdcensus.demo.documents.questionnaire import LABEL_COLUMNS, DemoCode
from sdcensus.demo.land.borders import Ring, draw_borders, rings_of_areas

CELL = 1000
LEVELS = ("region", "district", "parish", "ed", "constituency")


def write_map(file: TextIO, census: DemoCensus) -> None:
    """Write all areas, one on each line.

    Coordinates are whole metres of ETRS89-LAEA (EPSG 3035), the system of the European grid: a
    building lies inside its enumeration district to the metre. The file says so in ``crs``.
    """
    file.write(
        '{"type":"FeatureCollection","crs":{"type":"name","properties":'
        '{"name":"urn:ogc:def:crs:EPSG::3035"}},"features":[\n'
    )
    for number, feature in enumerate(_features(census)):
        file.write((",\n" if number else "") + feature)
    file.write("\n]}\n")


def _features(census: DemoCensus) -> Iterator[str]:
    geography, questionnaire = census.geography, census.questionnaire
    border = draw_borders(geography.mesh, geography.face_ed, census.draws)
    question = questionnaire["ed"]
    codes = {code.code: code for code in (*question.groups, *question.codes)}
    codes |= {code.code: code for tree in question.trees for code in tree.codes if not code.parent}
    prefixes = {"region": "R", "district": "D", "parish": "P", "constituency": "C"}
    by_level = {
        level: [code for code in codes.values() if code.code.startswith(prefix)]
        for level, prefix in prefixes.items()
    }
    by_level["ed"] = list(question.codes)
    area_of_ed: dict[str, npt.NDArray[np.integer]] = {
        "region": geography.region,
        "district": geography.district,
        "parish": geography.parish,
        "ed": np.arange(geography.eds),
        "constituency": geography.constituency,
    }
    for level in LEVELS:
        area = area_of_ed[level][geography.face_ed].astype(np.int64)
        rings = rings_of_areas(geography.mesh, border, area, len(by_level[level]))
        for code, outline in zip(by_level[level], rings, strict=True):
            yield _feature(code, level, outline)


def _feature(code: DemoCode, level: str, rings: list[Ring]) -> str:
    feature = {
        "type": "Feature",
        "id": code.code,
        "properties": {
            "code": code.code,
            "level": level,
            **dict(zip(LABEL_COLUMNS, code.label, strict=True)),
        },
        "geometry": {"type": "Polygon", "coordinates": rings},
    }
    return json.dumps(feature, ensure_ascii=False, separators=(",", ":"))


def extent_of_grid(census: DemoCensus) -> tuple[int, int, int, int]:
    """The square cells that touch the island: lowest and highest easting and northing."""
    corner = census.geography.mesh.corner
    low = corner.min(axis=0) // CELL * CELL
    high = -(-corner.max(axis=0) // CELL) * CELL
    return int(low[0]), int(low[1]), int(high[0]), int(high[1])
