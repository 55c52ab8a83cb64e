"""The largest contributions to each cell, as expressions of SQL and as columns of its answer."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.engine.owned import OwnedEntries
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
#: To whom amounts belong, in the answer.
OWNER = "belongs_to"


@dataclass(frozen=True, slots=True, kw_only=True)
class SummedAmounts:
    """What a table of sums adds up.

    Attributes:
        amount: The column with the amounts; 0 where there is none.
        weight: The column with the weights, for a weighted sum.
        weight_unit: What a weight of 1 is in it.
        waiver: The column of leaves that say whether a contributor agreed to be shown.
        waiving: Which leaves say so.
        owner: The column that says to whom amounts belong, where contributions of one owner are
            one: the answer then has a row for each owner in each cell.
        needs: What is kept of contributions; nothing but their sum without it.
    """

    amount: str
    weight: str | None = None
    weight_unit: int = 1
    waiver: str | None = None
    waiving: tuple[int, ...] = ()
    owner: str | None = None
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
        if self.owner is not None:
            columns[OWNER] = name("r", self.owner)
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
        ranked: list[str] = []
        if self.owner is not None:
            return ranked
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
        if self.owner is not None:
            columns |= self._of_owners(key, dialect)
        elif self.needs is not None:
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

    def _of_owners(self, key: Callable[[str], str], dialect: Dialect) -> dict[str, str]:
        """What each owner contributes to a cell: what is combined further, but not ranked."""
        name, whole = dialect.name, dialect.whole
        here = f"CASE WHEN {name(_OWN[AMOUNT])} <> 0 THEN"
        columns = {
            CONTRIBUTORS: whole(f"count({here} 1 END)"),
            CONTRIBUTOR_KEY: key(f"{here} {name(_OWN[ENTRY_KEY])} ELSE 0 END"),
        }
        if self.weight is not None:
            columns[_PLAIN] = whole(f"coalesce(sum({here} {name(_PLAIN)} END), 0)")
            weight = f"coalesce(min({here} {name(_OWN[ENTRY_WEIGHT])} END), 0)"
            columns[f"least_{ENTRY_WEIGHT}"] = whole(weight)
        if self.waiver is not None:
            columns[f"all_{WAIVED}"] = whole(f"coalesce(min({here} {name(_OWN[WAIVED])} END), 0)")
        return columns

    def owned(self, cell: Integers, column: Callable[[str], Integers]) -> OwnedEntries:
        """What owners contribute, from the columns of the answer.

        Args:
            cell: The cell of each row.
            column: A column of the answer.
        """
        rows = np.flatnonzero(column(CONTRIBUTORS) > 0)
        owners = np.asarray(column(OWNER))[rows]
        weighted = self.weight is not None
        return OwnedEntries(
            cell=cell[rows],
            # Some sources name owners by their ids, others by numbers.
            owner=np.unique(owners, return_inverse=True)[1].astype(np.int64),
            contribution=column(TOTAL)[rows].astype(np.int64),
            key=column(CONTRIBUTOR_KEY)[rows].astype(np.uint64),
            amount=column(_PLAIN)[rows].astype(np.int64) if weighted else None,
            weight=column(f"least_{ENTRY_WEIGHT}")[rows].astype(np.int64) if weighted else None,
            waived=None if self.waiver is None else column(f"all_{WAIVED}")[rows].astype(np.int64),
        )

    def answered(self, column: Callable[[str], Integers]) -> dict[str, Integers]:
        """The accumulators of the contributions from the columns of the answer."""
        if self.needs is None or self.owner is not None:
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
