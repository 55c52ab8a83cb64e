"""Codes move by whole-number thresholds: as a plain search over cumulated rows would do it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.kernels.keys.siphash import siphash24, siphash24_of_records
from sdcensus.kernels.perturbation.transitions import WHOLE, count_codes, move_codes, thresholds


@given(seed=st.integers(0, 10**9), size=st.integers(1, 9))
def test_codes_move_as_the_cumulated_rows_say(seed: int, size: int) -> None:
    draw = np.random.default_rng(seed)
    cuts = np.sort(draw.integers(0, WHOLE + 1, (size, size - 1)), axis=1)
    edges = np.concatenate([np.zeros((size, 1), int), cuts, np.full((size, 1), WHOLE)], axis=1)
    matrix = np.diff(edges, axis=1)
    stay, ends = thresholds(matrix)
    codes = draw.integers(0, size, 200).astype(np.uint8)
    words = draw.integers(0, 1 << 63, 200).astype(np.uint64) << np.uint64(1)
    rows, after = np.empty(200, dtype=np.int64), np.empty(200, dtype=np.uint8)
    changed = move_codes(words, codes, stay, ends, rows, after)
    moved = codes.copy()
    moved[rows[:changed]] = after[:changed]
    assert (moved != codes).sum() == changed
    for code, word, result in zip(codes.tolist(), words.tolist(), moved.tolist(), strict=True):
        drawn, order = word >> 32, [code, *(other for other in range(size) if other != code)]
        for other in order:
            drawn -= int(matrix[code, other])
            if drawn < 0:
                break
        assert result == other


@pytest.mark.parametrize("size", [0, 1, 3, 4, 1001])
def test_codes_are_counted(size: int) -> None:
    codes = np.random.default_rng(size).integers(0, 7, size).astype(np.uint16)
    counts = np.zeros((4, 7), dtype=np.int64)
    count_codes(codes, counts)
    assert counts.sum(axis=0).tolist() == np.bincount(codes, minlength=7).tolist()


@given(
    st.binary(min_size=16, max_size=16),
    st.lists(st.integers(0, 2**64 - 1), max_size=20),
    st.integers(0, 2**64 - 1),
)
def test_hashing_records_side_by_side_is_hashing_their_words(
    key: bytes, digests: list[int], counter: int
) -> None:
    column = np.array(digests, dtype=np.uint64)
    rows = np.array([[digest, counter] for digest in digests], dtype=np.uint64).reshape(-1, 2)
    assert (siphash24_of_records(key, column, counter) == siphash24(key, rows)).all()
