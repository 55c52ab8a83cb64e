"""Designs and plans for tests, as the documents would make them."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

from sdcensus.microdata.method import Draws
from sdcensus.microdata.release.publication import published
from sdcensus.microdata.release.records import FileRecords, Sample, records_of
from sdcensus.microdata.release.sample import drawn
from sdcensus.model.progress import no_progress
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.release.plan import Design, ReleasePlan
from sdcensus.model.release.release_file import ReleaseFile
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Level, Role
from sdcensus.model.secret import Purpose, Secret
from sdcensus.store.census_store import CensusStore


def draws_of(number: int, purpose: Purpose = Purpose.SAMPLE) -> Draws:
    """Draws under one of many secrets."""
    return Draws(Secret(number.to_bytes(16, "big")).sub_key(purpose, 1))


def plan_of(fraction: Fraction | str = "1/3", **fields: Any) -> ReleasePlan:
    """A plan with one design."""
    design = Design(name="A", fraction=Fraction(fraction))
    named = {"name": "file", "store": Path("s"), "office": Path("o"), "designs": (design,)}
    return ReleasePlan(**{**named, **fields})


def design_of(schema: Schema, plan: ReleasePlan, *, areas: str = "") -> FileDesign:
    """Every variable of a census but its areas, which are told at a level if it is named."""
    kinds = [spec.entity for spec in schema.entities]
    unit = Entity.HOUSEHOLD if Entity.HOUSEHOLD in kinds else Entity.PERSON
    variables = []
    for variable in schema.variables:
        if variable.role is Role.WEIGHT or not (variable.is_axis or variable.continuous):
            continue
        level = Level("none", (), ()) if variable.continuous else variable.level()
        if variable.role is Role.GEOGRAPHY:
            if not areas:
                continue
            level = variable.level(areas)
        above = schema.path(unit, variable.entity) is not None
        variables.append(
            FileVariable(
                name=variable.name,
                source=variable,
                entity=unit if above else Entity.PERSON,
                level=level,
                amounts=variable.continuous,
                role=variable.role,
            )
        )
    return FileDesign(design=plan.design(), unit=unit, variables=tuple(variables))


def sample_of(store: CensusStore, plan: ReleasePlan, secret: int = 1, *, areas: str = "") -> Sample:
    """The sample of a plan under one of many secrets."""
    design = design_of(store.schema, plan, areas=areas)
    return drawn(store, design, plan, draws_of(secret), no_progress)


def file_of(
    store: CensusStore, plan: ReleasePlan, secret: int = 1, *, copy: str = "", areas: str = ""
) -> tuple[FileRecords, ReleaseFile]:
    """What a file tells, and the file."""
    design = design_of(store.schema, plan, areas=areas)
    sample = drawn(store, design, plan, draws_of(secret), no_progress)
    records = records_of(store, design, sample)
    return records, published(records, plan, draws_of(secret, Purpose.COPY), copy)
