"""DuckDB over a store: less memory than data, nothing left behind, nothing given away."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pytest

from sdcensus.engine.duckdb import DuckdbEngine, connected
from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Can, Tabulate
from sdcensus.errors import EngineError
from sdcensus.model.cube.sparse_cube import SparseCube
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import Code, CodeKind, Entity, EntitySpec, Variable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.stores import Units, write_store

P = Entity.PERSON


def _codes(size: int) -> tuple[Code, ...]:
    return tuple(Code(str(at)) for at in range(size))


def _store(path: Path, rows: int) -> CensusStore:
    schema = Schema(
        census=CensusInfo(name="census", code=("X",)),
        entities=(EntitySpec(entity=P, id=("no",)),),
        variables=tuple(
            Variable(name=name, entity=P, codes=_codes(300)) for name in ("a", "b", "c")
        ),
    )
    draws = np.random.default_rng(1)
    units = Units(
        keys=draws.integers(0, 1 << 32, rows),
        leaves={name: draws.integers(0, 300, rows) for name in ("a", "b", "c")},
    )
    return write_store(path, schema, {P: units})


@pytest.mark.soak
def test_a_table_larger_than_the_memory_limit_is_exact(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spill = tmp_path / "spill"
    spill.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(spill))
    store = _store(tmp_path / "s", 4_000_000)
    columns = sum(file.stat().st_size for file in (tmp_path / "s").rglob("*.bin"))
    assert columns > 48 << 20  # more than DuckDB may use
    request = Tabulate(spec=TableSpec.build(store.schema, ["a", "b", "c"]))
    memory = MemoryEngine(store, largest_dense=0).tabulate(request)
    limited = DuckdbEngine.over_store(store, memory_limit="48MB", largest_dense=0)
    duckdb = limited.tabulate(request)
    assert isinstance(memory, SparseCube)
    assert isinstance(duckdb, SparseCube)
    assert np.array_equal(memory.numbers, duckdb.numbers)
    assert np.array_equal(memory.values.count, duckdb.values.count)
    assert np.array_equal(memory.values.key, duckdb.values.key)
    assert not list(spill.iterdir())  # what was spilled is gone


def test_too_little_memory_is_said_in_plain_words(tmp_path: Path) -> None:
    store = _store(tmp_path / "s", 300_000)
    engine = DuckdbEngine.over_store(store, memory_limit="1MB")
    with pytest.raises(EngineError, match="more memory than 1MB") as caught:
        engine.tabulate(Tabulate(spec=TableSpec.build(store.schema, ["a", "b"])))
    assert caught.value.__suppress_context__


def test_a_sum_that_leaves_64_bits_is_refused(tmp_path: Path) -> None:
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
    units = Units(
        keys=np.arange(1025),
        leaves={"income": np.zeros(1025, dtype=np.int64)},
        values={"income": np.full(1025, 1 << 53)},
    )
    engine = DuckdbEngine.over_store(write_store(tmp_path / "s", schema, {P: units}))
    with pytest.raises(EngineError, match="does not fit 64 bits"):
        engine.tabulate(Tabulate(spec=TableSpec.build(schema, []), sums=("income",)))


def test_a_connection_downloads_nothing_and_sees_no_variables() -> None:
    secret_table = [1, 2, 3]
    with connected(threads=1, memory_limit=None) as connection:
        settings = {
            name: connection.execute("SELECT current_setting(?)", [name]).fetchone()
            for name in (
                "autoinstall_known_extensions",
                "autoload_known_extensions",
                "python_enable_replacements",
                "temp_directory",
            )
        }
        folder = Path(str((settings.pop("temp_directory") or ("",))[0]))
        assert folder.is_absolute()  # not in the working folder, where DuckDB would put it
        assert folder.parent.is_dir()
        assert set(settings.values()) == {(False,)}
    assert secret_table
    assert not folder.parent.exists()
    with pytest.raises(EngineError), connected(threads=1, memory_limit=None) as connection:
        connection.sql("SELECT * FROM secret_table")


def test_the_engine_says_what_it_can_and_shows_nothing_else(tmp_path: Path) -> None:
    engine = DuckdbEngine.over_store(_store(tmp_path / "s", 10))
    assert DuckdbEngine.can == frozenset(Can)
    assert engine.name == "duckdb"
    assert repr(engine) == "<DuckdbEngine over <CensusStore 's': confidential>>"
