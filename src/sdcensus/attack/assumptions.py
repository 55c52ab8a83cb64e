"""What an intruder takes to be known before he starts; the rest he estimates."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sdcensus.attack.keys.known_noise import KnownNoise
from sdcensus.errors import SpecError
from sdcensus.model.inference.knowledge import MOST_DEVIATION


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
