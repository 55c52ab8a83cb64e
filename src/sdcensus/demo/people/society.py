"""Ethnicity, religion, language and migration in the demo country.

Households share most of it, districts lean to one group or another, and whoever was born
elsewhere arrived in some year, often with the household.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.demo.country import Country
from sdcensus.demo.documents.lists import CULTURES, ORIGINS, citizenships, ethnic_rows
from sdcensus.demo.documents.questionnaire import categories, rows
from sdcensus.demo.land.geography import Geography
from sdcensus.demo.people.households import Households
from sdcensus.demo.people.members import Members, group
from sdcensus.demo.people.shares import (
    CHILD,
    DOMESTIC,
    GRANDCHILD,
    HEAD,
    LODGER,
    OTHER,
    PARTNER,
    RESIDENT,
    SECOND_PARENT,
    SECOND_PARTNER,
    number_of,
    numbers_of,
    shares_of,
)
from sdcensus.demo.words import Bools, DemoUnits, Draws, Ints, Shares

CENSUS_YEAR, FIRST_YEAR = 2021, 1920
NEVER_ABROAD = CENSUS_YEAR - FIRST_YEAR + 1
SAME_DWELLING, SAME_PARISH, _, _, FROM_ABROAD, NEWBORN, _ = categories("previous_residence")
ENGLISH = 0


@dataclass(frozen=True, slots=True, eq=False)
class Character:
    """What the enumeration districts are like, whole country: one value for each."""

    wealth: Ints
    leaning: Ints
    leading: Ints
    minority_percent: Ints
    hot_spot: Ints
    non_response: Ints


class Society:
    """The groups of a country and how they differ."""

    def __init__(self, country: Country) -> None:
        ethnic = ethnic_rows(country)
        weights = np.array([int(row[country.ethnic_profile]) for row in ethnic])
        self.ethnicity = Shares(weights)
        # Squares: a parish is seldom led by a small group.
        self.leading = Shares(weights // 10 * (weights // 10) + 1)
        self.culture = np.array([CULTURES.index(row["culture"]) for row in ethnic])
        self.language = np.array([int(row["language"]) - 1 for row in ethnic])
        self.foreign = np.array([int(row["foreign"]) * 1000 for row in ethnic])
        self.mixed = next(i for i, row in enumerate(ethnic) if row["key"] == "mixed")
        unstated = next(row for row in rows("ethnicities") if row["code"] == "99")
        self.not_stated = int(unstated[country.ethnic_profile]) * 10
        self.religion = Shares([[int(row[one]) for row in rows("religions")] for one in CULTURES])
        countries = rows("countries")
        self.origin = Shares([[int(row[one]) for row in countries] for one in ORIGINS])
        codes = ["", *citizenships()]
        self.citizenship = np.array([codes.index(row["citizenship"]) for row in countries])
        self.stateless = len(codes)

    def character(self, draws: Draws, geography: Geography) -> Character:
        """What every enumeration district is like."""
        count = geography.eds
        eds = DemoUnits(np.arange(count, dtype=np.int32), np.zeros(count, np.int32))
        parishes = geography.country.parishes
        parish = DemoUnits(np.zeros(parishes, np.int32), np.arange(parishes, dtype=np.int32))
        percent = numbers_of("minority_percent")[
            draws.choose("minority", parish, shares_of("minority"))
        ]
        return Character(
            wealth=draws.choose("wealth", eds, shares_of("wealth"), geography.settlement),
            leaning=draws.choose("leaning", eds, self.ethnicity),
            leading=draws.choose("leading", parish, self.leading)[geography.parish],
            minority_percent=percent[geography.parish].astype(np.int32),
            hot_spot=draws.happens("hot spot", eds, number_of("hot_spot")).astype(np.int32),
            non_response=draws.below("non-response", eds, 1000),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """Everything that persons are drawn from: the country, its districts, their households."""

    draws: Draws
    society: Society
    geography: Geography
    character: Character
    homes: Households
    people: Members

    def chance(self, purpose: str, per_million: npt.ArrayLike) -> Bools:
        """Whether something happens to each person."""
        return self.draws.happens(purpose, self.people.units, per_million)

    @property
    def related(self) -> Bools:
        """Who belongs to a family or is a relative of the head."""
        kind = self.people.other_kind
        found: Bools = (self.people.role < RESIDENT) & (kind != LODGER) & (kind != DOMESTIC)
        return found


def make_ethnicity(scene: Scene) -> dict[str, Ints]:
    """Ethnic group, religion and language of each person."""
    draws, society, people = scene.draws, scene.society, scene.people
    home_units, home = scene.homes.units, people.household
    district = home_units.ed
    national = draws.choose("ethnicity", home_units, society.ethnicity)
    leans = draws.happens("leans", home_units, number_of("leans"))
    base = np.where(leans, scene.character.leaning[district], national)
    stays = draws.below("minority stays", home_units, 100)
    leading = scene.character.leading[district]
    base = np.where(stays < scene.character.minority_percent[district], base, leading)

    own = draws.choose("own ethnicity", people.units, society.ethnicity)
    chance = np.where(
        people.role == PARTNER,
        number_of("other_ethnicity_partner"),
        number_of("other_ethnicity_relative"),
    )
    differs = scene.chance("differs", chance) & (people.role != HEAD) & (people.role != CHILD)
    ethnicity = np.where(differs | ~scene.related, own, base[home])
    partner = people.role == PARTNER
    mixed_couple = np.zeros(len(scene.homes), dtype=np.bool_)
    mixed_couple[home[partner]] = ethnicity[partner] != base[home[partner]]
    child = (people.role == CHILD) & mixed_couple[home]
    ethnicity = np.where(
        child & scene.chance("mixed", number_of("mixed_child")), society.mixed, ethnicity
    )
    spoken = society.language[base]
    own_language = draws.happens("own language", home_units, number_of("own_language"))
    speaks = np.where(own_language, spoken, ENGLISH)[home]
    language = np.where(scene.related, speaks, society.language[ethnicity])
    return {
        "ethnicity": ethnicity.astype(np.int32),
        "religion": _religion(scene, base, ethnicity),
        "language": language.astype(np.int32),
    }


def _religion(scene: Scene, base: npt.NDArray[np.int32], ethnicity: Ints) -> Ints:
    """Religion of the household, or one's own."""
    draws, society, people = scene.draws, scene.society, scene.people
    home_units = scene.homes.units
    culture = society.culture[base].astype(np.int32)
    # Everybody of a culture in a district gets the same word: its congregation.
    congregation = DemoUnits(home_units.ed, culture)
    common = draws.choose("congregation", congregation, society.religion, culture)
    shared = draws.choose("religion", home_units, society.religion, culture)
    follows = draws.happens("follows", home_units, number_of("district_religion"))
    of_home = np.where(follows, common, shared)[people.household]
    own = draws.choose("own religion", people.units, society.religion, society.culture[ethnicity])
    chance = np.where(
        people.age < 18, number_of("other_religion_child"), number_of("other_religion_grown")
    )
    chance = np.where(people.role == PARTNER, number_of("other_religion_partner"), chance)
    differs = scene.chance("other religion", chance) & (people.role != HEAD)
    return np.where(differs | ~scene.related, own, of_home).astype(np.int32)


def make_migration(scene: Scene, ethnicity: Ints) -> dict[str, Ints]:
    """Place of birth, citizenship, year of arrival and residence one year before."""
    draws, society, people = scene.draws, scene.society, scene.people
    homes, home = scene.homes, people.household
    heads = np.flatnonzero(people.number == 0)
    group_of_head = ethnicity[heads]
    factor = numbers_of("foreign_by_wealth")[scene.character.wealth[homes.units.ed]]
    chance = society.foreign[group_of_head] * factor // 100
    migrant = draws.happens("migrant", homes.units, chance)
    origin = draws.choose("origin", homes.units, society.origin, society.culture[group_of_head])
    years_of_home = _years(draws, "years", homes.units)

    foreign, with_home = _foreign(scene, migrant, years_of_home)
    own_origin = draws.choose(
        "own origin", people.units, society.origin, society.culture[ethnicity]
    )
    country = np.where(with_home, origin[home], own_origin)
    years = np.where(with_home, years_of_home[home], _years(draws, "own years", people.units))
    # Nobody arrived before birth.
    years = np.where(years > people.age, draws.below("part", people.units, people.age + 1), years)

    returned = ~foreign & (people.age >= 20) & (people.age < 80)
    returned &= scene.chance("returned", number_of("returned"))
    back = _years(draws, "back", people.units)
    back = np.where(back > people.age - 18, 1 + back % 2, back)
    years = np.where(foreign, years, np.where(returned, back, -1))
    arrival = np.where(years >= 0, CENSUS_YEAR - FIRST_YEAR - years, NEVER_ABROAD)
    districts = scene.geography.country.districts
    birthplace = np.where(foreign, districts + country, _district_of_birth(scene))
    return {
        "birthplace": birthplace.astype(np.int32),
        "citizenship": _citizenship(scene, foreign, country, years, migrant, origin),
        "arrival_year": arrival.astype(np.int32),
        "previous_residence": _previous_residence(scene, years),
    }


def _years(draws: Draws, purpose: str, units: DemoUnits) -> Ints:
    """How many years ago somebody arrived."""
    period = draws.choose(f"{purpose} period", units, shares_of("years_here"))
    more = draws.below(f"{purpose} year", units, numbers_of("years_more")[period])
    return (numbers_of("years_least")[period] + more).astype(np.int32)


def _foreign(scene: Scene, migrant: Bools, years: Ints) -> tuple[Bools, Bools]:
    """Who was born abroad, and who of them came with the household from its country."""
    people, kind = scene.people, scene.people.other_kind
    of_migrant = migrant[people.household]
    partner = np.isin(people.role, (PARTNER, SECOND_PARTNER))
    chance = np.where(
        of_migrant,
        number_of("foreign_relative_of_migrant"),
        number_of("foreign_relative_of_native"),
    )
    of_partner = np.where(
        of_migrant, number_of("foreign_partner_of_migrant"), number_of("foreign_partner_of_native")
    )
    chance = np.where(partner, of_partner, chance)
    chance = np.where(kind == LODGER, number_of("foreign_lodger"), chance)
    chance = np.where(kind == DOMESTIC, number_of("foreign_domestic"), chance)
    chance = np.where(people.role >= RESIDENT, number_of("foreign_resident"), chance)
    foreign = scene.chance("foreign", chance)
    # Children of migrants were born before the household came, or here.
    child = np.isin(people.role, (CHILD, GRANDCHILD, SECOND_PARENT))
    before = of_migrant & (people.age > years[people.household])
    foreign = np.where(child, before, foreign)
    foreign = np.where(people.role == HEAD, of_migrant, foreign)
    return foreign, foreign & of_migrant & scene.related


def _district_of_birth(scene: Scene) -> Ints:
    geography, people = scene.geography, scene.people
    here = geography.district[people.units.ed]
    sizes = np.bincount(
        geography.district, weights=geography.persons, minlength=geography.country.districts
    ).astype(np.int64)
    elsewhere = scene.draws.choose("district of birth", people.units, Shares(sizes))
    chance = np.where(people.age < 15, number_of("born_here_child"), number_of("born_here_grown"))
    return np.where(scene.chance("born here", chance), here, elsewhere).astype(np.int32)


def _citizenship(
    scene: Scene, foreign: Bools, country: Ints, years: Ints, migrant: Bools, origin: Ints
) -> Ints:
    society, people = scene.society, scene.people
    own_country = 0
    chance = numbers_of("naturalised")[group(np.maximum(years, 0), numbers_of("natural_years"))]
    naturalised = scene.chance("naturalised", chance)
    of_birth = np.where(naturalised, own_country, society.citizenship[country])
    home = people.household
    child = (people.role == CHILD) & (people.age < 18) & migrant[home]
    kept = child & scene.chance("citizen of parents", number_of("foreign_citizen_child"))
    kept |= scene.chance("citizen abroad", number_of("dual_native"))
    native = np.where(kept, society.citizenship[origin[home]], own_country)
    found = np.where(foreign, of_birth, native)
    stateless = scene.chance("stateless", number_of("stateless"))
    return np.where(stateless, society.stateless, found).astype(np.int32)


def _previous_residence(scene: Scene, years: Ints) -> Ints:
    """Where people lived a year before; households move together."""
    draws, people, units = scene.draws, scene.people, scene.homes.units
    heads = np.flatnonzero(people.number == 0)
    chance = numbers_of("moved")[group(people.age[heads], numbers_of("mover_ages"))]
    moved = draws.happens("moved", units, chance)
    came_from = SAME_PARISH + draws.choose("moved from", units, shares_of("moved_from"))
    of_home = np.where(moved, came_from, SAME_DWELLING)[people.household]
    alone = scene.chance("stayed alone", 20_000) & (people.role == OTHER)
    found = np.where(alone, SAME_PARISH, of_home)
    lately = (years == 0) | ((years == 1) & scene.chance("lately", 700_000))
    found = np.where(lately, FROM_ABROAD, found)
    return np.where(people.age == 0, NEWBORN, found).astype(np.int32)
