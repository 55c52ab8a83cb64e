"""The evaluation of delivered cells agrees with the one of whole tables."""

from __future__ import annotations

from dataclasses import asdict

import numpy as np
import pytest
from hypothesis import given, settings

from sdcensus.model.cube.cube import Cube
from sdcensus.model.published.delivery import DeliveredAxis, delivered_axis
from sdcensus.model.published.table import Table
from sdcensus.testing.island import island_cube
from sdcensus.utility.delivered_evaluation import delivered_evaluation
from sdcensus.utility.evaluation import evaluation_row
from tests.utility.made import cubes_with_tables


@settings(deadline=None)
@given(cubes_with_tables())
def test_every_figure_is_that_of_the_sheet_of_assessments(pair: tuple[Cube, Table]) -> None:
    cube, table = pair
    if not all(axis.base_is_shown for axis in cube.spec.axes):
        return
    axes = [delivered_axis(axis) for axis in cube.spec.axes]
    if any(len(axis.levels) > 1 for axis in cube.spec.axes):
        return  # a code without leaves is a leaf of a delivered axis, and no interior cell
    row = delivered_evaluation(cube.spec.title, cube, table, axes)
    expected = evaluation_row(0, cube, table)
    for mine, theirs in zip(row.stages, expected.stages, strict=True):
        assert asdict(mine) == pytest.approx(asdict(theirs), nan_ok=True) or mine == theirs


def test_a_code_that_is_delivered_once_is_counted_once() -> None:
    cube = island_cube("sex")
    axis = delivered_axis(cube.spec.axes[0])
    once = DeliveredAxis(
        column="S",
        label=axis.label,
        positions=np.array([0, 1]),
        codes=axis.codes[:2],
        labels=axis.labels[:2],
        levels=axis.levels[:2],
        parents=(-1, -1),
    )
    table = Table(cube.spec, cube.count.copy())
    row = delivered_evaluation("sexes", cube, table, [once])
    published = [stage for stage in row.stages if stage.stage == "published"]
    assert [one.cells for one in published] == [2, 2]
    assert published[0].total == int(cube.count[:2].sum())
    assert published[0].share_equal == 1
