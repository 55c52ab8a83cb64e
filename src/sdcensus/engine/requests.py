"""What an engine can be asked, and what every engine promises."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar, Protocol

from sdcensus.errors import EngineError
from sdcensus.model.cube.cube import Origin
from sdcensus.model.cube.sparse_cube import AnyCube
from sdcensus.model.spec.table_spec import Measure, TableSpec

#: What every engine says where a sum would leave 64 bits.
SUM_TOO_LARGE = (
    "A sum does not fit 64 bits. Take fewer decimals for the weight or the amount that is summed."
)


class Can(StrEnum):
    """What an engine is able to do beyond counts and key sums."""

    WEIGHTS = "weighted counts"
    SUMS = "sums of continuous variables"
    HOUSEHOLDS = "cells made of one household"
    LARGER_THAN_MEMORY = "data larger than memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tabulate:
    """Count records and combine record keys for each combination of codes.

    Attributes:
        spec: The table.
        weights: Also sum the weights (always done for a weighted table).
        sums: Continuous variables to sum as well.
        households: Also find the smallest and largest household behind each cell.
    """

    spec: TableSpec
    weights: bool = False
    sums: tuple[str, ...] = ()
    households: bool = False

    @property
    def weighted(self) -> bool:
        """Whether weights are summed."""
        return self.weights or self.spec.measure is Measure.WEIGHTED

    def needs(self) -> frozenset[Can]:
        """What the engine must be able to do."""
        wanted = {
            Can.WEIGHTS: self.weighted,
            Can.SUMS: bool(self.sums),
            Can.HOUSEHOLDS: self.households,
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
