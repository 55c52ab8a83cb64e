"""What random groups of households add to estimates, as expressions of SQL."""

from __future__ import annotations

from dataclasses import dataclass

from sdcensus.engine.sql_dialect import Dialect
from sdcensus.kernels.cells.replicates import FACTOR, PRIME, REPLICATES, SHIFT
from sdcensus.kernels.cells.tabulate import NO_ROW
from sdcensus.model.cube.replicates import replicate_names

#: The column with the group of each record, inside the query.
_GROUP = "replicate_group"


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplicateSums:
    """Sums by groups of households.

    Attributes:
        value: The column that is added up, inside the query.
        key: The column with the record keys, for records without a household.
        household: The column with the key of each record's household, if there are any.
    """

    value: str
    key: str
    household: str | None

    def per_record(self, dialect: Dialect) -> list[str]:
        """The group of each record, as a column."""
        cluster = dialect.whole(dialect.name("r", self.key))
        if self.household is not None:
            household = dialect.whole(dialect.name("r", self.household))
            cluster = f"CASE WHEN {household} = {int(NO_ROW):d} THEN {cluster} ELSE {household} END"
        mixed = _fifth_power(f"(({cluster} + {SHIFT:d}) % {PRIME:d})")
        mixed = _fifth_power(f"(({mixed} * {FACTOR:d} + {SHIFT:d}) % {PRIME:d})")
        return [f"{mixed} % {REPLICATES:d} AS {dialect.name(_GROUP)}"]

    def combined(self, dialect: Dialect) -> list[str]:
        """What each group adds to each cell, as columns of the answer."""
        value, group = dialect.name(self.value), dialect.name(_GROUP)
        sums = [
            dialect.whole(f"sum(CASE WHEN {group} = {number:d} THEN {value} ELSE 0 END)")
            for number in range(REPLICATES)
        ]
        names = map(column_of, replicate_names())
        return [f"{total} AS {dialect.name(name)}" for name, total in zip(names, sums, strict=True)]


def column_of(name: str) -> str:
    """The column of the answer with an accumulator."""
    return name.replace(":", "_")


def _fifth_power(number: str) -> str:
    """A number below the prime to the fifth, modulo it."""
    square = f"({number} * {number} % {PRIME:d})"
    return f"({square} * {square} % {PRIME:d} * {number} % {PRIME:d})"
