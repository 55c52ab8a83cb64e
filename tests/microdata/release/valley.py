"""A census whose areas differ in everything, for tests of samples and of what files give away."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.schema.schema import CensusInfo, Impossible, Schema
from sdcensus.model.schema.variable import (
    Code,
    CodeKind,
    Entity,
    EntitySpec,
    Hierarchy,
    Level,
    Role,
    Variable,
)
from sdcensus.model.text import Text
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.island import SECRET
from sdcensus.testing.stores import Units, area_of, write_store

Integers = npt.NDArray[Any]
P, H, D = Entity.PERSON, Entity.HOUSEHOLD, Entity.DWELLING
PARISHES, DISTRICTS = 12, 3
INSTITUTION = 2


def numbered(size: int, prefix: str = "") -> tuple[Code, ...]:
    missing = Code("9999", Text.of("Unknown"), CodeKind.NOT_STATED)
    none = Code("9998", Text.of("None"), CodeKind.NOT_APPLICABLE)
    return (*(Code(f"{prefix}{at}", Text.of(f"{prefix}{at}")) for at in range(size)), none, missing)


def area_codes() -> Variable:
    """Parishes, whose order in the code list is not that of their districts."""
    district_of = (*(at % DISTRICTS for at in range(PARISHES)), DISTRICTS, DISTRICTS)
    districts = (*(Code(f"D{at}") for at in range(DISTRICTS)), Code("D9"))
    return Variable(
        name="area",
        entity=D,
        role=Role.GEOGRAPHY,
        codes=numbered(PARISHES, "P"),
        leaf_level="parish",
        hierarchies=(Hierarchy("areas", (Level("district", districts, district_of),)),),
    )


def valley_schema(holder: Entity = D, weight: Entity | None = H) -> Schema:
    """A schema whose areas are held by dwellings, households or persons, with a weight or none."""
    area = area_codes()
    weights = Variable(
        name="correction", entity=weight or H, role=Role.WEIGHT, continuous=True, decimals=3
    )
    return Schema(
        census=CensusInfo(name="Valley", country="Land", code=("V1",), languages=("en", "es")),
        entities=(
            EntitySpec(entity=P, id=("p",), within=H, optional=True),
            EntitySpec(entity=H, id=("h",), within=D),
            EntitySpec(entity=D, id=("d",)),
        ),
        variables=(
            Variable(
                name=area.name,
                entity=holder,
                role=area.role,
                codes=area.codes,
                leaf_level=area.leaf_level,
                hierarchies=area.hierarchies,
            ),
            Variable(name="rooms", entity=D, codes=numbered(4), label=Text.of("Rooms")),
            Variable(name="kind", entity=H, codes=numbered(3), imputed=True),
            *((weights,) if weight else ()),
            Variable(name="sex", entity=P, codes=numbered(2), imputed=True),
            Variable(name="age", entity=P, codes=numbered(80)),
            Variable(name="relation", entity=P, codes=numbered(4)),
            Variable(name="income", entity=P, continuous=True, decimals=2),
        ),
        impossible=(Impossible("age < 18 and relation == 0"),),
    )


def valley_units(
    seed: int, households: int = 240, *, holder: Entity = D, weight: Entity | None = H
) -> dict[Entity, Units]:
    """Weights differ by parish; some households are large, some institutions, some empty."""
    draw = np.random.default_rng(seed)

    def keys(size: int) -> Integers:
        return draw.choice(1 << 32, size, replace=False).astype(np.uint32)

    parish = draw.integers(0, PARISHES, households)
    kind = np.where(draw.random(households) < 0.08, INSTITUTION, draw.integers(0, 2, households))
    size = draw.integers(0, 5, households) + 9 * (draw.random(households) < 0.1)
    household_of = np.repeat(np.arange(households), size)
    alone = np.full(households // 12, -1)
    household_of = np.append(household_of, alone)
    persons = household_of.size
    age = draw.integers(0, 80, persons)
    first = np.append(True, household_of[1:] != household_of[:-1])
    relation = np.where(first & (age >= 18), 0, draw.integers(1, 4, persons))
    nonresponse = 1000 + 10 * parish + draw.integers(0, 3, households)
    area = {
        D: parish,
        H: parish,
        P: np.append(parish, draw.integers(0, PARISHES))[household_of],
    }[holder]
    weights = {None: None, H: nonresponse, P: np.append(nonresponse, 1000)[household_of]}[weight]

    def own(entity: Entity) -> dict[str, Integers]:
        return {"area": area} if entity is holder else {}

    def weighed(entity: Entity) -> dict[str, Integers]:
        return {"correction": weights} if entity is weight and weights is not None else {}

    sex = draw.integers(0, 2, persons)
    income = draw.integers(0, 10**7, persons)
    income[draw.random(persons) < 0.2] = -(1 << 63)
    flags = (draw.random(persons) < 0.3).astype(np.uint8)
    return {
        D: Units(
            keys=keys(households),
            leaves={"rooms": (parish + draw.integers(0, 2, households)) % 4, **own(D)},
        ),
        H: Units(
            keys=keys(households),
            leaves={"kind": kind, **own(H)},
            values=weighed(H),
            imputed={"kind": (draw.random(households) < 0.2).astype(np.uint8)},
            parents={D: np.arange(households)},
        ),
        P: Units(
            keys=keys(persons),
            leaves={
                "sex": sex,
                "age": age,
                "relation": relation,
                **own(P),
            },
            values={"income": income, **weighed(P)},
            imputed={"sex": flags},
            parents={H: household_of},
        ),
    }


def valley(
    path: Path,
    seed: int = 1,
    households: int = 240,
    *,
    holder: Entity = D,
    weight: Entity | None = H,
    shuffled: int | None = None,
) -> CensusStore:
    """The valley as a store; its records in another order within areas if ``shuffled``."""
    schema = valley_schema(holder, weight)
    units = valley_units(seed, households, holder=holder, weight=weight)
    orders = None
    if shuffled is not None:
        draw = np.random.default_rng(shuffled)
        orders = {}
        for entity, own in units.items():
            mixed, area = draw.permutation(own.keys.size), area_of(schema, units, entity)
            orders[entity] = (
                mixed if area is None else mixed[np.argsort(area[mixed], kind="stable")]
            )
    return write_store(path, schema, units, secret_id=SECRET.id, order=orders)
