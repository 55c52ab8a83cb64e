"""Lists of the largest contributions: what they hold, and that they merge."""

from __future__ import annotations

import numpy as np
from hypothesis import given, strategies as st

from sdcensus.kernels.cells.packed_entries import Packing
from sdcensus.kernels.cells.ranked import (
    enter_numbers,
    largest_entries,
    merge_axis,
    merge_groups,
    merge_lists,
)
from sdcensus.kernels.cells.tabulate import scale

Entries = list[tuple[int, int]]

#: Cell, contribution, and a second number of the entry; few values, so that many are equal.
ROWS = st.lists(st.tuples(st.integers(0, 2), st.integers(-4, 4), st.integers(0, 2)), max_size=40)
SIZES = st.integers(1, 6)


def _largest(entries: Entries, size: int) -> list[int]:
    ordered = sorted((e for e in entries if e[0]), key=lambda e: (abs(e[0]), *e), reverse=True)
    return [number for entry in (ordered + [(0, 0)] * size)[:size] for number in entry]


def _lists(rows: list[tuple[int, int, int]], size: int) -> np.ndarray:
    lists = np.zeros((3, 2 * size), dtype=np.int64)
    cells = np.array([row[0] for row in rows], dtype=np.uint32)
    entries = np.array([row[1:] for row in rows], dtype=np.int64).reshape(-1, 2)
    largest_entries(cells, entries, lists)
    return lists


@given(ROWS, SIZES)
def test_a_list_holds_the_largest_without_their_signs(
    rows: list[tuple[int, int, int]], size: int
) -> None:
    lists = _lists(rows, size)
    for cell in range(3):
        assert lists[cell].tolist() == _largest([row[1:] for row in rows if row[0] == cell], size)


@given(ROWS, SIZES, st.booleans())
def test_lists_of_packed_entries_hold_the_same(
    rows: list[tuple[int, int, int]], size: int, signed: bool
) -> None:
    """Entered, merged to groups, and turned back into contributions and their second numbers."""
    rows = [(cell, amount if signed else abs(amount), second) for cell, amount, second in rows]
    cells, amounts, seconds = (np.array([row[at] for row in rows], np.int64) for at in range(3))
    packing = Packing.build(4, signed, [2])
    assert packing is not None
    lists = np.zeros((5, size), dtype=np.int64)
    enter_numbers(cells, packing.pack(amounts, [seconds]), lists)
    merge_axis(lists, lists, 1, 5, 5, 1, 0, 1, 0, np.array([1, 0, 1]), 3, 0)
    second = np.zeros(lists.shape, dtype=np.uint32)
    packing.unpack(lists, second)
    moved = [(1 if cell in (0, 2) else 0, *entry) for cell, *entry in rows]
    expected = np.concatenate([_lists(rows, size), _lists(moved, size)[:2]])  # type: ignore[arg-type]
    assert np.array_equal(lists, expected[:, ::2])
    assert np.array_equal(second, expected[:, 1::2])


def test_entries_are_packed_as_long_as_63_bits_hold_them() -> None:
    keys = 2**32 - 1
    for largest, signed in ((2**31 - 1, False), (2**30 - 1, True)):
        packing = Packing.build(largest, signed, [keys])
        assert packing is not None
        assert Packing.build(largest + 1, signed, [keys]) is None
        amounts = np.array([largest, 1, 0], dtype=np.int64) * (-1 if signed else 1)
        numbers = packing.pack(amounts, [np.array([keys, 0, keys], dtype=np.uint32)])
        assert (numbers >= 0).all()
        back = np.zeros(3, dtype=np.uint32)
        packing.unpack(numbers, back)
        assert (numbers.tolist(), back.tolist()) == (amounts.tolist(), [keys, 0, 0])


@given(ROWS, ROWS, SIZES)
def test_merged_lists_are_those_of_everything(
    some: list[tuple[int, int, int]], others: list[tuple[int, int, int]], size: int
) -> None:
    merged = _lists(some, size)
    merge_lists(np.arange(3), _lists(others, size), merged, 2)
    assert np.array_equal(merged, _lists([*others, *some], size))


@given(ROWS, SIZES)
def test_groups_of_an_axis_hold_the_largest_of_their_positions(
    rows: list[tuple[int, int, int]], size: int
) -> None:
    lists = _lists(rows, size).reshape(1, 3, 1, -1)
    target = np.zeros((1, 2, 1, 2 * size), dtype=np.int64)
    merge_groups(lists, np.array([1, 0, 1]), target, 0, 2)
    moved = [(1 if cell in (0, 2) else 0, *entry) for cell, *entry in rows]
    assert np.array_equal(target[0, :, 0], _lists(moved, size)[:2])  # type: ignore[arg-type]


def test_an_amount_times_a_weight_is_rounded_half_away_from_zero() -> None:
    amounts = np.array([5, -5, 5, 10**11, 3], dtype=np.int64)
    weights = np.array([500_000, 500_000, 499_999, 999_999_999_999, 0], dtype=np.int64)
    scaled = np.empty(5, dtype=np.int64)
    scale(amounts, weights, 10**6, scaled)
    assert scaled.tolist() == [3, -3, 2, 99_999_999_999_900_000, 0]
