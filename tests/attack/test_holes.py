"""The table of attacks and remedies, on a small case: every remedy is measured, and differs."""

from __future__ import annotations

import pytest

from benchmarks.holes import (
    REMEDIES,
    Remedy,
    builder_tables,
    lines_of,
    method_of,
    persons_shown,
    plan_tables,
    scores_of,
)
from sdcensus.methods.perturbation.design import design_perturbation
from sdcensus.model.policy.policy import Limits, Policy
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.attack.score_groups import GroupScore
from sdcensus.session.census.census import Census
from sdcensus.session.protect.smallest_group import GroupRule
from sdcensus.testing.island import SECRET
from tests.attack.made import combined, questionnaire


@pytest.fixture(scope="module")
def census() -> Census:
    return questionnaire(120, areas=10, answers=5, codes=4)


def scores(remedy: Remedy, census: Census) -> tuple[GroupScore, ...]:
    policy = Policy(name="small", schema=census.schema, limits=Limits(dimensions=3, cells=10_000))
    method = method_of(remedy, census, SECRET, design_perturbation(6, 5.0))
    tables = builder_tables(remedy, census, policy, method, ("country",))
    assert len(lines_of("builder", remedy, ())) == 4
    shown = persons_shown(tables, census, "sex")
    assert shown is not None or remedy.dimensions == 2
    assert shown is None or 0 <= shown <= 1
    return scores_of(remedy, tables, census)


def test_remedies_are_measured_with_the_same_figures(census: Census) -> None:
    right = {
        one.name: sum(score.right for score in scores(one, census) if score.size == 1)
        for one in REMEDIES
    }
    assert right["set keys"] > 10
    assert right["definition keys"] > 2
    for name in ("smallest group 24", "values below 10 hidden"):
        assert right[f"definition keys, {name}"] == 0
    assert right["set keys, zeros changed too"] > 10
    assert right["set keys, two variables in a table"] == 0


def test_a_plan_is_hidden_as_the_builder_is(census: Census) -> None:
    remedy = next(one for one in REMEDIES if one.smallest_group and one.definition)
    method = method_of(remedy, census, SECRET, design_perturbation(6, 5.0))
    specs = [TableSpec.build(census.schema, by) for by in combined(census, 3)[:4]]
    rule = GroupRule(remedy.smallest_group)
    for made, spec in zip(plan_tables(remedy, census, method, specs), specs, strict=True):
        assert made.table == rule.protect(spec, method, census.tabulate).table
