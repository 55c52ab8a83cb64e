"""Narrowing bounds by single rows: never too narrow, and as narrow as a row allows."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.kernels.inference.row_bounds import Narrowed, Rows, narrow_rows

Int64 = npt.NDArray[np.int64]
FREE = 1 << 56


def rows_of(matrix: Int64, lower: Int64, upper: Int64) -> Rows:
    row, column = np.nonzero(matrix)
    order = np.argsort(column, kind="stable")
    starts = np.searchsorted(row, np.arange(matrix.shape[0] + 1))
    first = np.searchsorted(column[order], np.arange(matrix.shape[1] + 1))
    return Rows(starts, column, matrix[row, column], first, row[order], lower, upper)


@given(st.integers(0, 1 << 32))
def test_values_that_fit_stay_inside(seed: int) -> None:
    draw = np.random.default_rng(seed)
    matrix = draw.integers(-2, 3, (draw.integers(1, 5), draw.integers(1, 6)))
    values = draw.integers(-4, 8, matrix.shape[1])
    sums = matrix @ values
    slack = draw.integers(0, 2, sums.size)
    rows = rows_of(matrix, sums - slack, sums + slack)
    lower = np.where(
        draw.random(values.size) < 0.5, values - draw.integers(0, 9, values.size), -FREE
    )
    upper = np.where(
        draw.random(values.size) < 0.7, values + draw.integers(0, 9, values.size), FREE
    )
    low, high = lower.copy(), upper.copy()
    ended = narrow_rows(rows, low, high, FREE, 10_000)
    assert ended in (Narrowed.SETTLED, Narrowed.LIMIT)
    assert ((low <= values) & (values <= high)).all()
    assert ((low >= lower) & (high <= upper)).all()


def test_one_unknown_is_settled_by_its_row() -> None:
    rows = rows_of(np.array([[1, 1, -1]]), np.array([0]), np.array([0]))
    low, high = np.array([4, 0, 9]), np.array([4, FREE, 9])
    assert narrow_rows(rows, low, high, FREE, 100) == Narrowed.SETTLED
    assert (low.tolist(), high.tolist()) == ([4, 5, 9], [4, 5, 9])


def test_factors_are_rounded_inwards() -> None:
    rows = rows_of(np.array([[2], [-3]]), np.array([3, -20]), np.array([11, -7]))
    low, high = np.array([-FREE]), np.array([FREE])
    narrow_rows(rows, low, high, FREE, 100)
    assert (low.tolist(), high.tolist()) == ([3], [5])


@pytest.mark.parametrize("least", [0, 6])
def test_a_row_that_cannot_be_kept_is_named(least: int) -> None:
    matrix = np.array([[1, 0], [1, 1]])
    rows = rows_of(matrix, np.array([3, 0]), np.array([3, 2]))
    low, high = np.array([0, least]), np.array([9, 9])
    assert narrow_rows(rows, low, high, FREE, 100) == 1


def test_bounds_that_creep_end_at_the_limit() -> None:
    rows = rows_of(np.array([[1, -1], [-1, 1]]), np.array([1, 0]), np.array([1, 0]))
    low, high = np.array([0, 0]), np.array([1_000_000, 1_000_000])
    assert narrow_rows(rows, low, high, FREE, 50) == Narrowed.LIMIT
