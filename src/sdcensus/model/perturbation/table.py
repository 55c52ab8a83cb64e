"""A perturbation table: for each count, intervals of cell keys and what each of them adds.

With it, what designs have in common with tables (rows, and which count uses which), and how a cell
key picks its deviation: four ways with one distribution, and which one suits.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.schema import LARGEST_MODULUS

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


class KeyRule(StrEnum):
    """How a cell key becomes the key that is looked up.

    ``plain``: as it is. ``fold-bytes``: exclusive or of the four bytes of a 32-bit key, as the
    matrix of the ABS with its 256 rows has it.
    """

    PLAIN = "plain"
    FOLD_BYTES = "fold-bytes"


@dataclass(frozen=True, slots=True)
class DeviationRow:
    """One row: intervals of keys from 0 on, how many keys each has and what it adds.

    A deviation may have several intervals; their order decides how noise of parts and totals
    hangs together, not the distribution.
    """

    deviations: tuple[int, ...]
    widths: tuple[int, ...]

    def __post_init__(self) -> None:
        if len(self.deviations) != len(self.widths) or not self.deviations:
            raise SpecError("A row has one width for each of its intervals.")
        if any(width < 1 for width in self.widths):
            raise SpecError("Every interval of a row has at least one key.")

    @property
    def uppers(self) -> tuple[int, ...]:
        """For each interval the first key behind it."""
        return tuple(accumulate(self.widths))

    @property
    def keys(self) -> int:
        """How many keys the row covers."""
        return sum(self.widths)


@dataclass(frozen=True, slots=True, repr=False)
class PerturbationTable(Perturbation):
    """Intervals of keys for every count, all in whole numbers.

    It refuses to exist with gaps or overlaps (every row covers each key once), with results
    below 0, with results that are blocked, and with a bias that is not declared. A bias that no
    whole numbers can avoid (a row of two deviations that the modulus cannot balance) is allowed.

    Attributes:
        modulus: How many keys there are.
        rows: Row 0 first: what happens to empty cells.
        tail: Which row serves which count.
        key_rule: How a cell key becomes the key that is looked up.
        blocked_up_to: The largest count that never appears; 0 when none is blocked.
        biased: Rows whose mean deviation is not 0, on purpose.
        name: The scheme, if it has a name.
    """

    modulus: int
    rows: tuple[DeviationRow, ...]
    tail: Tail
    key_rule: KeyRule = KeyRule.PLAIN
    blocked_up_to: int = 0
    biased: frozenset[int] = frozenset()
    name: str = ""

    def __post_init__(self) -> None:
        if not 2 <= self.modulus <= LARGEST_MODULUS:
            raise SpecError("A perturbation table has between 2 and 2**32 keys.")
        if len(self.rows) != self.tail.rows:
            raise SpecError("The tail of a perturbation table does not fit its rows.")
        if self.key_rule is KeyRule.FOLD_BYTES and self.modulus != 256:
            raise SpecError("Folded keys have 256 values, so the table has 256 keys.")
        for at, row in enumerate(self.rows):
            self._check(at, row)

    def _check(self, at: int, row: DeviationRow) -> None:
        if row.keys != self.modulus:
            raise SpecError(f"Row {at} covers {row.keys} keys instead of {self.modulus}.")
        check_results(at, row.deviations, self.tail, self.blocked_up_to)
        if at not in self.biased and not self.is_balanced(at):
            raise SpecError(
                f"Row {at} changes the expected count. Declare the row as biased if that is meant."
            )

    def __repr__(self) -> str:
        name = f" {self.name}" if self.name else ""
        return f"<PerturbationTable{name} with {len(self.rows)} rows: confidential>"

    def distribution(self, row: int) -> Distribution:
        """Deviations of a row in ascending order with their exact probabilities."""
        keys: dict[int, int] = {}
        for value, width in zip(self.rows[row].deviations, self.rows[row].widths, strict=True):
            keys[value] = keys.get(value, 0) + width
        return tuple((value, Fraction(keys[value], self.modulus)) for value in sorted(keys))

    @property
    def blocked(self) -> int:
        """The largest count that never appears as a result; 0 when none is blocked."""
        return self.blocked_up_to

    def is_balanced(self, row: int) -> bool:
        """Whether the mean deviation of a row is 0, or as near to it as whole numbers allow."""
        deviation_row = self.rows[row]
        total = sum(
            v * w for v, w in zip(deviation_row.deviations, deviation_row.widths, strict=True)
        )
        step = math.gcd(
            *(value - deviation_row.deviations[0] for value in deviation_row.deviations)
        )
        return total == 0 or abs(total) < step

    @property
    def ascending(self) -> bool:
        """Whether every row stands in ascending order of deviations, each once."""
        return all(
            all(a < b for a, b in zip(row.deviations, row.deviations[1:], strict=False))
            for row in self.rows
        )


#: From this largest deviation on, noise of different cells had better be independent.
INDEPENDENT_FROM = 3


class Lookup(StrEnum):
    """How a cell key picks its deviation.

    In all of them, a single cell has the distribution of the perturbation table. They differ in
    what has the same noise, and in how that of a total hangs together with that of its parts.

    ``definition``: a keyed hash of the cell key and of the definition of the cell. The same
    question has the same number in every table, and different questions have independent noise,
    also about the same people.

    The others are *set keys*: the cell key alone decides, so that equal sets of records have equal
    noise, and whoever compares tables finds such sets. For exchange and for studies, by name.

    ``ascending``: the key is looked up as it is, in the intervals of the table as they stand; a
    design puts them in ascending order. For exchange with other programs.
    ``scrambled``: the same, with the intervals cut and put in an order of the office's own. For
    exchange only.
    ``hashed``: a keyed hash takes the place of the key, so that the noise of different cells is
    independent.
    """

    ASCENDING = "ascending"
    SCRAMBLED = "scrambled"
    HASHED = "hashed"
    DEFINITION = "definition"

    @property
    def is_set_key(self) -> bool:
        """Whether equal sets of records have equal noise, whatever the question was."""
        return self is not Lookup.DEFINITION

    @property
    def has_own_keys(self) -> bool:
        """Whether keys are drawn anew by a hash, and so fit whatever the keys of a census are."""
        return self in (Lookup.HASHED, Lookup.DEFINITION)


def default_lookup(perturbation: Perturbation) -> Lookup:
    """The look-up that suits a perturbation, wherever it comes from.

    ``definition`` where deviations reach three or more; ``ascending`` for smaller ones and for
    rounding, where the coupling by keys takes away about half of what can be unpicked.
    """
    return Lookup.DEFINITION if suits_independence(perturbation) else Lookup.ASCENDING


def suits_independence(perturbation: Perturbation) -> bool:
    """Whether noise of different cells had better be independent: large, and not rounding."""
    return perturbation.tail.period == 1 and perturbation.max_deviation >= INDEPENDENT_FROM
