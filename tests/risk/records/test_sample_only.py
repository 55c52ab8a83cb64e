"""Risk from a sample alone: formulas against sums, models against populations that are known."""

from __future__ import annotations

import math

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.errors import SpecError
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.log_linear import MOST_WORK, ModelTerms, main_effects, two_way
from sdcensus.risk.records.sample_only import (
    DRAWS,
    FEWEST_DRAWS,
    check_weights,
    error_by_draws,
    estimated_uniques,
    individual_risks,
    weighted_risk,
)
from tests.risk.records.made_up import VALID, column


def mean_of_inverse(count: int, share: float) -> float:
    """The mean of 1/F, F - f negative binomial: what all formulas stand for, as a sum."""
    total, chance = 0.0, share**count
    for others in range(200_000):
        total += chance / (count + others)
        chance *= (count + others) / (others + 1) * (1 - share)
        if chance < 1e-18 and others > 2 * count / share:
            break
    return total


def one_risk(count: float, share: float) -> float:
    return float(individual_risks(np.array([count]), np.array([share]))[0])


@pytest.mark.parametrize("share", [0.01, 0.07, 1 / 3, 0.5, 0.9, 0.995, 0.999999])
@pytest.mark.parametrize("count", [1, 2])
def test_one_and_two_are_the_mean_of_the_inverse(count: int, share: float) -> None:
    assert one_risk(count, share) == pytest.approx(mean_of_inverse(count, share), rel=1e-7)


@settings(max_examples=60, deadline=None)
@given(st.floats(0.02, 1, exclude_max=True), st.floats(1.01, 30))
def test_counts_that_are_not_whole_lie_between_whole_ones(share: float, count: float) -> None:
    """The series, against its neighbours; the reference package answers 0 between 1 and 2."""
    below, above = (mean_of_inverse(whole, share) for whole in (math.floor(count),
                                                                math.ceil(count)))  # fmt: skip
    if count != math.floor(count):
        assert above - 1e-9 <= one_risk(count, share) <= below + 1e-9


def test_larger_counts_are_as_the_reference_has_them() -> None:
    """π / (f - (1 - π)); for the whole population 1/f; weights below 1 are taken as 1."""
    assert one_risk(3, 0.25) == pytest.approx(0.25 / (3 - 0.75))
    assert one_risk(4, 1.0) == one_risk(4, 1.7) == 0.25
    assert one_risk(1, 1.0) == 1


def test_expected_re_identifications_are_the_sum_over_records() -> None:
    """By hand: two records share keys and weigh 3 and 5; one is alone and weighs 10."""
    result = weighted_risk([column("key", [0, 1, 0])], np.array([3.0, 10.0, 5.0]))
    pair, alone = one_risk(2, 2 / 8), one_risk(1, 0.1)
    assert result.risks.tolist() == pytest.approx([pair, alone, pair])
    assert result.expected == pytest.approx(2 * pair + alone)
    assert result.uniques == 1
    assert result.expected_of_uniques == pytest.approx(alone)


@pytest.mark.parametrize(
    ("weight", "word"), [(math.nan, "missing"), (0.0, "is 0"), (-2.5, "is -2.5")]
)
def test_weights_that_stand_for_nobody_are_named(weight: float, word: str) -> None:
    with pytest.raises(SpecError, match=f"1 of 3 records.*record 2.*{word}"):
        check_weights(np.array([1.0, weight, 2.0]))
    with pytest.raises(SpecError, match="no weight above 0"):
        weighted_risk([column("key", [0, 1, 0])], np.array([1.0, weight, 2.0]))


def population(size: int, seed: int, *, linked: bool) -> list[KeyColumn]:
    """Made-up keys with skewed values; linked: each depends on the one before."""
    generator = np.random.default_rng(seed)
    widths = (20, 4, 8, 6)
    columns, before = [], np.zeros(size, dtype=np.int64)
    for place, width in enumerate(widths):
        weights = 1 / np.arange(1, width + 1)
        values = generator.choice(width, size, p=weights / weights.sum())
        if linked and place:
            follows = generator.random(size) < 0.7
            values = np.where(follows, before % width, values)
        columns.append(column(str(place), values.tolist(), [VALID] * width))
        before = values
    return columns


def words_of(size: int) -> npt.NDArray[np.uint64]:
    return np.random.default_rng(5).integers(0, 2**63, size=(50, size)).astype(np.uint64)


@pytest.mark.parametrize("fraction", [0.07, 1 / 3])
def test_the_truth_is_accepted_and_a_near_miss_is_not(fraction: float) -> None:
    """Independent keys: main effects are right. A wrong fraction is off by several times more."""
    keys = population(6_000, 1, linked=False)
    words = words_of(6_000)

    def error(believed: float | None) -> float:
        return error_by_draws(
            keys, fraction, lambda draw: words[draw], taken_for=believed
        ).expected_matches

    right = error(None)
    assert right < 0.08
    assert error(fraction * 1.4) > 2 * right
    assert error(fraction / 1.4) > 2 * right


def test_keys_that_depend_on_each_other_need_two_way_terms() -> None:
    """The test of dispersion sees it, and the richer model is nearer to the truth."""
    keys = population(8_000, 2, linked=True)
    words = words_of(8_000)
    estimate = estimated_uniques(keys, 0.3)
    tests = dict(estimate.dispersion)
    assert estimate.terms is ModelTerms.TWO_WAY
    assert tests[ModelTerms.MAIN] > 5 > abs(tests[ModelTerms.TWO_WAY])
    main, richer = (
        error_by_draws(keys, 0.3, lambda draw: words[draw], number=10, terms=terms)
        for terms in (ModelTerms.MAIN, ModelTerms.TWO_WAY)
    )
    assert richer.expected_matches < main.expected_matches / 2
    assert richer.population_uniques < main.population_uniques


def test_independent_keys_are_dispersed_as_the_model_says() -> None:
    tests = [
        dict(estimated_uniques(population(3_000, seed, linked=False), 0.1).dispersion)
        for seed in range(3, 9)
    ]
    assert all(abs(each[ModelTerms.MAIN]) < 4 for each in tests)


def test_fitted_pairs_are_the_observed_pairs() -> None:
    keys = population(500, 4, linked=True)[1:]
    table = np.zeros((4, 8, 6))
    np.add.at(table, tuple(each.values for each in keys), 1)
    places = np.nonzero(table)
    fit = two_way(list(places), table[places].astype(np.int64))
    assert fit is not None
    # Cells that do not occur have expected counts too: pairs are at least what occurs.
    for first, second in ((0, 1), (0, 2), (1, 2)):
        pairs = np.zeros((8, 8))
        np.add.at(pairs, (places[first], places[second]), fit.expected)
        observed = np.zeros((8, 8))
        np.add.at(observed, (places[first], places[second]), table[places])
        assert (pairs <= observed + 1e-3).all()
    independent = main_effects(list(places), table[places].astype(np.int64))
    by_hand = 500 * math.prod(
        table.sum(axis=axes)[place[0]] / 500
        for axes, place in zip(((1, 2), (0, 2), (0, 1)), places, strict=True)
    )
    assert independent.expected[0] == pytest.approx(by_hand)


def test_dear_models_are_fitted_within_a_bound_and_draws_are_told() -> None:
    """Eight keys of a few codes each made a fit of minutes: work is counted, and bounds both."""
    generator = np.random.default_rng(7)
    moderate = [column(f"k{key}", generator.integers(0, 4, 2_000).tolist()) for key in range(8)]
    fit = two_way([each.values for each in moderate], np.ones(2_000, dtype=np.int64))
    assert fit is not None
    assert 0 < fit.work <= MOST_WORK
    large = [column(f"k{key}", generator.integers(0, 6, 2_000).tolist()) for key in range(9)]
    assert two_way([each.values for each in large], np.ones(2_000, dtype=np.int64)) is None
    words = words_of(2_000)
    dear = error_by_draws(moderate, 0.5, lambda draw: words[draw], terms=ModelTerms.TWO_WAY)
    assert FEWEST_DRAWS <= dear.draws < DRAWS
    cheap = error_by_draws(moderate, 0.5, lambda draw: words[draw], terms=ModelTerms.MAIN)
    assert cheap.draws == DRAWS


def test_a_full_count_has_its_own_uniques() -> None:
    """With everybody in the sample, nothing is estimated."""
    keys = population(400, 6, linked=True)
    estimate = estimated_uniques(keys, 1.0)
    assert estimate.population_uniques == estimate.expected_matches == estimate.sample_uniques


def test_what_makes_no_sense_is_said() -> None:
    keys = [column("key", [0, 1])]
    with pytest.raises(SpecError, match="at least one key"):
        estimated_uniques([], 0.1)
    for fraction in (0.0, 1.2):
        with pytest.raises(SpecError, match="above 0 and at most 1"):
            estimated_uniques(keys, fraction)
    with pytest.raises(SpecError, match="cannot show an error"):
        error_by_draws(keys, 0.01, lambda _: np.zeros(2, dtype=np.uint64))
    assert estimated_uniques([column("key", [])], 0.5).population_uniques == 0
