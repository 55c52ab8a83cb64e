from __future__ import annotations

from fractions import Fraction
from functools import cache

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.kernels.perturbation.quantise import quantise
from sdcensus.kernels.perturbation.unit_deviations import (
    MOST_UNITS,
    distinct_counts,
    most_changed,
    unit_probabilities,
    unit_row,
)


@cache
def by_convolution(units: int, count: int) -> dict[int, Fraction]:
    """Unit after unit, as the method is defined."""
    stay = Fraction(0) if count <= units else 1 - Fraction(units, count)
    unit = {-1: Fraction(2, 3) * (1 - stay), 0: stay, 2: Fraction(1, 3) * (1 - stay)}
    sums = {0: Fraction(1)}
    for _ in range(count):
        longer: dict[int, Fraction] = {}
        for before, chance in sums.items():
            for step, share in unit.items():
                if share:
                    at = before + step
                    longer[at] = longer.get(at, Fraction(0)) + chance * share
        sums = longer
    return dict(sorted(sums.items()))


CASES = [(units, count) for units in (1, 2, 3, 4, 6) for count in (1, 2, 3, 4, 5, 7, 12, 30)]


@pytest.mark.parametrize(("units", "count"), CASES)
def test_probabilities_are_those_of_units_drawn_one_by_one(units: int, count: int) -> None:
    exact, found = by_convolution(units, count), unit_probabilities(units, count)
    assert list(found) == sorted(found)
    none = Fraction(0)
    off = [float(exact.get(v, none) - found.get(v, none)) for v in {*exact, *found}]
    assert sum(map(abs, off)) < 2**-47
    if count <= units:
        assert found == exact


@pytest.mark.parametrize(("units", "count"), CASES)
def test_rows_are_the_probabilities_in_whole_numbers_of_keys(units: int, count: int) -> None:
    exact = by_convolution(units, count)
    widths = quantise(list(exact.values()), list(exact), 2**32)
    expected = {value: width for value, width in zip(exact, widths, strict=True) if width}
    assert as_dict(units, count) == expected


def as_dict(units: int, count: int) -> dict[int, int]:
    row = unit_row(units, count)
    return {row.lowest + at: width for at, width in enumerate(row.widths.tolist()) if width}


def test_known_distributions() -> None:
    """With x = 2, a count of 1 becomes 0 or 3, and a count of 2 becomes 0, 3 or 6."""
    third = Fraction(1, 3)
    assert unit_probabilities(2, 0) == {0: 1}
    assert unit_probabilities(2, 1) == {-1: 2 * third, 2: third}
    assert unit_probabilities(2, 2) == {-2: 4 * third**2, 1: 4 * third**2, 4: third**2}


@given(
    st.integers(1, MOST_UNITS), st.integers(1, 60) | st.integers(500, 530) | st.integers(1, 10**9)
)
def test_unbiased_with_the_known_variance_and_never_negative(units: int, count: int) -> None:
    row = as_dict(units, count)
    assert sum(row.values()) == 2**32
    mean = sum(value * width for value, width in row.items())
    # Deviations three apart cannot always balance 2**32 keys.
    assert abs(mean) < 3 if count <= units else mean == 0
    variance = sum(value**2 * width for value, width in row.items()) / 2**32
    assert variance == pytest.approx(2 * min(count, units), abs=1e-5)
    assert count + min(row) >= 0


def test_fractions_and_powers_agree_where_they_meet() -> None:
    """Below and above the count from which powers are in fixed point, probabilities go on."""
    for units in (1, 2, 6, MOST_UNITS):
        below, at, above = (unit_probabilities(units, count) for count in (511, 512, 513))
        for value, chance in at.items():
            # Smooth in 1/count: the middle one lies between its neighbours, but for curvature.
            middle = (below[value] + above[value]) / 2
            assert abs(chance - middle) < Fraction(1, 10**6)


@pytest.mark.parametrize("count", [513, 1000, 4097])
def test_fixed_point_is_as_good_as_fractions(count: int) -> None:
    """A probability in exact fractions, and the sum, mean and variance of all."""
    units = 4
    found = unit_probabilities(units, count)
    assert abs(float(1 - sum(found.values(), Fraction(0)))) < 2**-40
    assert abs(float(sum((v * p for v, p in found.items()), Fraction(0)))) < 2**-40
    variance = sum((v * v * p for v, p in found.items()), Fraction(0))
    assert abs(float(variance - 2 * units)) < 2**-35
    assert abs(float(found[-1] - by_binomial(units, count, -1))) < 2**-47


def by_binomial(units: int, count: int, deviation: int) -> Fraction:
    """In exact fractions, over the numbers of units that go up and down."""
    changes = Fraction(units, count)
    up, down, stay = changes / 3, changes * 2 / 3, 1 - changes
    total = Fraction(0)
    for ups in range(20):
        downs = 2 * ups - deviation
        if 0 <= downs <= 40:
            ways = 1
            for at in range(ups + downs):
                ways = ways * (count - at)
            for at in (*range(1, ups + 1), *range(1, downs + 1)):
                ways //= at
            total += ways * up**ups * down**downs * stay ** (count - ups - downs)
    return total


def test_numbers_of_changed_units_that_are_left_out_are_negligible() -> None:
    for units in range(1, MOST_UNITS + 1):
        beyond, factorial = most_changed(units) + 1, 1
        for at in range(1, beyond + 1):
            factorial *= at
        assert Fraction(units**beyond, factorial) < Fraction(1, 2**48)


def test_rows_never_change() -> None:
    """Published numbers depend on these rows, which are the same on every machine."""
    row = unit_row(2, 3)
    assert row.lowest == -3
    assert row.widths.tolist() == [
        *(377061601, 848388602, 636291451, 724665260, 848388606),
        *(318145726, 282796200, 212097150, 0, 47132700),
    ]
    row = unit_row(2, 1000)
    assert row.lowest == -13
    assert row.widths.tolist() == [
        *(4, 37, 335, 2792, 21130, 143828, 870139, 4607968, 20943505, 79572545, 243592769),
        *(569121670, 932639484, 942038786, 569121670, 506106007, 183846569, 155388087, 40167133),
        *(33047022, 6616817, 5355061, 873909, 699575, 96264, 76472, 9090, 7181, 751, 591, 55, 43),
        *(4, 3),
    ]


@given(st.lists(st.integers(0, 20) | st.integers(0, 2**40), max_size=30))
def test_every_cell_finds_its_count_among_the_distinct_ones(counts: list[int]) -> None:
    count = np.array(counts, dtype=np.int64)
    distinct, places = distinct_counts(count)
    assert distinct.tolist() == sorted({0, *counts})
    assert distinct[places].tolist() == counts


def test_distinct_counts_take_arrays_of_every_shape() -> None:
    for count in (np.array(7), np.arange(24).reshape(2, 3, 4)[:, ::-1, ::2], np.zeros((2, 0), int)):
        distinct, places = distinct_counts(count)
        assert places.shape == count.shape
        assert (distinct[places] == count).all()
