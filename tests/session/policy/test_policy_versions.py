from __future__ import annotations

import itertools

import pytest
from hypothesis import given, strategies as st

from sdcensus.methods.rounding import RandomRounding
from sdcensus.model.policy.policy import AtLevel, Limits, OnlineRules, Policy, VariableRule, menu_of
from sdcensus.model.published.table import Table
from sdcensus.model.schema.variable import Level
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.levels_told_apart import coarser_or_equal, uses_of
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.policy import Outcome, ask, publishable_versions, show
from sdcensus.session.policy.code_rules import passes
from sdcensus.testing.island import island
from tests.session.policy.policy_tables import SCHEMA, policy, spec

CENSUS = island(400)


def published(wanted: TableSpec) -> Table:
    made = RandomRounding(3).protect(CENSUS.tabulate(wanted)).table
    assert isinstance(made, Table)
    return made


def tells_all_of(fine: TableSpec, coarse: TableSpec) -> bool:
    """Whether a table tells everything that another one tells."""
    mine = {one.variable.name: one for one in uses_of(fine)}
    for use in uses_of(coarse):
        other = mine.get(use.variable.name)
        if other is None or use.axis is None:
            return False
        if not all(
            any(coarser_or_equal(partition, part) for part in other.partitions)
            for partition in use.partitions
        ):
            return False
    return True


POLICIES = st.builds(
    lambda dimensions, cells, level, area, together: policy(
        limits=Limits(dimensions=dimensions, cells=cells),
        variables=(
            VariableRule(variable="age", finest_level=level),
            VariableRule(variable="sex", finest_area=area),
        ),
        never_together=together,
    ),
    st.integers(1, 4),
    st.integers(3, 400),
    st.sampled_from(["", "class", "half"]),
    st.sampled_from([None, AtLevel("area", "district")]),
    st.sampled_from([(), ((AtLevel("age"), AtLevel("area", "parish")),)]),
)


@given(POLICIES)
def test_versions_are_the_finest_that_pass(made: Policy) -> None:
    """Compared with all 4 × 3 × 3 × 3 versions, one by one."""
    wanted = spec("area", "age", "sex", "married")
    found = publishable_versions(made, wanted, most=100)
    options = [
        [None, *SCHEMA.variable(name).levels()] for name in ("area", "age", "sex", "married")
    ]
    every = []
    for levels in itertools.product(*options):
        chosen = [
            make_axis(SCHEMA.variable(name), [level], total=True)
            for name, level in zip(("area", "age", "sex", "married"), levels, strict=True)
            if level is not None
        ]
        version = wanted.with_axes(chosen)
        if chosen and passes(made, version, "public"):
            every.append(version)
    finest = {
        one
        for one in every
        if not any(other != one and tells_all_of(other, one) for other in every)
    }
    assert set(found) == finest


@given(POLICIES, st.data())
def test_the_menu_and_the_answers_agree(made: Policy, data: st.DataObject) -> None:
    menu = menu_of(made, SCHEMA)
    chosen: dict[str, Level] = {}
    for name in ("area", "age", "sex", "married"):
        level = data.draw(st.sampled_from([None, *SCHEMA.variable(name).levels()]))
        if level is not None:
            chosen[name] = level
    axes = [make_axis(SCHEMA.variable(name), [one], total=True) for name, one in chosen.items()]
    verdict = ask(made, spec().with_axes(axes))
    assert menu.allows(chosen) is (verdict.outcome is Outcome.ALLOWED)


def test_a_table_that_passes_is_its_only_version() -> None:
    wanted = spec("area", "age")
    assert publishable_versions(policy(), wanted) == (wanted,)


def test_versions_by_published_numbers_show_every_area() -> None:
    made = policy(online=OnlineRules(mean_cell_size=4, ones_and_twos=0.2))
    wanted = spec("area", "age", "sex", where="married == 1")
    found = publishable_versions(made, wanted, show=published)
    assert found
    for version in found:
        verdict = show(made, published(version), published=published).verdict
        assert verdict.outcome is Outcome.ALLOWED
    for one, other in itertools.permutations(found, 2):
        assert one != other


def test_looking_is_bounded() -> None:
    asked = []

    def counting(wanted: TableSpec) -> Table:
        asked.append(wanted)
        return published(wanted)

    made = policy(online=OnlineRules(mean_cell_size=10**9))
    wanted = spec("area", "age", "sex", "married")
    assert publishable_versions(made, wanted, show=counting, most_published=5) == ()
    assert len(asked) <= 20  # five versions, and what decides about them


def test_a_table_with_far_too_many_variables_has_versions_all_the_same() -> None:
    made = policy(limits=Limits(dimensions=1, cells=4))
    found = publishable_versions(made, spec("area", "age", "sex", "married", where="age < 5"))
    assert {one.title for one in found} >= {"persons by area@district", "persons by sex"}


@pytest.mark.parametrize("where", ["sex == 1 and married == 1", "sex == 1 or married == 1"])
def test_conditions_that_hang_together_go_together(where: str) -> None:
    made = policy(limits=Limits(dimensions=2))
    found = publishable_versions(made, spec("area", where=where))
    kept = {tuple(variable.name for variable in version.universe.variables) for version in found}
    assert kept == ({("sex",), ("married",)} if "and" in where else {()})
