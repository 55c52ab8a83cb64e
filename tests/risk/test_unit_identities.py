"""Looks across units: worth k², exactly as the best linear estimate has it."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.entity import Entity
from sdcensus.model.menu import Menu
from sdcensus.model.policy import Policy, VariableRule, menu_of
from sdcensus.model.variable import Level
from sdcensus.risk.unit_identities import look_weight, looks_across_units, mixed_information
from tests.attack.housed import housed_schema, without_identities

SCHEMA = housed_schema()
VARIANCES = {Entity.PERSON: 7.0, Entity.HOUSEHOLD: 5.0}


@given(
    st.lists(st.integers(1, 12), min_size=1, max_size=5),
    st.floats(0.1, 20),
    st.floats(0.1, 20),
)
def test_a_mixed_class_tells_what_generalised_least_squares_says(
    times: list[int], variance: float, held: float
) -> None:
    design = np.vstack([np.eye(len(times)), np.array(times, dtype=float)])
    weights = np.diag([1 / variance] * len(times) + [1 / held])
    covariance = np.linalg.inv(design.T @ weights @ design)
    expected = 1 / np.diag(covariance) - 1 / variance
    assert mixed_information(times, variance, held) == pytest.approx(expected.tolist(), rel=1e-6)


def test_a_class_of_one_size_is_worth_its_square() -> None:
    assert mixed_information([4], 7.0, 7.0)[0] * 7 == pytest.approx(look_weight(4))
    # Two sizes in one class: most about the larger one, and far less than alone.
    small, large = mixed_information([1, 2], 7.0, 7.0)
    assert (small * 7, large * 7) == pytest.approx((0.2, 2.0))


def test_the_weight_is_the_square_one_way_and_one_over_it_the_other() -> None:
    assert look_weight(3) * look_weight(3, upwards=False) == pytest.approx(1)
    with pytest.raises(SpecError, match="1 or more"):
        look_weight(0)


def menus(*rules: VariableRule) -> dict[Entity, Menu]:
    policy = Policy(name="test", schema=SCHEMA, variables=rules)
    return {of: menu_of(policy, SCHEMA, of=of) for of in (Entity.PERSON, Entity.HOUSEHOLD)}


def four(menu: Menu, chosen: Mapping[str, Level]) -> float:
    assert menu.allows(chosen)
    return 4.0


def test_households_of_a_size_are_seen_through_persons() -> None:
    chosen = {name: SCHEMA.variable(name).level() for name in ("area", "size")}
    found = looks_across_units(SCHEMA, menus(), VARIANCES, Entity.HOUSEHOLD, chosen, four)
    by_size = {one.code: one for one in found if one.variable == "size"}
    assert {code: one.times for code, one in by_size.items()} == {f"{k:02}": k for k in range(1, 6)}
    for one in by_size.values():
        assert one.through is Entity.PERSON
        assert one.information == pytest.approx(one.times**2 * 4 / 7)
    # Reference persons of each of these households are one more look, of weight 1.
    [reference] = [one for one in found if one.variable == "place"]
    assert reference.times == 1
    assert reference.information == pytest.approx(4 / 7)


def test_persons_of_a_size_are_seen_through_households_a_little() -> None:
    chosen = {name: SCHEMA.variable(name).level() for name in ("area", "size")}
    found = looks_across_units(SCHEMA, menus(), VARIANCES, Entity.PERSON, chosen, four)
    by_size = {one.code: one.information for one in found if one.variable == "size"}
    assert by_size == pytest.approx({f"{k:02}": 4 / 5 / k**2 for k in range(1, 6)})


def test_what_the_policy_takes_away_is_no_look() -> None:
    chosen = {name: SCHEMA.variable(name).level() for name in ("area", "size")}
    apart = menus(
        VariableRule(variable="size", units=(Entity.HOUSEHOLD,)),
        VariableRule(variable="place", offered=False),
    )
    assert looks_across_units(SCHEMA, apart, VARIANCES, Entity.HOUSEHOLD, chosen, four) == ()
    nothing = without_identities(SCHEMA)
    assert looks_across_units(nothing, menus(), VARIANCES, Entity.HOUSEHOLD, chosen, four) == ()


def test_by_sex_persons_are_no_households() -> None:
    chosen = {name: SCHEMA.variable(name).level() for name in ("area", "size", "sex")}
    assert not [
        one
        for one in looks_across_units(SCHEMA, menus(), VARIANCES, Entity.PERSON, chosen, four)
        if one.variable == "size"
    ]


def test_a_variance_that_is_missing_is_asked_for() -> None:
    chosen = {"size": SCHEMA.variable("size").level()}
    with pytest.raises(SpecError, match="noise of persons"):
        looks_across_units(SCHEMA, menus(), {}, Entity.HOUSEHOLD, chosen, four)
