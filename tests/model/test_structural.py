"""Which cells must be empty by the schema."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from sdcensus.model.cube import Cube
from sdcensus.model.structural import structural_zeros
from sdcensus.model.table_spec import TableSpec
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
    if where in (None, "married == 1"):
        assert (empty == ~inside).all()
