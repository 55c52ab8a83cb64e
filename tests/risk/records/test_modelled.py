"""Measures by a model of the population: the formulas by hand, and against a known population."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, strategies as st

from sdcensus.errors import SpecError
from sdcensus.model.schema.variable import CodeKind
from sdcensus.risk.records.key_column import KeyColumn
from sdcensus.risk.records.ladder import whole_risk
from sdcensus.risk.records.modelled import mean_inverse, modelled_risk
from sdcensus.risk.records.sample_only import estimated_uniques


def column(name: str, values: np.ndarray) -> KeyColumn:
    size = int(values.max(initial=0)) + 1
    return KeyColumn(name=name, values=values, kinds=(CodeKind.VALID,) * size)


def keys(size: int) -> list[KeyColumn]:
    random = np.random.default_rng(7)
    return [
        column(name, np.minimum(random.geometric(0.15, size), top).astype(np.int64))
        for name, top in (("age", 40), ("work", 25), ("faith", 12))
    ]


@given(st.integers(1, 400), st.floats(0, 400))
def test_the_mean_of_one_by_those_who_share_is_that_of_the_poisson_sum(
    count: int, mean: float
) -> None:
    terms, chance = [], math.exp(-mean)
    for number in range(2000):
        terms.append(chance / (count + number))
        chance *= mean / (number + 1)
    exact = math.fsum(terms)
    assert mean_inverse(np.array([count]), np.array([mean]))[0] == pytest.approx(exact, rel=2e-3)


def test_a_file_of_the_whole_sample_has_the_estimates_of_the_model() -> None:
    columns = keys(4_000)
    everybody = np.ones(4_000, dtype=bool)
    estimate = estimated_uniques(columns, 0.05)
    step = modelled_risk(columns, everybody, 0.05)
    assert step.population == 80_000
    assert step.sample_uniques == estimate.sample_uniques
    assert step.population_uniques == round(estimate.population_uniques)
    assert step.expected_matches == pytest.approx(estimate.expected_matches)
    # Of a sample that holds everybody nothing is estimated.
    counted = whole_risk(columns, everybody)
    whole = modelled_risk(columns, everybody, 1.0)
    for name in ("sample_uniques", "population_uniques", "not_anonymous"):
        assert getattr(whole, name) == getattr(counted, name)
    assert whole.global_risk == pytest.approx(counted.global_risk)


def test_the_model_is_near_the_truth_where_keys_are_independent() -> None:
    """The population is known here; counting in the sample instead would be far off."""
    population = keys(60_000)
    random = np.random.default_rng(8)
    held = np.sort(random.permutation(60_000)[:6_000])
    in_file = np.zeros(60_000, dtype=bool)
    in_file[held[::2]] = True
    truth = whole_risk(population, in_file)
    sample = [column(each.name, each.values[held]) for each in population]
    file = in_file[held]
    step = modelled_risk(sample, file, 0.1, households=np.arange(6_000))
    false = whole_risk(sample, file)
    assert step.sample_uniques == truth.sample_uniques
    assert step.expected_matches == pytest.approx(truth.expected_matches, rel=0.15)
    assert step.population_uniques == pytest.approx(truth.population_uniques, rel=0.3)
    assert step.not_anonymous == pytest.approx(truth.not_anonymous, rel=0.25)
    assert step.global_risk == pytest.approx(truth.global_risk, rel=0.15)
    assert false.population_uniques > 3 * truth.population_uniques
    assert step.households is not None
    assert step.households.expected == pytest.approx(step.global_risk)


@pytest.mark.parametrize("share", [0.0, 1.5])
def test_what_is_no_share_is_refused(share: float) -> None:
    with pytest.raises(SpecError, match="share"):
        modelled_risk(keys(10), np.ones(10, dtype=bool), share)
    with pytest.raises(SpecError, match="at least one key"):
        modelled_risk([], np.ones(0, dtype=bool), 0.5)
