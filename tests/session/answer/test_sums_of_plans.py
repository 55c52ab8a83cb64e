"""What a server gives out and what a plan publishes are the same numbers, sums included."""

from __future__ import annotations

import csv
from pathlib import Path

import pytest

from sdcensus.documents.plan.document import read_plan
from sdcensus.documents.policy.document import read_policy
from sdcensus.errors import Refused
from sdcensus.methods.method import Method
from sdcensus.model.method.parameter import MethodOptions
from sdcensus.model.policy.policy import AmountRule, AtLevel, Limits, Policy
from sdcensus.model.schema.variable import Entity
from sdcensus.model.secret import Purpose
from sdcensus.model.spec.question import Question
from sdcensus.session.answer import TableService
from sdcensus.session.answer.sum_budgets import refuse_weak_sums, sum_budgets
from sdcensus.session.answer.sum_methods import sum_methods
from sdcensus.session.census.census import Census
from sdcensus.session.protect.plan_method import planned_method
from sdcensus.session.publish.run import publish
from sdcensus.testing.island import SECRET
from tests.hamlet import Hamlet, write_hamlet

LOOKUP = SECRET.sub_secret(Purpose.LOOKUP, 1)
PLAN = """\
store = "census.store"

[[table]]
name = "people"
rows = ["ed"]
columns = ["sex"]

[[table]]
name = "incomes"
rows = ["ed"]
columns = ["sex", "age@broad"]
measure = "sum(income)"
protect = "sums"

[protect]
method = "cell-key"
strength = "medium"
smallest_group = 30

[output]
folder = "published"
formats = ["csv"]

[protect.sums]
method = "cell-key-sums"
noise_share = 0.2
smallest_group = 30
"""
POLICY = """\
name = "Rules"

[online]
smallest_group = 30

[amount.income]
at_least = 3
"""


@pytest.fixture(scope="module")
def hamlet(tmp_path_factory: pytest.TempPathFactory) -> Hamlet:
    made = write_hamlet(tmp_path_factory.mktemp("hamlet"))
    made.load()
    return made


def methods(census: Census, policy: Policy, plan: Path) -> tuple[Method, dict[Entity, Method]]:
    """The methods of a server under a plan."""
    read = read_plan(plan)
    counts = planned_method(read, census, Entity.PERSON, secret=LOOKUP, key_version=1)
    sums = sum_methods(
        census,
        policy,
        {Entity.PERSON: counts},
        plan=read,
        options=None,
        secret=LOOKUP,
        version=1,
    )
    return counts, sums


def test_a_server_under_a_plan_gives_the_sums_of_the_plan(hamlet: Hamlet) -> None:
    census = hamlet.census()
    plan = hamlet.write("plan.toml", PLAN)
    publish(plan, secret=hamlet.secret)
    (file,) = hamlet.folder.glob("published*/incomes*.csv")
    with file.open(encoding="utf-8-sig", newline="") as text:
        rows = list(csv.DictReader(text))
    published = {(row["ed"], row["sex"], row["age"]): row for row in rows}
    policy = read_policy(hamlet.write("policy.toml", POLICY), census.schema)
    counts, sums = methods(census, policy, plan)
    service = TableService(census, policy, {Entity.PERSON: counts}, sums=sums)
    question = {"of": "persons", "measure": "sum(income)", "by": ["ed", "sex", "age@broad"]}
    table = service.answer(Question.from_json(question)).table
    assert table is not None
    same = hidden = 0
    for at, place in enumerate(
        (ed, sex, age)
        for ed in table.axes[0].codes
        for sex in table.axes[1].codes
        for age in table.axes[2].codes
    ):
        row = published[place]
        # A plan without this policy asks for as many contributors as its smallest group.
        if not table.numbered.ravel()[at] or row["flag"] == "..":
            hidden += 1
            continue
        assert float(row["value"]) == table.values.ravel()[at] / 100
        same += 1
    assert same > 10
    assert hidden > 5


def test_a_plan_that_protects_sums_in_several_ways_is_not_served(hamlet: Hamlet) -> None:
    census = hamlet.census()
    policy = read_policy(hamlet.write("policy.toml", POLICY), census.schema)
    other = PLAN.replace(
        "[protect]\n",
        '[[table]]\nname = "more"\nrows = ["sex"]\nmeasure = "sum(income)"\n'
        'protect = { method = "cell-key-sums", noise_share = 0.3 }\n\n[protect]\n',
    )
    with pytest.raises(Refused, match="several ways \\('incomes', 'more'\\)"):
        methods(census, policy, hamlet.write("other.toml", other))


@pytest.mark.parametrize(
    "sums",
    ['method = "abs-top-contributors"', 'method = "cell-key-sums"\nkey_derivation = "hashed"'],
)
def test_sums_that_differ_between_tables_are_not_served(hamlet: Hamlet, sums: str) -> None:
    census = hamlet.census()
    policy = read_policy(hamlet.write("policy.toml", POLICY), census.schema)
    text = PLAN.replace('method = "cell-key-sums"\nnoise_share = 0.2', sums)
    with pytest.raises(Refused, match="cell keys of their definition"):
        methods(census, policy, hamlet.write("other.toml", text))


def made(census: Census, policy: Policy, **options: object) -> dict[Entity, Method]:
    return sum_methods(
        census,
        policy,
        {Entity.PERSON: planned_method_of(census)},
        plan=None,
        options=MethodOptions(**options),  # type: ignore[arg-type]
        secret=LOOKUP,
        version=1,
    )


def planned_method_of(census: Census) -> Method:
    from sdcensus.session.protect.table import build_method

    return build_method("cell-key", census, options=MethodOptions(scheme="CP4"), secret=LOOKUP)


def test_noise_that_would_be_averaged_away_keeps_the_builder_closed(hamlet: Hamlet) -> None:
    census = hamlet.census()

    def checked(noise: float | None, **rule: object) -> None:
        policy = Policy(
            name="test",
            schema=census.schema,
            limits=Limits(dimensions=3),
            amounts=(AmountRule(variable="income", **rule),),  # type: ignore[arg-type]
        )
        budgets = sum_budgets(policy, made(census, policy, noise_share=noise))
        refuse_weak_sums(policy, budgets, planned=False)

    with pytest.raises(Refused) as refused:
        checked(None)
    text = str(refused.value)
    assert "income: the same contribution is in a cell of each of" in text
    assert "at most 19" in text
    assert "noise_left = 0.0" in text
    few = {"by": (AtLevel("ed"), AtLevel("sex")), "dimensions": 2}
    checked(None, **few)
    with pytest.raises(Refused, match=r"asks for 5\.0 %"):
        checked(None, noise_left=0.05, **few)
    with pytest.raises(Refused, match="--sum-noise"):
        checked(None, noise_left=0.05, **few)
    checked(0.2, noise_left=0.05, **few)


def test_noise_by_the_mean_of_contributions_is_not_served(hamlet: Hamlet) -> None:
    census = hamlet.census()
    policy = Policy(name="x", schema=census.schema, amounts=(AmountRule(variable="income"),))
    with pytest.raises(Refused, match="not in proportion to the largest"):
        sum_budgets(policy, made(census, policy, measured_by="mean"))


def test_medians_need_no_method_for_sums(hamlet: Hamlet) -> None:
    census = hamlet.census()
    from sdcensus.model.vocabulary import AmountFigure

    rule = AmountRule(variable="income", measures=(AmountFigure.MEDIAN,))
    policy = Policy(name="x", schema=census.schema, amounts=(rule,))
    assert made(census, policy) == {}
    assert sum_budgets(policy, {}) == ()
