"""From the published answer to a question to what the program asked to see. Public.

Everything here is computed from delivered numbers, so whoever has the answer could do it himself.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from sdcensus.errors import SpecError
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.text import Text
from sdcensus.session.commands.program import CommandTable
from sdcensus.session.figures.computation import (
    Computed,
    CountAxis,
    OfNumbers,
    Percentages,
    computed,
    counted_of,
    notes_of,
)
from sdcensus.session.figures.words import figure_title

#: The title that a user gave: the first characters are ours, so that nobody takes it for a title
#: of the office, and no cell of a spreadsheet starts with what a user wrote.
OWN_TITLE = Text.named("answers.own_title")


def finish(
    table: CommandTable, answer: DeliveredTable, behind: Callable[[str], int] | None = None
) -> DeliveredTable:
    """What a table of a program shows, from the published answer to its question.

    Args:
        table: The table of the program.
        answer: The answer to ``table.question``.
        behind: How many are published at least behind a figure of an amount.

    Raises:
        SpecError: The answer is to another question.
    """
    columns = tuple(axis.column for axis in answer.axes)
    if columns != table.variables:
        raise SpecError(
            f"The table {table.name!r} has the axes {', '.join(table.variables) or 'none'}, and the"
            f" answer {', '.join(columns) or 'none'}: it answers another question."
        )
    for name, groups in table.question.groups:
        axis = answer.axes[columns.index(name)]
        if len(axis) != len(groups) + (axis.total is not None):
            raise SpecError(f"{name!r} has not the groups that the program asked for.")
    shown = replace(answer, name=table.name)
    if table.computed is not None:
        figure = table.computed
        if behind is not None and isinstance(figure, OfNumbers) and figure.fewest is not None:
            figure = replace(figure, fewest=behind(figure.variable))
        shown = _figures(table, shown, figure)
    return replace(shown, title=OWN_TITLE.filled(title=table.title)) if table.title else shown


def _figures(table: CommandTable, answer: DeliveredTable, figure: Computed) -> DeliveredTable:
    axes = [CountAxis.of(axis) for axis in answer.axes]
    figures = computed(figure, counted_of(answer), axes, answer.limits)
    kept = tuple(axis for axis in answer.axes if axis.column not in figure.consumed)
    title, rows = answer.title, answer.rows
    if not isinstance(figure, Percentages):
        labels = [axis.label or Text.of(axis.column) for axis in kept]
        title, rows = (
            figure_title(
                figure.words,
                lambda language: [label.show(language) for label in labels],
                table.condition,
            ),
            None,
        )
    return replace(
        answer,
        title=title,
        axes=kept,
        values=np.ascontiguousarray(figures.values).reshape(figures.values.shape),
        marks=np.ascontiguousarray(figures.marks).reshape(figures.marks.shape),
        decimals=figures.decimals,
        unit=figure.unit,
        contents=figure.words,
        rows=rows,
        notes=(*answer.notes, *notes_of(figure, axes)),
        # The cells are no longer those of the table that was published.
        spec=None,
        support=None,
    )
