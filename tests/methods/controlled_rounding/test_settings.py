"""Every setting of controlled rounding changes a table, limits end it, and who stops keeps it."""

from __future__ import annotations

import itertools
import sys
import time
from typing import Any

import numpy as np
import pytest

from sdcensus.errors import MissingExtra, SpecError
from sdcensus.methods.controlled_rounding import budget as budgets, solve as solving
from sdcensus.methods.controlled_rounding.random_rounding import ControlledRandomRounding
from sdcensus.methods.controlled_rounding.rounding import ControlledRounding
from sdcensus.model.cube.constraints import adds_up
from sdcensus.model.cube.cube import Cube
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.solvers.report import SolutionReport
from sdcensus.testing.island import SECRET
from tests.methods.controlled_rounding.rounding_oracle import Int64, cube_of

CUBES = [
    cube_of(np.random.default_rng(seed).negative_binomial(1, 0.2, shape))
    for seed, shape in itertools.product(range(4), [(4, 5), (3, 3, 3)])
]


def numbers(cube: Cube, **said: Any) -> Int64:
    return ControlledRounding(**said).protect(cube).table.held_for("a test").published


def large(*shape: int, seed: int = 1) -> Cube:
    return cube_of(np.random.default_rng(seed).negative_binomial(1, 0.1, shape))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({}, {"base": 5}),
        ({"protect_below": 2, "extra_steps": 1}, {"protect_below": 4, "extra_steps": 1}),
        ({"base": 4, "protect_below": 5, "extra_steps": 1}, {"lower_protection": 4}),
        ({"base": 4, "protect_below": 5, "extra_steps": 1}, {"upper_protection": 4}),
        ({"protect_below": 4, "extra_steps": 1}, {"zeros": "change"}),
        ({"protect_below": 4}, {"extra_steps": 1}),
        ({"protect_below": 4, "extra_steps": 1}, {"weights": "totals"}),
        ({"protect_below": 4, "extra_steps": 0}, {"infeasible": "widen"}),
    ],
)
def test_every_setting_changes_a_table(before: dict[str, Any], after: dict[str, Any]) -> None:
    changed = False
    for cube in CUBES:
        tables: list[Int64 | None] = []
        for said in (before, before | after):
            try:
                tables.append(numbers(cube, **said))
            except SpecError:
                tables.append(None)
        first, second = tables
        if first is None or second is None:
            changed |= first is not second
        else:
            changed |= bool((first != second).any())
    assert changed


def test_the_key_version_and_the_way_out_change_a_random_table() -> None:
    def drawn(**said: Any) -> Int64:
        method = ControlledRandomRounding(5, secret=SECRET, **said)
        return method.protect(CUBES[0]).table.held_for("a test").published

    assert (drawn() != drawn(key_version=2)).any()
    with pytest.raises(SpecError):
        ControlledRandomRounding(5, secret=SECRET).protect(CUBES[1])
    ControlledRandomRounding(5, secret=SECRET, infeasible="widen").protect(CUBES[1])


def solution(cube: Cube, **said: Any) -> SolutionReport:
    report = ControlledRounding(**said).publish_linked(LinkedCubes.of_cube(cube)).solution
    assert report is not None
    return report


def test_effort_decides_how_near_and_how_proven() -> None:
    cube = cube_of(np.random.default_rng(2).integers(0, 30, (3, 3, 3, 3)))
    fast, auto, exact = (
        solution(cube, base=10, effort=effort, gap=0, work=0.5)
        for effort in ("fast", "auto", "exact")
    )
    assert exact.objective <= auto.objective <= fast.objective
    assert exact.bound >= auto.bound >= fast.bound
    assert exact.gap < fast.gap
    assert "could be gained" in fast.statement


def test_work_and_gap_end_a_search_and_say_so() -> None:
    cube = large(12, 12, 12)
    little, near, more = (
        solution(cube, base=10, gap=gap, work=work) for gap, work in ((0, 0.001), (0.5, 5), (0, 1))
    )
    assert more.objective < near.objective < little.objective
    for report in (little, near, more):
        assert "within the limit" in report.statement
        assert report.repeatable


def test_the_clock_ends_a_search_and_says_so() -> None:
    cube = large(12, 12, 12)
    started = time.monotonic()
    protected = ControlledRounding(10, seconds=0.5, work=1_000, gap=0).protect(cube)
    assert time.monotonic() - started < 20
    assert adds_up(cube.spec, protected.table.held_for("a test").published)
    assert "could be gained" in protected.audit.remarks[0]
    assert "The clock or a person ended the search" in protected.audit.remarks[0]
    assert not protected.audit.repeatable


def test_who_interrupts_keeps_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    cube = large(12, 12, 12)
    monkeypatch.setattr(budgets, "_PATIENCE", 0.05)
    told: list[str] = []

    def progress(text: str, share: float) -> None:
        told.append(text)
        if "best" in text and not any("best" in before for before in told[:-1]):
            raise KeyboardInterrupt

    method = ControlledRounding(10, work=1_000, gap=0)
    (protected,) = method.protect_together(LinkedCubes.of_cube(cube), progress)
    assert adds_up(cube.spec, protected.table.held_for("a test").published)
    assert "before it was stopped" in protected.audit.remarks[0]
    assert not protected.audit.repeatable
    assert any("bound" in text and "gap" in text for text in told)


def test_a_second_interruption_is_meant(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(budgets, "_PATIENCE", 0.05)

    def progress(text: str, share: float) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        ControlledRounding(10, work=1_000, gap=0).protect_together(
            LinkedCubes.of_cube(large(14, 14, 14)), progress
        )


def test_large_tables_are_rounded_down_the_hierarchy(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(solving, "LARGE", 500)
    monkeypatch.setattr("sdcensus.methods.controlled_rounding.blocks.LARGE", 500)
    for steps, zeros in ((0, "keep"), (1, "change")):
        cube = large(20, 6, 7)
        said = {"extra_steps": steps, "zeros": zeros, "effort": "auto"}
        protected = ControlledRounding(**said).protect(cube)  # type: ignore[arg-type]
        table = protected.table.held_for("a test").published
        assert adds_up(cube.spec, table)
        assert (np.abs(table - cube.count) < 3 * (steps + 1)).all()
        assert (numbers(cube, **said) == table).all()
        assert "could be gained" in protected.audit.remarks[0]


def test_a_solver_that_is_missing_names_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ortools.sat.python", None)
    monkeypatch.setitem(sys.modules, "ortools.sat.python.cp_model", None)
    cube = large(4, 5, 6)
    with pytest.raises(MissingExtra, match="optimise"):
        numbers(cube, base=10, solver="cp-sat", effort="exact", gap=0)


def test_both_solvers_prove_the_same() -> None:
    pytest.importorskip("ortools")
    cube = cube_of(np.random.default_rng(3).negative_binomial(1, 0.2, (3, 3, 4)))
    far = {
        solver: int(np.abs(numbers(cube, solver=solver, effort="exact") - cube.count).sum())
        for solver in ("highs", "cp-sat")
    }
    assert far["highs"] == far["cp-sat"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"base": 1},
        {"base": 2.5},
        {"extra_steps": -1},
        {"extra_steps": 101},
        {"zeros": "perhaps"},
        {"weights": "many"},
        {"protect_below": 1},
        {"lower_protection": 0},
        {"upper_protection": 1.5},
        {"infeasible": "yes"},
        {"effort": "some"},
        {"work": 0},
        {"seconds": -1},
        {"gap": 1},
        {"solver": "abacus"},
    ],
)
def test_what_is_wrong_is_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(SpecError):
        ControlledRounding(**wrong)


def test_large_tables_go_as_far_as_they_have_to(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("blocks", "solve", "rounding"):
        monkeypatch.setattr(f"sdcensus.methods.controlled_rounding.{module}.LARGE", 100)
    cube = cube_of(np.random.default_rng(1).integers(0, 9, (4, 4, 4, 4)))
    with pytest.raises(SpecError, match="infeasible = 'widen'"):
        numbers(cube, base=3, work=0.1)
    protected = ControlledRounding(3, infeasible="widen", work=0.1).protect(cube)
    table = protected.table.held_for("a test").published
    assert adds_up(cube.spec, table)
    assert not table[cube.count == 0].any()
    assert "cells are not published as a multiple next to their count" in protected.audit.remarks[0]
