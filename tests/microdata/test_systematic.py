"""Systematic samples take every unit with exactly the fraction that was asked for."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, strategies as st

from sdcensus.microdata.systematic import drawn_below, order_by_area, places_taken
from tests.microdata.release.designs import draws_of

fractions = st.fractions(min_value=Fraction(1, 40), max_value=1, max_denominator=60)


@given(fraction=fractions, size=st.integers(0, 50))
def test_over_all_starts_every_place_is_taken_as_often_as_the_fraction_says(
    fraction: Fraction, size: int
) -> None:
    times = np.zeros(size, dtype=np.int64)
    for start in range(fraction.denominator):
        places = places_taken(size, fraction, start)
        times[places] += 1
        assert np.unique(places).size == places.size
        assert places.size in {int(size * fraction), -int(-size * fraction // 1)}
    assert (times == fraction.numerator).all()


@given(fraction=fractions, size=st.integers(1, 50), lengths=st.lists(st.integers(1, 9), max_size=9))
def test_every_stretch_has_its_share_rounded_down_or_up(
    fraction: Fraction, size: int, lengths: list[int]
) -> None:
    taken = np.zeros(size, dtype=np.int64)
    taken[places_taken(size, fraction, fraction.denominator // 2)] = 1
    begin = 0
    for length in lengths:
        part = taken[begin : begin + length]
        exact = part.size * fraction
        assert int(exact) <= part.sum() <= -int(-exact // 1)
        begin += length


@given(size=st.integers(0, 300), start=st.integers(0, 2**54))
def test_a_fraction_of_many_digits_is_as_exact(size: int, start: int) -> None:
    fraction = Fraction(0.1)  # a power of two below: sums do not fit 64 bits
    start %= fraction.denominator
    step, whole = fraction.numerator, fraction.denominator
    crossed = [(start + place * step) // whole for place in range(size + 1)]
    expected = [place for place in range(size) if crossed[place] < crossed[place + 1]]
    assert places_taken(size, fraction, start).tolist() == expected


def test_starts_are_drawn_evenly_below_any_limit() -> None:
    for limit in (1, 3, 10, 1 << 64, 3 << 70):
        numbers = [drawn_below(draws_of(secret), limit, 5, 1) for secret in range(600)]
        assert all(0 <= number < limit for number in numbers)
        thirds = np.bincount([3 * number // limit for number in numbers], minlength=3)
        if limit % 3 == 0:
            assert ((thirds - 200) ** 2 / 200).sum() < 18  # 1 in 8,000 by chance


def test_units_of_one_area_stand_together_in_an_order_of_their_own() -> None:
    area = np.array([2, 0, 2, 1, 0, 2])
    words = np.array([5, 9, 5, 1, 3, 1], dtype=np.uint64)
    digests = np.array([8, 1, 7, 2, 3, 4], dtype=np.uint64)
    assert order_by_area(area, words, digests).tolist() == [4, 1, 3, 5, 2, 0]
