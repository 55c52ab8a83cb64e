"""Writing a derived store: the records of another one, some changed, some gone.

Digests of identity and record keys are kept, so that every later draw stays a function of who a
record is about. Columns are written one after the other under a temporary name; a killed run goes
on with those that are whole, and ends with the same bytes.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError, StoreError
from sdcensus.kernels.cells.tabulate import NO_ROW, inherit
from sdcensus.kernels.records.ordering import gather, inverse, leads_outside, rows_by
from sdcensus.microdata.method import Changes, Mask, dropped_with_parents
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress
from sdcensus.model.published.provenance import Derivation
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.model.spec.listed_tables import TableList
from sdcensus.model.vocabulary import Measure
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import Manifest, imputed_column, link_column, value_column
from sdcensus.store.writer import StoreWriter

Integers = npt.NDArray[Any]
UInt32 = npt.NDArray[np.uint32]

#: Rows of a column that are put in order and written at a time: few enough that they are still in
#: the cache of the processor when their digest is taken.
_WRITE_ROWS = 1 << 17


@dataclass(frozen=True, eq=False, repr=False)
class DerivedRecords(Confidential):
    """The records of a derived store, as they will be written.

    Attributes:
        store: The store that they come from.
        changes: What the method changes in it.
    """

    store: CensusStore
    changes: Changes

    def __repr__(self) -> str:
        return "<DerivedRecords: confidential>"

    def __post_init__(self) -> None:
        schema = self.store.schema
        for further in self.changes.variables:
            if schema.variable(further.name).codes != further.codes:
                raise SpecError(f"The codes of {further.name!r} cannot be changed.")
        for name, column, new in self.changes.columns():
            variable = schema.variable(name)
            if not self.store.has(variable.entity, column):
                raise SpecError(f"The store has no column {column!r} that could be changed.")
            limit = len(variable.codes) if column == name else None
            if (
                limit is not None
                and new.values.size
                and not 0 <= new.values.min() <= (new.values.max()) < limit
            ):
                raise SpecError(f"A new code of {name!r} is not in its list.")

    @property
    def schema(self) -> Schema:
        """Their schema: that of the store, with the variables and levels that are added."""
        schema = self.store.schema
        if self.changes.variables:
            further = {variable.name: variable for variable in self.changes.variables}
            schema = replace(
                schema,
                variables=tuple(
                    further.get(variable.name, variable) for variable in schema.variables
                ),
            )
        if self.changes.weights_only:
            info = replace(schema.census, measure=Measure.WEIGHTED, weights_only=True)
            schema = replace(schema, census=info)
        added = tuple(variable for variable, _ in self.changes.added)
        return replace(schema, variables=(*schema.variables, *added)) if added else schema

    @property
    def kinds(self) -> tuple[Entity, ...]:
        """The kinds of units that the store will hold."""
        return tuple(self.store.manifest.rows)

    @property
    def listed(self) -> TableList | None:
        """The tables for which the records were changed; none after any other change."""
        return None

    @cached_property
    def gone(self) -> Mapping[Entity, Mask]:
        """For each kind of unit which records go."""
        return dropped_with_parents(self.store, self.changes)

    @cached_property
    def order(self) -> Mapping[Entity, UInt32]:
        """For each kind of unit the rows that stay, in their new order.

        As before, unless areas have changed: then by area, and below it in the order of what holds
        them, as a loaded store is.
        """
        geography = self.store.schema.geography
        orders: dict[Entity, UInt32] = {}
        for entity in self.store.schema.top_down:
            rows = None
            if geography is not None and self._moves:
                parents = [
                    parent
                    for parent in self.store.schema.parents(entity)
                    if parent in orders and self.store.has(entity, link_column(parent))
                ]
                if entity is geography.entity:
                    areas = self._changed(entity, geography.name)
                    rows = rows_by(areas, int(areas.max(initial=0)))
                elif parents:
                    places = self._places(orders[parents[0]], self.store.rows(parents[0]))
                    link = self._holders(entity, parents[0])
                    rows = rows_by(_followed(link, places), places.size)
            if rows is None:
                rows = np.arange(self.store.rows(entity), dtype=np.uint32)
            gone = self.gone[entity]
            orders[entity] = rows[~gone[rows]] if gone.any() else rows
        return orders

    @cached_property
    def in_place(self) -> Mapping[Entity, bool]:
        """For each kind of unit whether all of its records stay, where they are."""
        return {
            entity: rows.size == self.store.rows(entity) and bool((rows[1:] > rows[:-1]).all())
            for entity, rows in self.order.items()
        }

    def _holders(self, entity: Entity, parent: Entity) -> UInt32:
        """The row of what holds each record; a damaged link must not lead out of an array."""
        rows = self.changes.holders(self.store, entity, parent)
        if leads_outside(rows, self.store.rows(parent), int(NO_ROW)):
            raise StoreError(
                f"The links of {entity.plural} do not lead to the {parent.plural} that hold them."
                " The store is damaged: load the census again."
            )
        return rows

    @property
    def _moves(self) -> bool:
        """Whether records may lie in another area than before."""
        geography = self.store.schema.geography
        return bool(self.changes.links) or (
            geography is not None and geography.name in self.changes.codes
        )

    @staticmethod
    def _places(order: UInt32, size: int) -> UInt32:
        """For each old row the new one; none for records that go."""
        places = np.full(size, NO_ROW, dtype=np.uint32)
        inverse(order, places)
        return places

    def new_weights(self) -> Iterator[tuple[Variable, Integers, Integers]]:
        """Each weight that is added, in the old order: what units weighed without it, and by it."""
        for variable, after in self.changes.added:
            if variable.role is not Role.WEIGHT:
                continue
            inherited = self.store.schema.weight(variable.entity)
            if inherited is None:
                before = np.full(after.size, 10**variable.decimals, dtype=np.int64)
            else:
                before = self.store.values(variable.entity, inherited)[slice(0, after.size)]
            yield variable, before, after

    def columns(self, entity: Entity) -> Iterator[str]:
        """The names of the columns of a kind of unit."""
        yield from self.store.manifest.columns.get(entity, {})
        for variable, _ in self.changes.added:
            if variable.entity is entity:
                yield value_column(variable.name)

    def column(self, entity: Entity, name: str) -> Integers:
        """A column in the old order, with what has changed."""
        for variable, values in self.changes.added:
            if variable.entity is entity and value_column(variable.name) == name:
                return values.astype(np.int64)
        for parent in self.store.schema.parents(entity):
            if name == link_column(parent):
                if self.in_place[parent] and (entity, parent) not in self.changes.links:
                    return self.store.raw(entity, name)
                places = self._places(self.order[parent], self.store.rows(parent))
                return _followed(self._holders(entity, parent), places)
        geography = self.store.schema.geography
        if geography is not None and name == geography.name and entity is not geography.entity:
            return self._inherited_area(entity)
        return self._changed(entity, name)

    def as_written(self, entity: Entity, name: str) -> Integers | None:
        """A column as it will lie on disk, where it is not ``column`` in the new order."""
        return None

    def dtype(self, entity: Entity, name: str) -> np.dtype[Any]:
        """The type that a column has on disk: that of the store, or fixed-point values."""
        known = self.store.manifest.columns[entity].get(name)
        return np.dtype(known.type if known is not None else np.int64)

    def is_as_it_was(self, entity: Entity, name: str, values: Integers) -> bool:
        """Whether a column is that of the store, in its order, and lies there in a file."""
        return self.in_place[entity] and self.store.is_file(entity, name, values)

    def _changed(self, entity: Entity, name: str) -> Integers:
        values = self.store.raw(entity, name)
        for _, column, new in self.changes.columns():
            if column == name:
                values = values.copy()
                values[new.rows] = new.values
        for variable, rows in self.changes.imputed.items():
            if imputed_column(variable) == name:
                values = values.copy()
                values[rows] = 1
        return values

    def _inherited_area(self, entity: Entity) -> Integers:
        """Records have the area of what holds them; the store keeps it with each."""
        geography = self.store.schema.geography
        assert geography is not None
        own = self.store.raw(entity, geography.name)
        if not self._moves:
            return own
        path = self.store.schema.path(entity, geography.entity)
        if not path:
            return own
        rows = self._holders(entity, path[0])
        for child, parent in itertools.pairwise(path):
            rows = _followed(rows, self._holders(child, parent))
        above = self._changed(geography.entity, geography.name)
        area = np.empty_like(own)
        inherit(rows, above, 0, area)
        held = rows != NO_ROW
        return area if held.all() else np.where(held, area, own)


def write_derived(
    derived: DerivedRecords, writer: StoreWriter, derivation: Derivation, progress: Progress
) -> Manifest:
    """Write the records of a derived store, which ``edit_rules`` has looked at before."""
    store = derived.store
    schema = derived.schema
    known = {variable.name for variable in schema.variables}
    for variable in store.manifest.maps:
        content = store.map(variable)
        if content is not None and variable in known:
            writer.write_map(variable, content)
    work = [(entity, name) for entity in derived.kinds for name in derived.columns(entity)]
    for entity in derived.kinds:
        writer.add_entity(entity, int(derived.order[entity].size))
    write_columns(derived, writer, work, progress)
    return writer.describe(
        schema,
        secret_id=store.manifest.secret_id,
        on_problem=store.manifest.on_problem,
        lineage=(*store.manifest.lineage, derivation),
        listed=derived.listed,
    )


def write_columns(
    derived: DerivedRecords,
    writer: StoreWriter,
    columns: Sequence[tuple[Entity, str]],
    progress: Progress,
) -> None:
    """Write columns of a derived store, but those that are written already.

    Two at a time, as each waits for the disk now and then. What is as it was is copied, and keeps
    the digest that it has: a column that was damaged since does not get a digest that fits.
    """
    done = 0

    def write(item: tuple[Entity, str]) -> None:
        nonlocal done
        entity, name = item
        known = derived.store.manifest.columns[entity].get(name)
        dtype = derived.dtype(entity, name)
        if not writer.has_written(entity, name, dtype):
            whole = derived.as_written(entity, name)
            values = derived.column(entity, name) if whole is None else whole
            order = derived.order[entity]
            if whole is not None:
                order = np.arange(whole.size, dtype=np.uint32)
            if known is not None and derived.is_as_it_was(entity, name, values):
                writer.copy(entity, name, derived.store.path, known)
            else:
                writer.write(entity, name, ordered_pieces(values.astype(dtype, copy=False), order))
        done += 1
        progress("writing columns", done / len(columns))

    _ = derived.in_place  # made once, before two threads ask for them
    with ThreadPoolExecutor(2) as threads:
        list(threads.map(write, columns))


def _followed(link: Integers, places: UInt32) -> UInt32:
    """Where links lead, step by step; nowhere stays nowhere."""
    reached = np.empty(link.size, dtype=np.uint32)
    inherit(link, places, int(NO_ROW), reached)
    return reached


def ordered_pieces(values: Integers, order: UInt32) -> Iterator[Integers]:
    """A column in its new order, piece by piece; each is written before the next is made."""
    buffer = np.empty(min(order.size, _WRITE_ROWS), dtype=values.dtype)
    for start in range(0, max(order.size, 1), _WRITE_ROWS):
        rows = order[start : start + _WRITE_ROWS]
        gather(values, rows, buffer)
        yield buffer[: rows.size]
