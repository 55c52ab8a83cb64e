"""Tables from finer cells: what counting the records gives, to the last unit."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given

from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Tabulate
from sdcensus.errors import SpecError
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import LARGEST_DENSE_GRID, AnyCube, SparseCube
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import EVERYTHING, restrict
from sdcensus.session.census.census import Census
from sdcensus.session.publish.counting import derived
from sdcensus.testing.conformance import small_store, tabulate_request
from sdcensus.testing.island import island as island_of
from sdcensus.testing.small_census import SmallCensus
from sdcensus.testing.strategies import TableRequest, censuses_with_tables


def assert_equal(one: AnyCube, other: AnyCube) -> None:
    """Every accumulator of every cell, in the same types."""
    assert type(one) is type(other)
    assert one.spec == other.spec
    assert one.origin == other.origin
    if isinstance(one, SparseCube):
        assert isinstance(other, SparseCube)
        np.testing.assert_array_equal(one.numbers, other.numbers)
    mine, theirs = dict(one.values.items()), dict(other.values.items())
    assert mine.keys() == theirs.keys()
    for name, array in mine.items():
        assert array.dtype == theirs[name].dtype
        np.testing.assert_array_equal(array, theirs[name])


@given(censuses_with_tables(most_units=40))
def test_a_table_from_the_finest_cells_equals_the_counted_one(
    drawn: tuple[SmallCensus, TableRequest],
) -> None:
    census, table = drawn
    with tempfile.TemporaryDirectory() as folder:
        store, _ = small_store(Path(folder) / "census.store", census)
        request = tabulate_request(store.schema, table)
        usable = store.schema.usable(request.spec.of)
        axes = tuple(make_axis(one, [one.level()], total=False) for one in usable)
        finest = replace(request, spec=request.spec.with_axes(axes))
        for largest in (LARGEST_DENSE_GRID, 0):
            engine = MemoryEngine(store, threads=1, largest_dense=largest)
            counted, cells = engine.tabulate(request), engine.tabulate(finest)
            assert_equal(derived(cells, request.spec, largest_dense=largest), counted)
        dense = MemoryEngine(store, threads=1).tabulate(finest)
        assert_equal(derived(dense, request.spec, largest_dense=0), counted)
        del store, engine, cells, counted, dense  # Windows removes no file that is mapped


@pytest.fixture(scope="module")
def island() -> Census:
    return island_of()


def finest(census: Census, *by: str) -> Cube:
    cube = census.tabulate(*by)
    assert isinstance(cube, Cube)
    return cube


def test_margins_of_the_finer_cube_are_not_counted_twice(island: Census) -> None:
    cells = finest(island, "area", "sex", "age")
    assert_equal(derived(cells, island.spec("sex")), island.tabulate("sex"))


def test_cells_without_records_and_tables_without_axes(island: Census) -> None:
    nobody = restrict(EVERYTHING, island.schema.variable("age"), np.zeros(10, dtype=bool))
    for universe in (EVERYTHING, nobody):
        cells = island.tabulate(replace(island.spec("area", "sex-total"), universe=universe))
        for by in ((), ("area@district",)):
            spec = replace(island.spec(*by), universe=universe)
            assert_equal(derived(cells, spec), island.tabulate(spec))


def test_hierarchies_of_its_own_are_no_obstacle(island: Census) -> None:
    ages = island.schema.variable("age")
    half = ages.level("half")
    bare = replace(ages, hierarchies=())
    cells = finest(island, "age-total", "sex-total")
    spec = TableSpec(of=cells.spec.of, axes=(make_axis(bare, [half], total=True),))
    np.testing.assert_array_equal(
        derived(cells, spec).values.count, island.tabulate("age@half").values.count
    )


@pytest.mark.parametrize(
    ("by", "options", "problem"),
    [
        (("age@class",), {}, "does not add up from 'age@half'"),
        (("area",), {}, "have no 'area'"),
        (("sex",), {"universe": "age < 5"}, "counts other records"),
        (("sex",), {"measure": "weighted"}, "counts other records"),
    ],
)
def test_what_the_cells_cannot_give_is_refused(
    island: Census, by: tuple[str, ...], options: dict[str, str], problem: str
) -> None:
    cells = finest(island, "age@half", "sex")
    with pytest.raises(SpecError, match=problem):
        derived(cells, island.spec(*by, **options))


def test_cubes_that_hide_their_finest_cells_are_refused(island: Census) -> None:
    cells = island.tabulate(island.spec("age@class+half", "sex"))
    assert isinstance(cells, Cube)
    with pytest.raises(SpecError, match="show their finest cells"):
        derived(cells, island.spec("sex"))


def test_more_records_than_fit_a_packed_cell_are_still_exact(island: Census) -> None:
    cells = finest(island, "area", "sex")
    count = cells.count * (1 << 33)
    values = replace(cells.values, count=count)
    made = derived(replace(cells, values=values), island.spec("sex"))
    counted = island.tabulate("sex")
    np.testing.assert_array_equal(made.values.count, counted.values.count * (1 << 33))
    np.testing.assert_array_equal(made.values.key, counted.values.key)


def test_requests_with_everything_are_derived_whole(island: Census) -> None:
    engine = island.engine("memory")
    wide = Tabulate(spec=island.spec("area", "sex", "age"), weights=True)
    narrow = replace(wide, spec=island.spec("age@class+half"))
    assert_equal(derived(engine.tabulate(wide), narrow.spec), engine.tabulate(narrow))
