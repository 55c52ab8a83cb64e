"""Records of a file made by hand from a store, for tests of what is measured about them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np

from sdcensus.microdata.method import Draws
from sdcensus.microdata.release.records import FileRecords, records_of
from sdcensus.microdata.release.sample import drawn
from sdcensus.model.progress import no_progress
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.plan import Design, ModelQuestion, ReleasePlan, Survey
from sdcensus.model.schema.variable import Code, Entity, Level, Variable
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.island import SECRET
from sdcensus.testing.stores import area_of, write_store
from tests.microdata.settlement import settlement_schema, settlement_units

P, H = Entity.PERSON, Entity.HOUSEHOLD


def settlement_store(
    folder: Path, dwellings: int = 600, shuffled: int | None = None
) -> CensusStore:
    """The settlement, with its records in another order within areas if ``shuffled``."""
    schema, units = settlement_schema(), settlement_units(11, dwellings)
    orders = None
    if shuffled is not None:
        draw = np.random.default_rng(shuffled)
        orders = {}
        for entity, own in units.items():
            mixed, area = draw.permutation(own.keys.size), area_of(schema, units, entity)
            assert area is not None
            orders[entity] = mixed[np.argsort(area[mixed], kind="stable")]
    return write_store(folder, schema, units, secret_id=SECRET.id, order=orders)


def as_it_is(variable: Variable, entity: Entity) -> FileVariable:
    if not variable.codes:
        level = Level(variable.name, (), ())
        return FileVariable(
            name=variable.name, source=variable, entity=entity, level=level, amounts=True
        )
    return FileVariable(name=variable.name, source=variable, entity=entity, level=variable.level())


def halves(variable: Variable, entity: Entity) -> FileVariable:
    """Two codes of a census become one of the file; "not applicable" stays."""
    valid = [code for code in variable.codes if not code.is_missing]
    codes = [Code(f"g{at}") for at in range((len(valid) + 1) // 2)]
    missing = [code for code in variable.codes if code.is_missing]
    group = [at // 2 for at in range(len(valid))] + [len(codes) + at for at in range(len(missing))]
    level = Level(f"{variable.name}_halves", (*codes, *missing), tuple(group))
    return FileVariable(name=variable.name, source=variable, entity=entity, level=level)


def settlement_design(
    store: CensusStore, fraction: Fraction, *, recoded: tuple[str, ...] = (), drop: str = ""
) -> FileDesign:
    variables = []
    for variable in store.schema.variables:
        if variable.name in ("area", drop):
            continue
        entity = P if variable.entity in (P, Entity.FAMILY) else H
        shown = halves if variable.name in recoded else as_it_is
        variables.append(shown(variable, entity))
    return FileDesign(
        design=Design(name="A", fraction=fraction), unit=H, variables=tuple(variables)
    )


def file_records(store: CensusStore, design: FileDesign, key: int = 0) -> FileRecords:
    """The records of a sample that the secret of that number draws."""
    draws = Draws(key.to_bytes(16, "little"))
    sample = drawn(store, design, release_plan(design), draws, no_progress)
    return records_of(store, design, sample)


def release_plan(
    design: FileDesign, *, surveys: tuple[Survey, ...] = (), models: tuple[ModelQuestion, ...] = ()
) -> ReleasePlan:
    return ReleasePlan(
        name="file",
        store=Path("census.store"),
        office=Path("office"),
        designs=(design.design,),
        surveys=surveys,
        models=models,
    )
