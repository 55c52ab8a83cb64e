"""Every way in which units lie inside each other, with enough of them to meet every gap."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from sdcensus.engine.duckdb import DuckdbEngine
from sdcensus.engine.memory import MemoryEngine
from sdcensus.engine.requests import Engine
from sdcensus.ingest.load import load_census
from sdcensus.model.schema.schema import CensusInfo, KeyRules, KeySpace, Schema
from sdcensus.model.schema.source import FileFormat
from sdcensus.model.schema.variable import (
    Code,
    CodeKind,
    EmptyField,
    Entity,
    Hierarchy,
    Level,
    Role,
    Variable,
    VariableSource,
)
from sdcensus.model.secret import Secret
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.conformance import check_engine, small_store
from sdcensus.testing.files import write_files
from sdcensus.testing.small_census import (
    SECRET,
    SHAPES,
    Shape,
    SmallCensus,
    id_variables,
    random_units,
)
from sdcensus.testing.strategies import TableRequest

OFFICE = Secret(SECRET)
#: Two digits are what the id columns of these censuses have.
UNITS = 90


def census_of(shape: Shape) -> SmallCensus:
    """Two variables, an amount and a weight for each kind of unit."""
    described: list[Variable] = []
    for spec in shape.entities:
        file = (spec.derived_from or spec.entity).value
        for name, empty in (("kind", EmptyField.NOT_APPLICABLE), ("state", EmptyField.PROBLEM)):
            described.append(
                Variable(
                    name=f"{name}_of_{spec.entity}",
                    entity=spec.entity,
                    codes=(
                        Code("a"),
                        Code("b"),
                        Code("c"),
                        Code("x", kind=CodeKind.NOT_APPLICABLE),
                        Code("y", kind=CodeKind.NOT_STATED),
                    ),
                    hierarchies=(
                        Hierarchy("h", (Level("ab", (Code("ab"), Code("cxy")), (0, 0, 1, 1, 1)),)),
                        Hierarchy("i", (Level("ac", (Code("ac"), Code("bxy")), (0, 1, 0, 1, 1)),)),
                    ),
                    source=VariableSource(
                        file=file, column=f"{name} of {spec.entity}", empty=empty
                    ),
                )
            )
        described.append(
            Variable(
                name=f"amount_of_{spec.entity}",
                entity=spec.entity,
                codes=(
                    Code("under 100", lower=-(10**15), upper=99),
                    Code("100+", lower=100),
                    Code("refused", kind=CodeKind.NOT_STATED),
                ),
                continuous=True,
                decimals=2,
                source=VariableSource(
                    file=file, column=f"amount of {spec.entity}", empty=EmptyField.NOT_STATED
                ),
            )
        )
    top = shape.entities[-1]
    described.append(
        Variable(
            name="weight",
            entity=top.entity,
            role=Role.WEIGHT,
            continuous=True,
            decimals=4,
            source=VariableSource(file=(top.derived_from or top.entity).value, column="the weight"),
        )
    )
    schema = Schema(
        census=CensusInfo(name="shape", code=("TT", "2011")),
        entities=shape.entities,
        variables=(*described, *id_variables(shape)),
        keys=KeyRules(space=KeySpace(10**8)),
    )
    sizes = {
        spec.entity: UNITS if spec.entity is Entity.PERSON else UNITS // 2
        for spec in shape.entities
    }
    return SmallCensus(schema, random_units(schema, sizes, random.Random(len(described))))


def tables(census: SmallCensus) -> Iterator[TableRequest]:
    """Every kind of unit by a variable of every kind that holds it."""
    schema = census.schema
    for of in census.units:
        lineage = schema.lineage(of)
        for kind in lineage:
            yield TableRequest(
                of=of,
                by=(f"kind_of_{kind}@ab+ac", f"state_of_{of}-total")
                if kind is not of
                else (f"kind_of_{kind}",),
                weights=schema.weight(of) is not None,
                sums=(f"amount_of_{kind}",),
                households=Entity.HOUSEHOLD in lineage,
            )


def over_store(folder: Path, census: SmallCensus) -> tuple[Engine, Schema]:
    store, _ = small_store(folder / "s", census)
    return MemoryEngine(store), store.schema


def over_sparse(folder: Path, census: SmallCensus) -> tuple[Engine, Schema]:
    store, _ = small_store(folder / "s", census)
    return MemoryEngine(store, largest_dense=0), store.schema


def duckdb_over_store(folder: Path, census: SmallCensus) -> tuple[Engine, Schema]:
    store, _ = small_store(folder / "s", census)
    return DuckdbEngine.over_store(store), store.schema


def duckdb_over_csv(folder: Path, census: SmallCensus) -> tuple[Engine, Schema]:
    schema = write_files(folder, census, FileFormat.CSV, parts=2)
    return DuckdbEngine.over_files(schema, OFFICE), schema


def duckdb_over_parquet(folder: Path, census: SmallCensus) -> tuple[Engine, Schema]:
    schema = write_files(folder, census, FileFormat.PARQUET)
    return DuckdbEngine.over_files(schema, OFFICE), schema


def loaded(folder: Path, census: SmallCensus) -> tuple[Engine, Schema]:
    schema = write_files(folder, census, FileFormat.CSV, delimiter=";", decimal=",")
    load_census(schema, folder / "s", secret=OFFICE)
    store = CensusStore.open(folder / "s")
    return MemoryEngine(store), store.schema


@pytest.mark.parametrize(
    "make",
    [over_store, over_sparse, duckdb_over_store, duckdb_over_csv, duckdb_over_parquet, loaded],
)
@pytest.mark.parametrize(
    "shape",
    SHAPES,
    ids=lambda shape: "-".join(
        spec.entity.tag + ("*" if spec.derived_from else "") for spec in shape.entities
    ),
)
def test_every_unit_by_what_holds_it(
    tmp_path: Path,
    shape: Shape,
    make: Callable[[Path, SmallCensus], tuple[Engine, Schema]],
) -> None:
    census = census_of(shape)
    gaps = {
        (parent, unit.parents[parent] is None)
        for units in census.units.values()
        for unit in units
        for parent in unit.parents
    }
    assert all((spec.within, False) in gaps for spec in shape.entities if spec.within is not None)
    assert all((spec.within, True) in gaps for spec in shape.entities if spec.optional)
    engine, schema = make(tmp_path, census)
    for table in tables(census):
        check_engine(engine, census, table, schema=schema)


def test_blank_links_are_no_links_however_they_are_written(tmp_path: Path) -> None:
    """An optional parent that is not named: empty, blank, or null; as text and as a number."""
    shape = next(one for one in SHAPES if any(spec.optional for spec in one.entities))
    census = census_of(shape)
    blanks = iter(["", " ", "\t", "\u00a0 "] * UNITS)

    def spoil(entity: Entity, rows: list[dict[str, str]]) -> None:
        for row in rows:
            if not row.get("in_hh", "-"):
                row["in_hh"] = next(blanks)

    for kind in (FileFormat.CSV, FileFormat.PARQUET):
        schema = write_files(tmp_path / kind, census, kind, spoil=spoil)
        engine = DuckdbEngine.over_files(schema, OFFICE)
        for table in tables(census):
            check_engine(engine, census, table, schema=schema)
