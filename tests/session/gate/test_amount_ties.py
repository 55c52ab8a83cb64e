"""Amounts that tell each other are looked at together; amounts of both signs are told."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.model.cube.cube import Origin
from sdcensus.model.policy.policy import AmountRule, Policy
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.answer.sum_budgets import sum_budgets
from sdcensus.session.census.census import Census
from sdcensus.session.gate.amount_ties import AmountFacts, amount_facts
from sdcensus.session.gate.sum_looks import looks_at_sums
from sdcensus.store.in_memory import InMemoryRecords
from sdcensus.testing.island import SECRET, island_schema, island_units
from tests.methods.magnitude.incomes import income

PEOPLE = 300
METHOD = CellKeySums(secret=SECRET)


def census_of(amounts: dict[str, npt.NDArray[np.int64]]) -> Census:
    schema, units = island_schema(), island_units(PEOPLE)
    variables = tuple(income(name=name) for name in amounts)
    schema = replace(schema, variables=(*schema.variables, *variables))
    records = InMemoryRecords(
        schema,
        Entity.PERSON,
        codes={name: leaves.astype(np.uint8) for name, leaves in units.leaves.items()},
        keys=units.keys,
        values={**units.values, **amounts},
        origin=Origin(KeySpace(), SECRET.id, "ties"),
    )
    return Census(schema, records)


def drawn(seed: int) -> npt.NDArray[np.int64]:
    return np.exp(np.random.default_rng(seed).normal(10, 1.2, PEOPLE)).astype(np.int64)


WAGES, OTHER, RENT = drawn(1), drawn(2), drawn(3)
MISSING = np.where(np.arange(PEOPLE) % 3 == 0, NO_VALUE, WAGES // 12)


@pytest.mark.parametrize(
    ("amounts", "tied"),
    [
        ({"income": WAGES, "month": MISSING}, [("income", "month")]),
        ({"income": WAGES + OTHER, "wages": WAGES, "other": OTHER}, [("income", "wages", "other")]),
        ({"income": WAGES, "rent": RENT}, []),
        ({"income": WAGES, "rent": WAGES // 4 + RENT // 9}, []),
        ({"income": np.where(np.arange(PEOPLE) < 5, WAGES, 0), "rent": WAGES}, []),
    ],
    ids=["a copy by month", "parts", "drawn apart", "related", "of too few"],
)
def test_copies_and_parts_are_found(
    amounts: dict[str, npt.NDArray[np.int64]], tied: list[tuple[str, ...]]
) -> None:
    facts = amount_facts(census_of(amounts), list(amounts))
    assert sorted(set(facts.tied.values())) == tied
    assert not facts.both_signs
    assert "confidential" in repr(facts)


def test_both_signs_are_found() -> None:
    loss = np.where(np.arange(PEOPLE) == 7, -WAGES, WAGES)
    facts = amount_facts(census_of({"income": loss, "rent": -RENT}), ["income", "rent"])
    assert facts.both_signs == {"income"}


def test_nothing_is_known_of_a_census_that_only_an_engine_can_read() -> None:
    census = Census(census_of({"income": WAGES}).schema, None, engines={})
    assert amount_facts(census, ["income"]) == AmountFacts()


def test_tables_of_a_copy_are_looks_at_the_amount() -> None:
    census = census_of({"income": WAGES, "month": WAGES // 12, "rent": RENT})
    names = ["income", "month", "rent"]
    specs = [TableSpec.build(census.schema, ["sex"], measure=f"sum({name})") for name in names]
    facts = amount_facts(census, names)
    both, rent = looks_at_sums(specs, METHOD, None, facts)
    assert (both.amount, both.cells, rent.cells) == ("income, month", 4, 2)
    assert both.budget is not None
    assert rent.budget is not None
    assert both.budget.left == pytest.approx(rent.budget.left / 2**0.5)
    policy = Policy(
        name="x", schema=census.schema, amounts=tuple(AmountRule(variable=name) for name in names)
    )
    apart = sum_budgets(policy, {Entity.PERSON: METHOD})
    tied = sum_budgets(policy, {Entity.PERSON: METHOD}, facts)
    assert [budget.tables for budget in tied] == [
        2 * apart[0].tables, 2 * apart[1].tables, apart[2].tables
    ]  # fmt: skip
    assert [budget.told for budget in tied] == [
        "income (with month)",
        "month (with income)",
        "rent",
    ]


def test_a_plan_is_told_that_sums_near_zero_have_no_noise() -> None:
    census = census_of({"income": np.where(np.arange(PEOPLE) % 9 == 0, -WAGES, WAGES)})
    spec = TableSpec.build(census.schema, ["sex"], measure="sum(income)")
    (looks,) = looks_at_sums([spec], METHOD, None, amount_facts(census, ["income"]))
    assert looks.budget is None
    assert "near 0 has next to no noise" in looks.sentence
