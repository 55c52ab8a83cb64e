"""What a request needs of the records, checked against the schema of the records at hand."""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.engine.requests import Tabulate
from sdcensus.errors import SpecError
from sdcensus.model.schema.entity import Entity
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Variable


@dataclass(frozen=True, slots=True)
class Needs:
    """The variables behind a request.

    Attributes:
        codes: Variables whose leaves are needed, each once: axes first, then the universe.
        weight: The weight, if weights are summed.
        sums: The continuous variables that are summed, in the order of the request.
    """

    codes: tuple[Variable, ...]
    weight: Variable | None
    sums: tuple[Variable, ...]


def needs_of(request: Tabulate, schema: Schema) -> Needs:
    """Find the variables behind a request; refuse one that these records cannot answer.

    The specification of a table holds the code lists that it was made from. Positions in another
    code list would count the wrong cells, so they have to be those of the records.
    """
    spec = request.spec
    lineage = schema.lineage(spec.of)
    named = [axis.variable for axis in spec.axes] + list(spec.universe.variables)
    codes: dict[str, Variable] = {}
    for variable in named:
        own = codes[variable.name] = schema.variable(variable.name)
        if own is not variable and not _same_leaves(own, variable):
            raise SpecError(
                f"{spec.title}: {variable.name!r} has other codes here than in the schema that the"
                " table was made for. Make the table for the schema of these records."
            )
    weight = schema.weight(spec.of) if request.weighted else None
    if request.weighted and weight is None:
        raise SpecError(f"The schema has no weight for {spec.of.plural}.")
    sums = tuple(schema.variable(name) for name in request.sums)
    for variable in sums:
        if not variable.continuous:
            raise SpecError(
                f"{variable.name!r} cannot be summed: it has codes, not amounts. Only variables"
                " with 'continuous = true' in the schema can."
            )
        if variable.entity not in lineage:
            raise SpecError(
                f"{variable.name!r} describes {variable.entity.plural}; it cannot be summed over"
                f" {spec.of.plural}."
            )
    if request.households and Entity.HOUSEHOLD not in lineage:
        raise SpecError(
            f"{spec.of.plural.capitalize()} do not lie in households, so no cell of the table is"
            " made of one household."
        )
    return Needs(tuple(codes.values()), weight, sums)


def _same_leaves(one: Variable, other: Variable) -> bool:
    return one.entity is other.entity and [code.code for code in one.codes] == [
        code.code for code in other.codes
    ]
