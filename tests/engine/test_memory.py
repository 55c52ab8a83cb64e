"""The memory engine where several threads work: hundreds of thousands of rows, sorted by area."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Tabulate
from sdcensus.errors import EngineError, SpecError
from sdcensus.kernels.cells.tabulate import BLOCK_ROWS
from sdcensus.model.cube.cube import Cube, packs
from sdcensus.model.cube.sparse_cube import SparseCube
from sdcensus.model.schema.schema import CensusInfo, Combine, KeyRules, KeySpace, Schema
from sdcensus.model.schema.variable import (
    Code,
    CodeKind,
    Entity,
    EntitySpec,
    Hierarchy,
    Level,
    Role,
    Variable,
)
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.conformance import same_cubes
from sdcensus.testing.stores import Units, write_store

P, H = Entity.PERSON, Entity.HOUSEHOLD
ROWS, AREAS = 300_000, 120
NESTED = [area // 10 for area in range(AREAS)]
INTERLEAVED = [area % 7 for area in range(AREAS)]
HALVES = [area % 2 for area in range(AREAS)]


def _codes(size: int, prefix: str = "") -> tuple[Code, ...]:
    return tuple(Code(f"{prefix}{at}") for at in range(size))


def _schema(space: KeySpace) -> Schema:
    levels = [
        Hierarchy(name, (Level(name, _codes(max(group) + 1, name), tuple(group)),))
        for name, group in (("nested", NESTED), ("interleaved", INTERLEAVED), ("halves", HALVES))
    ]
    return Schema(
        census=CensusInfo(name="large", code=("X",)),
        entities=(
            EntitySpec(entity=P, id=("hh", "no"), within=H),
            EntitySpec(entity=H, id=("hh",)),
        ),
        variables=(
            Variable(
                name="area",
                entity=H,
                codes=_codes(AREAS),
                hierarchies=tuple(levels),
                role=Role.GEOGRAPHY,
            ),
            Variable(name="age", entity=P, codes=_codes(90)),
            Variable(name="tenure", entity=H, codes=_codes(4)),
            Variable(name="weight", entity=P, role=Role.WEIGHT, continuous=True, decimals=3),
            Variable(
                name="income",
                entity=P,
                continuous=True,
                codes=(Code("stated", lower=-1), Code("none", kind=CodeKind.NOT_STATED)),
            ),
        ),
        keys=KeyRules(space=space),
    )


Columns = dict[str, npt.NDArray[Any]]
Build = Callable[[KeySpace], tuple[CensusStore, Columns]]


@pytest.fixture(scope="module")
def large(tmp_path_factory: pytest.TempPathFactory) -> Build:
    made: dict[KeySpace, tuple[CensusStore, Columns]] = {}

    def build(space: KeySpace) -> tuple[CensusStore, Columns]:
        if space not in made:
            made[space] = _large_store(tmp_path_factory.mktemp("large") / "s", space)
        return made[space]

    return build


def _large_store(path: Path, space: KeySpace) -> tuple[CensusStore, Columns]:
    draws = np.random.default_rng(20210401)
    households = ROWS // 3
    area = np.sort(draws.integers(0, AREAS, households))
    tenure = draws.integers(0, 4, households)
    home = np.sort(draws.integers(0, households, ROWS))
    person: Columns = {
        "area": area[home],
        "tenure": tenure[home],
        "age": draws.integers(0, 90, ROWS),
        "key": draws.integers(0, space.modulus, ROWS).astype(np.uint32),
        "weight": draws.integers(1, 5000, ROWS),
        "income": draws.integers(-10_000, 100_000, ROWS),
        "home": home,
    }
    units = {
        H: Units(
            keys=draws.integers(0, space.modulus, households),
            leaves={"area": area, "tenure": tenure},
        ),
        P: Units(
            keys=person["key"],
            leaves={"age": person["age"], "income": np.zeros(ROWS, dtype=np.int64)},
            values={"weight": person["weight"], "income": person["income"]},
            parents={H: home},
        ),
    }
    return write_store(path, _schema(space), units), person


def _truth(columns: Columns, space: KeySpace, cells: npt.NDArray[np.int64], size: int) -> Columns:
    """Cells by integer scatter, row by row in the order of the store."""
    key = np.zeros(size, dtype=np.uint64)
    if space.combine is Combine.XOR:
        np.bitwise_xor.at(key, cells, columns["key"].astype(np.uint64))
    else:
        np.add.at(key, cells, columns["key"].astype(np.uint64))
    weight, income = np.zeros(size, dtype=np.int64), np.zeros(size, dtype=np.int64)
    np.add.at(weight, cells, columns["weight"])
    np.add.at(income, cells, columns["income"])
    first = np.full(size, 0xFFFFFFFF, dtype=np.int64)
    last = np.zeros(size, dtype=np.int64)
    np.minimum.at(first, cells, columns["home"])
    np.maximum.at(last, cells, columns["home"])
    return {
        "count": np.bincount(cells, minlength=size),
        "key": key % np.uint64(space.modulus),
        "weight": weight,
        "sum:income": income,
        "first_household": first,
        "last_household": last,
    }


@pytest.mark.parametrize("threads", [1, 2, 3, 7])
@pytest.mark.parametrize("level", ["area", "nested", "interleaved", "halves"])
@pytest.mark.parametrize("space", [KeySpace(), KeySpace(combine=Combine.XOR), KeySpace(10**8)])
def test_threads_change_no_number(large: Build, space: KeySpace, level: str, threads: int) -> None:
    assert ROWS > 4 * BLOCK_ROWS  # otherwise one thread does it all
    store, columns = large(space)
    spec = TableSpec.build(store.schema, [f"area@{level}-total", "age-total", "tenure-total"])
    cube = MemoryEngine(store, threads=threads).tabulate(
        Tabulate(spec=spec, weights=True, sums=("income",), households=True)
    )
    group = store.schema.variable("area").level(level).group_array[columns["area"]]
    cells = (group * 90 + columns["age"]) * 4 + columns["tenure"]
    truth = _truth(columns, space, cells, spec.cells)
    assert isinstance(cube, Cube)
    for name, array in cube.values.items():
        assert np.array_equal(array.reshape(-1), truth[name]), name


@pytest.mark.parametrize("by", [("age",), (), ("area@nested+interleaved+halves", "tenure")])
@pytest.mark.parametrize("universe", [None, "age in ('3', '5') and tenure != '1'"])
def test_threads_dense_and_sparse_agree_on_every_margin(
    large: Build, by: tuple[str, ...], universe: str | None
) -> None:
    store, _ = large(KeySpace())
    spec = TableSpec.build(store.schema, by, universe=universe)
    request = Tabulate(spec=spec, weights=True, households=True)
    one = MemoryEngine(store, threads=1).tabulate(request)
    assert isinstance(one, Cube)
    assert one.count.any()
    assert same_cubes(one, MemoryEngine(store, threads=2).tabulate(request))
    sparse = MemoryEngine(store, threads=2, largest_dense=0).tabulate(request)
    assert isinstance(sparse, SparseCube)
    assert same_cubes(one, sparse)


def test_areas_that_are_not_in_order_are_counted_all_the_same(tmp_path: Path) -> None:
    """Threads share a table only where the areas of their rows are known to be apart."""
    draws = np.random.default_rng(7)
    area = draws.integers(0, AREAS, ROWS)  # in no order at all
    key = draws.integers(0, 1 << 32, ROWS)
    schema = Schema(
        census=CensusInfo(name="unsorted", code=("X",)),
        entities=(EntitySpec(entity=P, id=("no",)),),
        variables=(Variable(name="area", entity=P, codes=_codes(AREAS), role=Role.GEOGRAPHY),),
    )
    store = write_store(
        tmp_path / "s",
        schema,
        {P: Units(keys=key, leaves={"area": area})},
        order={P: np.arange(ROWS)},
    )
    assert store.sorted_geography(P) is None
    cube = MemoryEngine(store, threads=2).tabulate(
        Tabulate(spec=TableSpec.build(schema, ["area-total"]))
    )
    assert isinstance(cube, Cube)
    assert np.array_equal(cube.count, np.bincount(area, minlength=AREAS))


def test_counts_and_keys_are_packed_only_where_nothing_is_lost() -> None:
    assert packs(KeySpace(), 2**32 - 1)
    assert packs(KeySpace(256), 10)
    assert not packs(KeySpace(), 2**32)
    assert not packs(KeySpace(10**8), 10)
    assert not packs(KeySpace(combine=Combine.XOR), 10)


def test_requests_that_the_records_cannot_answer_are_refused(large: Build) -> None:
    store, _ = large(KeySpace())
    engine = MemoryEngine(store)
    households = TableSpec.build(store.schema, ["area"], of=H)
    with pytest.raises(SpecError, match="no weight for households"):
        engine.tabulate(Tabulate(spec=households, weights=True))
    with pytest.raises(SpecError, match="cannot be summed over households"):
        engine.tabulate(Tabulate(spec=households, sums=("income",)))
    with pytest.raises(SpecError, match="has codes, not amounts"):
        engine.tabulate(Tabulate(spec=households, sums=("tenure",)))
    other = Schema(
        census=store.schema.census,
        entities=store.schema.entities,
        variables=(Variable(name="age", entity=P, codes=_codes(3)),),
    )
    with pytest.raises(SpecError, match="other codes here"):
        engine.tabulate(Tabulate(spec=TableSpec.build(other, ["age"])))


def test_a_sum_that_leaves_64_bits_is_refused_and_not_wrapped(tmp_path: Path) -> None:
    schema = Schema(
        census=CensusInfo(name="rich", code=("X",)),
        entities=(EntitySpec(entity=P, id=("no",)),),
        variables=(
            Variable(
                name="income",
                entity=P,
                continuous=True,
                codes=(Code("stated", lower=0), Code("none", kind=CodeKind.NOT_STATED)),
            ),
        ),
    )
    rows = 1025
    units = Units(
        keys=np.arange(rows),
        leaves={"income": np.zeros(rows, dtype=np.int64)},
        values={"income": np.full(rows, 1 << 53)},
    )
    engine = MemoryEngine(write_store(tmp_path / "s", schema, {P: units}))
    with pytest.raises(EngineError, match="does not fit 64 bits"):
        engine.tabulate(Tabulate(spec=TableSpec.build(schema, []), sums=("income",)))
    few = Units(
        keys=units.keys[:3],
        leaves={"income": np.zeros(3, dtype=np.int64)},
        values={"income": np.array([1 << 53, -(1 << 63), 5])},
    )
    engine = MemoryEngine(write_store(tmp_path / "t", schema, {P: few}))
    cube = engine.tabulate(Tabulate(spec=TableSpec.build(schema, []), sums=("income",)))
    assert dict(cube.values.sums)["income"] == (1 << 53) + 5  # a missing value adds nothing
