"""A township to swap in: three levels of areas, households, persons with a second place.

Drawn at random from a seed. Areas nest as the code says: ward 110 of district 11 of region 1.
"""

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
P, H = Entity.PERSON, Entity.HOUSEHOLD
REGIONS, DISTRICTS, WARDS = 2, 3, 3  # districts in each region, wards in each district
ELDERLY = 12  # ages are codes 0 to 15, for five years each

NONE = Code("NA", kind=CodeKind.NOT_APPLICABLE)


def areas() -> Variable:
    wards, districts, regions = [], [], []
    of_district, of_region = [], []
    for region in range(1, REGIONS + 1):
        regions.append(Code(str(region), Text.of(f"Region {region}")))
        for district in range(1, DISTRICTS + 1):
            districts.append(Code(f"{region}{district}", Text.of(f"District {region}{district}")))
            for ward in range(WARDS):
                name = f"{region}{district}{ward}"
                wards.append(Code(name, Text.of(f"Ward {name}")))
                of_district.append(len(districts) - 1)
                of_region.append(len(regions) - 1)
    # Persons may live in no household, and then have no area.
    none = Code("0", kind=CodeKind.NOT_APPLICABLE)
    levels = (
        Level("district", (*districts, none), (*of_district, len(districts))),
        Level("region", (*regions, none), (*of_region, len(regions))),
    )
    return Variable(
        name="area",
        entity=H,
        role=Role.GEOGRAPHY,
        main=True,
        codes=(*wards, none),
        leaf_level="ward",
        hierarchies=(Hierarchy("area", levels),),
    )


def plain(name: str, entity: Entity, number: int, **more: Any) -> Variable:
    codes = tuple(Code(str(at), Text.of(f"{name} {at}")) for at in range(number))
    return Variable(name=name, entity=entity, codes=(*codes, NONE), **more)


def township_schema(*rules: str) -> Schema:
    area = areas()
    districts = tuple(code for code in area.level("district").codes if not code.is_missing)
    abroad = Code("AB", Text.of("Abroad"))
    ages = plain("age", P, 16)
    groups = tuple(Code(name) for name in ("child", "adult", "old"))
    broad = Level("broad", (*groups, NONE), (*[0] * 3, *[1] * 9, *[2] * 4, 3))
    return Schema(
        census=CensusInfo(name="Township", code=("T1",)),
        entities=(
            EntitySpec(entity=P, id=("p",), within=H, optional=True),
            EntitySpec(entity=H, id=("h",)),
        ),
        variables=(
            area,
            plain("tenure", H, 3),
            plain("size", H, 8, counts=P),
            plain("index", H, 3),
            plain("sex", P, 2),
            Variable(
                name="age",
                entity=P,
                codes=ages.codes,
                hierarchies=(Hierarchy("broad", (broad,)),),
            ),
            plain("activity", P, 3),
            plain("religion", P, 6),
            plain("marital", P, 3),
            Variable(name="income", entity=P, continuous=True, decimals=0),
            # Equal codes and labels, in another order and with places that the census lacks.
            Variable(name="work", entity=P, codes=(abroad, *districts[::-1], NONE)),
            Variable(name="born", entity=P, role=Role.GEOGRAPHY, main=False, codes=area.codes),
        ),
        impossible=tuple(Impossible(rule) for rule in rules),
    )


def township_units(seed: int, households: int = 240) -> dict[Entity, Units]:
    """Households of one to five, a few without persons; a few persons without household."""
    draw = np.random.default_rng(seed)
    schema = township_schema()
    wards = len(schema.variable("area").codes) - 1
    area = np.sort(draw.choice(wards, households, p=draw.dirichlet(np.full(wards, 3.0))))
    size = draw.choice(6, households, p=[0.02, 0.28, 0.3, 0.2, 0.15, 0.05])
    household_of = np.concatenate([np.repeat(np.arange(households), size), [-1, -1]])
    persons = household_of.size
    age = draw.integers(0, 16, persons)
    district = np.append(schema.variable("area").level("district").group_array[area], 0)
    own = len(schema.variable("work").codes) - 2 - district[household_of]
    home = draw.random(persons) < 0.5
    work = np.where(home, own, draw.integers(0, len(schema.variable("work").codes), persons))
    marital = np.where(age < 3, 0, draw.integers(0, 3, persons))

    def keys(size: int) -> Integers:
        return draw.choice(1 << 32, size, replace=False).astype(np.uint32)

    return {
        H: Units(
            keys=keys(households),
            leaves={
                "area": area,
                "tenure": draw.integers(0, 3, households),
                "size": size,
                "index": draw.integers(0, 3, households),
            },
        ),
        P: Units(
            keys=keys(persons),
            leaves={
                "sex": draw.integers(0, 2, persons),
                "age": age,
                "activity": np.where(age < 3, 2, draw.integers(0, 3, persons)),
                "religion": draw.choice(6, persons, p=[0.6, 0.2, 0.1, 0.05, 0.03, 0.02]),
                "marital": marital,
                "work": work,
                "born": draw.integers(0, wards, persons),
            },
            values={"income": draw.integers(0, 10**6, persons)},
            parents={H: household_of},
        ),
    }


def township(
    path: Path,
    seed: int,
    *rules: str,
    households: int = 240,
    shuffled: int | None = None,
) -> CensusStore:
    """The township as a store; its records in another order within areas if ``shuffled``."""
    schema, units = township_schema(*rules), township_units(seed, households)
    orders = None
    if shuffled is not None:
        draw = np.random.default_rng(shuffled)
        orders = {}
        for entity, own in units.items():
            mixed, area = draw.permutation(own.keys.size), area_of(schema, units, entity)
            assert area is not None
            orders[entity] = mixed[np.argsort(area[mixed], kind="stable")]
    return write_store(path, schema, units, secret_id=SECRET.id, order=orders)
