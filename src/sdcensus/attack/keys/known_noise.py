"""Deviations with their probabilities, as an intruder has them who got hold of the table."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sdcensus.errors import SpecError


@dataclass(frozen=True, slots=True)
class KnownNoise:
    """What may be added to each count, with which probability, in the order of keys.

    Attributes:
        rows: For each row intervals of keys from 0 on: what each adds, and its share of all keys.
        start: Counts below this have rows of their own.
        period: From there on so many rows serve in turn.
        first: The count that the first of these serves.
    """

    rows: tuple[tuple[tuple[int, float], ...], ...]
    start: int
    period: int = 1
    first: int | None = None

    def __post_init__(self) -> None:
        if self.start < 0 or self.period < 1 or len(self.rows) != self.start + self.period:
            raise SpecError("Noise that is known has a row for every count, and one for the rest.")
        for row in self.rows:
            if not math.isclose(sum(share for _, share in row), 1.0, abs_tol=1e-6):
                raise SpecError("The probabilities of each row of noise sum up to 1.")

    def __repr__(self) -> str:
        return f"<KnownNoise with {len(self.rows)} rows>"

    @property
    def largest(self) -> int:
        """The largest deviation, up or down."""
        return max((abs(value) for row in self.rows for value, _ in row), default=0)

    def intervals(self, count: int) -> tuple[tuple[int, float], ...]:
        """The intervals of keys of a count."""
        if count < self.start:
            return self.rows[count]
        first = self.start if self.first is None else self.first
        return self.rows[self.start + (count - first) % self.period]

    def chance(self, count: int, published: int) -> float:
        """The chance that a count is published as this.

        Examples:
            >>> KnownNoise((((0, 1.0),), ((-1, 0.5), (1, 0.5))), start=1).chance(7, 8)
            0.5
        """
        return sum(share for value, share in self.intervals(count) if count + value == published)
