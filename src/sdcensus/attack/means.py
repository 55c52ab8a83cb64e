"""What true means give away beside protected counts: which counts fit whole totals.

The example of the Handbook on Statistical Disclosure Control: counts published as 9 and 14, in all
19, none off by more than 2, with true means 11.25, 7.9167 and 9.25. Totals are whole numbers, and
those of the parts add up; only 8 and 12, in all 20, are left. So means are published sums divided
by published counts, and this attack shows what it gains by taking them for true ones.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True)
class PublishedMean:
    """A published count with a published mean.

    Attributes:
        count: The published count.
        mean: The published mean, in the unit in which amounts are whole numbers.
        decimals: To how many digits behind the point of that unit it is rounded.
    """

    count: int
    mean: Fraction
    decimals: int

    def totals(self, count: int) -> range:
        """The whole totals of so many units whose mean is rounded to the published one."""
        half = Fraction(1, 2 * 10**self.decimals)
        low, high = (self.mean - half) * count, (self.mean + half) * count
        return range(math.ceil(low), math.floor(high) + 1)


def counts_that_fit(
    parts: Sequence[PublishedMean], whole: PublishedMean, deviation: int
) -> list[tuple[int, ...]]:
    """Every choice of counts that fits means, whole totals, and the largest deviation.

    Args:
        parts: The published parts of a group.
        whole: The group itself.
        deviation: The largest deviation of a published count, which an intruder is taken to know.

    Returns:
        For each choice the counts of the parts and, last, that of the group. One choice alone is
        the truth, if the means are true.

    Examples:
        >>> nine, fourteen = PublishedMean(9, Fraction("11.25"), 4), PublishedMean(
        ...     14, Fraction("7.9167"), 4
        ... )
        >>> counts_that_fit([nine, fourteen], PublishedMean(19, Fraction("9.25"), 4), 2)
        [(8, 12, 20)]
    """
    return list(_fitting(parts, whole, deviation))


def _fitting(
    parts: Sequence[PublishedMean], whole: PublishedMean, deviation: int
) -> Iterator[tuple[int, ...]]:
    around = [range(max(part.count - deviation, 0), part.count + deviation + 1) for part in parts]
    for counts in itertools.product(*around):
        together = sum(counts)
        if abs(together - whole.count) > deviation:
            continue
        totals = [part.totals(count) for part, count in zip(parts, counts, strict=True)]
        if not all(totals):
            continue
        possible = whole.totals(together)
        lowest = sum(each[0] for each in totals)
        highest = sum(each[-1] for each in totals)
        if possible and lowest <= possible[-1] and possible[0] <= highest:
            yield (*counts, together)
