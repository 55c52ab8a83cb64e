"""Tables that are found fit, and the bounds that they reach are reached."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
from hypothesis import given, strategies as st

from sdcensus.kernels.inference.whole_tables import CellBounds, Sums, reach, repair

Int64 = npt.NDArray[np.int64]


def sums_of(matrix: Int64) -> Sums:
    """Sums from a matrix of zeros and ones: sums by cells."""
    rows, cells = np.nonzero(matrix)
    by_cell, sums = np.nonzero(matrix.T)
    starts = np.searchsorted(rows, np.arange(matrix.shape[0] + 1))
    first = np.searchsorted(by_cell, np.arange(matrix.shape[1] + 1))
    return Sums(*(one.astype(np.int64) for one in (starts, cells, first, sums)))


@st.composite
def cases(draw: st.DrawFn) -> tuple[Int64, CellBounds]:
    """Four cells, each a sum of its own, and four sums; some table fits."""
    seed = draw(st.integers(0, 1 << 32))
    generator = np.random.default_rng(seed)
    matrix = np.vstack([np.eye(4, dtype=np.int64), generator.integers(0, 2, (4, 4))])
    true = generator.integers(0, 4, 4)
    slack = generator.integers(0, 2, (2, 8))
    lower, upper = matrix @ true - slack[0], matrix @ true + slack[1]
    return matrix, CellBounds(np.maximum(lower[:4], 0), upper[:4], np.maximum(lower, 0), upper)


def fitting(matrix: Int64, bounds: CellBounds) -> Int64:
    """The sums of all tables that fit."""
    ranges = [range(low, high + 1) for low, high in zip(bounds.least, bounds.most, strict=True)]
    sums = np.array(list(itertools.product(*ranges)), dtype=np.int64) @ matrix.T
    return sums[((sums >= bounds.lower) & (sums <= bounds.upper)).all(axis=1)]


@given(cases())
def test_a_table_is_found_and_bounds_are_reached_where_a_table_reaches_them(
    case: tuple[Int64, CellBounds],
) -> None:
    matrix, bounds = case
    sums = sums_of(matrix)
    values = bounds.least.copy()
    assert repair(values, sums, bounds, 100_000)
    found = matrix @ values
    assert ((found >= bounds.lower) & (found <= bounds.upper)).all()
    every = fitting(matrix, bounds)
    smallest, largest = np.full(8, 1 << 50), np.full(8, -1)
    reach(values, sums, bounds, np.arange(8), smallest, largest, 100_000)
    found = matrix @ values
    assert ((found >= bounds.lower) & (found <= bounds.upper)).all()
    # What is said to be reached is reached by a table; bounds that can be reached are.
    for one in range(8):
        assert smallest[one] in every[:, one]
        assert largest[one] in every[:, one]
        assert (smallest[one] == bounds.lower[one]) == (every[:, one].min() == bounds.lower[one])
        assert (largest[one] == bounds.upper[one]) == (every[:, one].max() == bounds.upper[one])


def test_where_no_table_fits_none_is_found() -> None:
    # Two of three cells are 1 together, for every two: halves, but no whole numbers.
    matrix = np.array([[1, 1, 0], [0, 1, 1], [1, 0, 1]])
    bounds = CellBounds(
        np.zeros(3, dtype=np.int64),
        np.full(3, 9),
        np.ones(3, dtype=np.int64),
        np.ones(3, dtype=np.int64),
    )
    assert not repair(np.zeros(3, dtype=np.int64), sums_of(matrix), bounds, 10_000)


def test_a_sum_far_away_is_reached_in_large_steps() -> None:
    matrix = np.ones((1, 2), dtype=np.int64)
    far = np.array([10**6])
    bounds = CellBounds(np.zeros(2, dtype=np.int64), np.full(2, 10**7), far, far)
    values = np.zeros(2, dtype=np.int64)
    assert repair(values, sums_of(matrix), bounds, 1000)
    assert values.sum() == 10**6
