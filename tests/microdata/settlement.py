"""A store with every kind of link, drawn at random: dwellings, households, families, persons."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.sparse_cube import SparseCube
from sdcensus.model.schema.schema import CensusInfo, Impossible, Schema
from sdcensus.model.schema.variable import Code, CodeKind, Entity, EntitySpec, Role, Variable
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import link_column
from sdcensus.testing.island import SECRET
from sdcensus.testing.stores import Units, area_of, write_store

Integers = npt.NDArray[Any]
P, F, H, D = Entity.PERSON, Entity.FAMILY, Entity.HOUSEHOLD, Entity.DWELLING
AREAS = 5


def codes(number: int) -> tuple[Code, ...]:
    none = Code("99", kind=CodeKind.NOT_APPLICABLE)
    return (*(Code(str(at)) for at in range(number)), none)


def settlement_schema() -> Schema:
    return Schema(
        census=CensusInfo(name="Settlement", code=("S1",)),
        entities=(
            EntitySpec(entity=P, id=("p",), within=H, optional=True),
            EntitySpec(entity=F, id=("f",), within=H, derived_from=P),
            EntitySpec(entity=H, id=("h",), within=D),
            EntitySpec(entity=D, id=("d",)),
        ),
        variables=(
            Variable(name="area", entity=D, role=Role.GEOGRAPHY, codes=codes(AREAS)),
            Variable(name="rooms", entity=D, codes=codes(4)),
            Variable(name="tenure", entity=H, codes=codes(3)),
            Variable(name="size", entity=H, codes=codes(8), counts=P),
            Variable(name="kind", entity=F, codes=codes(3)),
            Variable(name="sex", entity=P, codes=codes(2)),
            Variable(name="age", entity=P, codes=codes(9)),
            Variable(name="income", entity=P, continuous=True, decimals=2),
        ),
        impossible=(Impossible("age < 2 and tenure == 2"),),
    )


def settlement_units(seed: int, dwellings: int = 40) -> dict[Entity, Units]:
    """Units whose links lead up; some persons live in no household, some in no family."""
    draw = np.random.default_rng(seed)

    def keys(size: int) -> Integers:
        return draw.choice(1 << 32, size, replace=False).astype(np.uint32)

    households, families, persons = dwellings + 10, dwellings // 2, dwellings * 3
    dwelling_of = draw.integers(0, dwellings, households)
    household_of_family = draw.integers(0, households, families)
    family_of = draw.integers(-1, families, persons)
    household_of = np.where(
        family_of >= 0, household_of_family[family_of], draw.integers(-1, households, persons)
    )
    tenure = draw.integers(0, 3, households)
    age = draw.integers(0, 9, persons)
    age[(household_of >= 0) & (tenure[household_of] == 2)] |= 4
    size = np.minimum(np.bincount(household_of[household_of >= 0], minlength=households), 7)
    return {
        D: Units(
            keys=keys(dwellings),
            leaves={
                "area": draw.integers(0, AREAS, dwellings),
                "rooms": draw.integers(0, 4, dwellings),
            },
        ),
        H: Units(
            keys=keys(households),
            leaves={"tenure": tenure, "size": size},
            parents={D: dwelling_of},
        ),
        F: Units(
            keys=keys(families),
            leaves={"kind": draw.integers(0, 3, families)},
            parents={H: household_of_family},
        ),
        P: Units(
            keys=keys(persons),
            leaves={"sex": draw.integers(0, 2, persons), "age": np.minimum(age, 8)},
            values={"income": draw.integers(0, 10**6, persons)},
            parents={H: household_of, F: family_of},
        ),
    }


def settlement(path: Path, seed: int, *, shuffled: int | None = None) -> CensusStore:
    """The settlement as a store; its records in another order within areas if ``shuffled``."""
    schema, units = settlement_schema(), settlement_units(seed)
    orders = None
    if shuffled is not None:
        draw = np.random.default_rng(shuffled)
        orders = {}
        for entity, own in units.items():
            mixed, area = draw.permutation(own.keys.size), area_of(schema, units, entity)
            assert area is not None
            orders[entity] = mixed[np.argsort(area[mixed], kind="stable")]
    return write_store(path, schema, units, secret_id=SECRET.id, order=orders)


def dense(cube: Cube | SparseCube) -> Cube:
    """A cube that is held whole."""
    assert isinstance(cube, Cube)
    return cube


def by_identity(store: CensusStore) -> dict[tuple[Entity, int], dict[str, int]]:
    """Everything a store says of each record; parents by their identity."""
    records: dict[tuple[Entity, int], dict[str, int]] = {}
    for entity, columns in store.manifest.columns.items():
        digests = store.digests(entity).tolist()
        said: list[dict[str, int]] = [{} for _ in digests]
        for name in columns:
            values = store.raw(entity, name).tolist()
            for parent in store.schema.parents(entity):
                if name == link_column(parent):
                    above = store.digests(parent)
                    values = [-1 if at == 0xFFFFFFFF else int(above[at]) for at in values]
            for record, value in zip(said, values, strict=True):
                record[name] = value
        records |= {(entity, digest): record for digest, record in zip(digests, said, strict=True)}
    return records
