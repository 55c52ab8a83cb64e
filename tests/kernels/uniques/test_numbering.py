"""Numbers of combinations: exact, in order, without gaps, however many are possible."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.kernels.uniques import numbering
from sdcensus.kernels.uniques.numbering import (
    combined,
    compressed,
    counted,
    group_sizes,
    refined,
)


@given(st.lists(st.integers(0, 1 << 45), max_size=40), st.booleans())
@settings(max_examples=100, deadline=None)
def test_numbers_become_their_ranks(numbers: list[int], shorten: bool) -> None:
    """By bits where they are small, by sorting where they are not."""
    values = np.array([number >> (26 if shorten else 0) for number in numbers], dtype=np.int64)
    rank, known = compressed(values, int(values.max(initial=0)))
    distinct, inverse = np.unique(values, return_inverse=True)
    assert known.tolist() == distinct.tolist()
    assert rank.tolist() == inverse.tolist()


@given(st.integers(0, 200), st.lists(st.integers(1, 300), max_size=8), st.integers(0, 9))
@settings(max_examples=100, deadline=None)
def test_combinations_are_numbered_in_their_order(
    records: int, sizes: list[int], seed: int
) -> None:
    draw = np.random.default_rng(seed)
    columns = [draw.integers(0, size, records).astype(np.uint16) for size in sizes]
    rows = list(zip(*(column.tolist() for column in columns), strict=True)) or [()] * records
    place = {row: at for at, row in enumerate(sorted(set(rows)))}
    number, count = combined(columns, records)
    assert number.tolist() == [place[row] for row in rows]
    assert count == len(place)
    counts = Counter(rows)
    assert group_sizes(columns, records).tolist() == [counts[row] for row in rows]


def test_a_ladder_of_long_columns(monkeypatch: pytest.MonkeyPatch) -> None:
    """As combining all columns anew, also where hardly any bits may be kept."""
    draw = np.random.default_rng(5)
    columns = [draw.integers(0, 5000, 400) * draw.integers(0, 2, 400) for _ in range(7)]
    for always in (numbering._ALWAYS_BITS, 1):
        monkeypatch.setattr(numbering, "_ALWAYS_BITS", always)
        numbers, count = np.zeros(400, dtype=np.int64), 1
        for at, column in enumerate(columns):
            step = refined(numbers, count, column, 5000)
            assert (numbers[np.argsort(step.numbers)] == np.sort(numbers)).all()
            assert (step.parents[step.numbers] == numbers).all()
            assert (step.codes[step.numbers] == column).all()
            numbers, count = step.numbers, step.count
            whole, size = combined(columns[: at + 1], 400)
            assert (numbers == whole).all()
            assert count == size


def test_marked_records_are_counted_alone() -> None:
    numbers = np.array([0, 2, 2, 1, 2])
    assert counted(numbers, 3).tolist() == [1, 1, 3]
    marked = np.array([False, True, False, True, True])
    assert counted(numbers, 3, marked).tolist() == [0, 1, 2]
