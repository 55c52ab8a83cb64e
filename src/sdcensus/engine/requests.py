"""What an engine can be asked, what every engine promises, and what a request needs of records."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Protocol

import numpy as np

from sdcensus.errors import EngineError, SpecError
from sdcensus.model.cube.contributions import ContributionNeeds
from sdcensus.model.cube.cube import Origin
from sdcensus.model.cube.replicates import check_replicated
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity, Variable
from sdcensus.model.spec.measures import check_amount
from sdcensus.model.spec.record_sets import leaves_in
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.spec.universe import universe_of

#: What every engine says where a sum would leave 64 bits.
SUM_TOO_LARGE = (
    "A sum does not fit 64 bits. Keep fewer decimals of the amount or of the weight (decimals in"
    " its entry of the schema), or write the amount in a larger unit, and load again."
)


class Can(StrEnum):
    """What an engine is able to do beyond counts and key sums."""

    WEIGHTS = "weighted counts"
    SUMS = "sums of continuous variables"
    CONTRIBUTIONS = "the largest contributions to a sum"
    HOUSEHOLDS = "cells made of one household"
    REPLICATES = "sampling errors of whole households"
    LARGER_THAN_MEMORY = "data larger than memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tabulate:
    """Count records and combine record keys for each combination of codes.

    Attributes:
        spec: The table.
        weights: Also sum the weights (always done for a weighted table).
        sums: Continuous variables to sum as well, each as it is; a table of sums has its own.
        households: Also find the smallest and largest household behind each cell.
        contributions: What to keep of the contributions to a table of sums; by default all that a
            method may ask for.
        replicates: Also find what random groups of households add to an estimate, for its
            sampling error. Records without a household are groups of their own.
    """

    spec: TableSpec
    weights: bool = False
    sums: tuple[str, ...] = ()
    households: bool = False
    contributions: ContributionNeeds | None = None
    replicates: bool = False

    def __post_init__(self) -> None:
        if self.spec.amount is not None and self.contributions is None:
            object.__setattr__(self, "contributions", ContributionNeeds())

    @property
    def weighted(self) -> bool:
        """Whether weights are summed."""
        return self.weights or self.spec.measure.is_weighted

    def needs(self) -> frozenset[Can]:
        """What the engine must be able to do."""
        wanted = {
            Can.WEIGHTS: self.weighted,
            Can.SUMS: bool(self.sums) or self.spec.amount is not None,
            Can.CONTRIBUTIONS: self.contributions is not None,
            Can.HOUSEHOLDS: self.households,
            Can.REPLICATES: self.replicates,
        }
        return frozenset(can for can, asked in wanted.items() if asked)


class Engine(Protocol):
    """Where records live. The only door to them; every engine gives the same integers."""

    name: ClassVar[str]
    can: ClassVar[frozenset[Can]]

    @property
    def origin(self) -> Origin:
        """Where its numbers come from."""
        ...

    def tabulate(self, request: Tabulate) -> AnyCube:
        """The cube of a table: dense where the grid fits, else its non-empty cells."""
        ...


def check_ability(engine: Engine, request: Tabulate) -> None:
    """Refuse a request that the engine cannot answer, by name."""
    missing = request.needs() - engine.can
    if missing:
        raise EngineError(
            f"The engine {engine.name!r} cannot do {' or '.join(sorted(missing))}."
            " Use the engine 'memory'."
        )


@dataclass(frozen=True, slots=True)
class Needs:
    """The variables behind a request.

    Attributes:
        codes: Variables whose leaves are needed, each once: axes first, then the universe.
        weight: The weight, if weights are summed.
        sums: The continuous variables that are summed as they are, in the order of the request.
        amount: The variable that a table of sums adds up.
        waiver: Where contributors agreed to be shown: a variable and its leaves that say so.
        households: Whether the household of each record is needed.
        owner: Whether amounts belong to owners, and contributions are asked for.
    """

    codes: tuple[Variable, ...]
    weight: Variable | None
    sums: tuple[Variable, ...]
    amount: Variable | None = None
    waiver: tuple[Variable, tuple[int, ...]] | None = None
    households: bool = False
    owner: bool = False

    @property
    def values(self) -> tuple[Variable, ...]:
        """The variables whose values are needed, each once; the weight first."""
        wanted = (self.weight, *self.sums, self.amount)
        return tuple({value.name: value for value in wanted if value is not None}.values())


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
        if own is not variable and not _same_leaves(own, variable, spec.of):
            raise SpecError(
                f"{spec.title}: {variable.name!r} has other codes here than in the schema that the"
                " table was made for. Make the table for the schema of these records."
            )
    weight = schema.weight(spec.of) if request.weighted else None
    if request.weighted and weight is None:
        raise SpecError(f"The schema has no weight for {spec.of.plural}.")
    sums = tuple(schema.variable(name) for name in request.sums)
    amount = None if spec.amount is None else schema.variable(spec.amount.name)
    if amount is not None and spec.amount is not None:
        check_amount(amount, spec.of, schema)
        if (amount.decimals, amount.unit) != (spec.amount.decimals, spec.amount.unit):
            raise SpecError(
                f"{spec.title}: {amount.name!r} has another unit or other decimals here than in the"
                " schema that the table was made for. Make the table for the schema of these"
                " records."
            )
    if request.contributions is not None and amount is None:
        raise SpecError(
            f"{spec.title}: only a table of sums has contributions; ask for one by its measure,"
            " such as sum(income)."
        )
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
    if request.replicates:
        check_replicated(spec)
    drawn_together = request.replicates and Entity.HOUSEHOLD in lineage
    households = request.households or drawn_together
    if amount is None or request.contributions is None:
        return Needs(tuple(codes.values()), weight, sums, amount, households=households)
    waiver = _waiver(amount, schema)
    if waiver is not None:
        codes.setdefault(waiver[0].name, waiver[0])
    return Needs(
        tuple(codes.values()), weight, sums, amount, waiver, households, owner=amount.owner
    )


def _waiver(amount: Variable, schema: Schema) -> tuple[Variable, tuple[int, ...]] | None:
    """The variable that says which contributors agreed to be shown, and its leaves that do."""
    if not amount.waiver:
        return None
    universe = universe_of(amount.waiver, schema)
    if not universe.variables:
        raise SpecError(
            f"The waiver of {amount.name!r} is a condition about codes of one variable, some but"
            " not all of them."
        )
    variable = schema.variable(universe.variables[0].name)
    return variable, tuple(np.flatnonzero(leaves_in(universe, variable)).tolist())


def _same_leaves(own: Variable, asked: Variable, of: Entity) -> bool:
    """Whether a variable of records is the one of a table.

    Records of one kind alone have as their own what they inherited before.
    """
    if own.entity is not asked.entity and own.entity is not of:
        return False
    return [code.code for code in own.codes] == [code.code for code in asked.codes]
