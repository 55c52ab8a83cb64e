"""Of whom units consist: how many women and men of each age group, and how rare their members are.

Members are told apart by person variables: ``sex``, a level such as ``age@broad``, or groups that
begin at numbers: ``age:15:65`` is under 15, 15 to 64, and 65 and over.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError, UnknownName
from sdcensus.kernels.cells.sparse import sort_cells
from sdcensus.kernels.uniques.numbering import combined
from sdcensus.microdata.swapping.units import NO_UNIT, UnitTable
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.universe import universe_of
from sdcensus.store.census_store import CensusStore

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

_ITEM = re.compile(
    r"\s*(?P<name>[^\W]\w*)\s*(?:@\s*(?P<level>\w+)\s*|(?P<cuts>(?:\s*:\s*\d{1,9})+)\s*)?",
    re.UNICODE,
)


def groups_of(schema: Schema, item: str) -> tuple[Variable, Int64]:
    """A variable, and for each of its leaves the number of its group.

    Codes for no value are groups of their own.

    Raises:
        SpecError: It cannot be read, or a number cuts through a code.
    """
    match = _ITEM.fullmatch(item)
    if match is None:
        raise SpecError(
            f"{item.strip()!r} cannot be read. Write a variable, one of its levels, or the numbers"
            " at which groups begin: sex, age@broad, age:15:65."
        )
    variable = schema.variable(match["name"])
    if not variable.is_axis:
        raise SpecError(
            f"{variable.name!r} has no codes by which records could be told apart. Give it levels"
            " (ranges) in the schema and load again, or leave it out."
        )
    if match["cuts"] is None:
        return variable, variable.level(match["level"]).group_array
    cuts = sorted({int(cut) for cut in match["cuts"].split(":") if cut.strip()})
    groups = np.zeros(len(variable.codes), dtype=np.int64)
    for cut in cuts:
        below = universe_of(f"{variable.name} < {cut}", schema)
        inside = below.truth[below.classes[0]] if below.variables else below.truth
        groups += ~np.broadcast_to(inside, groups.shape)
    for at, code in enumerate(variable.codes):
        if code.is_missing:
            groups[at] = len(cuts) + 1 + at
    return variable, groups


def columns_of(store: CensusStore, entity: Entity, items: Sequence[str]) -> list[Int64]:
    """The groups of the records of a kind, for each of several variables.

    Raises:
        SpecError: A variable does not exist, or is none of such records.
    """
    schema = store.schema
    columns = []
    for item in items:
        variable, groups = groups_of(schema, item)
        if variable.entity not in schema.lineage(entity):
            raise SpecError(
                f"{variable.name!r} describes {variable.entity.plural}, of which {entity.plural}"
                f" may have several. Name variables of {entity.plural}."
            )
        leaves = store.column(entity, variable)[slice(0, store.rows(entity))]
        columns.append(groups[leaves])
    return columns


def compositions(units: UnitTable, items: Sequence[str]) -> Int64:
    """A number for each unit, equal for units with as many members of each kind.

    So equal numbers also mean equal numbers of members.
    """
    schema, store = units.store.schema, units.store
    known = {spec.entity for spec in schema.entities}
    if Entity.PERSON not in known:
        raise SpecError("The census has no persons by whom households could be alike.")
    try:
        kinds, count = combined(columns_of(store, Entity.PERSON, items), store.rows(Entity.PERSON))
    except UnknownName as error:
        raise SpecError(
            f"{error} Members are told apart by variables of persons: --members sex,age:15:65."
        ) from None
    return _contents(units.number_of(Entity.PERSON), kinds, count, len(units))


def _contents(number: Int64, kinds: Int64, count: int, units: int) -> Int64:
    """A number for each unit, equal for units that hold the same kinds equally often.

    Members are sorted by kind within their unit. Units are told apart by the kind of their first
    member, then those with a second one by its kind, and so on, and last by how many they hold.
    """
    held = np.flatnonzero(number != NO_UNIT)
    keys = (number[held] * count + kinds[held]).astype(np.uint64)
    ordered = sort_cells(keys, largest=units * count)[0].astype(np.int64)
    size = np.bincount(number[held], minlength=units).astype(np.int64)
    starts = np.cumsum(size) - size
    state = np.zeros(units, dtype=np.int64)
    larger = np.arange(units)
    for rank in range(int(size.max(initial=0))):
        larger = larger[size[larger] > rank]
        kind = ordered[starts[larger] + rank] % count
        state[larger] = combined([state[larger], kind], larger.size)[0]
    return combined([size, state], units)[0]


def combination_counts(store: CensusStore, entity: Entity, items: Sequence[str]) -> Int64:
    """For each record of a kind, in the order of the store, how many have its combination."""
    number, count = combined(columns_of(store, entity, items), store.rows(entity))
    return np.bincount(number, minlength=count)[number].astype(np.int64)
