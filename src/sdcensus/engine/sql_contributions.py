"""The largest contributions to each cell, as expressions of SQL and as columns of its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.engine.sql_dialect import Dialect
from sdcensus.model.cube.contributions import (
    ABSOLUTE,
    AMOUNT,
    BY_AMOUNT,
    CONTRIBUTOR_KEY,
    CONTRIBUTORS,
    ENTRY_KEY,
    ENTRY_WEIGHT,
    HIGHEST,
    LARGEST,
    LOWEST,
    WAIVED,
    ContributionNeeds,
)

Integers = npt.NDArray[Any]
#: Columns inside the query: the contribution of a record, its amount, its weight, its key.
CONTRIBUTION = "contribution"
_OWN = {AMOUNT: CONTRIBUTION, ENTRY_WEIGHT: "own_weight", ENTRY_KEY: "own_key", WAIVED: "waived"}
_PLAIN = "own_amount"
#: The sum of the contributions in the answer.
TOTAL = "contributed"


@dataclass(frozen=True, slots=True, kw_only=True)
class SummedAmounts:
    """What a table of sums adds up.

    Attributes:
        amount: The column with the amounts; 0 where there is none.
        weight: The column with the weights, for a weighted sum.
        weight_unit: What a weight of 1 is in it.
        waiver: The column of leaves that say whether a contributor agreed to be shown.
        waiving: Which leaves say so.
        needs: What is kept of contributions; nothing but their sum without it.
    """

    amount: str
    weight: str | None = None
    weight_unit: int = 1
    waiver: str | None = None
    waiving: tuple[int, ...] = ()
    needs: ContributionNeeds | None = None

    def entries(self) -> dict[str, tuple[str, ...]]:
        """The lists that are kept, by their prefix, with what their entries have."""
        if self.needs is None or not self.needs.largest:
            return {}
        waived = (WAIVED,) if self.needs.waivers and self.waiver is not None else ()
        keys = (ENTRY_KEY,) if self.needs.keys else ()
        lists = {LARGEST: (AMOUNT, *keys, *waived)}
        if self.weight is not None:
            lists[BY_AMOUNT] = (AMOUNT, ENTRY_WEIGHT, *waived)
        return lists

    def per_record(self, key: str, dialect: Dialect) -> list[str]:
        """What every record contributes, as columns."""
        name = dialect.name
        amount = dialect.whole(name("r", self.amount))
        contribution = amount
        if self.weight is not None:
            weight = dialect.whole(name("r", self.weight))
            contribution = dialect.scaled(amount, weight, self.weight_unit)
        columns = {_OWN[AMOUNT]: contribution}
        if self.needs is not None:
            columns[_OWN[ENTRY_KEY]] = dialect.whole(name("r", key))
            if self.weight is not None:
                columns[_PLAIN] = amount
                columns[_OWN[ENTRY_WEIGHT]] = dialect.whole(name("r", self.weight))
            if self.waiver is not None:
                leaves = ", ".join(f"{leaf:d}" for leaf in self.waiving) or "-1"
                waived = f"CASE WHEN {name('r', self.waiver)} IN ({leaves}) THEN 1 ELSE 0 END"
                columns[_OWN[WAIVED]] = dialect.whole(waived)
        return [f"{expression} AS {name(column)}" for column, expression in columns.items()]

    def ranks(self, cell: str, dialect: Dialect) -> list[str]:
        """The rank of each record in its cell, by each list."""
        ranked = []
        for prefix, fields in self.entries().items():
            columns = [self._own(prefix, field, dialect) for field in fields]
            order = [f"abs({columns[0]})", *columns]
            by = ", ".join(f"{column} DESC" for column in order)
            rank = f"row_number() OVER (PARTITION BY {dialect.name(cell)} ORDER BY {by})"
            ranked.append(f"{rank} AS {dialect.name(_rank(prefix))}")
        return ranked

    def _own(self, prefix: str, field: str, dialect: Dialect) -> str:
        """What a record enters into a list; nothing where it does not contribute."""
        column = _PLAIN if (prefix, field) == (BY_AMOUNT, AMOUNT) else _OWN[field]
        contribution = dialect.name(_OWN[AMOUNT])
        return f"(CASE WHEN {contribution} <> 0 THEN {dialect.name(column)} ELSE 0 END)"

    def combined(self, key: Callable[[str], str], dialect: Dialect) -> list[str]:
        """What each cell holds, as columns of the answer.

        Args:
            key: The aggregate that combines record keys.
            dialect: Of the engine.
        """
        name, whole = dialect.name, dialect.whole
        contribution = name(_OWN[AMOUNT])
        columns = {TOTAL: whole(f"sum({contribution})")}
        if self.needs is not None:
            own_key = f"CASE WHEN {contribution} <> 0 THEN {name(_OWN[ENTRY_KEY])} ELSE 0 END"
            present = f"CASE WHEN {contribution} <> 0 THEN {contribution} END"
            columns[CONTRIBUTORS] = whole(f"count({present})")
            columns[CONTRIBUTOR_KEY] = key(own_key)
            if self.needs.spread:
                limits = np.iinfo(np.int64)
                # The smallest number of 64 bits cannot be written as a number with a sign.
                least = f"(-{limits.max:d} - 1)"
                columns[LOWEST] = whole(f"coalesce(min({present}), {limits.max:d})")
                columns[HIGHEST] = whole(f"coalesce(max({present}), {least})")
            if self.needs.absolute:
                columns[ABSOLUTE] = whole(f"sum(abs({contribution}))")
            for prefix, fields in self.entries().items():
                for rank in range(self.needs.largest):
                    for field in fields:
                        own = self._own(prefix, field, dialect)
                        here = f"CASE WHEN {name(_rank(prefix))} = {rank + 1:d} THEN {own} END"
                        # One row has the rank; amounts may be below 0.
                        columns[_column(prefix, rank, field)] = whole(f"coalesce(max({here}), 0)")
        return [f"{expression} AS {name(column)}" for column, expression in columns.items()]

    def answered(self, column: Callable[[str], Integers]) -> dict[str, Integers]:
        """The accumulators of the contributions from the columns of the answer."""
        if self.needs is None:
            return {}
        arrays: dict[str, Integers] = {
            CONTRIBUTORS: column(CONTRIBUTORS).astype(np.int64),
            CONTRIBUTOR_KEY: column(CONTRIBUTOR_KEY).astype(np.uint64),
        }
        for wanted, names in (
            (self.needs.spread, (LOWEST, HIGHEST)),
            (self.needs.absolute, (ABSOLUTE,)),
        ):
            if wanted:
                arrays |= {name: column(name).astype(np.int64) for name in names}
        for prefix, fields in self.entries().items():
            columns = [
                column(_column(prefix, rank, field)).astype(np.int64)
                for rank in range(self.needs.largest)
                for field in fields
            ]
            arrays[f"{prefix}{'+'.join(fields)}"] = np.stack(columns, axis=-1)
        return arrays


def _rank(prefix: str) -> str:
    return f"rank_{prefix.rstrip(':')}"


def _column(prefix: str, rank: int, field: str) -> str:
    return f"{prefix.rstrip(':')}_{rank}_{field}"
