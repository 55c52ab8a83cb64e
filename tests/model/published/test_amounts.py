"""Means, ratios and differences of amounts are exact functions of published numbers."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.published.amounts import (
    Based,
    Summed,
    difference,
    mean_of_amounts,
    ratio_of_amounts,
    sums_of_amounts,
)
from sdcensus.model.published.figures import (
    AMOUNT_LIMITS,
    DEFAULT_LIMITS,
    Counted,
    FigureLimits,
    Support,
)
from sdcensus.model.published.table import Mark


def counted(*counts: int) -> Counted:
    return Counted(np.array(counts, dtype=np.int64))


def summed(*totals: int, decimals: int = 0) -> Summed:
    return Summed(np.array(totals, dtype=np.int64), decimals)


@given(
    st.integers(-(10**15), 10**15),
    st.integers(10, 10**9),
    st.integers(0, 4),
    st.integers(0, 6),
)
def test_a_mean_is_the_nearest_decimal_of_sum_by_count(
    total: int, count: int, own: int, decimals: int
) -> None:
    figures = mean_of_amounts(summed(total, decimals=own), counted(count), decimals=decimals)
    assert figures.values.tolist() == [round(Fraction(total * 10**decimals, count * 10**own))]
    assert figures.decimals == decimals


def test_a_mean_beyond_64_bits_on_the_way_is_exact_and_too_many_digits_are_refused() -> None:
    total = 9 * 10**18
    figures = mean_of_amounts(summed(total, decimals=2), counted(10**6 + 1), decimals=6)
    assert figures.values.tolist() == [round(Fraction(total * 10**6, 100 * (10**6 + 1)))]
    with pytest.raises(SpecError, match="Take fewer decimals"):
        mean_of_amounts(summed(total), counted(10), decimals=6)


def test_few_units_have_no_mean_and_some_more_have_brackets() -> None:
    figures = mean_of_amounts(summed(*[1_000] * 5), counted(0, 1, 9, 10, 30))
    missing = Mark.NOT_AVAILABLE
    assert figures.marks.tolist() == [missing] * 3 + [Mark.LOW_RELIABILITY, Mark.NONE]
    assert figures.values.tolist() == [0, 0, 0, 1000, 333]
    looser = mean_of_amounts(summed(900), counted(9), limits=DEFAULT_LIMITS.for_amounts(3))
    assert looser.values.tolist() == [1000]


def test_what_stands_for_a_sum_or_a_count_stands_for_the_mean() -> None:
    sums = Summed(np.array([0, 900]), 0, np.array([Mark.WITHHELD, 0], dtype=np.uint8))
    counts = Counted(np.array([90, 90]), np.array([0, Mark.REFUSED], dtype=np.uint8))
    figures = mean_of_amounts(sums, counts)
    assert figures.marks.tolist() == [Mark.WITHHELD, Mark.REFUSED]
    assert not figures.values.any()


def test_limits_of_weighted_means_are_about_records() -> None:
    few = Counted(np.array([5_000]), support=Support.of_records(np.array([4])))
    assert mean_of_amounts(summed(10_000), few).marks.tolist() == [Mark.NOT_AVAILABLE]
    many = Counted(np.array([5_000]), support=Support.of_records(np.array([400])))
    assert mean_of_amounts(summed(10_000), many).values.tolist() == [20]


def test_a_ratio_of_sums_rests_on_both_and_is_not_given_by_nothing() -> None:
    rent, floor = summed(123_450, 500, decimals=2), summed(41_000, 0, decimals=1)
    figures = ratio_of_amounts(rent, floor, (counted(50, 50), counted(60, 60)), decimals=3)
    assert figures.values.tolist() == [round(Fraction(1234_500, 4100)), 0]
    assert figures.marks.tolist() == [0, Mark.NOT_AVAILABLE]
    few = ratio_of_amounts(rent, floor, (counted(50, 50), counted(9, 60)), per=10)
    assert few.marks.tolist() == [Mark.NOT_AVAILABLE, Mark.NOT_AVAILABLE]
    debts = ratio_of_amounts(summed(-600), summed(-60), (counted(40), counted(40)))
    assert debts.values.tolist() == [100]


def based(mean: int, count: int) -> Based:
    counts = counted(count)
    return Based(mean_of_amounts(summed(mean * count), counts, decimals=0), (counts,))


def test_a_difference_has_the_error_of_both_figures() -> None:
    """On 300 units each figure is taken to be off by 6 / 300: sqrt(20² + 20²) = 28 of 1,000."""
    wide, near = (difference(based(1_000 + gap, 300), based(1_000, 300)) for gap in (30, 27))
    assert wide.values.tolist() == [30]
    assert wide.marks.tolist() == [Mark.NONE]
    assert near.values.tolist() == [27]
    assert near.marks.tolist() == [Mark.LOW_RELIABILITY]
    # The error of a small group is the larger one.
    assert difference(based(1_100, 40), based(1_000, 4_000)).marks.tolist() == [
        Mark.LOW_RELIABILITY
    ]
    assert difference(based(1_000, 40), based(1_000, 9)).marks.tolist() == [Mark.NOT_AVAILABLE]
    assert difference(based(900, 4_000), based(1_000, 4_000)).values.tolist() == [-100]


def test_sums_of_few_units_are_not_compared() -> None:
    sums = sums_of_amounts(summed(500, 700, 900), counted(9, 20, 40))
    assert sums.marks.tolist() == [Mark.NOT_AVAILABLE, Mark.LOW_RELIABILITY, Mark.NONE]
    assert sums.values.tolist() == [0, 700, 900]


def test_figures_of_different_digits_are_not_compared() -> None:
    one = Based(mean_of_amounts(summed(100), counted(40), decimals=1), (counted(40),))
    with pytest.raises(SpecError, match="same number of decimals"):
        difference(one, based(10, 40))


def test_limits_of_amounts_are_never_below_those_of_counts() -> None:
    assert FigureLimits(low_below=30, none_below=10) == AMOUNT_LIMITS
    assert DEFAULT_LIMITS.for_amounts(20) == FigureLimits(low_below=60, none_below=20)
    assert FigureLimits(low_below=100).for_amounts(5) == FigureLimits(low_below=100, none_below=5)
    for wrong in (2, 0, -1, 3.5, True):
        with pytest.raises(SpecError, match="at least 3 published units"):
            DEFAULT_LIMITS.for_amounts(wrong)  # type: ignore[arg-type]
