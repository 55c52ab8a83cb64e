"""What is withheld, measured: by hand on a small table, and against all tables that fit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.model.published.table import Mark, Table
from sdcensus.testing.island import island_cube
from sdcensus.utility.withheld import withheld_cells

CUBE = island_cube("sex", "married", people=40)


def hidden(mask: np.ndarray[tuple[int, ...], np.dtype[np.bool_]]) -> Table:
    flags = np.where(mask, np.uint8(Mark.WITHHELD), np.uint8(0))
    return Table(CUBE.spec, np.where(mask, 0, CUBE.count), flags)


def test_nothing_withheld_costs_nothing() -> None:
    measured = withheld_cells(CUBE, Table(CUBE.spec, CUBE.count.copy()))
    assert measured.withheld == measured.nonzero_withheld == measured.units_withheld == 0
    assert measured.mean_width is None
    assert measured.filled_distance == measured.filled_hellinger == 0
    assert measured.share == measured.share_of_units == 0


def test_one_withheld_cell_is_worked_out_from_its_total() -> None:
    mask = np.zeros(CUBE.shape, dtype=bool)
    mask[0, 0] = True
    measured = withheld_cells(CUBE, hidden(mask))
    assert (measured.withheld, measured.known, measured.mean_width) == (1, 1, 0.0)
    assert measured.units_withheld == CUBE.count[0, 0]
    assert measured.filled_distance == 0


def test_four_withheld_cells_leave_the_smaller_of_two_margins() -> None:
    mask = np.zeros(CUBE.shape, dtype=bool)
    mask[:2, :2] = True
    rows, columns = CUBE.count[:2, 2], CUBE.count[2, :2]
    total = int(CUBE.count[2, 2])
    high = np.minimum.outer(rows, columns)
    low = np.maximum(0, np.add.outer(rows, columns) - total)
    measured = withheld_cells(CUBE, hidden(mask))
    assert measured.mean_width == pytest.approx((high - low).mean())
    middle = (low + high) / 2
    expected = np.abs(middle - CUBE.count[:2, :2]).sum() / (CUBE.count > 0).sum()
    assert measured.filled_distance == pytest.approx(expected)
    assert measured.share_of_units == 1


def test_numbers_that_do_not_add_up_leave_everything_open() -> None:
    mask = np.zeros(CUBE.shape, dtype=bool)
    mask[0, 0] = True
    table = hidden(mask)
    changed = table.published.copy()
    changed[2, 2] += 50
    measured = withheld_cells(CUBE, Table(CUBE.spec, changed, table.flags))
    assert measured.mean_width is None
    assert measured.filled_distance == pytest.approx(
        (CUBE.count[0, 0] + 50) / (CUBE.count > 0).sum()
    )


@given(st.integers(0, (1 << 9) - 1))
def test_withholding_more_never_narrows(number: int) -> None:
    mask = np.array([bool(number >> at & 1) for at in range(9)]).reshape(3, 3)
    less = mask.copy()
    less.reshape(-1)[0] = False
    more, fewer = withheld_cells(CUBE, hidden(mask)), withheld_cells(CUBE, hidden(less))
    assert more.withheld >= fewer.withheld
    assert more.units_withheld >= fewer.units_withheld
    assert repr(more) == "<WithheldCells: confidential>"
