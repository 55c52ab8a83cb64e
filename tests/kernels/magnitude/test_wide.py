"""Products and quotients beyond 64 bits against Python's own whole numbers."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.kernels.magnitude.wide import TOO_LARGE, less, product, quotient, rounded_by, scaled

#: Numbers of every width, so that every branch of a long division is met.
NUMBERS = st.integers(0, 64).flatmap(lambda bits: st.integers(0, max((1 << bits) - 1, 0)))
DIVISORS = NUMBERS.filter(bool)


@given(NUMBERS, NUMBERS)
def test_a_product_has_128_bits(first: int, second: int) -> None:
    high, low = product(np.uint64(first), np.uint64(second))
    assert (int(high) << 64) + int(low) == first * second


@given(NUMBERS, NUMBERS, DIVISORS)
def test_a_quotient_is_whole_with_its_remainder(first: int, second: int, divisor: int) -> None:
    high, low = divmod((first << 64) + second, 1 << 64)
    high %= divisor
    whole = quotient(np.uint64(high), np.uint64(low), np.uint64(divisor))
    assert tuple(map(int, whole)) == divmod((high << 64) + low, divisor)


@pytest.mark.parametrize("divisor", [(1 << 63) + 1, (1 << 64) - 1, (1 << 32) + 1, 1 << 63])
def test_quotients_whose_first_digit_is_guessed_too_high(divisor: int) -> None:
    for high in (divisor - 1, divisor - 2, divisor >> 1):
        for low in (0, (1 << 64) - 1, 1 << 63):
            whole = quotient(np.uint64(high), np.uint64(low), np.uint64(divisor))
            assert tuple(map(int, whole)) == divmod((high << 64) + low, divisor)


@given(NUMBERS, NUMBERS, DIVISORS)
def test_scaled_rounds_half_up_and_stops_at_the_largest(
    value: int, factor: int, divisor: int
) -> None:
    expected = (2 * value * factor + divisor) // (2 * divisor)
    result = scaled(np.uint64(value), np.uint64(factor), np.uint64(divisor))
    assert int(result) == min(expected, int(TOO_LARGE))


@given(NUMBERS, NUMBERS, DIVISORS, st.integers(0, 2**32 - 1))
def test_a_draw_below_the_fraction_rounds_up(
    value: int, factor: int, divisor: int, draw: int
) -> None:
    whole, rest = divmod(value * factor, divisor)
    expected = whole + (draw * divisor < rest << 32)
    result = rounded_by(np.uint64(value), np.uint64(factor), np.uint64(divisor), np.uint64(draw))
    if whole >= int(TOO_LARGE):
        assert int(result) == int(TOO_LARGE)
    else:
        assert int(result) == expected


@given(NUMBERS, NUMBERS, NUMBERS, NUMBERS)
def test_products_are_compared_exactly(first: int, second: int, third: int, fourth: int) -> None:
    words = [np.uint64(number) for number in (first, second, third, fourth)]
    assert less(*words) == (first * second < third * fourth)
