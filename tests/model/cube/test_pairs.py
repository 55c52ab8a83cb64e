"""True counts beside published values: what is compared, and what is refused."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.cube.cube import Cube
from sdcensus.model.cube.pairs import counts_of, pair_of, pair_of_values
from sdcensus.model.cube.parts import TablePart, known_axes, region
from sdcensus.model.inference.knowledge import Knowledge
from sdcensus.model.published.table import Mark, Table
from sdcensus.risk.composite import composite_risk_of
from sdcensus.risk.feasibility import feasibility
from sdcensus.risk.posterior import posterior_observed_of
from sdcensus.risk.unperturbed import unperturbed_small_of
from tests.methods.nearly_additive import spec_of, variable
from tests.utility.made import cube_of, cubes_with_tables, sparse, two_way


@given(cubes_with_tables(), st.sampled_from(TablePart))
def test_parts_of_sparse_tables_are_those_of_dense_ones(
    made: tuple[Cube, Table], part: TablePart
) -> None:
    """Interior cells come from the finest block alone; margins from all the others."""
    cube, table = made
    if not all(axis.base_is_shown for axis in cube.spec.axes):
        part = TablePart.ALL
    dense = pair_of(cube, table, part, numbers=True)
    held_cube, held_table = sparse(cube, table)
    held = pair_of(held_cube, held_table, part, numbers=True)
    assert held.cells == dense.cells == region(cube.spec, part).cells
    assert dense.numbers is not None
    assert held.numbers is not None
    at = np.searchsorted(dense.numbers, held.numbers)
    assert (dense.true[at] == held.true).all()
    assert (dense.published[at] == held.published).all()
    rest = np.delete(np.arange(dense.true.size), at)
    assert not dense.true[rest].any()
    assert not dense.published[rest].any()
    for mixed in (pair_of(held_cube, table, part), pair_of(cube, held_table, part)):
        assert (mixed.true == dense.true).all()
        assert (mixed.published == dense.published).all()
    counts = counts_of(held_cube, part)
    assert (counts.cells, counts.true.sum()) == (dense.cells, dense.true.sum())


def test_withheld_cells_stand_apart_with_their_true_counts() -> None:
    cube = two_way([[1, 2], [3, 4]])
    flags = np.zeros(cube.shape, dtype=np.uint8)
    flags[0, 1] = Mark.WITHHELD
    table = Table(cube.spec, np.where(flags == 0, cube.count, 0), flags)
    found = pair_of(cube, table, TablePart.INTERIOR, numbers=True)
    assert found.true.tolist() == [1, 3, 4]
    assert found.hidden.tolist() == [2]
    assert (found.cells, found.withheld) == (3, 1)
    assert found.numbers is not None
    assert found.numbers.tolist() == [0, 3, 4]
    assert "2" not in repr(found)


def test_what_stands_in_a_withheld_cell_does_not_matter() -> None:
    for anything in (math.nan, -1, 0.5):
        found = pair_of_values([1, 2], [anything, 2], withheld=[True, False])
        assert found.hidden.tolist() == [1]
        same = pair_of_values([1, 2], [anything, 2], shown=[False, True], cells=5)
        assert (same.published.tolist(), same.absent, same.cells) == ([2], 3, 4)


def test_masks_that_are_none_are_refused() -> None:
    for mask in ([1, 0], [True], [[True], [True, False]]):
        with pytest.raises(SpecError, match="mask of withheld cells"):
            pair_of_values([1, 2], [1, 2], withheld=mask)
        with pytest.raises(SpecError, match="mask of shown cells"):
            pair_of_values([1, 2], [1, 2], shown=mask)


def test_measures_of_risk_refuse_codes_in_another_order_and_values_below_0() -> None:
    """The hash of a table does not know the order of its codes, but its cells do."""
    one = variable("a", 3)
    turned = type(one)(name="a", entity=one.entity, codes=one.codes[::-1])
    cube = cube_of(spec_of([one], ["a"]), [1, 2, 3])
    other = cube_of(spec_of([turned], ["a"]), [3, 2, 1])
    assert cube.spec == other.spec
    table = Table(other.spec, other.count.copy())
    below = Table(cube.spec, cube.count - 2)
    for measure in (composite_risk_of, unperturbed_small_of, posterior_observed_of):
        with pytest.raises(SpecError, match="another order of axes or codes"):
            measure(cube, table)
        with pytest.raises(SpecError, match="below 0"):
            measure(cube, below)
        with pytest.raises(SpecError, match="a published table"):
            measure(cube, cube)  # type: ignore[arg-type]
    with pytest.raises(SpecError, match="another order of axes or codes"):
        feasibility(cube, table, Knowledge(max_deviation=1))


def test_known_axes_are_those_that_stand_at_no_total() -> None:
    cube = two_way([[1, 2], [3, 4]])
    every = np.arange(cube.spec.cells, dtype=np.uint64)
    assert known_axes(cube.spec, every).tolist() == [2, 2, 1, 2, 2, 1, 1, 1, 0]
    without = two_way([[1, 2], [3, 4]], totals=False)
    assert known_axes(without.spec, every[:4]).tolist() == [2, 2, 2, 2]
