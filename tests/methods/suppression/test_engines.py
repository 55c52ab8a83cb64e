"""Engines with protection intervals: intervals are as wide as asked, and closed cells are few."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import MissingExtra, SpecError
from sdcensus.methods.suppression import optimal
from sdcensus.methods.suppression.intervals import Protection, lone_persons
from sdcensus.methods.suppression.modular import Answer, modular_pattern
from sdcensus.methods.suppression.optimal import cheapest_pattern
from sdcensus.methods.suppression.problem import SuppressionProblem
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.protect.linked import count_linked
from sdcensus.solvers import solve
from sdcensus.solvers.audit.audit import audit_cells
from sdcensus.solvers.limits import Limits
from sdcensus.solvers.program import Status
from sdcensus.solvers.solve import Solver
from tests.methods.suppression.tables import (
    EXAMPLE,
    ISLAND,
    Mask,
    is_protected,
    is_protected_from_insiders,
    linked_of,
    problem_of,
    required,
)
from tests.model.linked.test_linked import linked_specs

LIMITS = Limits(work=20)
ENGINES: tuple[Callable[..., Answer], ...] = (cheapest_pattern, modular_pattern)

small_tables = st.lists(
    st.lists(st.integers(0, 9), min_size=3, max_size=3), min_size=3, max_size=3
).filter(lambda rows: any(any(row) for row in rows))
protections = st.builds(
    Protection,
    lower=st.none() | st.integers(1, 4),
    upper=st.none() | st.integers(1, 6),
    percent=st.sampled_from((0, 0, 60)),
    width=st.integers(0, 5),
    insiders=st.just(False),
)
#: Empty cells may be closed; are shown; are shown, and tell that closed ones are not empty.
ZEROS: tuple[dict[str, Any], ...] = (
    {"zeros_open": False},
    {"zeros_open": True},
    {"zeros_open": True, "zeros_tell": True},
)


def cost_of(problem: SuppressionProblem, closed: Mask) -> int:
    return int(problem.cost[closed & problem.shown].sum())


def answers(
    engine: Callable[..., Answer],
    linked: LinkedCubes,
    problem: SuppressionProblem,
    protection: Protection,
    **options: Any,
) -> Answer | str:
    """A pattern, or why there is none."""
    alone = lone_persons(linked) if protection.insiders else None
    asked = required(problem, protection, alone)
    try:
        return engine(linked.tables, problem, asked, limits=LIMITS, **options)
    except SpecError as error:
        return str(error)


def brute_force(linked: LinkedCubes, problem: SuppressionProblem, protection: Protection) -> float:
    """The least cost over all patterns; infinite where none protects everything."""
    asked = required(problem, protection)
    given_closed = problem.primary | problem.frozen
    free = np.flatnonzero(problem.shown & ~given_closed & ~problem.forced)
    best = np.inf
    choices = [
        chosen
        for size in range(free.size + 1)
        for chosen in itertools.combinations(free.tolist(), size)
    ]
    for chosen in sorted(choices, key=lambda chosen: int(problem.cost[list(chosen)].sum())):
        closed = given_closed.copy()
        closed[list(chosen)] = True
        if is_protected(linked.tables, problem, asked, closed):
            best = float(problem.cost[list(chosen)].sum())
            break
    return best


# -- the example of the literature -----------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_the_example_of_the_literature(engine: Callable[..., Answer]) -> None:
    linked = linked_of(EXAMPLE)
    counts = linked.counts
    problem = problem_of(linked, counts == 8)
    answer = answers(engine, linked, problem, Protection(lower=5, upper=5))
    assert isinstance(answer, Answer)
    assert sorted(counts[answer.closed].tolist()) == [8, 12, 17, 22]
    assert answer.report.objective == 51
    hidden = answer.closed
    audit = audit_cells(linked.tables.equations, np.where(hidden, 0, counts), hidden)
    intervals = {
        int(counts[cell]): (int(audit.lower[cell]), int(audit.upper[cell]))
        for cell in np.flatnonzero(hidden)
    }
    assert intervals == {8: (0, 25), 22: (5, 30), 17: (0, 25), 12: (4, 29)}
    if engine is cheapest_pattern:
        assert answer.report.status is Status.OPTIMAL
        assert answer.report.gap == 0


# -- properties ------------------------------------------------------------------------------------


@settings(max_examples=25, deadline=None)
@given(small_tables, protections, st.sampled_from(ZEROS), st.integers(1, 4))
def test_intervals_are_as_wide_as_required(
    rows: list[list[int]], protection: Protection, zeros: dict[str, Any], minimum: int
) -> None:
    """By a linear program of the test's own; and the cheapest costs no more than the modular."""
    linked = linked_of(rows)
    primary = (linked.counts > 0) & (linked.counts < minimum)
    problem = problem_of(linked, primary, **zeros)
    asked = required(problem, protection)
    costs = []
    for engine in ENGINES:
        answer = answers(engine, linked, problem, protection)
        assert isinstance(answer, Answer), answer
        assert answer.closed[primary].all()
        assert not answer.closed[problem.forced].any()
        assert is_protected(linked.tables, problem, asked, answer.closed)
        assert cost_of(problem, answer.closed) == answer.report.objective
        assert answer.report.bound <= answer.report.objective
        costs.append(answer.report.objective)
    assert costs[0] <= costs[1]


@settings(max_examples=12, deadline=None)
@given(
    st.lists(st.lists(st.integers(0, 6), min_size=2, max_size=2), min_size=3, max_size=3).filter(
        lambda rows: any(any(row) for row in rows)
    ),
    protections,
    st.sampled_from(ZEROS),
)
def test_the_optimum_is_that_of_all_patterns(
    rows: list[list[int]], protection: Protection, zeros: dict[str, Any]
) -> None:
    linked = linked_of(rows, "area@district", "married")
    primary = (linked.counts > 0) & (linked.counts < 2)
    problem = problem_of(linked, primary, **zeros)
    best = brute_force(linked, problem, protection)
    answer = answers(cheapest_pattern, linked, problem, protection)
    assert isinstance(answer, Answer), answer
    assert answer.report.status is Status.OPTIMAL
    assert answer.report.objective == best
    early = cheapest_pattern(
        linked.tables, problem, required(problem, protection), limits=Limits(work=1e-6)
    )
    assert early.report.bound <= best <= early.report.objective


@settings(max_examples=15, deadline=None)
@given(small_tables, st.integers(1, 4))
def test_intervals_hold_for_those_who_are_alone(rows: list[list[int]], minimum: int) -> None:
    linked = linked_of(rows)
    primary = (linked.counts > 0) & (linked.counts < minimum)
    problem = problem_of(linked, primary)
    asked = required(problem, Protection(minimum=minimum), lone_persons(linked))
    for engine in ENGINES:
        answer = answers(engine, linked, problem, Protection(minimum=minimum))
        assert isinstance(answer, Answer), answer
        assert is_protected(linked.tables, problem, asked, answer.closed)
        assert is_protected_from_insiders(linked.tables, problem, asked, answer.closed)


@settings(max_examples=15, deadline=None)
@given(linked_specs(conditions=False))
def test_linked_tables_and_levels_that_do_not_nest(specs: list[TableSpec]) -> None:
    linked = count_linked(ISLAND, specs)
    counts, tables = linked.counts, linked.tables
    problem = problem_of(linked, (counts > 0) & (counts < 3) & tables.published)
    asked = required(problem, Protection(insiders=False))
    answer = answers(modular_pattern, linked, problem, Protection(insiders=False))
    assert isinstance(answer, Answer), answer
    hidden = answer.closed | ~tables.published
    audit = audit_cells(
        tables.equations, np.where(hidden, 0, counts), hidden, asked=problem.primary, integer=True
    )
    primary = problem.primary
    assert (audit.lower <= counts - asked.lower)[primary].all()
    assert (audit.upper >= counts + asked.upper)[primary].all()


@settings(max_examples=15, deadline=None)
@given(small_tables, st.integers(0, 1 << 15), st.integers(0, 1 << 15))
def test_forced_cells_stay_open_and_frozen_ones_closed(
    rows: list[list[int]], forced: int, frozen: int
) -> None:
    """Or it is said why not, by both engines."""
    linked = linked_of(rows)
    size = linked.tables.size
    bits = 1 << np.arange(size)
    some = np.asarray((forced & bits & (forced >> 3)) > 0)
    problem = problem_of(
        linked,
        (linked.counts > 0) & (linked.counts < 3),
        forced=some,
        frozen=np.asarray((frozen & bits & (frozen >> 4)) > 0),
    )
    protection = Protection(insiders=False)
    asked = required(problem, protection)
    everything = (problem.shown & ~problem.forced) | problem.primary | problem.frozen
    possible = is_protected(linked.tables, problem, asked, everything)
    for engine in ENGINES:
        answer = answers(engine, linked, problem, protection)
        assert isinstance(answer, Answer) is possible, answer
        if isinstance(answer, Answer):
            assert not answer.closed[problem.forced].any()
            assert answer.closed[problem.frozen].all()
            assert is_protected(linked.tables, problem, asked, answer.closed)
        else:
            assert "area = " in answer


# -- requirements that cannot be met ---------------------------------------------------------------


@pytest.mark.parametrize("engine", ENGINES)
def test_protection_wider_than_the_table_allows_is_refused_by_its_cells(
    engine: Callable[..., Answer],
) -> None:
    linked = linked_of(EXAMPLE)
    totals = linked.tables.depth() == linked.tables.depth().max()
    problem = problem_of(linked, linked.counts == 8, forced=totals)
    answer = answers(engine, linked, problem, Protection(upper=10_000))
    assert isinstance(answer, str)
    assert "cannot be protected" in answer
    assert "up to 10,008" in answer
    assert "by 182 at most" in answer
    assert "must stay open and narrow it down: area = _T, age = _T" in answer


@pytest.mark.parametrize("engine", ENGINES)
def test_what_everybody_knows_can_be_too_much(engine: Callable[..., Answer]) -> None:
    linked = linked_of(EXAMPLE)
    problem = problem_of(linked, linked.counts == 8)
    answer = answers(engine, linked, problem, Protection(upper=5, known_within=50))
    assert isinstance(answer, str)
    assert "known_within" in answer


@pytest.mark.parametrize("engine", ENGINES)
def test_too_many_forced_cells_are_named(engine: Callable[..., Answer]) -> None:
    linked = linked_of(EXAMPLE)
    counts = linked.counts
    problem = problem_of(linked, counts == 8, forced=~np.isin(counts, (8, 17)))
    answer = answers(engine, linked, problem, Protection(upper=5))
    assert isinstance(answer, str)
    assert "follow from cells that must stay open: area = D1, age = c0" in answer


def test_a_table_too_large_for_a_proof_is_left_to_the_modular_engine(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    inner = np.random.default_rng(1).integers(0, 5, (7, 10, 2, 2))
    linked = linked_of(inner, "area@parish+district", "age@age+class+half", "sex", "married")
    problem = problem_of(linked, linked.counts == 1)
    asked = required(problem, Protection(insiders=False))
    monkeypatch.setattr(optimal, "MOST_UNITS", 400)
    with pytest.raises(SpecError, match="modular"):
        cheapest_pattern(linked.tables, problem, asked)


# -- limits, interruptions, solvers ----------------------------------------------------------------


def larger() -> tuple[LinkedCubes, SuppressionProblem]:
    draw = np.random.default_rng(3)
    inner = draw.poisson(draw.gamma(0.5, 10.0, (7, 10)))
    linked = linked_of(inner, "area@parish+district", "age@age+class")
    return linked, problem_of(linked, (linked.counts > 0) & (linked.counts < 3))


def test_a_search_that_ends_early_keeps_the_best_with_its_gap() -> None:
    linked, problem = larger()
    asked = required(problem, Protection(insiders=False))
    early = cheapest_pattern(linked.tables, problem, asked, limits=Limits(work=1e-6))
    best = cheapest_pattern(linked.tables, problem, asked, limits=LIMITS)
    assert early.report.status is Status.LIMIT
    assert early.report.repeatable
    assert early.report.bound <= best.report.bound
    assert early.report.objective >= best.report.objective
    assert "could be gained" in early.report.statement
    assert best.report.status is Status.OPTIMAL
    assert is_protected(linked.tables, problem, asked, early.closed)
    clock = cheapest_pattern(linked.tables, problem, asked, limits=Limits(seconds=1e-6))
    assert not clock.report.repeatable


def test_a_gap_that_is_near_enough_ends_the_search() -> None:
    linked, problem = larger()
    asked = required(problem, Protection(insiders=False))
    near = cheapest_pattern(linked.tables, problem, asked, limits=Limits(gap=0.5))
    assert near.report.gap <= 0.5
    assert "as near as was asked for" in near.report.statement


@pytest.mark.parametrize("engine", ENGINES)
def test_an_interruption_keeps_the_best(engine: Callable[..., Answer]) -> None:
    """Somebody stops the search when it tells for the third time that it makes cells cheaper."""
    linked, problem = larger()
    asked = required(problem, Protection(insiders=False))
    heard: list[str] = []

    def progress(stage: str, done: float) -> None:
        heard.append(stage)
        if sum("opening" in stage or "best" in stage for stage in heard) == 3:
            raise KeyboardInterrupt

    answer = engine(linked.tables, problem, asked, progress, limits=LIMITS)
    assert answer.report.status is Status.STOPPED
    assert not answer.report.repeatable
    assert is_protected(linked.tables, problem, asked, answer.closed)


def test_progress_has_the_bound_and_the_gap() -> None:
    linked, problem = larger()
    heard: list[str] = []
    cheapest_pattern(
        linked.tables,
        problem,
        required(problem, Protection(insiders=False)),
        lambda stage, done: heard.append(stage),
        limits=LIMITS,
    )
    assert any("bound" in stage and "gap" in stage for stage in heard)


def test_both_solvers_prove_the_same_cost() -> None:
    linked, problem = larger()
    asked = required(problem, Protection(insiders=False))
    costs = {
        cheapest_pattern(
            linked.tables, problem, asked, limits=LIMITS, solver=solver
        ).report.objective
        for solver in Solver
    }
    assert len(costs) == 1


def test_a_solver_that_is_not_installed_names_its_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solve, "find_spec", lambda name: None)
    linked, problem = larger()
    asked = required(problem, Protection(insiders=False))
    with pytest.raises(MissingExtra, match="optimise"):
        cheapest_pattern(linked.tables, problem, asked)
    assert modular_pattern(linked.tables, problem, asked).closed.any()


def test_the_same_question_has_the_same_answer() -> None:
    linked, problem = larger()
    asked = required(problem, Protection(), lone_persons(linked))
    for engine in ENGINES:
        first, second = (engine(linked.tables, problem, asked, limits=LIMITS) for _ in range(2))
        assert (first.closed == second.closed).all()
