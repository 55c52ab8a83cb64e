"""A town of as many people as a test needs: areas of three levels, held by whom a test says."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.microdata.method import Changes, Draws, PreTabularMethod
from sdcensus.model.progress import no_progress
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
from sdcensus.model.secret import Purpose
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.island import SECRET
from sdcensus.testing.stores import Units, write_store

Integers = npt.NDArray[Any]
P, H, D = Entity.PERSON, Entity.HOUSEHOLD, Entity.DWELLING
DRAWS = Draws(SECRET.sub_key(Purpose.PRAM, 1))

#: Ten areas in four parishes in two regions, and one that is not stated.
PARISH = (0, 0, 0, 1, 1, 1, 2, 2, 3, 3)
REGION = (0, 0, 0, 0, 0, 0, 1, 1, 1, 1)
NONE = Code("99", kind=CodeKind.NOT_STATED)


def listed(number: int, prefix: str = "") -> tuple[Code, ...]:
    return (*(Code(f"{prefix}{at}") for at in range(number)), NONE)


def town_schema(holder: Entity, *rules: str) -> Schema:
    parish = Level("parish", listed(4, "p"), (*PARISH, 4))
    region = Level("region", listed(2, "r"), (*REGION, 2))
    decades = Level("decade", listed(3, "d"), (0, 0, 0, 1, 1, 1, 2, 2, 3))
    return Schema(
        census=CensusInfo(name="Town", code=("T1",)),
        entities=(
            EntitySpec(entity=P, id=("p",), within=H, optional=True),
            EntitySpec(entity=H, id=("h",), within=D),
            EntitySpec(entity=D, id=("d",)),
        ),
        variables=(
            Variable(
                name="ed",
                entity=holder,
                role=Role.GEOGRAPHY,
                codes=listed(10, "e"),
                hierarchies=(Hierarchy("areas", (parish, region)),),
            ),
            Variable(name="rooms", entity=D, codes=listed(4)),
            Variable(name="tenure", entity=H, codes=listed(3)),
            Variable(name="size", entity=H, codes=listed(8), counts=P),
            Variable(name="sex", entity=P, codes=listed(2)),
            Variable(name="married", entity=P, codes=listed(3)),
            Variable(
                name="age",
                entity=P,
                codes=listed(8),
                hierarchies=(Hierarchy("ages", (decades,)),),
            ),
            Variable(name="income", entity=P, continuous=True, decimals=2),
        ),
        impossible=tuple(map(Impossible, rules)),
    )


def town(
    path: Path,
    persons: int = 600,
    *,
    seed: int = 1,
    holder: Entity = H,
    rules: tuple[str, ...] = ("age < 2 and married == 1",),
    shuffled: int | None = None,
    areas: tuple[int, ...] = tuple(range(10)),
    spanning: bool = False,
) -> CensusStore:
    """Write the town; a household in twenty has no persons, a person in thirty no household.

    Areas have different sizes. Some records lack values, and nobody is married too young.
    """
    draw = np.random.default_rng(seed)
    dwellings, households = max(persons // 3, 1), max(persons // 2, 1)
    dwelling_of = np.sort(draw.integers(0, dwellings, households))
    household_of = np.where(
        draw.random(persons) < 1 / 30, -1, draw.integers(households // 20, households, persons)
    )
    shares = np.array([1.0 + place for place in range(len(areas))])
    lots = np.array((*areas, 10))[
        draw.choice(len(areas) + 1, dwellings, p=np.append(shares / shares.sum() * 0.98, 0.02))
    ]
    by_household = lots[dwelling_of]
    by_person = np.where(household_of >= 0, by_household[household_of], areas[0])
    if spanning:
        large = np.bincount(household_of[household_of >= 0]).argmax()
        member = int(np.flatnonzero(household_of == large)[0])
        by_person[member] = (by_person[member] + 1) % 10
    place = {D: lots, H: by_household, P: by_person}[holder]
    age = draw.choice(9, persons, p=[0.1, 0.2, 0.05, 0.15, 0.1, 0.2, 0.1, 0.07, 0.03])
    married = draw.choice(4, persons, p=[0.5, 0.4, 0.05, 0.05])
    if rules:
        married[(age < 2) & (married == 1)] = 0
    size = np.minimum(np.bincount(household_of[household_of >= 0], minlength=households), 7)

    def keys(number: int) -> Integers:
        return draw.choice(1 << 32, number, replace=False).astype(np.uint32)

    units = {
        D: Units(keys=keys(dwellings), leaves={"rooms": draw.integers(0, 4, dwellings)}),
        H: Units(
            keys=keys(households),
            leaves={"tenure": draw.choice(3, households, p=[0.6, 0.3, 0.1]), "size": size},
            parents={D: dwelling_of},
        ),
        P: Units(
            keys=keys(persons),
            leaves={
                "sex": draw.choice(3, persons, p=[0.54, 0.44, 0.02]),
                "married": married,
                "age": age,
            },
            values={"income": draw.integers(0, 10**6, persons)},
            parents={H: household_of},
        ),
    }
    units[holder].leaves["ed"] = place  # type: ignore[index]
    orders = None
    if shuffled is not None:
        orders = _shuffled(units, place, holder, shuffled)
    schema = town_schema(holder, *rules)
    return write_store(path, schema, units, secret_id=SECRET.id, order=orders)


def _shuffled(
    units: dict[Entity, Units], place: Integers, holder: Entity, seed: int
) -> dict[Entity, Integers]:
    """Another order of the records, in which areas are still together."""
    draw = np.random.default_rng(seed)
    area: dict[Entity, Integers | None] = {D: None, H: None, P: None}
    if holder is D:
        area[D] = place
        area[H] = place[units[H].parents[D]]
    elif holder is H:
        area[H] = place
    if holder is P:
        area[P] = place
    elif area[H] is not None:
        known = area[H]
        assert known is not None
        area[P] = np.append(known, 10)[units[P].parents[H]]
    orders = {}
    for entity, own in units.items():
        mixed = draw.permutation(own.keys.size)
        where = area[entity]
        orders[entity] = mixed if where is None else mixed[np.argsort(where[mixed], kind="stable")]
    return orders


def changes_of(method: PreTabularMethod, store: CensusStore) -> Changes:
    """What a method changes in a store, drawn under the key of the tests."""
    return method.derive(store, DRAWS, no_progress)
