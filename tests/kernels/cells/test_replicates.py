"""Sampling errors from random groups: right for whole households, wrong if these are ignored."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import given, strategies as st

from sdcensus.kernels.cells.replicates import PRIME, REPLICATES, errors_above, replicate_groups

Int64 = npt.NDArray[np.int64]
BILLION = 10**9


def variance_of(values: list[int]) -> Fraction:
    """What the groups say about their sum, before the share that was drawn is taken off."""
    mean = Fraction(sum(values), REPLICATES)
    return Fraction(REPLICATES, REPLICATES - 1) * sum((value - mean) ** 2 for value in values)


@given(
    st.lists(st.integers(-(10**14), 10**15), min_size=REPLICATES, max_size=REPLICATES),
    st.integers(1, 10**6),
    st.integers(2, 10**3),
    st.integers(1, BILLION),
)
def test_limits_are_those_of_exact_arithmetic(
    groups: list[int], count: int, weight: int, limit: int
) -> None:
    total, stands = sum(groups), count * weight
    arrays = [np.array([group]) for group in groups]
    cell = np.array([total]), arrays, np.array([count]), np.array([stands])
    (above,) = errors_above(*cell, 1, [limit])
    variance = variance_of(groups) * Fraction(stands - count, stands)
    allowed = Fraction(limit, BILLION) ** 2 * total**2
    # 22 bits of the largest group are compared; in between, either is right.
    room = Fraction(1, 2**12) * variance + Fraction(max(map(abs, [*groups, total])) ** 2, 2**18)
    if variance > allowed + room:
        assert above[0]
    if variance < allowed - room:
        assert not above[0]


def test_groups_are_drawn_as_if_by_chance() -> None:
    """Neighbours too: areas would seem to have no sampling error if they were spread evenly."""
    for start in (0, 10**6, 3 * 10**8):
        groups = replicate_groups(start + np.arange(60_000))
        assert groups.max() < REPLICATES
        sizes = np.bincount(groups, minlength=REPLICATES)
        assert 30 < ((sizes - 1000) ** 2 / 1000).sum() < 100  # chi-square with 59 degrees
        runs = groups.reshape(-1, 120)
        spread = [((np.bincount(run, minlength=60) - 2) ** 2 / 2).sum() for run in runs]
        assert 57 < np.mean(spread) < 61
    numbers = np.array([0, 1, PRIME - 1, PRIME, 0xFFFFFFFE])
    assert replicate_groups(numbers).tolist() == replicate_groups(numbers % PRIME).tolist()


class Town:
    """A census of which samples are drawn: 3,000 households of one to six persons.

    Members of a household are alike: they mostly have the same language.
    """

    def __init__(self, seed: int) -> None:
        draw = np.random.default_rng(seed)
        self.draw = draw
        self.sizes = draw.integers(1, 7, 3_000)
        self.household = np.repeat(np.arange(3_000), self.sizes)
        common = draw.random(3_000) < 0.25
        own = draw.random(self.household.size) < 0.25
        keeps = draw.random(self.household.size) < 0.8
        self.speaks = np.where(keeps, common[self.household], own)
        self.income = draw.integers(100, 900, self.household.size)

    def sample(self) -> Int64:
        """Which persons are in a sample of a fifth of the households."""
        asked = self.draw.random(3_000) < 0.2
        return np.flatnonzero(asked[self.household])

    def estimates(
        self, values: Int64, times: int, *, whole: bool
    ) -> tuple[list[float], list[float]]:
        """Estimates of a total, and what the groups of each sample say about their variance."""
        totals, variances = [], []
        for _ in range(times):
            persons = self.sample()
            weighted = 5 * values[persons]
            clusters = self.household[persons] if whole else persons
            groups = replicate_groups(clusters + int(self.draw.integers(10**6)) * 4_096)
            sums = np.bincount(groups, weights=weighted, minlength=REPLICATES)
            totals.append(float(weighted.sum()))
            variances.append(float(variance_of([int(each) for each in sums])) * 0.8)
        return totals, variances


@pytest.mark.parametrize("what", ["speaks", "income"])
def test_the_estimated_variance_is_that_of_repeated_samples(what: str) -> None:
    """Accepted with whole households; persons one by one say far too little, and are rejected."""
    town = Town(20270101)
    values = getattr(town, what).astype(np.int64)
    times = 400
    for whole, accepted in ((True, True), (False, False)):
        totals, variances = town.estimates(values, times, whole=whole)
        true = float(np.var(totals, ddof=1))
        ratio = float(np.mean(variances)) / true
        # The variance of 400 samples is known to 7 % (one standard error).
        assert (abs(ratio - 1) < 0.2) is accepted, ratio
        if not accepted:
            assert ratio < 0.5


def test_the_standard_error_of_one_sample_is_known_to_about_a_tenth() -> None:
    town = Town(7)
    _, variances = town.estimates(town.speaks.astype(np.int64), 200, whole=True)
    errors = np.sqrt(variances)
    assert 0.07 < errors.std() / errors.mean() < 0.13
