"""A schema of one kind of unit alone, with some variables, cut from a larger one.

What such units inherit from others that hold them, such as the area of a household, becomes their
own. What is said about other units or variables is left out.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from sdcensus.model.schema.schema import KeyRules, Schema
from sdcensus.model.schema.variable import Entity, EntitySpec, Variable
from sdcensus.model.spec.universe import universe_of


def schema_of_one_kind(schema: Schema, entity: Entity, names: Collection[str]) -> Schema:
    """The schema of records of one kind that have nothing but these variables."""
    variables = tuple(
        _own(variable, entity) for variable in schema.variables if variable.name in names
    )
    kept = {variable.name for variable in variables}
    return replace(
        schema,
        census=replace(schema.census, measure=None),
        entities=(EntitySpec(entity=entity, id=schema.entity(entity).id),),
        variables=variables,
        keys=KeyRules(scope=schema.keys.scope, space=schema.keys.space),
        impossible=tuple(
            rule
            for rule in schema.impossible
            if rule.relation is None and _is_about(rule.when, schema, kept)
        ),
        grids=tuple(grid for grid in schema.grids if grid.variable in kept),
        files=(),
        identities=(),
        universes=tuple(
            universe for universe in schema.universes if _is_about(universe.condition, schema, kept)
        ),
        roles=tuple(role for role in schema.roles if role[1] in kept),
    )


def _own(variable: Variable, entity: Entity) -> Variable:
    """A variable that records of a kind have themselves, with its codes alone."""
    return replace(
        variable,
        entity=entity,
        continuous=False,
        decimals=0,
        imputed=False,
        owner=False,
        waiver="",
        counts=None,
        counts_open=(),
        source=None,
    )


def _is_about(condition: str, schema: Schema, names: Collection[str]) -> bool:
    """Whether a condition names these variables alone."""
    return all(variable.name in names for variable in universe_of(condition, schema).variables)
