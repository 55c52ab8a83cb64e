"""Groups of squares: which squares each has, and the outline of them together."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.model.schema.area_shapes import Shapes, doubled_areas
from sdcensus.model.schema.grids import GridSpec, Square, leaf_codes
from sdcensus.model.schema.variable import Code, Entity, Level, Variable
from sdcensus.model.spec.square_groups import (
    group_code,
    group_shapes,
    has_groups,
    lowest_square,
    squares_of_groups,
)

SIDE = 6
SPEC = GridSpec("grid", "x", "y", 3035, 100, (-200, 300, -200 + 100 * SIDE, 300 + 100 * SIDE))
LEAVES = leaf_codes(SPEC)
VARIABLE = Variable(name="grid", entity=Entity.HOUSEHOLD, codes=LEAVES)


def level_of(groups: list[int]) -> Level:
    """The level that puts finest squares together by a number."""
    numbers = [*dict.fromkeys(groups)]
    place = [numbers.index(group) for group in groups]
    first = {at: place.index(at) for at in range(len(numbers))}
    codes = [group_code(LEAVES[first[at]], place.count(at)) for at in range(len(numbers))]
    return Level("groups", (*codes, LEAVES[-1]), (*place, len(codes)))


def rings(shapes: Shapes, area: int) -> list[set[tuple[int, int]]]:
    return [
        {(x, y) for x, y in shapes.points[start:end].tolist()}
        for start, end, of in zip(
            shapes.starts[:-1], shapes.starts[1:], shapes.area_of, strict=True
        )
        if of == area
    ]


@given(st.lists(st.integers(0, 5), min_size=SIDE**2, max_size=SIDE**2))
def test_an_outline_holds_the_squares_of_its_group_and_nothing_else(groups: list[int]) -> None:
    level = level_of(groups)
    squares = squares_of_groups(SPEC, VARIABLE, level)
    for code, members in squares.items():
        at = [known.code for known in level.codes].index(code)
        assert [member.code for member in members] == [
            leaf.code for leaf, group in zip(LEAVES, level.group, strict=True) if group == at
        ]
    assert has_groups(level) == bool(squares)
    for shapes in group_shapes(squares):
        # Outer rings run against the clock and holes with it: areas add up to those of squares.
        areas = np.bincount(shapes.area_of, weights=doubled_areas(shapes) / 2)
        assert areas.tolist() == [10_000 * len(squares[code]) for code in shapes.codes]


def test_the_outline_of_three_squares_has_six_corners() -> None:
    groups = list(range(SIDE**2))
    groups[1] = groups[SIDE] = 0
    (shapes,) = group_shapes(squares_of_groups(SPEC, VARIABLE, level_of(groups)))
    assert shapes.codes == ("CRS3035RES100mN300E-200x3",)
    assert rings(shapes, 0) == [
        {(-200, 300), (0, 300), (0, 400), (-100, 400), (-100, 500), (-200, 500)}
    ]


def test_groups_of_coarser_squares_name_those() -> None:
    # The finest squares of two squares of 200 m beside each other.
    place = [0 if at % SIDE < 4 and at // SIDE < 2 else 1 for at in range(SIDE**2)]
    spec = GridSpec("grid", "x", "y", 3035, 100, (0, 0, 600, 600), coarser=(200,))
    codes = (Code("CRS3035RES200mN0E0x2"), Code("CRS3035RES100mN0E400"), LEAVES[-1])
    level = Level("groups", codes, (*place, 2))
    squares = squares_of_groups(
        spec, Variable(name="grid", entity=Entity.HOUSEHOLD, codes=leaf_codes(spec)), level
    )
    assert squares == {"CRS3035RES200mN0E0x2": (Square(3035, 200, 0, 0), Square(3035, 200, 0, 200))}


@pytest.mark.parametrize(
    "code", ["", "unallocated", "CRS3035RES100mN0E0", "CRS3035RES100mN0E0x0", "CRS3035xRES2"]
)
def test_other_codes_are_no_groups(code: str) -> None:
    assert lowest_square(code) is None
