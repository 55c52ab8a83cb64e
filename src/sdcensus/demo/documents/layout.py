"""Which columns the files of the demo country have, and what stands in them."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from sdcensus.demo.census import DemoCensus, DemoRecords
from sdcensus.demo.documents.lists import ed_codes, names
from sdcensus.demo.documents.questionnaire import DemoQuestion
from sdcensus.demo.files import Field
from sdcensus.demo.people.work import MONEY_STEP, MONEY_VALUES
from sdcensus.demo.words import DemoUnits, Ints

#: Columns that identify records and say where they belong; variables follow.
IDS = {
    "building": ("ed", "building_no", "easting", "northing"),
    "dwelling": ("ed", "dwelling_no", "building_no"),
    "household": ("ed", "household_no", "dwelling_no"),
    "person": ("ed", "household_no", "person_no", "family_no"),
}
FIRST_KILOMETRE, KILOMETRES = 1_500, 2_000
MOST_WEIGHT = 2_500


class ColumnLayout:
    """The columns of the four files of one country."""

    def __init__(self, census: DemoCensus) -> None:
        self._census = census
        self._areas = ed_codes(census.geography)
        # Nothing is numbered higher than twice the persons of a district: half may be vacant.
        width = max(4, len(str(3 * int(census.geography.persons.max()))))
        self._numbers = [f"{number:0{width}}" for number in range(10 ** min(width, 5))]
        money = [f"{step * MONEY_STEP}.00" for step in range(MONEY_VALUES)]
        self._texts: dict[str, tuple[list[str], ...]] = {
            "ed": (self._areas,),
            "family_no": (["", "1", "2"],),
            "person_no": ([f"{number:03}" for number in range(1000)],),
            "weight": ([f"1.{part:04}00" for part in range(MOST_WEIGHT + 1)],),
            "rent": ([*money, "999999", ""],),
            "income": ([*money, "999999", ""],),
            "income_flag": (["0", "1"],),
            "name": (
                [f"{name} " for kind in ("male", "female") for name in names(kind)],
                names("surname"),
            ),
        }
        for number in ("building_no", "dwelling_no", "household_no"):
            self._texts[number] = (self._numbers,)
        kilometres = [str(FIRST_KILOMETRE + number) for number in range(KILOMETRES)]
        for axis in ("easting", "northing"):
            self._texts[axis] = (kilometres, [f"{metre:03}" for metre in range(1000)])

    def _questions(self, file: str) -> list[DemoQuestion]:
        return [
            question
            for question in self._census.questionnaire
            if question.file == file and question.name != "ed"
        ]

    def fields(self, file: str) -> list[Field]:
        """The columns of a file with everything that can stand in them."""
        fields = [Field.of(name, *self._texts[name]) for name in IDS[file]]
        for question in self._questions(file):
            texts = self._texts.get(question.name, (question.texts,))
            fields.append(Field.of(question.name, *texts))
            if question.imputed:
                fields.append(Field.of(question.imputed, *self._texts[question.imputed]))
        return fields

    def positions(self, file: str, records: DemoRecords) -> list[Ints]:
        """Positions for each table of texts of each column of a file."""
        found = _IDS_OF[file](records)
        for question in self._questions(file):
            if question.name == "name":
                found += [records.given_name, records.surname]
            else:
                found.append(records.columns[question.name])
            if question.imputed:
                found.append(records.income_flag)
        return found


def _metres(values: Ints) -> list[Ints]:
    return [
        (values // 1000 - FIRST_KILOMETRE).astype(np.int32),
        (values % 1000).astype(np.int32),
    ]


def _number(units: DemoUnits) -> Ints:
    return units.number + np.int32(1)


def _of_buildings(records: DemoRecords) -> list[Ints]:
    units = records.homes.buildings
    return [units.ed, _number(units), *_metres(records.easting), *_metres(records.northing)]


def _of_dwellings(records: DemoRecords) -> list[Ints]:
    units = records.homes.dwellings
    return [units.ed, _number(units), records.homes.building + np.int32(1)]


def _of_households(records: DemoRecords) -> list[Ints]:
    units = records.households.units
    dwelling = _number(records.homes.dwellings)[records.homes.dwelling]
    return [units.ed, _number(units), dwelling]


def _of_persons(records: DemoRecords) -> list[Ints]:
    people = records.people
    household = _number(records.households.units)[people.household]
    return [people.units.ed, household, people.number + np.int32(1), records.families.number]


_IDS_OF: dict[str, Callable[[DemoRecords], list[Ints]]] = {
    "building": _of_buildings,
    "dwelling": _of_dwellings,
    "household": _of_households,
    "person": _of_persons,
}
