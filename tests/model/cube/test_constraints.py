"""How cells add up, as matrices: checked against adding up itself."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.cube.constraints import (
    SparseMatrix,
    adds_up,
    aggregation,
    constraints,
    interior,
    nests,
    with_totals,
)
from sdcensus.model.spec.table_spec import TableSpec
from tests.methods.nearly_additive import spec_of, specs, variable


def dense(matrix: SparseMatrix) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    full = np.zeros(matrix.shape, dtype=np.int64)
    full[matrix.rows, matrix.columns] = matrix.values
    return full


@given(specs(), st.integers(0, 1 << 32))
def test_sums_of_interior_cells_give_the_whole_table(spec: TableSpec, seed: int) -> None:
    inner = np.random.default_rng(seed).integers(0, 50, spec.base_shape)
    sums = aggregation(spec)
    assert sums.shape == (spec.cells, spec.base_cells)
    assert (sums.times(inner.reshape(-1)) == with_totals(spec, inner).reshape(-1)).all()
    assert set(sums.values.tolist()) <= {1}


@given(specs(), st.integers(0, 1 << 32))
def test_a_table_adds_up_exactly_if_every_constraint_is_0(spec: TableSpec, seed: int) -> None:
    draw = np.random.default_rng(seed)
    rows = constraints(spec)
    whole = with_totals(spec, draw.integers(0, 50, spec.base_shape))
    assert not rows.times(whole.reshape(-1)).any()
    if spec.cells > spec.base_cells:
        cell = draw.integers(0, spec.cells)
        changed = whole.reshape(-1).copy()
        changed[cell] += 1
        # A cell outside of all sums may change: one of an axis that shows one level only.
        assert adds_up(spec, changed.reshape(spec.shape)) == (not rows.times(changed).any())


@given(specs(most_codes=3))
def test_constraints_leave_as_much_freedom_as_there_are_interior_cells(spec: TableSpec) -> None:
    rank = np.linalg.matrix_rank(dense(constraints(spec)))
    assert rank == spec.cells - spec.base_cells


def test_one_row_for_each_axis_parent_and_combination_of_other_codes() -> None:
    area = variable("area", 4, (0, 0, 1, 1))
    spec = spec_of([area, variable("sex", 2)], ["area@area+area_0", "sex"])
    rows = constraints(spec)
    # Districts over parishes and the total over districts, each for three codes of sex; the total
    # of sex for seven areas.
    assert rows.shape == ((2 + 1) * 3 + 7, 7 * 3)
    full = dense(rows)
    assert ((full == -1).sum(axis=1) == 1).all()
    children = sorted((full == 1).sum(axis=1).tolist())
    assert children == [2] * 16


def test_a_total_is_the_sum_of_every_level_that_lies_directly_below_it() -> None:
    area = variable("area", 4, (0, 0, 1, 1), (0, 1, 0, 1))
    spec = spec_of([area], ["area@area_0+area_1"])
    full = dense(constraints(spec))
    assert full.tolist() == [[1, 1, 0, 0, -1], [0, 0, 1, 1, -1]]


def test_a_code_without_leaves_has_to_be_0_by_itself() -> None:
    area = variable("area", 3, (0, 0, 2))
    spec = spec_of([area], ["area@area+area_0-total"])
    full = dense(constraints(spec))
    assert [0, 0, 0, 0, -1, 0] in full.tolist()


def test_a_table_without_interior_cells_has_no_sums() -> None:
    area = variable("area", 4, (0, 0, 1, 1), (0, 1, 0, 1))
    with pytest.raises(SpecError, match="do not nest"):
        aggregation(spec_of([area], ["area@area_0+area_1"]))


def test_a_table_of_one_cell_has_no_constraints() -> None:
    spec = spec_of([variable("sex", 2)], [])
    assert constraints(spec).shape == (0, 1)
    assert dense(aggregation(spec)).tolist() == [[1]]


@given(specs(most_axes=1))
def test_nesting_is_what_the_levels_say(spec: TableSpec) -> None:
    for axis in spec.axes:
        for fine, coarse in itertools.product(axis.blocks, repeat=2):
            held: dict[int, set[int]] = {}
            for inner, outer in zip(fine.group.tolist(), coarse.group.tolist(), strict=True):
                held.setdefault(inner, set()).add(outer)
            assert nests(fine, coarse) == all(len(one) == 1 for one in held.values())


def test_entries_may_come_in_any_order() -> None:
    rows, columns = np.array([1, 0, 1]), np.array([2, 1, 0])
    made = SparseMatrix.from_entries((2, 3), rows, columns, np.array([5, 6, 7], dtype=np.int8))
    assert dense(made).tolist() == [[0, 6, 0], [7, 0, 5]]
    assert made.times(np.array([1, 10, 100])).tolist() == [60, 507]
    assert interior(spec_of([variable("sex", 2)], ["sex"])) == (slice(0, 2),)
