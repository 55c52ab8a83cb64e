"""The rows of a perturbation as people read them: counts in words, and what happens to them."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import groupby

from sdcensus.model.confidential import Confidential
from sdcensus.model.perturbation.design import BIAS_TOLERANCE
from sdcensus.model.perturbation.table import Perturbation, Tail

#: Probabilities below this cannot be seen in a table or a picture.
RARE = 5e-5
#: So many counts of a row that comes again and again are written down before the dots.
_WRITTEN_OUT = 3


@dataclass(frozen=True, slots=True, repr=False)
class RowSummary(Confidential):
    """One row, or several rows with the same probabilities.

    Attributes:
        counts: Which counts it serves, in words: ``3 and more``.
        count: The smallest of them.
        chances: Probabilities by deviation, in ascending order.
        bias: The mean deviation; 0 where only the last digits of a computer say otherwise.
        variance: The variance of the deviation.
        size: The mean size of the deviation.
        entropy: The uncertainty of the deviation, in bits.
        stay: The probability that a count is published as it is.
        becomes_zero: The probability that the smallest count of the row is published as 0.
    """

    counts: str
    count: int
    chances: Mapping[int, float]
    bias: float
    variance: float
    size: float
    entropy: float
    stay: float
    becomes_zero: float

    def __repr__(self) -> str:
        return f"<RowSummary of {self.counts}: confidential>"


def rows_of(perturbation: Perturbation) -> tuple[RowSummary, ...]:
    """The rows in order of counts; neighbours with the same probabilities are one row."""
    return tuple(
        _summary(perturbation, _words(perturbation.tail, first, last), first)
        for first, last in _groups(perturbation)
    )


def large_counts(perturbation: Perturbation) -> RowSummary:
    """What happens to large counts on the whole, where every row of the tail is as frequent."""
    tail = perturbation.tail
    rows = [
        _summary(perturbation, "", count) for count in range(tail.start, tail.start + tail.period)
    ]
    if len(rows) == 1:
        return _summary(perturbation, f"{tail.start} and more", tail.start)
    deviations = sorted({value for row in rows for value in row.chances})
    chances = {
        value: math.fsum(row.chances.get(value, 0.0) for row in rows) / len(rows)
        for value in deviations
    }

    def mean(values: Iterator[float]) -> float:
        return math.fsum(values) / len(rows)

    return RowSummary(
        counts="large counts",
        count=tail.start,
        chances=chances,
        bias=mean(row.bias for row in rows),
        variance=mean(row.variance for row in rows),
        size=mean(row.size for row in rows),
        entropy=mean(row.entropy for row in rows),
        stay=mean(row.stay for row in rows),
        becomes_zero=0.0,
    )


def chances_of(perturbation: Perturbation, count: int) -> dict[int, float]:
    """The probability of each deviation of a count."""
    deviations = perturbation.deviations(count).tolist()
    return dict(zip(deviations, perturbation.probabilities(count).tolist(), strict=True))


def first_and_last(rows: Sequence[RowSummary], most: int) -> tuple[RowSummary, ...]:
    """So many of the rows: the first ones, and the last one, which serves large counts."""
    return tuple(rows) if len(rows) <= most else (*rows[: most - 1], rows[-1])


def shown_deviations(rows: Sequence[RowSummary]) -> tuple[int, ...]:
    """Every whole number between the changes that have a probability worth showing."""
    values = [value for row in rows for value, share in row.chances.items() if share >= RARE]
    return tuple(range(min(values), max(values) + 1))


def multiples_of(perturbation: Perturbation) -> int:
    """The base of a rounding, of which only multiples are published; 0 for anything else."""
    tail = perturbation.tail
    base = math.gcd(
        *(value for count in range(tail.rows) for value in perturbation.targets(count).tolist())
    )
    return base if base > 1 and tail.period % base == 0 else 0


def tail_sentence(perturbation: Perturbation) -> str:
    """Which row serves large counts."""
    tail = perturbation.tail
    first, last = list(_groups(perturbation))[-1]
    if first <= tail.start and last == tail.rows - 1:
        turns = f" ({tail.period} rows take turns)" if tail.period > 1 else ""
        return f"All counts from {first} on are treated alike{turns}."
    if not tail.start:
        return (
            f"Counts go by their remainder after division by {tail.period}:"
            f" {_repeating(tail, 1)} are treated alike."
        )
    return (
        f"From {tail.start} on, {tail.period} rows take turns: {_repeating(tail, tail.start)} are"
        " treated alike."
    )


def _summary(perturbation: Perturbation, counts: str, count: int) -> RowSummary:
    return RowSummary(
        counts=counts,
        count=count,
        chances=chances_of(perturbation, count),
        bias=_tidy(perturbation.bias(count)),
        variance=max(0.0, perturbation.variance(count)),
        size=perturbation.mean_absolute_deviation(count),
        entropy=max(0.0, perturbation.entropy(count)),
        stay=perturbation.stay(count),
        becomes_zero=perturbation.becomes_zero(count),
    )


def _tidy(bias: float | Fraction) -> float:
    """Nothing where only the last digits of a float say otherwise; what is exact stays."""
    if isinstance(bias, Fraction) or abs(bias) > BIAS_TOLERANCE:
        return float(bias)
    return 0.0


def _groups(perturbation: Perturbation) -> Iterator[tuple[int, int]]:
    """First and last count of neighbouring rows that do the same; each row is seen once."""
    tail = perturbation.tail

    def same(count: int) -> tuple[object, ...]:
        # Empty cells are told apart from others even if nothing changes at all.
        return count == 0, perturbation.distribution(tail.row(count))

    for _, counts in groupby(range(tail.rows), key=same):
        members = list(counts)
        yield members[0], members[-1]


def _words(tail: Tail, first: int, last: int) -> str:
    """Counts from one to another, and those that use the same rows."""
    if last < tail.start:
        return str(first) if first == last else f"{first} to {last}"
    if first <= tail.start and last == tail.rows - 1:
        return f"{first} and more"
    if first == last:
        return _repeating(tail, first)
    return f"{first} to {last}, again every {tail.period}"


def _repeating(tail: Tail, first: int) -> str:
    counts = (str(first + at * tail.period) for at in range(_WRITTEN_OUT))
    return f"{', '.join(counts)} ..."
