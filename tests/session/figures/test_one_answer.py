"""One question has one answer: a plan, the builder, a program and own groups publish it alike."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import partial
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.model.cube.cube import Origin
from sdcensus.model.plan.plan import PlannedIndicator
from sdcensus.model.policy.policy import Limits, OnlineRules, Policy
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.table import Table
from sdcensus.model.schema.schema import KeySpace
from sdcensus.model.schema.variable import Code, Entity, Hierarchy, Level
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.answer import TableService
from sdcensus.session.census.census import Census
from sdcensus.session.commands import compile_program, finish
from sdcensus.session.figures.indicators import indicator_product
from sdcensus.session.protect.own_groups import group_table
from sdcensus.session.protect.table import protect_table
from sdcensus.session.publish.products import Heading, PublishedPart
from sdcensus.store.in_memory import InMemoryRecords
from sdcensus.testing.island import SECRET, island_schema, island_units
from tests.session.answer.services import METHOD, asked, values

Int64 = npt.NDArray[np.int64]
PAIRS = Level("pair", tuple(Code(f"p{at}") for at in range(5)), (0, 0, 1, 1, 2, 2, 3, 3, 4, 4))


def crossing_census() -> Census:
    """The island, whose ages stand in classes, in halves and in pairs, all of which cross."""
    schema = island_schema()
    ages = schema.variable("age")
    pairs = (*ages.hierarchies, Hierarchy("pair", (PAIRS,)))
    schema = replace(
        schema,
        variables=tuple(
            replace(each, hierarchies=pairs) if each is ages else each for each in schema.variables
        ),
    )
    units = island_units(2_000)
    records = InMemoryRecords(
        schema,
        Entity.PERSON,
        codes={name: leaves.astype(np.uint8) for name, leaves in units.leaves.items()},
        keys=units.keys,
        values=dict(units.values),
        origin=Origin(KeySpace(), SECRET.id, "island"),
    )
    return Census(schema, records)


CENSUS = crossing_census()
SCHEMA = CENSUS.schema
POLICY = Policy(
    name="test",
    schema=SCHEMA,
    limits=Limits(dimensions=5, cells=100_000),
    online=OnlineRules(),
)
SERVICE = TableService(CENSUS, POLICY, {Entity.PERSON: METHOD})
#: Every declared code of the age, by sex, as it is published.
BY_CODE = protect_table(
    CENSUS, TableSpec.build(SCHEMA, ["sex", "age@age+class+half+pair"]), METHOD
).table


def sum_of(*codes: str) -> Int64:
    """The sum of published values of declared codes, by sex."""
    axis = BY_CODE.spec.axes[1]
    positions = [axis.position(code) for code in codes]
    sums: Int64 = BY_CODE.whole().published[:, positions].sum(axis=1)
    return sums


def in_builder(ages: Sequence[int]) -> list[Int64]:
    """Ages as a group of one's own, and as a condition."""
    codes = [str(age) for age in ages]
    group = SERVICE.answer(asked("sex", "age", groups={"age": [{"label": "own", "codes": codes}]}))
    condition = SERVICE.answer(asked("sex", where=f"age in ({', '.join(codes)})"))
    return [values(group)[:, 0], values(condition)]


def of_program(text: str) -> DeliveredTable:
    table = compile_program(text, SCHEMA).tables[-1]
    answer = SERVICE.answer(table.question)
    assert answer.table is not None, answer.verdict
    return finish(table, answer.table)


def in_program(ages: Sequence[int]) -> list[Int64]:
    """Ages as computed categories, and as a condition."""
    codes = ", ".join(map(str, ages))
    recoded = of_program(
        f"DEFINE own AS RECODE age ({codes} = 1 'Own') TABLE t AS CROSSTABS OF sex BY own"
    )
    condition = of_program(f"TABLE t AS FREQUENCY OF sex FOR age IN ({codes})")
    return [recoded.values[:, 0], condition.values]


def in_groups_file(ages: Sequence[int], folder: Path) -> Int64:
    """Ages as groups of one's own beside a table that shows single ages only."""
    file = folder / "groups.csv"
    lines = ["variable,group,code", *(f"age,own,{age}" for age in ages)]
    file.write_text("\n".join(lines), encoding="utf-8")

    protect = partial(protect_table, CENSUS, method=METHOD)
    protected = protect(TableSpec.build(SCHEMA, ["sex", "age"]))
    return group_table(protected, file, protect).published[:, 0]


def planned(**settings: object) -> DeliveredTable:
    indicator = PlannedIndicator(name="figure", **settings)  # type: ignore[arg-type]
    product = indicator_product(indicator, SCHEMA)
    protected = METHOD.protect(CENSUS.tabulate(product.specs[0]))
    assert isinstance(protected.table, Table)
    return product.delivered([PublishedPart(protected.table, protected.provenance)], Heading())


@pytest.mark.parametrize(
    ("ages", "parts"),
    [
        # A half and one age; classes and pairs would take four and more.
        ((0, 1, 2, 3, 4, 9), ("h0", "9")),
        # Two classes, where a half leaves two ages over, which are no pair.
        ((0, 1, 2, 3, 4, 5, 6), ("c0", "c1")),
        # A class and an age, or two pairs: of equally few the one with the larger code.
        ((0, 1, 2, 3), ("c0", "3")),
        ((2, 3, 4, 5, 6), ("c1", "2")),
        # A half and a class of the other hierarchy, side by side.
        ((0, 1, 2, 3, 4, 7, 8, 9), ("h0", "c2")),
        ((1, 4), ("1", "4")),
        ((3, 4, 5, 6), ("c1",)),
    ],
)
def test_a_group_is_the_sum_of_the_same_published_values_everywhere(
    ages: tuple[int, ...], parts: tuple[str, ...], tmp_path: Path
) -> None:
    expected = sum_of(*parts).tolist()
    answers = [*in_builder(ages), *in_program(ages), in_groups_file(ages, tmp_path)]
    assert [answer.tolist() for answer in answers] == [expected] * 5
    whole = sum_of("_T")
    share = [round(Fraction(int(a) * 1000, int(b))) for a, b in zip(expected, whole, strict=True)]
    condition = f"age in ({', '.join(map(str, ages))})"
    plan = planned(kind="share", by=("sex",), numerator=condition)
    program = of_program(f"TABLE t AS SHARE OF {condition} OF person BY sex")
    assert plan.values.tolist() == program.values.tolist() == share


def marks(table: DeliveredTable) -> list[int]:
    return [0] * table.values.size if table.marks is None else table.marks.ravel().tolist()


AGES = st.sets(st.integers(0, 9), min_size=1, max_size=9).map(sorted)


@given(AGES, AGES, st.sampled_from(["sex", "area", "area@district"]))
def test_figures_of_plans_and_programs_are_the_same_numbers_with_the_same_marks(
    first: list[int], second: list[int], by: str
) -> None:
    above, below = (f"age in ({', '.join(map(str, ages))})" for ages in (first, second))
    groups = f"married = 1 AND {above}"
    for kind, plan, program in (
        ("ratio", {"numerator": above, "denominator": below}, f"RATIO OF {above} TO {below}"),
        ("share", {"numerator": f"married == 1 and {above}"}, f"SHARE OF {groups} OF person"),
    ):
        figures = planned(kind=kind, by=(by,), **plan)
        shown = of_program(f"TABLE t AS {program} BY {by}")
        assert figures.values.tolist() == shown.values.tolist()
        assert marks(figures) == marks(shown)
        assert figures.unit == shown.unit
        first_words, other_words = (
            each.title.show("nl").partition(" naar ")[0] for each in (figures, shown)
        )
        assert first_words == other_words


@given(AGES)
def test_groups_and_conditions_are_the_same_sums(ages: list[int]) -> None:
    first, *others = [*in_builder(ages), *in_program(ages)]
    for other in others:
        assert other.tolist() == first.tolist()


@pytest.mark.parametrize("kind", ["mean", "median", "distribution"])
def test_figures_of_one_variable_are_the_same_in_plans_and_programs(kind: str) -> None:
    figures = planned(kind=kind, by=("area", "sex"), variable="age")
    shown = of_program(f"TABLE t AS {kind} OF age BY area, sex")
    assert figures.values.tolist() == shown.values.tolist()
    assert marks(figures) == marks(shown)
    assert figures.notes == shown.notes[-len(figures.notes) :]
