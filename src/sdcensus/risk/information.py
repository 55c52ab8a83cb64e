"""How much a published count tells about the true one, and two of them about their difference.

The checks of the review of the Australian Bureau of Statistics (ABS, 2005), computed exactly:
from probabilities, without draws.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.perturbation.table import Perturbation

Float64 = npt.NDArray[np.float64]
#: What a count may be published as, with the probability of each value.
PublishedChances = Mapping[int, float]


def published_chances(perturbation: Perturbation, count: int) -> dict[int, float]:
    """What a count may be published as, with the probability of each value."""
    targets, chances = perturbation.targets(count), perturbation.probabilities(count)
    return dict(zip(targets.tolist(), chances.tolist(), strict=True))


def entropy(prior: Sequence[float], *, base: float | None = None) -> float:
    """How uncertain a count is that has these probabilities: 0 if one of them is 1.

    Args:
        prior: Probabilities with the sum 1.
        base: Of the logarithm; the number of probabilities without it, so that all equal have 1.
    """
    chances = _checked_prior(prior)
    return _entropy(chances) / _unit(chances, base)


def remaining_entropy(
    rows: Perturbation | Sequence[PublishedChances],
    prior: Sequence[float],
    *,
    base: float | None = None,
) -> float:
    """How uncertain the true count is on average when its published value is known.

    Args:
        rows: A perturbation, or for each count from 0 on what it may be published as.
        prior: The probabilities of the counts 0, 1, 2 ...
        base: Of the logarithm; the number of counts without it.
    """
    chances = _checked_prior(prior)
    joint = _joint(rows, chances)
    return (_entropy(joint) - _entropy(joint.sum(axis=0))) / _unit(chances, base)


def information_gain(
    rows: Perturbation | Sequence[PublishedChances], prior: Sequence[float]
) -> float | None:
    """The share of the uncertainty about a true count that its published value takes away.

    ``(H(X) - H(X|Y)) / H(X)``: 1 if the published value gives the count away, 0 if it says
    nothing; the base of the logarithm does not matter. ``None`` if the prior leaves nothing
    uncertain.

    Args:
        rows: A perturbation, or for each count from 0 on what it may be published as.
        prior: The probabilities of the counts 0, 1, 2 ...; six equal ones, for counts of 0 to 5,
            in the review of the ABS.
    """
    before = entropy(prior, base=math.e)
    if before <= 0:
        return None
    after = remaining_entropy(rows, prior, base=math.e)
    # Rounding errors must not make a gain negative, or larger than everything.
    return min(max(1 - after / before, 0.0), 1.0)


def difference_probability(
    larger: PublishedChances, smaller: PublishedChances, observed: Collection[int]
) -> float:
    """The probability that two published counts differ by one of some numbers.

    The two are perturbed independently, as two tables of different people are.

    Args:
        larger: What the larger count may be published as.
        smaller: The same for the smaller one.
        observed: Differences, published larger less published smaller.

    Examples:
        >>> coin = {0: 0.5, 2: 0.5}
        >>> difference_probability(coin, coin, {2})
        0.25
    """
    wanted = set(observed)
    return math.fsum(
        chance * other
        for value, chance in larger.items()
        for less, other in smaller.items()
        if value - less in wanted
    )


def difference_probability_of(
    perturbation: Perturbation,
    count: int,
    observed: Collection[int] = (1,),
    *,
    true_difference: int = 1,
) -> float:
    """The probability that a count and a smaller one are published with some difference.

    The review of the ABS asks how often a difference of one person shows as 1, or as 1 or 2.

    Args:
        perturbation: A design or a table.
        count: The larger true count.
        observed: The published differences that are asked for.
        true_difference: How much smaller the other count is.
    """
    if not 0 <= true_difference <= count:
        raise SpecError("The smaller of two counts is 0 or more, and not above the larger one.")
    return difference_probability(
        published_chances(perturbation, count),
        published_chances(perturbation, count - true_difference),
        observed,
    )


def _checked_prior(prior: Sequence[float]) -> Float64:
    chances = np.asarray(prior, dtype=np.float64)
    good = chances.ndim == 1 and chances.size > 0 and bool((chances >= 0).all())
    if not good or abs(float(chances.sum()) - 1) > 1e-9:
        raise SpecError("The probabilities of the counts 0, 1, 2 ... are 0 or more and sum to 1.")
    return chances


def _joint(rows: Perturbation | Sequence[PublishedChances], prior: Float64) -> Float64:
    """For each true count and published value the probability of both."""
    if isinstance(rows, Perturbation):
        rows = [published_chances(rows, count) for count in range(prior.size)]
    if len(rows) != prior.size:
        raise SpecError("Every count of the prior needs its row of published values.")
    values = sorted({value for row in rows for value in row})
    joint = np.array([[row.get(value, 0.0) for value in values] for row in rows])
    if (joint < 0).any() or (np.abs(joint.sum(axis=1) - 1) > 1e-9).any():
        raise SpecError("The probabilities of what a count is published as sum to 1.")
    weighted: Float64 = joint * prior[:, None]
    return weighted


def _entropy(chances: Float64) -> float:
    there = chances[chances > 0]
    return -math.fsum((there * np.log(there)).tolist())


def _unit(chances: Float64, base: float | None) -> float:
    if base is None:
        # With one count there is nothing uncertain, whatever the base.
        return math.log(chances.size) if chances.size > 1 else 1.0
    if not (math.isfinite(base) and base > 1):
        raise SpecError("The base of the logarithm is a number above 1.")
    return math.log(base)
