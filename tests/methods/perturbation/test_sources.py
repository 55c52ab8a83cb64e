from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy.stats import truncnorm

from sdcensus.errors import SpecError, UnknownName
from sdcensus.kernels.perturbation.unit_deviations import MOST_UNITS, unit_probabilities
from sdcensus.methods.perturbation.schemes import scheme
from sdcensus.methods.perturbation.sources import (
    Discretisation,
    per_unit_deviations,
    single_count_delta,
    truncated_normal,
    two_sided_geometric,
)
from sdcensus.model.perturbation.design import PerturbationDesign
from sdcensus.model.perturbation.table import Perturbation

ROOT_OF_TWO = math.sqrt(2)


def assert_sound(design: PerturbationDesign) -> None:
    """Demand rows that sum to one, never lead below 0, keep zeros and declare their bias."""
    assert design.targets(0).tolist() == [0]
    for count in range(design.tail.rows + 3):
        assert design.probabilities(count).sum() == pytest.approx(1)
        assert design.targets(count).min() >= 0
        row = design.tail.row(count)
        assert (row in design.biased) == (abs(float(design.bias(count))) > 1e-9)
    for modulus in (2**32, 65521):
        design.table(modulus)  # which refuses what a table may not be


# ---------------------------------------------------------------------------------------------
# Truncated normal (ONS 2011)


def test_truncated_normal_has_the_verified_means_and_stay_probabilities() -> None:
    design = truncated_normal(ROOT_OF_TWO)
    bias = [float(design.bias(count)) for count in range(1, 6)]
    assert bias == pytest.approx([0.565, 0.220, 0.058, 0.009, 0], abs=5e-4)
    stay = [design.stay(count) for count in range(1, 6)]
    assert stay == pytest.approx([0.364, 0.300, 0.281, 0.277, 0.276], abs=5e-4)
    assert design.biased == {1, 2, 3, 4}


def test_the_published_mean_distances_fit_a_standard_deviation_of_two() -> None:
    """1.565 and 1.520 in the study, whose text says variance 2."""
    assert truncated_normal(2.0).mean_absolute_deviation(9) == pytest.approx(1.53, abs=5e-3)
    assert truncated_normal(ROOT_OF_TWO).mean_absolute_deviation(9) == pytest.approx(1.10, abs=5e-3)


@given(st.floats(0.2, 20), st.integers(1, 12))
def test_rounding_takes_the_mass_around_each_whole_number(spread: float, limit: int) -> None:
    design = truncated_normal(spread, limit=limit)
    assert_sound(design)
    for count in range(1, limit + 1):
        cut = truncnorm(-count / spread, limit / spread, scale=spread)
        values = design.deviations(count)
        expected = cut.cdf(values + 0.5) - cut.cdf(values - 0.5)
        assert design.probabilities(count) == pytest.approx(expected, abs=1e-9)


@given(st.floats(0.2, 20), st.integers(1, 12))
def test_densities_at_whole_numbers_are_in_proportion(spread: float, limit: int) -> None:
    design = truncated_normal(spread, limit=limit, discretisation="pmf")
    assert_sound(design)
    for count in range(1, limit + 1):
        values = design.deviations(count)
        assert (values.min(), values.max()) == (-count, limit)
        expected = np.exp(-(values**2) / (2 * spread**2))
        assert design.probabilities(count) == pytest.approx(expected / expected.sum())


def test_large_counts_have_symmetric_noise() -> None:
    for way in Discretisation:
        design = truncated_normal(1.3, discretisation=way)
        row = design.probabilities(100)
        assert row.tolist() == row[::-1].tolist()
        assert design.deviations(100).tolist() == list(range(-5, 6))


@pytest.mark.parametrize("spread", [0.0, -1.0, math.inf, math.nan])
def test_impossible_standard_deviations_are_refused(spread: float) -> None:
    with pytest.raises(SpecError, match="number above 0"):
        truncated_normal(spread)


@pytest.mark.parametrize("limit", [0, 51, 2.5])
def test_impossible_limits_are_refused(limit: int) -> None:
    with pytest.raises(SpecError, match="from 1 to 50"):
        truncated_normal(1.0, limit=limit)
    with pytest.raises(SpecError, match="from 1 to 50"):
        two_sided_geometric(1.0, limit)


def test_unknown_discretisations_are_refused_with_what_there_is() -> None:
    with pytest.raises(UnknownName, match=r"'rounded'\. Did you mean 'round'"):
        truncated_normal(1.0, discretisation="rounded")


# ---------------------------------------------------------------------------------------------
# Two-sided geometric


@pytest.mark.parametrize(
    ("epsilon", "expected"),
    [
        (1.5, [0.63516, 0.14172, 0.03162, 0.00706, 0.00157, 0.00035, 0.00008, 0.00002]),
        (0.5, [0.25063, 0.15202, 0.09220, 0.05592, 0.03392, 0.02057, 0.01248, 0.00757]),
    ],
)
def test_two_sided_geometric_has_the_verified_probabilities(
    epsilon: float, expected: list[float]
) -> None:
    design = two_sided_geometric(epsilon, 7)
    row = design.probabilities(7)
    assert row[7:] == pytest.approx(expected, abs=5e-6)
    assert row.tolist() == row[::-1].tolist()


def test_far_limits_give_the_untruncated_distribution() -> None:
    design = two_sided_geometric(1.0, 40)
    assert design.stay(40) == pytest.approx(0.462117, abs=5e-7)
    assert design.variance(40) == pytest.approx(1.841347, abs=5e-7)


@given(st.floats(0.01, 10), st.integers(1, 20))
def test_what_would_fall_below_zero_becomes_zero(epsilon: float, most: int) -> None:
    design = two_sided_geometric(epsilon, most)
    assert_sound(design)
    large = dict(zip(design.deviations(most), design.probabilities(most), strict=True))
    for count in range(1, most):
        assert design.becomes_zero(count) == pytest.approx(
            sum(chance for value, chance in large.items() if value <= -count)
        )
        for value, chance in zip(
            design.deviations(count), design.probabilities(count), strict=True
        ):
            if value > -count:
                assert chance == pytest.approx(large[value])


@pytest.mark.parametrize("epsilon", [0.0, -1.0, math.inf, math.nan])
def test_impossible_epsilons_are_refused(epsilon: float) -> None:
    with pytest.raises(SpecError, match="number above 0"):
        two_sided_geometric(epsilon, 5)


# ---------------------------------------------------------------------------------------------
# The indicator of differential privacy


@pytest.mark.parametrize(
    ("name", "delta"),
    [
        ("CP1", 0.25),
        ("CP2", 0.119),
        ("CP3(EU)", 0.140),
        ("CP3", 0.046),
        # With a stay probability of 0.35 instead of a third it would be .027.
        ("CP4", 0.031),
        ("CP3(1,2)", 0.044),
        ("RR3", 0.333),
        ("RR5", 0.2),
    ],
)
def test_delta_of_large_counts_at_epsilon_one(name: str, delta: float) -> None:
    assert single_count_delta(scheme(name), 1.0) == pytest.approx(delta, abs=6e-4)


@pytest.mark.parametrize(("name", "delta"), [("RR3", 1 / 3), ("RR5", 0.2)])
@pytest.mark.parametrize("epsilon", [2.0, 5.0, 20.0])
def test_delta_of_rounding_is_the_same_for_any_epsilon(
    name: str, delta: float, epsilon: float
) -> None:
    assert single_count_delta(scheme(name), epsilon) == pytest.approx(delta)


@pytest.mark.parametrize("name", ["CP1", "CP2", "CP3(EU)", "CP3", "CP4", "CP3(1,2)"])
def test_bounded_noise_and_kept_zeros_limit_delta_from_below(name: str) -> None:
    design = scheme(name)
    for epsilon in (0.5, 1.0, 3.0, 30.0):
        edge = design.probabilities(design.tail.start)[-1]
        assert single_count_delta(design, epsilon) >= edge - 1e-12
        assert single_count_delta(design, epsilon, count=0) >= 1 - design.becomes_zero(1) - 1e-12


def test_delta_of_geometric_noise_is_its_edge_alone() -> None:
    design = two_sided_geometric(1.0, 7)
    edge = design.probabilities(7)[-1]
    for count in (1, 3, 7, 100):
        assert single_count_delta(design, 1.0, count=count) == pytest.approx(edge)


def test_delta_is_the_largest_excess_over_all_sets_of_results() -> None:
    design = scheme("CP2")
    one, other = ({c + v: p for v, p in design.distribution(c)} for c in (1, 2))
    excess = []
    for left, right in ((one, other), (other, one)):
        for chosen in range(2**5):
            inside = [value for value in range(5) if chosen >> value & 1]
            excess.append(
                sum(float(left.get(v, 0)) for v in inside)
                - math.exp(0.3) * sum(float(right.get(v, 0)) for v in inside)
            )
    assert single_count_delta(design, 0.3, count=1) == pytest.approx(max(excess))


def test_delta_needs_an_epsilon() -> None:
    for epsilon in (-0.1, math.nan):
        with pytest.raises(SpecError, match="from 0 on"):
            single_count_delta(scheme("CP1"), epsilon)


# ---------------------------------------------------------------------------------------------
# Per-unit deviations (ABS 2005)


@pytest.mark.parametrize("units", [1, 2, 4, 6, MOST_UNITS])
def test_per_unit_deviations_are_unbiased_with_the_known_variance(units: int) -> None:
    design = per_unit_deviations(units, largest=60)
    assert not design.biased
    assert_sound(design)
    for count in range(61):
        assert float(design.bias(count)) == pytest.approx(0, abs=1e-9)
        assert design.variance(count) == pytest.approx(2 * min(count, units), abs=1e-9)


def test_with_two_units_ones_and_twos_become_multiples_of_three() -> None:
    design = per_unit_deviations(2)
    assert design.targets(1).tolist() == [0, 3]
    assert design.probabilities(1) == pytest.approx([2 / 3, 1 / 3])
    assert design.targets(2).tolist() == [0, 3, 6]
    assert design.probabilities(2) == pytest.approx([4 / 9, 4 / 9, 1 / 9])


def test_the_last_row_serves_larger_counts_well() -> None:
    """From 200 on, no probability of a million differs by more than 0.003."""
    design = per_unit_deviations(2)
    last = dict(zip(design.deviations(10**6), design.probabilities(10**6), strict=True))
    exact = unit_probabilities(2, 10**6)
    assert max(abs(last.get(v, 0) - float(p)) for v, p in exact.items()) < 0.003


def of_count(units: int, count: int) -> dict[int, float]:
    """What a count may become, and how often."""
    return {count + v: float(p) for v, p in unit_probabilities(units, count).items()}


@pytest.mark.parametrize(
    ("count", "units", "one", "one_or_two"),
    [
        (1, 2, 0, 0),
        (2, 2, 0, 0),
        (3, 2, 0.1811, 0.2798),
        (4, 2, 0.1434, 0.2769),
        (5, 2, 0.1435, 0.2775),
        (5, 4, 0.1222, 0.1846),
        (7, 6, 0.0980, 0.1471),
        (20, 2, 0.1491, 0.2852),
        (20, 4, 0.1013, 0.1993),
        (20, 6, 0.0820, 0.1622),
        (100, 2, 0.1508, 0.2874),
        (100, 4, 0.1022, 0.2008),
        (100, 6, 0.0826, 0.1635),
        (1000, 2, 0.1511, 0.2879),
        (1000, 4, 0.1023, 0.2012),
        (1000, 6, 0.0828, 0.1637),
    ],
)
def test_differences_of_one_person_show_as_often_as_computed(
    count: int, units: int, one: float, one_or_two: float
) -> None:
    """Two counts that differ by one person, perturbed independently (ABS 2005)."""
    with_person, without = of_count(units, count), of_count(units, count - 1)
    by_difference: dict[int, float] = {}
    for left, chance in with_person.items():
        for right, share in without.items():
            by_difference[left - right] = by_difference.get(left - right, 0) + chance * share
    assert by_difference.get(1, 0) == pytest.approx(one, abs=5e-5)
    found = by_difference.get(1, 0) + by_difference.get(2, 0)
    assert found == pytest.approx(one_or_two, abs=5e-5)


UNIFORM = (1 / 6,) * 6
SKEW = (0.35, 0.25, 0.15, 0.10, 0.10, 0.05)


@pytest.mark.parametrize(
    ("perturbation", "uniform", "skew"),
    [
        (scheme("RR5"), 0.1686, 0.1662),
        (scheme("RR3"), 0.3276, 0.3233),
        (per_unit_deviations(2), 0.3263, 0.3428),
        (per_unit_deviations(4), 0.2618, 0.2482),
        (per_unit_deviations(6), 0.1601, 0.1984),
    ],
    ids=["RR5", "RR3", "x=2", "x=4", "x=6"],
)
def test_information_gained_about_counts_from_0_to_5(
    perturbation: Perturbation, uniform: float, skew: float
) -> None:
    """Of what is unknown of a small count, the share that its published value tells (ABS 2005)."""
    assert gain(perturbation, UNIFORM) == pytest.approx(uniform, abs=5e-5)
    assert gain(perturbation, SKEW) == pytest.approx(skew, abs=5e-5)


def gain(perturbation: Perturbation, prior: Sequence[float]) -> float:
    joint: dict[int, dict[int, float]] = {}
    for count, chance in enumerate(prior):
        for target, share in zip(
            perturbation.targets(count).tolist(), perturbation.probabilities(count), strict=True
        ):
            joint.setdefault(target, {})[count] = chance * share
    before = _entropy(dict(enumerate(prior)))
    after = sum(_entropy(of) for of in joint.values())
    return (before - after) / before


def _entropy(chances: Mapping[int, float]) -> float:
    """In proportion to the sum of the chances."""
    whole = sum(chances.values())
    return -sum(chance * math.log(chance / whole) for chance in chances.values() if chance > 0)


@pytest.mark.parametrize("units", [0, MOST_UNITS + 1, 2.0, True])
def test_impossible_numbers_of_units_are_refused(units: int) -> None:
    with pytest.raises(SpecError, match="from 1 to 20"):
        per_unit_deviations(units)


@pytest.mark.parametrize("largest", [0, 2, 10_001])
def test_impossible_last_rows_are_refused(largest: int) -> None:
    with pytest.raises(SpecError, match="from 3 to 10000"):
        per_unit_deviations(2, largest=largest)


@pytest.mark.parametrize(
    "design",
    [truncated_normal(2.0), two_sided_geometric(1.0, 5), per_unit_deviations(2, largest=10)],
    ids=["normal", "geometric", "units"],
)
def test_designs_say_what_they_were_made_from_and_show_nothing(design: PerturbationDesign) -> None:
    assert dict(design.parameters)["source"]
    assert repr(design).endswith("rows: confidential>")
    assert "0." not in repr(design)
