"""Proofs of bounds: they hold in fractions, and they are short."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

import numpy as np
from hypothesis import given, strategies as st

from sdcensus.model.cube.constraints import constraints, with_totals
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.solvers.audit.audit import audit_system
from sdcensus.solvers.audit.certificate import Side, certificate
from sdcensus.solvers.audit.system import FREE, AuditSystem
from tests.methods.nearly_additive import specs
from tests.solvers.audit.grids import grid, matrix_of


@given(specs(), st.integers(0, 1 << 32), st.sampled_from([0, 0, 1]))
def test_every_bound_of_a_linear_program_has_a_proof(
    spec: TableSpec, seed: int, tolerance: int
) -> None:
    draw = np.random.default_rng(seed)
    counts = with_totals(spec, draw.poisson(1.2, spec.base_shape)).reshape(-1)
    hidden = draw.random(spec.cells) < 0.3
    system = AuditSystem.of(constraints(spec), counts, hidden, tolerance=tolerance)
    unknowns, intervals = system.unknowns(), audit_system(system, workers=1)
    for cell in np.flatnonzero(hidden).tolist():
        for side, bounds in ((Side.LOWER, intervals.lower), (Side.UPPER, intervals.upper)):
            bound = int(bounds[cell])
            proven = certificate(system, unknowns, cell, side, bound)
            if abs(bound) >= FREE:
                assert proven is None
                continue
            assert proven is not None
            assert proven.holds(system)
            assert (proven.cell, proven.side, proven.bound) == (cell, side, bound)


def test_a_cell_alone_in_its_line_is_the_total_less_the_others() -> None:
    spec = grid(3, 3)
    counts = with_totals(spec, np.arange(9).reshape(3, 3)).reshape(-1)
    hidden = np.zeros(16, dtype=bool)
    hidden[5] = True
    system = AuditSystem.of(constraints(spec), counts, hidden)
    proven = certificate(system, system.unknowns(), 5, Side.LOWER, 4)
    assert proven is not None
    assert proven.is_sum
    assert len(proven.published) == 3
    assert sum(factor * int(counts[cell]) for cell, factor in proven.published) == 4


def test_zeros_in_the_margin_need_no_more_than_their_line() -> None:
    """Two withheld cells add up to 0: each is at most 0, as the other is at least 0."""
    spec = grid(3, 3)
    inner = np.array([[0, 0, 4], [1, 2, 3], [4, 5, 6]])
    counts = with_totals(spec, inner).reshape(-1)
    hidden = np.zeros((4, 4), dtype=bool)
    hidden[np.ix_([0, 1], [0, 1])] = True
    system = AuditSystem.of(constraints(spec), counts, hidden.reshape(-1))
    proven = certificate(system, system.unknowns(), 0, Side.UPPER, 0)
    assert proven is not None
    assert [cell for cell, _ in proven.published] == [2, 3]
    assert proven.withheld == ((1, Fraction(-1)),)


def test_the_published_cells_of_a_long_way_round_are_few() -> None:
    """A cell that is the difference of two sums of lines, in a table of thirty lines."""
    spec = grid(30, 3)
    draw = np.random.default_rng(3)
    counts = with_totals(spec, draw.integers(5, 50, (30, 3)))
    hidden = np.zeros(spec.shape, dtype=bool)
    hidden[3, [0, 1]] = hidden[4, [0, 1]] = True
    hidden[3, 3] = hidden[30, 3] = True
    system = AuditSystem.of(constraints(spec), counts.reshape(-1), hidden.reshape(-1))
    intervals = audit_system(system)
    cell = 3 * 4 + 3
    assert intervals.disclosed[cell]
    proven = certificate(system, system.unknowns(), cell, Side.UPPER, int(counts[3, 3]))
    assert proven is not None
    assert proven.holds(system)
    assert proven.is_sum


def test_a_proof_of_halves_is_rounded() -> None:
    """Three cells of which every two are at most 1 are at most one and a half together: 1."""
    rows = [{first: 1, second: 1, 3 + at: 1, 7: -1} for at, (first, second) in enumerate(_PAIRS)]
    matrix = matrix_of(8, [*rows, {0: 1, 1: 1, 2: 1, 6: -1}])
    values, hidden = np.zeros(8, dtype=np.int64), np.ones(8, dtype=bool)
    values[7], hidden[7] = 1, False
    system = AuditSystem.of(matrix, values, hidden)
    assert audit_system(system).upper[6] == 1
    proven = certificate(system, system.unknowns(), 6, Side.UPPER, 1)
    assert proven is not None
    assert proven.value == Fraction(3, 2)
    assert proven.holds(system)
    assert certificate(system, system.unknowns(), 6, Side.UPPER, 0) is None


_PAIRS = ((0, 1), (1, 2), (0, 2))


def test_a_proof_that_was_changed_does_not_hold() -> None:
    spec = grid(3)
    system = AuditSystem.of(
        constraints(spec), np.array([4, 5, 6, 15]), np.array([True, False, False, False])
    )
    proven = certificate(system, system.unknowns(), 0, Side.LOWER, 4)
    assert proven is not None
    assert proven.holds(system)
    assert not replace(proven, bound=5).holds(system)
    assert not replace(proven, value=Fraction(9, 2)).holds(system)
    assert not replace(proven, published=proven.published[:2]).holds(system)
    assert not replace(proven, equations=()).holds(system)
