"""From published counts to figures, for plans, the table builder and commands. Public.

Everything here is computed from published numbers, so whoever has the counts could do it himself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.model.published.delivery import DeliveredAxis, DeliveredTable
from sdcensus.model.published.figures import (
    DEFAULT_LIMITS,
    Counted,
    FigureLimits,
    Figures,
    NumberClass,
    mean,
    quotient,
)
from sdcensus.model.published.percentiles import MEDIAN, percentile
from sdcensus.model.published.table import Mark
from sdcensus.model.spec.axis import Axis
from sdcensus.model.text import Text
from sdcensus.session.figures import words


@dataclass(frozen=True, slots=True)
class CountAxis:
    """An axis of counts that figures are computed from.

    Attributes:
        variable: The variable that it shows.
        codes: Its codes, in the order of the counts.
        total: The place of the total among them, if it is there.
    """

    variable: str
    codes: tuple[str, ...]
    total: int | None = None

    @classmethod
    def of(cls, axis: Axis | DeliveredAxis) -> CountAxis:
        """An axis of a table, as it is counted or as it is delivered."""
        if isinstance(axis, DeliveredAxis):
            return cls(axis.column, axis.codes, axis.total)
        codes = tuple(each.code for each in axis.codes)
        return cls(axis.variable.name, codes, len(codes) - 1 if axis.total else None)


@dataclass(frozen=True, slots=True)
class Percentages:
    """Each count as a percentage of the total along some axes.

    Attributes:
        over: The variables whose totals the counts are divided by.
        decimals: How many digits stand behind the point.
        words: What they are, for a title; empty where the counts have one.
    """

    over: tuple[str, ...]
    decimals: int = 1
    words: Text = Text()

    @property
    def unit(self) -> Text:
        """What the figures are given in."""
        return words.PERCENT

    @property
    def consumed(self) -> tuple[str, ...]:
        """The axes that disappear: none."""
        return ()


@dataclass(frozen=True, slots=True)
class Choice:
    """Which counts along the axis of a variable are added up.

    Attributes:
        variable: The variable of the axis.
        places: Their places on it.
    """

    variable: str
    places: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Quotient:
    """One published count per so many of another.

    Attributes:
        numerator, denominator: What is divided, for each axis of conditions; these axes disappear.
        share: Whether the first is a part of the second.
        per: What the figure is given per.
        decimals: How many digits stand behind the point.
        words: What the figure is, for a title.
    """

    numerator: tuple[Choice, ...]
    denominator: tuple[Choice, ...]
    share: bool
    per: int = 100
    decimals: int = 1
    words: Text = Text()

    @property
    def unit(self) -> Text:
        """What the figures are given in."""
        return words.PERCENT if self.share else words.per_words(words.PER, self.per)

    @property
    def consumed(self) -> tuple[str, ...]:
        """The axes that disappear."""
        return tuple(choice.variable for choice in self.numerator)


class Statistic(StrEnum):
    """What is computed of numbers."""

    MEAN = "mean"
    MEDIAN = "median"
    QUARTILES = "quartiles"
    PERCENTILE = "percentile"


@dataclass(frozen=True, slots=True)
class OfNumbers:
    """The mean, median or percentiles of the numbers that the codes of an axis stand for.

    Attributes:
        variable: The variable of the axis, which disappears.
        statistic: What is computed.
        classes: Its codes, ascending; codes without a number are left out.
        decimals: How many digits stand behind the point.
        words: What the figure is, for a title.
        unit: What the numbers are.
        percents: Which percentiles; several of them are a last axis of the figures.
        fewest: For amounts, how many are published at least behind a figure; ``None`` for codes,
            which have the limits of counts.
    """

    variable: str
    statistic: Statistic
    classes: tuple[NumberClass, ...]
    decimals: int = 1
    words: Text = Text()
    unit: Text = Text()
    percents: tuple[int, ...] = (MEDIAN,)
    fewest: int | None = None

    @property
    def consumed(self) -> tuple[str, ...]:
        """The axis that disappears."""
        return (self.variable,)


Computed = Percentages | Quotient | OfNumbers


def computed(
    figure: Computed,
    counts: Counted,
    axes: Sequence[CountAxis],
    limits: FigureLimits = DEFAULT_LIMITS,
) -> Figures:
    """Figures from published counts; the axes that they consume are no longer there.

    A figure of which a part is withheld is withheld, with the mark of that part. One that is
    divided by a very small count is not given; one that rests on a small count is marked as of low
    reliability.

    Args:
        figure: What is computed.
        counts: The published counts, or sums of them.
        axes: The axes of the counts.
        limits: When a figure is unreliable.

    Raises:
        SpecError: The counts have not what the figure needs.
    """
    match figure:
        case Percentages():
            return _percentages(figure, counts, axes, limits)
        case Quotient():
            above, below = (
                chosen_counts(counts, axes, side, limits)
                for side in (figure.numerator, figure.denominator)
            )
            return quotient(
                above,
                below,
                per=figure.per,
                decimals=figure.decimals,
                share=figure.share,
                limits=limits,
            )
        case OfNumbers():
            return _of_numbers(figure, counts, axes, limits)


def counted_of(table: DeliveredTable) -> Counted:
    """The counts of a delivered table, for figures that are computed from them."""
    if table.decimals:
        raise SpecError("Figures are computed from counts, and the answer has decimals.")
    if table.marks is None:
        return Counted(table.values, support=table.support)
    # A number that has a mark beside it is a number.
    marks = np.where(table.numbered, np.uint8(Mark.NONE), table.marks)
    counts = Counted(table.values, marks, table.support)
    return counts.bracketed(table.marks == Mark.LOW_RELIABILITY, table.limits)


def notes_of(figure: Computed, axes: Sequence[CountAxis]) -> tuple[Text, ...]:
    """What readers must know of computed figures."""
    if isinstance(figure, OfNumbers) and figure.fewest is not None:
        return (words.fewest_words(words.INTERPOLATED, figure.fewest),)
    if isinstance(figure, OfNumbers) and figure.statistic is Statistic.MEAN:
        codes = next(axis.codes for axis in axes if axis.variable == figure.variable)
        if any(each.upper is None for each in figure.classes if each.code in codes):
            return (words.COMPUTED, words.OPEN_CLASS)
    return (words.COMPUTED,)


def _percentages(
    figure: Percentages, counts: Counted, axes: Sequence[CountAxis], limits: FigureLimits
) -> Figures:
    index = []
    for axis in axes:
        if axis.variable not in figure.over:
            index.append(slice(None))
            continue
        if axis.total is None:
            raise SpecError(f"{axis.variable!r} has no total, which the figures need.")
        index.append(slice(axis.total, axis.total + 1))
    shape = counts.counts.shape
    whole = counts.each(lambda array: np.broadcast_to(array[tuple(index)], shape))
    return quotient(counts, whole, decimals=figure.decimals, share=True, limits=limits)


def chosen_counts(
    counts: Counted, axes: Sequence[CountAxis], side: tuple[Choice, ...], limits: FigureLimits
) -> Counted:
    """Counts added up over the chosen places; one place alone is the count itself."""
    chosen = {choice.variable: list(choice.places) for choice in side}
    for at, axis in reversed(list(enumerate(axes))):
        if axis.variable not in chosen:
            continue
        places = chosen[axis.variable]
        if max(places) >= len(axis.codes):
            raise SpecError(f"{axis.variable!r} has not the groups that the figures need.")
        counts = _along(counts, at, places)
        alone = len(places) == 1
        counts = counts.each(lambda array: array[..., 0]) if alone else counts.summed(limits)
    return counts


def _of_numbers(
    figure: OfNumbers, counts: Counted, axes: Sequence[CountAxis], limits: FigureLimits
) -> Figures:
    at = [axis.variable for axis in axes].index(figure.variable)
    places = {code: place for place, code in enumerate(axes[at].codes) if place != axes[at].total}
    # Codes that a condition leaves out are not among the counts.
    classes = [each for each in figure.classes if each.code in places]
    if not classes:
        raise SpecError(f"No code of {figure.variable!r} that is a number is among the counts.")
    order = [places[each.code] for each in classes]
    chosen = _along(counts, at, order)
    lower, upper = [each.lower for each in classes], [each.upper for each in classes]
    if figure.fewest is not None:
        limits = limits.for_amounts(figure.fewest)
    if figure.statistic is Statistic.MEAN:
        return mean(chosen, lower, upper, decimals=figure.decimals, limits=limits)
    several = [
        percentile(chosen, lower, upper, percent, decimals=figure.decimals, limits=limits)
        for percent in figure.percents
    ]
    if len(several) == 1:
        return several[0]
    values, marks = (
        np.stack([getattr(each, name) for each in several], axis=-1) for name in ("values", "marks")
    )
    return Figures(values, marks, figure.decimals)


def _along(counts: Counted, at: int, places: Sequence[int]) -> Counted:
    """Counts at some places of an axis, which becomes the last one."""
    return counts.each(lambda array: np.take(np.moveaxis(array, at, -1), places, axis=-1))
