"""The exchange itself: paired units take over each other's place, and what goes with a place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.microdata.method import NewValues
from sdcensus.microdata.swapping.units import (
    NO_UNIT,
    UnitTable,
    common_codes,
    kinds_within,
    place_holder,
)
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.store.manifest import link_column, value_column

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]


def exchanged(
    units: UnitTable, variables: Sequence[Variable], first: Int64, second: Int64
) -> tuple[dict[str, NewValues], dict[str, NewValues]]:
    """New codes and new amounts of variables that pairs of units exchange.

    Args:
        units: The units.
        variables: Of the units themselves, or of records that they hold; these have one value in
            each unit, and all of them get that of the partner.
        first, second: The units of each pair. No unit is in two.

    Raises:
        SpecError: Records inside a unit have different values, or a unit has none to give.
    """
    codes: dict[str, NewValues] = {}
    amounts: dict[str, NewValues] = {}
    for variable in variables:
        for name, values in ((variable.name, codes), (value_column(variable.name), amounts)):
            if units.store.has(variable.entity, name):
                values[variable.name] = _new_values(units, variable, name, first, second)
    return codes, amounts


def exchanged_places(
    units: UnitTable, first: Int64, second: Int64
) -> dict[tuple[Entity, Entity], NewValues]:
    """What holds the units of each pair now: that which held the partner.

    Nothing for units that have an area of their own: they exchange its code.
    """
    holder = place_holder(units.store.schema, units.entity)
    if holder is None:
        return {}
    held_by = units.store.raw(units.entity, link_column(holder))
    rows = units.rows[np.concatenate([first, second])]
    values = held_by[units.rows[np.concatenate([second, first])]]
    order = np.argsort(rows, kind="stable")
    return {(units.entity, holder): NewValues(rows[order], values[order])}


def moving_variables(units: UnitTable, carry: Sequence[str] = ()) -> tuple[Variable, ...]:
    """What goes with a place: the geography, cells of grids, and what the office names.

    Cells of a grid are made of the coordinates of a unit. A unit that took its cell along to
    another area would lie in both. What describes the holder of a unit stays with the holder.

    Raises:
        SpecError: A named variable is not one of the units that move.
    """
    schema = units.store.schema
    geography = schema.geography
    grids = {grid.variable for grid in schema.grids}
    kinds = (units.entity, *kinds_within(schema, units.entity))
    moving = [
        variable
        for variable in schema.variables
        if variable.entity in kinds and (variable is geography or variable.name in grids)
    ]
    for name in carry:
        variable = schema.variable(name)
        if variable.entity not in kinds:
            raise SpecError(
                f"{name!r} describes {variable.entity.plural}, and it is {units.entity.plural} that"
                f" move. What goes with their place is a variable of {units.entity.plural}."
            )
        if not variable.stored or not any(
            units.store.has(variable.entity, column) for column in (name, value_column(name))
        ):
            raise SpecError(f"The store has no values of {name!r} that could go with a place.")
        if variable not in moving:
            moving.append(variable)
    for variable in moving:
        if variable.entity is not units.entity:
            _check_common(units, variable)
    return tuple(moving)


def staying_grids(units: UnitTable) -> tuple[Variable, ...]:
    """Grids of what holds the units that move: they stay, and no longer fit the areas."""
    schema = units.store.schema
    if place_holder(schema, units.entity) is not None:
        return ()
    names = {grid.variable for grid in schema.grids}
    above = schema.lineage(units.entity)[1:]
    return tuple(
        variable
        for variable in schema.variables
        if variable.name in names and variable.entity in above
    )


def _new_values(
    units: UnitTable, variable: Variable, column: str, first: Int64, second: Int64
) -> NewValues:
    values = units.store.raw(variable.entity, column)
    givers = np.concatenate([second, first])
    takers = np.concatenate([first, second])
    if variable.entity is units.entity:
        rows, given = units.rows[takers], values[units.rows[givers]]
    else:
        common, present, _ = common_codes(units, variable.entity, values)
        _check_present(units, variable, present[givers] != present[takers])
        partner = np.full(len(units), NO_UNIT, dtype=np.int64)
        partner[takers] = givers
        number = units.number_of(variable.entity)
        partner_of = np.where(number == NO_UNIT, NO_UNIT, partner[number])
        rows = np.flatnonzero(partner_of != NO_UNIT)
        given = common[partner_of[rows]]
    order = np.argsort(rows, kind="stable")
    return NewValues(rows[order], given[order])


def _remedy(units: UnitTable) -> str:
    return f"Make it a variable of {units.entity.plural} in the schema, or do not carry it."


def _check_common(units: UnitTable, variable: Variable) -> None:
    """Refuse what differs inside a unit that may move."""
    kind, name = variable.entity.plural, variable.name
    for column in (name, value_column(name)):
        if units.store.has(variable.entity, column):
            values = units.store.raw(variable.entity, column)
            _, _, mixed = common_codes(units, variable.entity, values)
            torn = int((mixed & units.movable).sum())
            if torn:
                raise SpecError(
                    f"{name!r} differs between the {kind} of {torn:,} {units.entity.plural}, so it"
                    f" does not go with their place. {_remedy(units)}"
                )


def _check_present(units: UnitTable, variable: Variable, odd: Integers) -> None:
    """Refuse what only one unit of a pair has."""
    if odd.any():
        raise SpecError(
            f"{int(odd.sum()) // 2:,} pairs of {units.entity.plural} would exchange"
            f" {variable.name!r}, and one of them holds no {variable.entity.plural}."
            f" {_remedy(units)}"
        )
