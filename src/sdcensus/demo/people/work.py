"""Schooling, work, income and health in the demo country."""

from __future__ import annotations

from functools import cache

import numpy as np
import numpy.typing as npt

from sdcensus.demo.documents.questionnaire import categories, rows
from sdcensus.demo.people.members import FEMALE, group
from sdcensus.demo.people.shares import (
    BARRACKS,
    DOMESTIC,
    ELDERLY,
    FARMS,
    HOMES,
    MANAGERS,
    PRISON,
    PUBLIC,
    RESIDENT,
    REST,
    SCHOOLS_HEALTH,
    STUDENTS,
    TRADES,
    activity_shares,
    number_of,
    numbers_of,
    schooling_shares,
    shares_of,
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
        percent = np.where(farm, numbers_of("farm_percent")[:, None], 100)
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
    by_age = group(people.age, numbers_of("attendance_ages"))
    attendance = draws.choose("attendance", people.units, shares_of("attendance"), by_age)
    attendance = np.where(_resident_of(scene, STUDENTS), FULL_TIME, attendance)
    attendance = np.where(people.age < 3, UNDER_THREE, attendance)
    education = draws.choose(
        "education",
        people.units,
        schooling_shares(),
        scene.character.wealth[people.units.ed],
        group(people.age, numbers_of("school_ages")),
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
    band = numbers_of("schooling_band")[np.where(grown, schooling["education"], 0)]
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
    status = draws.choose("status", workers, shares_of("status"), work_class)
    status = np.where((status == APPRENTICE) & (people.age[at_work] > 30), OWN_ACCOUNT, status)
    wealthy = (scene.character.wealth[workers.ed] >= 2).astype(np.int32)
    travel = draws.choose("travel", workers, shares_of("travel"), settlement[at_work], wealthy)
    place = _place_of_work(scene, at_work, work_class, travel)
    hours = draws.choose("hours", workers, shares_of("hours"), work_class)
    hours = (
        numbers_of("hours_least")[hours]
        + draws.below("hour", workers, numbers_of("hours_more")[hours])
        - 1
    )
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
    by_age = group(people.age, numbers_of("work_ages"))
    found = draws.choose("activity", people.units, activity_shares(), band, by_age, people.sex)
    student = draws.choose("student", people.units, shares_of("activity_student"))
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
    sizes[capital] *= number_of("capital_draws")
    here = geography.district[workers.ed]
    elsewhere = scene.draws.choose("works elsewhere", workers, Shares(sizes.astype(np.int64)))
    kind = scene.draws.choose("place of work", workers, shares_of("place_of_work"), work_class)
    kind = np.where(travel == AT_HOME, 0, kind)
    place = np.where(kind == 0, here, elsewhere)
    return np.where(kind >= 2, districts + kind - 2, place).astype(np.int32)


def _income(scene: Scene, columns: dict[str, Ints]) -> Ints:
    """Income in steps of ten: pay of the occupation, age, sex, and luck."""
    draws, people = scene.draws, scene.people
    table = jobs()
    employed = columns["activity"] == EMPLOYED
    luck = numbers_of("spread")[draws.below("luck", people.units, numbers_of("spread").size)]
    pay = table.pay[np.minimum(columns["occupation"], table.count - 1)]
    pay = pay * numbers_of("pay_by_age")[group(people.age, numbers_of("pay_ages"))] // 100
    pay = np.where(people.sex == FEMALE, pay * number_of("pay_of_women") // 100, pay)
    pay = np.where(columns["employment_status"] == UNPAID, 0, pay)
    other = numbers_of("other_income")[columns["activity"]]
    some = scene.chance("income", numbers_of("have_income")[columns["activity"]])
    income = np.where(employed, pay, np.where(some, other, 0)) * luck // 1000
    steps = np.minimum(income // MONEY_STEP, MONEY_VALUES - 1)
    return np.where(people.age < 15, MONEY_NOT_APPLICABLE, steps).astype(np.int32)


def make_health(scene: Scene, activity: Ints) -> dict[str, Ints]:
    """Disability, health insurance, and a rare condition that runs in households."""
    draws, people, units = scene.draws, scene.people, scene.people.units
    by_age = group(people.age, numbers_of("health_ages"))
    wealth = scene.character.wealth[units.ed]
    at_work = np.where(activity == EMPLOYED, 0, 1)
    rate = numbers_of("condition")[scene.character.hot_spot[scene.homes.units.ed]]
    in_household = draws.happens("condition at home", scene.homes.units, rate * 2)
    condition = in_household[people.household] & scene.chance("condition", 500_000)
    return {
        "disability": draws.choose("disability", units, shares_of("disability"), by_age),
        "health_insurance": draws.choose(
            "insurance", units, shares_of("insurance"), wealth, at_work
        ),
        "health_condition": condition.astype(np.int32),
    }
