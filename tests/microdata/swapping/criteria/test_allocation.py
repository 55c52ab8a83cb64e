"""How many swaps begin where: by size and risk as the formula says, and no area beyond itself."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from sdcensus.microdata.swapping.criteria.allocation import Allocation, area_shares, pair_by_area
from sdcensus.microdata.swapping.pairing import Rules
from sdcensus.microdata.swapping.profiles import Profile


def alike(classes: list[int]) -> Profile:
    numbers = np.array(classes, dtype=np.int64)
    count = int(numbers.max(initial=0)) + 1
    return Profile("", numbers, count, np.arange(count + 1), np.arange(count))


@given(
    areas=st.lists(
        st.tuples(st.integers(0, 500), st.floats(0, 1)).map(lambda a: (a[0], int(a[0] * a[1]))),
        min_size=1,
        max_size=20,
    )
)
def test_half_by_one_over_the_size_and_half_by_the_share_at_risk(
    areas: list[tuple[int, int]],
) -> None:
    units = np.array([size for size, _ in areas], dtype=np.int64)
    at_risk = np.array([risky for _, risky in areas], dtype=np.int64)
    shares = area_shares(Allocation.SIZE_AND_RISK, units, at_risk)
    size = np.array([1 / size if size else 0.0 for size, _ in areas])
    risk = np.array([risky / size if size else 0.0 for size, risky in areas])
    parts = [part / part.sum() for part in (size, risk) if part.sum()]
    if not parts:
        assert not shares.any()
        return
    assert (shares / shares.sum()).tolist() == pytest.approx(
        (sum(parts) / len(parts)).tolist(), abs=1e-6
    )


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 10**6), number=st.integers(0, 40))
def test_flagged_units_begin_before_others_and_the_number_is_reached_if_it_can_be(
    seed: int, number: int
) -> None:
    draw = np.random.default_rng(seed)
    size = int(draw.integers(2, 60))
    area = draw.integers(0, 5, size)
    flagged = draw.random(size) < 0.3
    classes = draw.integers(0, 3, size)
    rules = Rules(profiles=(alike((classes * 2 + flagged).tolist()),), area=area)
    order = draw.permutation(size)
    groups = [
        (order[mask[order]], np.bincount(area[mask], minlength=5).astype(np.int64))
        for mask in (flagged, ~flagged)
    ]
    used = np.zeros(size, dtype=bool)
    rounds = pair_by_area(
        rules, groups, order, used, area=area, number=number, draws=[int(seed) << 40, 7]
    )
    pairs = [
        pair
        for each in rounds
        for pair in zip(each.initiators.tolist(), each.partners.tolist(), strict=True)
    ]
    touched = [unit for pair in pairs for unit in pair]
    assert len(set(touched)) == len(touched) == used.sum()
    assert len(pairs) <= number
    left = [unit for unit in range(size) if unit not in touched]

    def fits(one: int, other: int) -> bool:
        same = classes[one] == classes[other] and flagged[one] == flagged[other]
        return bool(same and area[one] != area[other])

    if len(pairs) < number:  # then nobody is left who could be paired
        assert not any(fits(one, other) for one in left for other in left)
    if any(not flagged[one] for one, _ in pairs):  # then no two flagged are left for each other
        marked = [unit for unit in left if flagged[unit]]
        assert not any(fits(one, other) for one in marked for other in marked)
