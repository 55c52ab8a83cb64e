"""A mean or a median of an amount is the same number with the same sign, whoever asks for it."""

from __future__ import annotations

import itertools
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.model.cube.cube import Origin
from sdcensus.model.plan.plan import PlannedIndicator
from sdcensus.model.policy.policy import AmountRule, Limits, OnlineRules, Policy
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.table import Mark
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.schema.variable import Code, CodeKind, Entity, Hierarchy, Level, Variable
from sdcensus.model.spec.question import Question
from sdcensus.model.vocabulary import AmountFigure
from sdcensus.session.answer import TableService
from sdcensus.session.census.census import Census
from sdcensus.session.commands import compile_program, finish
from sdcensus.session.figures.indicators import indicator_product
from sdcensus.session.protect.few_contributors import (
    contributors_needed,
    hide_few,
    least_behind,
    published_contributors,
)
from sdcensus.session.protect.table import protect_table
from sdcensus.session.publish.products import Heading, PublishedPart
from sdcensus.store.in_memory import InMemoryRecords
from sdcensus.testing.island import SECRET, island_schema, island_units
from tests.session.answer.services import METHOD

AT_LEAST = 25
BOUNDS = [0, 10, 20, 30, 40, 60, 80]
CLASSES = (
    *(
        Code(f"{low}-{high - 1}", lower=low, upper=high - 1)
        for low, high in itertools.pairwise(BOUNDS)
    ),
    Code("80+", lower=80),
    Code("x", kind=CodeKind.NOT_STATED),
)
HALVES = Level("half", (CLASSES[0], Code("10+", lower=10), CLASSES[-1]), (0, *[1] * 6, 2))


def amounts_census() -> Census:
    """The island: hours with classes, not stated by a tenth, and pay that everybody has."""
    schema = island_schema()
    hours = Variable(
        name="hours",
        entity=Entity.PERSON,
        codes=CLASSES,
        hierarchies=(Hierarchy("half", (HALVES,)),),
        continuous=True,
        decimals=0,
        unit="hours",
    )
    pay = Variable(name="pay", entity=Entity.PERSON, continuous=True, decimals=3)
    schema = replace(schema, variables=(*schema.variables, hours, pay))
    units = island_units(1_500)
    draw = np.random.default_rng(5)
    worked = np.minimum(np.exp(draw.normal(3.3, 0.8, 1_500)).astype(np.int64), 99)
    stated = draw.random(1_500) >= 0.1
    classes = np.searchsorted(BOUNDS, worked, side="right") - 1
    codes = {name: leaves.astype(np.uint8) for name, leaves in units.leaves.items()}
    codes["hours"] = np.where(stated, classes, 7).astype(np.uint8)
    values = {
        **units.values,
        "hours": np.where(stated, worked, 0),
        "pay": np.exp(draw.normal(12, 1, 1_500)).astype(np.int64),
    }
    origin = Origin(KeySpace(), SECRET.id, "amounts")
    records = InMemoryRecords(
        schema, Entity.PERSON, codes=codes, keys=units.keys, values=values, origin=origin
    )
    return Census(schema, records)


CENSUS = amounts_census()
SUMS = CellKeySums(secret=METHOD.secret)
POLICY = Policy(
    name="test",
    schema=CENSUS.schema,
    limits=Limits(dimensions=5),
    online=OnlineRules(),
    amounts=tuple(
        AmountRule(
            variable=name,
            measures=(AmountFigure.MEAN, *([AmountFigure.MEDIAN] if name == "hours" else [])),
            at_least=AT_LEAST,
        )
        for name in ("hours", "pay")
    ),
)
SERVICE = TableService(CENSUS, POLICY, {Entity.PERSON: METHOD}, sums={Entity.PERSON: SUMS})


def planned(kind: str, amount: str, by: tuple[str, ...], universe: str = "") -> DeliveredTable:
    """The figures of a plan that obeys the policy: sums of few contributors are hidden."""
    indicator = PlannedIndicator(
        name="figure", kind=kind, variable=amount, by=by, universe=universe
    )
    product = indicator_product(
        indicator, CENSUS.schema, None, lambda name, said: least_behind(POLICY, name, None, said)
    )
    parts = []
    for spec in product.specs:
        method = SUMS if spec.measure.is_sum else METHOD
        protected = protect_table(CENSUS, spec, method)
        table = protected.table.whole()
        if spec.measure.is_sum:
            cube = protected.audit.cube.held_for("a test")
            table = hide_few(
                table,
                published_contributors(METHOD, cube),
                contributors_needed(POLICY, spec, None),
            )
        parts.append(PublishedPart(table, protected.provenance))
    return product.delivered(parts, Heading())


def of_program(text: str) -> DeliveredTable:
    (table,) = compile_program(text, CENSUS.schema).tables
    answer = SERVICE.answer(table.question)
    assert answer.table is not None, answer.verdict
    return finish(table, answer.table, SERVICE.least_behind)


def shown(table: DeliveredTable) -> tuple[object, ...]:
    marks = np.zeros(table.values.shape) if table.marks is None else table.marks
    return table.decimals, table.values.tolist(), marks.astype(int).tolist()


AXES = ("area", "area@district", "area@area+district", "sex", "age", "age@half", "married")
GROUPS = st.lists(
    st.sampled_from(AXES), max_size=3, unique_by=lambda axis: axis.partition("@")[0]
).map(tuple)
FIGURES = st.sampled_from([("mean", "hours"), ("median", "hours"), ("mean", "pay")])


@settings(max_examples=10)
@given(FIGURES, GROUPS)
def test_plan_builder_and_program_give_one_number_with_one_sign(
    figure: tuple[str, str], by: tuple[str, ...]
) -> None:
    kind, amount = figure
    question = Question.from_json(
        {"of": "persons", "measure": f"{kind}({amount})", "by": [*reversed(by)]}
    )
    answer = SERVICE.answer(question).table
    assert answer is not None
    word = {"mean": "AVERAGE", "median": "MEDIAN"}[kind]
    groups = f" BY {', '.join(by)}" if by else ""
    plan = planned(kind, amount, by)
    assert shown(of_program(f"TABLE t AS {word} OF person.{amount}{groups}")) == shown(plan)
    marks = np.zeros(answer.shape) if answer.marks is None else answer.marks
    turned = (answer.decimals, answer.values.T.tolist(), marks.T.astype(int).tolist())
    assert turned == shown(plan)
    assert answer.unit == plan.unit


def test_all_signs_are_met() -> None:
    """The census above is no trivial one: some are hidden, some in brackets, some neither."""
    for kind, hidden in (("mean", Mark.BELOW_THRESHOLD), ("median", Mark.NOT_AVAILABLE)):
        marks = planned(kind, "hours", ("area", "sex", "age")).marks
        assert marks is not None
        assert {Mark.NONE, Mark.LOW_RELIABILITY, hidden} <= set(np.unique(marks).tolist())


def test_a_median_of_coarser_classes_stands_on_as_many() -> None:
    plan = planned("median", "hours@half", ("area", "sex", "age"))
    program = of_program("TABLE t AS MEDIAN OF person.hours@half BY area, sex, age")
    assert shown(program) == shown(plan)


@pytest.mark.parametrize(("amount", "decimals"), [("hours", 1), ("pay", 3)])
def test_a_mean_has_the_decimals_of_its_amount_and_at_least_one(amount: str, decimals: int) -> None:
    assert planned("mean", amount, ("sex",)).decimals == decimals
