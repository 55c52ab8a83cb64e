"""What is served passes the guard of what is published."""

from __future__ import annotations

import itertools
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import Refused, SpecError, StoreError
from sdcensus.methods.cell_key import CellKey
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.model.policy.menu import Menu
from sdcensus.model.policy.policy import Limits, OnlineRules, Policy
from sdcensus.model.policy.rules import RecordSet
from sdcensus.model.published.lock import EventKind
from sdcensus.model.published.served_numbers import Opening
from sdcensus.model.schema.variable import Entity
from sdcensus.session.answer.budgets import open_menu
from sdcensus.session.census.census import Census
from sdcensus.session.guard.changed_records import ChangedRecords
from sdcensus.session.guard.run import Revision
from sdcensus.session.guard.served_guard import ServingGuard
from sdcensus.session.guard.served_menus import menu_of_text, menu_text
from sdcensus.session.guard.served_words import changes_in_menu
from sdcensus.testing.island import SECRET, island
from sdcensus.testing.stores import Units
from tests.session.guard.test_renamed_census import coded
from tests.session.publish.publications import corrected, people, stored, without

P = Entity.PERSON


def policy(census: Census, **rules: Any) -> Policy:
    rules.setdefault("limits", Limits(dimensions=2))
    return Policy(name="test", schema=census.schema, online=OnlineRules(), **rules)


def opened(
    census: Census,
    *before: Opening,
    key_version: int = 1,
    lookup: str = "hashed",
    noise: str = "CP4",
    rules: dict[str, Any] | None = None,
    smallest_group: int | None = None,
    **asked: Any,
) -> Opening:
    method = CellKey(scheme(noise), SECRET, lookup=lookup, key_version=key_version)
    known = {one.numbers.series: one.numbers for one in before}
    return ServingGuard(
        census=census,
        policy=policy(census, **(rules or {})),
        methods={P: method},
        smallest_group=smallest_group,
        known=tuple(known.values()),
        events=tuple(one.event for one in before if one.event is not None),
        revision=Revision(asked.pop("revision", None), **asked),
    ).decide()


def test_sums_that_are_offered_later_change_no_number_and_are_kept() -> None:
    from sdcensus.methods.magnitude.cell_key_sums import CellKeySums

    census = island(300)

    def opened_with(share: float | None, *before: Opening, **asked: Any) -> Opening:
        sums = {} if share is None else {P: CellKeySums(noise_share=share, secret=SECRET)}
        known = {one.numbers.series: one.numbers for one in before}
        return ServingGuard(
            census=census,
            policy=policy(census),
            methods={P: CellKey(scheme("CP4"), SECRET)},
            sums=sums,
            known=tuple(known.values()),
            revision=Revision(asked.pop("revision", None), **asked),
        ).decide()

    first = opened_with(None)
    later = opened_with(0.1, first)
    assert later.event is None
    without = opened_with(None, later)
    assert without.numbers.making.settings == later.numbers.making.settings
    assert opened_with(0.1, without).event is None
    with pytest.raises(Refused, match="sums of persons"):
        opened_with(0.2, without)


def moved(units: Units, size: int, *, area: int = 0) -> Units:
    """So many people of one age and sex of an area get another marital status."""
    leaves = units.leaves
    alike = (leaves["area"] == area) & (leaves["sex"] == 0) & (leaves["age"] >= 5)
    married = leaves["married"].copy()
    rows = np.flatnonzero(alike & (married == 0))[:size]
    assert rows.size == size
    married[rows] = 1
    return corrected(units, married=married)


@pytest.fixture
def first(tmp_path: Path) -> Census:
    return stored(tmp_path / "first.store", people())


def test_the_same_numbers_open_again_wherever_the_store_lies(tmp_path: Path, first: Census) -> None:
    one = opened(first)
    assert one.event is not None
    assert one.event.kind is EventKind.FIRST
    again = opened(stored(tmp_path / "copy.store", people()), one)
    assert again.event is None
    assert again.numbers == one.numbers
    assert len(one.numbers.menus) == 1


def test_a_store_that_differs_in_one_record_is_refused_in_the_words_of_publish(
    tmp_path: Path, first: Census
) -> None:
    one = opened(first)
    for at, units in enumerate((without(people(), [17]), moved(people(), 1))):
        other = stored(tmp_path / f"{at}.store", units)
        with pytest.raises(Refused, match="the data have changed") as refused:
            opened(other, one)
        assert "Published numbers are permanent" in str(refused.value)
        assert "those around the corrected person" in str(refused.value)
        with pytest.raises(Refused, match="would show who was corrected: behind"):
            opened(other, one, revision="corrections")


def test_a_revision_passes_where_enough_changed_records_stand_behind_every_number(
    tmp_path: Path, first: Census
) -> None:
    """Twenty of one area, age and sex; tables have at most two variables."""
    units = people()
    leaves = units.leaves
    married = leaves["married"].copy()
    for area, age, sex in itertools.product(range(7), range(5, 10), range(2)):
        alike = (leaves["area"] == area) & (leaves["age"] == age) & (leaves["sex"] == sex)
        rows = np.flatnonzero(alike & (married == 0))[:3]
        married[rows] = 1
    other = stored(tmp_path / "other.store", corrected(units, married=married))
    one = opened(first)
    with pytest.raises(Refused, match="the data have changed"):
        opened(other, one)
    done = opened(other, one, revision="2027", minimum=5)
    assert done.event is not None
    assert (done.event.kind, done.event.name) == (EventKind.REVISION, "2027")
    assert done.numbers.looks == 1
    assert opened(other, one, done).event is None
    with pytest.raises(Refused, match="There was an event '2027' before"):
        opened(first, one, done, revision="2027", minimum=5)


def test_a_narrower_menu_in_between_is_no_way_round(tmp_path: Path, first: Census) -> None:
    """Who saw the wide menu before the revision sees it again after it."""
    units = people()
    leaves = units.leaves
    married = leaves["married"].copy()
    rows = np.flatnonzero((leaves["age"] >= 5) & (married == 0))[:25]
    married[rows] = 1
    other = stored(tmp_path / "other.store", corrected(units, married=married))
    narrow = {"limits": Limits(dimensions=1)}
    assert opened(other, opened(first, rules=narrow), rules=narrow, revision="r").event is not None
    wide = opened(first)
    then = opened(first, wide, rules=narrow)
    assert then.event is None
    assert set(then.numbers.menus) > set(wide.numbers.menus)
    with pytest.raises(Refused, match="would show who was corrected"):
        opened(other, wide, then, rules=narrow, revision="r")


def test_menus_are_kept_as_they_are(first: Census) -> None:
    menu = open_menu(policy(first), P)
    assert menu is not None
    again = menu_of_text(menu_text(menu), first.schema)
    assert again is not None
    assert menu_text(again) == menu_text(menu)
    names = [variable.variable.name for variable in menu.variables]
    for size in range(4):
        for some in itertools.combinations(names, size):
            table = {name: menu.variable(name).levels[0] for name in some}
            assert again.allows(table) == menu.allows(table)
    with pytest.raises(StoreError, match="damaged"):
        menu_of_text("{}", first.schema)


def test_the_old_store_may_have_moved_but_must_be_the_one(tmp_path: Path) -> None:
    one = opened(stored(tmp_path / "first.store", people()))
    (tmp_path / "first.store").rename(tmp_path / "moved.store")
    other = stored(tmp_path / "other.store", moved(people(), 1))
    with pytest.raises(Refused, match=r"changed records cannot be counted: the store that was"):
        opened(other, one, revision="r")
    with pytest.raises(Refused, match="holds other data than were served"):
        opened(other, one, revision="r", old_store=tmp_path / "other.store")
    with pytest.raises(Refused, match="would show who was corrected"):
        opened(other, one, revision="r", old_store=tmp_path / "moved.store")


def test_drawing_anew_is_a_named_event_under_a_new_key_version(
    tmp_path: Path, first: Census
) -> None:
    one = opened(first)
    other = stored(tmp_path / "other.store", moved(people(), 1))
    refused: list[tuple[Census, dict[str, Any], str]] = [
        (other, {"key_version": 2}, "the key version is 2 instead of 1"),
        (first, {"key_version": 2}, "the key version is 2 instead of 1"),
        (first, {"noise": "CP3"}, r"settings of the method have changed \(persons\)"),
        (other, {"key_version": 2, "revision": "r"}, "not only because of corrected records"),
        (other, {"revision": "r", "rekey": True}, "needs a higher one"),
        (
            other,
            {"revision": "r", "rekey": True, "key_version": 2, "lookup": "ascending"},
            "Re-keying has changed next to no numbers",
        ),
    ]
    for census, asked, text in refused:
        with pytest.raises(Refused, match=text):
            opened(census, one, **asked)
    done = opened(other, one, revision="r", rekey=True, key_version=2)
    assert done.numbers.looks == 2
    assert "drawn 2 times" in done.notes[0]
    with pytest.raises(Refused, match="the key version is 1 instead of 2"):
        opened(other, one, done)


def test_new_keys_do_not_hide_exact_totals(tmp_path: Path, first: Census) -> None:
    rules = {"exempt": (RecordSet("people by parish", P, ("area",)),)}
    one = opened(first, rules=rules)
    again: dict[str, Any] = {"revision": "r", "rekey": True, "key_version": 2, "rules": rules}
    with pytest.raises(Refused, match=r"\[exempt\].*fewer than 10 records"):
        opened(stored(tmp_path / "a.store", without(people(), [17])), one, **again)
    done = opened(stored(tmp_path / "b.store", moved(people(), 1)), one, **again)
    assert done.numbers.looks == 2


def test_a_renamed_census_is_known(tmp_path: Path) -> None:
    one = opened(coded(tmp_path / "a.store", people(), "A"))
    renamed = coded(tmp_path / "b.store", people(), "B")
    with pytest.raises(Refused, match="'B' are those that were published as 'A'"):
        opened(renamed, one)
    done = opened(renamed, one, revision="r", rekey=True)
    assert done.numbers.looks == 2
    other = opened(coded(tmp_path / "c.store", people(seed=8), "C"), one)
    assert other.event is not None
    assert (other.event.kind, other.numbers.looks) == (EventKind.FIRST, 1)


def test_the_smallest_group_falls_only_under_a_name(first: Census) -> None:
    one = opened(first)
    raised = opened(first, one, smallest_group=23)
    assert raised.numbers.smallest_group == 23
    for lower in (22, None):
        with pytest.raises(Refused, match="Groups of fewer than 23 were not broken down so far"):
            opened(first, one, raised, smallest_group=lower)
        named = opened(first, one, raised, smallest_group=lower, revision="r")
        assert named.numbers.smallest_group == lower
    assert opened(first, one, raised, smallest_group=40).numbers.smallest_group == 40


def test_what_is_asked_for_is_checked() -> None:
    wrong: list[dict[str, Any]] = [{"rekey": True}, {"name": " "}, {"minimum": 1}]
    for asked in wrong:
        with pytest.raises(SpecError):
            Revision(**asked)


def by_hand(menu: Menu, old: Units, new: Units, minimum: int) -> int:
    """Numbers of the menu with too few changed records behind them, by the definition."""
    before = {int(key): at for at, key in enumerate(old.keys)}
    after = {int(key): at for at, key in enumerate(new.keys)}
    short = 0
    for size in range(menu.dimensions + 1):
        for variables in itertools.combinations(menu.variables, size):
            for levels in itertools.product(*(variable.levels for variable in variables)):
                names = [variable.variable.name for variable in variables]
                if not menu.allows(dict(zip(names, levels, strict=True))):
                    continue
                counts: dict[tuple[int, ...], int] = {}
                for key in before.keys() | after.keys():
                    cells: set[tuple[int, ...]] = set()
                    for units, rows in ((old, before), (new, after)):
                        if key in rows:
                            leaves = [units.leaves[name][rows[key]] for name in names]
                            pairs = zip(levels, leaves, strict=True)
                            cells ^= {tuple(int(one.group[leaf]) for one, leaf in pairs)}
                    for cell in cells:
                        counts[cell] = counts.get(cell, 0) + 1
                short += sum(count < minimum for count in counts.values())
    return short


@settings(max_examples=8, deadline=None)
@given(data=st.data())
def test_changed_records_are_counted_in_every_table_of_the_menu(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    folder = tmp_path_factory.mktemp("stores")
    units = people(60, seed=data.draw(st.integers(0, 99)))
    leaves = {name: leaf.copy() for name, leaf in units.leaves.items()}
    for name, size in (("area", 7), ("sex", 2), ("age", 10)):
        rows = data.draw(st.lists(st.integers(0, 59), max_size=8, unique=True))
        leaves[name][rows] = (leaves[name][rows] + 1) % size
    gone = data.draw(st.lists(st.integers(0, 59), max_size=3, unique=True))
    changed = without(replace(units, leaves=leaves), gone)
    old, new = stored(folder / "old.store", units), stored(folder / "new.store", changed)
    menu = open_menu(policy(new), P)
    assert menu is not None
    found = changes_in_menu(ChangedRecords(old.store, new.store), menu, minimum=3)
    assert found.complete
    assert found.numbers == by_hand(menu, units, changed, 3)
