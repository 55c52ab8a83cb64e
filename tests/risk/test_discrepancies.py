from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from sdcensus.model.cube.constraints import constraints
from sdcensus.model.published.gaps import gaps
from sdcensus.model.published.table import Table
from sdcensus.risk.discrepancies import (
    margins_that_do_not_add_up,
    misprints,
)
from sdcensus.testing.island import island_cube
from sdcensus.testing.printed_tables import printed_spec, printed_table, printed_variable

CUBE = island_cube("area@parish+district", "sex", "age@class", people=300)


def test_true_counts_add_up() -> None:
    table = Table(CUBE.spec, CUBE.count.copy())
    assert len(margins_that_do_not_add_up(table)) == 0
    assert misprints(table) is None
    found = gaps(table).from_interior
    assert found is not None
    assert not found.any()


@given(st.lists(st.integers(-3, 3), min_size=CUBE.count.size, max_size=CUBE.count.size))
def test_discrepancies_are_the_constraints_that_do_not_hold(noise: list[int]) -> None:
    values = CUBE.count + np.array(noise).reshape(CUBE.shape)
    found = margins_that_do_not_add_up(Table(CUBE.spec, values))
    rows = constraints(CUBE.spec).times(values.reshape(-1))
    assert sorted((-found.amounts).tolist()) == sorted(rows[rows != 0].tolist())


@given(st.integers(0, CUBE.count.size - 1), st.integers(1, 40))
def test_a_single_misprint_is_found_and_corrected(cell: int, error: int) -> None:
    values = CUBE.count.copy().reshape(-1)
    values[cell] += error
    table = Table(CUBE.spec, values.reshape(CUBE.shape))
    right = misprints(table)
    assert right is not None
    assert (right.published == CUBE.count).all()


def test_a_single_row_cannot_say_which_cell_is_wrong() -> None:
    spec = printed_spec(printed_variable("sex", ("M", "F")))
    table = printed_table(spec, [3, 4, 8])
    assert misprints(table) is None
    assert margins_that_do_not_add_up(table).sentences() == (
        "Total: the total is 1 more than its parts by Sex add up to.",
    )


def test_withheld_cells_are_not_taken_for_zero() -> None:
    spec = printed_spec(printed_variable("sex", ("M", "F")))
    table = Table(spec, np.array([0, 4, 8]), np.array([1, 0, 0], dtype=np.uint8))
    assert len(margins_that_do_not_add_up(table)) == 0
    assert gaps(table).from_interior is None


def test_tables_without_axes_have_no_margins() -> None:
    table = printed_table(printed_spec(), [5])
    assert len(margins_that_do_not_add_up(table)) == 0
    assert misprints(table) is None
