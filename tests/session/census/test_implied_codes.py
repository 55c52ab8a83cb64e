"""Rules that hold in the data and are not declared: proposed in the words of the schema."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sdcensus.model.cube.cube import Origin
from sdcensus.model.schema.implications import declared_rules
from sdcensus.model.schema.schema import Impossible, KeySpace, Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.universe import universe_of
from sdcensus.session.census.census import Census
from sdcensus.session.census.implied_codes import proposed_rules
from sdcensus.store.in_memory import InMemoryRecords
from sdcensus.testing.island import SECRET, island_schema, island_units


def census_of(schema: Schema, people: int, **changed: int) -> Census:
    """The island, on which nobody below 3 is married; ``changed`` marries so many of them."""
    units = island_units(people)
    leaves = {name: column.astype(np.uint8) for name, column in units.leaves.items()}
    young = np.flatnonzero(leaves["age"] < 3)[: changed.get("exceptions", 0)]
    leaves["married"][young] = 1
    return Census(
        schema,
        InMemoryRecords(
            schema,
            Entity.PERSON,
            codes=leaves,
            keys=units.keys,
            values=dict(units.values),
            origin=Origin(KeySpace(), SECRET.id, "island"),
        ),
    )


UNDECLARED = replace(island_schema(), impossible=())


def test_what_holds_without_exception_is_proposed_as_the_schema_says_it() -> None:
    found = proposed_rules(census_of(UNDECLARED, 5_000))
    assert [one.when for one in found] == ["age < 3 and married != '0'"]
    assert found[0].toml() == "[[impossible]]\nwhen = \"age < 3 and married != '0'\""
    assert "25" not in repr(found[0])
    # What is proposed is understood, and is then no longer proposed.
    declared = replace(UNDECLARED, impossible=(Impossible(found[0].when),))
    assert declared_rules(declared)
    assert proposed_rules(census_of(declared, 5_000)) == ()
    assert proposed_rules(census_of(island_schema(), 5_000)) == ()


def test_one_exception_is_enough_and_few_records_are_not() -> None:
    assert proposed_rules(census_of(UNDECLARED, 5_000, exceptions=1)) != proposed_rules(
        census_of(UNDECLARED, 5_000)
    )
    assert not any(
        "age < 3" in rule.when
        for rule in proposed_rules(census_of(UNDECLARED, 5_000, exceptions=1))
    )
    assert proposed_rules(census_of(UNDECLARED, 60)) == ()


@pytest.mark.parametrize("seed", range(5))
def test_chance_is_not_taken_for_a_rule(seed: int) -> None:
    """Variables that have nothing to do with each other; some codes are rare."""
    draws = np.random.default_rng(seed)
    units = island_units(3_000)
    leaves = {
        "area": draws.integers(0, 7, 3_000),
        "sex": (draws.random(3_000) < 0.01).astype(np.int64),
        "age": np.minimum(draws.geometric(0.5, 3_000), 9),
        "married": (draws.random(3_000) < 0.003).astype(np.int64),
    }
    records = InMemoryRecords(
        UNDECLARED,
        Entity.PERSON,
        codes={name: column.astype(np.uint8) for name, column in leaves.items()},
        keys=units.keys,
        values=dict(units.values),
        origin=Origin(KeySpace(), SECRET.id, "chance"),
    )
    assert proposed_rules(Census(UNDECLARED, records)) == ()


def test_every_code_that_follows_is_a_rule_of_two_variables() -> None:
    """Sex decides age and marital status here. Longer rules would be too long for other checks."""
    units = island_units(2_000)
    sex = units.leaves["sex"].astype(np.uint8)
    records = InMemoryRecords(
        UNDECLARED,
        Entity.PERSON,
        codes={
            "area": units.leaves["area"].astype(np.uint8),
            "sex": sex,
            "age": np.where(sex == 1, 4, 7).astype(np.uint8),
            "married": sex,
        },
        keys=units.keys,
        values=dict(units.values),
        origin=Origin(KeySpace(), SECRET.id, "decided"),
    )
    found = [rule.when for rule in proposed_rules(Census(UNDECLARED, records))]
    assert {"sex == '1' and age != '4'", "sex == '1' and married != '1'"} <= set(found)
    assert "married == '1' and age != '4'" in found
    assert all(len(universe_of(when, UNDECLARED).variables) == 2 for when in found)
