"""How large the noise of a contribution is, relative to it: the same share, or less for large ones.

The flexible function is that of tau-ARGUS and cellKey, with ``z`` the size of the contribution,
``s`` the share of small ones, ``l`` that of large ones, ``f`` the flex point and ``q`` the power::

    m(z) = l (1 + (s z - l f) / (l f) (2 f / (z + f))^q)     from f on, and s below

It is ``s`` at the flex point and falls towards ``l``, at first not at once where ``l`` is near
``s`` or ``q`` is 2. With ``q = 1`` it rises to ``l + 2 s`` instead, so whole powers from 2 on are
taken.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import isqrt

from sdcensus.errors import SpecError
from sdcensus.kernels.magnitude.numeric_rows import BILLION
from sdcensus.kernels.magnitude.sum_noise import Magnitude, SmallValues
from sdcensus.methods.magnitude.numeric_tables import NumericTable
from sdcensus.model.confidential import Confidential
from sdcensus.model.exact_shares import exactly, in_billionths, in_last_decimals

#: Higher powers differ from lower ones in nothing that matters.
LARGEST_POWER = 10


@dataclass(frozen=True, slots=True, repr=False)
class MagnitudeFunction(Confidential):
    """The relative size of noise.

    Attributes:
        share: Of a contribution below the flex point, or of every one: between 0 and 1.
        large_share: Of very large contributions; not above ``share``.
        flex_point: From what size on the share falls, in units of the variable; none for the
            simple function.
        power: How fast it falls, a whole number from 2 on.
    """

    share: float | Fraction = 0.1
    large_share: float | Fraction | None = None
    flex_point: float | Fraction | None = None
    power: int = 2

    def __post_init__(self) -> None:
        if in_billionths("The share of noise", self.share) == 0:
            raise SpecError("The share of noise is above 0: with 0, sums would be published.")
        if (self.large_share is None) != (self.flex_point is None):
            raise SpecError(
                "A flexible magnitude function has both a share of large contributions"
                " (large_share) and a flex point (flex_point); the simple one has neither."
            )
        if self.large_share is None or self.flex_point is None:
            return
        large = in_billionths("The share of large contributions", self.large_share)
        if not 0 < large <= in_billionths("The share of noise", self.share):
            raise SpecError(
                "The share of large contributions is above 0 and not above that of small ones:"
                " large contributions would have more noise, not less."
            )
        if exactly("The flex point", self.flex_point) <= 0:
            raise SpecError("The flex point is above 0.")
        if type(self.power) is not int or not 1 <= self.power <= LARGEST_POWER:
            raise SpecError(f"The power is a whole number from 2 to {LARGEST_POWER}.")
        if self.power == 1:
            raise SpecError(
                "With a power of 1 the share does not fall to that of large contributions: it"
                " rises to that share plus twice the share of small ones. Take a power of 2 or"
                " more."
            )

    def __repr__(self) -> str:
        return "<MagnitudeFunction: confidential>"

    def ready(self, decimals: int) -> Magnitude:
        """For the kernel, where amounts have so many decimals."""
        small = in_billionths("The share of noise", self.share)
        if self.large_share is None or self.flex_point is None:
            return Magnitude.build(small)
        return Magnitude.build(
            small,
            in_billionths("The share of large contributions", self.large_share),
            _in_last_decimals("The flex point", self.flex_point, decimals),
            self.power,
        )

    def described(self) -> dict[str, object]:
        """As plain values; confidential."""
        flexible = self.flex_point is not None
        return {
            "share": str(exactly("", self.share)),
            "large_share": str(exactly("", self.large_share)) if flexible else None,
            "flex_point": str(exactly("", self.flex_point)) if flexible else None,
            "power": self.power if flexible else None,
        }


@dataclass(frozen=True, slots=True, repr=False)
class SmallSeparation(Confidential):
    """Small contributions have noise in units of the variable, not in shares of themselves.

    A contribution is small below ``z_s``, where the noise of both kinds has one variance:
    ``z_s = unit sqrt(V) / (share sqrt(E))``, with ``V`` the variance of the last row of the table
    and ``E`` the sum of the squared shares of contributions.

    Attributes:
        table: The deviations of small values, in units.
        unit: What one is in units of the variable.
    """

    table: NumericTable
    unit: float | Fraction = 1

    def __post_init__(self) -> None:
        if exactly("The unit of small values", self.unit) <= 0:
            raise SpecError("The unit of small values is above 0.")

    def __repr__(self) -> str:
        return "<SmallSeparation: confidential>"

    def ready(self, decimals: int, share: int, shares: tuple[int, ...]) -> SmallValues:
        """For the kernel; shares in billionths.

        The bounds are the smallest whole amounts whose squares reach the squared bound: no root
        is ever rounded.
        """
        unit = _in_last_decimals("The unit of small values", self.unit, decimals)
        squares = Fraction(sum(part * part for part in shares), BILLION**2)
        relative = Fraction(share, BILLION)
        bound = unit * unit * self.table.last_variance / (relative**2 * squares)
        restart = [
            _root_above(bound * (relative * Fraction(part, BILLION)) ** 2) for part in shares
        ]
        return SmallValues.build(_root_above(bound), restart, unit)

    def described(self) -> dict[str, object]:
        """As plain values; confidential."""
        return {"unit": str(exactly("", self.unit)), **self.table.described()}


def _root_above(square: Fraction) -> int:
    """The smallest whole number whose square is not below a number.

    Examples:
        >>> _root_above(Fraction(25)), _root_above(Fraction(101, 4))
        (5, 6)
    """
    root = isqrt(square.numerator // square.denominator)
    return root if root * root >= square else root + 1


def _in_last_decimals(what: str, size: object, decimals: int) -> int:
    return in_last_decimals(what, exactly(what, size), decimals)
