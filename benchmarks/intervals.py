"""Feasibility intervals: the shuttle against tabulating, and exact intervals of a small table."""

from __future__ import annotations

import json
import sys
import time
from typing import Any

import numpy as np

from benchmarks.measure import Line, in_own_process, peak_memory, seconds

#: Areas, sex, age, two more: 346,290 interior cells, 677,376 with all margins.
_FIVE_WAY = (97, 2, 15, 17, 7)
_SMALL = (20, 20, 25)


def measure(persons: int) -> list[Line]:
    took = in_own_process("benchmarks.intervals", str(persons))
    ratio = took["shuttle"] / took["tabulate"]
    return [
        Line("Tabulating the five-way table, warm", f"{took['tabulate'] * 1e3:.0f} ms"),
        Line(
            f"Shuttle on its {took['cells']:,.0f} cells, all margins",
            f"{took['shuttle'] * 1e3:.0f} ms, {ratio:.1f} times the tabulating",
            "at most 50 times",
            ratio <= 50,
        ),
        Line(
            "Peak memory of both",
            f"{took['memory'] / 1e9:.2f} GB",
            "under 2 GB",
            took["memory"] < 2e9,
        ),
        Line(
            "Linear intervals of the 10,000 interior cells of 20 × 20 × 25",
            f"{took['linear']:.1f} s",
            "under 10 minutes",
            took["linear"] < 600,
        ),
        Line("The same in whole numbers", f"{took['integer']:.1f} s"),
    ]


def main() -> None:
    from sdcensus.model.cube.constraints import is_interior
    from sdcensus.model.inference.intervals import shuttle
    from sdcensus.solvers.feasibility import exact_intervals

    persons = int(sys.argv[1])
    five = _census(_FIVE_WAY, persons)
    by = [f"v{at}" for at in range(len(_FIVE_WAY))]
    tabulate = seconds(lambda: five.tabulate(*by))
    cube, lower, upper = _known(five, by)
    assert shuttle(cube.spec, lower, upper).holds(cube.count)
    took = seconds(lambda: shuttle(cube.spec, lower, upper))
    figures = {"cells": cube.spec.cells, "tabulate": tabulate, "shuttle": took}
    figures["memory"] = peak_memory()
    cube, lower, upper = _known(_census(_SMALL, persons // 40), by[: len(_SMALL)])
    inside = is_interior(cube.spec)
    exact_intervals(cube.spec, lower, upper, cells=np.array([0]), integer=True)
    for name, integer in (("linear", False), ("integer", True)):
        start = time.perf_counter()
        found = exact_intervals(cube.spec, lower, upper, cells=inside, integer=integer)
        figures[name] = time.perf_counter() - start
        assert found.holds(cube.count)
    print(json.dumps(figures))


def _census(shape: tuple[int, ...], people: int) -> Any:
    """Records with independent variables, of which some codes are rare."""
    import pandas

    import sdcensus as sc

    draw = np.random.default_rng(20260301)
    columns = {"key": draw.integers(0, 1 << 32, people)}
    for at, size in enumerate(shape):
        codes = draw.choice(size, people, p=draw.dirichlet(np.full(size, 0.8)))
        codes[:size] = np.arange(size)  # code lists are what stands in the columns
        columns[f"v{at}"] = codes
    return sc.from_frame(pandas.DataFrame(columns), key="key")


def _known(census: Any, by: list[str]) -> tuple[Any, Any, Any]:
    """A cube, and the bounds that an intruder has from its protected table."""
    import sdcensus as sc
    from sdcensus.model.inference.knowledge import Knowledge

    cube = census.tabulate(*by)
    method = sc.methods.CellKey(sc.perturbation.scheme("CP3(EU)"), lookup="ascending")
    table: Any = method.protect(cube).table
    return cube, *Knowledge(max_deviation=3).bounds(table)


if __name__ == "__main__":
    main()
