"""What an intruder knows about the changes between true and published counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.sentences import speak
from sdcensus.model.spec.table_spec import TableSpec

Int64 = npt.NDArray[np.int64]
#: An upper bound that says nothing: no census counts so many.
UNBOUNDED = 1 << 40
#: No count is changed by more: from there on a bound says nothing.
MOST_DEVIATION = UNBOUNDED


@dataclass(frozen=True, slots=True)
class DeviationSupport:
    """Which true counts can lead to a published value, for who knows the perturbation table.

    Attributes:
        smallest, largest: The smallest and the largest count for each published value from 0. The
            smallest is above the largest where no count leads to the value.
        period: Behind them the last so many values repeat, each higher than the one before.
    """

    smallest: tuple[int, ...]
    largest: tuple[int, ...]
    period: int

    @classmethod
    def of(cls, perturbation: Perturbation) -> Self:
        """What can happen with a probability above 0."""
        tail, reach = perturbation.tail, perturbation.max_deviation
        # From here on every row serves counts in turn, and so do the values that they lead to.
        size = tail.start + reach + tail.period
        smallest = np.full(size, UNBOUNDED, dtype=np.int64)
        largest = np.full(size, -1, dtype=np.int64)
        for count in range(size + reach):
            possible = perturbation.probabilities(count) > 0
            values = perturbation.targets(count)[possible]
            values = values[values < size]
            smallest[values] = np.minimum(smallest[values], count)
            largest[values] = np.maximum(largest[values], count)
        return cls(tuple(smallest.tolist()), tuple(largest.tolist()), tail.period)

    def bounds(self, published: Int64) -> tuple[Int64, Int64]:
        """The smallest and the largest count behind each published value."""
        last = len(self.smallest) - self.period
        above = np.maximum(published - last, 0) // self.period * self.period
        row = published - above
        smallest, largest = np.array(self.smallest), np.array(self.largest)
        return smallest[row] + above, largest[row] + above


@dataclass(frozen=True, slots=True, kw_only=True)
class Knowledge:
    """What an intruder is taken to know. Every conclusion about risk names it.

    Attributes:
        max_deviation: The largest change up or down (the deviation bound, ``D``); of rounding to
            a base, the base less one.
        zeros_known: Whether it is known that empty cells are published as 0, so that a published
            number above 0 means at least one record.
        blocked: Counts from 1 to this are known never to be published. This never narrows an
            interval: every count within the bound of a value that is published can have led to
            it. It only shows that a table with such a value does not fit.
        withheld_below: Values that are withheld are known to be published values below this;
            ``None`` if nothing is known of them.
        support: Which counts can lead to which value; ``None`` if only the bound is known.
    """

    max_deviation: int
    zeros_known: bool = True
    blocked: int = 0
    withheld_below: int | None = None
    support: DeviationSupport | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        deviation = self.max_deviation
        if type(deviation) is not int or not 0 <= deviation <= MOST_DEVIATION:
            raise SpecError(
                "The largest deviation that is known is a whole number, 0 or more, and not above"
                f" {MOST_DEVIATION:,}."
            )
        if type(self.blocked) is not int or not 0 <= self.blocked <= self.max_deviation:
            raise SpecError("Counts can be blocked from 1 up to the largest deviation at most.")
        below = self.withheld_below
        if below is not None and (type(below) is not int or below < 1):
            raise SpecError("Values are withheld below a whole number, 1 or more.")

    @classmethod
    def of(cls, perturbation: Perturbation, *, zeros_known: bool = True) -> Self:
        """Know the whole perturbation table: which counts can lead to which value."""
        return cls(
            max_deviation=perturbation.max_deviation,
            zeros_known=zeros_known,
            blocked=perturbation.blocked,
            support=DeviationSupport.of(perturbation),
        )

    @classmethod
    def of_rounding(cls, base: int, *, zeros_known: bool = True) -> Self:
        """Know that counts were rounded at random to a multiple of the base next to them."""
        if type(base) is not int or base < 2:
            raise SpecError("The base of rounding is a whole number, 2 or more.")
        return cls(max_deviation=base - 1, zeros_known=zeros_known, blocked=base - 1)

    def bounds(self, table: Table, *, exact: npt.NDArray[Any] | None = None) -> tuple[Int64, Int64]:
        """For each cell, the smallest and the largest true count that fits its published value.

        The smallest is above the largest where no count fits.

        Args:
            table: What is published.
            exact: Numbers of cells that are known to be published as they are (exempt totals,
                cells that must be empty), the last axis running fastest; or a mask of them.
        """
        published = np.asarray(table.published)
        if published.dtype.kind not in "iu" or (published < 0).any():
            raise SpecError(
                f"{table.spec.title}: published counts are whole numbers, 0 or more. Give the"
                " table as it was published."
            )
        lower, upper = self.bounds_of_values(published)
        hidden = np.zeros(published.shape, dtype=bool)
        if table.flags is not None:
            hidden = table.flags != Mark.NONE
            lower = np.where(hidden, 0, lower)
            upper = np.where(hidden, UNBOUNDED, upper)
            if self.withheld_below is not None:
                # Refused areas and parts of a small group are not shown whatever their values are.
                small = np.isin(table.flags, (Mark.WITHHELD, Mark.BELOW_THRESHOLD))
                upper = np.where(small, self.withheld_below - 1 + self.max_deviation, upper)
        if exact is not None:
            known = cell_mask(table.spec, exact) & ~hidden
            lower, upper = np.where(known, published, lower), np.where(known, published, upper)
        return lower, upper

    def bounds_of_values(self, published: Int64) -> tuple[Int64, Int64]:
        """The smallest and the largest true count that fits each of some published values."""
        if self.support is None:
            lower = np.maximum(published - self.max_deviation, 0)
            upper = published + self.max_deviation
        else:
            lower, upper = self.support.bounds(published)
        if self.zeros_known:
            lower = np.where(published > 0, np.maximum(lower, 1), lower)
        elif self.support is not None:
            lower = np.where(published <= self.max_deviation, 0, lower)
        if self.blocked:
            never = (published > 0) & (published <= self.blocked)
            lower, upper = np.where(never, 1, lower), np.where(never, 0, upper)
        return lower, upper

    def sentence(self, language: str | None = None) -> str:
        """What is known, to name the scope of a conclusion."""
        return speak("assess.knows.sentence", language, what=self.known_text(language))

    def known_text(self, language: str | None = None) -> str:
        """What is known, behind the words "an intruder who knows"."""
        facts = [speak("assess.knows.changed", language, n=self.max_deviation)]
        if self.zeros_known:
            facts.append(speak("assess.knows.zeros", language))
        if self.blocked:
            key = "assess.knows.blocked_one" if self.blocked == 1 else "assess.knows.blocked"
            facts.append(speak(key, language, n=self.blocked))
        parts = [speak("assess.knows.that", language, what=fact) for fact in facts]
        text = ", ".join(parts[:-1]) or parts[0]
        if len(parts) > 1:
            text = speak("assess.knows.both", language, first=text, last=parts[-1])
        if self.support is not None:
            text = speak("assess.knows.support", language, what=text)
        return text


def cell_mask(spec: TableSpec, cells: npt.NDArray[Any]) -> npt.NDArray[np.bool_]:
    """Cells of a table as a mask, from a mask or from their numbers, the last axis fastest."""
    given = np.asarray(cells)
    if given.dtype == np.bool_ and given.shape == spec.shape:
        return given
    if given.dtype.kind not in "iu" and given.size:
        raise SpecError(
            f"{spec.title}: cells are given by their numbers, the last axis running fastest, or"
            f" as a mask of the shape {spec.shape}."
        )
    numbers = given.reshape(-1).astype(np.int64)
    if numbers.size and not (numbers.min() >= 0 and numbers.max() < spec.cells):
        raise SpecError(f"{spec.title}: the cells have numbers from 0 to {spec.cells - 1}.")
    mask = np.zeros(spec.cells, dtype=bool)
    mask[numbers] = True
    return mask.reshape(spec.shape)
