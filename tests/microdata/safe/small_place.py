"""Places of few people with the codes that a test says, and what SAFE leaves of them."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.microdata.method import Changes, Draws
from sdcensus.microdata.safe.method import Safe
from sdcensus.model.progress import no_progress
from sdcensus.model.schema.schema import CensusInfo, Impossible, Schema
from sdcensus.model.schema.variable import (
    Code,
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
P, H = Entity.PERSON, Entity.HOUSEHOLD
DRAWS = Draws(SECRET.sub_key(Purpose.SAFE, 1))


def listed(size: int) -> tuple[Code, ...]:
    return tuple(Code(str(at), lower=at, upper=at) for at in range(size))


def variable(name: str, size: int, entity: Entity = P) -> Variable:
    """A variable with codes 0, 1, 2 …, and a level that puts two of them together."""
    groups = tuple(Code(f"g{at}") for at in range((size + 1) // 2))
    level = Level(f"{name}_pairs", groups, tuple(at // 2 for at in range(size)))
    return Variable(
        name=name,
        entity=entity,
        codes=listed(size),
        hierarchies=(Hierarchy(f"{name}_tree", (level,)),),
    )


def place(
    path: Path,
    columns: Mapping[str, Sequence[int]],
    *,
    sizes: Mapping[str, int] | None = None,
    areas: Sequence[int] | None = None,
    households: Sequence[int] | None = None,
    rules: Sequence[str | Impossible] = (),
    order: Sequence[int] | None = None,
    salt: int = 0,
) -> CensusStore:
    """Write a store of persons, in households where a test says.

    Args:
        path: Where.
        columns: The codes of the persons, by variable.
        sizes: How many codes variables have; as many as it takes if nothing is said.
        areas: The area of each household; without it there are none.
        households: The household of each person; with areas one for each area.
        rules: Impossible combinations.
        order: The order of the persons.
        salt: Other people, with the same codes.
    """
    persons = len(next(iter(columns.values())))
    wanted = {name: max(codes, default=0) + 1 for name, codes in columns.items()} | dict(
        sizes or {}
    )
    variables = [variable(name, size) for name, size in wanted.items() if name in columns]
    held = households is not None
    entities = [EntitySpec(entity=P, id=("p",), within=H if held else None)]
    if held:
        entities.append(EntitySpec(entity=H, id=("h",)))
    if areas is not None:
        codes = listed(max(areas, default=0) + 1)
        pairs = tuple(Code(f"p{at}") for at in range((len(codes) + 1) // 2))
        level = Level("parish", pairs, tuple(at // 2 for at in range(len(codes))))
        variables.append(
            Variable(
                name="area",
                entity=H if held else P,
                role=Role.GEOGRAPHY,
                codes=codes,
                hierarchies=(Hierarchy("areas", (level,)),),
            )
        )
    schema = Schema(
        census=CensusInfo(name="Place", code=("L",)),
        entities=tuple(entities),
        variables=tuple(variables),
        impossible=tuple(
            rule if isinstance(rule, Impossible) else Impossible(rule) for rule in rules
        ),
    )
    draw = np.random.default_rng(1000 + salt)
    keys = draw.choice(1 << 32, persons + 64, replace=False).astype(np.uint32)
    leaves: dict[str, Integers] = {
        name: np.array(codes, dtype=np.int64) for name, codes in columns.items()
    }
    units: dict[Entity, Units] = {}
    if held:
        number = max(households or (), default=-1) + 1
        own = {} if areas is None else {"area": np.array(areas, dtype=np.int64)}
        units[H] = Units(keys=np.arange(number, dtype=np.uint32), leaves=own)
    elif areas is not None:
        leaves["area"] = np.array(areas, dtype=np.int64)
    parents = {H: np.array(households, dtype=np.int64)} if held else {}
    units[P] = Units(keys=keys[:persons], leaves=leaves, parents=parents)
    orders = None
    if order is not None:
        orders = {P: np.array(order)} | ({H: np.arange(units[H].keys.size)} if held else {})
    return write_store(path, schema, units, secret_id=SECRET.id, order=orders)


def made_safe(store: CensusStore, draws: Draws = DRAWS, **said: Any) -> Changes:
    """What SAFE changes, with little work unless a test says how much."""
    return Safe(**({"moves": 2} | said)).derive(store, draws, no_progress)


def codes_after(store: CensusStore, changes: Changes, name: str) -> Integers:
    """The codes of the persons, own or inherited, with what has changed."""
    own = store.schema.variable(name)
    codes = store.column(P, own)[slice(0, store.rows(P))].copy()
    if name in changes.codes:
        codes[changes.codes[name].rows] = changes.codes[name].values
    return codes


def counted(
    store: CensusStore, changes: Changes, axes: Sequence[str]
) -> dict[tuple[int, ...], int]:
    """How often each combination of variables at levels occurs afterwards."""
    columns = []
    for text in axes:
        name, _, level = text.partition("@")
        groups = store.schema.variable(name).level(level or None).group_array
        columns.append(groups[codes_after(store, changes, name)].tolist())
    counts: dict[tuple[int, ...], int] = {}
    for combination in zip(*columns, strict=True):
        counts[combination] = counts.get(combination, 0) + 1
    return counts


def fact(changes: Changes, table: str, row: str, column: int = 1) -> Any:
    """A figure that the office is told."""
    for each in changes.facts:
        if each.name == table:
            for line in each.rows:
                if getattr(line[0], "words", line[0]) == row:
                    return line[column]
    raise KeyError(row)


def best_by_brute_force(
    counts: Sequence[int], cells: Sequence[Sequence[Any]], least: int, weights: Sequence[int]
) -> float:
    """The smallest largest deviation of any numbers of units that are 0 or enough, by trying all.

    Args:
        counts: How many units each combination has.
        cells: For each combination the control cell that it feeds in each control table.
        least: How many are enough.
        weights: By what deviations of each control table are divided.
    """
    best = float("inf")
    for numbers in _numbers(sum(counts), len(counts), least):
        worst = 0.0
        for table, weight in enumerate(weights):
            deviations: dict[Any, int] = {}
            for before, after, feeds in zip(counts, numbers, cells, strict=True):
                deviations[feeds[table]] = deviations.get(feeds[table], 0) + after - before
            worst = max(worst, max(abs(each) for each in deviations.values()) / weight)
        best = min(best, worst)
    return best


def _numbers(total: int, parts: int, least: int) -> Iterator[tuple[int, ...]]:
    if parts == 1:
        if total == 0 or total >= least:
            yield (total,)
        return
    for first in itertools.chain([0], range(least, total + 1)):
        for rest in _numbers(total - first, parts - 1, least):
            yield (first, *rest)
