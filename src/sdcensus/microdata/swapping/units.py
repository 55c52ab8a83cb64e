"""The units that exchange something, and what is known of them.

Units are numbered in the order of their digests. Whatever is computed in that order does not
depend on the order of the records in the store, and equal draws are told apart by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.sparse import sort_cells
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.microdata.swapping.levels import the_geography
from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import imputed_column, link_column

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Mask = npt.NDArray[np.bool_]

#: What stands for "in no unit".
NO_UNIT = -1
_ROWS = 1 << 20


class Exclusion(StrEnum):
    """Why a unit stays where it is whatever is drawn."""

    NO_AREA = "no-area"
    IMPUTED = "imputed"
    BREAKS_RULE = "breaks-rule"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class UnitTable(Confidential):
    """Units of one kind in the order of their digests.

    Attributes:
        store: Where they come from.
        entity: Their kind.
        rows: The row of each in the store.
        digests: Their digests, ascending.
        leaf: The leaf of the main geography in which each lies; 0 for those in no area.
        placed: Which of them lie in an area; all of them in a census without a geography.
        movable: Which of them may exchange something.
        excluded: How many may not, by reason; a unit with two reasons counts for the first.
        outside: How many persons live in no such unit, and stay where they are.
    """

    store: CensusStore
    entity: Entity
    rows: Int64
    digests: UInt64
    leaf: Int64
    placed: Mask
    movable: Mask
    excluded: Mapping[Exclusion, int]
    outside: int

    def __repr__(self) -> str:
        return f"<UnitTable of {self.entity.plural}: confidential>"

    def __len__(self) -> int:
        return int(self.rows.size)

    @property
    def settled(self) -> int:
        """How many of them lie in an area: the base of rates."""
        return int(self.placed.sum())

    def unused_name(self, name: str) -> str:
        """A name for what a method brings, that no variable of the census has."""
        known = {variable.name for variable in self.store.schema.variables}
        while name in known:
            name += "_"
        return name

    def codes(self, variable: Variable) -> Integers:
        """The leaf of a variable for each unit: their own, or inherited from what holds them."""
        return _whole(self.store, self.entity, variable)[self.rows]

    def number_of(self, entity: Entity) -> Int64:
        """For each record of a kind, in the order of the store, the number of its unit.

        ``NO_UNIT`` for records that lie in none.
        """
        numbers = np.empty(self.rows.size + 1, dtype=np.int64)
        numbers[self.rows] = np.arange(self.rows.size)
        numbers[-1] = NO_UNIT
        if entity is self.entity:
            return numbers[:-1]
        rows = unit_rows(self.store, entity, self.entity)
        return numbers[np.where(rows == NO_ROW, self.rows.size, rows)]

    def sizes(self, entity: Entity = Entity.PERSON) -> Int64:
        """How many records of a kind each unit holds."""
        number = self.number_of(entity)
        return np.bincount(number[number != NO_UNIT], minlength=len(self)).astype(np.int64)


def moving_kind(schema: Schema, of: str = "") -> Entity:
    """The kind of unit that moves when places are exchanged.

    Households where there are any, whether they hold the geography, or their members do, or the
    dwellings and buildings in which they live; else what holds it, with everything in it.

    Args:
        schema: The schema.
        of: The kind that the office names, such as dwellings; empty for none.

    Raises:
        SpecError: Units of the named kind have no place that they could exchange whole.
    """
    holder = the_geography(schema).entity
    known = {spec.entity for spec in schema.entities}
    if not of:
        placed = Entity.HOUSEHOLD in known and _is_placed(schema, Entity.HOUSEHOLD, holder)
        return Entity.HOUSEHOLD if placed else holder
    kind = Entity.parse(of)
    schema.entity(kind)
    usual = moving_kind(schema)
    if schema.path(kind, usual):
        raise SpecError(
            f"{kind.plural.capitalize()} would leave the {usual.plural} in which they live. Units"
            f" exchange places whole: take {usual.plural}, or what holds them."
        )
    if not _is_placed(schema, kind, holder):
        raise SpecError(f"{kind.plural.capitalize()} have no place that they could exchange.")
    return kind


def _is_placed(schema: Schema, kind: Entity, holder: Entity) -> bool:
    """Whether units of a kind hold what has the geography, or lie in it."""
    return schema.path(holder, kind) is not None or schema.path(kind, holder) is not None


def place_holder(schema: Schema, kind: Entity) -> Entity | None:
    """The kind of unit that units of a kind exchange with their place.

    ``None`` for units that have an area of their own, or whose members have it.
    """
    path = schema.path(kind, the_geography(schema).entity)
    return path[0] if path else None


def kinds_within(schema: Schema, entity: Entity) -> tuple[Entity, ...]:
    """The kinds of units that lie inside such a unit, largest first."""
    return tuple(kind for kind in schema.top_down if schema.path(kind, entity))


def unit_table(
    store: CensusStore,
    entity: Entity | None = None,
    *,
    of: str = "",
    leave_out_imputed: bool = False,
) -> UnitTable:
    """The units of a store that exchange something.

    Args:
        store: The store.
        entity: Their kind, for an exchange of what describes them; ``None`` for units that move.
        of: The kind that moves, as the office names it; else households.
        leave_out_imputed: Whether units stay as they are in which a value was imputed.

    Raises:
        SpecError: The store has none of them, or they lie in several areas at once.
    """
    kind = moving_kind(store.schema, of) if entity is None else entity
    store.schema.entity(kind)
    if not store.rows(kind):
        raise SpecError(f"The store has no {kind.plural}, so there is nobody to exchange places.")
    digests, rows = _by_digest(store.digests(kind))
    nobody = np.zeros(rows.size, dtype=bool)
    unplaced = UnitTable(store, kind, rows, digests, rows, nobody, nobody, {}, 0)
    leaf, placed = _leaves(unplaced)
    if entity is None:
        placed = placed & _held(unplaced)
    movable = placed
    excluded = {Exclusion.NO_AREA: int((~placed).sum())}
    if leave_out_imputed:
        imputed = _imputed(unplaced)
        movable = placed & ~imputed
        excluded[Exclusion.IMPUTED] = int((imputed & placed).sum())
    return replace(
        unplaced,
        leaf=leaf,
        placed=placed,
        movable=movable,
        excluded={reason: count for reason, count in excluded.items() if count},
        outside=_persons_outside(unplaced),
    )


def unit_rows(store: CensusStore, entity: Entity, above: Entity) -> Integers:
    """The row of the unit in which each record of a kind lies; ``NO_ROW`` for none."""
    path = store.schema.path(entity, above)
    if path is None:
        raise SpecError(f"{entity.plural.capitalize()} do not lie in {above.plural}.")
    rows = np.arange(store.rows(entity), dtype=np.uint32)
    child = entity
    for parent in path:
        link = store.raw(child, link_column(parent))
        following = np.full(rows.size, NO_ROW, dtype=np.uint32)
        held = rows != NO_ROW
        following[held] = link[rows[held]]
        rows, child = following, parent
    return rows


def common_codes(units: UnitTable, entity: Entity, codes: Integers) -> tuple[Integers, Mask, Mask]:
    """What the records of a kind inside each unit have in common.

    Args:
        units: The units.
        entity: A kind that lies inside them.
        codes: A value for each record of that kind.

    Returns:
        For each unit the value of its records, which units have such a record, and which have
        records with different values.
    """
    number = units.number_of(entity)
    held = np.flatnonzero(number != NO_UNIT)
    owner, own = number[held], codes[held]
    common = np.zeros(len(units), dtype=codes.dtype)
    common[owner] = own
    present = np.zeros(len(units), dtype=bool)
    present[owner] = True
    mixed = np.zeros(len(units), dtype=bool)
    mixed[owner[own != common[owner]]] = True
    return common, present, mixed


def _by_digest(digests: Integers) -> tuple[UInt64, Int64]:
    ordered, rows = sort_cells(np.asarray(digests, dtype=np.uint64), largest=(1 << 64) - 1)
    return ordered, rows.astype(np.int64)


def _whole(store: CensusStore, entity: Entity, variable: Variable) -> Integers:
    """A column for all records of a kind."""
    column = store.column(entity, variable)
    whole = column.whole
    return column[slice(0, store.rows(entity))] if whole is None else whole


def _leaves(units: UnitTable) -> tuple[Int64, Mask]:
    """The leaf of each unit, and which units have one that is an area."""
    store = units.store
    geography = store.schema.geography
    if geography is None:  # attributes can be exchanged in a census without places
        return np.zeros(len(units), dtype=np.int64), np.ones(len(units), dtype=bool)
    if store.schema.path(units.entity, geography.entity) is not None:
        leaf = units.codes(geography)
        present = np.ones(len(units), dtype=bool)
    else:
        own = _whole(store, geography.entity, geography)
        leaf, present, mixed = common_codes(units, geography.entity, own)
        if mixed.any():
            raise SpecError(
                f"{int(mixed.sum()):,} {units.entity.plural} have {geography.entity.plural} in"
                f" different areas of {geography.name!r}, so they have no place that they could"
                f" exchange. Make {geography.name!r} a variable of {units.entity.plural} in the"
                f" schema, or correct the records, and load again."
            )
    area = np.array([not code.is_missing for code in geography.codes], dtype=bool)
    settled = present & area[leaf]
    return np.where(settled, leaf, 0).astype(np.int64), settled


def _held(units: UnitTable) -> Mask:
    """Which units have a place to give: an area of their own, or something that holds them."""
    holder = place_holder(units.store.schema, units.entity)
    if holder is None:
        return np.ones(len(units), dtype=bool)
    return np.asarray(units.store.raw(units.entity, link_column(holder))[units.rows] != NO_ROW)


def _imputed(units: UnitTable) -> Mask:
    """Which units have an imputed value, their own or of a record that they hold."""
    imputed = np.zeros(len(units), dtype=bool)
    for entity, flags in _flags(units.store, [units.entity, *_inside(units)]):
        number = units.number_of(entity)
        for start in range(0, flags.size, _ROWS):
            part = slice(start, start + _ROWS)
            marked = number[part][flags[part] != 0]
            imputed[marked[marked != NO_UNIT]] = True
    return imputed


def _inside(units: UnitTable) -> tuple[Entity, ...]:
    return kinds_within(units.store.schema, units.entity)


def _flags(store: CensusStore, kinds: Iterable[Entity]) -> Iterator[tuple[Entity, Integers]]:
    for entity in kinds:
        for variable in store.schema.variables:
            if variable.entity is entity and store.has(entity, imputed_column(variable.name)):
                yield entity, store.raw(entity, imputed_column(variable.name))


def _persons_outside(units: UnitTable) -> int:
    if Entity.PERSON not in _inside(units):
        return 0
    return int((units.number_of(Entity.PERSON) == NO_UNIT).sum())
