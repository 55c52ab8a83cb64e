"""Sorting records into cells of a grid that is too large to hold."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from sdcensus.kernels.cells.sparse import Runs, sort_cells
from sdcensus.kernels.cells.tabulate import SCATTER, Combine, identity

LARGEST = st.sampled_from([1, 7, 2**11 - 1, 2**11, 2**22, 2**33, 2**63 - 1])


@given(st.data(), LARGEST)
def test_sorting_is_stable_and_keeps_the_given_cells(data: st.DataObject, largest: int) -> None:
    numbers = data.draw(st.lists(st.integers(0, largest), max_size=60))
    cells = np.array(numbers, dtype=np.uint64)
    before = cells.copy()
    ordered, order = sort_cells(cells, largest=largest)
    assert np.array_equal(cells, before)
    expected = np.argsort(before, kind="stable")
    assert np.array_equal(order, expected)
    assert np.array_equal(ordered, before[expected])


@given(st.lists(st.tuples(st.integers(0, 3), st.integers(0, 40)), max_size=80), st.integers(0, 3))
def test_long_numbers_that_agree_in_their_upper_digits_are_sorted_too(
    parts: list[tuple[int, int]], spread: int
) -> None:
    cells = np.array([((high * spread) % 4 << 62) + low for high, low in parts], dtype=np.uint64)
    ordered, order = sort_cells(cells, largest=2**64 - 1)
    expected = np.argsort(cells, kind="stable")
    assert np.array_equal(order, expected)
    assert np.array_equal(ordered, cells[expected])


@given(st.data(), LARGEST, st.sampled_from(list(SCATTER)))
def test_runs_combine_the_members_of_each_cell(
    data: st.DataObject, largest: int, combine: Combine
) -> None:
    some = st.tuples(st.integers(0, largest), st.integers(0, 2**32 - 1))
    rows = data.draw(st.lists(some, max_size=60))
    runs = Runs(np.array([cell for cell, _ in rows], dtype=np.uint64), largest=largest)
    values = np.array([value for _, value in rows], dtype=np.uint64)
    empty = identity(combine, np.uint64)
    found = dict(
        zip(runs.cells.tolist(), runs.combine(values, combine, empty=empty).tolist(), strict=True)
    )
    expected: dict[int, int] = {}
    for cell, value in rows:
        held = expected.get(cell, empty)
        expected[cell] = {
            Combine.SUM: held + value,
            Combine.XOR: held ^ value,
            Combine.LOW: min(held, value),
            Combine.HIGH: max(held, value),
        }[combine]
    assert found == expected
    assert runs.cells.tolist() == sorted(expected)
    members = [sum(cell == one for cell, _ in rows) for one in sorted(expected)]
    assert runs.sizes.tolist() == members


def test_no_records_have_no_cells() -> None:
    runs = Runs(np.zeros(0, dtype=np.uint64), largest=10)
    assert runs.cells.size == 0
    assert runs.sizes.size == 0
    values = runs.combine(np.zeros(0, dtype=np.int64), Combine.SUM, empty=0)
    assert values.size == 0
    assert values.dtype == np.int64
