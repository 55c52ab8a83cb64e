from __future__ import annotations

import math
from fractions import Fraction

import pytest
from hypothesis import example, given, strategies as st

from sdcensus.kernels.perturbation.entropy import maximum_entropy
from sdcensus.kernels.perturbation.quantise import quantise

#: Key spaces of offices and tools, and primes.
MODULI = (256, 4096, 10**5, 10**8, 2**32, 251, 65_521, 4_294_967_291)

Row = tuple[tuple[int, ...], tuple[Fraction, ...]]


@st.composite
def unbiased_rows(draw: st.DrawFn) -> Row:
    """Mixtures of pairs that balance each other, and of staying: every unbiased row is one."""
    pairs = draw(
        st.lists(st.tuples(st.integers(1, 12), st.integers(1, 12)), min_size=1, max_size=6)
    )
    shares = draw(st.lists(st.integers(1, 1000), min_size=len(pairs), max_size=len(pairs)))
    staying = draw(st.sampled_from([0, 0, 1, 500, 5000]))
    total = sum(shares) + staying
    chances: dict[int, Fraction] = {0: Fraction(staying, total)} if staying else {}
    for (down, up), share in zip(pairs, shares, strict=True):
        chances[-down] = chances.get(-down, Fraction(0)) + Fraction(share * up, total * (down + up))
        chances[up] = chances.get(up, Fraction(0)) + Fraction(share * down, total * (down + up))
    values = tuple(sorted(chances))
    return values, tuple(chances[value] for value in values)


def bias(keys: tuple[int, ...], values: tuple[int, ...]) -> int:
    return sum(value * share for value, share in zip(values, keys, strict=True))


@given(unbiased_rows(), st.sampled_from(MODULI))
@example(((-3, 0, 2), (Fraction(2, 5), Fraction(0), Fraction(3, 5))), 256)
def test_every_key_is_given_out_once(row: Row, modulus: int) -> None:
    values, chances = row
    keys = quantise(chances, values, modulus)
    assert sum(keys) == modulus
    assert min(keys) >= 0


@given(unbiased_rows(), st.sampled_from(MODULI))
@example(((-3, 0, 2), (Fraction(2, 5), Fraction(0), Fraction(3, 5))), 256)
@example(((-1, 2), (Fraction(2, 3), Fraction(1, 3))), 2**32)
def test_the_bias_is_zero_exactly_where_whole_numbers_allow_it(row: Row, modulus: int) -> None:
    values, chances = row
    step = math.gcd(*(value - values[0] for value in values))
    left = bias(quantise(chances, values, modulus), values)
    assert (left == 0) is (values[0] * modulus % step == 0)
    assert abs(left) < step


@given(unbiased_rows(), st.sampled_from(MODULI))
def test_no_probability_changes_by_more_than_the_repair_needs(row: Row, modulus: int) -> None:
    values, chances = row
    largest = max(map(abs, values))
    for share, chance in zip(quantise(chances, values, modulus), chances, strict=True):
        assert abs(Fraction(share, modulus) - chance) <= Fraction(largest**2 + largest + 1, modulus)


@given(st.integers(1, 8), st.integers(1, 8), st.floats(0.1, 0.5), st.sampled_from(MODULI))
def test_rows_of_greatest_entropy_keep_their_shape(
    low: int, high: int, share: float, modulus: int
) -> None:
    values = tuple(range(-low, high + 1))
    row = maximum_entropy(values, variance=share * low * high, rising=low + 1)
    keys = quantise(row.probabilities, values, modulus)
    largest = max(low, high)
    assert sum(keys) == modulus
    assert bias(keys, values) == 0
    for key, chance in zip(keys, row.probabilities, strict=True):
        assert abs(key - chance * modulus) <= largest**2 + largest + 1


def test_diagram_1a_of_the_eclac_study_in_32_bits() -> None:
    """The rows of D=3, V=1.5, stay .4 (ECLAC 2020, Diagram 1A), quantised exactly."""
    third = maximum_entropy(range(-3, 4), variance=1.5, stay=0.4, rising=4)
    assert quantise(third.probabilities, range(-3, 4), 2**32) == (
        *(101692538, 373064993, 813732658, 1717986918),
        *(813732658, 373064993, 101692538),
    )
    first = maximum_entropy(range(-1, 4), variance=1.5, rising=2)
    assert quantise(first.probabilities, range(-1, 4), 2**32) == (
        *(1630674048, 1630674046, 586697868, 296787822, 150133512),
    )


def test_rounding_to_base_three_keeps_a_bias_below_a_key_in_32_bits() -> None:
    # 2**32 leaves 1 when divided by 3, so twice as many keys for -1 as for +2 is impossible.
    keys = quantise((Fraction(2, 3), Fraction(1, 3)), (-1, 2), 2**32)
    assert keys == (2863311531, 1431655765)
    assert bias(keys, (-1, 2)) == -1
    assert bias(quantise((Fraction(2, 3), Fraction(1, 3)), (-1, 2), 3 * 2**20), (-1, 2)) == 0


def test_equal_remainders_go_to_the_lower_deviation() -> None:
    assert quantise((0.25, 0.25, 0.25, 0.25), (-3, -1, 1, 3), 6, unbiased=False) == (2, 2, 1, 1)


def test_a_sum_that_is_off_by_a_rounding_error_does_no_harm() -> None:
    for error in (1e-10, -1e-10):
        keys = quantise((0.25, 0.5 + error, 0.25), (-1, 0, 1), 2**32)
        assert sum(keys) == 2**32
        assert keys[0] == keys[2]


@pytest.mark.parametrize("modulus", MODULI)
def test_a_declared_bias_is_left_alone(modulus: int) -> None:
    keys = quantise((0.5, 0.5), (0, 1), modulus, unbiased=False)
    assert sum(keys) == modulus
    assert abs(keys[0] - keys[1]) <= 1
