"""Figures of amounts that a plan asks for: means, ratios of sums, differences."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from sdcensus.errors import SpecError
from sdcensus.model.plan.vocabulary import COUNT_SIDE, SUM_SIDE, ComparedFigure
from sdcensus.model.published.figures import Counted, Figures, no_mean_of_classes
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.headings import units_words, variable_heading
from sdcensus.model.spec.measures import FigureOf
from sdcensus.model.text import LANGUAGES, Text
from sdcensus.model.vocabulary import AmountFigure
from sdcensus.session.figures import words
from sdcensus.session.figures.amounts import (
    AmountDifference,
    AmountMean,
    AmountRatio,
    AmountTables,
    unit_of,
)
from sdcensus.session.figures.asked import Asked, FiguresProduct
from sdcensus.session.figures.definitions import ratio


def mean_of_amount(asked: Asked, amount: Variable) -> FiguresProduct:
    """Published sums, each divided by a published count."""
    tables = AmountTables.of(asked.spec(()), amount, asked.schema)
    figure = AmountMean(tables, asked.decimals_of(amount), asked.fewest(amount))

    def compute(numbers: Sequence[Counted]) -> Figures:
        return figure.computed(numbers[0], numbers[1])

    product = asked.named(
        tables.specs, compute, tables.sums.axes, figure.words, figure.unit, figure.notes
    )
    return _of(product, amount)


def ratio_of_amounts(asked: Asked) -> FiguresProduct:
    """One published sum divided by another, or by a published count of all units."""
    planned, groups = asked.planned, asked.spec(())
    per = 1 if planned.per is None else planned.per
    above = _amount(asked, "numerator")
    below, amounts = None, [above]
    if planned.denominator.strip() != COUNT_SIDE:
        amounts.append(_amount(asked, "denominator"))
        below = AmountTables.of(groups, amounts[-1], asked.schema)
    fewest = asked.fewest(*amounts)
    figure = AmountRatio(
        above=AmountTables.of(groups, above, asked.schema),
        below=below,
        units=groups,
        per=per,
        decimals=asked.decimals_of(above),
        fewest=fewest,
    )

    def compute(numbers: Sequence[Counted]) -> Figures:
        return figure.computed(numbers)

    divisor = units_words(groups) if below is None else _heading(below.amount)
    called = words.amounts_words(above, divisor, per)
    unit = called
    if per == 1 and below is not None and above.unit and below.amount.unit:
        unit = words.UNIT_PER.filled(above=unit_of(above), below=unit_of(below.amount))
    elif per == 1 and below is None and above.unit:
        unit = unit_of(above)
    notes = (words.fewest_words(words.OF_AMOUNTS, fewest),)
    return _of(asked.named(figure.specs, compute, groups.axes, called, unit, notes), *amounts)


def difference_of_amounts(asked: Asked) -> FiguresProduct:
    """What one group has more than another, of published means or of published sums."""
    planned, amount = asked.planned, asked.variable()
    if amount.continuous and "@" in planned.variable:
        raise no_mean_of_classes(repr(planned.variable))
    first, second = asked.condition("first"), asked.condition("second")
    if first is None or second is None:
        raise SpecError('name both groups: first = "...", second = "..."')
    axes, placed = asked.counted(ratio(first, second, 1, 0))
    tables = AmountTables.of(asked.spec(axes), amount, asked.schema)
    means = planned.figure is ComparedFigure.MEAN
    figure = AmountDifference(
        tables=tables,
        first=placed.numerator,
        second=placed.denominator,
        means=means,
        decimals=asked.decimals_of(amount),
        fewest=asked.fewest(amount),
    )

    def compute(numbers: Sequence[Counted]) -> Figures:
        return figure.computed(numbers[0], numbers[1])

    text = words.DIFFERENCE_OF_MEANS if means else words.DIFFERENCE_OF_SUMS
    called = words.difference_words(text, amount, first, second)
    groups = [axis for axis in tables.sums.axes if axis.variable.name not in placed.consumed]
    notes = (words.fewest_words(words.DIFFERENCES, figure.fewest),)
    unit = words.unit_words(amount)
    product = asked.named(tables.specs, compute, groups, called, unit, notes)
    shown = AmountFigure.MEAN if means else AmountFigure.SUM
    return replace(product, amounts=(FigureOf(shown, amount.name),))


def _of(product: FiguresProduct, *amounts: Variable) -> FiguresProduct:
    """Figures that come from sums and counts: a policy that offers means offers them."""
    means = tuple(FigureOf(AmountFigure.MEAN, amount.name) for amount in amounts)
    return replace(product, amounts=means)


def _amount(asked: Asked, side: str) -> Variable:
    text = getattr(asked.planned, side)
    written = SUM_SIDE.fullmatch(text)
    if written is None:
        raise SpecError(
            f"{side} = {text!r}: a sum is divided by another one, such as"
            ' denominator = "sum(rooms)", or by the number of units, denominator = "count".'
        )
    return asked.schema.variable(written["amount"])


def _heading(variable: Variable) -> Text:
    return Text.of({language: variable_heading(variable, language) for language in LANGUAGES})
