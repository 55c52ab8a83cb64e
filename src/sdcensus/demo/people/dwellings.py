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
from sdcensus.demo.people import shares_housing as tables
from sdcensus.demo.people.households import Households, fill
from sdcensus.demo.people.members import Members
from sdcensus.demo.people.shares_households import HOMELESS, INSTITUTION, PRIVATE
from sdcensus.demo.people.shares_people import SPREAD
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
        tables.BUILDING_SIZE,
        geography.settlement[eds],
    )
    buildings, building, size, building_kind = _buildings(eds, in_ed, kind, counts, sizes)
    settlement = geography.settlement[buildings.ed]
    business = draws.happens("business", buildings, tables.BUSINESS[settlement])
    building_type = np.where(business, BUSINESS, np.clip(size, 1, 3) - 1)
    building_type = np.where(building_kind == INSTITUTION, OF_INSTITUTION, building_type)
    building_type = np.where(building_kind == HOMELESS, NO_BUILDING, building_type)

    index = np.searchsorted(
        buildings.ed.astype(np.int64) << 32 | buildings.number,
        dwellings.ed.astype(np.int64) << 32 | building,
    )
    wealth = character.wealth[dwellings.ed]
    quarters = draws.choose(
        "quarters", dwellings, tables.QUARTERS, np.minimum(building_type[index], 3), wealth
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
    joins = draws.happens("joins", households.units, tables.SHARES_DWELLING)
    joins &= private & (households.units.number > 0)
    settlement = geography.settlement[households.units.ed]
    vacant = draws.choose("vacant", households.units, tables.VACANT, settlement)
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
        "construction_period": draws.choose("period", buildings, tables.PERIOD, settlement),
        "walls": draws.choose("walls", buildings, tables.WALLS, wealth),
        "roof": draws.choose("roof", buildings, tables.ROOF, wealth),
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
    rooms = draws.choose("rooms", dwellings, tables.ROOMS, np.minimum(quarters, 4), crowd)
    bedrooms = draws.choose("bedrooms", dwellings, tables.BEDROOMS, rooms)
    vacancy = draws.choose("vacancy", dwellings, tables.OCCUPANCY_VACANT, settlement)
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
        ("water", tables.WATER),
        ("toilet", tables.TOILET),
        ("bathing", tables.BATHING),
        ("heating", tables.HEATING),
        ("lighting", tables.LIGHTING),
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
    tenure = draws.choose("tenure", units, tables.TENURE, wealth)
    second = draws.choose("tenure second", units, tables.TENURE_SECOND)
    tenure = np.where(first, tenure, second)
    columns = {"tenure": np.where(private, tenure, NO_TENURE)}
    for name, shares in (
        ("cooking_fuel", tables.COOKING),
        ("waste", tables.WASTE),
        ("internet", tables.INTERNET),
        ("computer", tables.COMPUTER),
        ("vehicles", tables.VEHICLES),
        ("remittances", tables.REMITTANCES),
        ("emigrants", tables.EMIGRANTS),
    ):
        drawn = draws.choose(name, units, shares, wealth)
        columns[name] = np.where(private, drawn, categories(name)[-2])

    # Rent is asked of tenants; larger households rent more rooms.
    rooms = 1 + np.minimum(households.size, 5) + (quarters[dwelling] == 0)
    luck = SPREAD[draws.below("rent", units, SPREAD.size)]
    rent = tables.RENT_OF_ROOM[wealth, geography.settlement[units.ed]] * rooms * luck // 1000
    steps = np.clip(rent // MONEY_STEP, 1, MONEY_VALUES - 1)
    tenant = np.isin(columns["tenure"], RENTED)
    columns["rent"] = np.where(tenant, steps, MONEY_NOT_APPLICABLE)

    heads = np.flatnonzero(people.number == 0)
    missed = character.non_response[units.ed].astype(np.int64) * tables.NON_RESPONSE // 1000
    missed += np.where(households.size == 1, tables.SINGLE_ADDS, 0)
    missed += np.where(people.age[heads] < 30, tables.YOUNG_ADDS, 0)
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
