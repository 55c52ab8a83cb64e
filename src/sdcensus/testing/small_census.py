"""A census of a handful of units in plain Python: lists of records with the leaf of each variable.

What an engine says about it can be checked against loops over lists (``conformance``).
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace

from sdcensus.model.schema.schema import KeyScope, Schema
from sdcensus.model.schema.variable import Entity, EntitySpec, Role, Variable, VariableSource

#: The secret of every small census.
SECRET = bytes(range(32))

P, F, H, D = Entity.PERSON, Entity.FAMILY, Entity.HOUSEHOLD, Entity.DWELLING


@dataclass(frozen=True, slots=True)
class Unit:
    """One record: its id, the places of its parents, its leaves, values and owners of values."""

    id: tuple[str, ...]
    parents: Mapping[Entity, int | None]
    leaves: Mapping[str, int]
    values: Mapping[str, int | None]
    owners: Mapping[str, int | None] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class SmallCensus:
    """A census of a handful of units.

    Attributes:
        schema: Its schema, without files.
        units: Its records, by kind.
        waivers: For each amount with a waiver, the variable and its leaves that say who agreed.
    """

    schema: Schema
    units: Mapping[Entity, Sequence[Unit]]
    waivers: Mapping[str, tuple[str, frozenset[int]]] = field(default_factory=dict)

    def canonical_id(self, entity: Entity, unit: Unit) -> str:
        """What the digest of a record is made of."""
        by_number = entity is P and self.schema.keys.scope is KeyScope.PERSON_NUMBER
        return "|".join([*(() if by_number else self.schema.census.code), *unit.id])

    def digest(self, entity: Entity, unit: Unit) -> int:
        """The keyed digest of a record, by the definition."""
        text = self.canonical_id(entity, unit).encode()
        person = f"rkey1{entity.tag}".encode()
        digest = hashlib.blake2b(text, key=SECRET, person=person, digest_size=8)
        return int.from_bytes(digest.digest(), "big")

    def key(self, entity: Entity, unit: Unit) -> int:
        """The record key of a record."""
        return (self.digest(entity, unit) >> 32) * self.schema.keys.space.modulus >> 32


@dataclass(frozen=True, slots=True)
class Shape:
    """Kinds of units, how they lie inside each other, and which of them have a file."""

    entities: tuple[EntitySpec, ...]
    with_file: tuple[Entity, ...] = (P,)


SHAPES = (
    Shape((EntitySpec(entity=P, id=("ed", "no")),)),
    Shape(
        (
            EntitySpec(entity=P, id=("hh", "no"), within=H),
            EntitySpec(entity=H, id=("hh",)),
        ),
        (P, H),
    ),
    Shape(
        (
            EntitySpec(entity=P, id=("no",), within=H, link=("in_hh",), optional=True),
            EntitySpec(entity=H, id=("hh",), within=D, link=("in_dw", "in_dw_2"), optional=True),
            EntitySpec(entity=D, id=("dw", "dw_2")),
        ),
        (P, H, D),
    ),
    Shape(
        (
            EntitySpec(entity=P, id=("hh", "no"), within=H),
            EntitySpec(entity=H, id=("hh",), derived_from=P),
        ),
        (P,),
    ),
    Shape(
        (
            EntitySpec(entity=P, id=("hh", "no"), within=H),
            EntitySpec(entity=F, id=("hh", "fam"), within=H, derived_from=P),
            EntitySpec(entity=H, id=("hh",), within=D),
            EntitySpec(entity=D, id=("dw",), derived_from=H),
        ),
        (P, H),
    ),
    Shape(
        (
            EntitySpec(entity=P, id=("hh", "no"), within=H),
            EntitySpec(entity=H, id=("hh",), within=D, derived_from=P),
            EntitySpec(entity=D, id=("dw",), derived_from=P),
        ),
        (P,),
    ),
)


def id_variables(shape: Shape) -> Iterator[Variable]:
    """Every column of every file that is part of an id: two digits, also where it is a number."""
    for spec in shape.entities:
        if spec.entity not in shape.with_file:
            continue
        for column in id_columns(shape.entities, spec):
            yield Variable(
                name=f"{spec.entity}_{column}",
                entity=spec.entity,
                role=Role.RECORD_ID,
                source=VariableSource(file=spec.entity.value, column=column, width=2),
            )


def id_columns(entities: Sequence[EntitySpec], spec: EntitySpec) -> list[str]:
    """The id and link columns in the file of a kind of unit."""
    columns = [*spec.id, *spec.link]
    for other in entities:
        if other.derived_from is spec.entity or (other.entity is spec.within and not spec.link):
            columns += other.id
    return list(dict.fromkeys(columns))


def random_units(
    schema: Schema, sizes: Mapping[Entity, int], draws: random.Random
) -> dict[Entity, list[Unit]]:
    """At most so many units of each kind; those without a file only where a record names them."""
    fixed = {
        variable.name: variable.missing_position
        for variable in schema.variables
        if variable.missing_position is not None
        and draws.random() < 0.15  # a column without values
    }
    units: dict[Entity, list[Unit]] = {}
    for entity in sorted(sizes, key=lambda size: len(schema.lineage(size))):
        spec = schema.entity(entity)
        size = sizes[entity]
        if spec.within is not None and not spec.optional and not units[spec.within]:
            size = 0
        rows = [_draft(schema, entity, units, fixed, draws) for _ in range(size)]
        units[entity] = [_identified(at, entity, row, schema, units) for at, row in enumerate(rows)]
    return _only_with_members(schema, units)


def _draft(
    schema: Schema,
    entity: Entity,
    units: Mapping[Entity, Sequence[Unit]],
    fixed: Mapping[str, int],
    draws: random.Random,
) -> Unit:
    """A unit without its id."""
    spec = schema.entity(entity)
    parents: dict[Entity, int | None] = {}
    for parent in schema.parents(entity):
        if parent is D and spec.within is H:  # the dwelling of the household
            home = parents[H]
            parents[D] = None if home is None else units[H][home].parents[D]
            continue
        candidates = [
            at
            for at in range(len(units[parent]))
            # A family lies in the household of its members.
            if parent is not F or units[F][at].parents[H] == parents[H]
        ]
        may_lack = parent is not spec.within or spec.optional
        lacks = not candidates or (may_lack and draws.random() < 0.25)
        parents[parent] = None if lacks else draws.choice(candidates)
    leaves: dict[str, int] = {}
    values: dict[str, int | None] = {}
    owners: dict[str, int | None] = {}
    for variable in schema.variables:
        if variable.entity is not entity or not variable.stored:
            continue
        if variable.role is Role.WEIGHT:
            # No sum of amounts times weights leaves 64 bits: that error has tests of its own.
            digits = draws.randrange(1, min(10, 5 + variable.decimals))
            values[variable.name] = draws.randrange(1, 10**digits)
        elif variable.continuous:
            size = 10 ** draws.randrange(1, 13)
            amount = None if draws.random() < 0.2 else draws.randrange(-size, size)
            values[variable.name] = amount
            limit = 100 * 10**variable.decimals
            leaves[variable.name] = 2 if amount is None else int(amount >= limit)
            if variable.owner:
                owners[variable.name] = None if draws.random() < 0.2 else draws.randrange(4)
        else:
            leaf = draws.randrange(len(variable.codes))
            leaves[variable.name] = fixed.get(variable.name, leaf)
    return Unit((), parents, leaves, values, owners)


def _identified(
    at: int,
    entity: Entity,
    draft: Unit,
    schema: Schema,
    units: Mapping[Entity, Sequence[Unit]],
) -> Unit:
    """The unit with an id that repeats that of its parent where the id columns do."""
    spec = schema.entity(entity)
    parts = []
    within = None if spec.within is None else draft.parents[spec.within]
    above = None if spec.within is None or within is None else units[spec.within][within]
    for column in spec.id:
        if above is not None and spec.within is not None:
            inherited = dict(zip(schema.entity(spec.within).id, above.id, strict=True))
            if column in inherited:
                parts.append(inherited[column])
                continue
        parts.append(f"{at:02d}")
    return replace(draft, id=tuple(parts))


def _only_with_members(schema: Schema, units: dict[Entity, list[Unit]]) -> dict[Entity, list[Unit]]:
    """Units without a file exist only where a record names them; others are left out."""
    for entity in sorted(units, key=lambda unit: -len(schema.lineage(unit))):
        origin = schema.entity(entity).derived_from
        if origin is None:
            continue
        seen = {unit.parents[entity] for unit in units[origin]}
        kept = [at for at in range(len(units[entity])) if at in seen]
        place: dict[int | None, int | None] = {old: new for new, old in enumerate(kept)}
        units[entity] = [units[entity][at] for at in kept]
        for child, own in units.items():
            if entity in schema.parents(child):
                units[child] = [
                    replace(unit, parents={**unit.parents, entity: place.get(unit.parents[entity])})
                    for unit in own
                ]
    return units
