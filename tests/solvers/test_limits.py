"""Searches that end early: what is kept, what is proven, and what is said."""

from __future__ import annotations

import math
import os
import signal
import threading

import numpy as np
import pytest

from sdcensus.errors import SpecError
from sdcensus.solvers.limits import Limits, relative_gap
from sdcensus.solvers.program import LinearProgram, Status
from sdcensus.solvers.report import SolutionReport
from sdcensus.solvers.solve import Solver, reported, solve


def market_split(size: int, rows: int) -> LinearProgram:
    """Rows that no choice meets exactly, and a slack that is made small: hard for everybody."""
    draw = np.random.default_rng(5)
    weights = draw.integers(0, 100, (rows, size)).astype(np.float64)
    full = np.concatenate([weights, np.eye(rows), -np.eye(rows)], axis=1)
    at = np.nonzero(full)
    target = np.floor(weights.sum(axis=1) / 2)
    width = size + 2 * rows
    return LinearProgram(
        cost=np.concatenate([np.zeros(size), np.ones(2 * rows)]),
        lower=np.zeros(width),
        upper=np.concatenate([np.ones(size), np.full(2 * rows, 10_000.0)]),
        integer=np.ones(width, dtype=bool),
        rows=at[0].astype(np.int64),
        columns=at[1].astype(np.int64),
        values=full[at],
        row_lower=target,
        row_upper=target,
    )


HARD = market_split(40, 5)


def test_work_is_limited_without_a_clock_and_the_best_is_kept() -> None:
    first, again = (solve(HARD, Solver.CP_SAT, limits=Limits(work=0.2)) for _ in range(2))
    assert first.status is Status.LIMIT
    assert first.repeatable
    assert first.values.tolist() == again.values.tolist()
    assert first.bound <= first.objective
    assert first.gap == relative_gap(first.objective, first.bound)


@pytest.mark.parametrize("solver", [Solver.CP_SAT, Solver.HIGHS])
def test_what_the_clock_cuts_off_says_so(solver: Solver) -> None:
    solution = solve(HARD, solver, limits=Limits(seconds=0.3))
    assert solution.status is Status.LIMIT
    assert not solution.repeatable
    report = SolutionReport.of("sum of slacks", solution)
    assert "a second run may end elsewhere" in report.statement


@pytest.mark.parametrize("solver", [Solver.CP_SAT, Solver.HIGHS])
def test_near_enough_is_not_called_the_best(solver: Solver) -> None:
    easy = market_split(8, 2)
    best = solve(easy, solver)
    near = solve(easy, solver, limits=Limits(gap=0.9))
    assert best.optimal
    assert best.bound == best.objective
    assert near.objective >= best.objective
    if near.objective > best.objective:
        assert not near.optimal
    assert near.bound <= best.objective


def test_an_interruption_keeps_the_best_so_far() -> None:
    told: list[tuple[float, float]] = []

    def search(best: float, bound: float) -> None:
        told.append((best, bound))
        if not math.isnan(best) and len(told) == 1 + first[0]:
            os.kill(os.getpid(), signal.SIGINT)
        first[0] += math.isnan(best)

    first = [0]
    assert threading.current_thread() is threading.main_thread()
    solution = solve(HARD, Solver.CP_SAT, limits=Limits(seconds=60), search=search)
    assert solution.status is Status.STOPPED
    assert solution.has_values
    assert not solution.repeatable


def test_progress_tells_best_bound_and_gap() -> None:
    lines: list[tuple[str, float]] = []
    search = reported(lambda stage, done: lines.append((stage, done)), "rounding")
    search(math.nan, -math.inf)
    search(200.0, -math.inf)
    search(200.0, 190.0)
    assert lines == [
        ("rounding: nothing found yet", 0.0),
        ("rounding: best 200", 0.0),
        ("rounding: best 200, bound 190, gap 5.0%", 0.95),
    ]


def test_limits_that_make_no_sense_are_refused() -> None:
    for wrong in ({"steps": 0}, {"work": 0}, {"seconds": -1}, {"gap": 1.0}):
        with pytest.raises(SpecError):
            Limits(**wrong)


def test_a_report_says_what_is_proven() -> None:
    proven = SolutionReport(what="distance", status=Status.OPTIMAL, objective=18, bound=18)
    assert proven.statement == "Distance: 18, the best, proven."
    open_end = SolutionReport(what="distance", status=Status.LIMIT, objective=200, bound=190)
    assert "at most 5.00% could be gained" in open_end.statement
    assert repr(proven) == "<SolutionReport: confidential>"
