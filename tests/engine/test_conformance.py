"""Every engine against loops over lists: equality in every cell, for everything it adds up."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given

from sdcensus.engine import memory
from sdcensus.engine.duckdb import DuckdbEngine
from sdcensus.engine.memory import MemoryEngine
from sdcensus.errors import InputError
from sdcensus.ingest.load import load_census
from sdcensus.model.schema.source import FileFormat
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret
from sdcensus.store.census_store import CensusStore
from sdcensus.store.parquet_export import export_parquet
from sdcensus.testing.conformance import check_engine, check_sparse_engine, small_store
from sdcensus.testing.files import write_files
from sdcensus.testing.small_census import SECRET, SmallCensus
from sdcensus.testing.strategies import TableRequest, censuses_with_tables

Drawn = tuple[SmallCensus, TableRequest]


@given(censuses_with_tables())
def test_engines_over_a_store_equal_the_truth(drawn: Drawn) -> None:
    census, table = drawn
    with tempfile.TemporaryDirectory() as folder:
        store, places = small_store(Path(folder) / "census.store", census)
        for engine in (
            MemoryEngine(store, threads=1),
            MemoryEngine(store, threads=2, largest_dense=0),
            DuckdbEngine.over_store(store),
            DuckdbEngine.over_store(store, largest_dense=0),
        ):
            households = places.get(Entity.HOUSEHOLD)
            check_engine(engine, census, table, schema=store.schema, households=households)
        del store, engine  # Windows removes no file that is mapped


@given(censuses_with_tables(sums_only=True, most_units=24))
def test_contributions_with_owners_weights_and_waivers_equal_the_truth(drawn: Drawn) -> None:
    """Sums with their largest contributions, in every engine over one census."""
    census, table = drawn
    with tempfile.TemporaryDirectory() as folder:
        store, _ = small_store(Path(folder) / "census.store", census)
        parquet = export_parquet(store, Path(folder) / "parquet", rows_per_file=5)
        for engine in (
            MemoryEngine(store, threads=2),
            DuckdbEngine.over_store(store),
            DuckdbEngine.over_parquet(parquet),
        ):
            check_engine(engine, census, table, schema=store.schema)
        for sparse in (
            MemoryEngine(store, largest_dense=0),
            DuckdbEngine.over_parquet(parquet, largest_dense=0),
        ):
            check_sparse_engine(sparse, census, table, schema=store.schema)
        del store, engine, sparse
        schema = write_files(Path(folder) / "files", census, FileFormat.CSV, parts=2)
        raw = DuckdbEngine.over_files(schema, Secret(SECRET))
        check_engine(raw, census, table, schema=raw.schema)


@given(censuses_with_tables(most_units=60))
def test_threads_that_share_a_table_equal_the_truth(drawn: Drawn) -> None:
    census, table = drawn
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "BLOCK_ROWS", 2)  # threads split a table from four blocks on
        store, places = small_store(Path(folder) / "census.store", census)
        households = places.get(Entity.HOUSEHOLD)
        for threads in (2, 3):
            engine = MemoryEngine(store, threads=threads)
            check_engine(engine, census, table, schema=store.schema, households=households)
        del store, engine


@pytest.mark.parametrize("kind", [FileFormat.CSV, FileFormat.PARQUET])
@given(drawn=censuses_with_tables())
def test_duckdb_over_files_equals_the_truth(kind: FileFormat, drawn: Drawn) -> None:
    census, table = drawn
    with tempfile.TemporaryDirectory() as folder:
        schema = write_files(Path(folder), census, kind)
        engine = DuckdbEngine.over_files(schema, Secret(SECRET))
        check_engine(engine, census, table, schema=engine.schema)


@pytest.mark.parametrize("kind", [FileFormat.CSV, FileFormat.PARQUET])
@given(drawn=censuses_with_tables())
def test_a_loaded_store_equals_the_truth(kind: FileFormat, drawn: Drawn) -> None:
    census, table = drawn
    with tempfile.TemporaryDirectory() as folder:
        schema = write_files(Path(folder), census, kind)
        out = Path(folder) / "census.store"
        if not all(census.units[file.entity] for file in schema.files):
            with pytest.raises(InputError, match="there are no records"):
                load_census(schema, out, secret=Secret(SECRET))
            return
        load_census(schema, out, secret=Secret(SECRET))
        store = CensusStore.open(out)
        check_engine(MemoryEngine(store), census, table, schema=store.schema)
        del store
