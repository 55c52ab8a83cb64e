"""Means and medians of amounts in the table builder: of which questions, and computed how. Public.

Everything is computed from answers to questions that could be asked one by one: whoever has them
could do it himself. The arithmetic is that of plans.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sdcensus.errors import QuestionError, SpecError, told
from sdcensus.model.policy.policy import Policy
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.figures import Counted, Figures, number_classes
from sdcensus.model.published.table import Mark
from sdcensus.model.schema.variable import Entity, Level, Variable
from sdcensus.model.spec.axis import parse_axis
from sdcensus.model.spec.measures import FigureOf
from sdcensus.model.spec.question import OwnGroup, Question
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import universe_of
from sdcensus.model.text import Text
from sdcensus.model.vocabulary import AmountFigure
from sdcensus.session.figures.amounts import (
    AmountMean,
    AmountTables,
    mean_decimals,
    stated_parts,
)
from sdcensus.session.figures.computation import (
    Choice,
    CountAxis,
    computed,
    counted_of,
    notes_of,
)
from sdcensus.session.figures.definitions import of_numbers
from sdcensus.session.figures.words import condition_words, figure_title

#: The name of the group of those whose amount is known; nobody sees it.
_STATED = "stated"
#: Digits behind the point of medians, which are interpolated.
_DECIMALS = 1


def parts_of(question: Question, policy: Policy) -> tuple[Question, ...]:
    """The questions of which the answer to a question is computed; a count or a sum is itself.

    A mean is a sum divided by the count of those whose amount is known; a median comes from counts
    by the classes of the amount. Both count the amount among the variables of their tables.

    Raises:
        QuestionError: The amount is none, has no classes, or stands among the groups.
    """
    figure = question.figure
    if figure is None or figure.figure is AmountFigure.SUM:
        return (question,)
    amount = _amount(question, figure, policy)
    if figure.figure is AmountFigure.MEDIAN:
        axis = _axis(amount, [_classes(amount, policy)])
        return (replace(question, measure="", by=(*question.by, axis)),)
    sums = replace(question, measure=str(FigureOf(AmountFigure.SUM, amount.name)))
    parts = stated_parts(amount)
    if parts is None:
        return sums, replace(question, measure="")
    levels = [level for level in amount.levels() if level.name in {part.level for part in parts}]
    codes = tuple(f"{part.level}:{amount.level(part.level).codes[part.at].code}" for part in parts)
    group = (amount.name, (OwnGroup(_STATED, codes),))
    counts = replace(
        question,
        measure="",
        by=(*question.by, _axis(amount, levels)),
        groups=tuple(sorted((*question.groups, group))),
    )
    return sums, counts


def computed_table(
    question: Question, tables: Sequence[DeliveredTable], policy: Policy, fewest: int
) -> DeliveredTable:
    """The answer to a question, from the answers to its parts.

    Args:
        question: What was asked for.
        tables: The answers to ``parts_of(question)``.
        policy: What may be asked.
        fewest: How many are published at least behind a figure.
    """
    figure = question.figure
    if figure is None or figure.figure is AmountFigure.SUM:
        return tables[0]
    amount = policy.schema.variable(figure.amount)
    counts = tables[-1]
    axes = [CountAxis.of(axis) for axis in counts.axes]
    if figure.figure is AmountFigure.MEDIAN:
        level = _classes(amount, policy)
        median = of_numbers("median", amount, level, _DECIMALS, fewest=fewest, schema=policy.schema)
        figures = computed(median, counted_of(counts), axes, counts.limits)
        called, unit, notes = median.words, median.unit, notes_of(median, axes)
    else:
        mean = _mean(question, amount, figure, policy, fewest)
        figures = mean.computed(_summed(tables[0]), counted_of(counts), axes, counts.limits)
        called, unit, notes = mean.words, mean.unit, mean.notes
    return _delivered(question, tables[0], amount, policy, figures, called, unit, notes)


def _mean(
    question: Question, amount: Variable, figure: FigureOf, policy: Policy, fewest: int
) -> AmountMean:
    everybody = TableSpec(of=Entity.parse(question.of), axes=())
    sums = everybody.measured(figure.summed(weighted=False), policy.schema)
    stated = None if stated_parts(amount) is None else Choice(amount.name, (0,))
    tables = AmountTables(amount=amount, sums=sums, counts=everybody, stated=stated)
    return AmountMean(tables, mean_decimals(amount), fewest)


def _summed(table: DeliveredTable) -> Counted:
    """The sums of an answer; a number that has a mark beside it is a number."""
    if table.marks is None:
        return Counted(table.values, support=table.support)
    marks = np.where(table.numbered, np.uint8(Mark.NONE), table.marks)
    return Counted(table.values, marks, table.support)


def _delivered(
    question: Question,
    first: DeliveredTable,
    amount: Variable,
    policy: Policy,
    figures: Figures,
    called: Text,
    unit: Text,
    notes: tuple[Text, ...],
) -> DeliveredTable:
    asked = {parse_axis(text, policy.schema.variable).variable.name for text in question.by}
    kept = tuple(axis for axis in first.axes if axis.column in asked)
    labels = [axis.label or Text.of(axis.column) for axis in kept]
    universe = universe_of(question.where or None, policy.schema)
    figure = question.figure
    word = "" if figure is None else figure.figure.value
    return replace(
        first,
        name="-".join([word, amount.name, *(axis.column for axis in kept)]),
        title=figure_title(
            called,
            lambda language: [label.show(language) for label in labels],
            condition_words(universe),
        ),
        axes=kept,
        values=np.ascontiguousarray(figures.values).reshape(figures.values.shape),
        marks=np.ascontiguousarray(figures.marks).reshape(figures.marks.shape),
        decimals=figures.decimals,
        unit=unit,
        contents=called,
        rows=None,
        notes=tuple(dict.fromkeys((*first.notes, *notes))),
        # The cells are no longer those of a table that was published.
        spec=None,
        support=None,
    )


def _amount(question: Question, figure: FigureOf, policy: Policy) -> Variable:
    """The amount, which must be one and no group of the table."""
    try:
        amount = figure.amount_of(Entity.parse(question.of), policy.schema)
    except SpecError as error:
        raise QuestionError(error.said, place="measure") from None
    used = [
        *(
            (f"by[{at}]", text.partition("@")[0].removesuffix("-total").strip())
            for at, text in enumerate(question.by)
        ),
        *((f"codes.{name}", name) for name, _ in question.codes),
        *((f"groups.{name}", name) for name, _ in question.groups),
    ]
    for place, name in used:
        if name == amount.name:
            raise QuestionError(
                told(
                    "question.amount-as-group",
                    "{variable!r} is both a group and what is computed. Take it out of one.",
                    variable=amount.name,
                ),
                place=place,
            )
    return amount


def _classes(amount: Variable, policy: Policy) -> Level:
    """The finest level that is offered and has classes of numbers."""
    failed: SpecError | None = None
    for level in policy.allowed_levels(amount):
        try:
            number_classes(amount, level, mean=False)
        except SpecError as error:
            failed = error
            continue
        return level
    said = told(
        "question.no-classes",
        "No level of {variable!r} with classes of numbers is offered, so it has no median.",
        variable=amount.name,
    )
    raise QuestionError(said if failed is None else failed.said, place="measure")


def _axis(amount: Variable, levels: Sequence[Level]) -> str:
    """The amount as an axis of counts, in the grammar of plans."""
    names = [level.name for level in levels]
    at = "" if names == [amount.leaf_level] else f"@{'+'.join(names)}"
    return f"{amount.name}{at}-total"
