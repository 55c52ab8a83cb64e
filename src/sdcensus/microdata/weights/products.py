"""Factors of units joined with the weights that a census has."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.cells.tabulate import inherit
from sdcensus.microdata.holders import holder_rows
from sdcensus.microdata.method import NewValues
from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.encoding import LARGEST_FIXED_POINT
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.model.text import Text
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import value_column

Integers = npt.NDArray[Any]

#: What a weight is called where the census has none, and what else if the name is taken.
_NAMES = ("weight", "perturbation_weight")


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class MultipliedWeights(Confidential):
    """The weights of a census, multiplied by factors of its units.

    Attributes:
        amounts: New values of weights that the census has.
        added: The weight of the units, where they had none of their own.
        alone: How many persons lie in none of the units: they keep the weight that they have, 1
            where they have none.
    """

    amounts: dict[str, NewValues]
    added: tuple[tuple[Variable, Integers], ...]
    alone: int

    def __repr__(self) -> str:
        return "<MultipliedWeights: confidential>"


def multiplied(records: CensusStore, unit: Entity, factor: Integers) -> MultipliedWeights:
    """Multiply every weight of the units and of what they hold by the factor of the unit.

    Whatever has no weight of its own inherits that of the unit, which is added where the unit has
    none: the product of its factor with the weight that it inherits itself.

    Args:
        records: The store.
        unit: The kind of unit that has factors.
        factor: For each unit a whole number.

    Raises:
        SpecError: A product is too large to be summed exactly.
    """
    schema = records.schema
    amounts: dict[str, NewValues] = {}
    for variable in schema.variables:
        if variable.role is not Role.WEIGHT or unit not in schema.lineage(variable.entity):
            continue
        own = factor
        if variable.entity is not unit:
            own = np.empty(records.rows(variable.entity), dtype=factor.dtype)
            inherit(holder_rows(records, variable.entity, unit), factor, 1, own)
        rows = np.flatnonzero(own != 1)
        known = records.raw(variable.entity, value_column(variable.name))[rows]
        amounts[variable.name] = NewValues(rows, _product(known, own[rows], variable.name))
    return MultipliedWeights(amounts, _added(records, unit, factor), _alone(records, unit))


def _added(
    records: CensusStore, unit: Entity, factor: Integers
) -> tuple[tuple[Variable, Integers], ...]:
    schema = records.schema
    inherited = schema.weight(unit)
    if inherited is not None and inherited.entity is unit:
        return ()
    values, decimals = factor.astype(np.int64), 0
    if inherited is not None:
        known = records.values(unit, inherited)[slice(0, records.rows(unit))]
        values, decimals = _product(known, values, inherited.name), inherited.decimals
    variable = Variable(
        name=_free_name(schema),
        entity=unit,
        role=Role.WEIGHT,
        label=Text.named("weigh.variable"),
        continuous=True,
        decimals=decimals,
    )
    return ((variable, values),)


def _free_name(schema: Schema) -> str:
    taken = {variable.name.casefold() for variable in schema.variables}
    numbered = (f"{_NAMES[-1]}_{number}" for number in range(2, len(taken) + 3))
    return next(name for name in (*_NAMES, *numbered) if name not in taken)


def _product(values: Integers, factor: Integers, name: str) -> Integers:
    largest = int(values.max(initial=0)) * int(factor.max(initial=0))
    if largest > LARGEST_FIXED_POINT:
        raise SpecError(
            f"The weights of {name!r} become too large to be summed exactly. Give the weight fewer"
            " decimals in the schema, and load the census again."
        )
    return values * factor.astype(np.int64)


def _alone(records: CensusStore, unit: Entity) -> int:
    kinds = [spec.entity for spec in records.schema.entities]
    if Entity.PERSON not in kinds or unit not in records.schema.lineage(Entity.PERSON):
        return 0
    rows = holder_rows(records, Entity.PERSON, unit)
    return int(np.count_nonzero(rows == np.uint32(0xFFFFFFFF)))
