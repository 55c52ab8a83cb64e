"""Distances by level of geography and by area."""

from __future__ import annotations

import pytest

from sdcensus.errors import SpecError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.published.table import Table
from sdcensus.testing.island import SECRET, island_cube
from sdcensus.utility.distances import utility_of, utility_of_values
from sdcensus.utility.levels import by_code, by_level
from tests.utility.made import sparse


def test_levels_of_the_geography_make_up_the_table() -> None:
    cube = island_cube("sex", "area@parish+district", "age@class")
    table = CellKey(scheme("CP3"), secret=SECRET).protect(cube).table
    assert isinstance(table, Table)
    found = by_level(cube, table)
    assert [one.level for one in found] == ["parish", "district", "_T"]
    assert {one.axis for one in found} == {"area"}
    whole = utility_of(cube, table)
    assert sum(one.utility.cells for one in found) == whole.cells
    districts = utility_of_values(cube.count[:, 7:10], table.published[:, 7:10])
    assert found[1].utility.figures() == districts.figures()


def test_the_part_is_that_of_the_other_axes() -> None:
    cube = island_cube("sex", "area@parish+district", "age@class")
    table = CellKey(scheme("CP3"), secret=SECRET).protect(cube).table
    assert isinstance(table, Table)
    inner = by_level(cube, table, "interior")
    outer = by_level(cube, table, "margins")
    assert [one.utility.cells for one in inner] == [7 * 6, 3 * 6, 6]
    assert [one.utility.cells for one in outer] == [7 * 6, 3 * 6, 6]
    wanted = utility_of_values(cube.count[:2, 7:10, :3], table.published[:2, 7:10, :3])
    assert inner[1].utility.figures() == wanted.figures()


def test_every_area_by_its_code() -> None:
    cube = island_cube("area@parish+district", "sex")
    table = CellKey(scheme("CP3"), secret=SECRET).protect(cube).table
    assert isinstance(table, Table)
    found = by_code(cube, table, level="district")
    assert [one.code for one in found] == ["D0", "D1", "D2"]
    wanted = utility_of_values(cube.count[8], table.published[8])
    assert found[1].utility.figures() == wanted.figures()
    assert len(by_code(cube, table)) == 7
    assert [one.code for one in by_code(cube, table, axis="sex")] == ["0", "1"]


def test_a_very_large_table_is_measured_by_level_and_refused_by_code() -> None:
    cube = island_cube("area@parish+district", "sex", "age@class")
    table = CellKey(scheme("CP3"), secret=SECRET).protect(cube).table
    assert isinstance(table, Table)
    held = sparse(cube, table)
    for one, other in zip(by_level(*held), by_level(cube, table), strict=True):
        assert one.utility.figures() == pytest.approx(other.utility.figures())
    with pytest.raises(SpecError, match="rollup"):
        by_code(*held)


def test_tables_without_geography_and_unknown_levels_are_refused() -> None:
    cube = island_cube("sex", "age")
    table = Table(cube.spec, cube.count.copy())
    with pytest.raises(SpecError, match="no axis of the table is a geography"):
        by_level(cube, table)
    assert [one.level for one in by_level(cube, table, axis="age")] == ["age", "_T"]
    with pytest.raises(SpecError, match="no axis 'area'"):
        by_level(cube, table, axis="area")
    with pytest.raises(SpecError, match="no level 'ward'"):
        by_code(cube, table, axis="age", level="ward")
