"""Intervals of withheld cells: published figures, trying every table, and what must not change."""

from __future__ import annotations

import sys

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.cube.constraints import SparseMatrix, constraints, with_totals
from sdcensus.model.inference.intervals import shuttle
from sdcensus.model.inference.knowledge import UNBOUNDED
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.solvers.audit.audit import audit_cells
from sdcensus.solvers.audit.intervals import CellIntervals, DoesNotAddUp
from sdcensus.solvers.audit.system import FREE
from tests.methods.nearly_additive import specs
from tests.solvers.audit.grids import grid, matrix_of

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: Section 6.3 of the methods: nine cells with margins, four of them withheld.
PRINTED = np.array([[20, 50, 10], [8, 19, 22], [17, 32, 12]])


def audited(spec: TableSpec, counts: Int64, hidden: Mask, **options: object) -> CellIntervals:
    chosen: dict[str, object] = {"workers": 1, **options}
    return audit_cells(
        constraints(spec),
        counts.reshape(-1),
        hidden.reshape(-1),
        **chosen,  # type: ignore[arg-type]
    )


def drawn(spec: TableSpec, seed: int, share: float) -> tuple[Int64, Mask]:
    """A table of few records, and cells to withhold."""
    draw = np.random.default_rng(seed)
    counts = with_totals(spec, draw.poisson(1.2, spec.base_shape))
    return counts, draw.random(spec.shape) < share


def every_table(equations: SparseMatrix, counts: Int64, hidden: Mask, most: int) -> Int64:
    """All whole values of withheld cells from 0 to a largest one that fit, one in each row."""
    matrix = np.zeros(equations.shape, dtype=np.int64)
    matrix[equations.rows, equations.columns] = equations.values
    cells = np.flatnonzero(hidden)
    right = -matrix[:, ~hidden] @ counts[~hidden]
    tried = np.indices((most + 1,) * cells.size).reshape(cells.size, -1).T
    fits = (tried @ matrix[:, cells].T == right).all(axis=1)
    return np.asarray(tried[fits])


def test_the_printed_table_has_the_printed_intervals() -> None:
    spec = grid(3, 3)
    counts = with_totals(spec, PRINTED)
    hidden = np.zeros(spec.shape, dtype=bool)
    hidden[np.ix_([1, 2], [0, 2])] = True
    intervals = audited(spec, counts, hidden)
    cells = np.flatnonzero(hidden)
    found = {
        int(counts.reshape(-1)[cell]): (int(intervals.lower[cell]), int(intervals.upper[cell]))
        for cell in cells
    }
    assert found == {8: (0, 25), 22: (5, 30), 17: (0, 25), 12: (4, 29)}
    assert not intervals.disclosed.any()


@given(specs(), st.integers(0, 1 << 32), st.sampled_from([0.1, 0.3, 0.6, 1.0]))
def test_the_truth_lies_inside_and_the_shuttle_outside(
    spec: TableSpec, seed: int, share: float
) -> None:
    counts, hidden = drawn(spec, seed, share)
    intervals = audited(spec, counts, hidden)
    true = counts.reshape(-1)
    assert ((intervals.lower <= true) & (true <= intervals.upper)).all()
    assert (intervals.width[~hidden.reshape(-1)] == 0).all()
    wide = shuttle(spec, np.where(hidden, 0, counts), np.where(hidden, UNBOUNDED, counts))
    assert (intervals.lower >= wide.lower.reshape(-1)).all()
    known = wide.bounded.reshape(-1)
    assert (intervals.upper[known] <= wide.upper.reshape(-1)[known]).all()


@given(st.sampled_from([(2, 2), (2, 3), (3, 3), (2, 2, 2)]), st.integers(0, 1 << 32))
def test_whole_intervals_are_those_of_all_tables_that_fit(
    sizes: tuple[int, ...], seed: int
) -> None:
    spec = grid(*sizes)
    draw = np.random.default_rng(seed)
    counts = with_totals(spec, draw.integers(0, 2, spec.base_shape))
    hidden = np.zeros(spec.cells, dtype=bool)
    hidden[draw.choice(spec.cells, size=5, replace=False)] = True
    most = int(counts.max()) + 1
    tables = every_table(constraints(spec), counts.reshape(-1), hidden, most)
    intervals = audited(spec, counts, hidden, upper=most, integer=True)
    assert intervals.lower[hidden].tolist() == tables.min(axis=0).tolist()
    assert intervals.upper[hidden].tolist() == tables.max(axis=0).tolist()


def test_whole_numbers_can_leave_less_than_fractions() -> None:
    """Twice three cells of which every two are at most 1: six halves, or two whole ones."""
    triangles = [(first, second) for first, second in ((0, 1), (1, 2), (0, 2))]
    rows = [
        {at + first: 1, at + second: 1, 6 + at + number: 1, 13: -1}
        for at in (0, 3)
        for number, (first, second) in enumerate(triangles)
    ]
    rows.append({**dict.fromkeys(range(6), 1), 12: -1})
    matrix = matrix_of(14, rows)
    values, hidden = np.zeros(14, dtype=np.int64), np.ones(14, dtype=bool)
    values[13], hidden[13] = 1, False
    linear = audit_cells(matrix, values, hidden)
    whole = audit_cells(matrix, values, hidden, integer=True)
    assert (linear.lower[12], linear.upper[12]) == (0, 3)
    assert (whole.lower[12], whole.upper[12]) == (0, 2)
    assert not linear.reached_upper[12]
    assert whole.reached_upper[12]


@given(specs(), st.integers(0, 1 << 32))
def test_withholding_more_never_narrows(spec: TableSpec, seed: int) -> None:
    counts, hidden = drawn(spec, seed, 0.3)
    more = hidden | (np.random.default_rng(seed + 1).random(spec.shape) < 0.2)
    few, many = audited(spec, counts, hidden), audited(spec, counts, more)
    assert (many.lower <= few.lower).all()
    assert (many.upper >= few.upper).all()


@given(specs(), st.integers(0, 1 << 32))
def test_a_known_table_and_threads_change_nothing(spec: TableSpec, seed: int) -> None:
    counts, hidden = drawn(spec, seed, 0.4)
    alone = audited(spec, counts, hidden)
    helped = audited(spec, counts, hidden, solution=counts.reshape(-1), workers=2)
    assert alone.lower.tolist() == helped.lower.tolist()
    assert alone.upper.tolist() == helped.upper.tolist()


@given(specs(), st.integers(0, 1 << 32))
def test_highs_finds_the_same_where_or_tools_is_missing(spec: TableSpec, seed: int) -> None:
    counts, hidden = drawn(spec, seed, 0.4)
    usual = audited(spec, counts, hidden)
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(sys.modules, "ortools.linear_solver", None)
        other = audited(spec, counts, hidden)
    assert usual.lower.tolist() == other.lower.tolist()
    assert usual.upper.tolist() == other.upper.tolist()


def test_a_cell_without_a_total_has_no_largest_value() -> None:
    spec = grid(3)
    counts = with_totals(spec, np.array([4, 5, 6]))
    hidden = np.array([False, True, False, True])
    intervals = audited(spec, counts, hidden)
    assert intervals.lower.tolist() == [4, 0, 6, 10]
    assert intervals.upper.tolist() == [4, FREE, 6, FREE]
    assert intervals.bounded.tolist() == [True, False, True, False]


def test_values_without_a_lower_bound_are_protected_where_counts_are_not() -> None:
    """Two withheld cells that add up to 0 are both 0 as counts, and anything as amounts."""
    spec = grid(3)
    counts = with_totals(spec, np.array([0, 0, 6]))
    hidden = np.array([True, True, False, False])
    assert audited(spec, counts, hidden).disclosed.tolist() == [True, True, False, False]
    free = audited(spec, counts, hidden, lower=None)
    assert not free.disclosed.any()
    assert free.lower.tolist()[:2] == [-FREE, -FREE]


def test_only_cells_that_are_asked_for_are_settled() -> None:
    spec = grid(3, 3)
    counts = with_totals(spec, PRINTED)
    hidden = np.zeros(spec.shape, dtype=bool)
    hidden[np.ix_([1, 2], [0, 2])] = True
    asked = np.zeros(spec.cells, dtype=bool)
    asked[4] = True
    intervals = audited(spec, counts, hidden, asked=asked)
    assert (intervals.lower[4], intervals.upper[4]) == (0, 25)
    assert np.flatnonzero(intervals.asked).tolist() == [4]


@pytest.mark.parametrize("hide", [False, True])
def test_tables_that_do_not_add_up_are_told(hide: bool) -> None:
    spec = grid(3)
    counts = np.array([4, 5, 6, 17])
    hidden = np.array([hide, False, False, False])
    if hide:
        counts[3] = 9
    with pytest.raises(DoesNotAddUp) as raised:
        audited(spec, counts, hidden)
    (failed,) = raised.value.failed
    assert failed.cells == (0, 1, 2, 3)
    assert failed.gap == (2 if hide else -2)  # with 0 for what is withheld
    intervals = audited(spec, counts, hidden, tolerance=2)
    assert intervals.disclosed.sum() == hide  # two off, and none below 0: it is 0


def test_many_sums_that_contradict_each_other_together_are_told() -> None:
    """Every single sum leaves room, all of them leave none."""
    pairs = [(0, 1, 4), (1, 2, 4), (2, 3, 4), (0, 3, 5)]
    matrix = matrix_of(6, [{one: 1, other: 1, total: -1} for one, other, total in pairs])
    hidden = np.array([True] * 4 + [False] * 2)
    with pytest.raises(DoesNotAddUp) as raised:
        audit_cells(matrix, np.array([0, 0, 0, 0, 10, 11]), hidden)
    assert sum(abs(failed.gap) for failed in raised.value.failed) == 1


def test_a_tolerance_widens_what_rounded_values_leave() -> None:
    spec = grid(3)
    counts = np.array([4, 5, 6, 15])
    hidden = np.array([True, False, False, False])
    exact = audited(spec, counts, hidden)
    rounded = audited(spec, counts, hidden, tolerance=1)
    assert (exact.lower[0], exact.upper[0]) == (4, 4)
    assert (rounded.lower[0], rounded.upper[0]) == (3, 5)


@pytest.mark.parametrize("size", [10**9, 10**11, 10**12])
def test_large_values_are_exact(size: int) -> None:
    spec = grid(3, 3)
    counts = with_totals(spec, PRINTED * size + 1)
    hidden = np.zeros(spec.shape, dtype=bool)
    hidden[np.ix_([1, 2], [0, 2])] = True
    intervals = audited(spec, counts, hidden)
    assert intervals.lower[hidden.reshape(-1)].tolist() == [0, 5 * size, 0, 4 * size]
    assert intervals.upper[hidden.reshape(-1)].tolist() == [
        25 * size + 2,
        30 * size + 2,
        25 * size + 2,
        29 * size + 2,
    ]


def test_odd_tables() -> None:
    empty = constraints(grid())
    one = audit_cells(empty, np.array([7]), np.array([True]))
    assert (one.lower.tolist(), one.upper.tolist()) == ([0], [FREE])
    none = audit_cells(empty, np.array([7]), np.array([False]))
    assert (none.lower.tolist(), none.upper.tolist()) == ([7], [7])
    spec = grid(1)
    alone = audited(spec, np.array([3, 3]), np.array([True, False]))
    assert alone.lower.tolist() == [3, 3]
    zeros = audited(grid(3, 3), np.zeros((4, 4), dtype=np.int64), np.ones((4, 4), dtype=bool))
    assert zeros.upper.tolist() == [FREE] * 16


@pytest.mark.parametrize(
    ("values", "hidden", "options", "said"),
    [
        ([1, 2], [False] * 4, {}, "whole number for each of the 4 cells"),
        ([1.0, 2, 3, 4], [False] * 4, {}, "whole number"),
        ([1, 2, 3, 6], [False] * 3, {}, "mask of the 4 cells"),
        ([1, 2, 3, 6], [False] * 4, {"tolerance": -1}, "0 or more"),
        ([1, 2, 3, 6], [True] * 4, {"lower": 3, "upper": 2}, "exclude each other"),
        ([1, 2, 3, 6], [True] * 4, {"lower": np.zeros(3, dtype=int)}, "one for each of 4"),
        ([1, 2, 3, 6], [True] * 4, {"workers": 0}, "one worker"),
        ([1, 2, 3, 6], [True] * 4, {"asked": np.array([1])}, "mask of all cells"),
        ([1 << 50, 0, 0, 1 << 50], [False] * 4, {}, "larger units"),
    ],
)
def test_what_cannot_be_audited_is_refused(
    values: list[int], hidden: list[bool], options: dict[str, object], said: str
) -> None:
    with pytest.raises(SpecError, match=said):
        audit_cells(constraints(grid(3)), np.array(values), np.array(hidden), **options)  # type: ignore[arg-type]
