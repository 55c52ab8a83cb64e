"""What an audit found: an interval for each withheld cell, and what that means for it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import IntEnum
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np

from sdcensus.errors import InputError, SpecError
from sdcensus.solvers.audit.system import FREE, FailedEquation, Int64, Mask

if TYPE_CHECKING:
    from sdcensus.solvers.audit.merge import Merged
    from sdcensus.solvers.audit.search import ComponentSearch


class DoesNotAddUp(InputError):
    """Published cells contradict each other: no values of the withheld ones fit.

    Attributes:
        failed: Equations that fail; empty where only many of them together do.
    """

    def __init__(self, failed: Sequence[FailedEquation], text: str = "") -> None:
        self.failed = tuple(failed)
        count = len(self.failed)
        what = f"{count:,} of their sums fail" if count else "no values of withheld cells fit"
        super().__init__(
            text
            or f"The published cells do not add up: {what}. Give a tolerance if they are rounded."
        )


class CellStatus(IntEnum):
    """What becomes of a withheld cell."""

    PROTECTED = 0
    APPROXIMATE = 1
    DISCLOSED = 2


@dataclass(frozen=True, slots=True, eq=False)
class Requirement:
    """From when on a cell counts as approximately disclosed.

    Attributes:
        percent: Whoever takes the middle of the interval is off by at most so many percent of it.
        width: The interval is narrower than this.
        reach: For each cell how low and how high its interval has to reach (the office's own
            protection interval); ``-FREE`` and ``FREE`` turned round, ``FREE`` and ``-FREE``, where
            nothing is asked.
    """

    percent: Fraction = Fraction(0)
    width: int = 0
    reach: tuple[Int64, Int64] | None = None

    def __post_init__(self) -> None:
        if not 0 <= self.percent < 100:
            raise SpecError("A share that counts as near is from 0 to below 100 percent.")
        if type(self.width) is not int or self.width < 0:
            raise SpecError("The width below which an interval is narrow is 0 or more.")


@dataclass(frozen=True, slots=True, eq=False)
class CellIntervals:
    """The smallest and the largest value of each cell. Public if it was made from public cells.

    Attributes:
        asked: The withheld cells that the intervals are exact for.
        lower, upper: The bounds of every cell, by its number: published cells have their value.
            ``FREE`` where there is none. Those of cells that were not asked for may be too wide.
        reached_lower, reached_upper: Whether a whole table is known that reaches the bound.
        unproven: Cells one of whose bounds rests on a solver's arithmetic alone.
    """

    asked: Mask
    lower: Int64
    upper: Int64
    reached_lower: Mask
    reached_upper: Mask
    unproven: Mask

    @classmethod
    def before_programs(cls, asked: Mask, lower: Int64, upper: Int64) -> CellIntervals:
        """Intervals as far as single rows narrow them; one value that is left is reached."""
        left = lower == upper
        none = np.zeros(asked.size, dtype=bool)
        return cls(asked, lower, upper, left, left.copy(), none)

    def take(self, cells: Int64, asked: Mask, search: ComponentSearch, fewer: Merged) -> None:
        """Write down what became of some cells; only while the audit runs."""
        chosen = cells[asked]
        lower, upper = fewer.bounds(search.lower, search.upper)
        self.lower[chosen], self.upper[chosen] = lower[asked], upper[asked]
        least, most = search.smallest <= search.lower, search.largest >= search.upper
        up = fewer.sign > 0
        self.reached_lower[chosen] = np.where(up, least[fewer.place], most[fewer.place])[asked]
        self.reached_upper[chosen] = np.where(up, most[fewer.place], least[fewer.place])[asked]
        unproven = np.asarray(search.unproven[0] | search.unproven[1])
        self.unproven[chosen] = unproven[fewer.place][asked]

    def closed(self) -> CellIntervals:
        """The same, which nobody changes any more."""
        for array in (self.asked, self.lower, self.upper, self.reached_lower, self.reached_upper):
            array.flags.writeable = False
        self.unproven.flags.writeable = False
        return self

    def __repr__(self) -> str:
        return f"<CellIntervals of {int(self.asked.sum())} withheld cells>"

    @property
    def disclosed(self) -> Mask:
        """Withheld cells of which one value is left."""
        return np.asarray(self.asked & (self.lower == self.upper))

    @property
    def bounded(self) -> Mask:
        """Cells that have a smallest and a largest value."""
        return np.asarray((self.lower > -FREE) & (self.upper < FREE))

    @property
    def width(self) -> Int64:
        """How far the bounds of each cell lie apart; ``FREE`` where there is no bound."""
        return np.where(self.bounded, self.upper - self.lower, FREE)

    def status(self, requirement: Requirement | None = None) -> Int64:
        """For each withheld cell that was asked for its ``CellStatus``; 0 for all others."""
        asked = requirement or Requirement()
        near = self.bounded & (self.width < asked.width)
        share = asked.percent / 100
        # Half the width at most so much of the middle, in whole numbers.
        ends = np.where(self.bounded, self.lower + self.upper, 0)
        widths = np.where(self.bounded, self.upper - self.lower, 1)
        near |= self.bounded & (widths * share.denominator <= share.numerator * ends)
        if asked.reach is not None:
            low, high = asked.reach
            near |= (self.lower > low) | (self.upper < high)
        status = np.where(near, CellStatus.APPROXIMATE, CellStatus.PROTECTED)
        status = np.where(self.disclosed, CellStatus.DISCLOSED, status)
        return np.where(self.asked, status, CellStatus.PROTECTED).astype(np.int64)

    def first(self, size: int) -> CellIntervals:
        """Those of the first cells alone."""
        return CellIntervals(
            self.asked[:size],
            self.lower[:size],
            self.upper[:size],
            self.reached_lower[:size],
            self.reached_upper[:size],
            self.unproven[:size],
        )
