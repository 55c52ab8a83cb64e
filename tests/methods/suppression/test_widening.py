"""Primary cells have room, whatever a reader knows: an independent search over whole numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings

from sdcensus.methods.suppression import widening
from sdcensus.methods.suppression.method import Suppression
from sdcensus.model.cube.cube import Accumulators, Cube
from sdcensus.model.linked.atoms import cells_of_atoms, joint_spec
from sdcensus.model.linked.cubes import LinkedCubes
from sdcensus.model.published.protected import Protected
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.session.protect.linked import count_linked
from sdcensus.testing.island import island
from tests.model.linked.test_linked import linked_specs

Mask = npt.NDArray[np.bool_]
Float = npt.NDArray[np.float64]


def closed_cells(linked: LinkedCubes, tables: tuple[Protected, ...]) -> Mask:
    closed = np.zeros(linked.tables.size, dtype=bool)
    for protected, cells in zip(tables, linked.tables.cell_of, strict=True):
        flags = protected.table.held_for("a test").flags
        if flags is not None:
            closed[cells[(flags != 0) & (cells >= 0)]] = True
    return closed


def combinations(linked: LinkedCubes) -> Float:
    """For each cell the combinations of codes that it counts."""
    joint = joint_spec(linked.tables.specs)
    matrix = np.zeros((linked.tables.size, joint.cells))
    for spec, cells in zip(linked.tables.specs, linked.tables.cell_of, strict=True):
        row, cell = cells_of_atoms(joint, np.arange(joint.cells, dtype=np.uint64), spec, cells)
        matrix[cell, row] = 1
    return matrix


def possible(
    linked: LinkedCubes, closed: Mask, matrix: Float, cell: int, alone: int | None = None
) -> tuple[int, int]:
    """The smallest and the largest value for a reader: whole numbers, closed cells not empty.

    Or for somebody who is alone in a closed cell and knows it.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    counts, published = linked.counts, linked.tables.published
    opened = published & ~closed
    known: list[Any] = [LinearConstraint(matrix[opened], counts[opened], counts[opened])]
    known.append(LinearConstraint(matrix[published & closed], 1, np.inf))
    if alone is not None:
        known.append(LinearConstraint(matrix[[alone]], 1, 1))
    ends = []
    for sign in (1, -1):
        solved = milp(
            sign * matrix[cell],
            constraints=known,
            integrality=np.ones(matrix.shape[1]),
            bounds=Bounds(0, 1000),
        )
        assert solved.x is not None
        ends.append(round(sign * solved.fun))
    return ends[0], ends[1]


@settings(max_examples=8)
@given(linked_specs(conditions=False))
def test_empty_cells_that_are_shown_do_not_tell_what_closed_ones_hold(
    specs: list[TableSpec],
) -> None:
    census = island(40)
    linked = count_linked(census, specs)
    closed = closed_cells(linked, Suppression(3).protect_together(linked))
    counts = linked.counts
    primary = np.flatnonzero((counts > 0) & (counts < 3) & linked.tables.published)
    matrix = combinations(linked)
    for cell in primary[:8].tolist():
        low, high = possible(linked, closed, matrix, cell)
        assert low <= counts[cell] <= high
        assert low < high


def row_of_ones() -> Cube:
    """Three ones are all that the first row holds."""
    cube = island(60).tabulate("area@district", "age@class").held_for("a test")
    inner = np.full([size - 1 for size in cube.shape], 8, dtype=np.int64)
    inner[0] = 1
    count = np.zeros(cube.shape, dtype=np.int64)
    count[:-1, :-1] = inner
    count[-1, :-1] = inner.sum(axis=0)
    count[:, -1] = count[:, :-1].sum(axis=1)
    return Cube(cube.spec, cube.origin, Accumulators(count, np.zeros(cube.shape, dtype=np.uint32)))


@pytest.mark.parametrize("most", [widening.MOST_AUDITED, 0])
def test_three_closed_cells_with_a_total_of_three_are_three_ones(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """By programs, and by single sums where there are too many primary cells for programs."""
    monkeypatch.setattr(widening, "MOST_AUDITED", most)
    cube = row_of_ones()
    assert cube.count[0, -1] == 3
    linked = LinkedCubes.of_cube(cube)
    tables = Suppression(3).protect_together(linked)
    closed = closed_cells(linked, tables)
    matrix = combinations(linked)
    for cell in np.flatnonzero(linked.counts == 1).tolist():
        low, high = possible(linked, closed, matrix, cell)
        assert low < high
    said = " ".join(tables[0].audit.remarks)
    assert ("settled by a single sum" in said) is (most == 0)


def test_little_more_is_closed_than_what_holds_the_cells() -> None:
    """The total of the row, and what hides the total."""
    flags = Suppression(3).protect(row_of_ones()).table.held_for("a test").flags
    assert flags is not None
    assert flags[0, -1]
    assert int((flags != 0).sum()) <= 8


def test_who_is_alone_in_a_closed_cell_does_not_learn_another_from_several_sums() -> None:
    census = island(40, seed=2)
    linked = count_linked(census, [census.spec("area@parish", "sex", "married")])
    closed = closed_cells(linked, Suppression(3).protect_together(linked))
    matrix, counts = combinations(linked), linked.counts
    names = {linked.tables.name(cell): cell for cell in range(linked.tables.size)}
    alone = names["area = P2, sex = _T, married = 1"]
    other = names["area = P1, sex = 0, married = 0"]
    assert counts[alone] == counts[other] == 1
    low, high = possible(linked, closed, matrix, other, alone)
    assert low < high
    # Without a thought for them it is left with one value.
    careless = closed_cells(linked, Suppression(3, singles="none").protect_together(linked))
    assert careless.sum() < closed.sum()


@pytest.mark.parametrize("most", [widening.MOST_WHOLE, 0])
def test_what_several_sums_settle_together_is_mended_by_proofs(
    monkeypatch: pytest.MonkeyPatch, most: int
) -> None:
    """Over whole numbers and by programs alone; the same cells every time, and not all of them."""
    monkeypatch.setattr(widening, "MOST_WHOLE", most)
    census = island(40, seed=3)
    linked = count_linked(census, [census.spec("area@parish", "sex", "married")])
    tables = Suppression(3).protect_together(linked)
    closed = closed_cells(linked, tables)
    again = closed_cells(linked, Suppression(3).protect_together(linked))
    assert (again == closed).all()
    counts, published = linked.counts, linked.tables.published
    assert closed.sum() < 0.9 * (published & (counts > 0)).sum()
    matrix = combinations(linked)
    for cell in np.flatnonzero((counts > 0) & (counts < 3) & published).tolist()[::3]:
        low, high = possible(linked, closed, matrix, cell)
        assert low < high
    assert ("linear programs" in " ".join(tables[0].audit.remarks)) is (most == 0)
