"""A perturbation table: for each count, intervals of cell keys and what each of them adds."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from itertools import accumulate

from sdcensus.errors import SpecError
from sdcensus.model.perturbation.rows import Distribution, Perturbation, Tail, check_results
from sdcensus.model.schema.key_space import LARGEST_MODULUS


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
