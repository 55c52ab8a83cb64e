"""What a table counts, and whether its variables and conditions say something about that."""

from __future__ import annotations

from collections.abc import Sequence

from sdcensus.errors import SpecError, told
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.predicate import Condition, Name, Reference, comparisons
from sdcensus.session.commands.names import NamedThing, ProgramNames
from sdcensus.session.commands.places import line_and_column, refuse
from sdcensus.session.commands.syntax import Indicator, TableStatement


def sides(indicator: Indicator) -> tuple[Condition, ...]:
    """The conditions of a figure."""
    below = indicator.denominator
    parts = (indicator.numerator, None if isinstance(below, Name) else below)
    return tuple(part for part in parts if part is not None)


def lowest(names: ProgramNames, found: Sequence[NamedThing]) -> Entity:
    """The kind of unit that has all these variables: persons have those of households.

    Raises:
        QuestionError: There is none; it points at the first that does not belong to the others.
    """
    unit = found[0].entity
    for thing in found[1:]:
        if thing.entity in names.schema.lineage(unit):
            continue
        if unit not in names.schema.lineage(thing.entity):
            refuse(
                names.source,
                thing.reference.at,
                told(
                    "units.apart",
                    "{variable!r} describes {own}, the others {units}, and neither belong to the"
                    " other.",
                    variable=thing.reference.name.text,
                    own=thing.entity.many,
                    units=unit.many,
                ),
            )
        unit = thing.entity
    return unit


def check_variable(
    names: ProgramNames, reference: Reference, unit: Entity, table: TableStatement
) -> None:
    """Whether each unit that a table counts has one value of a variable.

    Raises:
        QuestionError: It has several; it points at the variable.
    """
    variable = names.find(reference).variable
    own = variable.entity
    if own not in names.schema.lineage(unit):
        line, column = map(str, line_and_column(names.source, table.at))
        refuse(
            names.source,
            reference.at,
            told(
                "units.of-table",
                "{variable!r} describes {own}, and the table {table!r} (line {line}, column"
                " {column}) counts {units}, of which one may have several. To count {own}, write"
                " {word}. before its variables.",
                variable=reference.name.text,
                own=own.many,
                table=table.name.text,
                line=line,
                column=column,
                units=unit.many,
                word=own.value,
            ),
        )
    try:
        names.schema.inherited_missing(unit, variable)
    except SpecError as error:
        refuse(names.source, reference.at, error.said)


def check_condition(
    names: ProgramNames, condition: Condition, unit: Entity, table: TableStatement
) -> None:
    """The same for every variable of a condition."""
    for comparison in comparisons(condition):
        check_variable(names, comparison.operand, unit, table)
