from __future__ import annotations

import numpy as np
import pytest

from sdcensus.errors import SpecError
from sdcensus.methods.suppression.method import Suppression
from sdcensus.methods.suppression.rules import (
    any_of,
    fewer_than,
    group_disclosure,
    primary_cells,
    small_areas,
)
from sdcensus.model.cube.cube import Accumulators, Cube
from sdcensus.session.protect.linked import count_linked
from sdcensus.testing.island import island

ISLAND = island(60)


def cube_of(rows: list[list[int]]) -> Cube:
    """A table of districts (three) by marital status (two), with both totals."""
    base = ISLAND.tabulate("area@district", "married").held_for("a test")
    inner = np.array(rows, dtype=np.int64)
    count = np.zeros(base.shape, dtype=np.int64)
    count[:-1, :-1] = inner
    count[-1, :-1] = inner.sum(axis=0)
    count[:, -1] = count[:, :-1].sum(axis=1)
    return Cube(base.spec, base.origin, Accumulators(count, base.key.copy()))


def test_minimum_frequency() -> None:
    cube = cube_of([[0, 2], [3, 9], [1, 4]])
    assert np.argwhere(fewer_than(3)(cube)).tolist() == [[0, 1], [0, 2], [2, 0]]
    assert fewer_than(3, zeros=True)(cube)[0, 0]


def test_a_whole_group_in_one_cell_is_closed_with_the_empty_cells_beside_it() -> None:
    """A line with everybody in one cell: the cell and the zero are closed, other lines are not."""
    cube = cube_of([[0, 5], [3, 9], [4, 4]])
    assert np.argwhere(group_disclosure(0, ["married"])(cube)).tolist() == [[0, 0], [0, 1]]
    both = np.argwhere(group_disclosure(3, ["married"])(cube)).tolist()
    assert both == [[0, 0], [0, 1], [1, 0], [1, 1]]


def test_areas_below_a_population() -> None:
    cube = cube_of([[0, 5], [3, 9], [4, 4]])
    closed = small_areas(8)(cube)
    assert np.argwhere(closed).tolist() == [[0, 1], [0, 2]]


def test_rules_are_put_together() -> None:
    cube = cube_of([[0, 2], [3, 9], [1, 4]])
    rule = any_of(fewer_than(3), small_areas(13), unless=lambda table: table.count == 1)
    expected = (fewer_than(3)(cube) | small_areas(13)(cube)) & (cube.count != 1)
    assert (rule(cube) == expected).all()


def test_a_cell_is_primary_if_a_rule_holds_in_one_of_the_tables() -> None:
    linked = count_linked(ISLAND, [ISLAND.spec("area", "sex"), ISLAND.spec("area")])
    first, second = linked.tables.cell_of
    only = linked.cubes[1].spec

    def rule(cube: Cube) -> np.ndarray[tuple[int, ...], np.dtype[np.bool_]]:
        return np.full(cube.shape, cube.spec == only)

    primary = primary_cells(linked, rule)
    assert primary[second].all()
    assert primary[first[:, -1]].all()
    assert not primary[first[:, 0]].any()


def test_a_rule_about_a_variable_holds_in_the_tables_that_show_it() -> None:
    """Tables that are protected together need not all have areas, or the axes of groups."""
    census = island(60)
    specs = [census.spec("area@parish", "sex"), census.spec("sex", "married")]
    linked = count_linked(census, specs)
    method = Suppression(1, population=9, group=0, group_axes=("married",))
    first, _ = method.protect_together(linked)
    assert first.table.held_for("a test").flags is not None
    alone = count_linked(census, specs[1:])
    with pytest.raises(SpecError, match="no axis of the table is a geography"):
        method.protect_together(alone)
    with pytest.raises(SpecError, match="no axis 'marred'"):
        Suppression(3, group=0, group_axes=("marred",)).protect_together(linked)
