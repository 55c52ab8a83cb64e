"""Looks at the cells of a census as it is: empty parts and parts with the same records count.

A part that is empty carries no noise. A part that holds the same records in two tables carries
the same noise in both. The first makes averages better than code lists say, the second worse:
nobody looks at a count of 1 more than once, since all its parts are that one record.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from sdcensus.model.confidential import Confidential
from sdcensus.risk.looks_chance import recoveries

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]
Float64 = npt.NDArray[np.float64]

#: Sizes of cells that are told apart: the smallest of each class.
SIZES = (1, 2, 3, 6, 11, 51)


@dataclass(frozen=True, slots=True, repr=False)
class LooksBySize(Confidential):
    """The looks at cells of a size.

    Attributes:
        smallest, largest: The size; without a largest, and over.
        cells: How many there are.
        looks: At such a cell, on average.
        recovery: The share of them that averaging finds, for the perturbation that was given.
    """

    smallest: int
    largest: int | None
    cells: int
    looks: float
    recovery: float | None

    def __repr__(self) -> str:
        return "<LooksBySize: confidential>"


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class CellLooks(Confidential):
    """The looks at every non-empty cell of a table, from true counts and keys.

    Attributes:
        title: What the cells are about.
        count: True counts.
        looks: The variance of one published value divided by that of the average.
        tables: How many tables were taken together.
        left_out: How many more the menu has, which were not; ``None`` if that is not known.
    """

    title: str
    count: Int64
    looks: Float64
    tables: int
    left_out: int | None = 0

    def __repr__(self) -> str:
        return f"<CellLooks {self.title}: confidential>"

    def by_size(
        self, variance: float | None = None, sizes: Sequence[int] = SIZES
    ) -> tuple[LooksBySize, ...]:
        """Averages over cells of a size; sizes without a cell are left out."""
        found = []
        for at, smallest in enumerate(sizes):
            largest = sizes[at + 1] - 1 if at + 1 < len(sizes) else None
            inside = self.count >= smallest
            if largest is not None:
                inside &= self.count <= largest
            if not inside.any():
                continue
            looks = self.looks[inside]
            chance = None
            if variance is not None:
                chance = float(recoveries(looks, variance).mean())
            found.append(
                LooksBySize(smallest, largest, int(inside.sum()), float(looks.mean()), chance)
            )
        return tuple(found)

    def recovery(self, variance: float) -> float | None:
        """The share of cells that averaging finds; ``None`` if there is no cell with records."""
        if not self.count.size:
            return None
        return float(recoveries(self.looks, variance).mean())


@dataclass(slots=True)
class Collector:
    """Takes tables one by one: for each of their parts the cell it lies in, and its key."""

    cells: int
    _cell: list[Int64] = field(default_factory=list)
    _key: list[UInt64] = field(default_factory=list)
    _weight: list[Float64] = field(default_factory=list)
    _signature: list[UInt64] = field(default_factory=list)

    def add(self, cell: Int64, key: UInt64) -> None:
        """Add a table that adds up to the cells; only parts with records."""
        parts = np.bincount(cell, minlength=self.cells)
        signature = np.zeros(self.cells, dtype=np.uint64)
        np.add.at(signature, cell, _mixed(key))
        self._cell.append(cell)
        self._key.append(key)
        self._weight.append(1 / parts[cell])
        self._signature.append(signature)

    def looks(self) -> Float64:
        """For each cell, the variance of one value divided by that of the average of all tables.

        The average weights a table with ``k`` parts by ``1 / k``. A table that divides a cell as
        an earlier one does is left out there. The same part in several tables has the same noise,
        so its weights add up before they are squared.
        """
        if not self._cell:
            return np.ones(self.cells)
        new = _first_of_each(np.stack(self._signature))
        kept = [new[at][cell] for at, cell in enumerate(self._cell)]
        cell = np.concatenate([one[k] for one, k in zip(self._cell, kept, strict=True)])
        key = np.concatenate([one[k] for one, k in zip(self._key, kept, strict=True)])
        weight = np.concatenate([one[k] for one, k in zip(self._weight, kept, strict=True)])
        order = np.lexsort((key, cell))
        cell, key, weight = cell[order], key[order], weight[order]
        first = np.ones(cell.size, dtype=bool)
        first[1:] = (cell[1:] != cell[:-1]) | (key[1:] != key[:-1])
        starts = np.flatnonzero(first)
        together = np.add.reduceat(weight, starts) if starts.size else weight
        # The k weights of a table, each 1 / k, have the sum of squares 1 / k: its part of a look.
        squares = np.bincount(cell[starts], together * together, minlength=self.cells)
        share = np.bincount(cell, weight * weight, minlength=self.cells)
        found = np.ones(self.cells)
        seen = squares > 0
        found[seen] = share[seen] ** 2 / squares[seen]
        return np.maximum(found, 1.0)


def _first_of_each(signatures: UInt64) -> npt.NDArray[np.bool_]:
    """For each column, the rows whose value stands in no earlier row."""
    order = np.argsort(signatures, axis=0, kind="stable")
    ordered = np.take_along_axis(signatures, order, axis=0)
    first = np.ones(ordered.shape, dtype=bool)
    first[1:] = ordered[1:] != ordered[:-1]
    found = np.empty_like(first)
    np.put_along_axis(found, order, first, axis=0)
    return found


def _mixed(key: UInt64) -> UInt64:
    """Keys spread over 64 bits, so that sums of them tell sets of keys apart."""
    one = (key + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    one ^= one >> np.uint64(32)
    one *= np.uint64(0xD6E8FEB86659FD93)
    one ^= one >> np.uint64(32)
    return one
