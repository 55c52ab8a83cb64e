"""The areas of the demo country: regions, districts, parishes, enumeration districts.

And what belongs to an enumeration district: how many people live in it, whether it is a village
or a part of a town, and the constituency that it votes in (a second tree, not nested in the
first).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
import numpy.typing as npt

from sdcensus.demo.country import Country
from sdcensus.demo.land.mesh import Mesh, grow, make_mesh, rough_ground, spread_seeds
from sdcensus.demo.words import DemoUnits, Draws, Ints, Shares, share_out

Long: TypeAlias = npt.NDArray[np.int64]

FACES_IN_ED = 8
PERSONS_IN_SQUARE_KM = 200
#: No island is smaller, or its faces would be smaller than a house.
SMALLEST_ISLAND = 40_000_000
FEWEST_FACES = 4500
#: Relative density of parishes other than the capital, and how often each occurs.
DENSITIES = np.array([1, 2, 3, 5, 9])
DENSITY = Shares([25, 35, 20, 14, 6])
#: Of 1000 persons, how many live in the parish of the capital when there are up to 20 parishes.
CAPITAL_SHARE = 260
#: Share of the districts of a parish that form its main town, in percent.
TOWN_SHARES = np.array([15, 30, 45, 60, 80])
TOWN_SHARE = Shares([15, 30, 30, 15, 10])
#: Lower bounds of the sizes of localities, from the largest class to the smallest.
LOCALITY_BOUNDS = np.array(
    [1_000_000, 500_000, 200_000, 100_000, 50_000, 20_000, 10_000, 5_000, 2_000, 1_000, 500, 200, 0]
)

VILLAGE, TOWN, CAPITAL = 0, 1, 2


@dataclass(frozen=True, slots=True, eq=False)
class Geography:
    """The areas of a country. Areas are numbered from 0 at each level, parents in order.

    Attributes:
        mesh: The land.
        face_ed: For each face its enumeration district.
        parish, district, region, constituency: For each enumeration district, its area.
        number: For each enumeration district, its number within its parish, from 1.
        persons: How many live in each enumeration district.
        settlement: Village, town or capital, for each enumeration district.
        locality_size: For each enumeration district, the class of the size of its locality.
    """

    country: Country
    mesh: Mesh
    face_ed: Long
    parish: Ints
    district: Ints
    region: Ints
    constituency: Ints
    number: Ints
    persons: Long
    settlement: Ints
    locality_size: Ints

    @property
    def eds(self) -> int:
        """How many enumeration districts there are."""
        return self.country.eds

    def parent_of_parish(self) -> Ints:
        """For each parish its district."""
        return _parents(self.parish, self.district, self.country.parishes)

    def parent_of_district(self) -> Ints:
        """For each district its region."""
        return _parents(self.district, self.region, self.country.districts)


def _parents(child: Ints, parent: Ints, count: int) -> Ints:
    found = np.zeros(count, dtype=np.int32)
    found[child] = parent
    return found


def make_geography(country: Country, draws: Draws) -> Geography:
    """Draw the island, share its land out among areas, and people among the areas."""
    square_metres = max(SMALLEST_ISLAND, country.persons * 1_000_000 // PERSONS_IN_SQUARE_KM)
    faces = max(country.eds * FACES_IN_ED, FEWEST_FACES)
    mesh = make_mesh(faces, square_metres, draws)
    land = _Land(mesh, mesh.neighbours.tolist(), rough_ground(mesh, draws).tolist(), draws)

    everything = np.zeros(mesh.faces, dtype=np.int64)
    region = land.split(everything, np.array([country.regions]), "region")
    districts = _counts(country.districts, region, country.regions)
    district = land.split(region, districts, "district")
    parishes = _counts(country.parishes, district, country.districts)
    parish = land.split(district, parishes, "parish")

    acres = np.bincount(parish, minlength=country.parishes)
    capital, parish_persons = _settle(country, acres, draws)
    eds = _eds_of_parishes(country, parish_persons, acres)
    face_ed = land.split(parish, eds, "ed")
    ed_parish = np.repeat(np.arange(country.parishes), eds).astype(np.int32)
    parish_district = np.repeat(np.arange(country.districts), parishes).astype(np.int32)
    district_region = np.repeat(np.arange(country.regions), districts).astype(np.int32)
    ed_district = parish_district[ed_parish]

    persons = _persons_of_eds(parish_persons, eds, draws)
    middle = _middles(mesh, face_ed, country.eds)
    settlement, locality = _localities(ed_parish, ed_district, middle, capital, draws)
    size = np.bincount(locality, weights=persons)[locality]
    return Geography(
        country=country,
        mesh=mesh,
        face_ed=face_ed,
        parish=ed_parish,
        district=ed_district,
        region=district_region[ed_district],
        constituency=_constituencies(country, mesh, face_ed, middle, draws),
        number=(1 + np.arange(country.eds) - (np.cumsum(eds) - eds)[ed_parish]).astype(np.int32),
        persons=persons,
        settlement=settlement,
        locality_size=(size[:, None] < LOCALITY_BOUNDS).sum(axis=1).astype(np.int32),
    )


def _counts(total: int, areas: Long, count: int) -> Long:
    """How many children each area gets: by its land, at least one."""
    return share_out(total, np.bincount(areas, minlength=count), least=1)


@dataclass(frozen=True, slots=True, eq=False)
class _Land:
    """The land as growth sees it."""

    mesh: Mesh
    neighbours: list[list[int]]
    cost: list[int]
    draws: Draws

    def split(self, parent: Long, children: Long, purpose: str) -> Long:
        """Split every area into so many children; children are numbered parent by parent."""
        label = np.zeros(self.mesh.faces, dtype=np.int64)
        first = np.cumsum(children) - children
        order = np.argsort(parent, kind="stable")
        ends = np.cumsum(np.bincount(parent, minlength=len(children)))
        centre = self.mesh.centre
        for area, members in enumerate(np.split(order, ends[:-1])):
            count = int(children[area])
            seeds = spread_seeds(centre, members, count, self.draws, f"{purpose} {area}")
            # Numbers run from west to east, as an office would give them.
            seeds = seeds[np.argsort(centre[seeds, 0], kind="stable")]
            label[members] = first[area] + grow(self.neighbours, self.cost, members, seeds)
        return label


def _settle(country: Country, land: Long, draws: Draws) -> tuple[int, Long]:
    """The parish with the capital, and the persons of every parish."""
    parish = DemoUnits(np.zeros(land.size, np.int32), np.arange(land.size, dtype=np.int32))
    density = DENSITIES[draws.choose("density", parish, DENSITY)]
    # A capital is a small parish, but where there are many parishes it needs a large one.
    by_land = np.argsort(land, kind="stable")
    capital = int(by_land[-1] if land.size > 20 else by_land[min(2, land.size - 1) // 2])
    weights = land * density
    share = max(40, min(CAPITAL_SHARE, CAPITAL_SHARE * 20 // land.size))
    if land.size > 1:
        weights[capital] = 0
        largest = max(1, int(weights.sum()) * share // (1000 - share))
        # No other parish comes near the capital.
        weights = np.minimum(weights, largest * 4 // 5 + 1)
        weights[capital] = largest
    return capital, share_out(country.persons, weights, least=min(25, country.persons // land.size))


def _eds_of_parishes(country: Country, persons: Long, land: Long) -> Long:
    """Enumeration districts by population; a parish cannot have more than its land carries."""
    most = np.maximum(land * 2 // 3, 1)
    eds = np.minimum(share_out(country.eds, persons, least=1), most)
    while eds.sum() < country.eds:
        room = eds < most
        crowded = np.where(room, persons * 1000 // eds, -1)
        for parish in np.argsort(-crowded, kind="stable")[: country.eds - int(eds.sum())]:
            eds[parish] += room[parish]
    return np.asarray(eds, dtype=np.int64)


def _persons_of_eds(parish_persons: Long, eds: Long, draws: Draws) -> Long:
    units = DemoUnits.counted(np.arange(eds.size, dtype=np.int32), eds)
    weights = 60 + draws.below("size of district", units, 81)
    parts = np.split(weights, np.cumsum(eds)[:-1])
    return np.concatenate(
        [
            share_out(int(total), part, least=min(5, int(total) // part.size))
            for total, part in zip(parish_persons, parts, strict=True)
        ]
    )


def _middles(mesh: Mesh, face_ed: Long, eds: int) -> Long:
    """The middle of each enumeration district, in whole metres."""
    order = np.argsort(face_ed, kind="stable")
    starts = np.searchsorted(face_ed[order], np.arange(eds))
    sums = np.add.reduceat(mesh.centre[order], starts, axis=0)
    return np.asarray(sums // np.bincount(face_ed, minlength=eds)[:, None], dtype=np.int64)


def _localities(
    parish: Ints, district: Ints, middle: Long, capital: int, draws: Draws
) -> tuple[Ints, Long]:
    """What each enumeration district is, and the number of its locality.

    Every parish has a town of the districts around one of them; each other district is a
    village. The capital takes its whole parish and the towns of its district.
    """
    locality = np.arange(parish.size)
    settlement = np.zeros(parish.size, dtype=np.int32)
    capital_district = district[parish == capital][0]
    areas = DemoUnits(
        np.zeros(parish.max() + 1, np.int32), np.arange(parish.max() + 1, dtype=np.int32)
    )
    shares = TOWN_SHARES[draws.choose("town", areas, TOWN_SHARE)]
    words = draws.words("market place", areas)
    centre = int(np.flatnonzero(parish == capital)[0])
    for area in range(parish.max() + 1):
        members = np.flatnonzero(parish == area)
        if area == capital:
            locality[members], settlement[members] = centre, CAPITAL
            continue
        market = members[int(words[area]) * members.size >> 32]
        offset = middle[members] - middle[market]
        nearest = members[np.argsort((offset * offset).sum(axis=1), kind="stable")]
        town = nearest[: 1 + members.size * int(shares[area]) // 100]
        settlement[town] = TOWN
        locality[town] = centre if district[town[0]] == capital_district else town.min()
    return settlement, locality


def _constituencies(
    country: Country, mesh: Mesh, face_ed: Long, middle: Long, draws: Draws
) -> Ints:
    """Constituencies grow over enumeration districts without regard to parishes."""
    face, side = np.nonzero(mesh.neighbours >= 0)
    pairs = np.unique(np.stack([face_ed[face], face_ed[mesh.neighbours[face, side]]], 1), axis=0)
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    degree = np.bincount(pairs[:, 0], minlength=country.eds)
    neighbours = np.full((country.eds, max(1, int(degree.max(initial=0)))), -1, dtype=np.int64)
    rank = np.arange(len(pairs)) - np.repeat(np.cumsum(degree) - degree, degree)
    neighbours[pairs[:, 0], rank] = pairs[:, 1]
    members = np.arange(country.eds)
    seeds = spread_seeds(middle, members, country.constituencies, draws, "constituency")
    seeds = seeds[np.argsort(middle[seeds, 0], kind="stable")]
    return grow(neighbours.tolist(), [1] * country.eds, members, seeds).astype(np.int32)
