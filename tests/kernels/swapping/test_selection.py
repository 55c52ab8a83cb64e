"""Systematic selection: exactly so many, each with its probability, and a near miss is noticed."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.kernels.swapping.selection import (
    PARTS,
    certain,
    select_in_proportion,
    shared_out,
    shared_risk,
)

shares = st.lists(st.integers(0, PARTS), min_size=1, max_size=30)


def probabilities(share: list[int], number: int) -> list[Fraction]:
    """By the definition: min(1, n r / sum r), capped again and again, in exact numbers."""
    sure: set[int] = set()
    while True:
        total = sum(size for at, size in enumerate(share) if at not in sure)
        left = number - len(sure)
        more = {
            at for at, size in enumerate(share) if at not in sure and size and size * left >= total
        }
        if not more or left <= 0:
            return [
                Fraction(1)
                if at in sure
                else Fraction(size * max(left, 0), total)
                if total
                else Fraction(0)
                for at, size in enumerate(share)
            ]
        sure |= more


@given(share=shares, number=st.integers(0, 35), draw=st.integers(0, 2**64 - 1))
def test_exactly_so_many_are_selected_and_never_one_without_a_share(
    share: list[int], number: int, draw: int
) -> None:
    chosen = select_in_proportion(np.array(share, dtype=np.int64), number, draw)
    positive = np.array(share) > 0
    assert chosen.sum() == min(number, positive.sum())
    assert not (chosen & ~positive).any()
    wanted = probabilities(share, min(number, int(positive.sum())))
    assert all(chosen[at] for at, chance in enumerate(wanted) if chance == 1)
    assert (certain(np.array(share), number) == [chance == 1 for chance in wanted]).all()


@settings(max_examples=40)
@given(share=st.lists(st.integers(0, 40), min_size=1, max_size=8), number=st.integers(1, 4))
def test_over_all_starts_each_is_selected_with_its_probability(
    share: list[int], number: int
) -> None:
    """A start for each part of the total: the share of starts is the probability itself."""
    wanted = probabilities(share, min(number, sum(size > 0 for size in share)))
    array = np.array(share, dtype=np.int64)
    total = max(int(array[~certain(array, number)].sum()), 1)
    starts = [((2 * start + 1) << 63) // total for start in range(total)]
    hits = sum(select_in_proportion(array, number, start).astype(int) for start in starts)
    assert [Fraction(int(hit), total) for hit in np.asarray(hits)] == wanted


@given(
    groups=st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 20)), min_size=1, max_size=12),
    number=st.integers(0, 100),
    draw=st.integers(0, 2**64 - 1),
)
def test_what_is_shared_out_is_exact_in_sum_near_in_proportion_and_below_the_most(
    groups: list[tuple[int, int]], number: int, draw: int
) -> None:
    share = np.array([size for size, _ in groups], dtype=np.int64)
    most = np.array([limit for _, limit in groups], dtype=np.int64)
    given_out = shared_out(share, number, most, draw)
    room = int(most[share > 0].sum())
    assert given_out.sum() == min(number, room)
    assert ((given_out >= 0) & (given_out <= most)).all()
    assert not given_out[share == 0].any()
    if (share * number < most * share.sum()).all():
        exact = share * number / share.sum()
        assert (np.abs(given_out - exact) < 1).all()


def test_the_risk_of_a_household_is_that_of_the_specification() -> None:
    """Methods, 9.4: counts 2, 4 and 10 give .6625; a unique member gives 1."""
    risk = shared_risk(np.array([0, 0, 0, 1, 1, 3]), np.array([4, 10, 2, 1, 50, 3]), 4)
    assert (risk / PARTS).tolist() == pytest.approx([0.6625, 1.0, 0.0, 1 / 3], abs=1e-8)


@given(
    members=st.lists(st.tuples(st.integers(0, 4), st.integers(1, 10**8)), max_size=40),
    seed=st.integers(0, 1000),
)
def test_the_risk_does_not_depend_on_the_order_of_members(
    members: list[tuple[int, int]], seed: int
) -> None:
    unit = np.array([unit for unit, _ in members], dtype=np.int64)
    count = np.array([count for _, count in members], dtype=np.int64)
    mixed = np.random.default_rng(seed).permutation(unit.size)
    risk = shared_risk(unit, count, 5)
    assert (risk == shared_risk(unit[mixed], count[mixed], 5)).all()
    for number in range(5):
        kept = np.prod(1 - 1 / np.minimum(count[unit == number], 1 << 22))
        assert risk[number] / PARTS == pytest.approx(1 - kept, abs=1e-7)
        assert (risk[number] > 0) == (unit == number).any()
