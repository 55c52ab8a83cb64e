"""Spark over an exported census: the same integers as every other engine, and nothing given away.

Java takes seconds to start and each query a second, so there are few tests and one session.
"""

from __future__ import annotations

import gc
import os
import shutil
import tempfile
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, given, settings, strategies as st

import sdcensus as sc
from sdcensus.engine.duckdb import DuckdbEngine
from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Can, Engine, Tabulate
from sdcensus.engine.spark import SparkEngine
from sdcensus.engine.spark_session import request_session, stop_own_session
from sdcensus.errors import EngineError, SpecError, StoreError
from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube
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
from sdcensus.session.guard.guard import read_lock
from sdcensus.store.census_store import CensusStore
from sdcensus.store.parquet_export import export_parquet
from sdcensus.testing.conformance import check_engine, small_store
from sdcensus.testing.small_census import SHAPES, SmallCensus
from sdcensus.testing.stores import Units, write_store
from sdcensus.testing.strategies import TableRequest, censuses_with_tables
from tests.engine.test_shapes import census_of, tables
from tests.regions import regions
from tests.session.publish.plans import PROTECT, copy_of, new_office

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

P, H = Entity.PERSON, Entity.HOUSEHOLD

ONE_OF_EACH = """
[[table]]
name = "marital"
rows = ["area@parish+district"]
columns = ["married", "sex"]

[[indicator]]
name = "men"
kind = "sex-ratio"
by = ["area@parish"]
"""

_HAS_JAVA = bool(os.environ.get("JAVA_HOME") or shutil.which("java"))

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(find_spec("pyspark") is None, reason="pyspark is not installed"),
    pytest.mark.skipif(not _HAS_JAVA, reason="there is no Java on this machine"),
]


@pytest.fixture(scope="module")
def spark() -> Iterator[SparkSession]:
    """A session that sdcensus started. Java compiles little: tests are short."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_TOOL_OPTIONS", "-XX:TieredStopAtLevel=1 -XX:+UseSerialGC")
        yield request_session()
        stop_own_session()


def _same(*cubes: AnyCube) -> bool:
    """Whether cubes have the same cells with the same accumulators, in the same order."""
    first = cubes[0]
    for other in cubes[1:]:
        assert type(other) is type(first)
        if isinstance(first, SparseCube) and isinstance(other, SparseCube):
            assert np.array_equal(first.numbers, other.numbers)
        assert [name for name, _ in first.values.items()] == [n for n, _ in other.values.items()]
        for (_, value), (_, two) in zip(first.values.items(), other.values.items(), strict=True):
            assert value.dtype == two.dtype
            assert np.array_equal(value, two)
        assert other.origin == first.origin
    return True


# Shrinking would start hundreds of queries: the tests of the other engines find the smallest case.
@given(st.booleans().flatmap(lambda sums: censuses_with_tables(sums_only=sums)))
@settings(
    max_examples=6,
    phases=[Phase.explicit, Phase.reuse, Phase.generate],
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
def test_spark_equals_the_truth(
    spark: SparkSession, drawn: tuple[SmallCensus, TableRequest]
) -> None:
    census, table = drawn
    with tempfile.TemporaryDirectory() as folder:
        store, places = small_store(Path(folder) / "census.store", census)
        parquet = export_parquet(store, Path(folder) / "p", rows_per_file=7)
        engine = SparkEngine(parquet, session=spark)
        households = places.get(H)
        check_engine(engine, census, table, schema=parquet.schema, households=households)
        del store


@pytest.mark.parametrize("number", [2, 4])
def test_every_unit_by_what_holds_it(spark: SparkSession, tmp_path: Path, number: int) -> None:
    """The shapes with gaps between units, and with families beside households."""
    census = census_of(SHAPES[number])
    store, places = small_store(tmp_path / "s", census)
    parquet = export_parquet(store, tmp_path / "odd [1] {ä} p", rows_per_file=40)
    engine = SparkEngine.over_parquet(tmp_path / "odd [1] {ä} p", session=spark)
    for table in tables(census):
        households = places.get(H)
        check_engine(engine, census, table, schema=parquet.schema, households=households)


def _schema(space: KeySpace) -> Schema:
    def codes(size: int) -> tuple[Code, ...]:
        return tuple(Code(str(at)) for at in range(size))

    halves = Level("half", codes(2), tuple(at // 30 for at in range(60)))
    return Schema(
        census=CensusInfo(name="census", code=("X",)),
        entities=(
            EntitySpec(entity=P, id=("hh", "no"), within=H),
            EntitySpec(entity=H, id=("hh",)),
        ),
        variables=(
            Variable(
                name="area",
                entity=H,
                codes=codes(60),
                role=Role.GEOGRAPHY,
                hierarchies=(Hierarchy("h", (halves,)),),
            ),
            Variable(name="age", entity=P, codes=codes(100)),
            Variable(
                name="income",
                entity=P,
                continuous=True,
                codes=(Code("stated", lower=0), Code("none", kind=CodeKind.NOT_STATED)),
            ),
            Variable(name="weight", entity=H, role=Role.WEIGHT, continuous=True, decimals=3),
        ),
        keys=KeyRules(space=space),
    )


def _store(
    path: Path, space: KeySpace, *, persons: int = 20_000, income: int = 1000
) -> CensusStore:
    draws = np.random.default_rng(1)
    households = max(1, persons // 3)
    schema = _schema(space)
    units = {
        P: Units(
            keys=draws.integers(0, space.modulus, persons),
            leaves={"age": draws.integers(0, 100, persons), "income": np.zeros(persons)},
            values={"income": np.full(persons, income)},
            parents={H: draws.integers(0, households, persons)},
        ),
        H: Units(
            keys=draws.integers(0, space.modulus, households),
            leaves={"area": draws.integers(0, 60, households)},
            values={"weight": draws.integers(500, 2000, households)},
        ),
    }
    return write_store(path, schema, units)


@pytest.mark.parametrize(
    ("space", "largest"),
    [
        (KeySpace(), 0),
        (KeySpace(), 10**8),
        (KeySpace(4096, Combine.XOR), 0),
        (KeySpace(10**8), 10**8),
    ],
    ids=["32 bits, sparse", "32 bits, dense", "xor, sparse", "decimal, dense"],
)
def test_three_engines_give_the_same_integers(
    spark: SparkSession, tmp_path: Path, space: KeySpace, largest: int
) -> None:
    store = _store(tmp_path / "s", space)
    parquet = export_parquet(store, tmp_path / "p", rows_per_file=3000)
    engines: list[Engine] = [
        MemoryEngine(store, largest_dense=largest),
        DuckdbEngine.over_parquet(parquet, largest_dense=largest),
        SparkEngine(parquet, session=spark, largest_dense=largest),
    ]
    spec = TableSpec.build(
        store.schema, ["area@half+area", "age"], universe="age >= 5 and not area == '7'"
    )
    request = Tabulate(spec=spec, weights=True, sums=("income",), households=True)
    assert _same(*(engine.tabulate(request) for engine in engines))


def test_three_engines_put_households_into_the_same_groups(
    spark: SparkSession, tmp_path: Path
) -> None:
    store = _store(tmp_path / "s", KeySpace(), persons=900)
    parquet = export_parquet(store, tmp_path / "p", rows_per_file=300)
    engines: list[Engine] = [
        MemoryEngine(store),
        DuckdbEngine.over_parquet(parquet),
        SparkEngine(parquet, session=spark),
    ]
    spec = TableSpec.build(store.schema, ["area@half"], measure="weighted")
    request = Tabulate(spec=spec, replicates=True)
    assert _same(*(engine.tabulate(request) for engine in engines))


def test_a_sum_that_leaves_64_bits_is_refused_whatever_the_caller_has_set(
    spark: SparkSession, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    store = _store(tmp_path / "s", KeySpace(), persons=1100, income=1 << 53)
    parquet = export_parquet(store, tmp_path / "p")
    lenient = spark.newSession()
    lenient.conf.set("spark.sql.ansi.enabled", "false")
    engine = SparkEngine(parquet, session=lenient)
    spec = TableSpec.build(parquet.schema, [])
    with pytest.raises(EngineError, match="does not fit 64 bits") as caught:
        engine.tabulate(Tabulate(spec=spec, sums=("income",)))
    assert caught.value.__suppress_context__
    cube = engine.tabulate(Tabulate(spec=spec))
    assert int(cube.values.count.sum()) == 1100
    assert lenient.conf.get("spark.sql.ansi.enabled") == "false"
    assert lenient.catalog.listTables() == []
    assert capfd.readouterr() == ("", "")


def test_addresses_and_folders_are_opened_alike(spark: SparkSession, tmp_path: Path) -> None:
    store = _store(tmp_path / "s", KeySpace(), persons=50)
    sc.census.export(tmp_path / "s", tmp_path / "p")
    by_address = sc.census.open_parquet((tmp_path / "p").as_uri(), engine="spark", session=spark)
    by_folder = sc.census.open_parquet(tmp_path / "p", engine="spark")
    by_duckdb = sc.census.open_parquet(tmp_path / "p")
    assert by_address.rows("households") == by_folder.rows(H) == by_duckdb.rows("household") == 16
    cubes = [one.tabulate("area", of="households") for one in (by_address, by_folder, by_duckdb)]
    assert _same(MemoryEngine(store).tabulate(Tabulate(spec=cubes[0].spec)), *cubes)
    assert by_folder.origin == by_address.origin == store.origin
    with pytest.raises(StoreError, match="engine memory does not read"):
        by_folder.tabulate("age", engine="memory")
    with pytest.raises(StoreError, match="engine duckdb does not read"):
        by_address.tabulate("age", engine="duckdb")
    with pytest.raises(StoreError, match="Spark cannot read the exported census"):
        sc.census.open_parquet((tmp_path / "nothing").as_uri(), engine="spark")
    with pytest.raises(SpecError, match="can be verified"):
        sc.census.open_parquet((tmp_path / "p").as_uri(), engine="spark", verify=True)


def test_levels_that_share_their_codes(spark: SparkSession, tmp_path: Path) -> None:
    by = ("home@region+province+commune", "work@province")
    cubes = []
    for unique, engine in ((False, "spark"), (True, "memory")):
        folder = tmp_path / engine
        census = regions(folder, unique=unique, people=200)
        region = "r11" if unique else "11"
        if engine == "spark":
            sc.census.export(folder / "census.store", folder / "p")
            census = sc.census.open_parquet(folder / "p", engine="spark", session=spark)
        cube = census.tabulate(*by, universe=f"born@region == '{region}'").held_for("a test")
        cubes.append(cube.count.tolist())
    assert cubes[0] == cubes[1]


def test_a_store_is_exported_for_as_long_as_it_is_asked(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _store(tmp_path / "s", KeySpace(), persons=90)
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    census = sc.open_store(tmp_path / "s")
    assert _same(census.tabulate("area", "age"), census.tabulate("area", "age", engine="spark"))
    assert len(list((tmp_path / "temporary").iterdir())) == 1
    del census
    gc.collect()
    assert not list((tmp_path / "temporary").iterdir())


def test_the_engine_says_what_it_can_and_shows_nothing_else(
    spark: SparkSession, tmp_path: Path
) -> None:
    parquet = export_parquet(_store(tmp_path / "s", KeySpace(), persons=9), tmp_path / "p")
    engine = SparkEngine(parquet, session=spark)
    assert SparkEngine.can == frozenset(Can)
    assert repr(engine) == "<SparkEngine over <ParquetCensus 'p': confidential>>"
    (tmp_path / "p" / "person" / "part-00000.parquet").unlink()
    with pytest.raises(StoreError, match="Spark cannot read the exported census") as caught:
        engine.tabulate(Tabulate(spec=TableSpec.build(parquet.schema, ["age"])))
    assert caught.value.__suppress_context__
    context = spark.sparkContext
    settings = dict(context.getConf().getAll())
    assert settings["spark.driver.host"] == "127.0.0.1"
    assert settings["spark.ui.enabled"] == "false"
    assert context.uiWebUrl is None


def test_a_plan_is_published_alike_by_every_engine(spark: SparkSession, tmp_path: Path) -> None:
    """By definition keys, and with the groups above its cells, which have to be counted too."""
    rule = f"{PROTECT}smallest_group = 30\n"
    first = new_office(tmp_path / "memory", 300, tables=ONE_OF_EACH, protect=rule)
    first.publish()
    lock = read_lock(first.office)
    assert lock.lookup() == "definition"
    assert {making.smallest_group for making in lock.makings} == {30}
    signs = [name for name, text in first.files().items() if b",k" in text]
    assert any(name.endswith(".csv") for name in signs)  # some cells are hidden
    export_parquet(CensusStore.open(first.store), tmp_path / "p", rows_per_file=70)
    for engine in ("duckdb", "spark"):
        other = copy_of(first, tmp_path / engine)
        assert other.publish(engine=engine, data=str(tmp_path / "p")).scans == 1
        assert other.files() == first.files()
        assert read_lock(other.office).lookup() == "definition"
