"""From coordinates to squares: several sizes at once, on every engine."""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import DocumentError, InputError, MissingExtra, SpecError
from sdcensus.ingest.coordinates import transformed, transformer
from tests.gridland import Point, counts, gridland

SEVERAL = "epsg = 3035, cells = [100, 500, 1000], extent = [400, 0, 2300, 1100]"
POINTS: list[Point] = [
    *[(400, 0), (499.999, 99), (500, 0), (999, 999.5), (1000, 1000), (2250, 1099)],
    ("", ""),
]
SIZES = [1, 2, 3, 4, 5, 6, 7]


def test_units_are_counted_in_squares_of_every_size(tmp_path: Path) -> None:
    census = gridland(tmp_path, POINTS, SEVERAL, sizes=SIZES).load()
    assert counts(census, "ed_grid-total") == {
        "CRS3035RES100mN0E400": 3,
        "CRS3035RES100mN0E500": 3,
        "CRS3035RES100mN900E900": 4,
        "CRS3035RES100mN1000E1000": 5,
        "CRS3035RES100mN1000E2200": 6,
        "unallocated": 7,
    }
    assert counts(census, "ed_grid@500m-total") == {
        "CRS3035RES500mN0E0": 3,
        "CRS3035RES500mN0E500": 3,
        "CRS3035RES500mN500E500": 4,
        "CRS3035RES500mN1000E1000": 5,
        "CRS3035RES500mN1000E2000": 6,
        "unallocated": 7,
    }
    assert counts(census, "ed_grid@1km-total") == {
        "CRS3035RES1000mN0E0": 10,
        "CRS3035RES1000mN1000E1000": 5,
        "CRS3035RES1000mN1000E2000": 6,
        "unallocated": 7,
    }
    assert counts(census, "ed_grid@100m+1km-total", of="household")["CRS3035RES1000mN0E0"] == 4


def test_a_condition_may_name_squares_of_a_size(tmp_path: Path) -> None:
    census = gridland(tmp_path, POINTS, SEVERAL, sizes=SIZES).load()
    condition = "ed_grid@1km == 'CRS3035RES1000mN0E0' and ed_grid@500m != 'CRS3035RES500mN0E0'"
    assert counts(census, "ed_grid@500m-total", universe=condition) == {
        "CRS3035RES500mN0E500": 3,
        "CRS3035RES500mN500E500": 4,
    }


@pytest.mark.parametrize("axis", ["ed_grid-total", "ed_grid@500m+1km"])
def test_engines_agree_on_squares_of_every_size(tmp_path: Path, axis: str) -> None:
    land = gridland(tmp_path, POINTS, SEVERAL, sizes=SIZES)
    stored = land.load()
    memory = counts(stored, axis)
    assert counts(stored, axis, engine="duckdb") == memory
    assert counts(land.raw(), axis) == memory


def test_a_store_keeps_its_levels(tmp_path: Path) -> None:
    land = gridland(tmp_path, POINTS, SEVERAL)
    loaded = land.load().schema
    squares = loaded.variable("ed_grid")
    assert [level.name for level in squares.levels()] == ["100m", "500m", "1km"]
    assert loaded.grids[0].sizes == (100, 500, 1000)
    assert (squares.codes, squares.hierarchies) == (
        (declared := land.raw().schema.variable("ed_grid")).codes,
        declared.hierarchies,
    )
    # Levels of a grid follow from its sizes: they are not written one by one.
    assert (land.store / "manifest.json").stat().st_size < 10_000


# ---------------------------------------------------------------- inhabited squares

#: At 100 m, 90,000,000 squares.
LARGE = "epsg = 3035, cells = [100, 1000], extent = [0, 0, 900000, 1000000]"
INHABITED = f"{LARGE}, inhabited = true"
FAR: list[Point] = [(899_950, 999_950), (50, 50), (60, 60), (850, 50), ("", "")]


def test_a_grid_of_too_many_squares_needs_a_decision(tmp_path: Path) -> None:
    with pytest.raises(
        DocumentError, match=r"90,000,000 cells; at most 2,000,000 .*inhabited = true"
    ):
        gridland(tmp_path, FAR, LARGE).load()


def test_only_inhabited_squares_are_codes(tmp_path: Path) -> None:
    census = gridland(tmp_path, FAR, INHABITED, sizes=[1, 2, 3, 4, 5]).load()
    squares = census.schema.variable("ed_grid")
    assert [code.code for code in squares.codes] == [
        "CRS3035RES100mN0E0",
        "CRS3035RES100mN0E800",
        "CRS3035RES100mN999900E899900",
        "unallocated",
    ]
    expected = {
        "CRS3035RES1000mN0E0": 9,
        "CRS3035RES1000mN999000E899000": 1,
        "unallocated": 5,
    }
    for engine in ("memory", "duckdb"):
        assert counts(census, "ed_grid@1km-total", engine=engine) == expected
        assert list(counts(census, "ed_grid-total", engine=engine).values()) == [5, 4, 1, 5]


def test_inhabited_squares_do_not_depend_on_the_order_of_rows(tmp_path: Path) -> None:
    schemas = []
    for name, points in (("one", FAR), ("two", FAR[::-1])):
        (tmp_path / name).mkdir()
        schemas.append(gridland(tmp_path / name, points, INHABITED).load().schema)
    assert schemas[0] == schemas[1]


def test_a_census_without_points_has_no_inhabited_square(tmp_path: Path) -> None:
    census = gridland(tmp_path, [("", ""), ("", "")], INHABITED).load()
    assert [code.code for code in census.schema.variable("ed_grid").codes] == ["unallocated"]
    with pytest.raises(SpecError, match="no record lies in any square"):
        census.tabulate("ed_grid", of="households")


def test_raw_files_with_inhabited_squares_are_loaded_first(tmp_path: Path) -> None:
    census = gridland(tmp_path, FAR, INHABITED).raw()
    with pytest.raises(SpecError):
        census.tabulate("ed_grid")
    assert counts(census, "sex-total") == {"1": 3, "2": 2}


# ---------------------------------------------------------------- other reference systems

#: 10° E 52° N is by definition the point (4321000, 3210000) of the European grid.
CENTRE = (
    "cell = 1000, epsg = 3035, epsg_of_coordinates = 4326,"
    " extent = [4300000, 3190000, 4350000, 3230000]"
)


def test_coordinates_of_another_system_are_transformed(tmp_path: Path) -> None:
    census = gridland(tmp_path, [(10, 52), ("", 52), (10.02, 52.02)], CENTRE).load()
    assert counts(census, "ed_grid-total", of="household") == {
        "CRS3035RES1000mN3210000E4321000": 1,
        "CRS3035RES1000mN3212000E4322000": 1,
        "unallocated": 1,
    }


@pytest.mark.parametrize(
    ("point", "problem"),
    [
        ((52, 10), "x, y: out of range"),  # exchanged: a point off Somalia
        ((10, 152), "x, y: out of range"),  # no latitude
        ((-70, -52), "x, y: out of range"),  # outside the area of the projection
        (("ten", 52), "x: not a number"),
    ],
)
def test_points_that_cannot_be_in_the_grid_are_a_problem(
    tmp_path: Path, point: Point, problem: str
) -> None:
    land = gridland(tmp_path, [point, (10, 52)], CENTRE)
    with pytest.raises(InputError, match=problem):
        land.load()
    found = counts(land.load(on_problem="missing"), "ed_grid-total", of="household")
    assert found == {"CRS3035RES1000mN3210000E4321000": 1, "unallocated": 1}


@pytest.mark.parametrize(
    ("grid", "words"),
    [
        (CENTRE.replace("4326", "999999"), "EPSG 999999 is no coordinate reference system"),
        (CENTRE.replace("epsg = 3035", "epsg = 4258"), "EPSG 4258 is in degrees"),
        (SEVERAL.replace("3035", "999999"), "EPSG 999999 is no coordinate reference system"),
        (SEVERAL.replace("3035", "4326"), "EPSG 4326 is in degrees"),
        (SEVERAL.replace("3035", "4035"), r"in metres, and EPSG 4035 \("),
        (SEVERAL.replace("3035", "2263"), r"in metres, and EPSG 2263 \(.*ftUS"),
    ],
)
def test_systems_that_do_not_serve_are_refused(tmp_path: Path, grid: str, words: str) -> None:
    with pytest.raises((DocumentError, SpecError), match=words):
        gridland(tmp_path, [(10, 52)], grid).load()


def test_a_missing_projection_library_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyproj", None)
    transformer.cache_clear()
    with pytest.raises(MissingExtra, match=r"sdcensus\[geography\]"):
        gridland(tmp_path, [(10, 52)], CENTRE).load()


def test_degrees_are_refused_without_the_projection_library_as_well(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "pyproj", None)
    with pytest.raises(DocumentError, match="EPSG 4326 is in degrees"):
        gridland(tmp_path, [(1, 1)], SEVERAL.replace("3035", "4326")).load()
    # Of other numbers nobody knows: squares need no library.
    other = gridland(tmp_path, [(500, 1)], SEVERAL.replace("3035", "999999")).load()
    assert counts(other, "ed_grid@1km-total") == {"CRS999999RES1000mN0E0": 1}


#: What files write in a column, and the square of 100 m, from 300 m west to 300 m east of 0.
WRITTEN = [
    ("-300", "E-300"),  # a square begins at its south-west corner
    ("-0.001", "E-100"),
    ("-0", "E0"),
    ("99.99999999999999", "E0"),
    ("100", "E100"),
    ("100.00000000000001", "E100"),
    (" 1.5E2 ", "E100"),
    (".5", "E0"),
    ("+5", "E0"),
    ("0.30000000000000004", "E0"),
    ("299.999", "E200"),
]


def test_a_square_holds_its_south_and_west_borders_and_not_the_others(tmp_path: Path) -> None:
    grid = "epsg = 3035, cell = 100, extent = [-300, -100, 300, 100]"
    census = gridland(tmp_path, [(x, "-100") for x, _ in WRITTEN], grid).load()
    expected = Counter(f"CRS3035RES100mN-100{east}" for _, east in WRITTEN)
    assert counts(census, "ed_grid-total", of="household") == expected


@pytest.mark.parametrize(
    ("point", "problem", "remedy"),
    [
        (("300", "0"), "x, y: out of range in 1 record .row 2", "widen extent"),
        (("0", "100"), "x, y: out of range in 1 record .row 2", "widen extent"),
        (("1e300", "0"), "x, y: out of range in 1 record .row 2", "are not exchanged"),
        (('"0,5"', "0"), "x: not a number in 1 record .row 2", 'decimal = ","'),
        (("0", "nan"), "y: not a number in 1 record .row 2", "correct the file"),
        (("inf", "0"), "x: not a number in 1 record .row 2", "correct the file"),
        (("+-5", "0"), "x: not a number in 1 record .row 2", "correct the file"),
        (("1_0", "0"), "x: not a number in 1 record .row 2", "correct the file"),
        (("5 m", "0"), "x: not a number in 1 record .row 2", "correct the file"),
    ],
)
def test_a_field_that_is_no_place_is_named_with_its_row_and_a_remedy(
    tmp_path: Path, point: Point, problem: str, remedy: str
) -> None:
    grid = "epsg = 3035, cell = 100, extent = [-300, -100, 300, 100]"
    land = gridland(tmp_path, [point, ("1", "1")], grid)
    with pytest.raises(InputError, match=rf"households\.csv: {problem}.*{remedy}"):
        land.load()


def test_transformed_coordinates_are_whole_millimetres() -> None:
    x = np.array([10.0, 10.0000123, np.nan])
    east, north = transformed(4326, 3035, x, np.array([52.0, 52.0, 52.0]))
    assert east[0] == 4_321_000.0
    assert north[0] == 3_210_000.0
    assert east[1] == round(east[1], 3) != round(east[1], 1)
    assert np.isnan(east[2])
    assert np.isnan(north[2])


def test_raw_files_of_another_system_are_loaded_first(tmp_path: Path) -> None:
    with pytest.raises(SpecError, match="transformed once, when they are loaded"):
        gridland(tmp_path, [(10, 52)], CENTRE).raw().tabulate("ed_grid")
