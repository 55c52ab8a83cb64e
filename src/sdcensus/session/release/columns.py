"""What a design tells of every record of a store, whether it is sampled or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.microdata.release.records import NO_HOLDER, FileRecords
from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.variable import CodeKind, Entity, smallest_width
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]


def told_codes(store: CensusStore, entity: Entity, variable: FileVariable) -> Integers:
    """The position of the code that a file tells, for every record of a kind of unit."""
    leaves = store.column(entity, variable.source)[slice(None)]
    groups = variable.level.group_array.astype(smallest_width(len(variable.level.codes)))
    told: Integers = groups[leaves]
    return told


def key_columns(store: CensusStore, design: FileDesign) -> tuple[KeyColumn, ...]:
    """The ladder of a design as the columns of all persons of the census."""
    return tuple(key_column(store, variable) for variable in design.ladder)


def key_column(
    store: CensusStore, variable: FileVariable, entity: Entity = Entity.PERSON
) -> KeyColumn:
    """One variable of a file as the column of all records of a kind of unit."""
    codes = variable.level.codes
    return KeyColumn.of(variable.name, told_codes(store, entity, variable), codes)


def shown_columns(records: FileRecords) -> tuple[KeyColumn, ...]:
    """The ladder as the columns of all persons, with what the file really tells of its own.

    What was blanked in a file is missing in it, whatever the census says.
    """
    return tuple(shown_column(records, variable) for variable in records.design.ladder)


def shown_column(
    records: FileRecords, variable: FileVariable, entity: Entity = Entity.PERSON
) -> KeyColumn:
    """One variable as the column of all records of a kind, with what the file tells of its own."""
    column = key_column(records.store, variable, entity)
    values = column.values
    rows = records.sample.rows[entity]
    for held in (each for each in records.design.variables if each.source is variable.source):
        values[rows] = _of_ladder(records, held, variable, entity, values[rows])
    return KeyColumn.of(variable.name, values, variable.level.codes)


def _of_ladder(
    records: FileRecords,
    held: FileVariable,
    variable: FileVariable,
    entity: Entity,
    values: Integers,
) -> Integers:
    """What the file tells, in the codes of the ladder, which may be coarser."""
    told = codes_of(records, held, entity)
    if held.level.codes == variable.level.codes and held.level.group == variable.level.group:
        return told.astype(values.dtype)
    coarser = np.full(len(held.level.codes), -1, dtype=np.int64)
    coarser[held.level.group_array] = variable.level.group_array
    missing = [code.kind is CodeKind.NOT_STATED for code in variable.level.codes]
    # A code of the file that no leaf has was made by blanking: it is missing in the ladder too.
    blank = np.flatnonzero(missing)
    known: Integers = coarser[told]
    return np.where(known >= 0, known, blank[0] if blank.size else values).astype(values.dtype)


def codes_of(records: FileRecords, variable: FileVariable, entity: Entity) -> Integers:
    """What a file tells of its records of a kind: their own, or of what holds them.

    Of an amount these are its classes: the exact number is measured on its own.
    """
    if variable.amounts:
        return _classes_of(records, variable, entity)
    codes = records.codes[variable.name]
    if variable.entity is entity:
        return codes
    holder = records.holders[entity, variable.entity]
    held = holder != NO_HOLDER
    inherited = told_codes(records.store, entity, variable)[records.sample.rows[entity]]
    inherited[held] = codes[holder[held]]
    return inherited


def _classes_of(records: FileRecords, variable: FileVariable, entity: Entity) -> Integers:
    classes = told_codes(records.store, entity, variable)[records.sample.rows[entity]]
    codes = variable.level.codes
    blank = next((at for at, code in enumerate(codes) if code.kind is CodeKind.NOT_STATED), None)
    if blank is None:
        return classes
    stated = np.array([not code.is_missing for code in codes], dtype=bool)
    blanked = (amounts_of(records, variable, entity) == NO_VALUE) & stated[classes]
    classes[blanked] = blank
    return classes


def amounts_of(records: FileRecords, variable: FileVariable, entity: Entity) -> Integers:
    """The numbers that a file tells of its records of a kind, own or of what holds them."""
    amounts = records.amounts[variable.name]
    if variable.entity is entity:
        return amounts
    holder = records.holders[entity, variable.entity]
    held = holder != NO_HOLDER
    inherited = np.full(holder.size, NO_VALUE, dtype=np.int64)
    inherited[held] = amounts[holder[held]]
    return inherited


def households_of(store: CensusStore) -> Integers | None:
    """The row of each person's household; ``None`` where the census has no households."""
    if not any(spec.entity is Entity.HOUSEHOLD for spec in store.schema.entities):
        return None
    return np.asarray(store.household_rows(Entity.PERSON)[slice(None)])
