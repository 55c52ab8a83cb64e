"""Households of the demo country: how many there are, of what kind, and who lives in them.

Sizes are drawn until the persons of an enumeration district are used up, and the last household
takes what is left; so a country has exactly the persons that were asked for. Everything else
about a household follows from its size.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sdcensus.demo.people.shares import (
    ALONE,
    COUPLE,
    COUPLE_CHILDREN,
    COUPLE_OTHERS,
    GENERATIONS,
    HOMELESS,
    INSTITUTION,
    MOTHER_OTHERS,
    NO_FAMILY,
    PRIVATE,
    number_of,
    numbers_of,
    shares_of,
)
from sdcensus.demo.words import Bools, DemoUnits, Draws, Ints, Shares


@dataclass(frozen=True, slots=True, eq=False)
class Households:
    """The households of some enumeration districts, in order of district and number.

    ``partner``, ``children``, ``second`` (one parent or two), ``grandchildren`` and ``others``
    say how many of each live beside the head; ``institution`` is its kind, -1 for none.
    """

    units: DemoUnits
    kind: Ints
    size: Ints
    structure: Ints
    partner: Ints
    children: Ints
    second: Ints
    grandchildren: Ints
    others: Ints
    couple: Ints
    institution: Ints

    def __len__(self) -> int:
        return len(self.units)

    @property
    def private(self) -> Bools:
        """Which households are private ones."""
        found: Bools = self.kind == PRIVATE
        return found


def fill(
    draws: Draws, purpose: str, eds: Ints, totals: Ints, sizes: Shares, *given: Ints
) -> tuple[Ints, Ints]:
    """Cut the total of each district into parts of drawn sizes; the last part takes the rest.

    Returns:
        How many parts each district has, and the sizes of all parts.
    """
    units = DemoUnits.counted(eds, totals)
    conditions = [np.repeat(condition, totals) for condition in given]
    size = 1 + draws.choose(purpose, units, sizes, *conditions)
    ends = np.cumsum(size, dtype=np.int64)
    firsts = np.cumsum(totals, dtype=np.int64) - totals
    before = np.concatenate([[0], ends])[firsts]
    start = ends - size - np.repeat(before, totals)
    left = np.repeat(totals, totals) - start
    kept = left > 0
    index = np.repeat(np.arange(eds.size), totals)[kept]
    counts = np.bincount(index, minlength=eds.size).astype(np.int32)
    return counts, np.minimum(size, left)[kept].astype(np.int32)


def make_households(draws: Draws, eds: Ints, persons: Ints, settlement: Ints) -> Households:
    """The households of the districts ``eds``, in which ``persons`` live."""
    district = DemoUnits(eds, np.zeros(eds.size, np.int32))
    institution, residents, homeless = _not_private(draws, district, persons, settlement)
    in_private = (persons - residents - homeless).astype(np.int32)
    counts, sizes = fill(
        draws, "household size", eds, in_private, shares_of("household_size"), settlement
    )
    # Private households come first in each district, then an institution, then the homeless.
    has_institution = (residents > 0).astype(np.int32)
    order = np.concatenate(
        [
            np.repeat(np.arange(eds.size) * 3 + PRIVATE, counts),
            np.flatnonzero(has_institution) * 3 + INSTITUTION,
            np.repeat(np.arange(eds.size) * 3 + HOMELESS, homeless),
        ]
    )
    all_sizes = np.concatenate(
        [sizes, residents[residents > 0], np.ones(homeless.sum(), np.int32)]
    ).astype(np.int32)
    sorted_by = np.argsort(order, kind="stable")
    kind = (order[sorted_by] % 3).astype(np.int32)
    size = all_sizes[sorted_by]
    units = DemoUnits.counted(eds, counts + has_institution + homeless)
    place = np.searchsorted(eds, units.ed)
    return _compose(draws, units, kind, size, np.where(kind == INSTITUTION, institution[place], -1))


def _not_private(
    draws: Draws, district: DemoUnits, persons: Ints, settlement: Ints
) -> tuple[Ints, Ints, Ints]:
    """The kind of institution, its residents, and the homeless people of each district."""
    chance = np.minimum(persons.astype(np.int64) * number_of("institution_chance"), 600_000)
    there = draws.happens("institution", district, chance)
    kind = draws.choose("institution kind", district, shares_of("institution_kind"))
    least, more = numbers_of("institution_sizes")[kind].T
    residents = least + draws.below("institution size", district, more)
    residents = np.where(there, np.minimum(residents, persons // 3), 0)
    chance = persons * numbers_of("homeless_chance")[settlement]
    some = draws.happens("homeless", district, np.minimum(chance, 900_000))
    homeless = 1 + draws.choose("homeless count", district, shares_of("homeless_count"))
    homeless = np.where(some, np.minimum(homeless, persons // 20), 0)
    return kind, residents.astype(np.int32), homeless.astype(np.int32)


def _compose(
    draws: Draws, units: DemoUnits, kind: Ints, size: Ints, institution: Ints
) -> Households:
    """Who lives in households of those sizes."""
    structure = draws.choose("structure", units, shares_of("structure"), np.minimum(size, 8) - 1)
    structure = np.where(kind == PRIVATE, structure, ALONE)
    is_generations = structure == GENERATIONS
    with_partner = draws.happens("generations partner", units, 450_000) & (size >= 4)
    partner = (
        np.isin(structure, (COUPLE, COUPLE_CHILDREN, COUPLE_OTHERS))
        | (is_generations & with_partner)
    ).astype(np.int32)

    second = is_generations.astype(np.int32)
    two_parents = draws.happens("second couple", units, 330_000) & (size - partner >= 4)
    second += (is_generations & two_parents).astype(np.int32)
    rest = np.where(is_generations, size - 1 - partner - second, 0)
    grandchildren = rest - draws.below("own children", units, np.maximum(rest, 1))

    # A lone mother keeps a child; a couple may have none.
    room = np.clip(size - 2, 0, 3)
    others = draws.choose("others", units, shares_of("others"), room)
    others = np.where(np.isin(structure, (COUPLE_OTHERS, MOTHER_OTHERS)), others, 0)
    others = np.where(structure == NO_FAMILY, size - 1, others)
    family = (structure != ALONE) & (structure != NO_FAMILY)
    children = np.where(family, size - 1 - partner - second - grandchildren - others, 0)
    return Households(
        units=units,
        kind=kind,
        size=size,
        structure=structure.astype(np.int32),
        partner=partner,
        children=children.astype(np.int32),
        second=second,
        grandchildren=grandchildren.astype(np.int32),
        others=others.astype(np.int32),
        couple=np.full(len(units), -1, np.int32),
        institution=institution.astype(np.int32),
    )
