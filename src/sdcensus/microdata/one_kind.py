"""Writing a store of one kind of unit, some of whose records are there several times.

A method that adds records cannot add them to households, families and dwellings as well: nobody
knows who would live with them. What it makes is therefore a store of these records alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.microdata.derived_store import DerivedRecords
from sdcensus.microdata.method import Changes, Mask, OneKind
from sdcensus.model.schema.one_kind import schema_of_one_kind
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.listed_tables import TableList
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import DIGEST_COLUMN, KEY_COLUMN

Integers = npt.NDArray[Any]
UInt32 = npt.NDArray[np.uint32]


def derived_records(store: CensusStore, changes: Changes) -> DerivedRecords:
    """The records of a derived store, as they will be written."""
    if changes.one_kind is None:
        return DerivedRecords(store, changes)
    return RecordsOfOneKind(store, changes)


class RecordsOfOneKind(DerivedRecords):
    """The records of a store that holds one kind of unit, as they will be written."""

    def __repr__(self) -> str:
        return "<RecordsOfOneKind: confidential>"

    def __post_init__(self) -> None:
        changes = self.changes
        if changes.codes or changes.amounts or changes.links or changes.added or changes.imputed:
            raise SpecError("Records of one kind alone are left out or copied, and not changed.")

    @property
    def _own(self) -> OneKind:
        assert self.changes.one_kind is not None  # asked for by ``derived_records``
        return self.changes.one_kind

    @cached_property
    def schema(self) -> Schema:
        """What is left of the schema of the store."""
        return schema_of_one_kind(self.store.schema, self._own.entity, self._own.variables)

    @property
    def kinds(self) -> tuple[Entity, ...]:
        """The only kind."""
        return (self._own.entity,)

    @property
    def listed(self) -> TableList | None:
        """The tables for which the records were changed."""
        return self._own.listed

    @cached_property
    def gone(self) -> Mapping[Entity, Mask]:
        """Which records of the kind go; what becomes of other kinds is not told."""
        gone = np.ones(self.store.rows(self._own.entity), dtype=bool)
        gone[self._own.rows] = False
        return {self._own.entity: gone}

    @cached_property
    def order(self) -> Mapping[Entity, UInt32]:
        """The row that each record is a copy of."""
        return {self._own.entity: self._own.rows.astype(np.uint32)}

    @cached_property
    def in_place(self) -> Mapping[Entity, bool]:
        """Nowhere: records are written anew."""
        return {self._own.entity: False}

    def new_weights(self) -> Iterator[tuple[Variable, Integers, Integers]]:
        """None."""
        yield from ()

    def columns(self, entity: Entity) -> Iterator[str]:
        """Digests, keys and the variables that are kept."""
        yield from (DIGEST_COLUMN, KEY_COLUMN, *self._own.variables)

    def dtype(self, entity: Entity, name: str) -> np.dtype[Any]:
        """The type of a column: also where it was that of another kind."""
        if name in (DIGEST_COLUMN, KEY_COLUMN):
            return super().dtype(entity, name)
        return np.dtype(self._codes(name).dtype)

    def column(self, entity: Entity, name: str) -> Integers:
        """A variable in the old order."""
        return self._codes(name)

    def as_written(self, entity: Entity, name: str) -> Integers | None:
        """Digests and keys, which copies have of their own."""
        return {DIGEST_COLUMN: self._own.digests, KEY_COLUMN: self._own.keys}.get(name)

    def is_as_it_was(self, entity: Entity, name: str, values: Integers) -> bool:
        """Never."""
        return False

    def _codes(self, name: str) -> Integers:
        own = self._own.entity
        column = self.store.column(own, self.store.schema.variable(name))
        return column[0 : self.store.rows(own)]
