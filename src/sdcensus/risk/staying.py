"""Counts that a perturbation nearly always publishes as they are. Confidential."""

from __future__ import annotations

from collections.abc import Iterator

from sdcensus.model.perturbation.rows import Perturbation

#: A count that stays more often than this is as good as published exactly.
LARGEST_STAY = 0.9


def counts_that_stay(perturbation: Perturbation, limit: float = LARGEST_STAY) -> Iterator[int]:
    """The counts from 1 up that stay with a probability above a limit; one of each row.

    Rounding leaves multiples of its base as they are and moves the counts around them there: a
    count to which others come at least as often as it stays tells its readers little, and is no
    such count.

    Examples:
        >>> from sdcensus.methods.perturbation.schemes import scheme
        >>> list(counts_that_stay(scheme("RR3"))), list(counts_that_stay(scheme("CP3")))
        ([], [])
    """
    tail, farthest = perturbation.tail, perturbation.max_deviation
    for count in range(1, tail.rows + tail.period + 1):
        stays = perturbation.stay(count)
        if stays <= limit:
            continue
        others = range(max(1, count - farthest), count + farthest + 1)
        coming = sum(_chance(perturbation, other, count) for other in others if other != count)
        if coming < stays:
            yield count


def _chance(perturbation: Perturbation, count: int, published: int) -> float:
    """The probability that a count is published as another."""
    return float(perturbation.probabilities(count)[perturbation.targets(count) == published].sum())
