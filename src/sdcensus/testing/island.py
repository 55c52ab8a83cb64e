"""A small island census in memory or on disk, for tests of methods: areas that nest, a weight.

One district has a single parish, so a subtotal with one child occurs; children are not married,
so structural zeros occur.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import numpy.typing as npt

from sdcensus.model.cube.cube import Cube, Origin
from sdcensus.model.schema.schema import CensusInfo, Impossible, KeyRules, KeySpace, Schema
from sdcensus.model.schema.variable import (
    Code,
    Entity,
    EntitySpec,
    Hierarchy,
    Level,
    Role,
    Variable,
)
from sdcensus.model.secret import Secret
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import Measure
from sdcensus.session.census.census import Census, open_store
from sdcensus.store.in_memory import InMemoryRecords
from sdcensus.testing.stores import Units, write_store

SECRET = Secret(bytes(range(32)))
#: The district of each of the seven parishes; the last one has a district of its own.
DISTRICT_OF = (0, 0, 0, 1, 1, 1, 2)
WEIGHT_DECIMALS = 2


def island_schema(key_space: KeySpace | None = None) -> Schema:
    """Parishes in districts, sex, ten ages in three classes, marital status, a weight."""

    def codes(prefix: str, size: int) -> tuple[Code, ...]:
        return tuple(Code(f"{prefix}{at}", Text.of(f"{prefix} {at}")) for at in range(size))

    ages = tuple(Code(str(at), lower=at, upper=at) for at in range(10))
    return Schema(
        census=CensusInfo(name="Island", measure=Measure.COUNT),
        entities=(EntitySpec(entity=Entity.PERSON, id=("id",)),),
        variables=(
            Variable(
                name="area",
                entity=Entity.PERSON,
                codes=codes("P", 7),
                leaf_level="parish",
                role=Role.GEOGRAPHY,
                hierarchies=(Hierarchy("areas", (Level("district", codes("D", 3), DISTRICT_OF),)),),
            ),
            Variable(name="sex", entity=Entity.PERSON, codes=codes("", 2)),
            Variable(
                name="age",
                entity=Entity.PERSON,
                codes=ages,
                hierarchies=(
                    Hierarchy(
                        "class", (Level("class", codes("c", 3), (0,) * 3 + (1,) * 4 + (2,) * 3),)
                    ),
                    Hierarchy("half", (Level("half", codes("h", 2), (0,) * 5 + (1,) * 5),)),
                ),
            ),
            Variable(name="married", entity=Entity.PERSON, codes=codes("", 2)),
            Variable(
                name="weight",
                entity=Entity.PERSON,
                role=Role.WEIGHT,
                continuous=True,
                decimals=WEIGHT_DECIMALS,
            ),
        ),
        keys=KeyRules(space=key_space or KeySpace()),
        impossible=(Impossible("age < 3 and married == 1"),),
    )


def island_units(people: int = 400, *, seed: int = 7, key_space: KeySpace | None = None) -> Units:
    """Records of the island; the smaller the number, the emptier its tables."""
    draw = np.random.default_rng(seed)
    space = key_space or KeySpace()
    age = draw.integers(0, 10, people)
    married = np.where(age < 3, 0, draw.integers(0, 2, people))
    return Units(
        keys=draw.integers(0, space.modulus, people, dtype=np.uint64).astype(np.uint32),
        leaves={
            "area": draw.choice(7, people, p=[0.3, 0.2, 0.1, 0.2, 0.1, 0.05, 0.05]),
            "sex": draw.integers(0, 2, people),
            "age": age,
            "married": married,
        },
        values={"weight": draw.integers(50, 400, people)},
    )


def island(
    people: int = 400,
    *,
    seed: int = 7,
    key_space: KeySpace | None = None,
    secret_id: str = SECRET.id,
) -> Census:
    """The island's census in memory; its keys are said to be made with ``SECRET``."""
    units = island_units(people, seed=seed, key_space=key_space)
    schema = island_schema(key_space)
    records = InMemoryRecords(
        schema,
        Entity.PERSON,
        codes={name: _narrow(leaves) for name, leaves in units.leaves.items()},
        keys=units.keys,
        values=dict(units.values),
        origin=Origin(key_space or KeySpace(), secret_id, "island"),
    )
    return Census(schema, records)


def island_store(path: Path, people: int = 400, *, seed: int = 7) -> Census:
    """The same census as a store, which every engine can read."""
    units = island_units(people, seed=seed)
    write_store(path, island_schema(), {Entity.PERSON: units}, secret_id=SECRET.id)
    return open_store(path)


def island_cube(*by: str, people: int = 400, seed: int = 7, **options: str) -> Cube:
    """A cube of the island."""
    census = island(people, seed=seed)
    return census.tabulate(*by, **options).held_for("a test")  # type: ignore[arg-type]


def _narrow(leaves: npt.NDArray[np.int64]) -> npt.NDArray[np.uint8]:
    return leaves.astype(np.uint8)
