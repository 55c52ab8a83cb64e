"""What a design tells of every record of a store, whether it is sampled or not."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.model.release.file_variable import FileDesign, FileVariable
from sdcensus.model.schema.variable import Entity, smallest_width
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


def households_of(store: CensusStore) -> Integers | None:
    """The row of each person's household; ``None`` where the census has no households."""
    if not any(spec.entity is Entity.HOUSEHOLD for spec in store.schema.entities):
        return None
    return np.asarray(store.household_rows(Entity.PERSON)[slice(None)])
