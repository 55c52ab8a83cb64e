"""Which cells of a sum may not be shown: too few contribute, or one of them stands out.

The rules are those of statistical offices: a smallest number of contributors, dominance, the p %
rule and the pq rule. All of them are decided exactly, from the largest contributions of each cell.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.magnitude.sensitive import LargestUnits
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.contributions import MOST_LARGEST, Contributions
from sdcensus.model.exact_shares import exactly, numbers_of

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: The largest q of a pq rule: beforehand amounts are known to ten times what they are.
MOST_KNOWN = 1_000


class PrimaryRule(StrEnum):
    """A rule by its name.

    ``few-contributors``: too few contribute. ``dominance``: the n largest have more than k % of the
    whole. ``percent``: what is behind the two largest is less than p % of the largest, so that the
    second largest can estimate the largest to within p %. ``pq``: the same, by p / q: everybody
    knows contributions to within q % beforehand.
    """

    FEW = "few-contributors"
    DOMINANCE = "dominance"
    PERCENT = "percent"
    PQ = "pq"


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class PrimaryRules(Confidential):
    """Rules of which each names cells; confidential, as p and k are kept by an office.

    Contributions count without their signs, and the whole is the sum of them without signs. Who
    agreed to be shown needs no protection: the largest who did not takes the place of the largest.

    Attributes:
        fewest: Cells with fewer contributors.
        dominance: A number n and a percentage k: cells of which the n largest have more than that.
        percent: The p of the p % rule.
        pq: The p and the q of the pq rule.
        waivers: Whether it counts that contributors agreed to be shown.
    """

    fewest: int | None = None
    dominance: tuple[int, float | Fraction] | None = None
    percent: float | Fraction | None = None
    pq: tuple[float | Fraction, float | Fraction] | None = None
    waivers: bool = True

    def __post_init__(self) -> None:
        if not self.names:
            raise SpecError(
                "Sensitive cells need a rule: fewest contributors, dominance, p % or pq."
            )
        if self.fewest is not None and (type(self.fewest) is not int or self.fewest < 1):
            raise SpecError("The smallest number of contributors is a whole number, 1 or more.")
        if self.dominance is not None:
            _check_dominance(*self.dominance)
        if self.percent is not None and not 0 < exactly("The p % rule", self.percent) <= 100:
            raise SpecError("The percentage of the p % rule is above 0, and 100 at most.")
        if self.pq is not None:
            wanted, known = (exactly("The pq rule", number) for number in self.pq)
            if not 0 < wanted <= 100 or not wanted < known <= MOST_KNOWN:
                raise SpecError(
                    "Of a pq rule p is above 0 and 100 at most, and q is above p and"
                    f" {MOST_KNOWN:,} at most, such as 10, 80: what is known beforehand to within"
                    " q % must not become known to within p %."
                )

    def __repr__(self) -> str:
        return f"<PrimaryRules {', '.join(self.names)}: confidential>"

    @classmethod
    def written(
        cls,
        *,
        fewest: int | None = None,
        dominance: object = None,
        percent: float | Fraction | None = None,
        pq: object = None,
        waivers: bool = True,
    ) -> PrimaryRules:
        """Rules as people write them, such as ``dominance="2, 85"`` and ``pq="10, 80"``."""
        largest = None
        if dominance is not None:
            first, share = _pair("A dominance rule", dominance, "a number and a percentage: 2, 85")
            if not first.isdigit():
                raise SpecError("A dominance rule is a number and a percentage, such as 2, 85.")
            largest = (int(first), exactly("The percentage of a dominance rule", share))
        both = None
        if pq is not None:
            wanted, known = _pair("A pq rule", pq, "two percentages: 10, 80")
            both = (exactly("The p of a pq rule", wanted), exactly("The q of a pq rule", known))
        return cls(fewest=fewest, dominance=largest, percent=percent, pq=both, waivers=waivers)

    @property
    def names(self) -> tuple[PrimaryRule, ...]:
        """The rules that there are."""
        given = {
            PrimaryRule.FEW: self.fewest,
            PrimaryRule.DOMINANCE: self.dominance,
            PrimaryRule.PERCENT: self.percent,
            PrimaryRule.PQ: self.pq,
        }
        return tuple(name for name, rule in given.items() if rule is not None)

    @property
    def shares(self) -> Mapping[PrimaryRule, Fraction]:
        """What each rule but that of the number compares with, as a share."""
        shares = {}
        if self.dominance is not None:
            shares[PrimaryRule.DOMINANCE] = exactly("k", self.dominance[1]) / 100
        if self.percent is not None:
            shares[PrimaryRule.PERCENT] = exactly("p", self.percent) / 100
        if self.pq is not None:
            shares[PrimaryRule.PQ] = exactly("p", self.pq[0]) / exactly("q", self.pq[1])
        return shares

    @property
    def largest(self) -> int:
        """How many of the largest contributions have to be known."""
        estimates = self.percent is not None or self.pq is not None
        return max(2 if estimates else 0, self.dominance[0] if self.dominance else 0, 1)

    def masks(
        self, contributions: Contributions, weight_decimals: int | None = None
    ) -> dict[PrimaryRule, Mask]:
        """For each rule which cells it names; never one to which nobody contributes.

        Args:
            contributions: Who contributes to each cell.
            weight_decimals: Of a weighted sum the decimals of weights: a contribution then counts
                as often as its weight says. ``None``: every contribution counts once, as it is.

        Raises:
            SpecError: The table was tabulated without what the rules look at.
        """
        contributors = contributions.contributors
        units = self._units(contributions, weight_decimals)
        masks: dict[PrimaryRule, Mask] = {}
        for name in self.names:
            if name is PrimaryRule.FEW:
                few = (contributors > 0) & (contributors < (self.fewest or 0))
                masks[name] = few & ~units.nobody.reshape(few.shape)
            elif name is PrimaryRule.DOMINANCE and self.dominance is not None:
                masks[name] = units.dominated(self.dominance[0], self.shares[name])
            else:
                masks[name] = units.estimable(self.shares[name])
        return {name: mask.reshape(contributors.shape) for name, mask in masks.items()}

    def levels(self, contributions: Contributions, weight_decimals: int | None = None) -> Int64:
        """How far above its sum each cell has to be thought possible, for none of them to hold.

        For the p % rule that is p % of the largest less the rest. 0 for cells that no such rule
        names; the rule of the number of contributors asks for no distance.
        """
        units = self._units(contributions, weight_decimals)
        level = np.zeros(contributions.contributors.size, dtype=np.int64)
        for name, share in self.shares.items():
            if name is PrimaryRule.DOMINANCE and self.dominance is not None:
                lacking = units.lacks_of_whole(self.dominance[0], share)
            else:
                lacking = units.lacks_of_rest(share)
            level = np.maximum(level, lacking)
        return level.reshape(contributions.contributors.shape)

    def _units(self, contributions: Contributions, weight_decimals: int | None) -> LargestUnits:
        listed = contributions if weight_decimals is None else contributions.by_amount
        absolute = contributions.absolute
        if absolute is None:
            raise SpecError("Rules of sensitive cells need the contributions without their signs.")
        if listed is None or (weight_decimals is not None and listed.weight is None):
            raise SpecError(
                "Rules of sensitive cells need the largest amounts of a weighted sum with their"
                " weights."
            )
        if listed.largest < self.largest:
            raise SpecError(
                f"The rules look at the {self.largest} largest contributions, and only"
                f" {listed.largest} were kept. Tabulate the table with more of them"
                f" (contributions=ContributionNeeds(largest={self.largest})), {MOST_LARGEST} at"
                " most."
            )
        factors = [max(share.numerator, share.denominator) for share in self.shares.values()]
        return LargestUnits.of(
            absolute,
            listed.amount,
            contributions.contributors,
            weight=None if weight_decimals is None else listed.weight,
            unit=10 ** (weight_decimals or 0),
            waived=listed.waived if self.waivers else None,
            factor=max(factors, default=1),
        )


def _check_dominance(number: int, percent: float | Fraction) -> None:
    if type(number) is not int or not 1 <= number <= MOST_LARGEST:
        raise SpecError(
            f"A dominance rule looks at 1 to {MOST_LARGEST} of the largest contributions: no more"
            " of them are kept, and it could not be decided."
        )
    if not 50 <= exactly("The dominance rule", percent) < 100:
        raise SpecError(
            "The percentage of a dominance rule is from 50 to below 100: of 100 % no share is more."
        )


def _pair(what: str, text: object, example: str) -> tuple[str, str]:
    texts = numbers_of(what, text)
    if len(texts) != 2:
        raise SpecError(f"{what} is {example}.")
    return str(texts[0]), str(texts[1])
