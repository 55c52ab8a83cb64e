"""Sampling errors against what repeated draws show."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pytest

from sdcensus.utility.records.sampling_error import (
    Clusters,
    ratio_estimate,
    share_estimates,
    total_estimate,
    variance_of_sum,
)

Float64 = npt.NDArray[np.float64]
DRAWS = 300


class Country:
    """Households by area whose members are alike, and areas that differ."""

    def __init__(self, households: int = 4000, seed: int = 5) -> None:
        random = np.random.default_rng(seed)
        self.area = np.sort(random.integers(0, 40, households))
        self.size = random.integers(1, 8, households)
        self.household = np.repeat(np.arange(households), self.size)
        level = random.uniform(0.1, 0.7, 40)
        same = random.random(households) < level[self.area]
        own = random.random(self.household.size) < level[self.area][self.household]
        copies = random.random(self.household.size) < 0.8
        self.value = np.where(copies, same[self.household], own).astype(np.float64)

    def draw(self, fraction: float, seed: int) -> npt.NDArray[np.int64]:
        """A systematic sample along the areas, in an order of its own within each."""
        random = np.random.default_rng(seed)
        order = np.lexsort((random.random(self.area.size), self.area))
        steps = np.floor(np.arange(self.area.size + 1) * fraction + random.random())
        return order[np.flatnonzero(np.diff(steps) > 0)]

    def clusters(
        self, drawn: npt.NDArray[np.int64], fraction: float, *, clustered: bool
    ) -> tuple[npt.NDArray[np.int64], Clusters]:
        place = np.full(self.area.size, -1)
        place[drawn] = np.arange(drawn.size)
        members = np.flatnonzero(place[self.household] >= 0)
        cluster = place[self.household[members]]
        order = np.argsort(cluster, kind="stable")
        members, cluster = members[order], cluster[order]
        if not clustered:
            cluster = np.arange(members.size)
        return members, Clusters(
            cluster=cluster,
            count=int(cluster.max()) + 1,
            weights=np.full(members.size, 1 / fraction),
            fraction=fraction,
            along_list=clustered,
        )


@pytest.mark.parametrize("fraction", [0.1, 1 / 3])
def test_standard_errors_are_what_repeated_draws_show_and_intervals_hold_the_truth(
    fraction: float,
) -> None:
    country = Country()
    truth = float(country.value.mean())
    estimates, variances, naive, covered, covered_naive = [], [], [], 0, 0
    for seed in range(DRAWS):
        drawn = country.draw(fraction, seed)
        for clustered in (True, False):
            members, clusters = country.clusters(drawn, fraction, clustered=clustered)
            estimate = ratio_estimate(country.value[members], clusters)
            assert estimate is not None
            assert estimate.error is not None
            interval = estimate.interval
            assert interval is not None
            inside = interval[0] <= truth <= interval[1]
            if clustered:
                estimates.append(estimate.value)
                variances.append(estimate.error**2)
                covered += inside
                assert estimate.design_effect is not None
                assert estimate.design_effect > 1.5
            else:
                naive.append(estimate.error**2)
                covered_naive += inside
    true_variance = float(np.var(estimates, ddof=1))
    assert 0.8 < float(np.mean(variances)) / true_variance < 1.25
    assert covered >= 0.92 * DRAWS
    # Near miss: the same persons as if they were drawn one by one.
    assert float(np.mean(naive)) / true_variance < 0.6
    assert covered_naive < 0.9 * DRAWS


def test_successive_differences_see_what_the_order_of_areas_gains() -> None:
    terms = np.repeat([0.0, 10.0, -10.0], 50) + np.tile([-1.0, 1.0], 75)
    sorted_list = Clusters(
        cluster=np.arange(150), count=150, weights=np.ones(150), fraction=0.1, along_list=True
    )
    no_order = Clusters(
        cluster=np.arange(150), count=150, weights=np.ones(150), fraction=0.1, along_list=False
    )
    along, without = variance_of_sum(terms, sorted_list), variance_of_sum(terms, no_order)
    assert along is not None
    assert without is not None
    assert along < without / 10
    assert without == pytest.approx(0.9 * 150 / 149 * float(((terms - terms.mean()) ** 2).sum()))


def test_ends_all_households_one_household_and_nobody() -> None:
    whole = Clusters(
        cluster=np.array([0, 0, 1]), count=2, weights=np.ones(3), fraction=1.0, along_list=True
    )
    estimate = ratio_estimate(np.array([1.0, 0.0, 1.0]), whole)
    assert estimate is not None
    assert (estimate.error, estimate.errors_from(2 / 3)) == (0.0, 0.0)
    assert estimate.errors_from(0.5) == float("inf")
    single = Clusters(
        cluster=np.array([0, 0]), count=1, weights=np.ones(2), fraction=0.5, along_list=False
    )
    alone = ratio_estimate(np.array([1.0, 0.0]), single)
    assert alone is not None
    assert (alone.value, alone.error, alone.interval) == (0.5, None, None)
    assert ratio_estimate(np.ones(2), single, np.zeros(2, dtype=bool)) is None
    assert total_estimate(np.ones(2), single).value == 2.0
    assert "confidential" in repr(estimate)


def test_shares_of_many_codes_are_those_of_one_code_at_a_time() -> None:
    country = Country(households=300)
    members, clusters = country.clusters(country.draw(0.2, 3), 0.2, clustered=True)
    codes = (country.household[members] * 7) % 5
    for code, estimate in zip((4, 0, 2), share_estimates(codes, (4, 0, 2), clusters), strict=True):
        single = ratio_estimate((codes == code).astype(float), clusters)
        assert single is not None
        assert estimate is not None
        assert estimate.value == pytest.approx(single.value)
        assert estimate.error == pytest.approx(single.error)
        assert estimate.design_effect == pytest.approx(single.design_effect)
