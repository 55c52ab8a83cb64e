"""Records of a file made by hand from a store, for tests of what is measured about them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.microdata.release.records import WEIGHT_DECIMALS, FileRecords, Sample
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.plan import Design, ModelQuestion, ReleasePlan, Survey
from sdcensus.model.schema.variable import Code, Entity, Level, Variable
from sdcensus.session.release.columns import told_codes
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.island import SECRET
from sdcensus.testing.stores import write_store
from tests.microdata.settlement import settlement_schema, settlement_units

P, H = Entity.PERSON, Entity.HOUSEHOLD


def settlement_store(folder: Path, dwellings: int = 600) -> CensusStore:
    units = settlement_units(11, dwellings)
    return write_store(folder, settlement_schema(), units, secret_id=SECRET.id)


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
        told = halves if variable.name in recoded else as_it_is
        variables.append(told(variable, entity))
    return FileDesign(
        design=Design(name="A", fraction=fraction), unit=H, variables=tuple(variables)
    )


def file_records(store: CensusStore, design: FileDesign, start: float = 0.3) -> FileRecords:
    """A systematic sample of households, and persons without any household likewise."""
    fraction = float(design.design.fraction)

    def every(rows: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        steps = np.floor(np.arange(rows.size + 1) * fraction + start)
        return rows[np.flatnonzero(np.diff(steps) > 0)]

    households = every(np.arange(store.rows(H)))
    holder = store.household_rows(P)[slice(None)]
    alone = every(np.flatnonzero(holder == NO_ROW))
    persons = np.sort(np.concatenate([np.flatnonzero(np.isin(holder, households)), alone]))
    place = np.full(store.rows(H), -1)
    place[households] = np.arange(households.size)
    rows = {H: households, P: persons}
    weight = round(10**WEIGHT_DECIMALS / fraction)
    weights = {
        entity: np.full(taken.size, weight, dtype=np.int64) for entity, taken in rows.items()
    }
    codes, amounts = {}, {}
    for variable in design.variables:
        taken = rows[variable.entity]
        if variable.amounts:
            amounts[variable.name] = store.values(variable.entity, variable.source)[taken]
        else:
            codes[variable.name] = told_codes(store, variable.entity, variable)[taken]
    holders = np.where(
        holder[persons] == NO_ROW, -1, place[np.minimum(holder[persons], place.size - 1)]
    )
    return FileRecords(
        store=store,
        design=design,
        sample=Sample(rows=rows, weights=weights),
        codes=codes,
        amounts=amounts,
        holders={(P, H): holders},
    )


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
