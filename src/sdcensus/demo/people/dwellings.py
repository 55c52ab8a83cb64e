"""Dwellings and buildings of the demo country, and what households have in them.

Private households live in dwellings one after the other, with vacant dwellings in between, and
dwellings fill buildings. Institutions have a building of their own; homeless people were counted
at a place that is no building.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.demo.documents.questionnaire import categories
from sdcensus.demo.land.geography import Geography
from sdcensus.demo.people.households import Households, fill
from sdcensus.demo.people.members import Members
from sdcensus.demo.people.shares import (
    HOMELESS,
    INSTITUTION,
    PRIVATE,
    number_of,
    numbers_of,
    shares_of,
)
from sdcensus.demo.people.society import Character
from sdcensus.demo.people.work import MONEY_NOT_APPLICABLE, MONEY_STEP, MONEY_VALUES
from sdcensus.demo.words import Bools, DemoUnits, Draws, Ints

OCCUPIED = 0
ONE, TWO, MANY, BUSINESS, OF_INSTITUTION, NO_BUILDING, _ = categories("building_type")
PART_OF_HOUSE, SHACK, BOAT, STREET, FIRST_INSTITUTION = categories("living_quarters")[4:9]
NO_OWNERSHIP, OWNERSHIP_UNKNOWN = categories("ownership")[-2:]
NO_TENURE, TENURE_UNKNOWN = categories("tenure")[-2:]
NO_ROOMS, ROOMS_UNKNOWN = categories("rooms")[-2:]
NO_DENSITY, DENSITY_UNKNOWN = categories("room_density")[-2:]
RENTED = (2, 3)
#: Ownership of a dwelling by the tenure of its first household.
OWNERSHIP_OF_TENURE = np.array([0, 0, 1, 2, 3, 4, 4, NO_OWNERSHIP, OWNERSHIP_UNKNOWN])
#: Lower bounds of rooms for each occupant, in hundredths, after the first class.
DENSITY_BOUNDS = np.array([50, 100, 125, 150, 200, 250, 300])


@dataclass(frozen=True, slots=True, eq=False)
class Homes:
    """Buildings and dwellings of some districts, and columns of buildings, dwellings, households.

    ``building`` is for each dwelling the number of its building within the district, from 0;
    ``dwelling`` is for each household the index of its dwelling.
    """

    buildings: DemoUnits
    dwellings: DemoUnits
    building: Ints
    dwelling: npt.NDArray[np.int64]
    of_building: dict[str, Ints]
    of_dwelling: dict[str, Ints]
    of_household: dict[str, Ints]


def make_homes(
    draws: Draws,
    geography: Geography,
    character: Character,
    eds: Ints,
    households: Households,
    people: Members,
) -> Homes:
    """House the households of the districts ``eds``."""
    dwelling, dwellings, occupied = _dwellings(draws, geography, eds, households)
    kind = np.full(len(dwellings), PRIVATE, np.int32)
    kind[dwelling] = households.kind

    in_ed = np.searchsorted(eds, dwellings.ed)
    counts, sizes = fill(
        draws,
        "building size",
        eds,
        np.bincount(in_ed[kind == PRIVATE], minlength=eds.size).astype(np.int32),
        shares_of("building_size"),
        geography.settlement[eds],
    )
    buildings, building, size, building_kind = _buildings(eds, in_ed, kind, counts, sizes)
    settlement = geography.settlement[buildings.ed]
    business = draws.happens("business", buildings, numbers_of("business")[settlement])
    building_type = np.where(business, BUSINESS, np.clip(size, 1, 3) - 1)
    building_type = np.where(building_kind == INSTITUTION, OF_INSTITUTION, building_type)
    building_type = np.where(building_kind == HOMELESS, NO_BUILDING, building_type)

    index = np.searchsorted(
        buildings.ed.astype(np.int64) << 32 | buildings.number,
        dwellings.ed.astype(np.int64) << 32 | building,
    )
    wealth = character.wealth[dwellings.ed]
    quarters = draws.choose(
        "quarters", dwellings, shares_of("quarters"), np.minimum(building_type[index], 3), wealth
    )
    quarters = np.where((quarters >= SHACK) & ~occupied, 0, quarters)
    quarters = np.where(kind == HOMELESS, STREET, quarters)
    quarters[dwelling] = np.where(
        households.kind == INSTITUTION,
        FIRST_INSTITUTION + households.institution,
        quarters[dwelling],
    )
    # A boat is no building.
    afloat = np.zeros(len(buildings), dtype=np.bool_)
    afloat[index[quarters == BOAT]] = True
    building_type = np.where(afloat, NO_BUILDING, building_type).astype(np.int32)

    return Homes(
        buildings=buildings,
        dwellings=dwellings,
        building=building,
        dwelling=dwelling,
        of_building=_of_building(draws, geography, character, buildings, building_type),
        of_dwelling=_of_dwelling(
            draws, geography, dwellings, quarters, occupied, wealth, dwelling, households
        ),
        of_household=_of_household(
            draws, geography, character, households, people, quarters, dwelling
        ),
    )


def _dwellings(
    draws: Draws, geography: Geography, eds: Ints, households: Households
) -> tuple[npt.NDArray[np.int64], DemoUnits, Bools]:
    """Dwelling of each household, all dwellings, and which of them are occupied."""
    private = households.private
    joins = draws.happens("joins", households.units, number_of("shares_dwelling"))
    joins &= private & (households.units.number > 0)
    settlement = geography.settlement[households.units.ed]
    vacant = draws.choose("vacant", households.units, shares_of("vacant"), settlement)
    vacant = np.where(private, vacant, 0)
    # A household that joins another adds no dwelling, and the vacant ones come after it.
    new = np.where(joins, 0, 1)
    position = np.cumsum(new + vacant) - vacant - 1
    for one in np.flatnonzero(joins):
        # Vacant dwellings may lie between: a joining household looks back to its host.
        position[one] = position[one - 1]
    place = np.searchsorted(eds, households.units.ed)
    added = np.bincount(place, weights=new + vacant, minlength=eds.size).astype(np.int64)
    dwellings = DemoUnits.counted(eds, added)
    occupied = np.zeros(len(dwellings), dtype=np.bool_)
    occupied[position] = True
    return position.astype(np.int64), dwellings, occupied


def _buildings(
    eds: Ints, in_ed: npt.NDArray[np.intp], kind: Ints, counts: Ints, sizes: Ints
) -> tuple[DemoUnits, Ints, Ints, Ints]:
    """All buildings, the building of each dwelling, and size and kind of each building."""
    private = kind == PRIVATE
    first = np.cumsum(counts) - counts
    # Private dwellings fill buildings in order; each other place is a building of its own.
    building = np.zeros(kind.size, dtype=np.int64)
    owner = np.repeat(np.arange(sizes.size), sizes)
    building[private] = owner - first[in_ed[private]]
    single = np.bincount(in_ed[~private], minlength=eds.size)
    rank = np.cumsum(~private) - 1
    before = np.cumsum(single) - single
    building[~private] = counts[in_ed[~private]] + rank[~private] - before[in_ed[~private]]
    buildings = DemoUnits.counted(eds, counts + single)

    base = np.cumsum(counts + single) - counts - single
    index = base[in_ed] + building
    size = np.bincount(index, minlength=len(buildings)).astype(np.int32)
    building_kind = np.full(len(buildings), PRIVATE, np.int32)
    building_kind[index] = kind
    return buildings, building.astype(np.int32), size, building_kind


def _of_building(
    draws: Draws,
    geography: Geography,
    character: Character,
    buildings: DemoUnits,
    building_type: Ints,
) -> dict[str, Ints]:
    wealth = character.wealth[buildings.ed]
    settlement = geography.settlement[buildings.ed]
    none = building_type == NO_BUILDING
    columns = {
        "building_type": building_type,
        "construction_period": draws.choose("period", buildings, shares_of("period"), settlement),
        "walls": draws.choose("walls", buildings, shares_of("walls"), wealth),
        "roof": draws.choose("roof", buildings, shares_of("roof"), wealth),
    }
    for name in ("construction_period", "walls", "roof"):
        columns[name] = np.where(none, categories(name)[-2], columns[name]).astype(np.int32)
    columns["locality_size"] = geography.locality_size[buildings.ed]
    return columns


def _of_dwelling(
    draws: Draws,
    geography: Geography,
    dwellings: DemoUnits,
    quarters: npt.NDArray[np.integer],
    occupied: Bools,
    wealth: Ints,
    dwelling: npt.NDArray[np.int64],
    households: Households,
) -> dict[str, Ints]:
    settlement = geography.settlement[dwellings.ed]
    occupants = np.bincount(dwelling, weights=households.size, minlength=len(dwellings))
    occupants = occupants.astype(np.int64)
    crowd = np.where(occupants <= 2, 0, np.where(occupants <= 5, 1, 2))
    conventional = quarters <= PART_OF_HOUSE
    rooms = draws.choose("rooms", dwellings, shares_of("rooms"), np.minimum(quarters, 4), crowd)
    bedrooms = draws.choose("bedrooms", dwellings, shares_of("bedrooms"), rooms)
    vacancy = draws.choose("vacancy", dwellings, shares_of("occupancy_vacant"), settlement)
    # Shacks and boats are equipped as in poor districts.
    means = np.where(conventional, wealth, 0)
    housing = quarters <= BOAT
    columns = {
        "living_quarters": quarters,
        "occupancy": np.where(occupied, OCCUPIED, vacancy),
        "ownership": np.full(len(dwellings), NO_OWNERSHIP),
        "rooms": np.where(conventional, rooms, NO_ROOMS),
        "bedrooms": np.where(conventional, bedrooms, categories("bedrooms")[-2]),
        "occupants": np.minimum(occupants, 11),
        "room_density": np.zeros(len(dwellings)),
    }
    for name, shares in (
        ("water", shares_of("water")),
        ("toilet", shares_of("toilet")),
        ("bathing", shares_of("bathing")),
        ("heating", shares_of("heating")),
        ("lighting", shares_of("lighting")),
    ):
        drawn = draws.choose(name, dwellings, shares, means)
        columns[name] = np.where(housing, drawn, categories(name)[-2])
    return {name: column.astype(np.int32) for name, column in columns.items()}


def _of_household(
    draws: Draws,
    geography: Geography,
    character: Character,
    households: Households,
    people: Members,
    quarters: npt.NDArray[np.integer],
    dwelling: npt.NDArray[np.int64],
) -> dict[str, Ints]:
    units, private = households.units, households.private
    wealth = character.wealth[units.ed]
    first = np.ones(len(households), dtype=np.bool_)
    first[1:] = dwelling[1:] != dwelling[:-1]
    tenure = draws.choose("tenure", units, shares_of("tenure"), wealth)
    second = draws.choose("tenure second", units, shares_of("tenure_second"))
    tenure = np.where(first, tenure, second)
    columns = {"tenure": np.where(private, tenure, NO_TENURE)}
    for name, shares in (
        ("cooking_fuel", shares_of("cooking")),
        ("waste", shares_of("waste")),
        ("internet", shares_of("internet")),
        ("computer", shares_of("computer")),
        ("vehicles", shares_of("vehicles")),
        ("remittances", shares_of("remittances")),
        ("emigrants", shares_of("emigrants")),
    ):
        drawn = draws.choose(name, units, shares, wealth)
        columns[name] = np.where(private, drawn, categories(name)[-2])

    # Rent is asked of tenants; larger households rent more rooms.
    rooms = 1 + np.minimum(households.size, 5) + (quarters[dwelling] == 0)
    luck = numbers_of("spread")[draws.below("rent", units, numbers_of("spread").size)]
    rent = numbers_of("rent_of_room")[wealth, geography.settlement[units.ed]] * rooms * luck // 1000
    steps = np.clip(rent // MONEY_STEP, 1, MONEY_VALUES - 1)
    tenant = np.isin(columns["tenure"], RENTED)
    columns["rent"] = np.where(tenant, steps, MONEY_NOT_APPLICABLE)

    heads = np.flatnonzero(people.number == 0)
    missed = character.non_response[units.ed].astype(np.int64) * number_of("non_response") // 1000
    missed += np.where(households.size == 1, number_of("single_adds"), 0)
    missed += np.where(people.age[heads] < 30, number_of("young_adds"), 0)
    columns["weight"] = np.where(private, missed, 0)
    return {name: column.astype(np.int32) for name, column in columns.items()}


def finish_dwellings(homes: Homes, households: Households) -> None:
    """Ownership and density follow from what was answered: tenure, rooms, occupants."""
    columns = homes.of_dwelling
    first = np.unique(homes.dwelling, return_index=True)[1]
    tenure = homes.of_household["tenure"][first]
    columns["ownership"][homes.dwelling[first]] = OWNERSHIP_OF_TENURE[tenure]

    rooms = columns["rooms"]
    occupants = np.bincount(homes.dwelling, weights=households.size, minlength=rooms.size)
    occupants = occupants.astype(np.int64)
    hundredths = (rooms + 1) * 100 // np.maximum(occupants, 1)
    density = np.searchsorted(DENSITY_BOUNDS, hundredths, side="right")
    density = np.where(rooms == ROOMS_UNKNOWN, DENSITY_UNKNOWN, density)
    none = (rooms == NO_ROOMS) | (occupants == 0)
    columns["room_density"] = np.where(none, NO_DENSITY, density).astype(np.int32)
