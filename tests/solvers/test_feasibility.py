"""Exact intervals: against each other, against trying every table, and against the truth."""

from __future__ import annotations

import itertools
import sys

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import MissingExtra, SpecError
from sdcensus.model.cube.constraints import constraints, with_totals
from sdcensus.model.inference.intervals import Intervals, shuttle
from sdcensus.model.inference.knowledge import UNBOUNDED
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.solvers import highs
from sdcensus.solvers.feasibility import exact_intervals
from sdcensus.solvers.or_tools import Glop, Pdlp
from sdcensus.solvers.program import LinearProgram, Status
from sdcensus.solvers.table_program import TableProgram
from tests.methods.nearly_additive import spec_of, specs, variable

Int64 = npt.NDArray[np.int64]


def noisy(
    spec: TableSpec, seed: int, most: int, *, mean: float = 2, hidden: float = 0.0
) -> tuple[Int64, Int64, Int64]:
    """A table, and bounds around it; zeros are kept, some cells are not published."""
    draw = np.random.default_rng(seed)
    true = with_totals(spec, draw.poisson(draw.gamma(0.5, 2 * mean, spec.base_shape)))
    published = np.maximum(true + draw.integers(-most, most + 1, true.shape), 0)
    published = np.where(true == 0, 0, published)
    lower = np.maximum(published - most, published > 0)
    upper = published + most
    secret = draw.random(true.shape) < hidden
    return true, np.where(secret, 0, lower), np.where(secret, UNBOUNDED, upper)


def within(inner: Intervals, outer: Intervals) -> bool:
    return bool((inner.lower >= outer.lower).all() and (inner.upper <= outer.upper).all())


def every_table(spec: TableSpec, lower: Int64, upper: Int64) -> Int64:
    """All tables that fit, one in each row, by trying every base cell at every count."""
    sums = TableProgram.of(Intervals(spec, lower.copy(), upper.copy(), 0)).sums
    alone = {
        int(sums.indices[sums.indptr[at]]): at
        for at in range(spec.cells)
        if sums.indptr[at + 1] - sums.indptr[at] == 1
    }
    low, high = lower.reshape(-1), upper.reshape(-1)
    ranges = [range(int(low[alone[at]]), int(high[alone[at]]) + 1) for at in range(spec.base_cells)]
    tried = np.array(list(itertools.product(*ranges)), dtype=np.int64) @ sums.T.toarray()
    fits: npt.NDArray[np.bool_] = ((tried >= low) & (tried <= high)).all(axis=1)
    return np.asarray(tried[fits])


@given(specs(), st.integers(0, 1 << 32), st.integers(0, 3), st.sampled_from([0.0, 0.3]))
def test_shuttle_holds_linear_holds_integer_holds_the_truth(
    spec: TableSpec, seed: int, most: int, hidden: float
) -> None:
    true, lower, upper = noisy(spec, seed, most, hidden=hidden)
    wide = shuttle(spec, lower, upper)
    linear = exact_intervals(spec, lower, upper, workers=1)
    whole = exact_intervals(spec, lower, upper, integer=True, workers=2)
    assert within(linear, wide)
    assert within(whole, linear)
    assert whole.holds(true)
    assert not whole.contradictory


@given(specs(most_axes=2, most_codes=3), st.integers(0, 1 << 32), st.booleans())
def test_integer_intervals_are_those_of_all_tables_that_fit(
    spec: TableSpec, seed: int, shifted: bool
) -> None:
    _, lower, upper = noisy(spec, seed, 1)
    if shifted:  # often nothing fits then
        total = np.unravel_index(spec.cells - 1, spec.shape)
        lower[total], upper[total] = lower[total] + 2, upper[total] + 2
    fitting = every_table(spec, lower, upper)
    whole = exact_intervals(spec, lower, upper, integer=True)
    assert whole.contradictory == (not fitting.size)
    if fitting.size:
        assert (whole.lower.reshape(-1) == fitting.min(axis=0)).all()
        assert (whole.upper.reshape(-1) == fitting.max(axis=0)).all()


@given(specs(most_axes=2, most_codes=3), st.integers(0, 1 << 32), st.sampled_from([0.0, 0.5]))
def test_linear_intervals_are_those_of_a_program_over_all_cells(
    spec: TableSpec, seed: int, hidden: float
) -> None:
    _, lower, upper = noisy(spec, seed, 2, hidden=hidden)
    found = exact_intervals(spec, lower, upper)
    rows = constraints(spec)
    far = np.where(upper >= UNBOUNDED, np.inf, upper).reshape(-1)
    program = LinearProgram(
        cost=np.zeros(spec.cells),
        lower=lower.reshape(-1).astype(np.float64),
        upper=far.astype(np.float64),
        integer=np.zeros(spec.cells, dtype=bool),
        rows=rows.rows,
        columns=rows.columns,
        values=rows.values.astype(np.float64),
        row_lower=np.zeros(rows.shape[0]),
        row_upper=np.zeros(rows.shape[0]),
    )
    for cell in range(spec.cells):
        cost = np.zeros(spec.cells)
        cost[cell] = 1
        least = highs.solve(program.with_cost(cost))
        assert found.lower.reshape(-1)[cell] == np.ceil(least.objective - 1e-5)
        most = highs.solve(program.with_cost(-cost))
        if most.status is Status.UNBOUNDED or found.upper.reshape(-1)[cell] >= UNBOUNDED:
            assert not most.optimal
            assert found.upper.reshape(-1)[cell] == UNBOUNDED
        else:
            assert found.upper.reshape(-1)[cell] == np.floor(-most.objective + 1e-5)


def cube(size: int, people: float, most: int) -> tuple[TableSpec, Int64, Int64, Int64]:
    spec = spec_of([variable(name, size) for name in "abc"], list("abc"))
    return spec, *noisy(spec, 4, most, mean=people)


def odd_cycle() -> tuple[TableSpec, Int64, Int64]:
    """Every two of three leaves count 1 together, in one of two rows: only halves fit."""
    area = variable("area", 3, (0, 0, 1), (1, 0, 0), (0, 1, 0))
    spec = spec_of([area, variable("sex", 2)], ["area@area_0+area_1+area_2-total", "sex-total"])
    lower = np.zeros(spec.shape, dtype=np.int64)
    upper = np.full(spec.shape, 9)
    lower[[0, 2, 4], 0] = upper[[0, 2, 4], 0] = 1
    return spec, lower, upper


def test_where_no_whole_table_fits_only_integer_programs_tell_it_of_every_cell() -> None:
    spec, lower, upper = odd_cycle()
    assert not shuttle(spec, lower, upper).contradictory
    # The second row has nothing to do with the first.
    cells = np.array([1, 3, 5])
    assert not exact_intervals(spec, lower, upper, cells=cells).contradictory
    assert exact_intervals(spec, lower, upper, cells=cells, integer=True).contradictory
    # One half is no count: rounded inwards, nothing is left.
    assert exact_intervals(spec, lower, upper).contradictory


def test_each_way_can_be_narrower_than_the_one_before() -> None:
    # Two triangles of leaves: of every two neighbours at most one record. One by one the sums
    # allow four records, fractions allow three, whole numbers two.
    levels = ((0, 0, 1, 2, 2, 3), (1, 0, 0, 3, 2, 2), (0, 1, 0, 2, 3, 2))
    spec = spec_of([variable("area", 6, *levels)], ["area@area_0+area_1+area_2"])
    lower = np.zeros(spec.shape, dtype=np.int64)
    upper = np.array([1, 9, 1, 9] * 3 + [9])
    assert shuttle(spec, lower, upper).upper[-1] == 4
    assert exact_intervals(spec, lower, upper).upper[-1] == 3
    assert exact_intervals(spec, lower, upper, integer=True).upper[-1] == 2


def test_the_audit_of_withheld_cells() -> None:
    # Four cells that are withheld in two rows and two columns: one degree of freedom.
    spec = spec_of([variable("a", 3), variable("b", 3)], ["a", "b"])
    true = with_totals(spec, np.array([[20, 50, 10], [8, 19, 22], [17, 32, 12]]))
    hidden = np.zeros(spec.shape, dtype=bool)
    hidden[1:3, [0, 2]] = True
    found = exact_intervals(spec, np.where(hidden, 0, true), np.where(hidden, UNBOUNDED, true))
    assert found.lower[1:3, [0, 2]].tolist() == [[0, 5], [0, 4]]
    assert found.upper[1:3, [0, 2]].tolist() == [[25, 30], [25, 29]]


def test_bounds_that_only_programs_find_contradictory_are_told() -> None:
    # 2×2×2 cells with all margins: each pair of opposite corners is asked to be 0 and 1 in a way
    # that sums over pairs allow one by one, but not together.
    spec, _, lower, upper = cube(2, 2, 0)
    lower, upper = np.zeros(spec.shape, dtype=np.int64), np.full(spec.shape, 9)
    lower[2, :2, :2] = upper[2, :2, :2] = [[1, 0], [0, 1]]
    lower[:2, 2, :2] = upper[:2, 2, :2] = [[1, 0], [0, 1]]
    lower[:2, :2, 2] = upper[:2, :2, 2] = [[0, 1], [1, 0]]
    for integer in (False, True):
        found = exact_intervals(spec, lower, upper, integer=integer)
        assert found.contradictory
        assert not found.holds(np.zeros(spec.shape, dtype=np.int64))


def test_only_the_cells_that_are_asked_for_are_narrowed() -> None:
    spec = spec_of([variable(name, 4) for name in "abc"], list("abc"))
    true, lower, upper = noisy(spec, 1, 1, mean=0.5, hidden=0.5)
    wide, all_cells = shuttle(spec, lower, upper), exact_intervals(spec, lower, upper)
    narrower = (all_cells.lower > wide.lower) | (all_cells.upper < wide.upper)
    assert narrower.any(), "the case shows nothing"
    chosen = np.flatnonzero(narrower)[:1]
    found = exact_intervals(spec, lower, upper, cells=chosen)
    assert found.lower.reshape(-1)[chosen] == all_cells.lower.reshape(-1)[chosen]
    assert found.upper.reshape(-1)[chosen] == all_cells.upper.reshape(-1)[chosen]
    others = np.ones(spec.cells, dtype=bool)
    others[chosen] = False
    assert (found.lower.reshape(-1)[others] == wide.lower.reshape(-1)[others]).all()
    assert (found.upper.reshape(-1)[others] == wide.upper.reshape(-1)[others]).all()
    mask = ~others.reshape(spec.shape)
    assert (exact_intervals(spec, lower, upper, cells=mask).lower == found.lower).all()
    assert found.holds(true)
    none = exact_intervals(spec, lower, upper, cells=np.zeros(0, dtype=np.int64))
    assert (none.lower == wide.lower).all()


def test_without_or_tools_the_intervals_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    spec, _, lower, upper = cube(3, 1, 1)
    kinds = (False, True)
    with_it = [exact_intervals(spec, lower, upper, integer=kind) for kind in kinds]
    for name in [module for module in sys.modules if module.split(".")[0] == "ortools"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ortools", None)
    for kept in (Glop, Pdlp):
        with pytest.raises(MissingExtra, match=r"sdcensus\[optimise\]"):
            kept(TableProgram.of(shuttle(spec, lower, upper)).linear)
    for integer, expected in zip(kinds, with_it, strict=True):
        found = exact_intervals(spec, lower, upper, integer=integer)
        assert (found.lower == expected.lower).all()
        assert (found.upper == expected.upper).all()


@pytest.mark.parametrize("hidden", [0.0, 0.3])
def test_the_solvers_that_keep_a_program_find_what_highs_finds(hidden: float) -> None:
    spec = spec_of([variable(name, 5) for name in "abc"], list("abc"))
    _, lower, upper = noisy(spec, 11, 1, mean=1, hidden=hidden)
    program = TableProgram.of(shuttle(spec, lower, upper))
    linear = program.linear
    glop, pdlp = Glop(linear), Pdlp(linear)
    tried = 0
    for cell in range(0, spec.cells, 7):
        for sign in (1, -1):
            cost = program.goal(cell, sign)
            expected = highs.solve(linear.with_cost(cost))
            if not expected.optimal:
                assert not glop.solve(cost).optimal
                continue
            assert glop.solve(cost).objective == pytest.approx(expected.objective, abs=1e-6)
            near = pdlp.solve(cost)
            if near.optimal:
                tried += 1
                assert expected.objective - 1e-3 < near.objective < expected.objective + 1e-6
    assert tried > 10


def test_a_program_that_cannot_be_solved_is_told() -> None:
    spec, lower, upper = odd_cycle()
    upper[0, 0] = lower[0, 0] = 5
    linear = TableProgram.of(Intervals(spec, lower, upper, 0)).linear
    assert Glop(linear).solve(np.zeros(linear.width)).status is Status.INFEASIBLE
    assert Pdlp(linear).solve(np.zeros(linear.width)).status is Status.FAILED


def test_tables_that_are_too_large_are_refused_with_what_to_do() -> None:
    large = spec_of([variable("a", 400), variable("b", 300)], ["a", "b"])
    bounds = np.zeros(large.shape, dtype=np.int64), np.ones(large.shape, dtype=np.int64)
    with pytest.raises(SpecError, match=r"at most 100,000 cells.*[Cc]oarser levels.*shuttle"):
        exact_intervals(large, *bounds, cells=np.array([0]))
    some = spec_of([variable("a", 300), variable("b", 100)], ["a", "b"])
    bounds = np.zeros(some.shape, dtype=np.int64), np.ones(some.shape, dtype=np.int64)
    with pytest.raises(SpecError, match="Name the cells"):
        exact_intervals(some, *bounds)
    found = exact_intervals(some, *bounds, cells=np.array([5]))
    assert (found.lower.reshape(-1)[5], found.upper.reshape(-1)[5]) == (0, 1)


def test_bad_arguments_are_refused() -> None:
    spec, _, lower, upper = cube(2, 1, 1)
    with pytest.raises(SpecError, match="one worker or more"):
        exact_intervals(spec, lower, upper, workers=0)
    with pytest.raises(SpecError, match="numbers from 0 to 26"):
        exact_intervals(spec, lower, upper, cells=np.array([27]))


@pytest.mark.parametrize("by", [[], ["a-total"], ["a"]])
def test_tables_of_one_cell_and_of_one_child(by: list[str]) -> None:
    spec = spec_of([variable("a", 1)], by)
    for integer in (False, True):
        found = exact_intervals(
            spec, np.full(spec.shape, 2), np.full(spec.shape, 5), integer=integer
        )
        assert (found.lower == 2).all()
        assert (found.upper == 5).all()


def test_progress_is_told() -> None:
    spec, _, lower, upper = cube(4, 1, 1)
    told: list[float] = []
    exact_intervals(spec, lower, upper, progress=lambda stage, done: told.append(done))
    assert told
    assert all(0 <= one <= 1 for one in told)


def test_a_large_table_has_its_intervals_found() -> None:
    spec = spec_of([variable("a", 12), variable("b", 12), variable("c", 40)], list("abc"))
    true, lower, upper = noisy(spec, 3, 1, mean=0.6)
    wide = shuttle(spec, lower, upper)
    whole = exact_intervals(spec, lower, upper, integer=True)
    assert within(whole, wide)
    assert whole.holds(true)
