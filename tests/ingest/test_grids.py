"""From coordinates to squares: several sizes at once, on every engine."""

from __future__ import annotations

from pathlib import Path

import pytest

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
