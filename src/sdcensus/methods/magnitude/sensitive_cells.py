"""Which cells of a sum are sensitive, and therefore have extra noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.magnitude.numeric_rows import BILLION
from sdcensus.kernels.magnitude.sensitive import few_or_dominated
from sdcensus.methods.magnitude.exact_shares import exactly, in_billionths
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.contributions import MOST_LARGEST, Contributions

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, repr=False)
class SensitiveCells(Confidential):
    """Few contributors, or one that others can estimate: a cell that any of the rules names.

    Contributions count without their signs, each as it stands in the sum: in a weighted sum the
    amount times the weight.

    Attributes:
        fewest: Cells with fewer contributors.
        remainder: In percent: cells whose contributions behind the two largest are less than that
            share of the largest (the p % rule).
        dominance: A number and a percentage: cells of which so many of the largest have more.
    """

    fewest: int | None = None
    remainder: float | Fraction | None = None
    dominance: tuple[int, float | Fraction] | None = None

    def __post_init__(self) -> None:
        if self.fewest is None and self.remainder is None and self.dominance is None:
            raise SpecError("Sensitive cells need a rule: fewest, remainder or dominance.")
        if self.fewest is not None and (type(self.fewest) is not int or self.fewest < 2):
            raise SpecError("Cells with fewer contributors than 2 or more are sensitive.")
        if self.remainder is not None and not 0 < exactly("The p % rule", self.remainder) <= 100:
            raise SpecError("The percentage of the p % rule is above 0, and 100 at most.")
        if self.dominance is not None:
            number, percent = self.dominance
            if type(number) is not int or not 1 <= number <= MOST_LARGEST:
                raise SpecError(f"A dominance rule looks at 1 to {MOST_LARGEST} of the largest.")
            if not 50 <= exactly("The dominance rule", percent) < 100:
                raise SpecError("The percentage of a dominance rule is from 50 to below 100.")

    def __repr__(self) -> str:
        return "<SensitiveCells: confidential>"

    @property
    def largest(self) -> int:
        """How many of the largest contributions the rules look at."""
        looks = (2 if self.remainder is not None else 0, self.dominance[0] if self.dominance else 0)
        return max(looks)

    def mask(self, contributions: Contributions) -> Mask:
        """Which cells are sensitive."""
        absolute = contributions.absolute
        if absolute is None:
            raise SpecError("Rules of sensitive cells need the contributions without their signs.")
        number, percent = self.dominance or (0, 100)
        return few_or_dominated(
            absolute,
            contributions.amount,
            contributions.contributors,
            fewest=self.fewest or 0,
            remainder=0 if self.remainder is None else _percent(self.remainder),
            dominant=number,
            share=_percent(percent) if number else BILLION,
        )

    def described(self) -> dict[str, object]:
        """As plain values; confidential."""
        return {
            "fewest": self.fewest,
            "remainder": None if self.remainder is None else _percent(self.remainder),
            "dominance": [self.dominance[0], _percent(self.dominance[1])]
            if self.dominance
            else None,
        }


def _percent(percent: float | Fraction) -> int:
    return in_billionths("The percentage", exactly("The percentage", percent) / 100)
