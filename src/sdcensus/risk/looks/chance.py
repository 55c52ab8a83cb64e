"""From looks to chances: how often they find a true count, and what noise prevents it."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.perturbation.table import Perturbation

#: More ways in which several publications can turn out than are worth going through.
MOST_OUTCOMES = 2_000_000
#: The expected number of sums that give all their parts away, at most.
ALPHA = 0.01
#: Limits nearer to 0 or to 1 mean nothing for counts, and have no variance that can be computed.
NEAREST = 1e-9

_NORMAL = NormalDist()


def recovery(looks: float, variance: float) -> float:
    """The chance that the best linear estimate of all looks, rounded, is the true count.

    The estimate has the variance ``variance / looks`` and is taken to be normal, so that the
    chance is ``2 * Phi(sqrt(looks / variance) / 2) - 1``.

    Examples:
        >>> round(recovery(1, 1.0), 3), round(recovery(7.5, 1.0), 3), recovery(1, 0)
        (0.383, 0.829, 1.0)
    """
    _check_looks(looks)
    if not variance >= 0 or math.isinf(variance):
        raise SpecError("A variance is a number of 0 or more.")
    if variance == 0:
        return 1.0
    return math.erf(math.sqrt(looks / variance / 8))


def recoveries(
    looks: npt.NDArray[np.float64], perturbation: Perturbation
) -> npt.NDArray[np.float64]:
    """The chance for many cells of large counts, with the distribution of the noise itself.

    In the best linear estimate, the published value of the cell has the weight ``1 / looks``, and
    everything else has many small ones. So the error is a deviation divided by the looks, plus
    something that is nearly normal with the rest of the variance. A normal error altogether is
    wrong by up to .04 for less than three looks (tables designed by variance; rounding: .16).
    """
    from scipy.special import ndtr

    chances = np.zeros(looks.shape)
    variance = large_variance(perturbation)
    rest = np.sqrt(variance * np.maximum(looks - 1, 0)) / looks
    scale = np.maximum(rest, 1e-9)
    counts = _large_counts(perturbation)
    for count in counts:
        deviations = perturbation.deviations(count).tolist()
        for deviation, chance in zip(
            deviations, perturbation.probabilities(count).tolist(), strict=True
        ):
            middle = deviation / looks
            chances += chance * (ndtr((0.5 - middle) / scale) - ndtr((-0.5 - middle) / scale))
    return np.asarray(chances / len(counts), dtype=np.float64)


def recovery_with(looks: float, perturbation: Perturbation) -> float:
    """The chance that an intruder finds a large count, with the distribution of the noise itself.

    He takes the best linear estimate, or guesses from the published value of the cell alone, which
    is sometimes better where the looks are few.

    Examples:
        >>> from sdcensus.methods.perturbation.schemes import scheme
        >>> [round(recovery_with(looks, scheme("CP3")), 2) for looks in (1, 1.5, 3, 10)]
        [0.4, 0.4, 0.52, 0.8]
    """
    _check_looks(looks)
    return max(best_guess(perturbation), float(recoveries(np.array([looks]), perturbation)[0]))


def variance_for(looks: float, limit: float) -> float:
    """The smallest variance with which that many looks find a count at most this often.

    Examples:
        >>> round(variance_for(1, 0.5), 3), round(variance_for(7.5, 0.5), 2)
        (0.55, 4.12)
    """
    _check_looks(looks)
    if not NEAREST <= limit <= 1 - NEAREST:
        raise SpecError(
            f"A limit for the chance of recovery lies between 0 and 1, and not at {limit:g}: choose"
            " one such as 0.5."
        )
    quantile = _NORMAL.inv_cdf((1 + limit) / 2)
    return looks / (4 * quantile * quantile)


def most_looks(variance: float, limit: float) -> float:
    """The most looks that noise of this variance withstands: the same relation the other way.

    Examples:
        >>> round(most_looks(1.0, 0.5), 2)
        1.82
    """
    return variance / variance_for(1, limit)


def best_guess(perturbation: Perturbation, publications: int = 1) -> float:
    """The chance to guess a large count from independent publications of it, exactly.

    Whoever guesses knows the perturbation, takes every count for equally likely beforehand, and
    names the one that explains all published values best. One publication is a single table; more
    of them are the same table under other keys.

    Examples:
        >>> from sdcensus.methods.perturbation.schemes import scheme
        >>> [round(best_guess(scheme("CP3(EU)"), times), 2) for times in (1, 2, 3, 5, 10)]
        [0.4, 0.5, 0.62, 0.74, 0.88]
    """
    if type(publications) is not int or publications < 1:
        raise SpecError("A count is published once or more often: a whole number from 1 on.")
    counts = _large_counts(perturbation)
    return math.fsum(_guessed(perturbation, count, publications) for count in counts) / len(counts)


def hypercube_looks(sizes: Iterable[int]) -> float:
    """The looks at a grand total in one table with all its margins: the product of 1 + 1/n.

    Examples:
        >>> hypercube_looks([2, 4])
        1.875
    """
    sizes_of_parts = list(sizes)
    if any(size < 1 for size in sizes_of_parts):
        raise SpecError("Every axis of a table has at least one code.")
    return math.prod(1 + 1 / size for size in sizes_of_parts if size > 1)


def margin_exploit(edge: float, constraints: int, parts: int = 2) -> float:
    """How many sums are expected to give all their parts away at once.

    That happens where every part has the largest deviation in one direction and the total in the
    other. For ``constraints`` sums of ``parts`` parts with independent noise it is expected
    ``constraints * 2 * edge ** (parts + 1)`` times.

    Args:
        edge: The probability of the largest deviation in one direction, for large counts.
        constraints: How many sums are published together with their totals.
        parts: How many noisy parts a sum has; few parts are the worst.

    Examples:
        >>> f"{margin_exploit(0.25, 1):.3f}"
        '0.031'
    """
    if not 0 <= edge <= 1:
        raise SpecError("A probability lies between 0 and 1.")
    if constraints < 0 or parts < 1:
        raise SpecError("There are 0 or more sums, and each has at least one part.")
    return constraints * 2 * edge ** (parts + 1)


@dataclass(frozen=True, slots=True, repr=False)
class Requirement(Confidential):
    """What a perturbation needs so that neither averaging nor margins give counts away.

    Confidential, since the perturbation that is made from it is.

    Attributes:
        looks: At the worst cell.
        limit: The chance of finding its count stays at or below it.
        edge: The largest probability of the largest deviation in one direction, for margins.
    """

    looks: float
    limit: float
    edge: float

    def __repr__(self) -> str:
        return "<Requirement: confidential>"

    @property
    def variance(self) -> float:
        """At least this, for averaging."""
        return variance_for(self.looks, self.limit)

    def met_by(self, perturbation: Perturbation) -> bool:
        """Whether a perturbation meets all of it, for large counts."""
        return (
            large_variance(perturbation) >= self.variance - 1e-9
            and edge_probability(perturbation) <= self.edge
            and recovery_with(self.looks, perturbation) <= self.limit
        )

    def also(self, other: Requirement) -> Requirement:
        """What meets this one and another."""
        harder = max(self, other, key=lambda one: one.variance)
        return Requirement(harder.looks, harder.limit, min(self.edge, other.edge))


def required(
    looks: float,
    limit: float,
    constraints: int | Mapping[int, int],
    alpha: float = ALPHA,
    parts: int = 2,
) -> Requirement:
    """The variance and the largest edge probability that a menu or a plan asks for.

    Args:
        looks: The looks at the worst cell.
        limit: The chance of recovery by averaging stays at or below it.
        constraints: How many sums are published with their totals; or how many of each number
            of parts.
        alpha: The expected number of sums that give all their parts away stays at or below it.
        parts: How many noisy parts a sum has, where ``constraints`` is one number.
    """
    lines = constraints if isinstance(constraints, Mapping) else {parts: constraints}
    if not 0 < alpha <= 1:
        raise SpecError("The expected number of sums that are given away is above 0, at most 1.")

    def given_away(edge: float) -> float:
        return math.fsum(margin_exploit(edge, often, number) for number, often in lines.items())

    low, high = 0.0, 1.0
    if given_away(high) > alpha:  # it grows with the edge, so halving finds the largest one
        for _ in range(200):
            middle = (low + high) / 2
            low, high = (middle, high) if given_away(middle) <= alpha else (low, middle)
    else:
        low = high
    variance_for(looks, limit)  # refuses what is out of range
    return Requirement(looks, limit, low)


def edge_probability(perturbation: Perturbation) -> float:
    """The larger of the probabilities that a large count moves by the most, down or up."""
    widest = perturbation.max_deviation
    largest = 0.0
    for count in _large_counts(perturbation):
        chances = perturbation.probabilities(count)
        at_edge = np.abs(perturbation.deviations(count)) == widest
        largest = max([largest, *chances[at_edge].tolist()])
    return largest


def large_variance(perturbation: Perturbation) -> float:
    """The variance of the deviation of large counts; of rounding the mean over remainders."""
    counts = _large_counts(perturbation)
    return math.fsum(perturbation.variance(count) for count in counts) / len(counts)


def _large_counts(perturbation: Perturbation) -> range:
    """Counts of every row of the tail, so large that none that may be meant is near 0."""
    first = perturbation.tail.rows + 2 * perturbation.max_deviation
    return range(first, first + perturbation.tail.period)


def _check_looks(looks: float) -> None:
    if not looks >= 1 or math.isinf(looks):
        raise SpecError("A cell is seen at least once: looks are 1 or more.")


def _guessed(perturbation: Perturbation, count: int, publications: int) -> float:
    """The chance to guess one count; where several explain the values alike, one is drawn."""
    targets = perturbation.targets(count)
    outcomes = math.comb(publications + len(targets) - 1, publications)
    if outcomes > MOST_OUTCOMES:
        raise SpecError(
            f"{publications} publications of a count with {len(targets)} possible values can turn"
            " out in too many ways to go through. Ask for fewer, or take the normal formula."
        )
    often = _compositions(publications, len(targets))
    reach = perturbation.max_deviation
    scores = np.stack(
        [
            _likelihoods(often, _log_chances(perturbation, other, targets))
            for other in range(count - 2 * reach, count + 2 * reach + 1)
        ]
    )
    own = scores[2 * reach]
    best = scores.max(axis=0)
    ties = (scores >= best - 1e-9).sum(axis=0)
    ways = math.lgamma(publications + 1) - _log_factorials(publications)[often].sum(axis=1)
    right = own >= best - 1e-9
    return float((np.exp(ways + own)[right] / ties[right]).sum())


def _likelihoods(
    often: npt.NDArray[np.int64], logarithms: npt.NDArray[np.float64]
) -> npt.NDArray[np.float64]:
    """Log-likelihoods of outcomes; what never happened may be impossible."""
    possible = np.isfinite(logarithms)
    score = often[:, possible] @ logarithms[possible]
    score[(often[:, ~possible] > 0).any(axis=1)] = -np.inf
    return np.asarray(score, dtype=np.float64)


def _log_chances(
    perturbation: Perturbation, count: int, targets: npt.NDArray[np.int64]
) -> npt.NDArray[np.float64]:
    by_target = dict(
        zip(
            perturbation.targets(count).tolist(),
            perturbation.probabilities(count).tolist(),
            strict=True,
        )
    )
    chances = [by_target.get(target, 0.0) for target in targets.tolist()]
    return np.array([math.log(chance) if chance > 0 else -math.inf for chance in chances])


def _log_factorials(largest: int) -> npt.NDArray[np.float64]:
    return np.array([math.lgamma(number + 1) for number in range(largest + 1)])


def _compositions(total: int, places: int) -> npt.NDArray[np.int64]:
    """All ways to put ``total`` things into ``places``, one in each row."""
    rows = np.zeros((1, 0), dtype=np.int64)
    left = np.array([total], dtype=np.int64)
    for _ in range(places - 1):
        spread = left + 1
        owner = np.repeat(np.arange(left.size), spread)
        first = np.cumsum(spread) - spread
        taken = np.arange(owner.size) - first[owner]
        rows = np.column_stack([rows[owner], taken])
        left = left[owner] - taken
    return np.column_stack([rows, left])


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
