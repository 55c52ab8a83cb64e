"""Looks at sums: how precisely all tables of an amount together show what somebody contributes.

The noise of a sum is in proportion to its largest contribution, and every cell has noise of its
own. Whoever knows all contributions but one sees that one in every cell that holds it, each time
with a standard deviation of at least ``d`` times the contribution. With ``N`` tables on the menu
there are ``N`` such cells, and no linear estimate has a standard deviation below ``d / sqrt(N)`` of
the contribution. That is the worst case, and one contributor who is far above all others comes near
it; where all contribute alike, the looks are those at counts, which are fewer.

The budget reads code lists only: it is public information, but for the noise.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from sdcensus.errors import SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.policy.menu import Menu

#: More tables than this are not gone through one by one to leave out forbidden combinations.
MOST_TABLES = 50_000


def tables_of(menu: Menu) -> int:
    """How many cells of a menu hold the same person: one for each choice of levels.

    Levels that tell the same apart are one. Of very many tables none is left out as forbidden:
    there are at most so many.
    """
    levels = [
        list({level.group_array.tobytes(): level for level in variable.levels}.values())
        for variable in menu.variables
    ]
    at_most = _choices([len(each) for each in levels], menu.dimensions)
    if at_most > MOST_TABLES:
        return at_most
    names = [variable.variable.name for variable in menu.variables]
    number = 1  # the total of everybody
    for size in range(1, min(menu.dimensions, len(names)) + 1):
        for chosen in itertools.combinations(range(len(names)), size):
            for combination in itertools.product(*(levels[at] for at in chosen)):
                cell = {names[at]: level for at, level in zip(chosen, combination, strict=True)}
                number += menu.allows(cell)
    return number


def _choices(sizes: list[int], most: int) -> int:
    """How many choices of at most so many variables, each at one of its levels, there are.

    Examples:
        >>> _choices([2, 1, 3], 2)
        18
    """
    sums = [1] + [0] * most
    for size in sizes:
        for order in range(most, 0, -1):
            sums[order] += size * sums[order - 1]
    return sum(sums)


def noise_left(deviation: float, tables: int) -> float:
    """The least standard deviation of what is known of a contribution, as a share of it.

    Args:
        deviation: The standard deviation of the noise of one sum, as a share of its largest
            contribution.
        tables: How many cells hold the contribution.

    Examples:
        >>> noise_left(0.1, 25)
        0.02
    """
    if not deviation > 0 or tables < 1:
        raise SpecError("Looks at sums need noise above 0 and at least one table.")
    return deviation / math.sqrt(tables)


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class SumBudget(Confidential):
    """The looks at sums of one amount, against the noise that protects them.

    Attributes:
        amount: The amount.
        tables: How many cells of all that may be asked hold the same contribution.
        deviation: The least standard deviation of one sum, as a share of its largest contribution.
        limit: The least that must be left of it.
        others: Amounts that tell this one, such as a copy; their tables are among those counted.
        both_signs: Whether some contributions are above and some below 0. Where they cancel out,
            noise is in proportion to what is left, and the deviation is no bound.
    """

    amount: str
    tables: int
    deviation: float
    limit: float
    others: tuple[str, ...] = ()
    both_signs: bool = False

    def __repr__(self) -> str:
        return f"<SumBudget of {self.amount!r}: confidential>"

    @property
    def told(self) -> str:
        """The amount, and those that tell it."""
        return f"{self.amount} (with {', '.join(self.others)})" if self.others else self.amount

    @property
    def left(self) -> float:
        """The standard deviation that is left after all looks, as a share of the contribution."""
        return noise_left(self.deviation, self.tables)

    @property
    def met(self) -> bool:
        """Whether enough is left."""
        return self.left >= self.limit

    @property
    def needed(self) -> float:
        """The standard deviation of one sum that would leave enough."""
        return self.limit * math.sqrt(self.tables)

    @property
    def most_tables(self) -> int:
        """How many tables this noise withstands."""
        return int((self.deviation / self.limit) ** 2)
