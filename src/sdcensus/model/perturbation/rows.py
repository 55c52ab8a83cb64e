"""What designs and tables of perturbation have in common: rows, and which count uses which."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential

Int64 = npt.NDArray[np.int64]
#: Deviations in ascending order, each once, with their probabilities.
Distribution = tuple[tuple[int, float | Fraction], ...]


@dataclass(frozen=True, slots=True)
class Tail:
    """Which row serves a count: its own up to ``start``, then ``period`` rows in turn.

    A count from ``start`` on uses row ``start + (count - anchor) mod period``. The symmetric last
    row of a design serves every larger count (period 1); rounding uses the remainder (start 0,
    period: the base); the file of the ONS repeats rows 501 to 750.

    Examples:
        >>> ons = Tail(start=501, period=250)
        >>> [ons.row(count) for count in (1, 750, 751, 1000, 1001)]
        [1, 750, 501, 750, 501]
    """

    start: int
    period: int = 1
    anchor: int | None = None

    def __post_init__(self) -> None:
        if self.start < 0 or self.period < 1:
            raise SpecError("The tail of a perturbation table starts at 0 or more, by 1 or more.")

    @property
    def first(self) -> int:
        """The count from which rows are told apart in turn."""
        return self.start if self.anchor is None else self.anchor

    @property
    def rows(self) -> int:
        """How many rows there are, row 0 included."""
        return self.start + self.period

    def row(self, count: int) -> int:
        """The row of a count."""
        if count < self.start:
            return count
        return self.start + (count - self.first) % self.period

    def rows_of(self, counts: Int64) -> Int64:
        """The rows of many counts."""
        turns = self.start + (counts - self.first) % self.period
        return np.where(counts < self.start, counts, turns)

    def smallest_count(self, row: int) -> int:
        """The smallest count that uses a row."""
        if row < self.start:
            return row
        return next(
            count for count in range(self.start, self.start + self.period) if self.row(count) == row
        )


def check_results(row: int, deviations: Iterable[int], tail: Tail, blocked: int) -> None:
    """Refuse a row that makes a count negative, or leads any of its counts to a blocked one."""
    smallest = tail.smallest_count(row)
    for value in sorted(set(deviations)):
        result = smallest + value
        if result < 0:
            raise SpecError(f"Row {row} would make the count {smallest} negative.")
        if result == 0 and row >= tail.start:
            # The next larger count of the same row does not become 0.
            result += tail.period
        if 0 < result <= blocked:
            raise SpecError(f"Row {row} leads to the blocked count {result}.")


class Perturbation(Confidential):
    """A random deviation for every count: what a design and a table in a key space both answer.

    Confidential: who knows the probabilities can undo more of a published table.
    """

    __slots__ = ()

    tail: Tail

    @abstractmethod
    def distribution(self, row: int) -> Distribution:
        """Deviations of a row in ascending order, each once, with their probabilities."""

    @property
    @abstractmethod
    def blocked(self) -> int:
        """The largest count that never appears as a result; 0 when none is blocked."""

    def deviations(self, count: int) -> Int64:
        """What may be added to a count, in ascending order."""
        return np.array([value for value, _ in self._of(count)], dtype=np.int64)

    def targets(self, count: int) -> Int64:
        """What a count may become, in ascending order."""
        return self.deviations(count) + count

    def probabilities(self, count: int) -> npt.NDArray[np.float64]:
        """The probability of each deviation of a count."""
        return np.array([float(chance) for _, chance in self._of(count)], dtype=np.float64)

    def bias(self, count: int) -> float | Fraction:
        """The expected deviation of a count; a fraction is exact."""
        return _exact_sum([value * chance for value, chance in self._of(count)])

    def variance(self, count: int) -> float:
        """The expected squared deviation of a count from its mean."""
        of = self._of(count)
        second = _exact_sum([value * value * chance for value, chance in of])
        return float(second) - float(self.bias(count)) ** 2

    def mean_absolute_deviation(self, count: int) -> float:
        """The expected size of the deviation of a count."""
        return float(_exact_sum([abs(value) * chance for value, chance in self._of(count)]))

    def entropy(self, count: int) -> float:
        """The uncertainty of the deviation of a count, in bits."""
        return -math.fsum(p * math.log2(p) for p in map(float, self.probabilities(count)) if p > 0)

    def stay(self, count: int) -> float:
        """The probability that a count is published as it is."""
        return math.fsum(float(chance) for value, chance in self._of(count) if value == 0)

    def becomes_zero(self, count: int) -> float:
        """The probability that a count is published as 0."""
        return math.fsum(float(chance) for value, chance in self._of(count) if value == -count)

    @property
    def max_deviation(self) -> int:
        """The largest deviation of any row, up or down."""
        return max(
            (abs(value) for row in range(self.tail.rows) for value, _ in self.distribution(row)),
            default=0,
        )

    def _of(self, count: int) -> Distribution:
        if count < 0:
            raise SpecError("A count is 0 or more.")
        return self.distribution(self.tail.row(count))


def _exact_sum(terms: Sequence[float | Fraction]) -> float | Fraction:
    if all(isinstance(term, Fraction | int) for term in terms):
        return sum((Fraction(term) for term in terms), Fraction(0))
    return math.fsum(float(term) for term in terms)
