"""Waiting times are exponential, and the same whole numbers everywhere."""

from __future__ import annotations

import math

import numpy as np

from sdcensus.kernels.swapping.order import UNIT, waiting_times


def test_waits_are_minus_the_logarithm() -> None:
    words = np.random.default_rng(1).integers(0, 1 << 64, 5000, dtype=np.uint64)
    words = np.concatenate([words, np.array([0, (1 << 64) - 1, 1 << 12], dtype=np.uint64)])
    exact = [-math.log(((int(word) >> 12) * 2 + 1) / 2**53) * UNIT for word in words.tolist()]
    assert np.abs(waiting_times(words).astype(float) - exact).max() <= 1.0


def test_waits_have_the_distribution_that_they_claim() -> None:
    words = np.random.default_rng(2).integers(0, 1 << 64, 200_000, dtype=np.uint64)
    waits = waiting_times(words) / UNIT
    for mean, accepted in ((1.0, True), (1.03, False)):
        share = (waits > mean).mean()
        assert bool(abs(share - math.exp(-1)) < 0.006) is accepted


def test_numbers_that_every_platform_must_give() -> None:
    words = np.array([0, 1 << 63, 0x0123456789ABCDEF, (1 << 64) - 1], dtype=np.uint64)
    assert waiting_times(words).tolist() == [157783357006, 2977044471, 23261974099, 0]
