"""A researcher's part of a design: some of its variables, some of its records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Refused, SpecError, unknown
from sdcensus.microdata.method import FactTable
from sdcensus.microdata.release.give_aways import GIVE_AWAYS, of_variables
from sdcensus.microdata.release.records import NO_HOLDER, FileRecords, Sample
from sdcensus.model.release.file_variable import FileVariable, RemovalReason, RemovedVariable
from sdcensus.model.release.plan import Extract, ReleasePlan
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.universe import Universe, universe_of
from sdcensus.session.release.columns import codes_of
from sdcensus.session.release.designed import DesignedRecords
from sdcensus.session.release.opened import OpenRelease

Mask = npt.NDArray[np.bool_]
Integers = npt.NDArray[Any]

#: The class of a code that no category of the census becomes: it was made by blanking.
_NO_CLASS = -1


def extracted(told: DesignedRecords, plan: ReleasePlan, name: str) -> DesignedRecords:
    """The part of a design that a researcher asked for; the design itself without a name.

    Who is in it follows from what the file tells, not from what the census knows: a condition on
    anything else would tell it of everybody in the extract. Households stay whole: a household is
    in the extract if one of its members is.

    Raises:
        SpecError: There is no extract of that name, or it names what the design does not tell.
        Refused: Nobody would be in it.
    """
    if not name:
        return told
    extract = extract_of(plan, name)
    universe = universe_of(extract.where, told.store.schema)
    persons = _inside(told.records, extract, universe)
    if not persons.any():
        raise Refused(f"Nobody is in the extract {extract.name!r}: {extract.where}.")
    before, records = (
        _of_persons(_of_variables(each, extract, universe), persons)
        for each in (told.before, told.records)
    )
    return DesignedRecords(told.store, before, records, told.ungrouped)


def of_extract(opened: OpenRelease, name: str) -> OpenRelease:
    """A release whose files are those of an extract: with its name, and flags of what it holds.

    Names decide the order of records and where the office keeps what was done: an extract has its
    own, so that it cannot be laid beside another one, and takes nobody's place.

    Raises:
        SpecError: The plan has no extract of that name.
    """
    if not name:
        return opened
    plan, extract = opened.plan, extract_of(opened.plan, name)
    making, kept = plan.making, extract.variables
    if kept:
        flags = tuple(flag for flag in making.imputation_flags if flag in kept)
        first = making.members_by if making.members_by in kept else ""
        making = replace(making, imputation_flags=flags, members_by=first)
    return replace(opened, plan=replace(plan, name=f"{plan.name}-{name}", making=making))


def extract_of(plan: ReleasePlan, name: str) -> Extract:
    """An extract by its name.

    Raises:
        SpecError: The plan has none of that name.
    """
    for extract in plan.extracts:
        if extract.name == name:
            return extract
    raise SpecError(unknown("extract", name, [extract.name for extract in plan.extracts]))


def _of_variables(records: FileRecords, extract: Extract, universe: Universe) -> FileRecords:
    design = records.design
    names = [variable.name for variable in design.variables]
    for name in extract.variables:
        if name not in names:
            raise SpecError(
                f"The extract {extract.name!r}: {unknown('variable of the file', name, names)}"
            )
    wanted = set(extract.variables or names)
    kept = tuple(variable for variable in design.variables if variable.name in wanted)
    # What the condition is about is known of those who are in, whether the extract tells it or not.
    sources = {variable.source.name for variable in kept}
    sources |= {variable.name for variable in universe.variables}
    told = {variable.source.name for variable in kept}
    gone = {
        variable.source.name: RemovedVariable(variable.source, RemovalReason.DESIGN)
        for variable in design.variables
        if variable.source.name not in told
    }
    return replace(
        records,
        design=replace(
            design,
            variables=kept,
            removed=(*design.removed, *gone.values()),
            ladder=tuple(key for key in design.ladder if key.source.name in sources),
            extract=extract.name,
            population=extract.where,
        ),
        codes={name: codes for name, codes in records.codes.items() if name in wanted},
        amounts={name: amounts for name, amounts in records.amounts.items() if name in wanted},
        facts=tuple(_facts(records, wanted)),
    )


def _facts(records: FileRecords, wanted: set[str]) -> Iterator[FactTable]:
    """What treatments tell, and what the variables of the extract give away."""
    for facts in records.facts:
        kept = of_variables(facts, wanted) if facts.name == GIVE_AWAYS else facts
        if kept is not None:
            yield kept


def _inside(records: FileRecords, extract: Extract, universe: Universe) -> Mask:
    """For which persons of a file a condition holds, by what the file tells of them."""
    size = records.sample.rows[Entity.PERSON].size
    known = np.ones(size, dtype=bool)
    places: list[Integers] = []
    for variable, classes in zip(universe.variables, universe.classes, strict=True):
        held = _finest(records, variable.name)
        if held is None:
            raise SpecError(
                f"The condition of the extract {extract.name!r} is about {variable.name!r}, which"
                " the file does not tell: it would be known of everybody in the extract. Use"
                " variables of the file, or let the design keep it."
            )
        class_of = np.full(len(held.level.codes), _NO_CLASS, dtype=np.int64)
        class_of[held.level.group_array] = classes
        if not np.array_equal(class_of[held.level.group_array], classes):
            raise SpecError(
                f"The condition of the extract {extract.name!r} asks more of {variable.name!r} than"
                f" the file tells, in the column {held.name!r}: a category of the file holds some"
                " who are in and some who are not. Put its limits where those of the categories"
                " are."
            )
        own = class_of[codes_of(records, held, Entity.PERSON)]
        known &= own != _NO_CLASS
        places.append(np.where(own == _NO_CLASS, 0, own))
    inside: Mask = np.broadcast_to(universe.truth[tuple(places)], (size,)) & known
    return inside


def _finest(records: FileRecords, name: str) -> FileVariable | None:
    """The column that tells most of a variable of the census."""
    held = [
        variable
        for variable in records.design.variables
        if variable.source.name == name and not variable.amounts
    ]
    return max(held, key=lambda variable: len(variable.level.codes), default=None)


def _of_persons(records: FileRecords, persons: Mask) -> FileRecords:
    """The records of some persons, with the rest of their households."""
    if persons.all():
        return records
    sample = records.sample
    keep = {Entity.PERSON: persons}
    holders = dict(records.holders)
    if Entity.HOUSEHOLD in sample.rows:
        holder = records.holders[Entity.PERSON, Entity.HOUSEHOLD]
        held = holder != NO_HOLDER
        households = np.zeros(sample.rows[Entity.HOUSEHOLD].size, dtype=bool)
        households[holder[persons & held]] = True
        if households.size:
            persons = persons | (held & households[np.where(held, holder, 0)])
        keep = {Entity.HOUSEHOLD: households, Entity.PERSON: persons}
        place = np.append(np.cumsum(households) - 1, NO_HOLDER)
        # NO_HOLDER is -1: the last place of the list, which is NO_HOLDER again.
        holders[Entity.PERSON, Entity.HOUSEHOLD] = place[holder[persons]]
    entities = {variable.name: variable.entity for variable in records.design.variables}
    return replace(
        records,
        sample=Sample(
            rows={entity: rows[keep[entity]] for entity, rows in sample.rows.items()},
            weights={entity: weight[keep[entity]] for entity, weight in sample.weights.items()},
            facts=sample.facts,
            notes=sample.notes,
        ),
        codes={name: codes[keep[entities[name]]] for name, codes in records.codes.items()},
        amounts={name: codes[keep[entities[name]]] for name, codes in records.amounts.items()},
        holders=holders,
    )
