from __future__ import annotations

import math
from functools import cache

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.kernels.perturbation.unit_deviations import unit_probabilities
from sdcensus.methods.perturbation.schemes import SCHEMES, random_rounding, scheme
from sdcensus.methods.perturbation.sources import per_unit_deviations
from sdcensus.risk.information import (
    difference_probability,
    difference_probability_of,
    entropy,
    information_gain,
    published_chances,
    remaining_entropy,
)

UNIFORM = (1 / 6,) * 6
SKEWED = (0.35, 0.25, 0.15, 0.10, 0.10, 0.05)


@cache
def by_units(units: int, count: int) -> dict[int, float]:
    """What a count becomes when so many of its units change on average (ABS 2005)."""
    return {count + value: float(p) for value, p in unit_probabilities(units, count).items()}


# ---------------------------------------------------------------------------------------------
# Differences

#: Count, units that change, what the review of the ABS (2005) prints for a difference of one
#: person to show as 1, and as 1 or 2, and the exact values.
DIFFERENCES = [
    (1, 2, (0.00, 0.00), (0, 0)),
    (2, 2, (0.00, 0.00), (0, 0)),
    (3, 2, (0.18, 0.28), (0.1811, 0.2798)),
    (4, 2, (0.14, 0.28), (0.1434, 0.2769)),
    (5, 2, (0.14, 0.28), (0.1435, 0.2775)),
    (5, 4, (0.12, 0.18), (0.1222, 0.1846)),
    (7, 6, (0.10, 0.15), (0.0980, 0.1471)),
    (20, 2, (0.15, 0.28), (0.1491, 0.2852)),
    (20, 4, (0.10, 0.20), (0.1013, 0.1993)),
    (20, 6, (0.08, 0.16), (0.0820, 0.1622)),
    (100, 2, (0.15, 0.29), (0.1508, 0.2874)),
    (100, 4, (0.10, 0.20), (0.1022, 0.2008)),
    (100, 6, (0.09, 0.17), (0.0826, 0.1635)),
    (1000, 2, (0.15, 0.29), (0.1511, 0.2879)),
    (1000, 4, (0.11, 0.21), (0.1023, 0.2012)),
    (1000, 6, (0.09, 0.16), (0.0828, 0.1637)),
]


@pytest.mark.parametrize(("count", "units", "printed", "exact"), DIFFERENCES)
def test_a_difference_of_one_person_shows_as_often_as_printed(
    count: int, units: int, printed: tuple[float, float], exact: tuple[float, float]
) -> None:
    larger, smaller = by_units(units, count), by_units(units, count - 1)
    for observed, expected, in_print in zip(((1,), (1, 2)), exact, printed, strict=True):
        found = difference_probability(larger, smaller, observed)
        assert found == pytest.approx(expected, abs=5e-5)
        # The review simulated; where it is off by more than rounding, it is not by much.
        assert found == pytest.approx(in_print, abs=0.01)


def test_which_printed_differences_are_off_by_more_than_their_rounding() -> None:
    wrong = [
        (count, units)
        for count, units, printed, exact in DIFFERENCES
        if any(abs(one - other) > 0.006 for one, other in zip(printed, exact, strict=True))
    ]
    assert wrong == [(100, 6), (1000, 4), (1000, 6)]


def convolved(count: int, units: int) -> npt.NDArray[np.float64]:
    """The distribution of the published count by definition: one unit after the other."""
    stays = max(0.0, 1 - units / count)
    unit = np.array([2 / 3 * (1 - stays), stays, 0, 1 / 3 * (1 - stays)])
    whole = np.ones(1)
    for _ in range(count):
        whole = np.convolve(whole, unit)
    return whole


@pytest.mark.parametrize("units", [2, 4, 6])
def test_the_exact_differences_of_large_counts_by_adding_units(units: int) -> None:
    larger, smaller = convolved(1000, units), convolved(999, units)
    size = smaller.size
    one, two = float(larger[1 : size + 1] @ smaller), float(larger[2 : size + 2] @ smaller)
    exact = next(one for *key, _, one in DIFFERENCES if key == [1000, units])
    assert (one, one + two) == pytest.approx(exact, abs=5e-5)


@pytest.mark.parametrize("name", SCHEMES)
def test_differences_of_any_size_sum_to_one(name: str) -> None:
    design = scheme(name)
    every = difference_probability_of(design, 7, range(-20, 30), true_difference=3)
    assert every == pytest.approx(1)
    assert difference_probability_of(design, 7, (), true_difference=3) == 0


def test_differences_under_a_design() -> None:
    design = per_unit_deviations(2)
    found = difference_probability_of(design, 5, (1, 2))
    assert found == pytest.approx(0.2775, abs=5e-5)
    # Without noise on either side nothing but the difference itself is seen.
    assert difference_probability_of(random_rounding(3), 6, (3,), true_difference=3) == 1


@pytest.mark.parametrize(("count", "less"), [(2, 3), (2, -1), (-1, 0)])
def test_counts_below_zero_have_no_difference(count: int, less: int) -> None:
    with pytest.raises(SpecError, match="0 or more"):
        difference_probability_of(scheme("CP1"), count, true_difference=less)


# ---------------------------------------------------------------------------------------------
# Information gain

#: The review of the ABS (2005) prints 17, 33 and 17, 34 per cent for rounding to base 5 and for
#: two units, with both priors; the others are computed here.
GAINS = [
    ("RR5", 0.1686, 0.1662),
    ("x2", 0.3263, 0.3428),
    ("RR3", 0.3276, 0.3233),
    ("x4", 0.2618, 0.2482),
    ("x6", 0.1601, 0.1984),
]


@pytest.mark.parametrize(("name", "uniform", "skewed"), GAINS)
def test_information_gains_as_printed(name: str, uniform: float, skewed: float) -> None:
    if name.startswith("RR"):
        rows = scheme(name)
        assert information_gain(rows, UNIFORM) == pytest.approx(uniform, abs=5e-5)
        assert information_gain(rows, SKEWED) == pytest.approx(skewed, abs=5e-5)
        return
    units = [by_units(int(name[1:]), count) for count in range(6)]
    assert information_gain(units, UNIFORM) == pytest.approx(uniform, abs=5e-5)
    assert information_gain(units, SKEWED) == pytest.approx(skewed, abs=5e-5)


def test_the_gain_is_the_share_of_entropy_that_is_gone() -> None:
    design = scheme("CP2")
    assert entropy(UNIFORM) == pytest.approx(1)
    for base in (None, 2, 6, math.e):
        before = entropy(SKEWED, base=base)
        after = remaining_entropy(design, SKEWED, base=base)
        gain = information_gain(design, SKEWED)
        assert (before - after) / before == pytest.approx(gain)


def test_noise_takes_information_away_and_none_leaves_it() -> None:
    as_they_are = [{count: 1.0} for count in range(6)]
    assert information_gain(as_they_are, UNIFORM) == 1
    all_alike = [{7: 1.0}] * 6
    assert information_gain(all_alike, UNIFORM) == 0
    gains = [information_gain(scheme(name), UNIFORM) or 0 for name in ("CP1", "CP2", "CP3", "CP4")]
    assert gains == sorted(gains, reverse=True)


@given(st.lists(st.integers(0, 9), min_size=1, max_size=8).filter(any), st.sampled_from(SCHEMES))
def test_gains_lie_between_nothing_and_everything(weights: list[int], name: str) -> None:
    prior = [weight / sum(weights) for weight in weights]
    found = information_gain(scheme(name), prior)
    if max(prior) == 1:
        assert found is None
        return
    assert found is not None
    assert 0 <= found <= 1
    assert remaining_entropy(scheme(name), prior) <= entropy(prior) + 1e-12


def test_a_count_that_is_known_has_no_gain() -> None:
    assert information_gain(scheme("CP1"), [1.0]) is None
    assert information_gain(scheme("CP1"), [0.0, 1.0]) is None
    assert entropy([1.0]) == 0


@pytest.mark.parametrize("prior", [(), (0.5, 0.6), (-0.5, 1.5), (math.nan, 1.0), ((0.5, 0.5),)])
def test_priors_that_are_none_are_refused(prior: tuple[float, ...]) -> None:
    with pytest.raises(SpecError, match="sum to 1"):
        information_gain(scheme("CP1"), prior)


def test_rows_that_do_not_fit_are_refused() -> None:
    with pytest.raises(SpecError, match="needs its row"):
        information_gain([{0: 1.0}], (0.5, 0.5))
    with pytest.raises(SpecError, match="sum to 1"):
        information_gain([{0: 1.0}, {1: 0.5}], (0.5, 0.5))
    with pytest.raises(SpecError, match="base"):
        entropy(UNIFORM, base=1)


def test_what_a_count_may_be_published_as() -> None:
    assert published_chances(scheme("CP1"), 4) == pytest.approx({3: 0.25, 4: 0.5, 5: 0.25})
