"""What a policy says of an amount holds for plans as for the table builder."""

from __future__ import annotations

from typing import Any

import pytest

from sdcensus.documents.schema.document import read_schema
from sdcensus.errors import Refused
from sdcensus.model.plan.plan import PlannedIndicator, PlannedTable
from sdcensus.model.policy.policy import AmountRule, AtLevel, Policy
from sdcensus.model.schema.schema import Schema
from sdcensus.model.spec.measures import MeasureOf
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import AmountFigure
from sdcensus.session.figures.indicators import indicator_product
from sdcensus.session.protect.few_contributors import least_behind
from sdcensus.session.publish.products import PublishableTable, TableProduct
from sdcensus.session.publish.refusals import check_policy
from tests.hamlet import write_hamlet

RULE = AmountRule(
    variable="income",
    measures=(AmountFigure.MEAN, AmountFigure.MEDIAN),
    by=(AtLevel("sex"), AtLevel("ed")),
    dimensions=1,
    finest_area=AtLevel("ed", "parish"),
)


@pytest.fixture(scope="module")
def schema(tmp_path_factory: pytest.TempPathFactory) -> Schema:
    return read_schema(write_hamlet(tmp_path_factory.mktemp("hamlet")).schema)


def check(schema: Schema, rule: AmountRule, kind: str, *by: str, **more: Any) -> None:
    """Refuse a table of sums, or figures, where a policy with one rule about amounts does."""
    policy = Policy(name="test", schema=schema, amounts=(rule,))
    if kind == "sum":
        table = PlannedTable(name="t", rows=by, measure=MeasureOf.parse("sum(income)"))
        spec = table.spec(schema, None)
        sums = PublishableTable(name="t", title=Text.of("t"), spec=spec, rows=None)
        check_policy([TableProduct(sums)], policy, "production")
        return
    if kind in ("mean", "median", "difference"):
        more["variable"] = "income"
    planned = PlannedIndicator(name="figure", kind=kind, by=by, **more)
    check_policy([indicator_product(planned, schema)], policy, "production")


GROUPS = {"first": "sex == 1", "second": "sex == 2"}
PER_HEAD = {"numerator": "sum(income)", "denominator": "count"}


@pytest.mark.parametrize(
    ("kind", "by", "more", "why"),
    [
        ("sum", ("sex",), {}, "Not offered on tables of persons: sum of income"),
        ("mean", ("ed",), {}, "level parish"),
        ("median", ("ed",), {}, "level parish"),
        ("mean", ("ed@parish", "sex"), {}, "at most 1"),
        ("median", ("ed@parish", "sex"), {}, "at most 1"),
        ("median", ("married",), {}, "not offered together with median of income"),
        ("difference", ("ed@parish",), GROUPS, "at most 1"),
        ("difference", (), {**GROUPS, "figure": "sum"}, "sum of income"),
        ("ratio", ("married",), PER_HEAD, "not offered together with mean of income"),
    ],
)
def test_a_plan_shows_no_more_of_an_amount_than_the_policy(
    schema: Schema, kind: str, by: tuple[str, ...], more: dict[str, str], why: str
) -> None:
    with pytest.raises(Refused, match=why):
        check(schema, RULE, kind, *by, **more)


@pytest.mark.parametrize("kind", ["mean", "median"])
def test_what_is_offered_passes(schema: Schema, kind: str) -> None:
    check(schema, RULE, kind, "ed@parish")


def test_an_amount_that_the_policy_does_not_name_is_the_plan_s_own(schema: Schema) -> None:
    for kind in ("sum", "mean", "median"):
        check(schema, AmountRule(variable="rent"), kind, "ed", "sex")


def test_figures_stand_on_as_many_as_the_policy_says(schema: Schema) -> None:
    rule = AmountRule(variable="income", at_least=30)
    policy = Policy(name="test", schema=schema, amounts=(rule,))
    said = {(None, None): 30, (20, None): 30, (50, 23): 50, (None, 23): 30}
    for (planned, smallest), least in said.items():
        assert least_behind(policy, "income", smallest, planned) == least
    assert least_behind(policy, "rent", 23) == 23
    assert least_behind(None, "income", None) == 10
    assert least_behind(None, "income", 23, 3) == 3
