"""Sums of random groups of households: the same on every engine, and merged as every sum is."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given, settings

from sdcensus.engine import memory
from sdcensus.engine.duckdb import DuckdbEngine
from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Tabulate
from sdcensus.errors import EngineError, SpecError
from sdcensus.kernels.cells.replicates import REPLICATES
from sdcensus.model.cube import replicates
from sdcensus.model.schema.source import FileFormat
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Secret
from sdcensus.session.publish.counting import derived
from sdcensus.testing.conformance import check_engine, same_cubes, small_store
from sdcensus.testing.files import write_files
from sdcensus.testing.island import island
from sdcensus.testing.small_census import SECRET, SmallCensus
from sdcensus.testing.strategies import TableRequest, censuses_with_tables

Drawn = tuple[SmallCensus, TableRequest]


def _estimates(drawn: Drawn) -> Drawn:
    """A table of estimates with their groups, of a census that has weights."""
    census, table = drawn
    assume(census.schema.weight(table.of) is not None)
    measure = table.measure if table.weighs else "weighted"
    largest = table.largest if table.weighs else 0
    return census, replace(
        table, measure=measure, weights=True, sums=(), largest=largest, replicates=True
    )


@settings(max_examples=12)
@given(censuses_with_tables())
def test_engines_put_the_same_households_into_the_same_groups(drawn: Drawn) -> None:
    census, table = _estimates(drawn)
    with tempfile.TemporaryDirectory() as folder:
        store, places = small_store(Path(folder) / "census.store", census)
        for engine in (
            MemoryEngine(store, threads=1),
            MemoryEngine(store, largest_dense=0),
            DuckdbEngine.over_store(store),
        ):
            households = places.get(Entity.HOUSEHOLD)
            check_engine(engine, census, table, schema=store.schema, households=households)
        del store, engine  # Windows removes no file that is mapped


@settings(max_examples=12)
@given(censuses_with_tables(most_units=60))
def test_threads_share_the_groups(drawn: Drawn) -> None:
    census, table = _estimates(drawn)
    with tempfile.TemporaryDirectory() as folder, pytest.MonkeyPatch.context() as patch:
        patch.setattr(memory, "BLOCK_ROWS", 2)
        store, places = small_store(Path(folder) / "census.store", census)
        households = places.get(Entity.HOUSEHOLD)
        engine = MemoryEngine(store, threads=2)
        check_engine(engine, census, table, schema=store.schema, households=households)
        del store, engine


def test_groups_add_up_to_the_estimate_and_roll_up() -> None:
    census = island(900)
    fine = census.tabulate("area", "sex", "age", measure="weighted", replicates=True)
    assert len(fine.values.replicates) == REPLICATES
    assert (np.sum(fine.values.replicates, axis=0) == fine.values.weight).all()
    spec = census.spec("area@district", "sex", measure="weighted")
    counted = census.tabulate(spec, replicates=True)
    assert same_cubes(fine.rollup("area@district", "sex"), counted)
    assert same_cubes(derived(fine, spec), counted)
    assert same_cubes(fine.select(sex="0"), counted) is False


def test_counts_of_records_have_no_sampling_errors() -> None:
    with pytest.raises(SpecError, match="only estimates of a sample have sampling errors"):
        island(20).tabulate("sex", replicates=True)


def test_a_table_too_large_for_its_groups_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(replicates, "MOST_REPLICATED", 179)
    with pytest.raises(SpecError, match="too large for sampling errors"):
        island(20).tabulate("sex", measure="weighted", replicates=True)


@settings(max_examples=5)
@given(censuses_with_tables())
def test_files_that_are_not_loaded_have_no_sampling_errors(drawn: Drawn) -> None:
    census, table = _estimates(drawn)
    with tempfile.TemporaryDirectory() as folder:
        schema = write_files(Path(folder), census, FileFormat.CSV)
        engine = DuckdbEngine.over_files(schema, Secret(SECRET))
        spec = replace(table, households=False)
        with pytest.raises(EngineError, match="Load the files first"):
            check_engine(engine, census, spec, schema=engine.schema)


def test_a_request_for_groups_is_one_that_engines_must_be_able_to_answer() -> None:
    spec = island(20).spec("sex", measure="weighted")
    assert Tabulate(spec=spec, replicates=True).needs() > Tabulate(spec=spec).needs()
