"""Relative changes of published sums and means, by hand and against plain reckoning."""

from __future__ import annotations

import numpy as np
import pytest

from sdcensus.errors import SpecError
from sdcensus.methods.magnitude.cell_key_sums import CellKeySums
from sdcensus.model.cube.parts import TablePart
from sdcensus.model.published.table import Mark, Table
from sdcensus.testing.island import SECRET, island_cube
from sdcensus.utility.ranks import rank_change
from sdcensus.utility.sums import changes_by_part, changes_in, mean_changes, relative_changes
from tests.methods.magnitude.incomes import income_cube

METHOD = CellKeySums(secret=SECRET)


def test_figures_by_hand() -> None:
    true = np.array([100, -200, 1000, 0, 50])
    published = np.array([101, -190, 1150, 0, 50])
    changes = relative_changes(true, published)
    assert (changes.cells, changes.withheld) == (4, 0)
    assert changes.mean == pytest.approx((0.01 + 0.05 + 0.15 + 0) / 4)
    assert changes.median == pytest.approx(0.03)
    assert changes.bias == pytest.approx((0.01 + 0.05 + 0.15) / 4)
    assert changes.largest == pytest.approx(0.15)
    assert changes.within == (0.5, 0.75, 0.75)
    assert changes.unchanged == 0.25


def test_withheld_cells_stand_apart_and_nothing_is_no_figure() -> None:
    true, published = np.array([100, 200]), np.array([0, 220])
    changes = relative_changes(true, published, np.array([True, False]))
    assert (changes.cells, changes.withheld) == (1, 1)
    assert changes.mean == pytest.approx(0.1)
    empty = relative_changes(np.zeros(3, dtype=np.int64), np.zeros(3, dtype=np.int64))
    assert (empty.cells, empty.mean, empty.within) == (0, None, None)


@pytest.mark.parametrize("signed", [False, True])
def test_parts_of_a_table_add_up(signed: bool) -> None:
    cube = income_cube("area", "sex", people=200, signed=signed)
    table = METHOD.protect(cube).table
    assert isinstance(table, Table)
    changes = dict(changes_by_part(cube, table))
    inside, totals, whole = (
        changes[part] for part in (TablePart.INTERIOR, TablePart.MARGINS, TablePart.ALL)
    )
    assert inside.cells + totals.cells == whole.cells
    assert whole.mean is not None
    assert inside.mean is not None
    assert totals.mean is not None
    assert whole.mean * whole.cells == pytest.approx(
        inside.mean * inside.cells + totals.mean * totals.cells
    )
    everything = np.ones(cube.shape, dtype=bool)
    assert changes_in(cube, table, everything).mean == whole.mean
    # Areas are ranked by sums as well, below zero or not.
    assert rank_change(cube, table).percent is not None


def test_means_move_by_sums_and_by_counts() -> None:
    cube = income_cube("area", people=200)
    sums = Table(cube.spec, cube.values.sum_of("income"))
    counts = Table(cube.spec.records, cube.count)
    exact = mean_changes(cube, sums, counts)
    assert exact.largest == 0
    doubled = mean_changes(cube, sums, Table(cube.spec.records, 2 * cube.count))
    assert doubled.mean == pytest.approx(0.5)
    more = Table(cube.spec, cube.values.sum_of("income") * 11 // 10)
    assert mean_changes(cube, more, counts).mean == pytest.approx(0.1, abs=1e-3)
    # Without a published count there is no mean.
    nobody = Table(cube.spec.records, np.zeros(cube.shape, dtype=np.int64))
    assert mean_changes(cube, sums, nobody).cells == 0
    flags = np.full(cube.shape, Mark.WITHHELD, dtype=np.uint8)
    assert (
        mean_changes(cube, sums, Table(cube.spec.records, 0 * cube.count, flags=flags)).cells == 0
    )


def test_what_does_not_belong_together_is_refused() -> None:
    cube = income_cube("area", people=50)
    sums = Table(cube.spec, cube.values.sum_of("income"))
    with pytest.raises(SpecError, match="published counts of the same cells"):
        mean_changes(cube, sums, sums)
    counts = island_cube("area")
    with pytest.raises(SpecError, match="need a table of sums"):
        changes_by_part(counts, Table(counts.spec, counts.count))
