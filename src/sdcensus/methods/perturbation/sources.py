"""Rows of a perturbation table from elsewhere than maximum entropy: normal, geometric, by units."""

from __future__ import annotations

import math
from collections.abc import Sequence
from enum import StrEnum

from sdcensus.errors import SpecError
from sdcensus.kernels.perturbation.unit_deviations import MOST_UNITS, unit_probabilities
from sdcensus.model.perturbation.design import BIAS_TOLERANCE, DesignRow, PerturbationDesign
from sdcensus.model.perturbation.table import Perturbation, Tail
from sdcensus.model.vocabulary import option

#: The largest deviation of any row that is designed here.
MOST_DEVIATION = 50
_ZERO_STAYS = DesignRow((0,), (1.0,))


class Discretisation(StrEnum):
    """How a continuous distribution becomes one of whole numbers.

    ``round``: a continuous draw between the limits, rounded to the nearest whole number.
    ``pmf``: the density at the whole numbers, in proportion.
    """

    ROUND = "round"
    PMF = "pmf"


def truncated_normal(
    standard_deviation: float,
    *,
    limit: int = 5,
    discretisation: Discretisation | str = Discretisation.ROUND,
) -> PerturbationDesign:
    """Normal noise between limits, as the lookup tables that the ONS studied for 2011.

    The noise of a count ``c`` lies between ``-c`` and ``limit``, and from ``limit`` on between
    ``-limit`` and ``limit``. Small counts therefore grow on average: those rows are declared as
    biased. The study does not say how noise became whole numbers, nor does it name the spread
    consistently: its mean distances fit a standard deviation of 2, its marginal bias a variance
    of 2.

    Args:
        standard_deviation: Of the normal distribution, before it is cut off.
        limit: The largest deviation.
        discretisation: ``round`` or ``pmf``.
    """
    way = option(Discretisation, "discretisation", discretisation)
    if not (math.isfinite(standard_deviation) and standard_deviation > 0):
        raise SpecError("The standard deviation is a number above 0.")
    _check_limit(limit, "The limit")
    rows = [_ZERO_STAYS]
    for count in range(1, limit + 1):
        values = range(-count, limit + 1)
        if way is Discretisation.ROUND:
            shares = [
                _between(
                    max(value - 0.5, -count) / standard_deviation,
                    min(value + 0.5, limit) / standard_deviation,
                )
                for value in values
            ]
        else:
            shares = [math.exp(-0.5 * (value / standard_deviation) ** 2) for value in values]
        rows.append(_row(values, shares))
    parameters = (
        ("source", "truncated normal"),
        ("standard_deviation", standard_deviation),
        ("limit", limit),
        ("discretisation", way.value),
    )
    return _design(rows, parameters)


def two_sided_geometric(epsilon: float, max_deviation: int) -> PerturbationDesign:
    """Noise that falls by the factor ``exp(-epsilon)`` with each step away from 0, cut off.

    Also called discrete Laplace. Where noise would make a count negative, 0 is published: the
    probability of all such deviations goes to the one that leads to 0. Rows of counts below the
    largest deviation are then biased, and declared as that. Renormalising what is left would
    double that bias, and would tell counts apart more than the noise itself does.

    Zeros stay and the noise is bounded, so this is not differentially private at any useful
    level; ``single_count_delta`` says how far it is from that.

    Args:
        epsilon: How steeply probabilities fall.
        max_deviation: The largest deviation.
    """
    if not (math.isfinite(epsilon) and epsilon > 0):
        raise SpecError("Epsilon is a number above 0.")
    _check_limit(max_deviation, "The largest deviation")
    span = range(-max_deviation, max_deviation + 1)
    shares = [math.exp(-epsilon * abs(value)) for value in span]
    rows = [_ZERO_STAYS]
    for count in range(1, max_deviation + 1):
        cut = max_deviation - count
        rows.append(_row(span[cut:], [math.fsum(shares[: cut + 1]), *shares[cut + 1 :]]))
    parameters = (
        ("source", "two-sided geometric"),
        ("epsilon", epsilon),
        ("max_deviation", max_deviation),
    )
    return _design(rows, parameters)


def per_unit_deviations(units: int, *, largest: int = 200) -> PerturbationDesign:
    """Sums of deviations of single units, as the ABS studied in 2005.

    Of the ``n`` units of a count, ``units`` change on average (all of them in smaller counts): two
    times in three by -1, else by +2. The variance is ``2 * min(n, units)``. Every count has a row
    of its own; from ``largest`` on the last one serves them all, whose distribution hardly changes
    any more. ``PerUnitDeviations`` publishes tables by the exact row of every count.

    Args:
        units: How many units change on average, the ``x`` of the study.
        largest: The count of the last row.
    """
    check_units(units)
    if type(largest) is not int or not units < largest <= 10_000:
        raise SpecError(
            f"The last row is that of a count from {units + 1} to 10000: of one in which not every"
            " unit changes."
        )
    rows = []
    for count in range(largest + 1):
        of = unit_probabilities(units, count)
        rows.append(DesignRow(tuple(of), tuple(float(chance) for chance in of.values())))
    parameters = (("source", "per-unit deviations"), ("units", units), ("largest", largest))
    return _design(rows, parameters)


def check_units(units: int) -> None:
    """Refuse a number of changed units for which rows cannot be made."""
    if type(units) is not int or not 1 <= units <= MOST_UNITS:
        raise SpecError(
            f"The number of units that change on average is a whole number from 1 to {MOST_UNITS};"
            " 2, 4 and 6 are usual."
        )


def single_count_delta(
    perturbation: Perturbation, epsilon: float, *, count: int | None = None
) -> float:
    """How far the noise of one count is from hiding one record up to a factor ``exp(epsilon)``.

    The smallest ``delta`` for which what is published of a count and of the next one differ by
    no more than the factor, but for a probability of ``delta``; in both directions. An indicator
    of risk for comparing tables, not a guarantee: noise is reused, and zeros stay.

    Args:
        perturbation: A design or a table.
        epsilon: The logarithm of the factor, 0 or more.
        count: The smaller of the two counts; the worst of the large counts without it.

    Examples:
        >>> single_count_delta(two_sided_geometric(1.0, 20), 1.0, count=30) < 1e-8
        True
    """
    if not epsilon >= 0:
        raise SpecError("Epsilon is a number from 0 on.")
    tail = perturbation.tail
    smaller = [count] if count is not None else range(tail.start, tail.start + tail.period)
    return max(_delta(perturbation, epsilon, lower) for lower in smaller)


def _delta(perturbation: Perturbation, epsilon: float, count: int) -> float:
    one, other = _published(perturbation, count), _published(perturbation, count + 1)
    factor = math.exp(epsilon)
    return max(
        math.fsum(max(0.0, chance - factor * right.get(value, 0.0)) for value, chance in left)
        for left, right in ((one.items(), other), (other.items(), one))
    )


def _published(perturbation: Perturbation, count: int) -> dict[int, float]:
    return {
        count + value: float(chance)
        for value, chance in perturbation.distribution(perturbation.tail.row(count))
    }


def _check_limit(limit: int, name: str) -> None:
    if type(limit) is not int or not 1 <= limit <= MOST_DEVIATION:
        raise SpecError(f"{name} is a whole number from 1 to {MOST_DEVIATION}.")


def _between(low: float, high: float) -> float:
    """The probability of a standard normal number between two, precise also far from 0."""
    if low > 0:
        low, high = -high, -low
    if high < 0:
        return (math.erfc(-high / math.sqrt(2)) - math.erfc(-low / math.sqrt(2))) / 2
    return (math.erf(high / math.sqrt(2)) - math.erf(low / math.sqrt(2))) / 2


def _row(values: Sequence[int], shares: Sequence[float]) -> DesignRow:
    whole = math.fsum(shares)
    return DesignRow(tuple(values), tuple(share / whole for share in shares))


def _design(
    rows: Sequence[DesignRow], parameters: tuple[tuple[str, float | int | str], ...]
) -> PerturbationDesign:
    """Rows of the counts from 0 on; the last one serves all larger counts."""
    biased = frozenset(
        at
        for at, row in enumerate(rows)
        if abs(math.fsum(v * p for v, p in zip(row.deviations, row.probabilities, strict=True)))
        > BIAS_TOLERANCE
    )
    return PerturbationDesign(
        rows=tuple(rows), tail=Tail(len(rows) - 1), biased=biased, parameters=parameters
    )
