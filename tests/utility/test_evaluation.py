"""The evaluation sheet: a row for each table."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.table import Mark, Table
from sdcensus.testing.island import island_cube
from sdcensus.utility.evaluation import Stage, StageFigures, evaluation_row
from tests.utility.made import cubes_with_tables, sparse, two_way


def by_stage(cube: Cube, table: Table) -> dict[tuple[str, bool], StageFigures]:
    row = evaluation_row(1, cube, table)
    return {(stage.stage.value, stage.margins): stage for stage in row.stages}


def test_figures_of_a_small_table_by_hand() -> None:
    cube = two_way([[0, 1], [2, 9]])
    values = cube.count.copy()
    values[0, 1], values[1, 1] = 0, 11
    found = by_stage(cube, Table(cube.spec, values))
    before = found["original", False]
    assert (before.cells, before.zeros, before.total) == (4, 1, 12)
    assert (before.minimum, before.maximum, before.mean, before.median) == (0, 9, 3, 1.5)
    assert (before.unsafe, before.unsafe_share) == (2, 0.5)
    assert (before.mean_change, before.max_change, before.share_equal) == (None, None, None)
    after = found["published", False]
    assert (after.zeros, after.total, after.maximum, after.median) == (2, 13, 11, 1)
    assert (after.unsafe, after.mean_change, after.max_change) == (1, 0.75, 2)
    assert (after.median_change, after.share_equal) == (0.5, 0.5)
    assert found["original", True].cells == 9
    assert found["published", True].share_equal == pytest.approx(7 / 9)


@settings(max_examples=20, deadline=None)
@given(cubes_with_tables(), st.sampled_from([1, 50_000]))
def test_every_figure_is_that_of_numpy(pair: tuple[Cube, Table], times: int) -> None:
    """Also where values are so large that they are kept one by one."""
    cube, table = pair
    flags = np.zeros(cube.shape) if table.flags is None else table.flags
    table = replace(table, published=np.asarray(table.published * times))
    figures = by_stage(cube, table)["published", True]
    values, true = table.published[flags == 0], cube.count[flags == 0]
    change = np.abs(values - true)
    assert (figures.cells, figures.withheld) == (values.size, int((flags != 0).sum()))
    if not values.size:
        return
    assert (figures.zeros, figures.total) == (int((values == 0).sum()), int(values.sum()))
    assert (figures.minimum, figures.maximum) == (values.min(), values.max())
    assert (figures.mean, figures.median) == (values.mean(), np.median(values))
    assert figures.unsafe == int(((values == 1) | (values == 2)).sum())
    assert (figures.mean_change, figures.median_change) == (change.mean(), np.median(change))
    assert (figures.max_change, figures.share_equal) == (change.max(), (change == 0).mean())


def test_unsafe_can_mean_ones_only() -> None:
    cube = two_way([[0, 1], [2, 9]])
    row = evaluation_row(3, cube, Table(cube.spec, cube.count.copy()), unsafe=1)
    assert row.stages[1].unsafe == 1
    assert row.unsafe_up_to == 1
    with pytest.raises(SpecError, match="Unsafe counts"):
        evaluation_row(3, cube, Table(cube.spec, cube.count.copy()), unsafe=0)


@given(cubes_with_tables())
def test_a_sparse_table_has_the_row_of_the_whole_one(pair: tuple[Cube, Table]) -> None:
    cube, table = pair
    whole = evaluation_row(1, cube, table)
    assert evaluation_row(1, *sparse(cube, table)).columns() == pytest.approx(whole.columns())
    values = cube.count[tuple(slice(0, size) for size in cube.spec.base_shape)]
    before = whole.stages[1]
    assert before.median == np.median(values)
    assert before.total == values.sum()


def test_the_row_names_variables_with_their_levels() -> None:
    cube = island_cube("area@parish+district", "sex", "age@class")
    table = Table(cube.spec, cube.count.copy())
    row = evaluation_row(7, cube, table)
    columns = row.columns()
    assert columns["number"] == 7
    assert columns["variables"] == "area@parish+district, sex, age@class"
    assert columns["hierarchy levels"] == "2, 1, 1"
    assert columns["published, without margins: equal to original, share of cells"] == 1
    assert "400" not in repr(row)  # the total
    records = list(row.records())
    assert [(record["stage"], record["margins"]) for record in records] == [
        ("original", "with"),
        ("original", "without"),
        ("published", "with"),
        ("published", "without"),
    ]


def test_a_further_stage_stands_between_original_and_published() -> None:
    cube = two_way([[0, 1], [2, 9]])
    same = Table(cube.spec, cube.count.copy())
    row = evaluation_row(1, cube, same, others=[(Stage.SWAPPED, same)])
    assert [stage.stage for stage in row.stages[::2]] == [
        Stage.ORIGINAL,
        Stage.SWAPPED,
        Stage.PUBLISHED,
    ]


def test_tables_without_interior_have_the_same_headings() -> None:
    cube = island_cube("age@class+half", "sex")
    odd = evaluation_row(1, cube, Table(cube.spec, cube.count.copy()))
    plain = two_way([[1, 2], [3, 4]])
    usual = evaluation_row(2, plain, Table(plain.spec, plain.count.copy()))
    assert list(odd.columns()) == list(usual.columns())
    assert odd.columns()["original, without margins: cells"] is None


def test_withheld_cells_are_counted_and_the_original_is_whole() -> None:
    cube = two_way([[5, 1], [2, 9]])
    flags = np.ones(cube.shape, dtype=np.uint8) * Mark.WITHHELD
    found = by_stage(cube, Table(cube.spec, np.zeros(cube.shape, dtype=np.int64), flags))
    assert found["original", True].cells == 9
    after = found["published", True]
    assert (after.cells, after.withheld) == (0, 9)
    assert after.mean is after.share_equal is after.minimum is None
    assert after.reason == "there is no cell with a number"
