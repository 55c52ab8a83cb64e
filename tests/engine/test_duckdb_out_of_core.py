"""DuckDB with less memory than data: it spills, and the integers are those of the memory engine."""

from __future__ import annotations

import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sdcensus as sc
from sdcensus.engine.duckdb import DuckdbEngine
from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Tabulate
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import AnyCube, SparseCube
from sdcensus.model.schema.schema import CensusInfo, KeySpace, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Variable
from sdcensus.model.secret import Secret
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.store.parquet_export import export_parquet
from sdcensus.testing.small_census import SECRET
from sdcensus.testing.stores import Units, write_store

P = Entity.PERSON
ROWS, CODES, LIMIT = 2_500_000, 250, 64 << 20
#: Raw files are checked as well as counted, which takes more than the spilling of cells.
FILES_LIMIT = 128 << 20
NAMES = tuple(f"v{at:02d}" for at in range(30))


@pytest.fixture
def spilled(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Where DuckDB spills to in a test."""
    folder = tmp_path / "spill"
    folder.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(folder))
    return folder


@contextmanager
def _watched(folder: Path) -> Iterator[list[int]]:
    """The largest number of bytes that lay in a folder while the block ran."""
    largest = [0]
    done = threading.Event()

    def watch() -> None:
        while not done.is_set():
            size = 0
            for path in folder.rglob("*"):
                try:
                    size += path.stat().st_size if path.is_file() else 0
                except OSError:  # gone meanwhile
                    continue
            largest[0] = max(largest[0], size)
            time.sleep(0.005)

    watcher = threading.Thread(target=watch)
    watcher.start()
    try:
        yield largest
    finally:
        done.set()
        watcher.join()


def _same(one: AnyCube, other: AnyCube) -> bool:
    assert isinstance(one, SparseCube)
    assert isinstance(other, SparseCube)
    return (
        np.array_equal(one.numbers, other.numbers)
        and np.array_equal(one.values.count, other.values.count)
        and np.array_equal(one.values.key, other.values.key)
    )


@pytest.mark.slow
def test_stores_and_exports_larger_than_memory(tmp_path: Path, spilled: Path) -> None:
    """The data, and the cells of one table, are each larger than what DuckDB may use."""
    schema = Schema(
        census=CensusInfo(name="census", code=("X",)),
        entities=(EntitySpec(entity=P, id=("no",)),),
        variables=tuple(
            Variable(name=name, entity=P, codes=tuple(Code(str(at)) for at in range(CODES)))
            for name in NAMES
        ),
    )
    draws = np.random.default_rng(5)
    units = Units(
        keys=draws.integers(0, 1 << 32, ROWS, dtype=np.uint32),
        leaves={name: draws.integers(0, CODES, ROWS, dtype=np.uint8) for name in NAMES},
    )
    store = write_store(tmp_path / "s", schema, {P: units})
    del units
    parquet = export_parquet(store, tmp_path / "p", rows_per_file=500_000)
    assert sum(file.size for file in parquet.dataset(P).files) > LIMIT
    assert sum(path.stat().st_size for path in (tmp_path / "s").rglob("*.bin")) > LIMIT
    request = Tabulate(spec=TableSpec.build(schema, ["v03", "v11", "v27"]))
    expected = MemoryEngine(store, largest_dense=0).tabulate(request)
    assert expected.values.count.size * 3 * 8 > LIMIT // 2
    limit = f"{LIMIT >> 20}MiB"
    for engine in (
        DuckdbEngine.over_parquet(parquet, memory_limit=limit, largest_dense=0),
        DuckdbEngine.over_store(store, memory_limit=limit, largest_dense=0),
    ):
        with _watched(spilled) as largest:
            found = engine.tabulate(request)
        assert _same(found, expected)
        assert largest[0] > 0  # it did not fit
        assert not list(spilled.iterdir())


SCHEMA = """
[census]
name = "Files"
code = ["TT", "2021"]

[files.people]
path = "people.parquet"
entity = "person"

[entity.person]
id = ["no"]

[keys.columns]
person = { column = "key" }

[variable.no]
role = "record-id"
width = 7
"""


@pytest.mark.slow
def test_files_larger_than_memory_that_are_never_loaded(tmp_path: Path, spilled: Path) -> None:
    rows, sizes = 1_000_000, dict.fromkeys(NAMES[:10], 100)
    draws = np.random.default_rng(6)
    codes = {name: draws.integers(0, size, rows) for name, size in sizes.items()}
    keys = draws.integers(0, 1 << 32, rows)
    texts = pa.array([f"code number {at:03d}" for at in range(100)])
    table = pa.table(
        {"no": pa.array(np.arange(rows)), "key": pa.array(keys)}
        | {name: texts.take(pa.array(code)) for name, code in codes.items()}
    )
    pq.write_table(
        table,
        tmp_path / "people.parquet",
        compression="none",
        use_dictionary=False,
        row_group_size=20_000,
    )
    assert (tmp_path / "people.parquet").stat().st_size > FILES_LIMIT
    listed = ", ".join(f'"code number {at:03d}" = ""' for at in range(100))
    variables = "".join(f"\n[variable.{name}]\ncodes = {{ {listed} }}\n" for name in sizes)
    schema = tmp_path / "schema.toml"
    schema.write_text(SCHEMA + variables, encoding="utf-8", newline="\n")
    census = sc.census.open_files(
        schema, secret=Secret(SECRET), memory_limit=f"{FILES_LIMIT >> 20}MiB"
    )
    cube = census.tabulate(*(f"{name}-total" for name in NAMES[:3]))
    assert isinstance(cube, Cube)
    numbers = (codes["v00"] * 100 + codes["v01"]) * 100 + codes["v02"]
    counts = np.bincount(numbers, minlength=100**3)
    sums = np.zeros(100**3, dtype=np.uint64)
    np.add.at(sums, numbers, keys.astype(np.uint64))
    assert np.array_equal(cube.count.reshape(-1), counts)
    assert np.array_equal(cube.key.reshape(-1), KeySpace().reduce(sums))
    assert not list(spilled.iterdir())
