"""Samples of files: every unit with the fraction, whole households, spread over areas."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.errors import SpecError
from sdcensus.microdata.release.areas import leaves_of
from sdcensus.microdata.release.records import Sample
from sdcensus.microdata.release.sample import household_sizes
from sdcensus.model.release.plan import Design, LargeHouseholds
from sdcensus.model.schema.schema import CensusInfo, Schema
from sdcensus.model.schema.variable import Entity, EntitySpec, Variable
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import link_column
from sdcensus.testing.island import SECRET, island_schema
from sdcensus.testing.stores import Units, write_store
from tests.microdata.release.designs import plan_of, sample_of
from tests.microdata.release.valley import (
    INSTITUTION,
    D,
    H,
    P,
    numbered,
    valley,
    valley_schema,
    valley_units,
)
from tests.microdata.settlement import settlement

Integers = npt.NDArray[Any]
SECRETS = 400
LARGE, INSTITUTIONS = {"large_above": 8}, {"institutions": f"kind == {INSTITUTION}"}


def taken_digests(store: CensusStore, sample: Sample) -> dict[Entity, set[int]]:
    return {
        entity: set(store.digests(entity)[rows].tolist()) for entity, rows in sample.rows.items()
    }


def chi_square(times: Integers, fraction: float) -> float:
    """How far units are from being taken with that probability, in standard deviations."""
    expected = SECRETS * fraction
    z = (times - expected) ** 2 / (expected * (1 - fraction))
    return float((z.sum() - times.size) / np.sqrt(2 * times.size))


def test_every_unit_of_every_list_is_taken_with_the_fraction(tmp_path: Path) -> None:
    store = valley(tmp_path / "valley", households=150)
    plan = plan_of("2/7", **LARGE, **INSTITUTIONS)
    times = {entity: np.zeros(store.rows(entity)) for entity in (H, P)}
    for secret in range(SECRETS):
        for entity, rows in sample_of(store, plan, secret).rows.items():
            times[entity][rows] += 1
    kind = store.raw(H, "kind")
    large = household_sizes(store) > LARGE["large_above"]
    lists = {
        "households": times[H][(kind != INSTITUTION) & ~large],
        "large": times[H][(kind != INSTITUTION) & large],
        "institutions": times[H][kind == INSTITUTION],
        "alone": times[P][store.raw(P, link_column(H)) == 0xFFFFFFFF],
    }
    for name, own in lists.items():
        assert own.size > 5, name
        assert abs(chi_square(own, 2 / 7)) < 6, name
        assert chi_square(own, 0.2) > 6, name
        assert chi_square(own, 0.38) > 6, name


@pytest.mark.parametrize("holder", [D, H, P])
def test_areas_have_their_share_at_every_level(tmp_path: Path, holder: Entity) -> None:
    store = valley(tmp_path / "valley", holder=holder, households=300)
    geography = store.schema.geography
    leaves = leaves_of(store, H)
    assert geography is not None
    assert leaves is not None
    placed = leaves >= 0
    for fraction in (Fraction(1, 3), Fraction("0.07"), Fraction(3, 4)):
        taken = sample_of(store, plan_of(fraction), 3).taken(H, store.rows(H))
        for level in geography.plain_levels:
            area = level.group_array[leaves[placed]]
            sizes = np.bincount(area)
            drawn_units = np.bincount(area, taken[placed], minlength=sizes.size)
            # A stretch of units has its share, rounded down or up: districts are such stretches.
            exact = sizes * float(fraction)
            assert (np.floor(exact) <= drawn_units).all(), level.name
            assert (drawn_units <= np.ceil(exact)).all(), level.name


def test_households_are_whole_and_persons_without_household_are_drawn(tmp_path: Path) -> None:
    store = valley(tmp_path / "valley")
    sample = sample_of(store, plan_of("1/3", **LARGE, **INSTITUTIONS))
    link = store.raw(P, link_column(H))
    alone = link == 0xFFFFFFFF
    households, persons = sample.taken(H, store.rows(H)), sample.taken(P, store.rows(P))
    assert (persons[~alone] == households[link[~alone]]).all()
    assert 0 < persons[alone].sum() < alone.sum()
    assert repr(sample) == "<Sample: confidential>"


@pytest.mark.parametrize("holder", [D, H, P])
def test_the_order_of_records_does_not_matter(tmp_path: Path, holder: Entity) -> None:
    plan = plan_of("1/4", **LARGE, **INSTITUTIONS)
    stores = [
        valley(tmp_path / f"{shuffled}", holder=holder, shuffled=shuffled)
        for shuffled in (None, 1, 2)
    ]
    samples = [taken_digests(store, sample_of(store, plan)) for store in stores]
    assert samples[0] == samples[1] == samples[2]


def test_names_decide_and_designs_of_one_fraction_have_the_same_households(
    tmp_path: Path,
) -> None:
    store = valley(tmp_path / "valley")
    one = taken_digests(store, sample_of(store, plan_of("1/4")))
    again = plan_of(designs=(Design(name="Other", fraction=Fraction(1, 4)),))
    assert taken_digests(store, sample_of(store, again)) == one
    assert taken_digests(store, sample_of(store, plan_of("1/4", name="other"))) != one
    assert taken_digests(store, sample_of(store, plan_of("1/4"), 2)) != one


def test_corrected_answers_leave_the_sample_as_it_is(tmp_path: Path) -> None:
    schema, units = valley_schema(), valley_units(1)
    before = write_store(tmp_path / "before", schema, units, secret_id=SECRET.id)
    persons = units[P]
    corrected = replace(persons, leaves={**persons.leaves, "sex": 1 - persons.leaves["sex"]})
    after = write_store(tmp_path / "after", schema, units | {P: corrected}, secret_id=SECRET.id)
    plan = plan_of("1/3")
    assert taken_digests(before, sample_of(before, plan)) == taken_digests(
        after, sample_of(after, plan)
    )


@pytest.mark.parametrize("fraction", ["1", "1/3", "0.07", "0.5", "99/100"])
def test_numbers_are_the_expected_ones_rounded(tmp_path: Path, fraction: str) -> None:
    store = valley(tmp_path / "valley", households=401)
    for secret in range(5):
        sample = sample_of(store, plan_of(fraction), secret)
        exact = 401 * Fraction(fraction)
        assert int(exact) <= sample.rows[H].size <= -int(-exact // 1)
        assert bool(sample.notes) == (fraction == "1")
        assert (np.diff(sample.rows[P]) > 0).all()


def test_a_sample_of_nobody_is_refused(tmp_path: Path) -> None:
    store = settlement(tmp_path / "settlement", 4)
    plan = plan_of("1/100000")
    with pytest.raises(SpecError, match=r"Nobody is in the sample of design 'A'.*Say a larger one"):
        sample_of(store, plan)


def test_a_census_without_households_is_a_sample_of_persons(tmp_path: Path) -> None:
    draw = np.random.default_rng(1)
    keys = draw.choice(1 << 32, 90, replace=False).astype(np.uint32)
    leaves = {name: draw.integers(0, 2, 90) for name in ("area", "sex", "age", "married")}
    units = {P: Units(keys=keys, leaves=leaves, values={"weight": np.full(90, 150)})}
    store = write_store(tmp_path / "island", island_schema(), units, secret_id=SECRET.id)
    sample = sample_of(store, plan_of("1/3", large_above=3, institutions="married == 1"))
    assert set(sample.rows) == {P}
    assert abs(sample.rows[P].size - 30) <= 1
    assert set(sample.weights[P].tolist()) == {4_500_000}


def test_a_census_without_areas_or_persons_is_sampled(tmp_path: Path) -> None:
    schema = Schema(
        census=CensusInfo(name="Plain"),
        entities=(EntitySpec(entity=H, id=("h",)),),
        variables=(Variable(name="kind", entity=H, codes=numbered(2)),),
    )
    keys = np.arange(1, 31, dtype=np.uint32)
    units = {H: Units(keys=keys, leaves={"kind": keys % 2})}
    store = write_store(tmp_path / "plain", schema, units, secret_id=SECRET.id)
    sample = sample_of(store, plan_of("1/10", large_above=1))
    assert sample.rows[H].size == 3
    assert set(sample.rows) == {H}


def test_institutions_are_told_by_what_households_have(tmp_path: Path) -> None:
    store = valley(tmp_path / "valley")
    with pytest.raises(SpecError, match="'sex' of persons, and households are sampled"):
        sample_of(store, plan_of(institutions="sex == 1"))
    by_dwelling = sample_of(store, plan_of(institutions="rooms == 1"))
    names = [row[0] for row in by_dwelling.facts[0].rows]
    assert names == ["Households", "Institutions", "Persons without household"]


def test_large_households_stay_in_the_list_where_they_are_kept(tmp_path: Path) -> None:
    store = valley(tmp_path / "valley")
    kept = plan_of("1/3", large_above=8, large=LargeHouseholds.KEEP)
    assert taken_digests(store, sample_of(store, kept)) == taken_digests(
        store, sample_of(store, plan_of("1/3"))
    )
    again = sample_of(store, plan_of("1/3", **LARGE))
    assert str(again.facts[0].rows[1][0]).startswith("Large households")


def test_the_area_of_a_large_household_says_nothing_of_the_others(tmp_path: Path) -> None:
    # Neighbours in the list of areas are never both taken at one in three; large ones may be.
    store = valley(tmp_path / "valley", households=60)
    plan = plan_of("1/2", large_above=0)
    leaves = leaves_of(store, H)
    assert leaves is not None
    large = np.flatnonzero(household_sizes(store) > 0)
    alike = np.flatnonzero(leaves[large] == leaves[large[0]])[:2]
    together = 0
    for secret in range(SECRETS):
        taken = sample_of(store, plan, secret).taken(H, store.rows(H))
        together += bool(taken[large[alike]].all())
    assert abs(together / SECRETS - 0.25) < 0.08


def test_members_of_large_households_are_drawn_one_by_one(tmp_path: Path) -> None:
    store = valley(tmp_path / "valley", households=150)
    plan = plan_of("2/7", large=LargeHouseholds.APART, **LARGE, **INSTITUTIONS)
    large = household_sizes(store) > LARGE["large_above"]
    home = store.raw(P, link_column(H)).astype(np.int64)
    apart = np.append(large, False)[np.where(home == 0xFFFFFFFF, large.size, home)]
    # Institutions as well: nobody is told of whom a large one consists.
    lists = {"large_above": 3, **INSTITUTIONS}
    some = household_sizes(store) > 3
    assert (some & (store.raw(H, "kind") == INSTITUTION)).any()
    told = sample_of(store, plan_of("2/7", large=LargeHouseholds.APART, **lists), 1)
    assert not told.taken(H, store.rows(H))[some].any()
    times, whole = np.zeros(store.rows(P)), 0
    for secret in range(SECRETS):
        sample = sample_of(store, plan, secret)
        times[sample.rows[P]] += 1
        taken = sample.taken(P, store.rows(P))
        assert not sample.taken(H, store.rows(H))[large].any()
        members = [taken[apart & (home == each)] for each in np.flatnonzero(large)]
        whole += sum(bool(each.all()) for each in members)
    assert abs(chi_square(times[apart], 2 / 7)) < 6
    assert chi_square(times[apart], 0.2) > 6
    # By chance a household of nine has all members in the file once in 80,000 times.
    assert whole == 0
