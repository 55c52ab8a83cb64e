"""Ages of large households move a little, and nothing else does."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from sdcensus.errors import SpecError
from sdcensus.microdata.release.large_households import ADULT, ages_moved
from sdcensus.microdata.release.records import NO_HOLDER
from sdcensus.microdata.release.sample import household_sizes
from sdcensus.model.release.plan import LargeHouseholds
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Code, Level, Variable
from sdcensus.testing.island import SECRET
from sdcensus.testing.stores import write_store
from tests.microdata.release.designs import draws_of, file_of, plan_of
from tests.microdata.release.valley import H, P, valley, valley_schema, valley_units

PERTURB = {"large_above": 8, "large": LargeHouseholds.PERTURB_AGES}


@pytest.mark.parametrize("shift", [1, 2, 7])
def test_members_of_large_households_have_an_age_near_their_own(tmp_path: Path, shift: int) -> None:
    store = valley(tmp_path / "valley", households=400)
    plan = plan_of("1/2", age_shift=shift, **PERTURB)
    records, _ = file_of(store, plan)
    moved = ages_moved(records, plan, draws_of(1))
    before, after = (each.codes["age"].astype(int) for each in (records, moved))
    holder = records.holders[P, H]
    sizes = np.append(household_sizes(store)[records.sample.rows[H]], 0)[holder]
    large = (sizes > 8) & (holder != NO_HOLDER)
    assert (before[~large] == after[~large]).all()
    assert np.abs(before - after).max() == shift
    assert (before != after)[large].mean() > 0.4
    assert ((before < ADULT) == (after < ADULT)).all()
    assert ((before < 18) == (after < 18)).all()  # an edit rule of the schema
    assert after.min() >= 0
    for place in np.unique(holder[large]):
        own = holder == place
        order = np.lexsort((after[own], before[own]))
        assert (np.diff(after[own][order]) >= 0).all()
    assert abs((after - before)[large].mean()) < shift / 4
    assert {name for name in records.codes if records.codes[name] is not moved.codes[name]} == {
        "age"
    }
    (facts,) = [table for table in moved.facts if table.name == "ages-of-large-households"]
    assert facts.rows[0][2] == int((before != after).sum())


def test_the_draws_do_not_depend_on_the_order_of_records(tmp_path: Path) -> None:
    plan = plan_of("1/2", **PERTURB)
    ages = []
    for shuffled in (None, 3):
        store = valley(tmp_path / f"{shuffled}", shuffled=shuffled)
        records, _ = file_of(store, plan)
        moved = ages_moved(records, plan, draws_of(1)).codes["age"]
        digests = store.digests(P)[records.sample.rows[P]]
        ages.append(dict(zip(digests.tolist(), moved.tolist(), strict=True)))
    assert ages[0] == ages[1]


def test_nothing_moves_unless_the_plan_says_so(tmp_path: Path) -> None:
    store = valley(tmp_path / "valley")
    for fields in ({}, {"large_above": 8}, {"large": LargeHouseholds.PERTURB_AGES}):
        plan = plan_of("1/2", **fields)
        records, _ = file_of(store, plan)
        assert ages_moved(records, plan, draws_of(1)) is records
    plan = plan_of("1/2", age_shift=0, **PERTURB)
    records, _ = file_of(store, plan)
    with pytest.raises(SpecError, match="at least 1 year"):
        ages_moved(records, plan, draws_of(1))


def test_ages_in_classes_move_in_years_first(tmp_path: Path) -> None:
    store = valley(tmp_path / "valley", households=400)
    plan = plan_of("1/2", **PERTURB)
    records, _ = file_of(store, plan)
    five = Level(
        "five",
        tuple(Code(str(at)) for at in range(18)),
        (*(at // 5 for at in range(80)), 16, 17),
    )
    variables = tuple(
        replace(each, level=five) if each.name == "age" else each
        for each in records.design.variables
    )
    coarse = replace(
        records,
        design=replace(records.design, variables=variables),
        codes={**records.codes, "age": five.group_array[records.codes["age"]].astype(np.uint8)},
    )
    fine = ages_moved(records, plan, draws_of(1)).codes["age"]
    moved = ages_moved(coarse, plan, draws_of(1)).codes["age"]
    assert (moved == five.group_array[fine]).all()


def test_a_file_without_ages_says_that_none_are_moved(tmp_path: Path) -> None:
    store = valley(tmp_path / "valley")
    plan = plan_of("1/2", **PERTURB)
    records, _ = file_of(store, plan)
    variables = tuple(each for each in records.design.variables if each.name != "age")
    without = replace(records, design=replace(records.design, variables=variables))
    assert "does not tell the ages" in ages_moved(without, plan, draws_of(1)).notes[0]


def test_ages_that_are_amounts_move_too_and_missing_ones_stay(tmp_path: Path) -> None:
    units = valley_units(1)
    ages = units[P].leaves["age"].astype(np.int64) * 10
    ages[::7] = -(1 << 63)
    leaves = {name: values for name, values in units[P].leaves.items() if name != "age"}
    units[P] = replace(units[P], leaves=leaves, values={**units[P].values, "age": ages})
    schema = with_amount(valley_schema())
    store = write_store(tmp_path / "store", schema, units, secret_id=SECRET.id)
    plan = plan_of("1/2", **PERTURB)
    records, _ = file_of(store, plan)
    before = records.amounts["age"]
    after = ages_moved(records, plan, draws_of(1)).amounts["age"]
    known = before != -(1 << 63)
    assert (before[~known] == after[~known]).all()
    difference = (after - before)[known]
    assert np.abs(difference).max() == 20
    assert ((before < ADULT * 10) == (after < ADULT * 10)).all()


def with_amount(schema: Schema) -> Schema:
    age = Variable(name="age", entity=P, continuous=True, decimals=1)
    variables = tuple(age if each.name == "age" else each for each in schema.variables)
    return replace(schema, variables=variables, impossible=())


def test_a_census_whose_age_nobody_knows_says_what_to_do(tmp_path: Path) -> None:
    units = valley_units(1)
    leaves = dict(units[P].leaves)
    leaves["years"] = leaves.pop("age")
    units[P] = replace(units[P], leaves=leaves)
    schema = valley_schema()
    variables = tuple(
        replace(each, name="years", leaf_level="years") if each.name == "age" else each
        for each in schema.variables
    )
    schema = replace(schema, variables=variables, impossible=())
    store = write_store(tmp_path / "store", schema, units, secret_id=SECRET.id)
    plan = plan_of("1/2", **PERTURB)
    records, _ = file_of(store, plan)
    with pytest.raises(SpecError, match=r"\[roles\] age"):
        ages_moved(records, plan, draws_of(1))
    named = replace(schema, roles=(("age", "years"),))
    again = write_store(tmp_path / "named", named, units, secret_id=SECRET.id)
    records, _ = file_of(again, plan)
    assert len(ages_moved(records, plan, draws_of(1)).facts) > len(records.facts)
