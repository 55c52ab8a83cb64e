"""A researcher's part of a design: some of its variables, some of its records."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from sdcensus.errors import Refused, SpecError, unknown
from sdcensus.microdata.method import FactTable
from sdcensus.microdata.release.give_aways import GIVE_AWAYS, of_variables
from sdcensus.microdata.release.records import NO_HOLDER, FileRecords, Sample
from sdcensus.model.release.file_variable import RemovalReason, RemovedVariable
from sdcensus.model.release.plan import Extract, ReleasePlan
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.universe import universe_of
from sdcensus.session.release.designed import DesignedRecords
from sdcensus.store.census_store import all_rows_of


def extracted(told: DesignedRecords, plan: ReleasePlan, name: str) -> DesignedRecords:
    """The part of a design that a researcher asked for; the design itself without a name.

    Households stay whole: a household is in the extract if one of its members is.

    Raises:
        SpecError: There is no extract of that name, or it names what the design does not tell.
        Refused: Nobody would be in it.
    """
    if not name:
        return told
    extract = _named(plan, name)
    before, records = (_part(each, extract) for each in (told.before, told.records))
    return DesignedRecords(told.store, before, records)


def _named(plan: ReleasePlan, name: str) -> Extract:
    for extract in plan.extracts:
        if extract.name == name:
            return extract
    raise SpecError(unknown("extract", name, [extract.name for extract in plan.extracts]))


def _part(records: FileRecords, extract: Extract) -> FileRecords:
    design = records.design
    names = [variable.name for variable in design.variables]
    for name in extract.variables:
        if name not in names:
            raise SpecError(unknown("variable of the file", name, names))
    wanted = set(extract.variables or names)
    kept = tuple(variable for variable in design.variables if variable.name in wanted)
    sources = {variable.source.name for variable in kept}
    gone = tuple(
        RemovedVariable(variable.source, RemovalReason.DESIGN)
        for variable in design.variables
        if variable.name not in wanted
    )
    smaller = replace(
        design,
        variables=kept,
        removed=(*design.removed, *gone),
        ladder=tuple(key for key in design.ladder if key.source.name in sources),
    )
    records = replace(
        records,
        design=smaller,
        codes={name: codes for name, codes in records.codes.items() if name in wanted},
        amounts={name: amounts for name, amounts in records.amounts.items() if name in wanted},
        facts=tuple(_facts(records, wanted)),
    )
    return _of_universe(records, extract) if extract.where else records


def _facts(records: FileRecords, wanted: set[str]) -> Iterator[FactTable]:
    """What treatments tell, and what the variables of the extract give away."""
    for facts in records.facts:
        kept = of_variables(facts, wanted) if facts.name == GIVE_AWAYS else facts
        if kept is not None:
            yield kept


def _of_universe(records: FileRecords, extract: Extract) -> FileRecords:
    """The records of those for whom a condition holds, with the rest of their households."""
    store, sample = records.store, records.sample
    universe = universe_of(extract.where, store.schema)
    rows = all_rows_of(universe, store, Entity.PERSON)
    inside = np.zeros(store.rows(Entity.PERSON), dtype=bool)
    inside[rows] = True
    persons = inside[sample.rows[Entity.PERSON]]
    keep = {Entity.PERSON: persons}
    holders = dict(records.holders)
    if Entity.HOUSEHOLD in sample.rows:
        holder = records.holders[Entity.PERSON, Entity.HOUSEHOLD]
        held = holder != NO_HOLDER
        households = np.zeros(sample.rows[Entity.HOUSEHOLD].size, dtype=bool)
        households[holder[persons & held]] = True
        persons = persons | (held & households[np.where(held, holder, 0)])
        keep = {Entity.HOUSEHOLD: households, Entity.PERSON: persons}
        place = np.cumsum(households) - 1
        kept = holder[persons]
        moved = np.where(kept == NO_HOLDER, NO_HOLDER, place[np.where(kept == NO_HOLDER, 0, kept)])
        holders[Entity.PERSON, Entity.HOUSEHOLD] = moved
    if not keep[Entity.PERSON].any():
        raise Refused(f"Nobody is in the extract {extract.name!r}: {extract.where}.")
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
