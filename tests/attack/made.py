"""Publications for tests of attacks, of the island and of people with independent answers."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.method import Method
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.cube import Cube, Origin
from sdcensus.model.entity import Entity, EntitySpec
from sdcensus.model.key_space import KeySpace
from sdcensus.model.publication import PublishedTable
from sdcensus.model.schema import CensusInfo, KeyRules, Schema
from sdcensus.model.variable import Code, Variable
from sdcensus.session.census import Census
from sdcensus.store.in_memory import InMemoryRecords
from sdcensus.testing.island import SECRET


def cell_key(name: str, lookup: str = "hashed") -> CellKey:
    return CellKey(scheme(name), secret=SECRET, lookup=lookup)


def publish(
    census: Census, method: Method, *tables: Sequence[str], universe: str | None = None
) -> list[PublishedTable]:
    """Tables as they are published, without files."""
    made = []
    for by in tables:
        cube = census.tabulate(*by, universe=universe)
        protected = method.protect(cube)
        name = f"{'-'.join(by)}{'' if universe is None else f' {universe}'}.csv"
        made.append(PublishedTable(name, protected.table, protected.provenance))
    return made


def truth(census: Census, one: PublishedTable) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """The true counts behind a published table."""
    cube = census.tabulate(one.table.spec)
    assert isinstance(cube, Cube)
    return cube.count


def questionnaire(
    people: int, *, areas: int, answers: int, codes: int = 3, seed: int = 5
) -> Census:
    """People in areas with answers that have nothing to do with each other."""
    draw = np.random.default_rng(seed)
    sizes = {"area": areas, "sex": 2, **{f"q{at}": codes for at in range(answers)}}
    variables = tuple(
        Variable(
            name=name,
            entity=Entity.PERSON,
            codes=tuple(Code(f"{name}_{at}") for at in range(size)),
        )
        for name, size in sizes.items()
    )
    schema = Schema(
        census=CensusInfo(name="Questionnaire"),
        entities=(EntitySpec(entity=Entity.PERSON, id=("id",)),),
        variables=variables,
        keys=KeyRules(space=KeySpace()),
    )
    columns = {
        name: draw.integers(0, size, people).astype(np.uint8) for name, size in sizes.items()
    }
    keys = draw.integers(0, 1 << 32, people, dtype=np.uint64).astype(np.uint32)
    origin = Origin(KeySpace(), SECRET.id, "questionnaire")
    return Census(
        schema,
        InMemoryRecords(schema, Entity.PERSON, codes=columns, keys=keys, values={}, origin=origin),
    )
