"""Intervals of a table's cells: what adds up narrows them, and never too much."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.cube.constraints import with_totals
from sdcensus.model.inference.intervals import Intervals, shuttle
from sdcensus.model.inference.knowledge import UNBOUNDED, Knowledge
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.spec.table_spec import TableSpec
from tests.methods.nearly_additive import spec_of, specs, variable

Int64 = npt.NDArray[np.int64]


def known(table: Table, *, max_deviation: int, zeros_known: bool = True) -> Intervals:
    knowledge = Knowledge(max_deviation=max_deviation, zeros_known=zeros_known)
    return shuttle(table.spec, *knowledge.bounds(table))


def row(*values: int) -> Table:
    """One axis and its total."""
    spec = spec_of([variable("a", len(values) - 1)], ["a"])
    return Table(spec, np.array(values))


def test_the_row_of_the_stace_guidelines_falls() -> None:
    # S24: published 1, 1 and a total of 0; nothing was changed by more than 2, zeros are kept.
    found = known(row(1, 1, 0), max_deviation=2)
    assert found.lower.tolist() == found.upper.tolist() == [1, 1, 2]
    assert found.disclosed.all()
    # Without knowing that zeros are kept, nothing falls.
    unknown = known(row(1, 1, 0), max_deviation=2, zeros_known=False)
    assert not unknown.disclosed.any()


def test_nought_or_one_counts_as_disclosed() -> None:
    found = shuttle(row(0, 0, 0).spec, np.array([0, 0, 0]), np.array([1, 2, 3]))
    assert found.disclosed.tolist() == [True, False, False]


def test_margins_at_the_other_edge_give_everything_away() -> None:
    # True 5 and 7, published as low as possible; the total 12 as high as possible.
    found = known(row(2, 4, 15), max_deviation=3)
    assert found.lower.tolist() == found.upper.tolist() == [5, 7, 12]


@given(specs(), st.integers(0, 1 << 32), st.integers(0, 3), st.booleans())
def test_the_truth_lies_inside(spec: TableSpec, seed: int, most: int, zeros: bool) -> None:
    draw = np.random.default_rng(seed)
    inner = np.where(draw.random(spec.base_shape) < 0.4, 0, draw.integers(0, 9, spec.base_shape))
    true = with_totals(spec, inner)
    published = np.maximum(true + draw.integers(-most, most + 1, true.shape), 0)
    published = np.where(true == 0, 0, published) if zeros else published
    flags = np.array(draw.random(spec.shape) < 0.2, dtype=np.uint8)
    table = Table(spec, np.array(np.where(flags, 0, published)), flags)
    lower, upper = Knowledge(max_deviation=most, zeros_known=zeros).bounds(table)
    found = shuttle(spec, lower, upper)
    assert found.holds(true)
    assert not found.contradictory
    assert (found.lower >= lower).all()
    assert (found.upper <= upper).all()
    again = shuttle(spec, found.lower, found.upper)
    assert (again.lower == found.lower).all()
    assert (again.upper == found.upper).all()


@given(specs(most_axes=2), st.integers(0, 1 << 32))
def test_what_everybody_knows_exactly_is_disclosed_exactly(spec: TableSpec, seed: int) -> None:
    true = with_totals(spec, np.random.default_rng(seed).integers(0, 9, spec.base_shape))
    hidden = np.zeros(spec.shape, dtype=bool)
    hidden.reshape(-1)[0] = True
    lower, upper = np.where(hidden, 0, true), np.where(hidden, UNBOUNDED, true)
    found = shuttle(spec, lower, upper)
    # One hidden cell is the rest of any sum that it is in.
    if any(len(axis.blocks) > 1 for axis in spec.axes):
        assert (found.lower == true).all()
        assert (found.upper == true).all()
    else:
        assert found.upper.reshape(-1)[0] == UNBOUNDED


def test_levels_narrow_each_other_through_their_totals() -> None:
    area = variable("area", 4, (0, 0, 1, 1))
    spec = spec_of([area], ["area@area+area_0"])
    lower = np.array([0, 0, 0, 0, 3, 0, 0])
    upper = np.array([9, 1, 9, 9, 9, 4, 5])
    found = shuttle(spec, lower, upper)
    # The first parish holds at least 2 of the 3 of its district; the other district has 2 left.
    assert found.lower.tolist() == [2, 0, 0, 0, 3, 0, 3]
    assert found.upper.tolist() == [5, 1, 2, 2, 5, 2, 5]


def test_levels_that_do_not_nest_meet_in_the_groups_that_both_are_made_of() -> None:
    # Halves {0,1},{2,3} and {0},{1,2,3}: neither nests in the other, the base is not shown.
    area = variable("area", 4, (0, 0, 1, 1), (0, 1, 1, 1))
    spec = spec_of([area], ["area@area_0+area_1-total"])
    found = shuttle(spec, np.array([0, 0, 0, 0]), np.array([9, 2, 3, 1]))
    # Leaf 1 lies in the group with at most 1, leaf 0 in the one with at most 3.
    assert found.upper.tolist() == [4, 1, 3, 1]
    # A group that the table does not show has no count: the table does not fit.
    broken = shuttle(spec, np.array([0, 5, 0, 0]), np.array([9, 9, 3, 1]))
    assert broken.contradictory


def test_a_level_that_nests_in_several_is_narrowed_by_all_of_them() -> None:
    area = variable("area", 4, (0, 0, 1, 1), (0, 1, 0, 1))
    spec = spec_of([area], ["area@area+area_0+area_1-total"])
    found = shuttle(spec, np.zeros(8, dtype=np.int64), np.array([9, 9, 9, 9, 9, 2, 1, 9]))
    assert found.upper.tolist() == [1, 9, 1, 2, 9, 2, 1, 9]
    total = shuttle(spec, np.array([5, 0, 0, 0, 0, 0, 0, 0]), np.full(8, 7))
    assert total.lower.tolist() == [5, 0, 0, 0, 5, 0, 5, 0]


def test_a_code_without_children_is_empty() -> None:
    area = variable("area", 3, (0, 0, 2))
    spec = spec_of([area], ["area@area+area_0-total"])
    found = shuttle(spec, np.zeros(6, dtype=np.int64), np.full(6, 3))
    assert found.upper.tolist() == [3, 3, 3, 3, 0, 3]


def test_a_subtotal_with_one_child_is_the_child() -> None:
    spec = spec_of([variable("a", 1)], ["a"])
    found = shuttle(spec, np.array([1, 0]), np.array([9, 4]))
    assert (found.lower.tolist(), found.upper.tolist()) == ([1, 1], [4, 4])


@pytest.mark.parametrize("by", [[], ["a-total"]])
def test_a_table_of_one_cell_keeps_its_bounds(by: list[str]) -> None:
    spec = spec_of([variable("a", 1)], by)
    lower, upper = np.full(spec.shape, 2), np.full(spec.shape, 5)
    found = shuttle(spec, lower, upper)
    assert found.lower.shape == spec.shape
    assert (int(found.lower.sum()), int(found.upper.sum())) == (2, 5)
    assert not found.disclosed.any()


def test_bounds_that_contradict_each_other_are_told() -> None:
    found = known(row(9, 9, 3), max_deviation=1)
    assert found.contradictory
    assert shuttle(found.spec, np.array([5, 0, 0]), np.array([4, 9, 9])).contradictory
    # A table whose published numbers are below 0 fits nothing.
    assert shuttle(found.spec, np.array([-4, 0, 0]), np.array([-2, 9, 9])).contradictory


def test_withheld_cells_are_bounded_by_what_is_published_around_them() -> None:
    spec = spec_of([variable("a", 2), variable("b", 2)], ["a", "b"])
    flags = np.zeros(spec.shape, dtype=np.uint8)
    flags[:2, :2] = Mark.WITHHELD
    table = Table(spec, np.array([[0, 0, 4], [0, 0, 1], [2, 3, 5]]), flags)
    found = known(table, max_deviation=0)
    assert found.lower[:2, :2].tolist() == [[1, 2], [0, 0]]
    assert found.upper[:2, :2].tolist() == [[2, 3], [1, 1]]
    flags = np.full(spec.shape, Mark.WITHHELD, dtype=np.uint8)
    nothing = known(Table(spec, np.zeros(spec.shape, dtype=np.int64), flags), max_deviation=2)
    assert (nothing.upper == UNBOUNDED).all()
    assert not nothing.bounded.any()
    assert not nothing.contradictory


def test_a_sum_of_which_one_part_is_unbounded_stays_unbounded() -> None:
    spec = row(0, 0, 0).spec
    found = shuttle(spec, np.array([3, 0, 0]), np.array([4, UNBOUNDED, UNBOUNDED]))
    assert found.upper.tolist() == [4, UNBOUNDED, UNBOUNDED]
    assert found.lower.tolist() == [3, 0, 3]


def test_bounds_of_another_shape_or_kind_are_refused() -> None:
    spec = row(1, 1, 2).spec
    with pytest.raises(SpecError, match=r"shape \(2,\).*totals included"):
        shuttle(spec, np.zeros(2, dtype=np.int64), np.ones(2, dtype=np.int64))
    with pytest.raises(SpecError, match="whole numbers"):
        shuttle(spec, np.zeros(3), np.ones(3))  # type: ignore[arg-type]


def test_bounds_that_are_given_stay_as_they_are() -> None:
    lower, upper = np.array([1, 1, 2]), np.array([3, 3, 2])
    shuttle(row(1, 1, 2).spec, lower, upper)
    assert upper.tolist() == [3, 3, 2]
