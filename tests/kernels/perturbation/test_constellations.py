from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.kernels.perturbation.constellations import joint_of_line, joint_of_line_by_keys
from sdcensus.kernels.perturbation.coupling import joint_of_intervals, keys_together


@st.composite
def rows(draw: st.DrawFn) -> tuple[int, list[tuple[int, ...]]]:
    modulus = draw(st.integers(2, 9))
    number = draw(st.integers(1, 4))
    cuts = st.sets(st.integers(1, modulus - 1), max_size=3)
    return modulus, [(*sorted(draw(cuts)), modulus) for _ in range(number + 1)]


@given(rows())
def test_joints_are_those_of_counting_keys(case: tuple[int, list[tuple[int, ...]]]) -> None:
    modulus, ends = case
    *parts, total = ends
    expected = np.zeros([len(end) for end in ends])
    for keys in itertools.product(range(modulus), repeat=len(parts)):
        every = (*keys, sum(keys) % modulus)
        place = tuple(np.searchsorted(end, key, "right") for end, key in zip(ends, every))  # noqa: B905
        expected[place] += 1
    expected /= modulus ** len(parts)
    assert joint_of_line(parts, total, modulus) == pytest.approx(expected, abs=1e-12)
    numbers = [np.searchsorted(end, np.arange(modulus), "right") for end in ends]
    by_keys = joint_of_line_by_keys(numbers[:-1], numbers[-1], expected.shape, modulus)
    assert by_keys == pytest.approx(expected, abs=1e-12)


def test_large_key_spaces_agree_with_whole_numbers() -> None:
    modulus = 2**32
    first, second, third = (10**9, modulus), (7, 2 * 10**9, modulus), (3 * 10**9, modulus)
    total = (5 * 10**8, 10**9, modulus)
    assert joint_of_line([first, second], total, modulus) == pytest.approx(
        joint_of_intervals(first, second, total, modulus), abs=1e-14
    )
    found = joint_of_line([first, second, third, first], total, modulus)
    assert found.sum() == pytest.approx(1, abs=1e-12)
    intervals = [(10**9, modulus), (7, 2 * 10**9), (0, 3 * 10**9), (0, 10**9)]
    exact = keys_together(intervals, (5 * 10**8, 10**9), modulus)
    assert found[1, 1, 0, 0, 1] == pytest.approx(exact / modulus**4, abs=1e-12)
