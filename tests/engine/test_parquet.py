"""An exported census read by DuckDB: the same integers as the store that it comes from."""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

from sdcensus.engine.duckdb import DuckdbEngine
from sdcensus.engine.requests import Tabulate
from sdcensus.errors import SpecError, StoreError
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Variable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.store.parquet_census import ParquetCensus
from sdcensus.store.parquet_export import export_parquet
from sdcensus.testing.conformance import check_engine, small_store
from sdcensus.testing.small_census import SHAPES, Shape, SmallCensus
from sdcensus.testing.stores import Units, write_store
from sdcensus.testing.strategies import TableRequest, censuses_with_tables
from tests.engine.test_shapes import census_of, tables

Drawn = tuple[SmallCensus, TableRequest]
P, H = Entity.PERSON, Entity.HOUSEHOLD


@given(censuses_with_tables(), st.integers(1, 20))
def test_duckdb_over_an_export_equals_the_truth(drawn: Drawn, rows_per_file: int) -> None:
    census, table = drawn
    with tempfile.TemporaryDirectory() as folder:
        store, places = small_store(Path(folder) / "census.store", census)
        parquet = export_parquet(store, Path(folder) / "p", rows_per_file=rows_per_file)
        assert parquet.origin == store.origin
        for engine in (
            DuckdbEngine.over_parquet(parquet),
            DuckdbEngine.over_parquet(parquet, largest_dense=0),
        ):
            check_engine(engine, census, table, schema=parquet.schema, households=places.get(H))
        del store


@pytest.mark.parametrize("shape", SHAPES, ids=lambda one: "-".join(e.entity for e in one.entities))
def test_every_unit_has_all_that_it_inherits(tmp_path: Path, shape: Shape) -> None:
    census = census_of(shape)
    store, places = small_store(tmp_path / "s", census)
    engine = DuckdbEngine.over_parquet(export_parquet(store, tmp_path / "p", rows_per_file=40))
    for table in tables(census):
        check_engine(engine, census, table, schema=store.schema, households=places.get(H))


def _schema(*names: str, size: int = 3) -> Schema:
    codes = tuple(Code(str(at)) for at in range(size))
    return Schema(
        census=CensusInfo(name="census", code=("X",)),
        entities=(EntitySpec(entity=P, id=("no",)),),
        variables=tuple(Variable(name=name, entity=P, codes=codes) for name in names),
    )


def _export(folder: Path, schema: Schema, rows: int) -> ParquetCensus:
    draws = np.random.default_rng(3)
    size = len(schema.variables[0].codes)
    leaves = {variable.name: draws.integers(0, size, rows) for variable in schema.variables}
    units = Units(keys=draws.integers(0, 1 << 32, rows), leaves=leaves)
    return export_parquet(write_store(folder / "s", schema, {P: units}), folder / "p")


def test_names_that_differ_in_capital_letters_only_are_kept_apart(tmp_path: Path) -> None:
    schema = _schema("age", "Age", "AGE")
    parquet = _export(tmp_path, schema, 50)
    names = [column.name for column in parquet.dataset(P).columns()]
    assert len({name.casefold() for name in names}) == len(names)
    engine = DuckdbEngine.over_parquet(parquet)
    cubes = {
        variable.name: engine.tabulate(Tabulate(spec=TableSpec.build(schema, [variable.name])))
        for variable in schema.variables
    }
    counts = {tuple(cube.values.count.tolist()) for cube in cubes.values()}
    assert len(counts) == 3  # three columns with other numbers each


@pytest.mark.parametrize(("size", "kind"), [(128, "int8"), (129, "int16"), (40_000, "int32")])
def test_codes_have_the_smallest_signed_type(tmp_path: Path, size: int, kind: str) -> None:
    parquet = _export(tmp_path, _schema("a", size=size), 3)
    assert parquet.dataset(P).codes["a"].type == kind
    read = pq.read_schema(tmp_path / "p" / "person" / "part-00000.parquet")
    assert str(read.field("a").type) == kind
    assert str(read.field("_key").type) == "int64"


def test_a_leaf_outside_its_code_list_is_not_lost_without_a_word(tmp_path: Path) -> None:
    schema = _schema("a", "b")
    parquet = _export(tmp_path, schema, 100)
    file = tmp_path / "p" / "person" / "part-00000.parquet"
    table = pq.read_table(file)
    spoilt = table.column("a").to_pylist()
    spoilt[7] = 3
    at = table.schema.get_field_index("a")
    pq.write_table(table.set_column(at, "a", pa.array(spoilt, pa.int8())), file)
    engine = DuckdbEngine.over_parquet(parquet)
    with pytest.raises(StoreError, match="damaged, or files of it were exchanged"):
        engine.tabulate(Tabulate(spec=TableSpec.build(schema, ["a"])))
    other = engine.tabulate(Tabulate(spec=TableSpec.build(schema, ["b-total"])))
    assert int(other.values.count.sum()) == 100


def test_a_variable_of_another_schema_is_refused(tmp_path: Path) -> None:
    engine = DuckdbEngine.over_parquet(_export(tmp_path, _schema("a"), 5))
    with pytest.raises(SpecError, match="other codes"):
        engine.tabulate(Tabulate(spec=TableSpec.build(_schema("a", size=4), ["a"])))
