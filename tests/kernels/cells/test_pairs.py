"""Two-way tables of columns of codes."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from sdcensus.kernels.cells.pairs import two_way_table
from sdcensus.utility.records.pairs import grouped_table


@given(st.integers(0, 60), st.integers(1, 5), st.integers(1, 7), st.integers(0, 99))
def test_tables_are_those_of_a_loop(records: int, rows: int, columns: int, seed: int) -> None:
    generator = np.random.default_rng(seed)
    first = generator.integers(-1, rows, records).astype(np.int16)
    second = generator.integers(-1, columns, records).astype(np.int16)
    weights = generator.integers(1, 9, records) / 4
    counts, sums = np.zeros((rows, columns)), np.zeros((rows, columns))
    for row, column, weight in zip(first, second, weights, strict=True):
        if row >= 0 and column >= 0:
            counts[row, column] += 1
            sums[row, column] += weight
    assert np.array_equal(two_way_table(first, second, (rows, columns)), counts)
    assert np.array_equal(two_way_table(first, second, (rows, columns), weights), sums)
    groups = (generator.integers(0, 2, rows), generator.integers(0, 3, columns))
    coarse = two_way_table(
        np.where(first < 0, -1, groups[0][first]),
        np.where(second < 0, -1, groups[1][second]),
        (2, 3),
    )
    assert np.array_equal(grouped_table(counts, groups, (2, 3)), coarse)
