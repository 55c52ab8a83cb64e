"""Shares, ratios and means of codes from published counts, in whole numbers. Public.

Nothing here has ever seen a true count. Values are integers with some digits behind the point,
rounded half to even; limits for brackets are fixed numbers, so that they tell nothing about how
counts were changed. A sum of published counts has the error of all of them: what it rests on goes
along with it, and its limit grows with the number of its parts.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError, told
from sdcensus.model.published.table import Mark
from sdcensus.model.schema.variable import Level, Variable

Int64 = npt.NDArray[np.int64]
Marks = npt.NDArray[np.uint8]
Mask = npt.NDArray[np.bool_]
Array = npt.NDArray[Any]

#: More digits behind the point than this say nothing, and might not fit 64 bits.
MOST_DECIMALS = 6
#: Figures of amounts are not given where fewer published units stand behind them.
FEWEST_BEHIND_AMOUNTS = 10
#: They stand in brackets below so many times as many.
BRACKETS_OF_AMOUNTS = 3
#: Counts that are reliable whatever they are sums of; their squares fit 64 bits.
_LARGE = 10**9


@dataclass(frozen=True, slots=True, kw_only=True)
class FigureLimits:
    """When a figure is unreliable, and when it is not given at all.

    Attributes:
        low_below: A figure stands in brackets if a published count behind it is below this, a sum
            of several below this times the square root of their number, or if half of a sum or more
            comes from counts below this.
        none_below: It is not given if the published count that it is divided by is below this.
    """

    low_below: int = 10
    none_below: int = 3

    @classmethod
    def of_brackets(cls, below: int | None) -> FigureLimits:
        """Those of an office that puts counts below a number of its own into brackets."""
        return cls() if below is None else cls(low_below=max(below, cls().none_below))

    def for_amounts(self, fewest: int) -> FigureLimits:
        """Those of figures of amounts, which one person can move far more than a count.

        Args:
            fewest: It is not given where fewer are published behind it, and stands in brackets
                below ``BRACKETS_OF_AMOUNTS`` times as many; never below the limits of counts.
        """
        if type(fewest) is not int or fewest < self.none_below:
            raise SpecError(
                told(
                    "figures.fewest",
                    "Behind a figure of amounts stand at least {least} published units; 'fewest'"
                    " is that number or more.",
                    least=self.none_below,
                )
            )
        return FigureLimits(
            low_below=max(self.low_below, BRACKETS_OF_AMOUNTS * fewest), none_below=fewest
        )

    def __post_init__(self) -> None:
        if not 1 <= self.none_below <= self.low_below:
            raise SpecError("Limits of reliability are 1 or more, that for brackets the larger.")


DEFAULT_LIMITS = FigureLimits()
#: Those of means, ratios and percentiles of amounts.
AMOUNT_LIMITS = DEFAULT_LIMITS.for_amounts(FEWEST_BEHIND_AMOUNTS)


@dataclass(frozen=True, slots=True, eq=False)
class Support:
    """What sums of published counts rest on.

    Attributes:
        parts: How many published counts each is the sum of.
        small: How much of each comes from published counts below the limit for brackets.
        records: For weighted counts, how many records are published behind each: limits are about
            these, and so are ``parts`` and ``small``. ``None`` where the counts are of records.
    """

    parts: Int64
    small: Int64
    records: Int64 | None = None

    @classmethod
    def of(cls, counts: Int64, limits: FigureLimits = DEFAULT_LIMITS) -> Support:
        """What single published counts rest on: themselves."""
        return cls(np.ones_like(counts), np.where(counts < limits.low_below, counts, 0))

    @classmethod
    def of_records(
        cls, records: Int64 | None, limits: FigureLimits = DEFAULT_LIMITS
    ) -> Support | None:
        """What single weighted counts rest on: records; ``None`` for counts of records."""
        if records is None:
            return None
        alone = cls.of(records, limits)
        return cls(alone.parts, alone.small, records)


@dataclass(frozen=True, slots=True, eq=False)
class Counted:
    """Published counts or sums of them, and marks where some have no number.

    Attributes:
        counts: The counts.
        marks: What stands where there is none, if anything does.
        support: What they rest on; ``None`` where each is one published count.
    """

    counts: Int64
    marks: Marks | None = None
    support: Support | None = None

    @property
    def missing(self) -> Mask:
        """Where there is no number."""
        if self.marks is None:
            return np.zeros(self.counts.shape, dtype=bool)
        return np.asarray(self.marks != 0)

    def each(self, function: Callable[[Array], Array]) -> Counted:
        """The same of every array: an excerpt, another order, another shape."""
        return Counted(
            np.asarray(function(self.counts)),
            None if self.marks is None else np.asarray(function(self.marks)),
            None if self.support is None else self._each_of(self.support, function),
        )

    @staticmethod
    def _each_of(support: Support, function: Callable[[Array], Array]) -> Support:
        return Support(
            np.asarray(function(support.parts)),
            np.asarray(function(support.small)),
            None if support.records is None else np.asarray(function(support.records)),
        )

    @property
    def behind(self) -> Int64:
        """The published numbers of records behind the counts, which limits are about."""
        if self.support is None or self.support.records is None:
            return self.counts
        return self.support.records

    def divides(self, limits: FigureLimits = DEFAULT_LIMITS) -> Mask:
        """Where enough records are behind the count that a figure may be divided by it."""
        return np.asarray((self.behind >= limits.none_below) & (self.counts > 0))

    def summed(self, limits: FigureLimits = DEFAULT_LIMITS) -> Counted:
        """The sums along the last axis; one of which a part is missing is missing."""
        support = Support.of(self.counts, limits) if self.support is None else self.support
        return Counted(
            np.asarray(self.counts.sum(axis=-1)),
            None if self.marks is None else np.asarray(self.marks.max(axis=-1, initial=0)),
            self._each_of(support, lambda array: array.sum(axis=-1)),
        )

    def bracketed(self, low: Mask, limits: FigureLimits = DEFAULT_LIMITS) -> Counted:
        """The same counts, some of which stand in brackets: what rests on these gets them too."""
        support = Support.of(self.counts, limits) if self.support is None else self.support
        small = np.where(low, self.behind, support.small)
        return replace(self, support=replace(support, small=small))

    def low(self, limits: FigureLimits = DEFAULT_LIMITS) -> Mask:
        """Where a figure that rests on the count is unreliable."""
        support = Support.of(self.counts, limits) if self.support is None else self.support
        few = too_few(self.behind, support.parts, limits.low_below)
        return np.asarray(few | (2 * support.small >= self.behind))


def too_few(counts: Int64, parts: Int64, below: int) -> Mask:
    """Where sums of so many published counts are too small to rely on: their limit grows with the
    square root of the number of their parts."""
    square = np.minimum(counts, _LARGE) ** 2
    return np.asarray((counts < below) | (square < below**2 * parts))


@dataclass(frozen=True, slots=True, eq=False)
class Figures:
    """Figures as integers with ``decimals`` digits behind the point, and their marks."""

    values: Int64
    marks: Marks
    decimals: int


@dataclass(frozen=True, slots=True)
class NumberClass:
    """A code that stands for numbers: its lowest and its highest, ``None`` for "and over".

    Attributes:
        code: The code.
        place: Where it stands in its level.
        lower, upper: The numbers.
    """

    code: str
    place: int
    lower: int
    upper: int | None


def number_classes(
    variable: Variable, level: Level, *, mean: bool, name: str = ""
) -> tuple[NumberClass, ...]:
    """The classes of numbers of a level, ascending, for a mean or a median of them.

    Args:
        variable: The variable.
        level: One of its levels.
        mean: Whether a mean is asked for; else a median.
        name: How whoever asks calls the variable.

    Raises:
        SpecError: Its codes are no numbers, or it is continuous and has no method for the figure.
    """
    shown = name or repr(variable.name)
    if variable.continuous and mean:
        raise no_mean_of_classes(shown)
    valid = [code for code in level.codes if not code.is_missing]
    if variable.continuous and len(valid) < 2:
        raise SpecError(
            told(
                "figures.continuous-median",
                "{variable} is an amount without levels, so no classes are published that a median"
                " could be taken from. Give it levels in the schema.",
                variable=shown,
            )
        )
    classes = [
        NumberClass(code.code, place, code.lower, code.upper)
        for place, code in enumerate(level.codes)
        if code.lower is not None and not code.is_missing
    ]
    if not classes or len(classes) < len(valid):
        what = told(
            "figures.no-median",
            "The codes of {variable} do not stand for numbers, so they have no median.",
            variable=shown,
        )
        if mean:
            what = told(
                "figures.no-mean",
                "The codes of {variable} do not stand for numbers, so they have no mean.",
                variable=shown,
            )
        raise SpecError(what)
    return tuple(sorted(classes, key=lambda class_: class_.lower))


def no_mean_of_classes(shown: str) -> SpecError:
    """Why there is no mean of the classes of an amount.

    Args:
        shown: How whoever asks calls the variable, with its level.
    """
    return SpecError(
        told(
            "figures.continuous-mean",
            "{variable} is an amount: its mean is a published sum divided by a published count; the"
            " middles of its classes would be guesses. Name it without a level, or ask for counts"
            " by its levels.",
            variable=shown,
        )
    )


def quotient(
    numerator: Counted,
    denominator: Counted,
    *,
    per: int = 100,
    decimals: int = 1,
    share: bool = False,
    limits: FigureLimits = DEFAULT_LIMITS,
) -> Figures:
    """One published count per so many of another.

    Args:
        numerator, denominator: The published counts.
        per: What the figure is given per: 100 for percentages.
        decimals: How many digits stand behind the point.
        share: Whether the first is a part of the second: its share is never above the whole, also
            where the two were changed in different directions.
        limits: When a figure is unreliable.

    Examples:
        >>> one = Counted(np.array([12, 31, 5])), Counted(np.array([30, 30, 0]))
        >>> figures = quotient(*one, share=True)
        >>> figures.values.tolist(), figures.marks.tolist()
        ([400, 1000, 0], [0, 0, 4])
    """
    scale = scale_of(per, decimals)
    enough = denominator.divides(limits)
    below = np.where(enough, denominator.counts, 1)
    values = rounded(numerator.counts * scale, below)
    if share:
        values = np.minimum(values, scale)
    low = numerator.low(limits) | denominator.low(limits)
    return with_marks_of(values, enough, low, (numerator, denominator), decimals)


def mean(
    counts: Counted,
    lower: Sequence[int],
    upper: Sequence[int | None],
    *,
    decimals: int = 1,
    limits: FigureLimits = DEFAULT_LIMITS,
) -> Figures:
    """The mean, from published counts of classes of whole numbers along the last axis.

    A class counts with its middle; one without an end with its lowest value.

    Args:
        counts: The published counts; the last axis has the classes.
        lower, upper: The lowest and highest value of each class; ``None`` for "and over".
        decimals: How many digits stand behind the point.
        limits: When a figure is unreliable.
    """
    if counts.counts.ndim == 1:
        single = mean(counts.each(as_line), lower, upper, decimals=decimals, limits=limits)
        return Figures(single.values.reshape(()), single.marks.reshape(()), decimals)
    scale = scale_of(1, decimals)
    twice = [2 * a if b is None else a + b for a, b in zip(lower, upper, strict=True)]
    whole = counts.summed(limits)
    size = whole.counts
    whole_numbers = whole_numbers_for(twice, size, scale)
    total = counts.counts.astype(whole_numbers) @ np.array(twice, dtype=whole_numbers)
    enough = whole.divides(limits)
    quotients = rounded(np.where(enough, total * scale, 0), np.where(enough, 2 * size, 1))
    return with_marks_of(quotients, enough, whole.low(limits), (whole,), decimals)


def rounded(numerator: Int64, denominator: Int64) -> Int64:
    """Whole numbers nearest to quotients, ties to the even one; denominators are above 0.

    Examples:
        >>> rounded(np.array([5, 7, 9, -5]), np.array([2, 2, 4, 2])).tolist()
        [2, 4, 2, -2]
    """
    top = np.asarray(numerator)
    if top.dtype == object:  # beyond 64 bits
        pairs = zip(top.ravel().tolist(), np.asarray(denominator).ravel().tolist(), strict=True)
        exact = [round(Fraction(above, below)) for above, below in pairs]
        return np.array(exact, dtype=np.int64).reshape(top.shape)
    whole, rest = np.divmod(top, denominator)
    twice = 2 * rest
    up = (twice > denominator) | ((twice == denominator) & (whole % 2 == 1))
    return np.asarray(whole + up)


def scale_of(per: int, decimals: int) -> int:
    """By what a quotient is multiplied to be a whole number with so many digits behind the point.

    Raises:
        SpecError: So many digits make no sense, or do not fit.
    """
    if type(per) is not int or per < 1:
        raise SpecError(told("figures.per", "Figures are given per a whole number, 1 or more."))
    if type(decimals) is not int or not 0 <= decimals <= MOST_DECIMALS:
        raise SpecError(
            told(
                "figures.decimals",
                "Figures have from 0 to {most} digits behind the point.",
                most=MOST_DECIMALS,
            )
        )
    if per > 1_000_000 or per * 10**decimals > 10**9:
        raise SpecError(
            told("figures.digits", "Figures with so many digits do not fit. Take fewer decimals.")
        )
    return int(per * 10**decimals)


def as_line(array: Array) -> Array:
    """One line of classes as a table of lines: single numbers beyond 64 bits are no arrays."""
    return array[None]


def whole_numbers_for(
    numbers: Sequence[int], size: Int64, scale: int, times: int = 4
) -> type[np.int64] | type[object]:
    """Whole numbers in which sums of so many of these numbers can be held: 64 bits or any size.

    Args:
        numbers: The numbers.
        size: How many of them are added up.
        scale: What they are multiplied by.
        times: How many times as large the numbers are that are met on the way.
    """
    largest = max((abs(number) for number in numbers), default=0) + 1
    if largest * scale >= 1 << 62:
        raise SpecError(
            told("figures.digits", "Figures with so many digits do not fit. Take fewer decimals.")
        )
    most = times * largest * scale * (int(size.max(initial=0)) + 1)
    return np.int64 if most < 1 << 62 else object


def with_marks_of(
    values: Int64, enough: Mask, low: Mask, behind: Sequence[Counted], decimals: int
) -> Figures:
    """Values with their marks: what stands for a missing count comes first."""
    marks = np.where(low, np.uint8(Mark.LOW_RELIABILITY), np.uint8(Mark.NONE))
    marks = np.where(enough, marks, np.uint8(Mark.NOT_AVAILABLE))
    for counted in behind:
        if counted.marks is not None:
            marks = np.where(counted.missing, counted.marks, marks)
    marks = marks.astype(np.uint8)
    numbered = (marks == Mark.NONE) | (marks == Mark.LOW_RELIABILITY)
    return Figures(np.where(numbered, values, 0).astype(np.int64), marks, decimals)
