"""Amounts of records by stratum, and the classes that go with new amounts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError, unknown
from sdcensus.kernels.suppression.matches import projected
from sdcensus.microdata.method import NewValues
from sdcensus.model.confidential import Confidential
from sdcensus.model.method.parameter import Parameter, ValueKind
from sdcensus.model.policy.rules import AtLevel
from sdcensus.model.schema.encoding import NO_VALUE, CodeEncoder
from sdcensus.model.schema.variable import Entity, Role, Variable
from sdcensus.store.census_store import CensusStore
from sdcensus.store.manifest import value_column

Integers = npt.NDArray[Any]
Bool = npt.NDArray[np.bool_]
Int64 = npt.NDArray[np.int64]

VARIABLES = Parameter(
    "variables",
    ValueKind.VARIABLES,
    "The amounts that change, such as income,rent: variables with continuous = true.",
    required=True,
)
STRATA = Parameter(
    "strata",
    ValueKind.VARIABLES,
    "Strata inside which it is done: variables or levels, such as sex,area@parish.",
)
LEAVE_ZEROS = Parameter(
    "leave_zeros",
    ValueKind.YES,
    "Amounts of 0, such as no income, stay as they are and take no part.",
)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True, repr=False)
class Amounts(Confidential):
    """Amounts of the records of one kind of unit.

    Attributes:
        store: The store.
        entity: The kind of unit.
        variables: The variables.
        values: The fixed-point values of each of them, a row each.
        stratum: The stratum of each record.
    """

    store: CensusStore
    entity: Entity
    variables: tuple[Variable, ...]
    values: Int64
    stratum: Int64

    def __repr__(self) -> str:
        return "<Amounts: confidential>"

    def taking_part(self, numbers: Sequence[int], *, leave_zeros: bool) -> Bool:
        """Which records have all of some variables, and none of 0 where these are left alone."""
        chosen = self.values[list(numbers)]
        part: Bool = (chosen != NO_VALUE).all(axis=0)
        if leave_zeros:
            part &= (chosen != 0).all(axis=0)
        return part

    def strata(self, part: Bool, by: Sequence[int]) -> Iterator[Int64]:
        """The rows of each stratum that take part, by their amounts and then by who they are."""
        rows = np.flatnonzero(part)
        digests = self.store.digests(self.entity)[rows]
        columns = [self.values[number][rows] for number in reversed(list(by))]
        rows = rows[np.lexsort((digests, *columns, self.stratum[rows]))]
        starts = np.flatnonzero(np.diff(self.stratum[rows])) + 1
        if rows.size:
            yield from np.split(rows, starts)

    def new_values(self, values: Int64) -> tuple[dict[str, NewValues], dict[str, NewValues]]:
        """What has changed, as amounts and as codes of their classes."""
        amounts: dict[str, NewValues] = {}
        codes: dict[str, NewValues] = {}
        for variable, before, after in zip(self.variables, self.values, values, strict=True):
            rows = np.flatnonzero(before != after)
            if not rows.size:
                continue
            amounts[variable.name] = NewValues(rows, after[rows])
            if not variable.codes or not self.store.has(self.entity, variable.name):
                continue
            known = self.store.raw(self.entity, variable.name)[rows].astype(np.int64)
            classes = classes_of(variable, after[rows], known)
            moved = classes != known
            if moved.any():
                codes[variable.name] = NewValues(rows[moved], classes[moved])
        return amounts, codes


def classes_of(variable: Variable, amounts: Int64, known: Int64) -> Int64:
    """The codes of amounts, by the rule by which the census was loaded.

    An amount that no class has keeps the class that is known.
    """
    encoder = CodeEncoder(variable)
    distinct, number = np.unique(amounts, return_inverse=True)
    positions = np.array(
        [
            encoder.position(str(Decimal(value).scaleb(-variable.decimals)))
            for value in distinct.tolist()
        ],
        dtype=np.int64,
    )
    classes: Int64 = positions[number.reshape(-1)]
    return np.where(classes < 0, known, classes)


def amounts_of(records: CensusStore, names: Sequence[str], strata: Sequence[str]) -> Amounts:
    """The amounts that a method is asked to change.

    Raises:
        SpecError: A name is no amount, names are about several kinds of units, or stand twice.
    """
    schema = records.schema
    variables = tuple(schema.variable(name) for name in names)
    for at, variable in enumerate(variables):
        if not variable.continuous or variable.role is Role.WEIGHT or not variable.stored:
            known = [
                each.name
                for each in schema.variables
                if each.continuous and each.stored and each.role is not Role.WEIGHT
            ]
            listed = f" Amounts of this census: {', '.join(known)}." if known else ""
            raise SpecError(
                f"{variable.name!r} is no amount: only variables with continuous = true change"
                f" here.{listed}"
            )
        if variable in variables[:at]:
            raise SpecError(f"{variable.name!r} stands twice in --variables. Say it once.")
    kinds = {variable.entity for variable in variables}
    if len(kinds) > 1:
        units = " and ".join(sorted(kind.plural for kind in kinds))
        raise SpecError(
            f"{', '.join(names)} are about {units}. Do it in a step for each kind of unit."
        )
    entity = kinds.pop()
    values = np.stack(
        [
            records.raw(entity, value_column(variable.name)).astype(np.int64)
            for variable in variables
        ]
    )
    return Amounts(
        store=records,
        entity=entity,
        variables=variables,
        values=values,
        stratum=_strata(records, entity, strata),
    )


def _strata(records: CensusStore, entity: Entity, strata: Sequence[str]) -> Int64:
    columns = []
    for text in strata:
        at = AtLevel.parse(text)
        variable = records.schema.variable(at.variable)
        if variable.entity not in records.schema.lineage(entity):
            known = [
                each.name
                for each in records.schema.variables
                if each.is_axis and each.entity in records.schema.lineage(entity)
            ]
            raise SpecError(f"--strata: {unknown('variable', text, known)}")
        if not variable.is_axis:
            raise SpecError(f"--strata {text}: it has no codes. Name a variable with codes.")
        level = variable.level(at.level or None)
        columns.append(level.group_array[records.column(entity, variable)[slice(None)]])
    if not columns:
        return np.zeros(records.rows(entity), dtype=np.int64)
    return projected(np.stack(columns, axis=1))
