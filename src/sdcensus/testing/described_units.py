"""What a unit of a small census has, its own or of the units in which it lies."""

from __future__ import annotations

from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.testing.small_census import SmallCensus, Unit


def ancestor_of(census: SmallCensus, of: Entity, unit: Unit, ancestor: Entity) -> Unit | None:
    """The unit of that kind in which a unit lies, or itself."""
    current: Unit = unit
    for parent in census.schema.path(of, ancestor) or ():
        place = current.parents[parent]
        if place is None:
            return None
        current = census.units[parent][place]
    return current


def leaf_of(census: SmallCensus, of: Entity, unit: Unit, variable: Variable) -> int:
    """The leaf of a variable, its own or inherited."""
    described = ancestor_of(census, of, unit, variable.entity)
    if described is not None:
        return described.leaves[variable.name]
    missing = census.schema.inherited_missing(of, variable)
    assert missing is not None
    return missing


def value_of(census: SmallCensus, of: Entity, unit: Unit, variable: Variable) -> int:
    """What a unit adds to a sum: nothing where there is no value, one as its weight."""
    described = ancestor_of(census, of, unit, variable.entity)
    if described is None:
        return 10**variable.decimals if variable.role is Role.WEIGHT else 0
    return described.values[variable.name] or 0


def household_of(census: SmallCensus, of: Entity, unit: Unit, number: int) -> int:
    """The place of a unit's household; -1 if it has none."""
    if of is Entity.HOUSEHOLD:
        return number
    steps = census.schema.path(of, Entity.HOUSEHOLD) or ()
    current, place = unit, -1
    for parent in steps:
        found = current.parents[parent]
        if found is None:
            return -1
        current, place = census.units[parent][found], found
    return place
