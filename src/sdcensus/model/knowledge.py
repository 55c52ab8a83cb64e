"""What an intruder knows about the changes between true and published counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.table import Flag, Table

Int64 = npt.NDArray[np.int64]
#: An upper bound that says nothing: no census counts so many.
UNBOUNDED = 1 << 40


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What an intruder is taken to know. Every conclusion about risk names it.

    Attributes:
        max_deviation: The largest change up or down (the deviation bound, ``D``); of rounding to
            a base, the base less one.
        zeros_known: Whether it is known that empty cells are published as 0, so that a published
            number above 0 means at least one record.
        blocked: Counts from 1 to this are known never to be published.
        withheld_below: Values that are withheld are known to be published values below this;
            ``None`` if nothing is known of them.
    """

    max_deviation: int
    zeros_known: bool = True
    blocked: int = 0
    withheld_below: int | None = None

    def __post_init__(self) -> None:
        if type(self.max_deviation) is not int or self.max_deviation < 0:
            raise SpecError("The largest deviation that is known is a whole number, 0 or more.")
        if type(self.blocked) is not int or not 0 <= self.blocked <= self.max_deviation:
            raise SpecError("Counts can be blocked from 1 up to the largest deviation at most.")

    def bounds(self, table: Table) -> tuple[Int64, Int64]:
        """For each cell, the smallest and the largest true count that fits its published value."""
        published = table.published
        lower = np.maximum(published - self.max_deviation, 0)
        upper = published + self.max_deviation
        if self.zeros_known:
            lower = np.where(published > 0, np.maximum(lower, 1), lower)
        if table.flags is not None:
            hidden = table.flags != Flag.PUBLISHED
            most = UNBOUNDED
            if self.withheld_below is not None:
                most = self.withheld_below - 1 + self.max_deviation
            lower = np.where(hidden, 0, lower)
            upper = np.where(hidden, most, upper)
        return lower, upper

    def sentence(self) -> str:
        """What is known, to name the scope of a conclusion."""
        parts = [f"no count was changed by more than {self.max_deviation}"]
        if self.zeros_known:
            parts.append("empty cells are published as 0")
        if self.blocked:
            blocked = "1" if self.blocked == 1 else f"1 to {self.blocked}"
            parts.append(f"counts of {blocked} are never published")
        return f"An intruder who knows that {', that '.join(parts)}."
