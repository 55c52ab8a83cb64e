"""Linked tables: common cells, auxiliary cells, and what all tables tell apart together."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.cube.constraints import with_totals
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.solvers.audit.audit import audit_cells
from sdcensus.solvers.audit.intervals import CellIntervals, CellStatus, Requirement
from sdcensus.solvers.audit.linked import audit_linked
from sdcensus.solvers.audit.system import FREE
from tests.methods.nearly_additive import spec_of, variable

Int64 = npt.NDArray[np.int64]

PAIRS = (("a", "b"), ("a", "c"), ("b", "c"))


def two_by_two(counts: Int64) -> tuple[LinkedTables, Int64]:
    """Three variables of two codes, each two of them a table."""
    variables = [variable(name, size) for name, size in zip("abc", counts.shape, strict=True)]
    specs = [spec_of(variables, pair) for pair in PAIRS]
    linked = LinkedTables.of(specs)
    tables = [
        with_totals(spec, counts.sum(axis=axis))
        for spec, axis in zip(specs, (2, 1, 0), strict=True)
    ]
    return linked, linked.gather(tables)


@settings(max_examples=10)
@given(st.integers(0, 1 << 32))
def test_atoms_narrow_to_what_all_joint_tables_allow(seed: int) -> None:
    """Every table of three variables that fits the published cells, tried one by one."""
    draw = np.random.default_rng(seed)
    counts = draw.integers(0, 2, (2, 2, 2))
    linked, values = two_by_two(counts)
    hidden = draw.random(linked.size) < 0.4
    by_cells = audit_linked(linked, values, hidden, workers=1)
    by_atoms = audit_linked(linked, values, hidden, atoms=True, integer=True, workers=1)
    # Cells are sums of the eight combinations: what each alone gives, times how often it occurs.
    alone = np.stack([two_by_two(unit)[1] for unit in np.eye(8, dtype=int).reshape(8, 2, 2, 2)])
    tried = np.indices((4,) * 8).reshape(8, -1).T @ alone
    possible = tried[(tried[:, ~hidden] == values[~hidden]).all(axis=1)]
    assert (by_atoms.lower >= by_cells.lower).all()
    assert (by_atoms.upper <= by_cells.upper).all()
    bounded = hidden & (by_atoms.upper <= 3)
    assert (by_atoms.lower[hidden] == possible.min(axis=0)[hidden]).all()
    assert (by_atoms.upper[bounded] == possible.max(axis=0)[bounded]).all()


def test_atoms_disclose_what_sums_of_cells_do_not() -> None:
    """Nobody is both a0 and b0, or both a0 and c0: so all of a0 are b1 and c1."""
    counts = np.zeros((2, 2, 2), dtype=np.int64)
    counts[0, 1, 1], counts[1, 0, 0], counts[1, 1, 0], counts[1, 0, 1] = 3, 4, 2, 5
    linked, values = two_by_two(counts)
    hidden = np.zeros(linked.size, dtype=bool)
    hidden[linked.cell_of[2][:2, :2]] = True  # the whole interior of b by c
    by_cells = audit_linked(linked, values, hidden)
    by_atoms = audit_linked(linked, values, hidden, atoms=True)
    cell = linked.cell_of[2][1, 1]
    assert by_cells.lower[cell] < by_atoms.lower[cell]


def test_cells_that_no_table_shows_are_no_help() -> None:
    """Without its totals a table bounds nothing from above."""
    variables = [variable("a", 2), variable("b", 2)]
    linked = LinkedTables.of([spec_of(variables, ["a-total", "b-total"])])
    values = np.zeros(linked.size, dtype=np.int64)
    hidden = np.zeros(linked.size, dtype=bool)
    hidden[linked.cell_of[0][0, 0]] = True
    intervals = audit_linked(linked, values, hidden)
    assert intervals.upper[linked.cell_of[0][0, 0]] == FREE
    assert int(intervals.asked.sum()) == 1


def test_too_many_atoms_are_refused() -> None:
    variables = [variable(name, 50) for name in "abc"]
    linked = LinkedTables.of([spec_of(variables, pair) for pair in PAIRS])
    values, hidden = np.zeros(linked.size, dtype=np.int64), np.zeros(linked.size, dtype=bool)
    with pytest.raises(SpecError, match="125,000 combinations"):
        audit_linked(linked, values, hidden, atoms=True)
    with pytest.raises(SpecError, match="lower bound of 0"):
        audit_linked(linked, values, hidden, atoms=True, lower=None)
    with pytest.raises(SpecError, match="for each of the"):
        audit_linked(linked, values[:-1], hidden)


def intervals_of(*bounds: tuple[int, int]) -> CellIntervals:
    lower, upper = (np.array(side, dtype=np.int64) for side in zip(*bounds, strict=True))
    every = np.ones(lower.size, dtype=bool)
    return CellIntervals(every, lower, upper, every, every, ~every)


def test_a_cell_is_near_by_share_by_width_and_by_its_protection_interval() -> None:
    intervals = intervals_of((5, 5), (95, 105), (94, 106), (0, 2), (0, FREE), (-FREE, 3))
    plain = intervals.status()
    assert plain.tolist() == [CellStatus.DISCLOSED, *[CellStatus.PROTECTED] * 5]
    share = intervals.status(Requirement(percent=Fraction(5)))
    assert share.tolist() == [2, 1, 0, 0, 0, 0]
    narrow = intervals.status(Requirement(width=3))
    assert narrow.tolist() == [2, 0, 0, 1, 0, 0]
    low = np.array([0, 95, 90, -5, 0, 0])
    high = np.array([9, 105, 110, 2, 9, 3])
    reach = intervals.status(Requirement(reach=(low, high)))
    assert reach.tolist() == [2, 0, 1, 1, 0, 0]
    with pytest.raises(SpecError, match="below 100 percent"):
        Requirement(percent=Fraction(100))
    with pytest.raises(SpecError, match="0 or more"):
        Requirement(width=-1)


def test_arrays_and_linked_tables_give_the_same() -> None:
    counts = np.arange(8).reshape(2, 2, 2)
    linked, values = two_by_two(counts)
    hidden = np.zeros(linked.size, dtype=bool)
    hidden[:6] = True
    both = audit_linked(linked, values, hidden), audit_cells(linked.equations, values, hidden)
    assert both[0].lower.tolist() == both[1].lower.tolist()
    assert both[0].upper.tolist() == both[1].upper.tolist()
