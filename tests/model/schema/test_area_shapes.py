from __future__ import annotations

import itertools
import json
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import InputError
from sdcensus.model.schema.area_outlines import MOST_POINTS, for_screen, simplified, to_geojson
from sdcensus.model.schema.area_shapes import Shapes, doubled_areas, join_areas, read_shapes
from sdcensus.model.schema.variable import Code, Entity, Hierarchy, Level, Role, Variable

Ring = list[tuple[float, float]]


def square(x: float, y: float, side: float = 10) -> Ring:
    return [(x, y), (x + side, y), (x + side, y + side), (x, y + side), (x, y)]


def feature(code: str, *rings: Ring, **properties: Any) -> dict[str, Any]:
    return {
        "type": "Feature",
        "properties": {"name": f"Area {code}", "code": code, **properties},
        "geometry": {"type": "Polygon", "coordinates": [*rings]},
    }


def content(*features: dict[str, Any]) -> bytes:
    return json.dumps({"type": "FeatureCollection", "features": [*features]}).encode()


def geography(codes: list[str], group: list[int] | None = None) -> Variable:
    group = group or [0] * len(codes)
    above = tuple(Code(f"D{at}") for at in range(max(group) + 1))
    return Variable(
        name="area",
        entity=Entity.PERSON,
        codes=tuple(Code(code) for code in codes),
        leaf_level="parish",
        role=Role.GEOGRAPHY,
        hierarchies=(Hierarchy("areas", (Level("district", above, tuple(group)),)),),
    )


def shapes_of(cells: dict[str, list[Ring]]) -> Shapes:
    drawn = [feature(code, *rings) for code, rings in cells.items()]
    return read_shapes(content(*drawn), geography([*cells]), "map")["parish"]


def areas(shapes: Shapes) -> dict[str, float]:
    found = np.bincount(shapes.area_of, weights=doubled_areas(shapes), minlength=len(shapes.codes))
    return {code: area / 2 for code, area in zip(shapes.codes, found.tolist(), strict=True)}


def rings_of(shapes: Shapes) -> list[list[list[float]]]:
    return [
        shapes.points[a:b].tolist() for a, b in zip(shapes.starts, shapes.starts[1:], strict=False)
    ]


def clockwise(ring: list[list[float]]) -> bool:
    pairs = itertools.pairwise(ring)
    return sum(a[0] * b[1] - b[0] * a[1] for a, b in pairs) < 0


# ---------------------------------------------------------------------------------------- joining


def test_the_border_between_two_parts_goes_and_areas_add_up() -> None:
    parts = shapes_of({"1": [square(1000, 0)], "2": [square(1010, 0)]})
    joined = join_areas(parts, [0, 0], ["D0"])
    assert areas(joined) == {"D0": 200}
    assert joined.rings == 1
    assert sorted(map(tuple, rings_of(joined)[0])) == [(1000, 0), (1000, 10), (1020, 0), (1020, 10)]


def test_a_ring_of_parts_leaves_a_hole() -> None:
    cells = {
        f"{x}{y}": [square(1000 + 10 * x, 10 * y)]
        for x in range(3)
        for y in range(3)
        if (x, y) != (1, 1)
    }
    joined = join_areas(shapes_of(cells), [0] * 8, ["D0"])
    assert areas(joined) == {"D0": 800}
    (one,) = to_geojson(joined)["features"]
    outside, hole = one["geometry"]["coordinates"]
    assert one["geometry"]["type"] == "Polygon"
    assert clockwise(outside)
    assert not clockwise(hole)
    assert len(outside) == len(hole) == 5


def test_islands_and_a_lake_belong_to_the_right_part() -> None:
    lake = [*reversed(square(1003, 3, 2))]
    parts = shapes_of({"1": [square(1000, 0), lake], "2": [square(1100, 0)]})
    joined = join_areas(parts, [0, 0], ["D0"])
    (one,) = to_geojson(joined)["features"]
    assert one["geometry"]["type"] == "MultiPolygon"
    by_size = sorted(one["geometry"]["coordinates"], key=len)
    assert [len(part) for part in by_size] == [1, 2]
    assert min(x for x, _ in by_size[1][0]) == 1000
    assert areas(joined) == {"D0": 196}


def test_parts_that_touch_in_a_point_stay_apart() -> None:
    parts = shapes_of({"1": [square(1000, 0)], "2": [square(1010, 10)]})
    joined = join_areas(parts, [0, 0], ["D0"])
    assert joined.rings == 2
    assert areas(joined) == {"D0": 200}


def test_borders_that_do_not_match_stay() -> None:
    parts = shapes_of({"1": [square(1000, 0)], "2": [square(1010, 1, 9)]})
    joined = join_areas(parts, [0, 0], ["D0"])
    assert areas(joined) == {"D0": 181}
    assert joined.rings == 2


def test_a_point_on_a_straight_border_is_not_lost_before_joining() -> None:
    # The large area meets two small ones; all three draw the point between those two.
    large: Ring = [(1000, 0), (1020, 0), (1020, 10), (1020, 20), (1000, 20), (1000, 0)]
    parts = shapes_of({"1": [large], "2": [square(1020, 0)], "3": [square(1020, 10)]})
    joined = join_areas(parts, [0, 0, 0], ["D0"])
    assert joined.rings == 1
    assert areas(joined) == {"D0": 600}


@given(st.data())
def test_joined_areas_have_the_size_of_their_parts(data: st.DataObject) -> None:
    chosen = data.draw(
        st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=25)
    )
    cells = {f"{x}-{y}": [square(1000 + 10 * x, 10 * y)] for x, y in sorted(chosen)}
    turn = data.draw(st.lists(st.booleans(), min_size=len(cells), max_size=len(cells)))
    for (code, rings), other in zip(list(cells.items()), turn, strict=True):
        cells[code] = [[*reversed(rings[0])] if other else rings[0]]
    group = data.draw(st.lists(st.integers(0, 2), min_size=len(cells), max_size=len(cells)))
    joined = join_areas(shapes_of(cells), group, ["D0", "D1", "D2"])
    found = areas(joined)
    assert found == {f"D{one}": 100.0 * group.count(one) for one in range(3)}
    edges = [
        (min(a, b), max(a, b))
        for ring in rings_of(joined)
        for a, b in zip(map(tuple, ring), map(tuple, [*ring[1:], ring[0]]), strict=True)
    ]
    assert all(edges.count(edge) <= 2 for edge in edges)
    for one in to_geojson(joined)["features"]:
        polygons = one["geometry"]["coordinates"]
        for rings in [polygons] if one["geometry"]["type"] == "Polygon" else polygons:
            assert clockwise(rings[0])
            assert not any(clockwise(ring) for ring in rings[1:])
            assert all(ring[0] == ring[-1] and len(ring) > 3 for ring in rings)


# ---------------------------------------------------------------------------------------- reading


def test_degrees_and_metres_are_told_apart() -> None:
    near = shapes_of({"1": [square(5.1, 52.1, 0.1)]})
    far = shapes_of({"1": [square(500_000, 200)]})
    assert near.degrees
    assert not far.degrees
    drawn = to_geojson(near)
    assert drawn["degrees"]
    assert [5.1, 52.1] in drawn["features"][0]["geometry"]["coordinates"][0]
    assert to_geojson(far)["features"][0]["properties"] == {"code": "1"}


def test_the_property_that_fits_the_code_list_gives_the_codes() -> None:
    variable = geography(["7", "8"])
    features = [feature("x", square(1000 * at, 0), GEO_ID=7 + at) for at in range(2)]
    assert read_shapes(content(*features), variable, "map")["parish"].codes == ("7", "8")
    for at, one in enumerate(features):
        one["properties"] = None
        one["id"] = str(7 + at)
    assert read_shapes(content(*features), variable, "map")["parish"].codes == ("7", "8")


def test_features_of_other_levels_are_kept_apart() -> None:
    variable = geography(["1", "2"])
    drawn = [
        feature("1", square(1000, 0), level="parish"),
        feature("2", square(1010, 0), level="parish"),
        feature("D0", square(1000, 0, 20), level="district"),
    ]
    found = read_shapes(content(*drawn), variable, "map")
    assert {level: one.codes for level, one in found.items()} == {
        "parish": ("1", "2"),
        "district": ("D0",),
    }


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (b"\xff\xfe", "is not JSON"),
        (b"[" * 100_000, "is not JSON"),
        (b"[]", "no GeoJSON FeatureCollection"),
        (b'{"type":"FeatureCollection"}', "no GeoJSON FeatureCollection"),
        (b'{"type":"FeatureCollection","features":[3]}', "must be a Feature"),
        (content(feature("9", square(0, 0))), "no feature has a code"),
        (content(feature("1", [(0, 0), (1, 1)])), "no rings of points"),
        (content(feature("1", [("a", "b")] * 4)), "no numbers"),  # type: ignore[list-item]
        (content(feature("1", [(0, float("nan"))] * 4)), "no numbers"),
        (content(feature("1", square(1e12, 0))), "coordinates are degrees"),
        (
            content(
                {
                    "type": "Feature",
                    "properties": {"code": "1"},
                    "geometry": {"type": "Point", "coordinates": [0, 0]},
                }
            ),
            "not as 'Point'",
        ),
    ],
)
def test_files_that_are_no_maps_are_refused(given: bytes, said: str) -> None:
    with pytest.raises(InputError, match=said):
        read_shapes(given, geography(["1"]), "map.geojson")


def test_heights_are_left_out() -> None:
    ring = [(x, y, 12.0) for x, y in square(1000, 0)]
    shapes = shapes_of({"1": [ring]})  # type: ignore[list-item]
    assert areas(shapes) == {"1": 100}


# -------------------------------------------------------------------------------- for the screen


def jagged(cells: int, points: int) -> Shapes:
    """A square of areas whose borders wiggle, each border drawn once for both sides."""
    draw = np.random.default_rng(1)
    lines: dict[tuple[str, int, int], Ring] = {}
    for kind, dx, dy in (("h", 1000, 0), ("v", 0, 1000)):
        for x in range(cells + 1):
            for y in range(cells + 1):
                share = np.linspace(0, 1, points)[:, None]
                line = np.array([x, y]) * 1000 + share * np.array([dx, dy])
                line[1:-1] += draw.normal(0, 20, (points - 2, 2))
                lines[kind, x, y] = [*map(tuple, np.rint(line).tolist())]
    drawn = {}
    for x in range(cells):
        for y in range(cells):
            ring = [
                *lines["h", x, y][:-1],
                *lines["v", x + 1, y][:-1],
                *reversed(lines["h", x, y + 1][1:]),
                *reversed(lines["v", x, y]),
            ]
            drawn[f"{x}-{y}"] = [ring]
    return shapes_of(drawn)


def test_simpler_areas_still_share_their_borders_and_fill_the_country() -> None:
    fine = jagged(8, 40)
    whole = join_areas(fine, [0] * 64, ["D"])
    coarse = simplified(fine, 60)
    assert len(coarse.points) < len(fine.points) / 3
    assert coarse.rings == fine.rings
    # No gap and no overlap: joined again there is one ring, as large as the sum of its parts.
    again = join_areas(coarse, [0] * 64, ["D"])
    assert again.rings == whole.rings == 1
    assert areas(again)["D"] == sum(areas(coarse).values())
    assert areas(again)["D"] == pytest.approx(areas(whole)["D"], rel=0.01)


def test_maps_with_many_points_are_made_small_enough() -> None:
    fine = jagged(20, 60)
    assert len(fine.points) > MOST_POINTS
    coarse = for_screen(fine)
    assert len(coarse.points) <= MOST_POINTS
    assert set(coarse.area_of.tolist()) == set(range(400))
    few = jagged(2, 5)
    assert for_screen(few) is few


def test_no_area_vanishes_however_coarse_the_map() -> None:
    tiny = shapes_of({"1": [square(1000, 0, 100_000)], "2": [square(1000, 200_000, 2)]})
    assert areas(simplified(tiny, 50_000)) == {"1": 10_000_000_000, "2": 4}
