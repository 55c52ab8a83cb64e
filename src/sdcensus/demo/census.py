"""The records of the demo country, some enumeration districts at a time."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sdcensus.demo.country import Country
from sdcensus.demo.documents.lists import make_questionnaire
from sdcensus.demo.documents.questionnaire import DemoQuestion, Questionnaire
from sdcensus.demo.land.borders import Ground
from sdcensus.demo.land.geography import Geography, make_geography
from sdcensus.demo.people.dwellings import (
    TENURE_UNKNOWN,
    Homes,
    finish_dwellings,
    make_homes,
)
from sdcensus.demo.people.families import Families, make_families, unclear_relationship
from sdcensus.demo.people.households import Households, make_households
from sdcensus.demo.people.members import Members, make_members
from sdcensus.demo.people.shares import PARTNER, not_stated, number_of
from sdcensus.demo.people.society import Character, Scene, Society, make_ethnicity, make_migration
from sdcensus.demo.people.work import (
    MONEY_NOT_APPLICABLE,
    MONEY_NOT_STATED,
    make_health,
    make_schooling,
    make_work,
)
from sdcensus.demo.words import MILLION, Bools, DemoUnits, Draws, Ints

#: Districts are made together until this many persons are reached.
PERSONS_AT_ONCE = 200_000
GIVEN_NAMES, SURNAMES = 64, 140
#: Questions that only the employed are asked.
OF_WORK = (
    "occupation",
    "industry",
    "employment_status",
    "place_of_work",
    "hours_worked",
    "travel",
)


@dataclass(frozen=True, slots=True, eq=False)
class DemoRecords:
    """The records of some enumeration districts: positions in the code lists, by variable."""

    homes: Homes
    households: Households
    people: Members
    families: Families
    easting: Ints
    northing: Ints
    given_name: Ints
    surname: Ints
    income_flag: Ints
    columns: dict[str, Ints]


class DemoCensus:
    """A whole country: what is the same for all records, and the records in pieces."""

    def __init__(self, country: Country, seed: int) -> None:
        self.country = country
        self.draws = Draws(seed)
        self.geography: Geography = make_geography(country, self.draws)
        self.questionnaire: Questionnaire = make_questionnaire(self.geography)
        self._society = Society(country)
        self._character: Character = self._society.character(self.draws, self.geography)
        mesh, face_ed = self.geography.mesh, self.geography.face_ed
        self._ground = Ground.of(mesh, face_ed, country.eds)

    def pieces(self) -> Iterator[range]:
        """The enumeration districts in pieces of about ``PERSONS_AT_ONCE`` persons."""
        before = np.cumsum(self.geography.persons) - self.geography.persons
        piece = before // PERSONS_AT_ONCE
        starts = np.flatnonzero(np.diff(piece, prepend=-1))
        for start, end in zip(starts, [*starts[1:], self.country.eds], strict=True):
            yield range(int(start), int(end))

    def records(self, piece: range) -> DemoRecords:
        """All records of the enumeration districts of a piece."""
        draws, geography = self.draws, self.geography
        eds = np.arange(piece.start, piece.stop, dtype=np.int32)
        persons = geography.persons[eds].astype(np.int32)
        households = make_households(draws, eds, persons, geography.settlement[eds])
        households, people = make_members(draws, households, persons)
        families = make_families(draws, households, people)
        homes = make_homes(draws, geography, self._character, eds, households, people)
        scene = Scene(draws, self._society, geography, self._character, households, people)

        person = families.person | {"sex": people.sex, "age": people.age}
        person |= make_ethnicity(scene)
        person |= make_migration(scene, person["ethnicity"])
        schooling = make_schooling(scene)
        person |= schooling | make_work(scene, schooling)
        person |= make_health(scene, person["activity"])
        imputed = scene.chance("imputed", number_of("imputed_income"))
        imputed &= person["income"] != MONEY_NOT_APPLICABLE

        reticent = draws.happens("reticent", households.units, number_of("reticent"))
        at_home = np.zeros(len(homes.dwellings), dtype=np.bool_)
        at_home[homes.dwelling] = reticent
        nobody = np.zeros(len(homes.buildings), dtype=np.bool_)
        unclear_relationship(draws, people, person)
        self._leave_out(person, people.units, reticent[people.household])
        self._unknown_work(person)
        self._leave_out(homes.of_household, households.units, reticent)
        self._leave_out(homes.of_dwelling, homes.dwellings, at_home)
        self._leave_out(homes.of_building, homes.buildings, nobody)
        imputed &= person["income"] != MONEY_NOT_STATED
        untold = homes.of_household["tenure"] == TENURE_UNKNOWN
        homes.of_household["rent"][untold] = MONEY_NOT_APPLICABLE
        finish_dwellings(homes, households)

        given, surname = self._names(scene)
        easting, northing = self._ground.points(homes.buildings, draws)
        columns = homes.of_building | homes.of_dwelling | homes.of_household
        return DemoRecords(
            homes=homes,
            households=households,
            people=people,
            families=families,
            easting=easting,
            northing=northing,
            given_name=given,
            surname=surname,
            income_flag=imputed.astype(np.int32),
            columns=columns | families.household | person,
        )

    def _leave_out(self, columns: dict[str, Ints], units: DemoUnits, reticent: Bools) -> None:
        """Some do not answer; in reticent households most do not."""
        for name, column in columns.items():
            rate = not_stated().get(name)
            if name == "ethnicity":
                rate = self._society.not_stated
            if rate is None:
                continue
            question = self.questionnaire[name]
            asked, unknown = _asked(question, column)
            word = self.draws.below(f"not stated {name}", units, MILLION)
            most = number_of("reticent_percent") * (MILLION // 100)
            silent = word < np.where(reticent, most, rate)
            columns[name] = np.where(asked & silent, unknown, column).astype(np.int32)

    def _unknown_work(self, person: dict[str, Ints]) -> None:
        """Whose activity is not known, nothing is known about their work."""
        activity = self.questionnaire["activity"]
        unknown = person["activity"] == activity.position(activity.not_stated)
        for name in OF_WORK:
            person[name][unknown] = self.questionnaire[name].position(
                self.questionnaire[name].not_stated
            )

    def _names(self, scene: Scene) -> tuple[Ints, Ints]:
        """Positions of given names (of men, then of women) and of surnames."""
        draws, people = scene.draws, scene.people
        given = draws.below("given name", people.units, GIVEN_NAMES) + people.sex * GIVEN_NAMES
        of_home = draws.below("surname", scene.homes.units, SURNAMES)[people.household]
        own = draws.below("own surname", people.units, SURNAMES)
        shares = scene.related & ~((people.role == PARTNER) & scene.chance("keeps name", 450_000))
        return given.astype(np.int32), np.where(shares, of_home, own).astype(np.int32)


def _asked(question: DemoQuestion, column: Ints) -> tuple[Bools, int]:
    """Who was asked a question, and the position of "not stated"."""
    if question.continuous:
        return column != MONEY_NOT_APPLICABLE, MONEY_NOT_STATED
    asked: Bools = np.ones(column.size, dtype=np.bool_)
    if question.not_applicable:
        asked = column != question.position(question.not_applicable)
    if question.name == "activity":  # children are not asked, and say so with a code of its own
        asked = column != question.position("7")
    return asked, question.position(question.not_stated)
