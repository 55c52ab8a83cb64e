"""From the published answer to a question to what the program asked to see. Public.

Everything here is computed from delivered numbers, so whoever has the answer could do it himself.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.model.published.delivery import DeliveredAxis, DeliveredTable
from sdcensus.model.published.figures import Counted, Figures, Support, mean, median, quotient
from sdcensus.model.published.marks import Mark
from sdcensus.model.text import Text
from sdcensus.session.commands.program import (
    Choice,
    Class,
    CommandTable,
    OfNumbers,
    Percentages,
    Quotient,
    Show,
)
from sdcensus.session.commands.words import (
    figures_title,
    own_title,
    per_text,
)
from sdcensus.session.figures.words import COMPUTED, OPEN_CLASS, PERCENT


def finish(table: CommandTable, answer: DeliveredTable) -> DeliveredTable:
    """What a table of a program shows, from the published answer to its question.

    A figure of which a part is withheld is withheld, with the mark of that part. One that is
    divided by a very small count is not given; one that rests on a small count is marked as of low
    reliability.

    Args:
        table: The table of the program.
        answer: The answer to ``table.question``.

    Raises:
        SpecError: The answer is to another question.
    """
    columns = tuple(axis.column for axis in answer.axes)
    if columns != table.variables:
        raise SpecError(
            f"The table {table.name!r} has the axes {', '.join(table.variables) or 'none'}, and the"
            f" answer {', '.join(columns) or 'none'}: it answers another question."
        )
    named = replace(answer, name=table.name)
    match table.computed:
        case None:
            made = named
        case Percentages():
            made = _percentages(named, table.computed)
        case Quotient():
            made = _quotient(table, named, table.computed)
        case OfNumbers():
            made = _of_numbers(table, named, table.computed)
    return replace(made, title=own_title(table.title)) if table.title else made


def _counted(answer: DeliveredTable) -> Counted:
    if answer.decimals:
        raise SpecError("Figures are computed from counts, and the answer has decimals.")
    if answer.marks is None:
        return Counted(answer.values, support=answer.support)
    # A number that has a mark beside it is a number; what rests on one in brackets gets them too.
    marks = np.where(answer.numbered, np.uint8(Mark.NONE), answer.marks)
    support = Support.of(answer.values) if answer.support is None else answer.support
    low = answer.marks == Mark.LOW_RELIABILITY
    small = np.where(low, answer.values, support.small)
    return Counted(answer.values, marks, Support(support.parts, small))


def _at(counts: Counted, index: tuple[int | slice, ...]) -> Counted:
    return counts.each(lambda array: array[index])


def _shown(
    answer: DeliveredTable,
    figures: Figures,
    axes: tuple[DeliveredAxis, ...],
    *,
    title: Text,
    unit: Text,
    notes: tuple[Text, ...] = (),
) -> DeliveredTable:
    return replace(
        answer,
        title=title,
        axes=axes,
        values=np.ascontiguousarray(figures.values).reshape(figures.values.shape),
        marks=np.ascontiguousarray(figures.marks).reshape(figures.marks.shape),
        decimals=figures.decimals,
        unit=unit,
        rows=None,
        notes=(*answer.notes, COMPUTED, *notes),
        # The cells are no longer those of the table that was published.
        spec=None,
        support=None,
    )


def _total(axis: DeliveredAxis) -> int:
    if axis.total is None:
        raise SpecError(f"{axis.column!r} has no total in the answer, which the figures need.")
    return axis.total


def _percentages(answer: DeliveredTable, computed: Percentages) -> DeliveredTable:
    counts = _counted(answer)
    index: list[int | slice] = []
    for axis in answer.axes:
        over = axis.column in computed.over
        at = _total(axis) if over else 0
        index.append(slice(at, at + 1) if over else slice(None))
    whole = _at(counts, tuple(index))
    shape = counts.counts.shape
    spread = whole.each(lambda array: np.broadcast_to(array, shape))
    figures = quotient(counts, spread, decimals=computed.decimals, share=True)
    return replace(
        _shown(answer, figures, answer.axes, title=answer.title, unit=PERCENT), rows=answer.rows
    )


def _others(
    answer: DeliveredTable, variables: Sequence[str]
) -> tuple[tuple[DeliveredAxis, ...], list[Text]]:
    axes = tuple(axis for axis in answer.axes if axis.column not in variables)
    return axes, [axis.label or Text.of(axis.column) for axis in axes]


def _quotient(table: CommandTable, answer: DeliveredTable, computed: Quotient) -> DeliveredTable:
    counts = _counted(answer)
    groups = {name: len(members) for name, members in table.question.groups}
    above, below = (
        _at(counts, _chosen(answer, choices, groups))
        for choices in (computed.numerator, computed.denominator)
    )
    figures = quotient(
        above, below, per=computed.per, decimals=computed.decimals, share=computed.share
    )
    axes, labels = _others(answer, [one.variable for one in computed.numerator])
    return _shown(
        answer,
        figures,
        axes,
        title=figures_title(computed.words, labels, table.condition),
        unit=PERCENT if computed.share else per_text(computed.per),
    )


def _chosen(
    answer: DeliveredTable, choices: tuple[Choice, ...], groups: dict[str, int]
) -> tuple[int | slice, ...]:
    """Where the counts of a condition stand: groups first, in their order, then the total."""
    by_variable = {one.variable: one.group for one in choices}
    index: list[int | slice] = []
    for axis in answer.axes:
        if axis.column not in by_variable:
            index.append(slice(None))
            continue
        group = by_variable[axis.column]
        expected = groups.get(axis.column, 0) + (axis.total is not None)
        if len(axis) != expected:
            raise SpecError(f"{axis.column!r} has not the groups that the program asked for.")
        index.append(_total(axis) if group is None else group)
    return tuple(index)


def _of_numbers(table: CommandTable, answer: DeliveredTable, computed: OfNumbers) -> DeliveredTable:
    at = table.variables.index(computed.variable)
    axis = answer.axes[at]
    places = {code: place for place, code in enumerate(axis.codes) if place != axis.total}
    # Codes that the condition leaves out are not in the answer.
    classes: list[Class] = [one for one in computed.classes if one.code in places]
    if not classes:
        raise SpecError(f"No code of {computed.variable!r} that is a number is in the answer.")
    counts = _counted(answer)
    order = [places[one.code] for one in classes]
    chosen = counts.each(lambda array: np.take(np.moveaxis(array, at, -1), order, axis=-1))
    lower, upper = [one.lower for one in classes], [one.upper for one in classes]
    figure = median if table.show is Show.MEDIAN else mean
    figures = figure(chosen, lower, upper, decimals=computed.decimals)
    axes, labels = _others(answer, [computed.variable])
    words = figures_title(computed.words, labels, table.condition)
    return _shown(
        answer,
        figures,
        axes,
        title=words,
        unit=Text.of(computed.unit) if computed.unit else computed.words,
        notes=(OPEN_CLASS,) if figure is mean and None in upper else (),
    )
