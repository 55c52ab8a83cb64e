"""Figures of amounts: which published sums and counts they need, and the way from these to them.

A mean of an amount is its published sum divided by the published count of those whose amount is
known. That count is no count of its own: it is put together of declared codes, as every other
group is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from sdcensus.errors import SpecError, told
from sdcensus.model.published.amounts import (
    Based,
    Summed,
    difference,
    mean_of_amounts,
    ratio_of_amounts,
    sums_of_amounts,
)
from sdcensus.model.published.delivery import NO_PARENT, DeliveredAxis
from sdcensus.model.published.figures import (
    DEFAULT_LIMITS,
    FEWEST_BEHIND_AMOUNTS,
    MOST_DECIMALS,
    Counted,
    FigureLimits,
    Figures,
)
from sdcensus.model.published.percentiles import QUARTILES
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Role, Variable
from sdcensus.model.spec.axis import make_axis
from sdcensus.model.spec.covers import CountedAxis, Part, covering, needed_levels
from sdcensus.model.spec.measures import MeasureOf, check_amount
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import Measure
from sdcensus.session.figures import words
from sdcensus.session.figures.computation import Choice, CountAxis, chosen_counts


def stated_parts(amount: Variable) -> tuple[Part, ...] | None:
    """The declared codes whose counts add up to those with a known amount; ``None`` for all.

    Examples:
        An income of which some are not stated, with the classes below 1000 and above: these two.
    """
    known = np.array([not code.is_missing for code in amount.codes], dtype=bool)
    if known.all():
        return None
    parts = covering(amount).cover(known)
    assert parts is not None  # the leaves themselves are declared
    return parts


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AmountTables:
    """The two tables that figures of an amount come from.

    Attributes:
        amount: The amount.
        sums: The table of its sums.
        counts: The table of counts, with an axis of the amount's classes where some are missing.
        stated: The places on that axis of those whose amount is known; ``None`` where all are.
    """

    amount: Variable
    sums: TableSpec
    counts: TableSpec
    stated: Choice | None = None

    @classmethod
    def of(cls, groups: TableSpec, amount: Variable, schema: Schema) -> AmountTables:
        """The tables for some groups.

        Args:
            groups: Counts by these groups; weighted ones for weighted sums.
            amount: The amount.
            schema: The census.

        Raises:
            SpecError: It is no amount of such units, or stands among the groups.
        """
        if amount.role is Role.WEIGHT:
            raise SpecError(
                told(
                    "figures.no-amount",
                    "{variable} is the weight of units and no amount that they have. Take a"
                    " continuous variable that is no weight.",
                    variable=repr(amount.name),
                )
            )
        check_amount(amount, groups.of, schema)
        if amount.name in [axis.variable.name for axis in groups.axes]:
            raise SpecError(
                f"{amount.name!r} is both a group and part of what is computed. Take it out of"
                " 'by', or out of the conditions."
            )
        measure = Measure.WEIGHTED_SUM if groups.measure.is_weighted else Measure.SUM
        sums = groups.measured(MeasureOf(measure, amount.name), schema)
        parts = stated_parts(amount)
        if parts is None:
            return cls(amount=amount, sums=sums, counts=groups)
        counted = CountedAxis.of(
            make_axis(amount, needed_levels(amount, parts) or [amount.level()], total=False)
        )
        places = tuple(counted.positions(parts).tolist())
        counts = groups.with_axes((*groups.axes, counted.axis))
        return cls(amount=amount, sums=sums, counts=counts, stated=Choice(amount.name, places))

    @property
    def specs(self) -> tuple[TableSpec, TableSpec]:
        """Both tables, that of the sums first."""
        return self.sums, self.counts

    def units(
        self, counts: Counted, axes: Sequence[CountAxis] | None = None, *, limits: FigureLimits
    ) -> Counted:
        """The published counts of those whose amount is known.

        Args:
            counts: The numbers of the table of counts.
            axes: Its axes as they are at hand; by default those of ``counts``.
            limits: When a count is small.
        """
        if self.stated is None:
            return counts
        shown = [CountAxis.of(axis) for axis in self.counts.axes] if axes is None else axes
        return chosen_counts(counts, shown, (self.stated,), limits)


@dataclass(frozen=True, slots=True, eq=False)
class AmountMean:
    """The mean of an amount.

    Attributes:
        tables: The tables that it comes from.
        decimals: How many digits stand behind the point.
        fewest: How many are published at least behind a mean.
    """

    tables: AmountTables
    decimals: int
    fewest: int = FEWEST_BEHIND_AMOUNTS

    @property
    def words(self) -> Text:
        """What it is, for a title."""
        return words.variable_words(words.MEAN, self.tables.amount)

    @property
    def unit(self) -> Text:
        """What it is given in."""
        return words.unit_words(self.tables.amount)

    @property
    def notes(self) -> tuple[Text, ...]:
        """What readers must know."""
        return (words.fewest_words(words.OF_AMOUNTS, self.fewest),)

    def computed(
        self,
        sums: Counted,
        counts: Counted,
        axes: Sequence[CountAxis] | None = None,
        limits: FigureLimits = DEFAULT_LIMITS,
    ) -> Figures:
        """The means of all groups.

        Args:
            sums: The numbers of the table of sums.
            counts: Those of the table of counts.
            axes: The axes of the counts as they are at hand; by default those of the table.
            limits: Those of counts; amounts have stricter ones.
        """
        strict = limits.for_amounts(self.fewest)
        units = self.tables.units(counts, axes, limits=strict)
        summed = Summed.of(sums, self.tables.sums.decimals)
        return mean_of_amounts(summed, units, decimals=self.decimals, limits=strict)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AmountRatio:
    """One amount per so much of another, or per so many units.

    Attributes:
        above: The tables of the amount that is divided.
        below: Those of the other amount; ``None`` where units are counted, whatever they have.
        per: What the ratio is given per.
        decimals: How many digits stand behind the point.
        fewest: How many are published at least behind it.
        units: The table of all units, where these are counted.
    """

    above: AmountTables
    below: AmountTables | None
    units: TableSpec
    per: int = 1
    decimals: int = 1
    fewest: int = FEWEST_BEHIND_AMOUNTS

    @property
    def specs(self) -> tuple[TableSpec, ...]:
        """The tables that it comes from."""
        below = (self.units,) if self.below is None else self.below.specs
        return (*self.above.specs, *below)

    def computed(self, tables: Sequence[Counted], limits: FigureLimits = DEFAULT_LIMITS) -> Figures:
        """The ratios of all groups, from the numbers of its tables in the order of ``specs``."""
        strict = limits.for_amounts(self.fewest)
        sums, counts, *others = tables
        behind = [self.above.units(counts, limits=strict)]
        divisor: Counted | Summed = others[0]
        if self.below is None:
            behind.append(others[0])
        else:
            divisor = Summed.of(others[0], self.below.sums.decimals)
            behind.append(self.below.units(others[1], limits=strict))
        return ratio_of_amounts(
            Summed.of(sums, self.above.sums.decimals),
            divisor,
            behind,
            per=self.per,
            decimals=self.decimals,
            limits=strict,
        )


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class AmountDifference:
    """What one group has more than another: of the means of an amount, or of its sums.

    Attributes:
        tables: The tables that both come from, with an axis for each variable of the conditions.
        first, second: Where the two groups stand on these axes.
        means: Whether means are compared, and not sums.
        decimals: How many digits stand behind the point; those of the amount for sums.
        fewest: How many are published at least behind each.
    """

    tables: AmountTables
    first: tuple[Choice, ...]
    second: tuple[Choice, ...]
    means: bool = True
    decimals: int = 1
    fewest: int = FEWEST_BEHIND_AMOUNTS

    def computed(
        self, sums: Counted, counts: Counted, limits: FigureLimits = DEFAULT_LIMITS
    ) -> Figures:
        """The differences for all groups that are shown."""
        strict = limits.for_amounts(self.fewest)
        one, other = (
            self._figures(sums, counts, side, strict) for side in (self.first, self.second)
        )
        return difference(one, other, strict)

    def _figures(
        self, sums: Counted, counts: Counted, side: tuple[Choice, ...], limits: FigureLimits
    ) -> Based:
        tables = self.tables
        stated = () if tables.stated is None else (tables.stated,)
        of_sums, of_counts = (
            [CountAxis.of(axis) for axis in spec.axes] for spec in (tables.sums, tables.counts)
        )
        units = chosen_counts(counts, of_counts, (*side, *stated), limits)
        chosen = chosen_counts(sums, of_sums, side, limits)
        summed = Summed(chosen.counts, tables.sums.decimals, chosen.marks)
        if self.means:
            means = mean_of_amounts(summed, units, decimals=self.decimals, limits=limits)
            return Based(means, (units,))
        return Based(sums_of_amounts(summed, units, limits), (units,))


def mean_decimals(amount: Variable) -> int:
    """How many digits stand behind the point of a mean, where nobody says it.

    Those of the amount; one where it has none: 37.5 hours are a mean of whole hours.
    """
    return min(max(amount.decimals, 1), MOST_DECIMALS)


def unit_of(amount: Variable) -> Text:
    """What an amount is measured in; empty where the schema does not say it."""
    return amount.unit_text


def quartile_axis() -> DeliveredAxis:
    """The axis of the three quartiles."""
    size = len(QUARTILES)
    return DeliveredAxis(
        column="quartile",
        label=words.QUARTILE,
        positions=np.arange(size, dtype=np.int64),
        codes=tuple(map(str, QUARTILES)),
        labels=(words.FIRST_QUARTILE, words.MIDDLE_QUARTILE, words.THIRD_QUARTILE),
        levels=("quartile",) * size,
        parents=(NO_PARENT,) * size,
    )
