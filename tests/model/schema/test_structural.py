"""Which cells must be empty by the schema."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from hypothesis import given, strategies as st

from sdcensus.model.cube.cube import Cube
from sdcensus.model.schema.schema import Impossible
from sdcensus.model.schema.structural import structural_zeros
from sdcensus.model.schema.variable import Code, Hierarchy, Level
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.testing.island import island, island_schema

SCHEMA = island_schema()
BY = [
    ["age", "married"],
    ["married", "area@district", "age@class"],
    ["age@class+half", "married-total"],
    ["married"],
    ["sex", "area"],
    ["age"],
]


def test_married_children_are_structural_zeros() -> None:
    spec = TableSpec.build(SCHEMA, ["age", "married"])
    empty = structural_zeros(spec, SCHEMA)
    assert np.argwhere(empty).tolist() == [[0, 1], [1, 1], [2, 1]]


def test_a_class_is_one_only_if_all_its_ages_are() -> None:
    spec = TableSpec.build(SCHEMA, ["age@class+half", "married"])
    empty = structural_zeros(spec, SCHEMA)
    codes = [code.code for code in spec.axes[0].codes]
    assert [codes[at] for at in np.flatnonzero(empty[:, 1])] == ["c0"]
    assert not empty[:, 0].any()
    assert not empty[:, 2].any()


def test_a_variable_of_the_rule_may_stand_in_the_condition() -> None:
    spec = TableSpec.build(SCHEMA, ["age"], universe="married == 1")
    assert np.flatnonzero(structural_zeros(spec, SCHEMA)).tolist() == [0, 1, 2]
    spec = TableSpec.build(SCHEMA, ["sex"], universe="married == 1 and age < 2")
    assert structural_zeros(spec, SCHEMA).all()


def test_cells_outside_the_condition_are_structural_zeros_also_without_rules() -> None:
    plain = replace(SCHEMA, impossible=())
    spec = TableSpec.build(plain, ["sex", "area@district"], universe="sex == 1")
    empty = structural_zeros(spec, plain)
    assert empty[0].all()
    assert not empty[1:].any()


def test_a_code_without_leaves_is_a_structural_zero() -> None:
    level = Level("band", (Code("low"), Code("none"), Code("high")), (0,) * 5 + (2,) * 5)
    ages = replace(SCHEMA.variable("age"), hierarchies=(Hierarchy("band", (level,)),))
    schema = replace(SCHEMA, impossible=(), variables=(ages, SCHEMA.variable("sex")))
    spec = TableSpec.build(schema, ["age@band", "sex"])
    assert np.argwhere(structural_zeros(spec, schema)[:, 0]).ravel().tolist() == [1]


def test_rules_are_taken_together() -> None:
    both = (Impossible("sex == 0 and age < 5"), Impossible("sex == 1 and age < 5"))
    schema = replace(SCHEMA, impossible=both)
    spec = TableSpec.build(schema, ["age@half"])
    assert structural_zeros(spec, schema).tolist() == [True, False, False]


@given(
    st.sampled_from(BY),
    st.sampled_from([None, "married == 1", "age < 5", "age < 3 or sex == 1", "sex == 0"]),
)
def test_a_structural_zero_is_empty_and_the_rest_is_not_in_a_large_census(
    by: list[str], where: str | None
) -> None:
    census = island(20_000)
    cube = census.tabulate(*by, universe=where)
    assert isinstance(cube, Cube)
    empty = structural_zeros(cube.spec, SCHEMA)
    # Where everything possible occurs, a cell is empty because of the rule or of the condition.
    inside = cube.count > 0
    assert not (empty & inside).any()
    assert (empty == ~inside).all()
