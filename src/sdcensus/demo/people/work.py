"""Schooling, work, income and health in the demo country."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from sdcensus.demo.documents.questionnaire import categories, rows
from sdcensus.demo.people import shares_people as tables
from sdcensus.demo.people.members import FEMALE, group
from sdcensus.demo.people.shares_households import (
    BARRACKS,
    DOMESTIC,
    ELDERLY,
    PRISON,
    RESIDENT,
    STUDENTS,
)
from sdcensus.demo.people.shares_people import (
    FARMS,
    HOMES,
    MANAGERS,
    PUBLIC,
    REST,
    SCHOOLS_HEALTH,
    TRADES,
)
from sdcensus.demo.people.society import Scene
from sdcensus.demo.words import Bools, Ints, Shares

FULL_TIME, PART_TIME, NO_SCHOOL, UNDER_THREE, _ = categories("school_attendance")
NO_EDUCATION = categories("education")[-2]
EMPLOYED, UNEMPLOYED, STUDENT, RETIRED, HOME_DUTIES, UNABLE, UNDER_15, _ = categories("activity")
OWN_ACCOUNT, UNPAID, APPRENTICE, NOT_EMPLOYED = categories("employment_status")[3:7]
AT_HOME, NO_TRAVEL = categories("travel")[-3:-1]
NO_HOURS = 97  # after the hours from 1 to 97

#: Money is written from 0 to 99,990 in steps of ten; then come the two ways to have none.
MONEY_STEP, MONEY_VALUES = 10, 10_000
MONEY_NOT_STATED, MONEY_NOT_APPLICABLE = MONEY_VALUES, MONEY_VALUES + 1


class Employment:
    """Occupations of the demo country, and what goes with them."""

    def __init__(self) -> None:
        units = [row for row in rows("occupations") if row["industries"]]
        divisions = [row["code"] for row in rows("industries") if row["code"].isdigit()]
        codes = [row["code"] for row in units]
        self.count = len(units)
        self.industries = len(divisions)
        self.soldier = codes.index("0310")
        self.domestic = codes.index("9111")
        self.pay = np.array([int(row["pay"]) for row in units])

        farm = np.array([code[0] == "6" or code[:2] == "92" for code in codes])
        schooling = np.array([[int(part) for part in row["schooling"].split()] for row in units])
        by_sex = np.array([[int(row["men"]), int(row["women"])] for row in units])
        # Settlement, schooling, sex; and farm work goes with villages.
        percent = np.where(farm, tables.FARM_PERCENT[:, None], 100)
        weights = percent[:, None, None, :] * schooling.T[None, :, None, :] * by_sex.T[None, None]
        self.occupation = Shares(weights)

        industry = np.zeros((len(units), len(divisions)), dtype=np.int64)
        for i, row in enumerate(units):
            for part in row["industries"].split():
                division, weight = part.split(":")
                industry[i, divisions.index(division)] = int(weight)
        self.industry = Shares(industry)

        by_occupation = [_work_class(code) for code in codes]
        by_industry = {"84": PUBLIC, "85": SCHOOLS_HEALTH, "86": SCHOOLS_HEALTH, "97": HOMES}
        self.work_class = np.array(
            [
                [by_industry.get(division, of_code) for division in divisions]
                for of_code in by_occupation
            ]
        )


def _work_class(code: str) -> int:
    if code[0] in "1":
        return MANAGERS
    if code[0] == "6" or code[:2] == "92":
        return FARMS
    if code[0] in "78" or code in ("9520", "9313", "9622"):
        return TRADES
    return REST


@cache
def jobs() -> Employment:
    """The occupations, read once."""
    return Employment()


def make_schooling(scene: Scene) -> dict[str, Ints]:
    """School attendance and education."""
    draws, people = scene.draws, scene.people
    by_age = group(people.age, tables.ATTENDANCE_AGES)
    attendance = draws.choose("attendance", people.units, tables.ATTENDANCE, by_age)
    attendance = np.where(_resident_of(scene, STUDENTS), FULL_TIME, attendance)
    attendance = np.where(people.age < 3, UNDER_THREE, attendance)
    education = draws.choose(
        "education",
        people.units,
        tables.SCHOOLING,
        scene.character.wealth[people.units.ed],
        group(people.age, tables.SCHOOL_AGES),
        people.sex,
    )
    education = np.where(people.age < 15, NO_EDUCATION, education)
    return {
        "school_attendance": attendance.astype(np.int32),
        "education": education.astype(np.int32),
    }


def _resident_of(scene: Scene, institution: int) -> Bools:
    resident = scene.people.role == RESIDENT
    found: Bools = resident & (scene.homes.institution[scene.people.household] == institution)
    return found


def make_work(scene: Scene, schooling: dict[str, Ints]) -> dict[str, Ints]:
    """Activity, and for the employed what, where and how they work."""
    draws, people, units = scene.draws, scene.people, scene.people.units
    grown = people.age >= 15
    band = tables.SCHOOLING_BAND[np.where(grown, schooling["education"], 0)]
    settlement = scene.geography.settlement[units.ed]
    activity = _activity(scene, band, schooling["school_attendance"])

    at_work = np.flatnonzero(activity == EMPLOYED)
    workers = units.take(at_work)
    table = jobs()
    occupation = draws.choose(
        "occupation",
        workers,
        table.occupation,
        settlement[at_work],
        band[at_work],
        people.sex[at_work],
    )
    occupation = np.where(people.other_kind[at_work] == DOMESTIC, table.domestic, occupation)
    occupation = np.where(_resident_of(scene, BARRACKS)[at_work], table.soldier, occupation)
    industry = draws.choose("industry", workers, table.industry, occupation)
    work_class = table.work_class[occupation, industry]
    status = draws.choose("status", workers, tables.STATUS, work_class)
    status = np.where((status == APPRENTICE) & (people.age[at_work] > 30), OWN_ACCOUNT, status)
    wealthy = (scene.character.wealth[workers.ed] >= 2).astype(np.int32)
    travel = draws.choose("travel", workers, tables.TRAVEL, settlement[at_work], wealthy)
    place = _place_of_work(scene, at_work, work_class, travel)
    hours = draws.choose("hours", workers, tables.HOURS, work_class)
    hours = tables.HOURS_LEAST[hours] + draws.below("hour", workers, tables.HOURS_MORE[hours]) - 1
    districts = scene.geography.country.districts
    columns: dict[str, Ints] = {"activity": activity}
    for name, values, otherwise in (
        ("occupation", occupation, table.count),
        ("industry", industry, table.industries),
        ("employment_status", status, NOT_EMPLOYED),
        ("place_of_work", place, districts + 3),
        ("hours_worked", hours, NO_HOURS),
        ("travel", travel, NO_TRAVEL),
    ):
        column = np.full(people.age.size, otherwise, dtype=np.int32)
        column[at_work] = values
        columns[name] = column
    columns["income"] = _income(scene, columns)
    return columns


def _activity(scene: Scene, band: npt.NDArray[np.integer], attendance: Ints) -> Ints:
    draws, people = scene.draws, scene.people
    by_age = group(people.age, tables.WORK_AGES)
    found = draws.choose("activity", people.units, tables.ACTIVITY, band, by_age, people.sex)
    student = draws.choose("student", people.units, tables.ACTIVITY_STUDENT)
    found = np.where(attendance == FULL_TIME, student, found)
    found = np.where(_resident_of(scene, PRISON), UNABLE, found)
    found = np.where(_resident_of(scene, BARRACKS) & (people.age >= 18), EMPLOYED, found)
    old = _resident_of(scene, ELDERLY)
    found = np.where(old, np.where(people.age >= 60, RETIRED, UNABLE), found)
    found = np.where(people.other_kind == DOMESTIC, EMPLOYED, found)
    return np.where(people.age < 15, UNDER_15, found).astype(np.int32)


def _place_of_work(
    scene: Scene, at_work: npt.NDArray[np.intp], work_class: Ints, travel: Ints
) -> Ints:
    """The district where somebody works, or one of: not known where, abroad, no fixed place."""
    geography = scene.geography
    workers = scene.people.units.take(at_work)
    districts = geography.country.districts
    sizes = np.bincount(geography.district, weights=geography.persons, minlength=districts)
    capital = geography.district[np.flatnonzero(geography.settlement == 2)[0]]
    sizes[capital] *= tables.CAPITAL_DRAWS
    here = geography.district[workers.ed]
    elsewhere = scene.draws.choose("works elsewhere", workers, Shares(sizes.astype(np.int64)))
    kind = scene.draws.choose("place of work", workers, tables.PLACE_OF_WORK, work_class)
    kind = np.where(travel == AT_HOME, 0, kind)
    place = np.where(kind == 0, here, elsewhere)
    return np.where(kind >= 2, districts + kind - 2, place).astype(np.int32)


def _income(scene: Scene, columns: dict[str, Ints]) -> Ints:
    """Income in steps of ten: pay of the occupation, age, sex, and luck."""
    draws, people = scene.draws, scene.people
    table = jobs()
    employed = columns["activity"] == EMPLOYED
    luck = tables.SPREAD[draws.below("luck", people.units, tables.SPREAD.size)]
    pay = table.pay[np.minimum(columns["occupation"], table.count - 1)]
    pay = pay * tables.PAY_BY_AGE[group(people.age, tables.PAY_AGES)] // 100
    pay = np.where(people.sex == FEMALE, pay * tables.PAY_OF_WOMEN // 100, pay)
    pay = np.where(columns["employment_status"] == UNPAID, 0, pay)
    other = tables.OTHER_INCOME[columns["activity"]]
    some = scene.chance("income", tables.HAVE_INCOME[columns["activity"]])
    income = np.where(employed, pay, np.where(some, other, 0)) * luck // 1000
    steps = np.minimum(income // MONEY_STEP, MONEY_VALUES - 1)
    return np.where(people.age < 15, MONEY_NOT_APPLICABLE, steps).astype(np.int32)


def make_health(scene: Scene, activity: Ints) -> dict[str, Ints]:
    """Disability, health insurance, and a rare condition that runs in households."""
    draws, people, units = scene.draws, scene.people, scene.people.units
    by_age = group(people.age, tables.HEALTH_AGES)
    wealth = scene.character.wealth[units.ed]
    at_work = np.where(activity == EMPLOYED, 0, 1)
    rate = tables.CONDITION[scene.character.hot_spot[scene.homes.units.ed]]
    in_household = draws.happens("condition at home", scene.homes.units, rate * 2)
    condition = in_household[people.household] & scene.chance("condition", 500_000)
    return {
        "disability": draws.choose("disability", units, tables.DISABILITY, by_age),
        "health_insurance": draws.choose("insurance", units, tables.INSURANCE, wealth, at_work),
        "health_condition": condition.astype(np.int32),
    }
