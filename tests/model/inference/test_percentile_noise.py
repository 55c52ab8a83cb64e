"""How far noise moves a percentile, against draws of noise."""

from __future__ import annotations

import numpy as np

from sdcensus.model.inference.percentile_noise import noise_interval
from sdcensus.model.published.figures import Counted
from sdcensus.model.published.percentiles import percentile


def test_the_interval_of_the_noise_holds_the_value_without_noise() -> None:
    """Against a draw of noise of known variance: 2 standard deviations hold 19 of 20, or so."""
    draw = np.random.default_rng(5)
    true = np.array([40, 60, 120, 80, 50, 30, 20])
    lower = [0, 100, 200, 300, 400, 500, 600]
    upper = [99, 199, 299, 399, 499, 599, None]
    noise = draw.integers(-5, 6, size=(2_000, 7))
    variance = float(np.var(np.arange(-5, 6)))
    published = true + noise
    for percent in (25, 50, 75):
        interval = noise_interval(published, lower, upper, percent, variance)
        exact = int(percentile(Counted(true), lower, upper, percent, decimals=3).values) / 1000
        inside = (interval.low <= exact) & (exact <= interval.high)
        assert 0.93 < inside.mean() < 0.99
        assert (interval.high > interval.low).all()
    twice = noise_interval(published, lower, upper, 50, 4 * variance)
    once = noise_interval(published, lower, upper, 50, variance)
    assert ((twice.high - twice.low) > (once.high - once.low)).all()


def test_the_interval_of_the_noise_ends_where_classes_do() -> None:
    interval = noise_interval(np.array([2, 1, 4]), [0, 10, 20], [9, 19, None], 50, 9.0)
    assert interval.low == 0
    assert np.isinf(interval.high)
