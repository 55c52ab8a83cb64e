"""The island with incomes: cubes of sums with their contributions, from records or by hand."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sdcensus.model.cube.contributions import Contributions
from sdcensus.model.cube.cube import Accumulators, Cube, Origin
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.census.census import Census
from sdcensus.store.in_memory import InMemoryRecords
from sdcensus.testing.island import SECRET, island_schema, island_units

Int64 = npt.NDArray[np.int64]

DECIMALS = 2


def income(decimals: int = DECIMALS, name: str = "income") -> Variable:
    """The amount."""
    return Variable(name=name, entity=Entity.PERSON, continuous=True, decimals=decimals)


def incomes(people: int, *, seed: int = 11, signed: bool = False) -> Int64:
    """Skew amounts in last decimals, a tenth of them 0."""
    draw = np.random.default_rng(seed)
    amounts = np.exp(draw.normal(10, 1.5, people)).astype(np.int64)
    amounts[draw.random(people) < 0.1] = 0
    return np.where(draw.random(people) < 0.3, -amounts, amounts) if signed else amounts


def income_census(
    people: int = 400, *, signed: bool = False, key_space: KeySpace | None = None, scale: int = 1
) -> Census:
    """The island's census with incomes; ``scale`` multiplies all of them."""
    units = island_units(people, key_space=key_space)
    schema = island_schema(key_space)
    schema = replace(schema, variables=(*schema.variables, income(), income(name="rent")))
    amounts = incomes(people, signed=signed) * scale
    records = InMemoryRecords(
        schema,
        Entity.PERSON,
        codes={name: leaves.astype(np.uint8) for name, leaves in units.leaves.items()},
        keys=units.keys,
        values={**units.values, "income": amounts, "rent": amounts // 3},
        origin=Origin(key_space or KeySpace(), SECRET.id, "incomes"),
    )
    return Census(schema, records)


def census_of(people: Sequence[tuple[int, int]]) -> Census:
    """A census of people of the same place and sex, by the age and the income of each."""
    schema = island_schema(None)
    schema = replace(schema, variables=(*schema.variables, income(0)))
    ages, amounts = (np.array(column, dtype=np.int64) for column in zip(*people, strict=True))
    alike = np.zeros(len(people), dtype=np.uint8)
    records = InMemoryRecords(
        schema,
        Entity.PERSON,
        codes={"area": alike, "sex": alike, "married": alike, "age": ages.astype(np.uint8)},
        keys=np.arange(len(people), dtype=np.uint32),
        values={"weight": np.full(len(people), 100, dtype=np.int64), "income": amounts},
        origin=Origin(KeySpace(), SECRET.id, "by hand"),
    )
    return Census(schema, records)


def income_cube(
    *by: str, people: int = 400, measure: str = "sum(income)", signed: bool = False
) -> Cube:
    """A table of incomes."""
    cube = income_census(people, signed=signed).tabulate(*by, measure=measure)
    assert isinstance(cube, Cube)
    return cube


def by_hand(
    contributions: list[list[int]],
    keys: list[int],
    *,
    decimals: int = 0,
    key_space: KeySpace | None = None,
    record_keys: list[list[int]] | None = None,
) -> Cube:
    """One row of cells from the contributions of each, at most as many as there are ages."""
    schema = island_schema(key_space)
    schema = replace(schema, variables=(*schema.variables, income(decimals)))
    spec = TableSpec.build(schema, ["age-total"], measure="sum(income)")
    missing = spec.cells - len(contributions)
    cells = [sorted(cell, key=abs, reverse=True) for cell in (*contributions, *[[]] * missing)]
    cell_keys = np.array([*keys, *[0] * missing], dtype=np.uint32)
    counts = np.array([len(cell) for cell in cells], dtype=np.int64)
    largest = np.array([(cell + [0] * 6)[:6] for cell in cells], dtype=np.int64)
    own = np.zeros((len(cells), 6), dtype=np.uint32)
    for at, row in enumerate(record_keys or []):
        own[at, : len(row)] = row[:6]
    values = Accumulators(
        count=counts,
        key=cell_keys,
        sums=(("income", np.array([sum(cell) for cell in cells], dtype=np.int64)),),
        contributions=Contributions(
            amount=largest,
            contributors=counts.copy(),
            contributor_key=cell_keys.copy(),
            key=own,
            lowest=np.array([min(cell, default=0) for cell in cells], dtype=np.int64),
            highest=np.array([max(cell, default=0) for cell in cells], dtype=np.int64),
            absolute=np.array([sum(map(abs, cell)) for cell in cells], dtype=np.int64),
        ),
    )
    return Cube(spec, Origin(key_space or KeySpace(), SECRET.id, "by hand"), values)
