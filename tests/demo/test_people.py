"""The people of a demo country depend on each other as people do."""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.demo.census import DemoCensus
from tests.demo.reading import Column, Written

Value = TypeVar("Value", bound=np.generic)


def _of_head(island: Written, values: npt.NDArray[Value]) -> npt.NDArray[Value]:
    first = np.unique(island.household_of_person, return_index=True)[1]
    return values[first][island.household_of_person]


def test_the_pyramid_is_that_of_a_country_in_transition(island: Written) -> None:
    age = island.age
    assert 0.18 < (age < 15).mean() < 0.28
    assert 0.07 < (age >= 65).mean() < 0.15
    assert 0.0001 < (age > 95).mean() < 0.004
    assert age.max() <= 104
    # No age stands out: each has at most half as many again as its neighbours.
    counts = np.bincount(age, minlength=105)
    assert (counts[1:80] < 1.5 * (counts[:79] + counts[2:81]) / 2).all()


def test_women_live_longer(island: Written) -> None:
    women = island.persons["sex"] == "2"
    assert 0.48 < women.mean() < 0.54
    assert 0.45 < women[island.age < 10].mean() < 0.52
    assert women[island.age >= 80].mean() > 0.55


def test_nobody_is_married_before_eighteen_and_most_are_later(island: Written) -> None:
    married = np.isin(island.persons["marital_status"], ("2", "3", "4"))
    assert not married[island.age < 18].any()
    assert married[(island.age >= 45) & (island.age < 65)].mean() > 0.4
    widowed = island.persons["marital_status"] == "5"
    women = island.persons["sex"] == "2"
    assert widowed[island.age >= 75].mean() > 0.3 > 0.02 > widowed[island.age < 45].mean()
    old = island.age >= 65
    assert widowed[old & women].mean() > 1.3 * widowed[old & ~women].mean()


def test_couples_are_of_similar_age_and_mostly_man_and_woman(island: Written) -> None:
    partner = np.isin(island.persons["relationship"], ("02", "03"))
    gap = (_of_head(island, island.age) - island.age)[partner]
    assert np.abs(gap).max() <= 18
    assert np.median(np.abs(gap)) <= 4
    head_sex = _of_head(island, island.persons["sex"])
    same = (head_sex == island.persons["sex"])[partner]
    assert 0 < same.mean() < 0.04
    man_is_head = head_sex[partner] == "1"
    assert gap[man_is_head].mean() > 1 > -1 > gap[~man_is_head].mean()


def test_children_have_parents_of_plausible_age(island: Written) -> None:
    persons, age = island.persons, island.age
    head_age = _of_head(island, age)
    child = persons["relationship"] == "04"
    assert (head_age - age)[child].min() >= 15
    # Children of lone mothers, who are heads: nobody gives birth after 46.
    lone_mother = np.isin(island.of_persons("household_type"), ("26", "27"))
    lone_mother &= _of_head(island, persons["sex"]) == "2"
    of_mother = child & lone_mother & (persons["family_status"] == "6")
    gap = (head_age - age)[of_mother]
    assert gap.size > 500
    assert gap.max() <= 46
    assert 22 <= np.median(gap) <= 31


def test_the_reference_person_comes_first_and_is_grown_up(island: Written) -> None:
    private = island.of_persons("household_kind") == "1"
    first = island.persons["person_no"] == "001"
    reference = island.persons["relationship"] == "01"
    assert (reference[private] == first[private]).all()
    assert island.age[reference].min() >= 16


@pytest.mark.parametrize(("name", "least"), [("ethnicity", 0.9), ("religion", 0.8)])
def test_households_share_ethnicity_and_religion(island: Written, name: str, least: float) -> None:
    values = island.persons[name]
    head = _of_head(island, values)
    known = (values != "99") & (head != "99") & (island.of_persons("household_kind") == "1")
    other = known & (island.persons["relationship"] != "01")
    assert (values == head)[other].mean() > least
    # Far more than strangers would: shift everybody by some thousand persons.
    apart = values == np.roll(head, 5000)
    minority = other & (head != np.unique(head)[np.unique(head, return_counts=True)[1].argmax()])
    assert (values == head)[minority].mean() > 2 * apart[minority].mean()


def _between_areas(island: Written, chosen: npt.NDArray[np.bool_]) -> float:
    """Variance of a share between districts, as a multiple of what chance alone would give."""
    areas = np.unique(island.persons["ed"], return_inverse=True)[1]
    size = np.bincount(areas)
    share = np.bincount(areas, weights=chosen) / size
    mean = chosen.mean()
    return float(((share - mean) ** 2 * size).sum() / (size.size - 1) / (mean * (1 - mean)))


def test_groups_cluster_in_districts(island: Written) -> None:
    ethnicity, religion = island.persons["ethnicity"], island.persons["religion"]
    codes, counts = np.unique(ethnicity, return_counts=True)
    largest = codes[counts.argmax()]
    # Chance alone gives 1; households of three that answer alike give about 3.
    assert _between_areas(island, ethnicity != largest) > 8
    assert _between_areas(island, religion == "01") > 4
    assert _between_areas(island, island.persons["sex"] == "1") < 2


def test_rare_groups_are_rare_and_do_occur(island: Written) -> None:
    shares = np.unique(island.persons["ethnicity"], return_counts=True)[1] / island.age.size
    assert shares.max() > 0.8
    assert np.count_nonzero(shares < 0.005) >= 3


def test_whoever_was_born_abroad_arrived_after_birth(island: Written) -> None:
    persons = island.persons
    abroad = island.level("birthplace", "origin", persons["birthplace"]) == "ABROAD"
    assert 0.02 < abroad.mean() < 0.15
    year = persons["arrival_year"]
    arrived = ~np.isin(year, ("8888", "9999"))
    assert (year[abroad] != "8888").all()
    birth = 2020 - island.age
    assert (year[arrived].astype(np.int64) >= birth[arrived]).all()
    native = island.level("birthplace", "origin", persons["birthplace"]) == "HOME"
    assert 0.01 < arrived[native].mean() < 0.06


def test_citizens_of_elsewhere_were_mostly_born_there(island: Written) -> None:
    persons = island.persons
    foreign = island.level("citizenship", "origin", persons["citizenship"]) == "ABROAD"
    abroad = island.level("birthplace", "origin", persons["birthplace"]) == "ABROAD"
    assert abroad[foreign].mean() > 0.8
    both = foreign & abroad
    assert (persons["birthplace"] == persons["citizenship"])[both].mean() > 0.9


def test_recent_arrivals_lived_abroad_a_year_ago(island: Written) -> None:
    lived = island.persons["previous_residence"]
    year = island.persons["arrival_year"]
    grown = (island.age > 0) & (lived != "9")
    assert (lived[grown & (year == "2021")] == "5").all()
    assert not (lived[grown & (year == "8888")] == "5").any()


def test_most_natives_live_where_they_were_born(island: Written) -> None:
    here = island.level("ed", "district", island.persons["ed"])
    born = island.persons["birthplace"]
    native = np.strings.startswith(born, "D") & (np.strings.str_len(born) == 3)
    assert 0.6 < (here == born)[native].mean() < 0.98


def test_schooling_rises_from_generation_to_generation(island: Written) -> None:
    tertiary = island.level("education", "broad", island.persons["education"]) == "T"
    age = island.age
    assert tertiary[(age >= 25) & (age < 45)].mean() > 2 * tertiary[age >= 65].mean()
    school = np.isin(island.persons["school_attendance"], ("1", "2"))
    assert school[(age >= 6) & (age < 15)].mean() > 0.95 > 0.1 > school[age >= 30].mean()


def _level(island: Written, name: str, level: str) -> Column:
    return island.level(name, level, island.persons[name])


def test_work_follows_age_sex_and_schooling(island: Written) -> None:
    age, persons = island.age, island.persons
    employed = persons["activity"] == "1"
    prime = (age >= 30) & (age < 50)
    assert not employed[age < 15].any()
    assert employed[prime].mean() > 0.65 > 0.2 > employed[age >= 70].mean()
    women = persons["sex"] == "2"
    assert employed[prime & ~women].mean() > employed[prime & women].mean()
    major = _level(island, "occupation", "major")
    tertiary = _level(island, "education", "broad") == "T"
    assert tertiary[major == "2"].mean() > 0.6 > 0.05 > tertiary[major == "9"].mean()
    assert women[major == "4"].mean() > 0.6 > 0.2 > women[major == "7"].mean()


def test_industry_follows_occupation(island: Written) -> None:
    section = _level(island, "industry", "section")
    teacher = np.strings.startswith(island.persons["occupation"], "23")
    known = section != "999"
    assert (section == "P")[teacher & known].mean() > 0.9
    soldier = island.persons["occupation"] == "0310"
    assert (section == "O")[soldier & known].all()


def test_farms_are_in_villages(island: Written) -> None:
    farmer = _level(island, "occupation", "major") == "6"
    employed = island.persons["activity"] == "1"
    locality = island.of_persons("locality_size").astype(np.int64)
    largest = locality == locality.min()
    assert farmer[employed & ~largest].mean() > 2 * farmer[employed & largest].mean()


def test_managers_earn_more_than_labourers(island: Written) -> None:
    major = _level(island, "occupation", "major")
    income = island.persons["income"]
    stated = ~np.isin(income, ("", "999999"))

    def middle(code: str) -> float:
        return float(np.median(income[stated & (major == code)].astype(float)))

    assert middle("1") > 2 * middle("9")
    assert middle("2") > 1.5 * middle("5")


def test_rents_are_higher_in_richer_districts(island: Written) -> None:
    rent = island.households["rent"]
    stated = ~np.isin(rent, ("", "999999"))
    wired = island.households["internet"] == "1"
    assert np.median(rent[stated & wired].astype(float)) > np.median(
        rent[stated & ~wired].astype(float)
    )


def test_disability_rises_with_age(island: Written) -> None:
    disabled = ~np.isin(island.persons["disability"], ("0", "9"))
    shares = [disabled[(island.age >= low) & (island.age < low + 20)].mean() for low in (0, 40, 75)]
    assert shares[0] < 0.06 < shares[1] < 0.25 < shares[2]


def test_mothers_count_the_children_at_home(island: Written) -> None:
    persons = island.persons
    home = island.household_of_person
    own = persons["family_status"] == "6"
    lone = (persons["family_status"] == "4") & (persons["sex"] == "2")
    born = persons["children_born"]
    stated = lone & (born != "99") & (island.of_persons("household_type") != "31")
    at_home = np.bincount(home[own], minlength=home.max() + 1)[home]
    assert (born[stated].astype(np.int64) >= np.minimum(at_home[stated], 10)).all()


@pytest.fixture(scope="module")
def conditions(large: DemoCensus) -> list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]]:
    """For each piece of a larger country: districts of all persons, and of those with it."""
    found = []
    for piece in large.pieces():
        records = large.records(piece)
        ill = records.columns["health_condition"] == 1
        eds = records.people.units.ed.astype(np.int64)
        found.append((eds, eds[ill]))
    return found


def test_the_rare_condition_is_rare_and_clusters(
    conditions: list[tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]],
) -> None:
    everybody = np.concatenate([eds for eds, _ in conditions])
    ill = np.concatenate([eds for _, eds in conditions])
    assert 1 < ill.size / everybody.size * 10_000 < 8
    by_district = np.sort(np.bincount(ill, minlength=everybody.max() + 1))[::-1]
    few = by_district.size // 20
    assert by_district[:few].sum() > 0.3 * ill.size


def test_pieces_follow_each_other_and_leave_nothing_out(large: DemoCensus) -> None:
    eds = [ed for piece in large.pieces() for ed in piece]
    assert eds == list(range(large.country.eds))
