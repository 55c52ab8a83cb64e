"""Publications for tests of attacks, of the island and of people with independent answers."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import numpy.typing as npt

from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.method import Method
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.cube.cube import Cube, Origin
from sdcensus.model.published.table import Mark, PublishedTable, Table
from sdcensus.model.schema.schema import CensusInfo, KeyRules, KeySpace, Schema
from sdcensus.model.schema.variable import Code, Entity, EntitySpec, Variable
from sdcensus.model.spec.cell_definitions import cell_hashes
from sdcensus.session.census.census import Census
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


def exactly(census: Census, *tables: Sequence[str]) -> list[PublishedTable]:
    """Tables as an office without protection would publish them."""
    made = []
    for by in tables:
        cube = census.tabulate(*by)
        assert isinstance(cube, Cube)
        made.append(PublishedTable("-".join(by), Table(cube.spec, cube.count.copy())))
    return made


def publish_each_alone(
    census: Census, method: Method, *tables: Sequence[str]
) -> list[PublishedTable]:
    """Tables in which every question has noise of its own, whoever is behind it."""
    made = []
    for by in tables:
        cube = census.tabulate(*by)
        assert isinstance(cube, Cube)
        definition = cell_hashes(cube.spec)[:, 0].reshape(cube.shape)
        mixed = (cube.key.astype(np.uint64) << np.uint64(32)) ^ definition
        for shift, factor in ((31, 0xBF58476D1CE4E5B9), (29, 0x94D049BB133111EB)):
            mixed = (mixed ^ (mixed >> np.uint64(shift))) * np.uint64(factor)
        keys = np.where(cube.count > 0, mixed >> np.uint64(32), 0).astype(np.uint32)
        protected = method.protect(replace(cube, values=replace(cube.values, key=keys)))
        made.append(PublishedTable("-".join(by), protected.table, protected.provenance))
    return made


def hide_below(tables: Sequence[PublishedTable], least: int) -> list[PublishedTable]:
    """Tables that show a cell only if all its totals in the table are published at ``least``."""
    made = []
    for one in tables:
        assert isinstance(one.table, Table)
        values, axes = one.table.published, range(one.table.published.ndim)
        shown = np.ones(values.shape, dtype=bool)
        places = np.indices(values.shape)
        for count in range(1, values.ndim + 1):
            for chosen in itertools.combinations(axes, count):
                at = tuple(slice(-1, None) if axis in chosen else slice(None) for axis in axes)
                itself = np.ones(values.shape, dtype=bool)
                for axis in chosen:
                    itself &= places[axis] == values.shape[axis] - 1
                shown &= itself | (values[at] >= least)
        flags = np.where(shown, 0, Mark.WITHHELD).astype(np.uint8)
        table = Table(one.table.spec, np.where(shown, values, 0), flags)
        made.append(replace(one, table=table))
    return made


def combined(census: Census, count: int, *always: str) -> list[tuple[str, ...]]:
    """All tables by so many of the variables of a census, some of them in every one."""
    names = [variable.name for variable in census.schema.variables if variable.name not in always]
    return [(*always, *some) for some in itertools.combinations(names, count - len(always))]


def questionnaire(
    people: int, *, areas: int, answers: int, codes: int = 3, seed: int = 5
) -> Census:
    """People in areas with answers that have nothing to do with each other."""
    draw = np.random.default_rng(seed)
    sizes = {"area": areas, "sex": 2, **{f"q{at}": codes for at in range(answers)}}
    columns = {name: draw.integers(0, size, people) for name, size in sizes.items()}
    keys = draw.integers(0, 1 << 32, people, dtype=np.uint64).astype(np.uint32)
    return people_with(columns, keys, sizes)


def people_with(
    columns: Mapping[str, npt.NDArray[np.int64]],
    keys: npt.NDArray[np.uint32],
    sizes: Mapping[str, int],
) -> Census:
    """People with these answers, by variable, and these record keys."""
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
    held = {name: column.astype(np.uint8) for name, column in columns.items()}
    origin = Origin(KeySpace(), SECRET.id, "questionnaire")
    return Census(
        schema,
        InMemoryRecords(schema, Entity.PERSON, codes=held, keys=keys, values={}, origin=origin),
    )
