"""Means and medians of amounts in programs: questions of the table builder."""

from __future__ import annotations

from sdcensus.errors import told
from sdcensus.model.spec.measures import FigureOf
from sdcensus.model.vocabulary import AmountFigure
from sdcensus.session.commands.names import ProgramNames
from sdcensus.session.commands.places import refuse
from sdcensus.session.commands.syntax import Indicator, TableStatement


def figure_of_amount(
    names: ProgramNames, table: TableStatement, analysis: Indicator
) -> FigureOf | None:
    """The mean or median of an amount, which is a question of its own; else ``None``.

    A level stands for its classes, whose counts have a median and no mean.

    Raises:
        QuestionError: The amount describes other units, or digits are asked for.
    """
    kind, of = analysis.kind.text, analysis.of
    if kind not in ("mean", "median") or of is None or of.levels:
        return None
    named = names.find(of, adds_up=kind == "mean")
    variable = named.variable
    if named.recoded is not None or not variable.continuous:
        return None
    if named.entity is not variable.entity:
        # Amounts of households are none of their persons: each would count for all of them.
        refuse(
            names.source,
            of.name.at,
            told(
                "names.of-others",
                "{variable!r} describes {own}, not {units}. Write {written}.",
                variable=of.name.text,
                own=variable.entity.many,
                units=named.entity.many,
                written=f"{variable.entity}.{of.name.text}",
            ),
        )
    if table.decimals is not None:
        what = told(
            "figures.decimals-of-amounts",
            "Means and medians of amounts have the decimals of the office. Leave DECIMALS out.",
        )
        refuse(names.source, table.decimals.at, what)
    return FigureOf(AmountFigure(kind), variable.name)
