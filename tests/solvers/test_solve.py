"""Every solver gives the same answers through one door."""

from __future__ import annotations

import itertools
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import MissingExtra, SpecError
from sdcensus.solvers.limits import Limits
from sdcensus.solvers.program import LinearProgram, Status
from sdcensus.solvers.solve import Solver, solve


def program(
    cost: list[float],
    matrix: list[list[float]],
    row_lower: list[float],
    row_upper: list[float],
    *,
    lower: float = 0,
    upper: float = 9,
    integer: bool = True,
) -> LinearProgram:
    full = np.array(matrix, dtype=np.float64).reshape(len(row_lower), len(cost))
    rows, columns = np.nonzero(full)
    return LinearProgram(
        cost=np.array(cost, dtype=np.float64),
        lower=np.full(len(cost), float(lower)),
        upper=np.full(len(cost), float(upper)),
        integer=np.full(len(cost), integer),
        rows=rows,
        columns=columns,
        values=full[rows, columns],
        row_lower=np.array(row_lower, dtype=np.float64),
        row_upper=np.array(row_upper, dtype=np.float64),
    )


@pytest.fixture(params=list(Solver))
def solver(request: pytest.FixtureRequest) -> Solver:
    if request.param is Solver.CP_SAT:
        pytest.importorskip("ortools")
    return Solver(request.param)


INF = float("inf")
#: Fill a bag that holds 10 with the most valuable of three things: whole ones, or parts of them.
BAG = ([-10.0, -7.0, -3.0], [[5.0, 4.0, 2.0]], [-INF], [10.0])


def test_whole_numbers_and_parts_of_them_have_different_optima(solver: Solver) -> None:
    whole = solve(program(*BAG, upper=1), solver)
    assert whole.status is Status.OPTIMAL
    assert whole.values.tolist() == [1, 1, 0]
    assert whole.objective == -17
    parts = solve(program(*BAG, upper=1, integer=False), Solver.HIGHS)
    assert parts.objective == pytest.approx(-18.5)
    assert parts.values.tolist() == pytest.approx([1, 1, 0.5])


def test_what_cannot_be_is_said_to_be_infeasible(solver: Solver) -> None:
    odd = program([1.0, 1.0], [[2.0, 2.0]], [3.0], [3.0])
    answer = solve(odd, solver)
    assert answer.status is Status.INFEASIBLE
    assert not answer.optimal
    assert answer.values.size == 0


def test_what_has_no_end_is_said_to_be_unbounded() -> None:
    endless = program([-1.0], [[1.0]], [0.0], [INF], upper=INF, integer=False)
    assert solve(endless).status is Status.UNBOUNDED


def test_work_has_a_limit_that_no_clock_decides(solver: Solver) -> None:
    numbers = [float(2 * one) for one in range(50, 80)]
    values = [-(number + number % 7) for number in numbers]
    hard = program(values, [numbers, values[::-1]], [-INF, -998.0], [998.0, INF], upper=1)
    first, again = (solve(hard, solver, limits=Limits(steps=1)) for _ in range(2))
    assert first.status is again.status is Status.LIMIT
    assert first.values.tolist() == again.values.tolist()
    assert solve(hard, solver).optimal


def test_even_numbers_do_not_sum_to_an_odd_one(solver: Solver) -> None:
    numbers = [float(2 * one) for one in range(50, 80)]
    odd = program([0.0] * 30, [numbers], [1001.0], [1001.0], upper=1)
    assert solve(odd, solver).status is Status.INFEASIBLE


def test_a_program_without_rows_or_without_variables_is_solved(solver: Solver) -> None:
    free = solve(program([1.0, -1.0], [], [], []), solver)
    assert free.values.tolist() == [0, 9]
    empty = program([], [], [], [])
    assert solve(empty, solver).optimal
    impossible = program([], [[]], [1.0], [1.0])
    assert solve(impossible, solver).status is Status.INFEASIBLE


@st.composite
def small_programs(draw: st.DrawFn) -> LinearProgram:
    width, height = draw(st.integers(1, 4)), draw(st.integers(0, 3))
    number = st.integers(-4, 4).map(float)
    cost = draw(st.lists(number, min_size=width, max_size=width))
    row = st.lists(number, min_size=width, max_size=width)
    matrix = draw(st.lists(row, min_size=height, max_size=height))
    lower = draw(st.lists(st.integers(-9, 3).map(float), min_size=height, max_size=height))
    upper = [one + draw(st.integers(0, 4)) for one in lower]
    return program(cost, matrix, lower, upper, lower=-2, upper=2)


@given(small_programs())
def test_the_optimum_is_what_trying_everything_finds(small: LinearProgram) -> None:
    best = _by_trying(small)
    answer = solve(small)
    assert answer.optimal == (best is not None)
    if best is not None:
        assert answer.objective == best


@given(small_programs())
def test_solvers_agree(small: LinearProgram) -> None:
    pytest.importorskip("ortools")
    one, other = solve(small, "highs"), solve(small, "cp-sat")
    assert one.status is other.status
    if one.optimal:
        assert one.objective == other.objective


def _by_trying(small: LinearProgram) -> float | None:
    full = np.zeros((small.height, small.width))
    full[small.rows, small.columns] = small.values
    costs = []
    for values in itertools.product(range(-2, 3), repeat=small.width):
        sums = full @ np.array(values)
        if (sums >= small.row_lower).all() and (sums <= small.row_upper).all():
            costs.append(float(small.cost @ np.array(values)))
    return min(costs, default=None)


def test_a_further_row_and_another_goal_leave_the_program_as_it_was() -> None:
    bag = program(*BAG, upper=1)
    second = bag.with_row(np.array([1.0, 1.0, 0.0]), -INF, 1.0).with_cost(np.array([-1.0, 0, -1]))
    assert solve(second).values.tolist() == [1, 0, 1]
    assert (bag.height, second.height) == (1, 2)
    assert solve(bag).values.tolist() == [1, 1, 0]


@pytest.mark.parametrize(
    ("made", "why"),
    [
        (lambda: program(*BAG, integer=False), "whole numbers throughout"),
        (lambda: program(*BAG, upper=INF), "bounds for every variable"),
        (lambda: program([0.5], [], [], []), "whole coefficients"),
    ],
)
def test_cp_sat_says_what_it_cannot_do(made: Any, why: str) -> None:
    pytest.importorskip("ortools")
    with pytest.raises(SpecError, match=why):
        solve(made(), Solver.CP_SAT)


def test_without_ortools_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [module for module in sys.modules if module.split(".")[0] == "ortools"]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "ortools", None)
    with pytest.raises(MissingExtra, match=r"sdcensus\[optimise\]"):
        solve(program(*BAG), Solver.CP_SAT)
    assert solve(program(*BAG)).optimal


def test_names_and_steps_are_checked() -> None:
    with pytest.raises(SpecError, match="Did you mean 'highs'"):
        solve(program(*BAG), "high")
    with pytest.raises(SpecError, match="at least one step"):
        solve(program(*BAG), limits=Limits(steps=0))


@pytest.mark.parametrize("wrong", ["lower", "values", "row_upper", "columns"])
def test_programs_that_do_not_fit_together_are_refused(wrong: str) -> None:
    parts = {name: getattr(program(*BAG), name) for name in LinearProgram.__dataclass_fields__}
    parts[wrong] = parts[wrong][:-1] if wrong != "columns" else np.array([0, 1, 7])
    with pytest.raises(SpecError):
        LinearProgram(**parts)
