from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

from sdcensus.demo import make_country
from sdcensus.demo.land.borders import twice_area
from sdcensus.demo.land.geography import Geography, make_geography
from sdcensus.demo.words import Draws
from tests.demo.reading import Written

Ring = list[list[int]]


@pytest.fixture(scope="module")
def geography() -> Geography:
    return make_geography(make_country(60_000), Draws(3))


def _outlines(island: Written, level: str) -> dict[str, list[Ring]]:
    return {
        feature["properties"]["code"]: feature["geometry"]["coordinates"]
        for feature in island.areas
        if feature["properties"]["level"] == level
    }


def _area(rings: list[Ring]) -> int:
    return sum(twice_area(ring) for ring in rings)


def _inside(rings: list[Ring], x: int, y: int) -> bool:
    """Whether a point is inside, exactly: crossings of a ray to the east are counted."""
    inside = False
    for ring in rings:
        for (x1, y1), (x2, y2) in pairwise(ring):
            if (y1 > y) != (y2 > y):
                side = (x2 - x1) * (y - y1) - (x - x1) * (y2 - y1)
                inside ^= (side > 0) == (y2 > y1)
    return inside


def test_every_person_has_a_place(geography: Geography) -> None:
    assert geography.persons.sum() == geography.country.persons
    assert geography.persons.min() > 0


def test_areas_nest_and_none_is_empty(geography: Geography) -> None:
    country = geography.country
    for child, parent, count in (
        (geography.parish, geography.district, country.parishes),
        (geography.district, geography.region, country.districts),
    ):
        assert len(set(child.tolist())) == count
        assert len({*zip(child.tolist(), parent.tolist(), strict=True)}) == count
    assert len(set(geography.face_ed.tolist())) == country.eds
    assert len(set(geography.region.tolist())) == country.regions


def test_constituencies_are_a_second_tree_that_is_not_nested(geography: Geography) -> None:
    by_constituency, by_parish = defaultdict(set), defaultdict(set)
    for parish, constituency in zip(
        geography.parish.tolist(), geography.constituency.tolist(), strict=True
    ):
        by_constituency[constituency].add(parish)
        by_parish[parish].add(constituency)
    assert len(by_constituency) == geography.country.constituencies
    assert max(map(len, by_constituency.values())) > 1
    assert max(map(len, by_parish.values())) > 1


def test_the_capital_is_the_largest_town_and_villages_are_small(geography: Geography) -> None:
    # Classes are numbered from the largest localities to the smallest.
    capital = geography.locality_size[geography.settlement == 2]
    village = geography.locality_size[geography.settlement == 0]
    assert len(set(capital.tolist())) == 1
    assert capital.max() <= geography.locality_size.min()
    assert village.min() > capital.max()


def test_areas_of_every_level_cover_the_island_without_gap_or_overlap(island: Written) -> None:
    """Equal sums to the square metre, at each level and within each parent."""
    island_area = sum(_area(rings) for rings in _outlines(island, "region").values())
    assert island_area > 0
    for level in ("district", "parish", "ed", "constituency"):
        areas = [_area(rings) for rings in _outlines(island, level).values()]
        assert min(areas) > 0
        assert sum(areas) == island_area
    variable = island.schema.variable("ed")
    for level in ("parish", "district", "region", "constituency"):
        parents = variable.level(level)
        sums: dict[str, int] = defaultdict(int)
        eds = _outlines(island, "ed")
        for leaf, group in zip(variable.codes, parents.group, strict=True):
            sums[parents.codes[group].code] += _area(eds[leaf.code])
        assert sums == {code: _area(rings) for code, rings in _outlines(island, level).items()}


def test_borders_never_cross_themselves(island: Written) -> None:
    def turn(a: list[int], b: list[int], c: list[int]) -> int:
        cross = (b[0] - a[0]) * (c[1] - a[1]) - (b[1] - a[1]) * (c[0] - a[0])
        return (cross > 0) - (cross < 0)

    for rings in _outlines(island, "parish").values():
        for ring in rings:
            sides = list(pairwise(ring))
            box = np.array([[min(p[i], q[i]) for i in (0, 1)] for p, q in sides])
            end = np.array([[max(p[i], q[i]) for i in (0, 1)] for p, q in sides])
            for i, (p, q) in enumerate(sides):
                near = ((box <= end[i]) & (end >= box[i])).all(axis=1)
                for j in np.flatnonzero(near):
                    if j <= i + 1 or (i == 0 and j == len(sides) - 1):
                        continue
                    r, s = sides[j]
                    crosses = turn(p, q, r) != turn(p, q, s) and turn(r, s, p) != turn(r, s, q)
                    assert not crosses


def test_outer_rings_run_counter_clockwise_and_holes_clockwise(island: Written) -> None:
    for feature in island.areas:
        outer, *holes = feature["geometry"]["coordinates"]
        assert outer[0] == outer[-1]
        assert twice_area(outer) > 0
        assert all(twice_area(hole) < 0 for hole in holes)


def test_every_building_stands_inside_its_district_and_in_no_other(island: Written) -> None:
    eds = _outlines(island, "ed")
    buildings = island.buildings
    chosen = range(0, len(buildings["ed"]), 7)
    for row in chosen:
        x, y = int(buildings["easting"][row]), int(buildings["northing"][row])
        assert _inside(eds[buildings["ed"][row]], x, y)
    for row in list(chosen)[::20]:
        x, y = int(buildings["easting"][row]), int(buildings["northing"][row])
        assert sum(_inside(rings, x, y) for rings in eds.values()) == 1


def test_buildings_lie_in_the_cells_of_the_grid(island: Written) -> None:
    (grid,) = island.schema.grids
    x_low, y_low, x_high, y_high = grid.extent
    east = island.buildings["easting"].astype(np.int64)
    north = island.buildings["northing"].astype(np.int64)
    assert ((x_low <= east) & (east < x_high) & (y_low <= north) & (north < y_high)).all()
    assert all(bound % grid.cell == 0 for bound in grid.extent)


def test_the_map_has_every_area_of_the_code_list_with_its_labels(island: Written) -> None:
    variable = island.schema.variable("ed")
    drawn: dict[str, Any] = {feature["id"]: feature["properties"] for feature in island.areas}
    expected = {code.code: str(code.label) for level in variable.levels() for code in level.codes}
    assert {code: properties["label"] for code, properties in drawn.items()} == expected
