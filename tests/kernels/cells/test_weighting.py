"""Weighted counts are exact, in whole numbers, and do not tell the number of records."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, strategies as st

from sdcensus.kernels.cells.tabulate import weighted_counts


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
