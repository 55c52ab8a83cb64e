"""Make a census store straight from arrays, as the loader would have written it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, smallest_width
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import (
    DIGEST_COLUMN,
    KEY_COLUMN,
    imputed_column,
    link_column,
    owner_column,
    value_column,
)
from sdcensus.store.writer import writing

Integers = npt.NDArray[Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """The encoded records of one kind, in any order.

    Attributes:
        keys: Record keys, below the modulus of the schema's key space.
        leaves: Positions in the code list, by variable.
        values: Fixed-point values, by variable.
        imputed: 1 where a value was imputed, by variable.
        owners: The numbers of owners of amounts, by variable.
        parents: The place of each record's parent among the parent's ``Units``; -1 for none.
        digests: Digests of identity; derived from the keys where they are not given.
    """

    keys: Integers
    leaves: Mapping[str, Integers] = field(default_factory=dict)
    values: Mapping[str, Integers] = field(default_factory=dict)
    imputed: Mapping[str, Integers] = field(default_factory=dict)
    owners: Mapping[str, Integers] = field(default_factory=dict)
    parents: Mapping[Entity, Integers] = field(default_factory=dict)
    digests: Integers | None = None


def write_store(
    path: Path,
    schema: Schema,
    units: Mapping[Entity, Units],
    *,
    secret_id: str = "",
    order: Mapping[Entity, Integers] | None = None,
) -> CensusStore:
    """Write a store and open it.

    Records are sorted by area where the schema has a geography, and inherit its column; ``order``
    (see ``area_order``) may name another order. It has to keep areas together and ascending.
    """
    orders = area_order(schema, units) if order is None else order
    area = schema.geography
    with writing(path) as writer:
        for entity, own in units.items():
            rows = orders[entity]
            writer.add_entity(entity, int(rows.size))
            digests = own.digests
            if digests is None:
                digests = own.keys.astype(np.uint64) << np.uint64(32)
            writer.write(entity, DIGEST_COLUMN, [digests.astype(np.uint64)[rows]])
            writer.write(entity, KEY_COLUMN, [own.keys.astype(np.uint32)[rows]])
            for parent, link in own.parents.items():
                place = np.empty(orders[parent].size + 1, dtype=np.uint32)
                place[orders[parent]] = np.arange(orders[parent].size, dtype=np.uint32)
                place[-1] = NO_ROW  # where the link is -1
                writer.write(entity, link_column(parent), [place[link][rows]])
            columns = dict(own.leaves)
            if area is not None and area.name not in columns:
                inherited = area_of(schema, units, entity)
                columns |= {} if inherited is None else {area.name: inherited}
            for name, leaves in columns.items():
                width = smallest_width(len(schema.variable(name).codes))
                writer.write(entity, name, [leaves.astype(width)[rows]])
            for name, values in own.values.items():
                writer.write(entity, value_column(name), [values.astype(np.int64)[rows]])
            for name, flags in own.imputed.items():
                writer.write(entity, imputed_column(name), [flags.astype(np.uint8)[rows]])
            for name, owners in own.owners.items():
                writer.write(entity, owner_column(name), [owners.astype(np.uint32)[rows]])
        writer.describe(schema, secret_id=secret_id, on_problem="refuse")
    return CensusStore.open(path)


def area_order(schema: Schema, units: Mapping[Entity, Units]) -> dict[Entity, Integers]:
    """The order of the records of each kind by their finest area; as they are without one."""
    orders: dict[Entity, Integers] = {}
    for entity, own in units.items():
        area = area_of(schema, units, entity)
        if area is None:
            orders[entity] = np.arange(own.keys.size)
        else:
            orders[entity] = np.argsort(area, kind="stable")
    return orders


def area_of(schema: Schema, units: Mapping[Entity, Units], entity: Entity) -> Integers | None:
    """The leaf of the geography of each record, own or inherited; ``None`` if there is none."""
    geography = schema.geography
    if geography is None:
        return None
    path = schema.path(entity, geography.entity)
    if path is None:
        return None
    missing = schema.inherited_missing(entity, geography)
    at = np.arange(units[entity].keys.size)
    child = entity
    for parent in path:
        link = np.append(units[child].parents[parent], -1)
        at, child = link[at], parent
    leaves = np.append(units[child].leaves[geography.name], missing or 0)
    return leaves[at]
