"""Kernels of tabulation: every cell exact, whatever the types of the columns."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.kernels.cells.tabulate import (
    NO_ROW,
    SCATTER,
    Combine,
    add_axis,
    add_groups,
    count,
    count_and_key,
    drop_outside,
    identity,
    inherit,
    regroup,
    start_cells,
    unpack,
)

ROWS = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 2), st.integers(0, 2**32 - 1)), max_size=40
)


@given(ROWS, st.sampled_from([np.uint8, np.uint16, np.uint32]))
def test_cells_are_numbered_in_mixed_radix(
    rows: list[tuple[int, int, int]], width: type[np.unsignedinteger]
) -> None:
    first = np.array([row[0] for row in rows], dtype=width)
    second = np.array([row[1] for row in rows], dtype=width)
    for kind in (np.uint32, np.uint64):
        cells = np.full(len(rows), 99, dtype=kind)
        start_cells(cells, first, np.array([0, 3, 6, 9], dtype=kind))
        add_axis(cells, second, np.array([0, 1, 2], dtype=kind))
        assert cells.tolist() == [row[0] * 3 + row[1] for row in rows]


@given(ROWS)
def test_a_packed_cell_holds_an_exact_count_and_key_sum(rows: list[tuple[int, int, int]]) -> None:
    cells = np.array([row[0] for row in rows], dtype=np.uint32)
    keys = np.array([row[2] for row in rows], dtype=np.uint32)
    packed = np.zeros(4, dtype=np.uint64)
    count_and_key(cells, keys, packed)
    counts, sums = np.empty(4, dtype=np.int64), np.empty(4, dtype=np.uint32)
    unpack(packed, counts, sums, 2**32 - 1)
    assert counts.tolist() == [sum(row[0] == cell for row in rows) for cell in range(4)]
    totals = [sum(row[2] for row in rows if row[0] == cell) for cell in range(4)]
    assert sums.tolist() == [total % 2**32 for total in totals]
    unpack(packed, counts, sums, 255)
    assert sums.tolist() == [total % 256 for total in totals]


def test_a_packed_count_is_exact_up_to_the_largest_census() -> None:
    packed = np.array([2**32 - 2], dtype=np.uint64)  # as if so many had been counted
    count_and_key(np.zeros(1, dtype=np.uint32), np.array([2**32 - 1], dtype=np.uint32), packed)
    counts, keys = np.empty(1, dtype=np.int64), np.empty(1, dtype=np.uint32)
    unpack(packed, counts, keys, 2**32 - 1)
    assert (counts[0], keys[0]) == (2**32 - 1, 2**32 - 1)


@given(ROWS, st.sampled_from(list(SCATTER)))
def test_scattering_combines_what_falls_into_one_cell(
    rows: list[tuple[int, int, int]], combine: Combine
) -> None:
    cells = np.array([row[0] for row in rows], dtype=np.uint32)
    values = np.array([row[2] for row in rows], dtype=np.uint32)
    out = np.full(4, identity(combine, np.uint64), dtype=np.uint64)
    SCATTER[combine](cells, values, out)
    for cell in range(4):
        held = [row[2] for row in rows if row[0] == cell]
        expected = identity(combine, np.uint64)
        for value in held:
            expected = {
                Combine.SUM: expected + value,
                Combine.XOR: expected ^ value,
                Combine.LOW: min(expected, value),
                Combine.HIGH: max(expected, value),
            }[combine]
        assert out[cell] == expected


def test_key_sums_do_not_lose_what_a_float_would() -> None:
    """Two million keys pass 2**53, where doubles skip integers."""
    rows = 2_200_000
    out = np.zeros(1, dtype=np.uint64)
    keys = np.full(rows, 2**32 - 1, dtype=np.uint32)
    SCATTER[Combine.SUM](np.zeros(rows, dtype=np.uint32), keys, out)
    assert int(out[0]) == rows * (2**32 - 1)
    assert int(out[0]) > 2**53


def test_rows_outside_the_universe_fall_into_a_cell_of_their_own() -> None:
    cells = np.array([0, 1, 2, 3], dtype=np.uint32)
    drop_outside(cells, np.array([0, 1, 0, 1], dtype=np.uint32), np.array([True, False]), 9)
    assert cells.tolist() == [0, 9, 2, 9]


def test_counting_needs_no_values() -> None:
    out = np.zeros(3, dtype=np.int64)
    count(np.array([2, 2, 0], dtype=np.uint32), out)
    assert out.tolist() == [1, 0, 2]


@pytest.mark.parametrize("width", ["uint8", "int64"])
def test_a_record_without_a_parent_inherits_the_missing_value(width: str) -> None:
    rows = np.array([1, int(NO_ROW), 0], dtype=np.uint32)
    out = np.empty(3, dtype=width)
    inherit(rows, np.array([5, 6], dtype=width), 99, out)
    assert out.tolist() == [6, 99, 5]


@given(
    st.lists(st.integers(0, 2), min_size=1, max_size=5),
    st.integers(1, 3),
    st.integers(1, 3),
    st.sampled_from(list(SCATTER)),
    st.integers(0, 2**31),
)
def test_regrouping_an_axis_equals_combining_its_slices(
    group: list[int], outer: int, inner: int, combine: Combine, seed: int
) -> None:
    draws = np.random.default_rng(seed)
    cells = draws.integers(0, 100, (outer, len(group), inner)).astype(np.uint64)
    empty = identity(combine, np.uint64)
    merged = regroup(cells, 1, np.array(group), 3, combine, empty)
    join = {
        Combine.SUM: np.add,
        Combine.XOR: np.bitwise_xor,
        Combine.LOW: np.minimum,
        Combine.HIGH: np.maximum,
    }[combine]
    for target in range(3):
        expected = np.full((outer, inner), empty, dtype=np.uint64)
        for position, one in enumerate(group):
            if one == target:
                expected = join(expected, cells[:, position])
        assert np.array_equal(merged[:, target], expected)


def test_subtotals_are_added_in_place() -> None:
    cells = np.array([[[1], [2], [4], [0]]], dtype=np.int64)
    add_groups(cells, np.zeros(3, dtype=np.int64), cells, 3, int(Combine.SUM))
    assert cells.reshape(-1).tolist() == [1, 2, 4, 7]
