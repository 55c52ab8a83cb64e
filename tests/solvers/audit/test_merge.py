"""Merging cells that follow from each other: nothing is lost, and nothing is added."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.model.cube.constraints import constraints, with_totals
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.solvers.audit.merge import merged
from sdcensus.solvers.audit.search import Contradiction
from sdcensus.solvers.audit.system import FREE, AuditSystem
from tests.methods.nearly_additive import specs
from tests.solvers.audit.grids import grid, matrix_of


@given(specs(), st.integers(0, 1 << 32), st.sampled_from([0.2, 0.4, 0.7]))
def test_values_that_fit_are_those_of_the_cells_that_are_left(
    spec: TableSpec, seed: int, share: float
) -> None:
    draw = np.random.default_rng(seed)
    counts = with_totals(spec, draw.poisson(1.2, spec.base_shape)).reshape(-1)
    hidden = draw.random(spec.cells) < share
    unknowns = AuditSystem.of(constraints(spec), counts, hidden).unknowns()
    fewer = merged(unknowns)
    left = fewer.unknowns
    true = counts[left.cells]
    assert (fewer.sign * true[fewer.place] + fewer.offset == counts[unknowns.cells]).all()
    assert ((left.lower <= true) & (true <= left.upper)).all()
    sums = left.matrix() @ true
    assert ((left.rows.lower <= sums) & (sums <= left.rows.upper)).all()
    low, high = fewer.bounds(left.lower, left.upper)
    assert ((low <= counts[unknowns.cells]) & (counts[unknowns.cells] <= high)).all()


def test_a_square_is_one_unknown() -> None:
    spec = grid(3, 3)
    counts = with_totals(spec, np.arange(9).reshape(3, 3)).reshape(-1)
    hidden = np.zeros(spec.shape, dtype=bool)
    hidden[np.ix_([1, 2], [0, 2])] = True
    system = AuditSystem.of(constraints(spec), counts, hidden.reshape(-1))
    fewer = merged(system.unknowns())
    assert fewer.unknowns.size == 1
    assert fewer.unknowns.height == 0
    low, high = fewer.bounds(fewer.unknowns.lower, fewer.unknowns.upper)
    assert low.tolist() == [0, 0, 1, 5]
    assert high.tolist() == [8, 8, 9, 13]


def test_cells_without_a_bound_keep_none() -> None:
    matrix = matrix_of(3, [{0: 1, 1: -1, 2: 1}])
    hidden = np.array([True, True, False])
    system = AuditSystem.of(matrix, np.array([0, 0, 4]), hidden)
    fewer = merged(system.unknowns())
    assert fewer.unknowns.size == 1
    low, high = fewer.bounds(fewer.unknowns.lower, fewer.unknowns.upper)
    assert low.tolist() == [0, 4]
    assert high.tolist() == [FREE, FREE]


def test_equations_with_a_tolerance_merge_nothing() -> None:
    matrix = matrix_of(3, [{0: 1, 1: 1, 2: -1}])
    hidden = np.array([True, True, False])
    system = AuditSystem.of(matrix, np.array([0, 0, 4]), hidden, tolerance=1)
    assert merged(system.unknowns()).unknowns.size == 2


def test_a_circle_that_does_not_close_is_a_contradiction() -> None:
    pairs = [(0, 1), (1, 2), (2, 3), (0, 3)]
    matrix = matrix_of(
        6, [{one: 1, other: 1, 4 + at // 3: -1} for at, (one, other) in enumerate(pairs)]
    )
    hidden = np.array([True] * 4 + [False] * 2)
    system = AuditSystem.of(matrix, np.array([0, 0, 0, 0, 10, 11]), hidden)
    with pytest.raises(Contradiction):
        merged(system.unknowns())
