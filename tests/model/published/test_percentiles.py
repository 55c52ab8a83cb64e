"""Percentiles are interpolated from published counts of classes, and from nothing else."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.published.figures import AMOUNT_LIMITS, Counted
from sdcensus.model.published.percentiles import (
    check_percent,
    median,
    percentile,
)
from sdcensus.model.published.table import Mark

LOWER, UPPER = [0, 500, 1_000, 2_500], [499, 999, 2_499, None]


def counted(*counts: int) -> Counted:
    return Counted(np.array(counts, dtype=np.int64))


def by_hand(counts: list[int], percent: int) -> Fraction | None:
    """Step by step, in fractions."""
    wanted = Fraction(percent * sum(counts), 100)
    before = 0
    for count, low, high in zip(counts, LOWER, UPPER, strict=True):
        if before + count >= wanted and count:
            if high is None:
                return None
            return low + (wanted - before) / count * (high + 1 - low)
        before += count
    return None


@given(
    st.lists(st.integers(0, 10**6), min_size=4, max_size=4).filter(lambda each: sum(each) > 500),
    st.integers(1, 99),
    st.integers(0, 4),
)
def test_percentiles_are_those_of_fractions(counts: list[int], percent: int, decimals: int) -> None:
    figures = percentile(counted(*counts), LOWER, UPPER, percent, decimals=decimals)
    expected = by_hand(counts, percent)
    if expected is None:
        assert figures.marks == Mark.NOT_AVAILABLE
    elif figures.marks != Mark.NOT_AVAILABLE:
        assert figures.values == round(expected * 10**decimals)


@given(st.lists(st.integers(0, 1_000), min_size=4, max_size=4).filter(lambda each: sum(each) > 99))
def test_percentiles_ascend(counts: list[int]) -> None:
    several = [percentile(counted(*counts), LOWER, UPPER, percent) for percent in range(5, 100, 5)]
    values = [int(each.values) for each in several if each.marks != Mark.NOT_AVAILABLE]
    assert values == sorted(values)


def test_the_median_is_the_percentile_50() -> None:
    counts = counted(30, 50, 20, 7)
    assert median(counts, LOWER, UPPER).values == percentile(counts, LOWER, UPPER, 50).values


@pytest.mark.parametrize("percent", [0, 100])
def test_the_smallest_and_the_largest_value_are_refused(percent: int) -> None:
    with pytest.raises(SpecError, match="somebody's own"):
        percentile(counted(30, 50, 20, 7), LOWER, UPPER, percent)


@pytest.mark.parametrize(
    ("percent", "why"),
    [(-5, "from 1 to 99"), (101, "from 1 to 99"), (2.5, "whole number"), (True, "whole number")],
)
def test_other_percents_are_refused(percent: object, why: str) -> None:
    with pytest.raises(SpecError, match=why):
        check_percent(percent)


def test_a_percentile_needs_enough_on_its_shorter_side() -> None:
    """With 10 behind a median, the percentile 90 needs 5 above it: 50 in all."""
    for percent, enough in ((50, 10), (25, 20), (75, 20), (90, 50), (99, 500)):
        for count, given_ in ((enough, True), (enough - 1, False)):
            figures = percentile(
                counted(count, 0, 0, 0), LOWER, UPPER, percent, limits=AMOUNT_LIMITS
            )
            assert (figures.marks != Mark.NOT_AVAILABLE) == given_
    # Brackets below three times as many, and twice that for a sum of four published counts.
    sure = percentile(counted(300, 0, 0, 0), LOWER, UPPER, 90, limits=AMOUNT_LIMITS)
    less = percentile(counted(299, 0, 0, 0), LOWER, UPPER, 90, limits=AMOUNT_LIMITS)
    assert sure.marks == Mark.NONE
    assert less.marks == Mark.LOW_RELIABILITY


def test_large_numbers_are_exact() -> None:
    people = 3 * 10**12
    counts = counted(people, 3 * people)
    figures = percentile(counts, [0, 10**9], [10**9 - 1, 2 * 10**9], 33, decimals=4)
    exact = 10**9 + Fraction(Fraction(33 * 4 * people, 100) - people, 3 * people) * (10**9 + 1)
    assert figures.values == round(exact * 10**4)
