"""Small tables for tests of suppression with intervals, and what a linear program says of them."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.methods.suppression.intervals import Protection, Requirements, requirements
from sdcensus.methods.suppression.problem import SuppressionProblem, least_with_parts
from sdcensus.model.cube.constraints import with_totals
from sdcensus.model.cube.cube import Accumulators, Cube
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.linked.tables import LinkedTables
from sdcensus.testing.island import island

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

ISLAND = island(60)
#: The example of the literature: one primary cell, 8.
EXAMPLE = [[20, 50, 10], [8, 19, 22], [17, 32, 12]]


def cube_of(inner: list[list[int]] | Int64, *axes: str) -> Cube:
    """A table of districts (three) by classes of age (three), with both totals; or of others."""
    base = ISLAND.tabulate(*(axes or ("area@district", "age@class"))).held_for("a test")
    counts = with_totals(base.spec, np.array(inner, dtype=np.int64))
    return Cube(base.spec, base.origin, Accumulators(counts, base.key.copy()))


def linked_of(inner: list[list[int]] | Int64, *axes: str) -> LinkedCubes:
    """The same as cells that add up."""
    return LinkedCubes.of_cube(cube_of(inner, *axes))


def problem_of(
    linked: LinkedCubes,
    primary: Mask,
    *,
    forced: Mask | None = None,
    frozen: Mask | None = None,
    zeros_open: bool = True,
    zeros_tell: bool = False,
) -> SuppressionProblem:
    """What is asked of an engine: weights are values.

    Args:
        linked: The tables.
        primary, forced, frozen: What has to become of cells.
        zeros_open: Whether empty cells are shown.
        zeros_tell: Whether everybody concludes from them that closed cells hold somebody.
    """
    counts, tables = linked.counts, linked.tables
    none = np.zeros(counts.size, dtype=bool)
    kept = none if frozen is None else frozen & ~primary
    opened = none if forced is None else forced & ~primary & ~kept
    if zeros_open:
        opened = opened | ((counts == 0) & ~primary & ~kept & tables.published)
    return SuppressionProblem(
        counts=counts,
        shown=tables.published,
        primary=primary & tables.published,
        forced=opened & tables.published,
        frozen=kept & tables.published,
        cost=np.where(primary | kept | ~tables.published, 0, np.maximum(counts, 1)),
        least=least_with_parts(
            tables.equations,
            np.asarray(zeros_tell & tables.published & (counts > 0), dtype=np.int64),
        ),
        order=np.arange(counts.size),
        equations=tables.equations,
        values=counts,
    )


def required(
    problem: SuppressionProblem, protection: Protection, alone: Any = None
) -> Requirements:
    return requirements(
        problem.counts,
        problem.primary,
        protection,
        frozen=problem.frozen,
        alone=alone,
        least=problem.least,
    )


def dense(tables: LinkedTables) -> Int64:
    matrix = tables.equations
    full = np.zeros(matrix.shape, dtype=np.int64)
    full[matrix.rows, matrix.columns] = matrix.values
    return full


def interval(
    tables: LinkedTables,
    counts: Int64,
    closed: Mask,
    cell: int,
    least: Int64 | None = None,
    most: Int64 | None = None,
) -> tuple[float, float]:
    """What a linear program of its own says of a closed cell: the others as they are, from 0."""
    from scipy.optimize import linprog

    bounds: list[tuple[float, float | None]] = [(float(count), float(count)) for count in counts]
    for at in np.flatnonzero(closed).tolist():
        low = 0.0 if least is None else float(least[at])
        high = None if most is None or most[at] > 1 << 50 else float(most[at])
        bounds[at] = (low, high)
    ends = []
    goal = np.zeros(counts.size)
    goal[cell] = 1.0
    for sign in (1, -1):
        solved: Any = linprog(
            sign * goal, A_eq=dense(tables), b_eq=np.zeros(tables.equations.shape[0]), bounds=bounds
        )
        if solved.status == 3:
            ends.append(sign * -np.inf)
        else:
            assert solved.status == 0, solved.message
            ends.append(sign * solved.fun)
    return ends[0], ends[1]


def is_protected(
    tables: LinkedTables, problem: SuppressionProblem, asked: Requirements, closed: Mask
) -> bool:
    """Whether every target is as well protected as is asked, for everybody outside."""
    counts = problem.counts
    hidden = closed | ~problem.shown
    for cell in np.flatnonzero(asked.asked).tolist():
        if not hidden[cell]:
            return False
        low, high = interval(tables, counts, hidden, cell, asked.least, asked.most)
        if low > counts[cell] - asked.lower[cell] + 1e-6:
            return False
        if high < counts[cell] + asked.upper[cell] - 1e-6:
            return False
        if high - low < asked.width[cell] - 1e-6:
            return False
    return True


def is_protected_from_insiders(
    tables: LinkedTables, problem: SuppressionProblem, asked: Requirements, closed: Mask
) -> bool:
    """Whether that holds for everybody as well who is alone in a closed cell and knows it."""
    counts = problem.counts
    hidden = closed | ~problem.shown
    persons = np.unique(asked.alone[hidden & (asked.alone >= 0) & problem.shown])
    for person in persons.tolist():
        known = hidden & ~(asked.alone == person)
        for cell in np.flatnonzero(asked.asked & known & (counts > 0)).tolist():
            low, high = interval(tables, counts, known, cell, asked.least, asked.most)
            count = int(counts[cell])
            lower = min(int(asked.lower[cell]), count - 1) if count > 1 else int(asked.lower[cell])
            if low > count - lower + 1e-6 or high < count + asked.upper[cell] - 1e-6:
                return False
            if high - low < 1e-6 and asked.width[cell]:
                return False
    return True
