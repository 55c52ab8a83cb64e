"""Every setting of tabular adjustment changes what is published, and what it says holds."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sdcensus.errors import SpecError
from sdcensus.methods.suppression.rules import fewer_than
from sdcensus.methods.tabular_adjustment import search
from sdcensus.methods.tabular_adjustment.method import ControlledTabularAdjustment
from sdcensus.model.cube.constraints import adds_up
from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.protected import Protected
from sdcensus.model.published.table import Table
from sdcensus.solvers import solve as solve_module
from sdcensus.solvers.program import Solution
from sdcensus.testing.island import SECRET, island, island_cube
from sdcensus.testing.printed_tables import printed_cube, printed_spec, printed_variable


def cube_of(numbers: Any) -> Cube:
    array = np.asarray(numbers)
    names = [
        printed_variable(f"v{at}", [f"c{code}" for code in range(size)])
        for at, size in enumerate(array.shape)
    ]
    return printed_cube(printed_spec(*names), array)


def protect(cube: Cube, **settings: Any) -> Protected:
    return ControlledTabularAdjustment(secret=SECRET, **settings).protect(cube)


def numbers(cube: Cube, **settings: Any) -> Any:
    table = protect(cube, **settings).table
    assert isinstance(table, Table)
    return table.published


CUBES = [
    cube_of([[5, 0], [4, 6]]),
    *(cube_of([1] * ones + [3]) for ones in range(3, 9)),
    *(cube_of(np.random.default_rng(seed).negative_binomial(1, 0.15, (4, 4))) for seed in range(6)),
]


@pytest.mark.parametrize(
    ("setting", "value"),
    [
        ("minimum", 5),
        ("group", 0),
        ("population", 30),
        ("lower_protection", 2),
        ("upper_protection", 4),
        ("new_small_counts", "allow"),
        ("zeros", "change"),
        ("kept_totals", "total"),
        ("largest_change", 0.01),
        ("weights", "value"),
        ("weights", "inverse"),
        ("senses", "best"),
        ("key_version", 2),
        ("rules", (fewer_than(6),)),
        ("unless", fewer_than(2)),
    ],
)
def test_every_setting_changes_a_table(setting: str, value: Any) -> None:
    changed = False
    settings = {setting: value}
    if setting == "population":
        settings["area"] = "v0"
    for cube in CUBES:
        try:
            changed |= bool((numbers(cube) != numbers(cube, **settings)).any())
        except SpecError:
            changed = True
    assert changed


def test_cells_of_one_household_move() -> None:
    plain = cube_of([[5, 7], [4, 6]])
    first = np.zeros(plain.shape, dtype=np.uint32)
    last = np.ones(plain.shape, dtype=np.uint32)
    last[0, 1] = 0
    values = replace(plain.values, first_household=first, last_household=last)
    cube = Cube(plain.spec, plain.origin, values)
    assert (numbers(cube) == cube.count).all()
    assert abs(numbers(cube, households=True) - cube.count)[0, 1] >= 3
    assert ControlledTabularAdjustment(secret=SECRET, households=True).needs_households


def test_the_axes_of_groups_matter() -> None:
    cube = cube_of([[5, 0, 0], [4, 6, 7]])
    by_row = numbers(cube, minimum=1, group=0, group_axes=("v0",), zeros="change")
    by_column = numbers(cube, minimum=1, group=0, group_axes=("v1",), zeros="change")
    assert (by_row != by_column).any()


def test_areas_are_those_of_the_variable() -> None:
    cube = cube_of([[4, 4], [4, 40]])
    by_row = numbers(cube, minimum=1, population=10, area="v0")
    assert (by_row[0] != cube.count[0]).any()


def test_fixed_tables_stay_as_they_are() -> None:
    cube = island_cube("area@parish+district", "sex", "age@class", people=150)
    free = numbers(cube)
    districts = cube.spec.with_axes([island(10).spec("area@district").axes[0]])
    fixed = numbers(cube, fixed=[districts])
    assert (free != fixed).any()
    assert (fixed[7:, -1, -1] == cube.count[7:, -1, -1]).all()
    method = ControlledTabularAdjustment(secret=SECRET, fixed=[districts])
    assert method.exempt_cells(cube.spec).size == 4 or method.exempt_cells(cube.spec).size == 5
    assert method.exempting([districts]).exempt_tables == (districts, districts)


def test_a_file_says_weights_bounds_levels_and_status(tmp_path: Path) -> None:
    cube = cube_of([[8, 19, 22], [20, 50, 10], [17, 32, 12]])
    file = tmp_path / "cells.csv"
    results = []
    for line in (
        "status\nc0,c0,sensitive",
        "status\nc0,c1,sensitive",
        "status,upper_protection,upper\nc0,c0,sensitive,30,60",
    ):
        head, *rows = line.split("\n")
        file.write_text("\n".join([f"v0,v1,{head}", *rows]) + "\n", encoding="utf-8")
        results.append(numbers(cube, cells=file, upper_protection=5, lower_protection=30))
        assert adds_up(cube.spec, results[-1])
    assert results[0][0, 0] >= 13
    assert results[1][0, 1] >= 24
    assert results[2][0, 0] >= 38


def test_weights_of_a_file_decide_what_changes(tmp_path: Path) -> None:
    cube = cube_of([2, 40, 50])
    file = tmp_path / "cells.csv"
    moved = []
    for weight in (1, 9):
        file.write_text(f"v0,weight\n_T,{weight}\nc1,5\nc2,5\n", encoding="utf-8")
        moved.append(numbers(cube, cells=file)[-1] != cube.count[-1])
    assert moved == [True, False]


def test_limits_end_a_search_and_say_so(monkeypatch: pytest.MonkeyPatch) -> None:
    cube = cube_of(np.random.default_rng(1).negative_binomial(1, 0.2, (4, 4, 4)))
    assert "No solution is below" in protect(cube, senses="best", work=0.01).audit.remarks[0]
    fast = protect(cube, senses="best", effort="fast").audit.remarks[0]
    assert "No solution is below" in fast
    asked: list[Any] = []
    solve = solve_module.solve

    def watched(program: Any, solver: Any, **options: Any) -> Solution:
        asked.append(options["limits"])
        return solve(program, solver, **options)

    monkeypatch.setattr(search, "solve", watched)
    protect(cube, senses="best", effort="exact", seconds=5, gap=0.25, work=0.02)
    assert {(limits.seconds, limits.gap, limits.work) for limits in asked} >= {(5, 0.25, 0.02)}


def test_who_interrupts_keeps_the_best(monkeypatch: pytest.MonkeyPatch) -> None:
    cube = cube_of(np.random.default_rng(1).negative_binomial(1, 0.2, (4, 4, 4)))
    solve = solve_module.solve

    def interrupted(program: Any, solver: Any, **options: Any) -> Solution:
        if program.integer.all() and options["limits"].work is not None:
            raise KeyboardInterrupt
        return solve(program, solver, **options)

    monkeypatch.setattr(search, "solve", interrupted)
    protected = protect(cube, senses="best", effort="exact")
    assert adds_up(cube.spec, protected.table.held_for("a test").published)
    assert "before it was stopped" in protected.audit.remarks[0]
    assert not protected.audit.repeatable


def test_very_large_tables_are_changed_by_units(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(search, "MOST_RELAXED", 10)
    cube = island_cube("area@parish+district", "sex", "age@class", people=200)
    for senses in ("drawn", "best"):
        protected = protect(cube, senses=senses)
        published = protected.table.held_for("a test").published
        assert adds_up(cube.spec, published)
        assert not ((published > 0) & (published < 3)).any()
        assert "could be gained" in protected.audit.remarks[0]


def guessed(cube: Cube, **settings: Any) -> float:
    """How many small counts somebody hits who takes the likeliest count behind each number."""
    true = cube.count[:-1, :-1]
    published = numbers(cube, effort="fast", **settings)[:-1, :-1]
    hit = 0
    for value in np.unique(published).tolist():
        counts = np.bincount(true[published == value])
        likeliest = int(np.argmax(counts))
        hit += int(counts[likeliest]) if 0 < likeliest < 3 else 0
    return hit / int(((true > 0) & (true < 3)).sum())


def test_who_knows_the_method_guesses_small_counts_unless_ways_are_drawn() -> None:
    cube = cube_of(np.random.default_rng(1).negative_binomial(1, 0.2, (40, 40)))
    drawn, best = guessed(cube), guessed(cube, senses="best")
    by_three = guessed(cube, lower_protection=3, upper_protection=3, new_small_counts="allow")
    assert drawn < 0.2
    assert best > drawn + 0.2  # a 1 always goes to 0, a 2 always to 3
    assert by_three > 0.8  # neither can go down: the published number less 3
