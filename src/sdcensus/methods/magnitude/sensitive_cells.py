"""Which cells of a sum are sensitive, and therefore have extra noise."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.contributions import Contributions
from sdcensus.model.cube.primary_rules import PrimaryRules
from sdcensus.model.exact_shares import exactly, in_billionths

Mask = npt.NDArray[np.bool_]


@dataclass(frozen=True, slots=True, repr=False)
class SensitiveCells(Confidential):
    """Few contributors, or one that others can estimate: a cell that any of the rules names.

    Contributions count without their signs, each as it stands in the sum: in a weighted sum the
    amount times the weight, which is what the noise is measured by. Who agreed to be shown has
    noise like everybody else.

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
        if self.fewest is not None and (type(self.fewest) is not int or self.fewest < 2):
            raise SpecError("Cells with fewer contributors than 2 or more are sensitive.")
        self.described()

    def __repr__(self) -> str:
        return "<SensitiveCells: confidential>"

    @property
    def rules(self) -> PrimaryRules:
        """The rules of primary cells that these are."""
        return PrimaryRules(
            fewest=self.fewest,
            dominance=self.dominance,
            percent=self.remainder,
            waivers=False,
        )

    @property
    def largest(self) -> int:
        """How many of the largest contributions the rules look at."""
        return self.rules.largest

    def mask(self, contributions: Contributions) -> Mask:
        """Which cells are sensitive."""
        masks = self.rules.masks(contributions)
        return np.asarray(np.logical_or.reduce(list(masks.values())), dtype=np.bool_)

    def described(self) -> dict[str, object]:
        """As plain values; confidential."""
        rules = self.rules
        return {
            "fewest": rules.fewest,
            "remainder": None if rules.percent is None else _percent(rules.percent),
            "dominance": [rules.dominance[0], _percent(rules.dominance[1])]
            if rules.dominance
            else None,
        }


def _percent(percent: float | Fraction) -> int:
    return in_billionths("The percentage", exactly("The percentage", percent) / 100)
