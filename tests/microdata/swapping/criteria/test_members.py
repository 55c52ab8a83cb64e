"""Of whom households consist, who is rare, and who stands in a small cell, against plain loops."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SdcensusError
from sdcensus.microdata.swapping.criteria.members import combination_counts, compositions, groups_of
from sdcensus.microdata.swapping.criteria.small_cells import in_small_cells
from sdcensus.microdata.swapping.units import unit_table
from sdcensus.store.census_store import CensusStore
from tests.microdata.settlement import settlement
from tests.microdata.swapping.township import H, P, township, township_schema

TABLES = ("religion,age@broad,area", "households: tenure,size")
MEMBERS = {
    ("sex", "age:3:12"): lambda sex, age: (sex, (age >= 3) + (age >= 12)),
    ("sex", "age@broad"): lambda sex, age: (sex, (age >= 3) + (age >= 12)),
    ("age",): lambda sex, age: (age,),
}


def contents(store: CensusStore, items: tuple[str, ...]) -> list[Counter[tuple[int, ...]]]:
    """By household row: how many members there are of each kind."""
    households: list[Counter[tuple[int, ...]]] = [Counter() for _ in range(store.rows(H))]
    people = zip(
        store.raw(P, "_household").tolist(),
        store.raw(P, "sex").tolist(),
        store.raw(P, "age").tolist(),
        strict=True,
    )
    for household, sex, age in people:
        if household < store.rows(H):
            households[household][MEMBERS[items](sex, age)] += 1
    return households


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), items=st.sampled_from(list(MEMBERS)))
def test_equal_numbers_mean_equally_many_members_of_each_kind(
    seed: int, items: tuple[str, ...]
) -> None:
    with TemporaryDirectory() as folder:
        store = township(Path(folder) / "a", seed)
        units = unit_table(store)
        number = compositions(units, items)
        whom = contents(store, items)
        by_number: dict[int, Counter[tuple[int, ...]]] = {}
        for own, row in zip(number.tolist(), units.rows.tolist(), strict=True):
            assert by_number.setdefault(own, whom[row]) == whom[row]
        assert len(by_number) == len({tuple(sorted(each.items())) for each in whom})


def test_people_in_dwellings_count_for_the_dwelling(tmp_path: Path) -> None:
    store = settlement(tmp_path / "a", 3)
    units = unit_table(store, of="dwellings")
    number = compositions(units, ("sex",))
    sizes = units.sizes()
    assert units.entity.value == "dwelling"
    assert all(len(set(sizes[number == own].tolist())) == 1 for own in set(number.tolist()))


def test_combinations_are_counted_over_all_records(tmp_path: Path) -> None:
    store = township(tmp_path / "a", 4)
    counts = combination_counts(store, P, ("sex", "religion", "area@district"))
    level = store.schema.variable("area").level("district").group_array
    keys = list(
        zip(
            store.raw(P, "sex").tolist(),
            store.raw(P, "religion").tolist(),
            level[store.raw(P, "area")].tolist(),
            strict=True,
        )
    )
    tally = Counter(keys)
    assert counts.tolist() == [tally[key] for key in keys]


@settings(max_examples=15, deadline=None)
@given(seed=st.integers(0, 10**6), small=st.integers(0, 3))
def test_a_household_is_marked_if_some_member_stands_in_a_small_cell(seed: int, small: int) -> None:
    with TemporaryDirectory() as folder:
        store = township(Path(folder) / "a", seed)
        units = unit_table(store)
        marked = in_small_cells(units, TABLES, small)
        broad = store.schema.variable("age").level("broad").group_array
        persons = list(
            zip(
                store.raw(P, "religion").tolist(),
                broad[store.raw(P, "age")].tolist(),
                store.raw(P, "area").tolist(),
                strict=True,
            )
        )
        households = list(
            zip(store.raw(H, "tenure").tolist(), store.raw(H, "size").tolist(), strict=True)
        )
        of_persons, of_households = Counter(persons), Counter(households)
        expected = {row for row, key in enumerate(households) if of_households[key] <= small}
        links = store.raw(P, "_household").tolist()
        expected |= {
            household
            for household, key in zip(links, persons, strict=True)
            if of_persons[key] <= small and household < store.rows(H)
        }
        assert set(units.rows[marked].tolist()) == expected
        if small == 0:
            assert not expected


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ("religion,nothing", "no variable 'nothing'"),
        ("households: religion", "religion"),
        ("persons:", "has no axes"),
        ("dwellings: area", "dwelling"),
        ("income,area", "income"),
    ],
)
def test_a_table_that_cannot_be_made_is_refused(tmp_path: Path, table: str, problem: str) -> None:
    units = unit_table(township(tmp_path / "a", 1))
    with pytest.raises(SdcensusError, match=problem):
        in_small_cells(units, [table], 2)


@pytest.mark.parametrize(
    ("item", "problem"),
    [
        ("age:", "cannot be read"),
        ("age@broad:3", "cannot be read"),
        ("sex:x", "cannot be read"),
        ("aeg:3", "aeg"),
        ("age@brood", "brood"),
        ("income", "no codes"),
        ("work:3", "not numbers"),
    ],
)
def test_groups_that_cannot_be_made_are_refused(item: str, problem: str) -> None:
    with pytest.raises(SdcensusError, match=problem):
        groups_of(township_schema(), item)


def test_groups_begin_at_their_numbers_and_missing_codes_are_apart() -> None:
    schema = township_schema()
    _, groups = groups_of(schema, " age : 12 : 3 : 3 ")
    assert groups.tolist()[:-1] == [0] * 3 + [1] * 9 + [2] * 4
    assert groups[-1] not in groups[:-1]
    _, one = groups_of(schema, "age:0")
    assert np.unique(one[:-1]).size == 1
    assert one[-1] != one[0]
