"""Encoded records that were never on disk: a frame in a notebook, a sample, a test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import StoreError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.cube import Origin
from sdcensus.model.schema.implications import declared_rules
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.store.census_store import Column

Integers = npt.NDArray[Any]


class InMemoryRecords(Confidential):
    """Encoded records of one kind of unit, held as arrays."""

    __slots__ = ("_codes", "_entity", "_keys", "_owners", "_values", "origin", "schema")

    def __init__(
        self,
        schema: Schema,
        entity: Entity,
        *,
        codes: Mapping[str, Integers],
        keys: npt.NDArray[np.uint32],
        values: Mapping[str, Integers] | None = None,
        owners: Mapping[str, Integers] | None = None,
        origin: Origin,
    ) -> None:
        self.schema = schema
        self.origin = replace(origin, rules=declared_rules(schema))
        self._entity = entity
        self._codes = dict(codes)
        self._keys = keys
        self._values = dict(values or {})
        self._owners = dict(owners or {})

    def __repr__(self) -> str:
        return f"<InMemoryRecords of {self._entity.plural}: confidential>"

    def rows(self, entity: Entity) -> int:
        """How many records there are. Confidential."""
        self._check(entity)
        return int(self._keys.size)

    def record_keys(self, entity: Entity) -> Integers:
        """The record key of each record."""
        self._check(entity)
        return self._keys

    def column(self, entity: Entity, variable: Variable) -> Column:
        """A variable as positions in its code list."""
        self._check(entity)
        return Column(self._codes[variable.name], (), 0)

    def values(self, entity: Entity, variable: Variable) -> Column:
        """The fixed-point values of a weight or continuous variable."""
        self._check(entity)
        return Column(self._values[variable.name], (), 0)

    def owners(self, entity: Entity, variable: Variable) -> Column:
        """The number of the owner to whom each amount of a variable belongs."""
        self._check(entity)
        return Column(self._owners[variable.name], (), 0)

    def household_keys(self, entity: Entity) -> Column:
        """There are no households here."""
        return self.household_rows(entity)

    def household_rows(self, entity: Entity) -> Column:
        """There are no households here."""
        raise StoreError(f"These {entity.plural} do not lie in households.")

    def sorted_geography(self, entity: Entity) -> str | None:
        """The records lie as they came, so by none."""
        self._check(entity)
        return None

    def _check(self, entity: Entity) -> None:
        if entity is not self._entity:
            raise StoreError(f"There are only {self._entity.plural} here.")
