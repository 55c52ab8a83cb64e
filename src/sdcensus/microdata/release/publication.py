"""A file as its readers get it: new numbers, a new order, and nothing of the order before.

A sample stands in the order of the store, which is that of areas: its order and its numbers would
give areas back. Here households get an order that the secret decides, for each copy of the file
another one, and numbers from 1 on without gaps. Members of a household stand in an order that is
drawn as well, unless the office names a variable of the file whose codes they follow. Code lists
are those of the schema, in its order, whatever occurs in the sample.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.microdata.method import Draws
from sdcensus.microdata.release.file_columns import (
    FreeNames,
    number_columns,
    variable_column,
    weight_column,
)
from sdcensus.microdata.release.flags import flag_columns
from sdcensus.microdata.release.records import NO_HOLDER, FileRecords
from sdcensus.microdata.release.sample import release_counter
from sdcensus.microdata.release.words import (
    census_texts,
    citation,
    languages_of,
    public_notes,
    removed_words,
    sampling_words,
)
from sdcensus.microdata.systematic import order_by_area
from sdcensus.model.confidential import Confidential
from sdcensus.model.release.file_variable import FileVariable
from sdcensus.model.release.plan import ReleasePlan
from sdcensus.model.release.release_file import ReleaseColumn, ReleaseFile, ReleaseTable
from sdcensus.model.schema.variable import Entity

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]

#: Draws for the order of units, and for that of members.
_UNITS, _ALONE, _MEMBERS = 0, 1, 2
#: What a file is called in draws and on disk before it has a holder.
_SEPARATOR = "\N{INFORMATION SEPARATOR ONE}"
VERSION = "1"


def published(records: FileRecords, plan: ReleasePlan, draws: Draws, copy: str = "") -> ReleaseFile:
    """The file that readers get.

    Args:
        records: What the file tells, after all treatments.
        plan: Title and the like, which imputation flags, in which order members stand.
        draws: Random numbers for copies.
        copy: Whose copy it is: each has an order of records of its own.

    Raises:
        SpecError: The plan names variables that the file does not have, or flags that are not
            there or would tell which values were changed.
    """
    schema = records.store.schema
    counter = release_counter(f"{plan.name}{_SEPARATOR}{copy}")
    orders = _orders(records, plan, draws, counter)
    names = FreeNames(records.design.variables)
    tables = tuple(
        ReleaseTable(entity=entity, columns=_columns(records, plan, entity, orders, names))
        for entity in (Entity.HOUSEHOLD, Entity.PERSON)
        if entity in records.sample.rows
    )
    census, country = census_texts(schema)
    title = plan.title or census
    return ReleaseFile(
        name=plan.name,
        title=title,
        tables=tables,
        licence=plan.licence,
        whole=records.design.design.fraction == 1,
        languages=languages_of(plan, schema),
        census=census,
        country=country,
        reference_date=schema.census.reference_date,
        abstract=plan.abstract,
        producer=plan.producer,
        contact=plan.contact,
        sampling=sampling_words(records.design),
        notes=public_notes(records, plan),
        removed=removed_words(records.design),
        citation=citation(plan.producer or country, title, census, VERSION),
        version=VERSION,
        data_version=records.store.manifest.data_version,
    )


class _Orders(Confidential):
    """Where each record of the sample goes.

    Attributes:
        rows: The places in the sample, in their new order, by kind of unit.
        numbers: The number of each unit in the new order, by kind.
        households: The number of each person's household in the new order; 0 for none.
    """

    __slots__ = ("households", "numbers", "rows")

    def __init__(self) -> None:
        self.rows: dict[Entity, Int64] = {}
        self.numbers: dict[Entity, Int64] = {}
        self.households: Int64 | None = None

    def __repr__(self) -> str:
        return "<_Orders: confidential>"


def _orders(records: FileRecords, plan: ReleasePlan, draws: Draws, counter: int) -> _Orders:
    orders = _Orders()
    unit, sample = records.design.unit, records.sample
    digests = records.store.digests(unit)[sample.rows[unit]]
    words = draws.words(digests, counter, _UNITS)
    order = order_by_area(np.zeros(digests.size, np.int64), words, digests).astype(np.int64)
    orders.rows[unit] = order
    orders.numbers[unit] = np.arange(1, order.size + 1)
    if unit is Entity.PERSON or Entity.PERSON not in sample.rows:
        return orders
    holder = records.holders[Entity.PERSON, unit]
    number = np.zeros(order.size + 1, dtype=np.int64)
    number[order] = orders.numbers[unit]
    own = records.store.digests(Entity.PERSON)[sample.rows[Entity.PERSON]]
    alone = holder == NO_HOLDER
    # Persons without household stand among the households, at a place of their own.
    word = np.append(words, np.uint64(0))[holder]
    word[alone] = draws.words(own[alone], counter, _ALONE)
    unit_digest = np.append(digests, np.uint64(0))[holder]
    unit_digest[alone] = own[alone]
    member_word = draws.words(own, counter, _MEMBERS)
    first = _members_by(records, plan)
    persons = np.lexsort((own, member_word, first, alone, unit_digest, word))
    households = number[holder][persons]
    orders.rows[Entity.PERSON] = persons
    orders.households = households
    orders.numbers[Entity.PERSON] = _numbers_within(households)
    return orders


def _members_by(records: FileRecords, plan: ReleasePlan) -> Integers:
    name = plan.making.members_by
    size = records.sample.rows[Entity.PERSON].size
    if not name:
        return np.zeros(size, dtype=np.uint8)
    known = [each.name for each in records.design.of(Entity.PERSON) if not each.amounts]
    if name not in known:
        raise SpecError(
            f"[make] members_by names {name!r}, which is no variable of persons with codes in this"
            f" file. Name one of {', '.join(known)}, or leave it out for an order that is drawn."
        )
    return records.codes[name]


def _numbers_within(households: Int64) -> Int64:
    """Numbers from 1 on within each household; those of no household are numbered together."""
    alone = households == 0
    numbers = np.empty(households.size, dtype=np.int64)
    numbers[alone] = np.arange(1, np.count_nonzero(alone) + 1)
    held = households[~alone]
    starts = np.flatnonzero(np.append(True, held[1:] != held[:-1])) if held.size else held
    sizes = np.diff(np.append(starts, held.size))
    numbers[~alone] = np.arange(held.size) - np.repeat(starts, sizes) + 1
    return numbers


def _columns(
    records: FileRecords,
    plan: ReleasePlan,
    entity: Entity,
    orders: _Orders,
    names: Callable[[str], str],
) -> tuple[ReleaseColumn, ...]:
    order = orders.rows[entity]
    columns = number_columns(entity, orders.numbers[entity], orders.households, names)
    columns += [_told(records, variable, order) for variable in records.design.of(entity)]
    columns += flag_columns(records, plan, entity, order, names)
    columns.append(weight_column(records.sample.weights[entity][order], names))
    return tuple(columns)


def _told(records: FileRecords, variable: FileVariable, order: Int64) -> ReleaseColumn:
    values = records.amounts if variable.amounts else records.codes
    return variable_column(variable, values[variable.name][order])
