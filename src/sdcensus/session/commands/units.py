"""What a table counts, and whether its variables and conditions say something about that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from sdcensus.errors import SpecError
from sdcensus.model.entity import Entity
from sdcensus.session.commands.names import Found, Names
from sdcensus.session.commands.places import place_of, refuse
from sdcensus.session.commands.syntax import (
    Comparison,
    Condition,
    Indicator,
    Name,
    Not,
    Reference,
    Table,
)


def comparisons(condition: Condition) -> Iterator[Comparison]:
    """All comparisons of a condition, from left to right."""
    match condition:
        case Comparison():
            yield condition
        case Not(part):
            yield from comparisons(part)
        case _:
            for one in condition.parts:
                yield from comparisons(one)


def sides(indicator: Indicator) -> tuple[Condition, ...]:
    """The conditions of a figure."""
    below = indicator.denominator
    found = (indicator.numerator, None if isinstance(below, Name) else below)
    return tuple(one for one in found if one is not None)


def lowest(names: Names, found: Sequence[Found]) -> Entity:
    """The kind of unit that has all these variables: persons have those of households.

    Raises:
        QuestionError: There is none; it points at the first that does not belong to the others.
    """
    unit = found[0].entity
    for one in found[1:]:
        if one.entity in names.schema.lineage(unit):
            continue
        if unit not in names.schema.lineage(one.entity):
            refuse(
                names.source,
                one.reference.at,
                f"{one.reference.name.text!r} describes {one.entity.plural}, the others"
                f" {unit.plural}, and neither belong to the other.",
            )
        unit = one.entity
    return unit


def check_variable(names: Names, reference: Reference, unit: Entity, table: Table) -> None:
    """Whether each unit that a table counts has one value of a variable.

    Raises:
        QuestionError: It has several; it points at the variable.
    """
    variable = names.find(reference).variable
    own = variable.entity
    if own not in names.schema.lineage(unit):
        refuse(
            names.source,
            reference.at,
            f"{reference.name.text!r} describes {own.plural}, and the table {table.name.text!r}"
            f" ({place_of(names.source, table.at)}) counts {unit.plural}, of which one may have"
            f" several. To count {own.plural}, write {own}. before its variables.",
        )
    try:
        names.schema.inherited_missing(unit, variable)
    except SpecError as error:
        refuse(names.source, reference.at, str(error))


def check_condition(names: Names, condition: Condition, unit: Entity, table: Table) -> None:
    """The same for every variable of a condition."""
    for one in comparisons(condition):
        check_variable(names, one.operand, unit, table)
