"""Labels of points lie upon nothing, as long as there is room for them."""

from __future__ import annotations

import itertools

from hypothesis import given, strategies as st

from sdcensus.report.study.labels import LabelPlace, Point, place_labels, text_width

WIDTH, HEIGHT = 370.0, 210.0
NAMES = ("CP1", "CP2", "CP3(EU)", "RR3", "CP3", "CP4", "CP3(1,2)", "RR5")

Box = tuple[float, float, float, float]


def box_of(point: Point, place: LabelPlace) -> Box:
    half = point.height / 2
    return place.x, place.y - half, place.x + point.width, place.y + half


def overlap(one: Box, other: Box) -> bool:
    return (
        min(one[2], other[2]) - max(one[0], other[0]) > 0.01
        and min(one[3], other[3]) - max(one[1], other[1]) > 0.01
    )


def check(points: list[Point]) -> None:
    places = place_labels(points, WIDTH, HEIGHT)
    boxes = [box_of(point, place) for point, place in zip(points, places, strict=True)]
    for one, other in itertools.combinations(boxes, 2):
        assert not overlap(one, other)
    for box in boxes:
        assert box[0] >= 0
        assert box[1] >= 0
        assert box[2] <= WIDTH + 0.01
        assert box[3] <= HEIGHT + 0.01
        for point in points:
            size = point.radius
            mark = (point.x - size, point.y - size, point.x + size, point.y + size)
            assert not overlap(box, mark)


def point(x: float, y: float, name: str) -> Point:
    return Point(x, y, text_width(name, 11), 13)


@given(
    st.lists(st.tuples(st.floats(0, WIDTH), st.floats(0, HEIGHT)), min_size=1, max_size=len(NAMES))
)
def test_labels_lie_upon_nothing(places: list[tuple[float, float]]) -> None:
    check([point(x, y, name) for (x, y), name in zip(places, NAMES, strict=False)])


def test_points_in_one_place_have_labels_apart() -> None:
    check([point(180, 100, name) for name in NAMES])
    check([point(10 + 3 * at, 205, name) for at, name in enumerate(NAMES)])


def test_a_label_stands_beside_its_point_where_nothing_is_in_the_way() -> None:
    [place] = place_labels([point(100, 100, "CP1")], WIDTH, HEIGHT)
    assert not place.led
    assert abs(place.y - 100) <= 12
    assert 100 - text_width("CP1", 11) - 10 <= place.x <= 110


def test_a_label_that_stands_apart_has_a_line() -> None:
    crowd = [point(180, 100, name) for name in NAMES]
    assert any(place.led for place in place_labels(crowd, WIDTH, HEIGHT))


def test_more_labels_than_room_are_placed_all_the_same() -> None:
    assert len(place_labels([point(5, 5, "a long name")] * 40, 60, 40)) == 40
    assert place_labels([], WIDTH, HEIGHT) == []
