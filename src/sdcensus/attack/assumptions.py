"""What an intruder takes to be known before he starts; the rest he estimates."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sdcensus.errors import SpecError
from sdcensus.model.inference.knowledge import MOST_DEVIATION


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """What the intruder knows or believes; ``None`` for what he has to find out himself.

    Attributes:
        max_deviation: The largest change up or down of any count.
        variance: The variance of the change of one count.
        zeros_known: Whether empty cells are known to be published as 0.
        withheld_below: Values that are withheld are known to be smaller than this.
        limit: Averages are claimed where the intruder reckons to be right with this probability.
        group_limit: Groups of few persons are claimed where he reckons to be right with this one.
        linear_cells: Tables with at most so many cells are searched by linear programs as well.
        noise: The deviations with their probabilities, where he has got hold of them.
    """

    max_deviation: int | None = None
    variance: float | None = None
    zeros_known: bool = True
    withheld_below: int | None = None
    limit: float = 0.9
    group_limit: float = 0.5
    linear_cells: int = 1000
    noise: KnownNoise | None = None

    def __post_init__(self) -> None:
        given: object = self.noise
        if given is not None and not isinstance(given, KnownNoise):
            raise SpecError("Noise that is known is a KnownNoise: deviations with probabilities.")
        deviation, variance = self.max_deviation, self.variance
        if deviation is not None and (
            type(deviation) is not int or not 0 <= deviation <= MOST_DEVIATION
        ):
            raise SpecError(
                "The largest deviation is a whole number, 0 or more, and not above"
                f" {MOST_DEVIATION:,}."
            )
        if variance is not None and not (math.isfinite(variance) and variance > 0):
            raise SpecError("The variance of a change is a number above 0.")
        if not 0 <= self.limit < 1 or not 0 <= self.group_limit < 1:
            raise SpecError("The limit is a probability: 0 or more, and below 1.")
        if type(self.linear_cells) is not int or self.linear_cells < 0:
            raise SpecError("The largest table for linear programs has 0 cells or more.")
