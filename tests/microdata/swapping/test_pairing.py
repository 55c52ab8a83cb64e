"""The search for partners finds whom its definition finds, and says rightly why it found nobody."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from hypothesis import given, settings, strategies as st

from sdcensus.microdata.swapping.pairing import (
    Failure,
    Places,
    Rules,
    failure_reasons,
    find_pairs,
)
from sdcensus.microdata.swapping.profiles import Profile
from tests.microdata.swapping.plain_pairing import plain_pairs

Integers = npt.NDArray[Any]


def profile(draw: np.random.Generator, size: int, *, wide: bool) -> Profile:
    """Classes 0 to 4; if wide, neighbouring numbers match."""
    classes = draw.integers(0, 5, size)
    if not wide:
        return Profile("", classes, 5, np.arange(6), np.arange(5))
    near = [[other for other in range(5) if abs(one - other) <= 1] for one in range(5)]
    starts = np.cumsum([0, *map(len, near)])
    return Profile("~", classes, 5, starts, np.concatenate([np.array(each) for each in near]))


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 10**6))
def test_pairs_are_those_of_the_definition(seed: int) -> None:
    draw = np.random.default_rng(seed)
    size = int(draw.integers(2, 60))
    profiles = tuple(profile(draw, size, wide=bool(draw.integers(0, 2))) for _ in range(2))
    # Few areas, of which one is large, as that is where a queue could be read again and again.
    area = (draw.random(size) ** 2 * draw.integers(1, 7)).astype(np.int64)
    region = None if draw.random() < 0.4 else area // 2
    spread = int(draw.integers(1, 20))
    places = Places(draw.integers(-spread, spread, size), draw.integers(0, spread, size))
    farthest = None if draw.random() < 0.4 else int(draw.integers(0, 12))
    rules = Rules(profiles=profiles, area=area, region=region, places=places, farthest=farthest)
    initiators = draw.permutation(size)[: draw.integers(0, size + 1)]
    donors = draw.permutation(size)[: draw.integers(0, size + 1)]
    taken = draw.random(size) < 0.1
    quota = int(draw.integers(0, 12))

    def close(one: int, other: int) -> bool:
        gap = (places.x[one] - places.x[other]) ** 2 + (places.y[one] - places.y[other]) ** 2
        return farthest is None or gap <= farthest**2

    def inside(one: int, other: int) -> bool:
        return region is None or region[one] == region[other]

    def allowed(one: int, other: int) -> bool:
        return bool(area[one] != area[other] and inside(one, other) and close(one, other))

    def alike(number: int, one: int, other: int) -> bool:
        return bool(profiles[number].similar(np.array([one]), np.array([other]))[0])

    used = taken.copy()
    found = find_pairs(rules, initiators, donors, used, turn_starts=[0], quotas=[quota])
    known = set(np.flatnonzero(taken).tolist())
    pairs, failed = plain_pairs(
        initiators.tolist(), donors.tolist(), 2, alike, allowed, known, quota
    )
    columns = (found.initiators, found.partners, found.profiles)
    assert list(zip(*(column.tolist() for column in columns), strict=True)) == pairs
    assert found.failed.tolist() == failed
    assert set(np.flatnonzero(used).tolist()) == known
    expected = []
    for unit in failed:
        like = [
            other
            for other in donors.tolist()
            if other != unit and any(alike(number, unit, other) for number in range(2))
        ]
        away = [other for other in like if area[other] != area[unit]]
        nearby = [other for other in away if inside(unit, other)]
        if not like:
            expected.append(Failure.NOBODY_ALIKE)
        elif not away:
            expected.append(Failure.OWN_AREA)
        elif not nearby:
            expected.append(Failure.REGION)
        elif not any(close(unit, other) for other in nearby):
            expected.append(Failure.DISTANCE)
        else:
            expected.append(Failure.TAKEN)
    assert failure_reasons(rules, found.failed, donors) == expected


def test_turns_end_when_their_quota_is_reached() -> None:
    size = 40
    rules = Rules(
        profiles=(Profile("", np.zeros(size, dtype=np.int64), 1, np.arange(2), np.arange(1)),),
        area=np.arange(size) % 4,
    )
    initiators = np.argsort(rules.area, kind="stable")
    used = np.zeros(size, dtype=bool)
    pairs = find_pairs(
        rules, initiators, np.arange(size), used, turn_starts=[0, 10, 20, 30], quotas=[3, 0, 2, 1]
    )
    assert np.bincount(rules.area[pairs.initiators], minlength=4).tolist() == [3, 0, 2, 1]
    assert used.sum() == 12
