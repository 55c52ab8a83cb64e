"""Counting by schedule: the same cubes as one by one, few at a time, and it stops when it must."""

from __future__ import annotations

import gc
import tempfile
import threading
import weakref
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.engine.memory import MemoryEngine
from sdcensus.errors import EngineError, SpecError, UnknownName
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.spec.table_spec import Measure, TableSpec
from sdcensus.session.census.census import Census, EngineName
from sdcensus.session.publish.product_files import count_tables
from sdcensus.session.publish.schedule import Schedule, schedule
from sdcensus.testing.conformance import same_cubes, small_store
from sdcensus.testing.island import island_store
from sdcensus.testing.small_census import SmallCensus
from sdcensus.testing.strategies import small_censuses, table_requests

GB = 10**9
AnyCube = AnyCube


def counted(
    census: Census, specs: list[TableSpec], *, engine: str = "memory", threads: int = 2
) -> dict[int, AnyCube]:
    plan = schedule(specs, rows=census.rows, memory=4 * GB, threads=threads)
    cubes: dict[int, AnyCube] = {}

    def work(at: int, cube: AnyCube) -> None:
        assert at not in cubes
        cubes[at] = cube

    count_tables(census, plan, work, engine=engine)
    return cubes


@st.composite
def programmes(draw: st.DrawFn) -> tuple[SmallCensus, list[TableSpec]]:
    """A census and some tables of it: any units, levels, universes, weighted or not."""
    census = draw(small_censuses(most_units=40))
    specs = []
    for table in draw(st.lists(table_requests(census), min_size=1, max_size=5)):
        measure = Measure.WEIGHTED if table.weights else Measure.COUNT
        where = table.where.text if table.where else None
        for chosen in draw(st.sampled_from([(where,), (None,), (where, None)])):
            specs.append(
                TableSpec.build(
                    census.schema, table.by, of=table.of, universe=chosen, measure=measure
                )
            )
    return census, specs


@given(programmes(), st.integers(1, 3))
def test_scheduled_cubes_equal_those_counted_one_by_one(
    drawn: tuple[SmallCensus, list[TableSpec]], threads: int
) -> None:
    small, specs = drawn
    with tempfile.TemporaryDirectory() as folder:
        store, _ = small_store(Path(folder) / "census.store", small)
        census = Census(store.schema, store)
        for engine in ("memory", "duckdb"):
            cubes = counted(census, specs, engine=engine, threads=threads)
            assert sorted(cubes) == list(range(len(specs)))
            for at, cube in cubes.items():
                alone = census.tabulate(specs[at], engine=engine)
                assert cube.spec is specs[at]
                assert type(cube) is type(alone)
                for (name, array), (_, other) in zip(
                    cube.values.items(), alone.values.items(), strict=True
                ):
                    np.testing.assert_array_equal(array, other, err_msg=name)
        del store, census, cubes, cube, alone, array, other  # Windows: no mapped file is removed


@pytest.fixture(scope="module")
def island(tmp_path_factory: pytest.TempPathFactory) -> Census:
    return island_store(tmp_path_factory.mktemp("island") / "census.store", 3_000)


def some(census: Census) -> list[TableSpec]:
    return [
        census.spec("area", "sex", "age@class"),
        census.spec("area@district", "sex"),
        census.spec("age", "sex", universe="age >= 3"),
        census.spec("age@half", "area", universe="age >= 3"),
        census.spec("sex", "age", measure="weighted"),
        census.spec("area", measure="weighted"),
        census.spec(),
    ]


def plan_of(census: Census, specs: list[TableSpec], threads: int = 2) -> Schedule:
    return schedule(specs, rows=census.rows, memory=4 * GB, threads=threads)


def test_only_what_is_missing_is_counted(island: Census) -> None:
    specs = some(island)
    seen: list[int] = []
    plan = plan_of(island, specs)
    count_tables(island, plan, lambda at, cube: seen.append(at), only={1, 4, 6})
    assert sorted(seen) == [1, 4, 6]
    seen.clear()
    count_tables(island, plan, lambda at, cube: seen.append(at), only=())
    assert seen == []
    with pytest.raises(UnknownName, match="no table in the schedule '7'"):
        count_tables(island, plan, lambda at, cube: seen.append(at), only=[7])


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_progress_rises_to_one_and_nobody_talks_at_the_same_time(
    island: Census, threads: int
) -> None:
    told: list[float] = []
    busy = threading.Lock()

    def progress(stage: str, done: float) -> None:
        assert busy.acquire(blocking=False)
        told.append(done)
        busy.release()

    plan = plan_of(island, some(island) * 3, threads)
    count_tables(island, plan, lambda at, cube: None, progress=progress)
    assert told[0] == 0
    assert told[-1] == 1
    assert told == sorted(told)


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_few_cubes_are_held_at_a_time(island: Census, threads: int) -> None:
    specs = some(island) * 4
    plan = plan_of(island, specs, threads)
    lock, alive, most = threading.Lock(), [0], [0]

    def gone() -> None:
        with lock:
            alive[0] -= 1

    def work(at: int, cube: AnyCube) -> None:
        with lock:
            alive[0] += 1
            most[0] = max(most[0], alive[0])
        weakref.finalize(cube.values.count, gone)

    count_tables(island, plan, work)
    gc.collect()
    # One in the hands of each worker; a scan's only table is also the scan.
    assert most[0] <= 2 * plan.workers
    assert alive[0] == 0


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_the_first_error_stops_everything_and_is_raised(island: Census, threads: int) -> None:
    specs = some(island) * 20
    begun: list[int] = []

    def work(at: int, cube: AnyCube) -> None:
        begun.append(at)
        if len(begun) == 5:
            raise EngineError("the disk is full")

    before = threading.active_count()
    with pytest.raises(EngineError, match="the disk is full"):
        count_tables(island, plan_of(island, specs, threads), work)
    assert len(begun) < 5 + threads
    assert threading.active_count() == before


def test_an_interruption_inside_work_ends_it_as_well(island: Census) -> None:
    def work(at: int, cube: AnyCube) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        count_tables(island, plan_of(island, some(island)), work)


def test_an_engine_that_cannot_count_is_an_error_of_the_run(island: Census) -> None:
    with pytest.raises(UnknownName, match="engine"):
        count_tables(island, plan_of(island, some(island)), lambda at, cube: None, engine="abacus")
    elsewhere = schedule(some(island), rows=lambda of: 5, memory=1, threads=1)
    with pytest.raises(SpecError, match="too small"):
        count_tables(island, elsewhere, lambda at, cube: None)


def test_tables_too_large_to_hold_arrive_as_their_cells(island: Census) -> None:
    specs = [island.spec("area", "sex", "age"), island.spec("area", "sex")]
    engine = MemoryEngine(island.store, largest_dense=0)
    sparse = Census(island.schema, island.store, engines={EngineName.MEMORY: engine}, threads=2)
    cubes = counted(sparse, specs, threads=2)
    for at, cube in cubes.items():
        assert same_cubes(cube, island.tabulate(specs[at]))
