"""Who stands out in the cells of a sum: the largest contributions added up, in whole numbers.

Everything is exact. Where products do not fit 64 bits, numbers of any size are taken instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

_LIMIT = 1 << 62


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class LargestUnits:
    """The largest contributions to some cells, unit by unit.

    With weights a contribution counts as often as its weight says, from the largest down: 100 with
    weight 4 and 10 with weight 7 are four times 100 and then seven times 10. The first unit is of
    somebody who did not agree to be shown, whoever is before; the others are whoever is largest.

    Attributes:
        whole: Everything that is contributed, without signs, times ``unit``.
        first: What the first unit has, times its weight; and that weight.
        size, weight: The other contributions, the largest first, without signs; their weights.
        behind: Where more contribute than are listed, the most that one of them can have; else 0.
        nobody: Cells in which everybody agreed to be shown, or nobody contributes.
        unit: The weight of one contribution that counts once.
        plain: Whether each contribution counts once and nobody agreed to be shown: ``size`` is then
            all there is, and the largest are the first.
    """

    whole: Integers
    first: Integers
    first_weight: Integers
    size: Integers
    weight: Integers
    behind: Integers
    nobody: Mask
    unit: int
    plain: bool = False

    @classmethod
    def of(
        cls,
        absolute: Int64,
        largest: Int64,
        contributors: Int64,
        *,
        weight: Int64 | None = None,
        unit: int = 1,
        waived: Mask | None = None,
        factor: int = 1,
    ) -> LargestUnits:
        """Put the contributions to cells in order.

        Args:
            absolute: The sum of contributions without their signs, one for each cell.
            largest: The largest contributions, one more axis, the largest first, 0 for nobody.
            contributors: How many contribute.
            weight: The weight of each of the largest; all count once if ``None``.
            unit: The weight with which a contribution counts once.
            waived: Who of the largest agreed to be shown.
            factor: What sums are multiplied with afterwards, at most: it decides how wide numbers
                have to be.
        """
        cells, listed = contributors.size, largest.shape[-1]
        size = np.abs(largest.reshape(cells, listed))
        most = max(int(absolute.max(initial=0)), listed * int(size.max(initial=0)))
        wide = most * unit * max(factor, 1) >= _LIMIT
        size = size.astype(object) if wide else size
        whole = absolute.reshape(cells).astype(size.dtype) * unit
        if weight is None and (waived is None or not waived.any()):
            once = np.zeros(0, dtype=size.dtype)
            nobody = contributors.reshape(cells) == 0
            return cls(whole, once, once, size, once, once, nobody, unit, plain=True)
        weights = np.full((cells, listed), unit) if weight is None else weight.reshape(size.shape)
        weights = np.where(size > 0, weights, 0).astype(size.dtype)
        more = contributors.reshape(cells) > (size > 0).sum(axis=1)
        behind = np.where(more, size[:, -1], 0)
        shy = np.asarray(weights > 0, dtype=np.bool_)
        if waived is not None:
            shy &= ~waived.reshape(size.shape)
        listed_first = shy.any(axis=1)
        row, place = np.arange(cells), np.argmax(shy, axis=1)
        taken = np.where(listed_first, np.minimum(weights[row, place], unit), 0)
        first = taken * size[row, place] + np.where(listed_first, 0, behind * unit)
        weights[row, place] -= taken
        first_weight = np.where(listed_first | ~more, taken, unit)
        return cls(whole, first, first_weight, size, weights, behind, ~(listed_first | more), unit)

    def sums(self, number: int) -> Integers:
        """The first units of each cell, so many, added up; times ``unit``.

        Where weights are below 1, and the list is too short for so many units, those behind it
        count as much as the last one in it: the sum is then the largest that it can be.
        """
        if self.plain:
            return np.asarray(self.size[:, :number].sum(axis=1) * self.unit)
        wanted = number * self.unit - self.first_weight
        before = np.cumsum(self.weight, axis=1) - self.weight
        taken = np.minimum(np.maximum(wanted[:, np.newaxis] - before, 0), self.weight)
        lacking = wanted - taken.sum(axis=1)
        return np.asarray(self.first + (taken * self.size).sum(axis=1) + lacking * self.behind)

    def rest(self) -> Integers:
        """What is contributed behind the first two units; times ``unit``."""
        # Rounded weighted contributions can be less together than the exact ones.
        return np.asarray(np.maximum(self.whole - self.sums(2), 0))

    def dominated(self, number: int, share: Fraction) -> Mask:
        """Cells of which so many units have more than a share."""
        over = self.sums(number) * share.denominator > self.whole * share.numerator
        return np.asarray(over, dtype=np.bool_) & ~self.nobody

    def estimable(self, share: Fraction) -> Mask:
        """Cells whose rest is less than a share of the first unit: the second can estimate it."""
        near = self.rest() * share.denominator < self.sums(1) * share.numerator
        return np.asarray(near, dtype=np.bool_) & ~self.nobody

    def lacks_of_rest(self, share: Fraction) -> Int64:
        """How much more the rest would have to be for ``estimable`` not to hold, rounded up."""
        return self._rounded_up(
            self.sums(1) * share.numerator - self.rest() * share.denominator, share.denominator
        )

    def lacks_of_whole(self, number: int, share: Fraction) -> Int64:
        """How much more a cell would have to be for ``dominated`` not to hold, rounded up."""
        return self._rounded_up(
            self.sums(number) * share.denominator - self.whole * share.numerator, share.numerator
        )

    def _rounded_up(self, above: Integers, below: int) -> Int64:
        lacking = -(-above // (below * self.unit))
        return np.where(self.nobody, 0, np.maximum(lacking, 0)).astype(np.int64)
