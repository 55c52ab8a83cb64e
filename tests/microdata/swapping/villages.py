"""Countries for swapping, drawn at random: two to five levels, any holder of the geography."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.schema.grids import GridSpec
from sdcensus.model.schema.schema import CensusInfo, Schema
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
from sdcensus.store.census_store import CensusStore
from sdcensus.testing.island import SECRET
from sdcensus.testing.stores import Units, area_of, write_store

Integers = npt.NDArray[Any]
P, H, D = Entity.PERSON, Entity.HOUSEHOLD, Entity.DWELLING
LEVEL_NAMES = ("ed", "parish", "district", "region", "state")


def numbers(count: int, *, missing: bool = False) -> tuple[Code, ...]:
    none = (Code("9999", kind=CodeKind.NOT_STATED),) if missing else ()
    return (*(Code(str(at), lower=at, upper=at) for at in range(count)), *none)


def area_variable(entity: Entity, levels: int, fan: int, top: int = 2) -> Variable:
    """A tree with ``top`` areas at its coarsest level and ``fan`` in each above the leaves."""
    leaves = top * fan ** (levels - 1)
    nowhere = Code("nowhere", kind=CodeKind.NOT_APPLICABLE)
    above = []
    for step in range(1, levels):
        width = fan**step
        count = leaves // width
        codes = (*(Code(f"{LEVEL_NAMES[step][0].upper()}{at}") for at in range(count)), nowhere)
        group = (*(at // width for at in range(leaves)), count)
        above.append(Level(LEVEL_NAMES[step], codes, group))
    return Variable(
        name="ed",
        entity=entity,
        role=Role.GEOGRAPHY,
        codes=(*(Code(f"E{at}") for at in range(leaves)), nowhere),
        hierarchies=(Hierarchy("areas", tuple(above)),) if above else (),
    )


@dataclass(frozen=True)
class Village:
    """What a country is like.

    Attributes:
        seed: Draws everything.
        levels: How many levels its geography has.
        holder: The kind of unit that holds the geography.
        households: How many there are.
        fan: How many areas lie in one of the next level.
        top: How many areas the coarsest level has.
        nowhere: The share of units in no area.
        lonely: The share of persons in no household.
        grid: Whether units have a cell of a grid.
        first: The number of the first household: countries of one seed share their households.
    """

    seed: int
    levels: int = 3
    holder: Entity = H
    households: int = 60
    fan: int = 2
    top: int = 2
    nowhere: float = 0.0
    lonely: float = 0.0
    grid: bool = False

    @property
    def leaves(self) -> int:
        return int(self.top * self.fan ** (self.levels - 1))

    def schema(self) -> Schema:
        extent = (0, 0, 1000 * self.leaves, 1000)
        variables = [
            area_variable(self.holder, self.levels, self.fan, self.top),
            Variable(name="rooms", entity=D, codes=numbers(3)),
            Variable(name="size", entity=H, codes=numbers(9), counts=P),
            Variable(name="tenure", entity=H, codes=numbers(2, missing=True)),
            Variable(name="heating", entity=H, codes=numbers(3)),
            Variable(name="rent", entity=H, continuous=True, decimals=2),
            Variable(name="risk", entity=P, continuous=True, decimals=3),
            Variable(name="sex", entity=P, codes=numbers(2)),
            Variable(name="age", entity=P, codes=numbers(6)),
            Variable(name="faith", entity=P, codes=numbers(4), imputed=True),
        ]
        grids: tuple[GridSpec, ...] = ()
        if self.grid:
            cells = tuple(Code(f"C{at}") for at in range(self.leaves))
            outside = Code("unallocated", kind=CodeKind.NOT_APPLICABLE)
            variables.append(Variable(name="ed_grid", entity=self.holder, codes=(*cells, outside)))
            grids = (GridSpec("ed_grid", "x", "y", 3035, 1000, extent),)
        return Schema(
            census=CensusInfo(name="Village", code=("V1",)),
            entities=(
                EntitySpec(entity=P, id=("p",), within=H, optional=True),
                EntitySpec(entity=H, id=("h",), within=D),
                EntitySpec(entity=D, id=("d",)),
            ),
            variables=tuple(variables),
            grids=grids,
        )

    def units(self) -> dict[Entity, Units]:
        draw = np.random.default_rng(self.seed)
        count = self.households
        size = draw.integers(0, 5, count)
        household_of = np.repeat(np.arange(count), size)
        persons = household_of.size
        alone = draw.random(persons) < self.lonely
        # Some dwellings hold two households, some none.
        dwellings = max(count - 3, 1)
        dwelling_of = np.minimum(draw.permutation(count), dwellings - 1)
        area = (self.leaves * draw.random(count) ** 1.5).astype(np.int64)
        area[draw.random(count) < self.nowhere] = self.leaves
        if self.holder is D:
            area = area[:dwellings]
        if self.holder is P:
            area = area[household_of]
        places: dict[Entity, dict[str, Integers]] = {P: {}, H: {}, D: {}}
        places[self.holder]["ed"] = area
        if self.grid:
            places[self.holder]["ed_grid"] = area
        sexes, ages, faiths = (draw.integers(0, limit, persons) for limit in (2, 6, 4))
        return {
            D: Units(
                keys=_keys(draw, dwellings),
                leaves={"rooms": draw.integers(0, 3, dwellings), **places[D]},
            ),
            H: Units(
                keys=_keys(draw, count),
                leaves={
                    "size": size,
                    "tenure": draw.integers(0, 2, count),
                    "heating": draw.integers(0, 3, count),
                    **places[H],
                },
                values={"rent": draw.integers(0, 10**5, count)},
                parents={D: dwelling_of},
            ),
            P: Units(
                keys=_keys(draw, persons),
                leaves={"sex": sexes, "age": ages, "faith": faiths, **places[P]},
                values={"risk": draw.integers(0, 1000, persons)},
                parents={H: np.where(alone, -1, household_of)},
            ),
        }

    def write(self, path: Path, *, shuffled: int | None = None) -> CensusStore:
        """As a store; its records in another order within areas if ``shuffled``."""
        return write_units(path, self.schema(), self.units(), shuffled=shuffled)


def write_units(
    path: Path, schema: Schema, units: dict[Entity, Units], *, shuffled: int | None = None
) -> CensusStore:
    if shuffled is None:
        return write_store(path, schema, units, secret_id=SECRET.id)
    draw = np.random.default_rng(shuffled)
    orders = {}
    for entity, own in units.items():
        mixed, area = draw.permutation(own.keys.size), area_of(schema, units, entity)
        if area is not None:
            mixed = mixed[np.argsort(area[mixed], kind="stable")]
        orders[entity] = mixed
    return write_store(path, schema, units, secret_id=SECRET.id, order=orders)


def _keys(draw: np.random.Generator, size: int) -> Integers:
    return draw.choice(1 << 32, size, replace=False).astype(np.uint32)
