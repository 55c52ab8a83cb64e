from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.kernels.perturbation.coupling import (
    Interval,
    joint_of_folded_keys,
    joint_of_intervals,
    joint_of_keys,
    keys_together,
)
from tests.kernels.keys.plain_siphash import siphash24_bytes


def intervals(modulus: int) -> st.SearchStrategy[Interval]:
    return st.tuples(st.integers(0, modulus), st.integers(0, modulus)).map(
        lambda pair: (min(pair), max(pair))
    )


def uppers(modulus: int) -> st.SearchStrategy[list[int]]:
    """Ends of the intervals of a row; the last one is the modulus."""
    inner = st.lists(st.integers(1, modulus - 1), max_size=5, unique=True)
    return inner.map(lambda cuts: [*sorted(cuts), modulus])


@st.composite
def lines(draw: st.DrawFn) -> tuple[int, list[Interval], Interval]:
    parts = draw(st.integers(1, 3))
    modulus = draw(st.integers(2, 12))
    chosen = [draw(intervals(modulus)) for _ in range(parts)]
    return modulus, chosen, draw(intervals(modulus))


@given(lines())
def test_keys_that_lie_in_given_intervals_are_counted_exactly(
    drawn: tuple[int, list[Interval], Interval],
) -> None:
    modulus, parts, total = drawn
    found = sum(
        total[0] <= sum(keys) % modulus < total[1]
        for keys in itertools.product(*(range(*part) for part in parts))
    )
    assert keys_together(parts, total, modulus) == found


@st.composite
def rows_of_three(draw: st.DrawFn, modulus: int) -> list[list[int]]:
    return [draw(uppers(modulus)) for _ in range(3)]


@given(st.integers(2, 40).flatmap(lambda one: st.tuples(st.just(one), rows_of_three(one))))
def test_intervals_and_single_keys_give_the_same_probabilities(
    drawn: tuple[int, list[list[int]]],
) -> None:
    modulus, rows = drawn
    first, second, total = rows
    by_interval = joint_of_intervals(first, second, total, modulus)
    numbers = [np.searchsorted(row, np.arange(modulus), side="right") for row in rows]
    by_key = joint_of_keys(*_three(numbers), max(len(row) for row in rows))
    inside = tuple(slice(len(row)) for row in rows)
    assert by_interval == pytest.approx(by_key[inside], abs=1e-15)
    assert by_key.sum() == pytest.approx(1)


def _three(arrays: Sequence[np.ndarray]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    first, second, total = arrays
    return first, second, total


@given(rows_of_three(2**32))
def test_numbers_of_pairs_beyond_64_bits_do_not_matter(rows: list[list[int]]) -> None:
    """On the way numbers wrap around; the counting by parts in Python's integers does not."""
    first, second, total = rows
    joint = joint_of_intervals(first, second, total, 2**32)
    for at in itertools.product(*(range(len(row)) for row in rows)):
        places = [(row[one - 1] if one else 0, row[one]) for row, one in zip(rows, at, strict=True)]
        exact = keys_together(places[:2], places[2], 2**32) / 2**64
        assert joint[at] == pytest.approx(exact, rel=1e-12)


def test_a_row_of_one_interval_holds_everything() -> None:
    assert joint_of_intervals([2**32], [2**32], [2**32], 2**32).tolist() == [[[1.0]]]


def test_folded_keys_are_a_fixed_sample_of_pairs() -> None:
    draws = np.random.default_rng(20060808)
    first, second, total = (draws.integers(0, 3, 256) for _ in range(3))
    found = np.zeros((3, 3, 3))
    for sample in range(500):
        pair = siphash24_bytes(bytes(16), sample.to_bytes(8, "little"))
        left, right = pair >> 32, pair & 0xFFFFFFFF
        keys = [left, right, (left + right) % 2**32]
        one, other, both = (_folded(key) for key in keys)
        found[first[one], second[other], total[both]] += 1
    joint = joint_of_folded_keys(first, second, total, 3, samples=500)
    assert joint == pytest.approx(found / 500)


def _folded(key: int) -> int:
    a, b, c, d = key.to_bytes(4, "little")
    return a ^ b ^ c ^ d
