"""Weighted counts are exact, in whole numbers, and do not tell the number of records."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.kernels.cells.tabulate import weighted_counts
from sdcensus.methods.perturbation.schemes import scheme


def one(count: int, perturbed: int, weight: int, decimals: int) -> int:
    arrays = (np.array([value], dtype=np.int64) for value in (count, perturbed, weight))
    return int(weighted_counts(*arrays, decimals=decimals)[0])


@given(
    st.integers(1, 2**31 - 1),
    st.integers(-50, 50),
    st.integers(0, 10**4),
    st.integers(0, 9),
)
def test_it_is_the_exact_fraction_rounded_half_to_even(
    count: int, deviation: int, mean_weight: int, decimals: int
) -> None:
    perturbed = max(0, count + deviation)
    weight = min(count * (mean_weight * 10**decimals // 100 + 7), 2**62)
    exact = Fraction(perturbed * weight, count * 10**decimals)
    assert one(count, perturbed, weight, decimals) == round(exact)  # Python rounds half to even


def test_halves_go_to_the_even_neighbour() -> None:
    assert [one(1, 1, weight, 1) for weight in (5, 15, 25, 35)] == [0, 2, 2, 4]


def test_an_empty_cell_has_no_weight() -> None:
    assert one(0, 0, 0, 6) == 0


def _records_that_explain(
    published: int, weights: tuple[int, int], largest: int, noise: int
) -> set[int]:
    """Every number of records with these two weights from which a published value can come."""
    found = set()
    for first in range(largest + 1):
        for second in range(largest + 1 - first):
            count = first + second
            if not count:
                continue
            weight = first * weights[0] + second * weights[1]
            for deviation in range(-noise, noise + 1):
                if count + deviation >= 0 and one(count, count + deviation, weight, 6) == published:
                    found.add(count)
    return found


def test_whole_numbers_leave_more_than_one_possible_number_of_records() -> None:
    """An outsider knows both weights and the largest deviation, and still cannot solve for n.

    With decimals instead of whole numbers the same search finds one n for most cells; that is why
    weighted counts are published as whole numbers.
    """
    weights, noise, largest = (9_500_000, 11_300_000), 3, 24
    draw = np.random.default_rng(5)
    for _ in range(12):
        first, second = (int(integer) for integer in draw.integers(1, 9, 2))
        count = first + second
        deviation = int(draw.integers(-min(noise, count - 1), noise + 1))
        weight = first * weights[0] + second * weights[1]
        published = one(count, count + deviation, weight, 6)
        explained = _records_that_explain(published, weights, largest, noise)
        assert count in explained
        assert len(explained) > 1


@pytest.mark.parametrize(
    ("mean", "spread", "lowest", "highest"),
    [(140, 0.0, 0.0, 0.0), (3, 0.4, 0.0, 0.03), (140, 0.4, 0.55, 0.8)],
)
def test_known_weights_that_differ_tell_which_record_stands_in_a_cell(
    mean: float, spread: float, lowest: float, highest: float
) -> None:
    """Where whole numbers fail: the share of shown cells of one record that fit one record only.

    The page about the method states these figures. Equal weights tell nothing.
    """
    draw = np.random.default_rng(1)
    deviations, chances = zip(*scheme("CP3").distribution(1), strict=True)
    likely = np.array([float(chance) for chance in chances])
    alone = shown = 0
    for _ in range(1_500):
        weights = np.rint(100 * mean * np.exp(spread * draw.standard_normal(60))).astype(np.int64)
        noisy = 1 + int(draw.choice(deviations, p=likely / likely.sum()))
        if noisy == 0:
            continue
        shown += 1
        published = one(1, noisy, int(weights[draw.integers(60)]), 2)
        fits = np.zeros(60, dtype=bool)
        for many in range(1, 2 + max(deviations)):
            single = np.ones(60, dtype=np.int64)
            fits |= weighted_counts(single, many * single, weights, decimals=2) == published
        alone += int(fits.sum()) == 1
    assert lowest <= alone / shown <= highest


def test_decimals_would_give_the_number_of_records_away() -> None:
    """The near miss: the same attack on six decimals finds a single n for most cells."""
    weights, noise, largest = (9_500_000, 11_300_000), 3, 24
    draw = np.random.default_rng(5)
    unique = 0
    table: dict[Fraction, set[int]] = {}
    for first in range(largest + 1):
        for second in range(largest + 1 - first):
            count = first + second
            weight = first * weights[0] + second * weights[1]
            for deviation in range(-noise, noise + 1):
                if count and count + deviation >= 0:
                    value = Fraction(round(Fraction((count + deviation) * weight, count)))
                    table.setdefault(value, set()).add(count)
    for _ in range(200):
        first, second = (int(integer) for integer in draw.integers(1, 9, 2))
        count = first + second
        deviation = int(draw.integers(-min(noise, count - 1), noise + 1))
        weight = first * weights[0] + second * weights[1]
        value = Fraction(round(Fraction((count + deviation) * weight, count)))
        unique += len(table[value]) == 1
    assert unique > 100
