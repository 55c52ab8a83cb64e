"""The files of a demo country: complete, linked, and within their code lists."""

from __future__ import annotations

from functools import reduce
from operator import and_, or_

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.demo import make_country, write_country
from sdcensus.demo.people.shares import not_stated
from sdcensus.model.schema.variable import CodeKind, Role
from sdcensus.model.spec.predicate import (
    And,
    Comparison,
    Condition,
    Named,
    Not,
    Or,
    parse_condition,
)
from tests.demo.reading import Column, Written, join


@pytest.mark.parametrize("persons", [100, 101, 1_234, 4_999])
def test_a_country_has_exactly_the_persons_that_were_asked_for(
    persons: int, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("exact")
    written = Written(write_country(folder, country=make_country(persons), seed=persons))
    assert len(written.persons["ed"]) == persons == written.files.records["person"]


def test_ids_are_unique(island: Written) -> None:
    for table, parts in (
        (island.buildings, ("ed", "building_no")),
        (island.dwellings, ("ed", "dwelling_no")),
        (island.households, ("ed", "household_no")),
        (island.persons, ("ed", "household_no", "person_no")),
    ):
        ids = join(*(table[part] for part in parts))
        assert len(set(ids.tolist())) == ids.size
        assert np.strings.str_len(table[parts[-1]]).min() >= 3


def test_every_record_is_linked_and_nothing_but_vacant_dwellings_is_empty(island: Written) -> None:
    assert island.household_of_person.min() >= 0
    assert island.dwelling_of_household.min() >= 0
    assert island.building_of_dwelling.min() >= 0
    assert len(set(island.household_of_person.tolist())) == len(island.households["ed"])
    assert len(set(island.building_of_dwelling.tolist())) == len(island.buildings["ed"])
    occupied = np.zeros(len(island.dwellings["ed"]), dtype=np.bool_)
    occupied[island.dwelling_of_household] = True
    assert (occupied == (island.dwellings["occupancy"] == "1")).all()
    assert 0.08 < 1 - occupied.mean() < 0.25


def test_records_of_every_kind_are_reported(island: Written) -> None:
    counts = {name: len(table["ed"]) for name, table in island.tables.items()}
    in_family = island.persons["family_no"] != ""
    families = join(*(island.persons[part][in_family] for part in ("ed", "household_no")))
    counts["family"] = len({*join(families, island.persons["family_no"][in_family]).tolist()})
    assert island.files.records == counts


def test_institutions_homeless_people_and_shared_dwellings_exist(island: Written) -> None:
    kinds = {code: (island.of_persons("household_kind") == code).mean() for code in "123"}
    assert kinds["1"] > 0.95
    assert 0.002 < kinds["2"] < 0.04
    assert 0 < kinds["3"] < 0.005
    households = np.bincount(island.dwelling_of_household)
    assert (households > 1).any()


def test_sizes_are_those_of_the_records(island: Written) -> None:
    size = np.bincount(island.household_of_person)
    private = island.households["household_kind"] == "1"
    stated = island.households["household_size"][private].astype(np.int64)
    assert (stated == np.minimum(size[private], 11)).all()
    occupants = np.bincount(
        island.dwelling_of_household, weights=size, minlength=len(island.dwellings["ed"])
    )
    assert (island.dwellings["occupants"].astype(np.int64) == np.minimum(occupants, 11)).all()


def test_families_have_their_size_and_one_type(island: Written) -> None:
    persons = island.persons
    member = persons["family_no"] != ""
    family = join(*(persons[part][member] for part in ("ed", "household_no", "family_no")))
    names, index = np.unique(family, return_inverse=True)
    size = np.bincount(index)
    assert size.min() >= 2
    assert (persons["family_size"][member].astype(np.int64) == np.minimum(size, 11)[index]).all()
    types = {*zip(index.tolist(), persons["family_type"][member].tolist(), strict=True)}
    assert len(types) == len(names)
    for name in ("family_type", "family_size"):
        assert set(persons[name][~member].tolist()) == {"98"}
    assert set(persons["family_status"][~member].tolist()) <= {"8", "9"}


def _count(values: Column) -> dict[str, int]:
    codes, counts = np.unique(values, return_counts=True)
    return dict(zip(codes.tolist(), counts.tolist(), strict=True))


def test_types_of_households_agree_with_their_families(island: Written) -> None:
    persons = island.persons
    home = island.household_of_person
    families = np.zeros(len(island.households["ed"]), dtype=np.int64)
    np.maximum.at(
        families, home, np.where(persons["family_no"] == "", "0", persons["family_no"]).astype(int)
    )
    kind = island.households["household_type"]
    private = kind != "98"
    assert (families[~private] == 0).all()
    assert ((families == 2) == (kind == "31")).all()
    assert ((families == 0) == np.isin(kind, ("11", "12", "98"))).all()
    # A household with one family has the type of that family.
    one = families[home] == 1
    member = one & (persons["family_no"] == "1")
    of_family = persons["family_type"][member]
    of_household = kind[home[member]]
    pairs = _count(join(of_family, of_household))
    expected = {"11": "21", "12": "22", "13": "23", "14": "21", "15": "22", "16": "23"}
    expected |= {"21": "21", "22": "22", "23": "23", "31": "24", "32": "25", "41": "26", "42": "27"}
    assert {tuple(pair.split("|")) for pair in pairs} <= set(expected.items())


def test_every_field_holds_a_code_of_its_code_list(island: Written) -> None:
    for variable in island.schema.variables:
        if variable.source is None or variable.source.file not in island.tables:
            continue
        if variable.name in ("name", "weight", "rent", "income", "ed_grid"):
            continue
        found = set(island.tables[variable.source.file][variable.source.column].tolist())
        assert found <= {code.code for code in variable.codes}, variable.name


def test_files_have_the_columns_of_the_schema_and_ids_besides(island: Written) -> None:
    ids = {"building_no", "dwelling_no", "household_no", "person_no", "family_no", "ed"}
    ids |= {"easting", "northing", "income_flag"}
    for name, table in island.tables.items():
        columns = {
            variable.source.column
            for variable in island.schema.variables
            if variable.source and variable.source.file == name
        }
        assert columns <= set(table)
        assert set(table) - columns <= ids


def test_about_thirty_person_and_fifteen_household_variables_are_asked(island: Written) -> None:
    asked = {name: len(table) for name, table in island.tables.items()}
    assert asked["person"] >= 30
    assert asked["household"] + asked["dwelling"] >= 15


def test_numbers_have_the_form_that_the_schema_promises(island: Written) -> None:
    weight = island.households["weight"]
    assert set(np.strings.str_len(weight).tolist()) == {8}
    assert ((weight.astype(float) >= 1) & (weight.astype(float) <= 1.25)).all()
    tenants = np.isin(island.households["tenure"], ("3", "4"))
    assert ((island.households["rent"] != "") == tenants).all()
    children = island.age < 15
    assert ((island.persons["income"] == "") == children).all()
    paid = island.persons["income"][~children]
    amounts = paid[paid != "999999"]
    assert np.strings.endswith(amounts, ".00").all()
    assert 800 < np.median(amounts.astype(float)) < 3000


def test_imputed_incomes_are_flagged_and_never_missing(island: Written) -> None:
    flagged = island.persons["income_flag"] == "1"
    assert 0.01 < flagged.mean() < 0.06
    assert not np.isin(island.persons["income"][flagged], ("", "999999")).any()
    assert set(island.persons["income_flag"].tolist()) == {"0", "1"}


def test_names_are_direct_identifiers_and_shared_by_families(island: Written) -> None:
    assert island.schema.variable("name").role is Role.DIRECT_IDENTIFIER
    names = island.persons["name"]
    assert (np.strings.count(names, " ") == 1).all()
    surname = np.array([name.split()[1] for name in names.tolist()])
    first_of_home = np.unique(island.household_of_person, return_index=True)[1]
    same = surname == surname[first_of_home][island.household_of_person]
    child = island.persons["relationship"] == "04"
    assert same[child].all()
    assert 0.3 < same[island.persons["relationship"] == "03"].mean() < 0.8


@pytest.mark.parametrize("name", sorted(not_stated()))
def test_some_do_not_answer(island: Written, name: str) -> None:
    """Between 0.2 and 4 percent of those who were asked."""
    if name in ("rent", "income"):
        table = island.households if name == "rent" else island.persons
        asked = table[name] != ""
        share = (table[name][asked] == "999999").mean()
    else:
        variable = island.schema.variable(name)
        assert variable.source is not None
        column = island.tables[variable.source.file][name]
        kinds = {code.code: code.kind for code in variable.codes}
        if name == "activity":
            column = column[island.age >= 15]
        kind = np.array([kinds[code] for code in column.tolist()])
        asked = kind != CodeKind.NOT_APPLICABLE
        share = (kind[asked] == CodeKind.NOT_STATED).mean()
    assert 0.002 <= share <= 0.04


def test_what_does_not_apply_says_so(island: Written) -> None:
    persons = island.persons
    employed = np.isin(persons["activity"], ("1", "9"))
    for name, code in (
        ("occupation", "9998"),
        ("industry", "998"),
        ("employment_status", "8"),
        ("place_of_work", "98"),
        ("hours_worked", "98"),
        ("travel", "8"),
    ):
        assert ((persons[name] == code) == ~employed).all(), name
    assert ((persons["education"] == "98") == (island.age < 15)).all()
    assert ((persons["previous_residence"] == "8") == (island.age == 0)).all()
    woman = (persons["sex"] == "2") & (island.age >= 15)
    assert ((persons["children_born"] == "98") == ~woman).all()


Mask = npt.NDArray[np.bool_]


def _holds(condition: Condition, island: Written, table: dict[str, Column]) -> Mask:
    """Where a condition of the schema holds, worked out from its parts."""
    match condition:
        case Named(name):
            raise AssertionError(f"{name} is no condition of a record")
        case Not(part):
            return ~_holds(part, island, table)
        case And(parts):
            return reduce(and_, (_holds(part, island, table) for part in parts))
        case Or(parts):
            return reduce(or_, (_holds(part, island, table) for part in parts))
        case Comparison(operand, operator, values):
            codes, column = [value.text for value in values], table[operand.name.text]
            if operand.levels:
                column = island.level(operand.name.text, operand.levels[0].text, column)
            if operator in ("==", "in"):
                return np.isin(column, codes)
            if operator in ("!=", "not in"):
                return ~np.isin(column, codes)
            number, bound = column.astype(np.int64), int(codes[0])
            compared: dict[str, Mask] = {
                "<": number < bound,
                "<=": number <= bound,
                ">": number > bound,
                ">=": number >= bound,
            }
            return compared[operator]


def test_impossible_combinations_do_not_occur(island: Written) -> None:
    assert len(island.schema.impossible) >= 10
    everything = {
        variable.name: island.of_persons(variable.name)
        for variable in island.schema.variables
        if variable.is_axis and variable.name != "ed_grid"
    }
    for rule in island.schema.impossible:
        # Persons live in no vacant dwelling, so that rule is looked at among dwellings.
        table = island.dwellings if "occupancy" in rule.when else everything
        condition = parse_condition(rule.when)
        assert not _holds(condition, island, table).any(), rule.when
        # And it says something: both parts of it do occur.
        assert isinstance(condition, And)
        assert all(_holds(part, island, table).any() for part in condition.parts), rule.when


def test_vacant_dwellings_have_no_occupants(island: Written) -> None:
    vacant = np.isin(island.dwellings["occupancy"], ("2", "3", "4"))
    assert set(island.dwellings["occupants"][vacant].tolist()) == {"00"}
    assert set(island.dwellings["ownership"][vacant].tolist()) == {"8"}


def test_density_of_rooms_is_that_of_rooms_and_occupants(island: Written) -> None:
    dwellings = island.dwellings
    known = ~np.isin(dwellings["room_density"], ("98", "99"))
    known &= (dwellings["occupants"] != "11") & (dwellings["rooms"] != "09")
    ratio = dwellings["rooms"][known].astype(float) / dwellings["occupants"][known].astype(float)
    bounds = np.array([0.5, 1, 1.25, 1.5, 2, 2.5, 3])
    expected = 1 + np.searchsorted(bounds, ratio, side="right")
    assert (dwellings["room_density"][known].astype(np.int64) == expected).all()


def test_types_of_buildings_agree_with_their_dwellings(island: Written) -> None:
    dwellings = np.bincount(island.building_of_dwelling)
    kind = island.buildings["building_type"]
    for code, holds in (("1", dwellings == 1), ("2", dwellings == 2), ("3", dwellings >= 3)):
        assert (kind == code).any()
        assert holds[kind == code].all()
