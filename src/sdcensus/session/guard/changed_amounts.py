"""By how much sums change between two stores, record by record. Confidential."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError, StoreError
from sdcensus.kernels.cells.tabulate import BLOCK_ROWS
from sdcensus.model.confidential import Confidential
from sdcensus.model.schema.encoding import NO_VALUE
from sdcensus.model.schema.variable import Entity
from sdcensus.store.census_store import CensusStore, Column

Int64 = npt.NDArray[np.int64]
Numbers = npt.NDArray[np.uint64]
Float64 = npt.NDArray[np.float64]
Integers = npt.NDArray[Any]

_ROWS = 16 * BLOCK_ROWS


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class AmountChanges(Confidential):
    """The changes of the sums of some cells.

    Attributes:
        whole: For each cell all changes together, without their signs.
        largest: The largest of them.
    """

    whole: Float64
    largest: Float64

    def __repr__(self) -> str:
        return "<AmountChanges: confidential>"

    @classmethod
    def none(cls, cells: int) -> AmountChanges:
        """No changes of so many cells."""
        return cls(np.zeros(cells), np.zeros(cells))

    def add(self, cells: Numbers, where: Numbers, change: Float64) -> None:
        """Add changes of single records.

        Args:
            cells: The numbers of the cells that are looked at, ascending.
            where: The number of the cell of each record.
            change: By how much its contribution is another one.
        """
        at = np.minimum(np.searchsorted(cells, where), cells.size - 1)
        known = cells[at] == where
        at, size = at[known], np.abs(change[known])
        np.add.at(self.whole, at, size)
        np.maximum.at(self.largest, at, size)

    def alike(self) -> Int64:
        """How many changes as large as the largest would change each sum by as much."""
        largest = np.where(self.largest > 0, self.largest, 1.0)
        # Sums of numbers with decimals may be off in the last of 16 digits.
        return np.floor(self.whole / largest + 1e-9).astype(np.int64)


def contributions(store: CensusStore, of: Entity, amount: str, *, weighted: bool) -> Float64:
    """What each record contributes to a sum; 0 where it has no amount.

    Raises:
        StoreError: The store has no such amount.
    """
    try:
        variable = store.schema.variable(amount)
    except SpecError:
        raise StoreError(
            f"The store from which was published has no variable {amount!r}, so changed records"
            " cannot be counted for its sums."
        ) from None
    rows = store.rows(of)
    given = whole_column(store.values(of, variable), rows)
    amounts: Float64 = np.where(given == NO_VALUE, 0, given) / 10**variable.decimals
    weight = store.schema.weight(of) if weighted else None
    if weight is None:
        return amounts
    weights: Float64 = whole_column(store.values(of, weight), rows) / 10**weight.decimals
    return amounts * weights


def whole_column(column: Column, rows: int) -> Integers:
    """A column for all records, inherited values included."""
    if column.whole is not None:
        return column.whole
    copy = np.empty(rows, dtype=column.dtype)
    for start in range(0, rows, _ROWS):
        copy[start : start + _ROWS] = column[start : min(start + _ROWS, rows)]
    return copy
