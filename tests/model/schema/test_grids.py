"""Grids of several sizes: codes, nesting, extents that are no multiples of the largest size."""

from __future__ import annotations

import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.schema.grids import (
    UNALLOCATED,
    GridSpec,
    Square,
    grid_hierarchies,
    leaf_codes,
    size_name,
)


def grid(
    extent: tuple[int, int, int, int], cell: int = 100, coarser: tuple[int, ...] = ()
) -> GridSpec:
    return GridSpec("ed_grid", "x", "y", 3035, cell, extent, coarser=coarser)


def test_coarser_sizes_are_levels_of_one_hierarchy() -> None:
    squares = grid((900, 0, 1100, 100), 100, (500, 1000))
    assert [code.code for code in leaf_codes(squares)] == [
        "CRS3035RES100mN0E900",
        "CRS3035RES100mN0E1000",
        UNALLOCATED,
    ]
    (hierarchy,) = grid_hierarchies(squares)
    assert hierarchy.name == "ed_grid"
    assert [(level.name, [code.code for code in level.codes]) for level in hierarchy.levels] == [
        ("500m", ["CRS3035RES500mN0E500", "CRS3035RES500mN0E1000", UNALLOCATED]),
        ("1km", ["CRS3035RES1000mN0E0", "CRS3035RES1000mN0E1000", UNALLOCATED]),
    ]
    assert [level.group for level in hierarchy.levels] == [(0, 1, 2), (0, 1, 2)]


def test_a_grid_of_one_size_has_no_levels() -> None:
    assert grid_hierarchies(grid((0, 0, 200, 200))) == ()


@given(
    st.integers(1, 9),
    st.lists(st.integers(2, 4), min_size=1, max_size=3),
    st.tuples(*[st.integers(-90, 90)] * 2),
    st.tuples(*[st.integers(1, 90)] * 2),
)
def test_every_square_lies_in_the_coarser_square_at_its_place(
    cell: int, factors: list[int], corner: tuple[int, int], size: tuple[int, int]
) -> None:
    sizes: list[int] = []
    for factor in factors:
        sizes.append(factor * (sizes[-1] if sizes else cell))
    (x, y), (width, height) = corner, size
    squares = grid((x, y, x + width, y + height), cell, tuple(sizes))
    codes = leaf_codes(squares)
    (hierarchy,) = grid_hierarchies(squares)
    for level, coarse in zip(hierarchy.levels, sizes, strict=True):
        assert level.name == size_name(coarse)
        expected = []
        for code in codes:
            fine = Square.read(code.code)
            place = fine and Square(
                3035, coarse, fine.north // coarse * coarse, fine.east // coarse * coarse
            )
            expected.append(place.code if place else UNALLOCATED)
        assert [level.codes[group].code for group in level.group] == expected
        corners = [Square.read(code.code) for code in level.codes[:-1]]
        assert corners == sorted(corners, key=lambda one: (one.north, one.east) if one else (0, 0))
        assert set(level.group) == set(range(len(level.codes)))


@pytest.mark.parametrize(
    ("coarser", "words"),
    [
        ((250,), "250 m do not consist of whole squares of 100 m"),
        ((500, 1200), "1200 m do not consist of whole squares of 500 m"),
        ((100,), "100 m do not consist"),
        ((1000, 500), "500 m do not consist"),
    ],
)
def test_sizes_that_do_not_nest_are_refused(coarser: tuple[int, ...], words: str) -> None:
    with pytest.raises(SpecError, match=words):
        grid((0, 0, 1000, 1000), 100, coarser)


def test_an_extent_that_cannot_be_numbered_is_refused() -> None:
    far = 10**13
    spec = GridSpec("ed_grid", "x", "y", 3035, 1, (0, 0, far, far), inhabited=True)
    with pytest.raises(SpecError, match="more than can be numbered"):
        leaf_codes(spec)


@given(st.integers(1, 99_999), st.integers(1, 9_999), st.integers(), st.integers())
def test_codes_of_squares_are_read_back(epsg: int, size: int, north: int, east: int) -> None:
    square = Square(epsg, size, north, east)
    assert Square.read(square.code) == square


@pytest.mark.parametrize("code", ["", UNALLOCATED, "CRS3035RES1kmN1E1", "CRS3035RES1000mN1E1 "])
def test_other_codes_are_no_squares(code: str) -> None:
    assert Square.read(code) is None
