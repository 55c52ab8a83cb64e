"""What persons exchange when they keep their place: attributes, and what edit rules ask of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.uniques.numbering import combined
from sdcensus.microdata.swapping.units import UnitTable
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.model.spec.universe import universe_of
from sdcensus.store.manifest import value_column

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]


def attribute_variables(schema: Schema, names: Sequence[str]) -> tuple[Variable, ...]:
    """The variables that persons exchange.

    Raises:
        SpecError: One is no variable of persons, is a weight or the place itself, or is named
            twice.
    """
    variables = tuple(schema.variable(name) for name in names)
    for variable in variables:
        name = variable.name
        if names.count(name) > 1:
            raise SpecError(f"The attribute {name!r} is named twice. Name each once.")
        if variable is schema.geography:
            raise SpecError(
                f"{name!r} is the place of the census, which persons keep when they exchange"
                " attributes. To exchange places, take targeted-swap or random-swap."
            )
        if variable.entity is not Entity.PERSON:
            raise SpecError(
                f"{name!r} describes {variable.entity.plural}. Persons exchange attributes of their"
                " own: name variables of persons."
            )
        if not variable.stored or variable.role is Role.WEIGHT:
            what = "a weight" if variable.role is Role.WEIGHT else "not kept in the store"
            raise SpecError(
                f"{name!r} is {what}, so persons cannot exchange it. Leave it out of --attributes."
            )
    return variables


def check_classes(attributes: Sequence[Variable], classes: Sequence[str]) -> None:
    """Refuse classes in which nothing could be exchanged, or that are not equal.

    Raises:
        SpecError: An attribute is itself in a class, or a class is a range of numbers.
    """
    for text in classes:
        for item in text.split(","):
            name, at, level = (part.strip() for part in item.partition("@"))
            if any(sign in item for sign in ("~", "±", "+-")):
                raise SpecError(
                    f"{item.strip()!r}: partners lie in the same class, and numbers that may differ"
                    " are no classes: distributions would change. Name a level instead, such as"
                    " age@five_year."
                )
            for attribute in attributes:
                if attribute.name == name and (not at or level == attribute.leaf_level):
                    raise SpecError(
                        f"{name!r} is to be exchanged between persons who are equal in it, which"
                        " changes nothing. Leave it out of --attributes or of --classes, or name a"
                        " coarser level of it in --classes."
                    )


def attribute_values(units: UnitTable, attributes: Sequence[Variable]) -> Int64:
    """A number for each person, equal for those whose exchange would change nothing."""
    store = units.store
    columns = []
    for variable in attributes:
        for column in (variable.name, value_column(variable.name)):
            if store.has(variable.entity, column):
                values = store.raw(variable.entity, column)[units.rows]
                # Amounts may be far apart: number them first.
                columns.append(np.unique(values, return_inverse=True)[1].reshape(-1))
    return combined(columns, len(units))[0]


def rule_classes(units: UnitTable, attributes: Sequence[Variable]) -> tuple[Int64, Mask]:
    """Classes in which an exchange breaks no edit rule about one record, and who breaks one now.

    A rule looks at attributes and at other variables of a person. Persons whose other variables are
    the same to every rule may exchange attributes: what the one may be, the other may be. Whoever
    breaks a rule now would pass the mistake on.

    Returns:
        For each person the number of the class, and whether an edit rule is broken now.
    """
    store, schema = units.store, units.store.schema
    names = {variable.name for variable in attributes}
    columns: list[Integers] = []
    breaking = np.zeros(len(units), dtype=bool)
    for rule in schema.impossible:
        if rule.relation is not None:  # it takes another record to break it
            continue
        universe = universe_of(rule.when, schema)
        if not names & {variable.name for variable in universe.variables}:
            continue
        classes = tuple(
            kinds[store.column(units.entity, variable)[slice(0, store.rows(units.entity))]]
            for variable, kinds in zip(universe.variables, universe.classes, strict=True)
        )
        breaking |= universe.truth[classes][units.rows]
        columns += [
            column[units.rows]
            for column, variable in zip(classes, universe.variables, strict=True)
            if variable.name not in names
        ]
    return combined(columns, len(units))[0], breaking
