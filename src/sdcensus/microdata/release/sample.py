"""Which households of a census are in a file.

Units are put in the order of their areas, all levels of them, and within the smallest area in an
order that the secret decides; then they are taken systematically with the exact fraction. What is
drawn depends on the secret, on who the units are and on the name of the release, not on the order
of records: a corrected census gives the same households, up to those that moved. Designs of one
release with the same fraction have the same households, whatever they are called and whatever they
tell, so that a second thought about recodes hands out nobody else.

Lists that are drawn on their own: institutions; large households, in an order without areas where
they are drawn again; persons who live in no household; and members of large households where
these are told person by person.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import Sentence, SpecError
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.kernels.records.weights import held_counts
from sdcensus.microdata.holders import holder_rows
from sdcensus.microdata.method import Draws, FactTable
from sdcensus.microdata.release.areas import sorted_areas
from sdcensus.microdata.release.records import Sample
from sdcensus.microdata.release.weights import file_weights
from sdcensus.microdata.systematic import drawn_below, order_by_area, places_taken
from sdcensus.model.confidential import Confidential
from sdcensus.model.progress import Progress
from sdcensus.model.release.file_variable import FileDesign
from sdcensus.model.release.plan import LargeHouseholds, ReleasePlan
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import sentence
from sdcensus.model.spec.universe import universe_of
from sdcensus.store.census_store import CensusStore, all_rows_of

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


class SampledList(IntEnum):
    """The lists that are drawn from; their numbers are part of the draws."""

    UNITS = 0
    LARGE = 1
    INSTITUTIONS = 2
    ALONE = 3
    APART = 4


#: Draws for the order of units, for places to start, and for the order of large households.
_ORDER, _START, _AGAIN = 0, 1, 2


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class _List(Confidential):
    """Units that are drawn from one list.

    Attributes:
        number: Which list.
        entity: The kind of unit.
        rows: The units.
        taken: Those that are in the sample.
    """

    number: SampledList
    entity: Entity
    rows: Int64
    taken: Int64

    def __repr__(self) -> str:
        return f"<_List {self.number.name}: confidential>"


def drawn(
    store: CensusStore, design: FileDesign, plan: ReleasePlan, draws: Draws, progress: Progress
) -> Sample:
    """Draw the sample of a design.

    Args:
        store: The census, or the view of one whose records were changed.
        design: The fraction, the units, and what the file tells of areas.
        plan: Institutions, large households, weights; its name is part of the draws.
        draws: Random numbers for samples.
        progress: Told how far it is.

    Raises:
        SpecError: The condition of institutions does not fit, weights are wrong, or nobody would
            be in the sample.
    """
    progress("putting units into order", 0.0)
    lists = _lists(store, design, plan, draws)
    taken = _taken_rows(lists, design.unit)
    rows = {design.unit: taken}
    if design.unit is not Entity.PERSON and _has(store.schema, Entity.PERSON):
        rows[Entity.PERSON] = _members(store, design.unit, taken, lists)
    if not any(part.size for part in rows.values()):
        raise SpecError(
            f"Nobody is in the sample of design {design.design.name!r}: the census has too few"
            f" {design.unit.plural} for a fraction of {design.design.fraction}. Say a larger one."
        )
    progress("weighing", 0.6)
    weights = file_weights(store, design, plan.making, rows)
    progress("weighing", 1.0)
    return Sample(
        rows=rows,
        weights=weights.values,
        facts=(_sizes(lists, design), *weights.facts),
        notes=_notes(design),
    )


def release_counter(name: str) -> int:
    """The number that stands for a name in draws."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), "little")


def household_sizes(store: CensusStore) -> Integers:
    """How many persons each household of a census has."""
    holders = holder_rows(store, Entity.PERSON, Entity.HOUSEHOLD)
    return held_counts(holders, store.rows(Entity.HOUSEHOLD))


def _has(schema: Schema, entity: Entity) -> bool:
    return any(spec.entity is entity for spec in schema.entities)


def _lists(
    store: CensusStore, design: FileDesign, plan: ReleasePlan, draws: Draws
) -> tuple[_List, ...]:
    """Every list with who is taken from it; those without units are left out."""
    unit = design.unit
    number = np.full(store.rows(unit), SampledList.UNITS, dtype=np.uint8)
    large = _large(store, plan, unit)
    if plan.large is LargeHouseholds.DRAW_AGAIN:
        number[large] = SampledList.LARGE
    number[_institutions(store, plan, unit)] = SampledList.INSTITUTIONS
    if plan.large is LargeHouseholds.APART:
        # Whatever else they are: in a large institution, too, members are told one by one.
        number[large] = SampledList.APART
    rows_by_list: list[tuple[SampledList, Entity, Int64]] = [
        (each, unit, np.flatnonzero(number == each))
        for each in (SampledList.UNITS, SampledList.LARGE, SampledList.INSTITUTIONS)
    ]
    if unit is Entity.HOUSEHOLD and _has(store.schema, Entity.PERSON):
        holders = holder_rows(store, Entity.PERSON, unit)
        rows_by_list.append((SampledList.ALONE, Entity.PERSON, np.flatnonzero(holders == NO_ROW)))
        members = np.append(number == SampledList.APART, False)
        apart = members[np.where(holders == NO_ROW, members.size - 1, holders)]
        rows_by_list.append((SampledList.APART, Entity.PERSON, np.flatnonzero(apart)))
    counter = release_counter(plan.name)
    areas: dict[Entity, Int64] = {}
    lists = []
    for each, entity, rows in rows_by_list:
        if not rows.size:
            continue
        digests = store.digests(entity)[rows]
        words = draws.words(digests, counter, _AGAIN if each is SampledList.LARGE else _ORDER)
        if entity not in areas:
            areas[entity] = sorted_areas(store, entity)
        without_areas = each in (SampledList.LARGE, SampledList.APART)
        area = np.zeros(rows.size, np.int64) if without_areas else areas[entity][rows]
        order = order_by_area(area, words, digests)
        fraction = design.design.fraction
        start = drawn_below(draws, fraction.denominator, counter, _START, int(each))
        taken = np.sort(rows[order[places_taken(rows.size, fraction, start)]])
        lists.append(_List(each, entity, rows, taken))
    return tuple(lists)


def _large(store: CensusStore, plan: ReleasePlan, unit: Entity) -> Int64:
    """The rows of large households, where the plan says which ones these are."""
    known = unit is Entity.HOUSEHOLD and _has(store.schema, Entity.PERSON)
    if plan.large_above is None or not known:
        return np.zeros(0, dtype=np.int64)
    return np.flatnonzero(household_sizes(store) > plan.large_above)


def _institutions(store: CensusStore, plan: ReleasePlan, unit: Entity) -> Int64:
    if not plan.institutions:
        return np.zeros(0, dtype=np.int64)
    universe = universe_of(plan.institutions, store.schema)
    for variable in universe.variables:
        if variable.entity not in store.schema.lineage(unit):
            raise SpecError(
                f"The condition of institutions {plan.institutions!r} is about {variable.name!r}"
                f" of {variable.entity.plural}, and {unit.plural} are sampled. Name variables of"
                f" {unit.plural} or of what holds them."
            )
    return np.asarray(all_rows_of(universe, store, unit), dtype=np.int64)


def _taken_rows(lists: tuple[_List, ...], entity: Entity) -> Int64:
    parts = [each.taken for each in lists if each.entity is entity]
    return np.sort(np.concatenate([np.zeros(0, dtype=np.int64), *parts]))


def _members(store: CensusStore, unit: Entity, taken: Int64, lists: tuple[_List, ...]) -> Int64:
    """The persons of the units that are taken, and those of no unit that are taken themselves."""
    inside = np.zeros(store.rows(unit) + 1, dtype=bool)
    inside[taken] = True
    holders = holder_rows(store, Entity.PERSON, unit)
    members = inside[np.where(holders == NO_ROW, inside.size - 1, holders)]
    members[_taken_rows(lists, Entity.PERSON)] = True
    return np.flatnonzero(members)


def _sizes(lists: tuple[_List, ...], design: FileDesign) -> FactTable:
    fraction = design.design.fraction
    headings = ("list", "units", "expected", "taken")
    rows = tuple(
        (
            _list_name(each.number, each.entity),
            int(each.rows.size),
            round(float(each.rows.size * fraction), 2),
            int(each.taken.size),
        )
        for each in lists
    )
    return FactTable(
        name="sample-lists",
        title=sentence("release_sample.lists.title", design=design.design.name),
        headings=tuple(sentence(f"release_sample.lists.{heading}") for heading in headings),
        rows=rows,
    )


def _list_name(number: SampledList, entity: Entity) -> Sentence:
    names: Mapping[SampledList, str] = {
        SampledList.LARGE: "release_sample.lists.large",
        SampledList.INSTITUTIONS: "release_sample.lists.institutions",
        SampledList.ALONE: "release_sample.lists.alone",
        SampledList.APART: "release_sample.lists.apart",
    }
    plain = f"release_sample.lists.{entity.plural}"
    return sentence(names.get(number, plain))


def _notes(design: FileDesign) -> tuple[Sentence, ...]:
    whole = design.design.fraction == 1
    return (sentence("release_sample.whole", design=design.design.name),) if whole else ()
