"""Who estimates the largest contribution of a cell, and which published sums let him succeed.

An attacker takes the published sum for the true one and estimates from it. Every estimate grows
with the published sum, so that what lets him succeed is an interval of published sums: it can be
compared with the sum that is published, with the true one, and with all that a method could have
published.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.cube.contributions import MOST_LARGEST, Contributions
from sdcensus.model.cube.cube import Cube

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: How near an estimate is that counts as a success, in percent, where nothing is said.
WITHIN = 10
#: Bounds of published sums that are none.
_ANY = 1 << 62
#: Shares are counted in thousandths of a percent.
_PARTS = 100_000


class Attacker(StrEnum):
    """Who estimates the largest contribution of a cell.

    ``second``: the second largest contributor takes his own contribution off.
    ``second-knowing-number``: he also knows how many contribute, that none of the others has more
    than he has, and that the largest has not less; he takes the middle of what is possible.
    ``coalition``: several of the largest behind the first take theirs off together.
    ``outsider``: somebody who knows how many contribute takes the middle of what is possible; the
    sum itself where there is one.
    """

    SECOND = "second"
    KNOWING_NUMBER = "second-knowing-number"
    COALITION = "coalition"
    OUTSIDER = "outsider"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Success(Confidential):
    """The published sums by which an attacker succeeds in each cell, both bounds included.

    Attributes:
        attacker: Who.
        asked: Cells in which there is such an attacker.
        lower, upper: The bounds; the upper below the lower where nothing lets him succeed.
    """

    attacker: Attacker
    asked: Mask
    lower: Int64
    upper: Int64

    def __repr__(self) -> str:
        return f"<Success of {self.attacker}: confidential>"

    def hit(self, values: Int64) -> Mask:
        """In which cells he succeeds when these values are published."""
        inside: Mask = self.asked & (self.lower <= values) & (values <= self.upper)
        return inside


def contributions_of(cube: Cube) -> tuple[Contributions, Int64]:
    """The contributions of a cube of sums, with what an attack looks at; and the sums."""
    known = cube.values.contributions
    if cube.spec.amount is None or known is None or known.largest < 2 or known.absolute is None:
        raise SpecError(
            f"{cube.spec.title}: estimates of the largest contributor need the two largest"
            " contributions of each cell at least. Tabulate the table by its measure, such as"
            " census.tabulate('ed', measure='sum(income)')."
        )
    return known, cube.values.sum_of(cube.spec.amount.name)


def check_within(within: float | Fraction) -> int:
    """A percentage in thousandths; refuses what is none."""
    if isinstance(within, bool) or not isinstance(within, int | float | Fraction):
        raise SpecError("How near an estimate is that counts (within) is a percentage.")
    parts = round(Fraction(within) * 1000)
    if not 0 < parts <= _PARTS or abs(Fraction(within) * 1000 - parts) > Fraction(1, 10**6):
        raise SpecError(
            "How near an estimate is that counts (within) is above 0 percent and at most 100,"
            " with three decimals at most."
        )
    return parts


def check_coalition(members: int) -> int:
    """How many put together what they know; refuses more than are kept."""
    if type(members) is not int or not 1 <= members < MOST_LARGEST:
        raise SpecError(
            f"Of the contributors behind the largest, 1 to {MOST_LARGEST - 1} can put together"
            " what they know: only the largest contributions of a cell are kept."
        )
    return members


def success_of(
    attacker: Attacker, cube: Cube, *, within: float | Fraction = WITHIN, members: int = 2
) -> Success:
    """By which published sums an attacker comes within a percentage of the largest contribution.

    Args:
        attacker: Who estimates.
        cube: Sums with their contributions.
        within: How near an estimate is that counts, in percent of the largest contribution.
        members: How many stand together, for a coalition.
    """
    known, total = contributions_of(cube)
    parts = check_within(within)
    number = known.contributors
    largest = known.amount[..., 0]
    # Contributions of the other sign are the same story mirrored.
    sign: Int64 = np.where(largest < 0, -1, 1)
    first, second = np.abs(largest), known.amount[..., 1] * sign
    near = share_of(first, parts)
    low, high = first - near, first + near
    asked = number >= (1 if attacker is Attacker.OUTSIDER else 2)
    if attacker is Attacker.OUTSIDER:
        below, above = _outsider(low, high, number)
    elif attacker is Attacker.COALITION:
        own = known.amount[..., 1 : check_coalition(members) + 1].sum(axis=-1) * sign
        below, above = low + own, high + own
    elif attacker is Attacker.KNOWING_NUMBER:
        one_sign = np.asarray(known.absolute == np.abs(total))
        below, above = _knowing_number(low, high, second, number, one_sign)
    else:
        below, above = low + second, high + second
    return Success(
        attacker,
        asked,
        np.where(sign > 0, below, -above),
        np.where(sign > 0, above, -below),
    )


def share_of(amount: Int64, parts: int) -> Int64:
    """The whole part of a percentage of amounts, without a product beyond 64 bits."""
    whole, rest = amount // _PARTS, amount % _PARTS
    return whole * parts + rest * parts // _PARTS


def _wide(*arrays: Int64) -> tuple[npt.NDArray[Any], ...]:
    """The same numbers, Python's own where a product of two of them may be beyond 64 bits."""
    limits = [int(np.abs(array).max(initial=0)) for array in arrays]
    small = 4 * (max(limits) + 1) * (limits[-1] + 1) < _ANY
    return arrays if small else tuple(array.astype(object) for array in arrays)


def _outsider(low: Int64, high: Int64, number: Int64) -> tuple[Int64, Int64]:
    """He takes the middle between an equal share and the whole: sum * (n + 1) / 2n."""
    least, most, many = _wide(low, high, np.maximum(number, 1))
    below = -((-least * 2 * many) // (many + 1))
    above = (most * 2 * many) // (many + 1)
    return _in_range(below), _in_range(above)


def _knowing_number(
    low: Int64, high: Int64, second: Int64, number: Int64, one_sign: Mask
) -> tuple[Int64, Int64]:
    """The middle of what is possible: from the second, and from the sum less all that others have.

    With the own contribution s, the others behind him have between 0 and (n - 2) s. The middle is
    s for sums up to 2 s, half the sum up to n s, and the sum less n s / 2 above. Where
    contributions have both signs, it is the sum less the own one.
    """
    least, most, own, many = _wide(low, high, second, number)
    whole = many * own
    least_sum = np.where(2 * least <= whole, 2 * least, -((-2 * least - whole) // 2))
    most_sum = np.where(2 * most <= whole, 2 * most, (2 * most + whole) // 2)
    # The estimate is never below the own contribution.
    least_sum = np.where(least <= own, -_ANY, least_sum)
    most_sum = np.where(most < own, -_ANY - 1, most_sum)
    return (
        _in_range(np.where(one_sign, least_sum, least + own)),
        _in_range(np.where(one_sign, most_sum, most + own)),
    )


def _in_range(numbers: npt.NDArray[Any]) -> Int64:
    within: Int64 = np.clip(numbers, -_ANY - 1, _ANY).astype(np.int64)
    return within
