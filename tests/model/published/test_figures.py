"""Figures from published counts: exact, never above the whole, with marks where they belong."""

from __future__ import annotations

import math
import statistics
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.published.figures import (
    Counted,
    FigureLimits,
    mean,
    quotient,
    rounded,
)
from sdcensus.model.published.percentiles import median
from sdcensus.model.published.table import Mark

counts = st.integers(0, 1_000_000)


def counted(*values: int) -> Counted:
    return Counted(np.array(values, dtype=np.int64))


@given(counts, counts, st.integers(0, 4))
def test_a_share_is_the_nearest_decimal_and_never_above_the_whole(
    part: int, whole: int, decimals: int
) -> None:
    figures = quotient(counted(part), counted(whole), decimals=decimals, share=True)
    value, mark = int(figures.values[0]), Mark(int(figures.marks[0]))
    if whole < 3:
        assert (value, mark) == (0, Mark.NOT_AVAILABLE)
        return
    exact = min(Fraction(100 * part, whole), Fraction(100)) * 10**decimals
    assert value == round(exact)
    assert value <= 100 * 10**decimals
    low = part < 10 or whole < 10
    assert mark is (Mark.LOW_RELIABILITY if low else Mark.NONE)


def test_a_ratio_may_be_above_its_base() -> None:
    figures = quotient(counted(1040), counted(1000), per=100, decimals=1)
    assert (figures.values.tolist(), figures.marks.tolist()) == ([1040], [Mark.NONE])


def test_what_stands_for_a_count_stands_for_the_figure() -> None:
    marked = Counted(np.array([0, 50]), np.array([Mark.REFUSED, 0], dtype=np.uint8))
    figures = quotient(marked, counted(100, 100), share=True)
    assert figures.marks.tolist() == [Mark.REFUSED, Mark.NONE]
    assert figures.values.tolist() == [0, 500]


def reliable(*parts: int) -> bool:
    """Whether a sum carries a figure: by what it is the sum of, in the simplest words."""
    whole, small = sum(parts), sum(part for part in parts if part < 10)
    return whole >= 10 * math.sqrt(len(parts)) and small < whole / 2


@given(
    st.lists(st.integers(0, 40), min_size=1, max_size=12),
    st.lists(st.integers(0, 40), min_size=1, max_size=12),
)
def test_figures_of_small_parts_have_brackets(above: list[int], below: list[int]) -> None:
    """A sum of many small counts is no large count: each of them brings its own error."""
    top, bottom = counted(*above).summed(), counted(*below).summed()
    figures = quotient(top, bottom, decimals=0)
    mark = Mark(int(figures.marks))
    if sum(below) < 3:
        assert mark is Mark.NOT_AVAILABLE
    else:
        sound = reliable(*above) and reliable(*below)
        assert mark is (Mark.NONE if sound else Mark.LOW_RELIABILITY)


@given(st.lists(st.integers(0, 60), min_size=3, max_size=20))
def test_means_and_medians_of_small_classes_have_brackets(classes: list[int]) -> None:
    bounds = range(len(classes))
    for figure in (mean, median):
        made = figure(counted(*classes), bounds, bounds)
        mark = Mark(int(made.marks))
        if sum(classes) < 3:
            assert mark is Mark.NOT_AVAILABLE
        else:
            assert mark is (Mark.NONE if reliable(*classes) else Mark.LOW_RELIABILITY)


def test_sums_of_sums_rest_on_all_their_parts() -> None:
    inner = Counted(np.array([[9, 9, 30], [9, 9, 9]])).summed()
    assert inner.low().tolist() == [False, True]
    whole = inner.summed()
    assert whole.support is not None
    assert (int(whole.support.parts), int(whole.support.small)) == (6, 45)
    assert whole.low().tolist() is True


@given(st.lists(st.integers(0, 90), min_size=3, max_size=60))
def test_the_median_lies_in_the_class_of_the_middle(ages: list[int]) -> None:
    classes = np.bincount(ages, minlength=91)
    figures = median(Counted(classes), range(91), range(91), decimals=2)
    low, high = statistics.median_low(ages), statistics.median_high(ages)
    assert low * 100 <= int(figures.values) <= (high + 1) * 100


def test_the_median_within_a_class_is_spread_evenly() -> None:
    """12 people in 0-9 and 28 in 10-19: the 20th stands 8/28 of the way through the second."""
    figures = median(counted(12, 28), [0, 10], [9, 19], decimals=3)
    assert int(figures.values) == round(Fraction(10_000) + Fraction(8, 28) * 10_000)


def test_a_median_in_a_class_without_an_end_is_not_given() -> None:
    figures = median(counted(1, 20), [0, 65], [64, None])
    assert figures.marks.tolist() == Mark.NOT_AVAILABLE


def test_the_mean_takes_the_middle_of_classes() -> None:
    figures = mean(counted(10, 30), [1, 3], [2, 5], decimals=2)
    assert int(figures.values) == round(100 * (10 * 1.5 + 30 * 4) / 40)


@given(st.integers(-(10**9), 10**9), st.integers(1, 10**6))
def test_rounding_is_half_to_even(above: int, below: int) -> None:
    assert int(rounded(np.array([above]), np.array([below]))[0]) == round(Fraction(above, below))


def test_limits_and_digits_that_make_no_sense_are_refused() -> None:
    with pytest.raises(SpecError):
        FigureLimits(low_below=2, none_below=5)
    with pytest.raises(SpecError, match="behind the point"):
        quotient(counted(1), counted(1), decimals=9)
    with pytest.raises(SpecError, match="per a whole number"):
        quotient(counted(1), counted(1), per=0)


@pytest.mark.parametrize("people", [10**3, 10**9, 3 * 10**9])
def test_large_numbers_of_many_people_are_exact(people: int) -> None:
    """Beyond 64 bits on the way: a figure of large codes is right, or refused."""
    lower, upper = [10**9, 2 * 10**9], [10**9, 2 * 10**9]
    made = mean(counted(people, 3 * people), lower, upper, decimals=4)
    assert int(made.values) == 1_750_000_000 * 10**4
    middle = median(counted(people, 3 * people), lower, upper, decimals=4)
    assert int(middle.values) == round((2 * 10**9 + Fraction(1, 3)) * 10**4)
    with pytest.raises(SpecError, match="do not fit"):
        mean(counted(people), [10**14], [10**14], decimals=6)
