"""A table whose cells have bounds, as a program: its base cells are what can vary."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sdcensus.kernels.inference.whole_tables import CellBounds, Sums
from sdcensus.model.inference.intervals import Intervals
from sdcensus.model.inference.knowledge import UNBOUNDED
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.solvers.program import Float64, Int64, LinearProgram


@dataclass(frozen=True, slots=True, eq=False)
class TableProgram:
    """A table with bounds for its cells.

    Attributes:
        spec: The table.
        linear: A program without a goal. Its variables are the base cells, its rows the sums that
            can leave their bounds.
        sums: The cells of the table by base cells, as a sparse matrix of scipy.
        bounds: Bounds of base cells and of the cells of the table.
    """

    spec: TableSpec
    linear: LinearProgram
    sums: Any
    bounds: CellBounds

    @classmethod
    def of(cls, intervals: Intervals) -> TableProgram:
        """The program of a table whose intervals went through the shuttle."""
        from scipy.sparse import csr_array, kron

        sums: Any = csr_array(np.ones((1, 1), dtype=np.int64))
        for axis in intervals.spec.axes:
            sums = csr_array(kron(sums, _sums_along(axis), format="csr"), dtype=np.int64)
        sums.sort_indices()
        bounds = bounds_of(intervals, sums)
        least, most, low, high = bounds
        length = np.diff(sums.indptr)
        binding = (length > 1) & ((sums @ least < low) | (sums @ most > high))
        rows = sums[np.flatnonzero(binding)].tocoo()
        linear = LinearProgram(
            cost=np.zeros(least.size),
            lower=least.astype(np.float64),
            upper=_infinite(most),
            integer=np.zeros(least.size, dtype=bool),
            rows=rows.coords[0].astype(np.int64),
            columns=rows.coords[1].astype(np.int64),
            values=np.ones(rows.nnz),
            row_lower=low[binding].astype(np.float64),
            row_upper=_infinite(high[binding]),
        )
        return cls(intervals.spec, linear, sums, bounds)

    def whole(self) -> LinearProgram:
        """The same program in whole numbers, with finite bounds."""
        # A cell without an upper bound is in sums without one only: more than the largest lower
        # bound of a sum never helps.
        most = float(self.bounds.lower.max(initial=1))
        linear = self.linear
        return replace(
            linear,
            integer=np.ones(linear.width, dtype=bool),
            upper=np.where(np.isfinite(linear.upper), linear.upper, linear.lower + most),
        )

    def adding(self) -> Sums:
        """What adds up, for the search for whole tables."""
        by_cell = self.sums.T.tocsr()
        arrays = (self.sums.indptr, self.sums.indices, by_cell.indptr, by_cell.indices)
        return Sums(*(array.astype(np.int64) for array in arrays))

    def goal(self, cell: int, sign: int) -> Float64:
        """The cost by which a cell becomes as small (1) or as large (-1) as possible."""
        cost = np.zeros(self.linear.width)
        part = slice(self.sums.indptr[cell], self.sums.indptr[cell + 1])
        cost[self.sums.indices[part]] = sign
        return cost


def bounds_of(intervals: Intervals, sums: Any) -> CellBounds:
    """Bounds of the base cells and of the cells of a table; a base cell may not be shown."""
    low, high = intervals.lower.reshape(-1), intervals.upper.reshape(-1)
    least = np.zeros(sums.shape[1], dtype=np.int64)
    most = np.full(sums.shape[1], UNBOUNDED, dtype=np.int64)
    alone = np.flatnonzero(np.diff(sums.indptr) == 1)
    cell = sums.indices[sums.indptr[alone]]
    np.maximum.at(least, cell, low[alone])
    np.minimum.at(most, cell, high[alone])
    return CellBounds(least, most, low, high)


def _sums_along(axis: Axis) -> Any:
    """The positions of an axis by its base groups."""
    from scipy.sparse import csr_array

    rows = np.concatenate([block.start + block.group for block in axis.blocks])
    columns = np.tile(np.arange(axis.base_size), len(axis.blocks))
    ones = np.ones(rows.size, dtype=np.int64)
    return csr_array((ones, (rows, columns)), shape=(len(axis.codes), axis.base_size))


def _infinite(upper: Int64) -> Float64:
    return np.where(upper >= UNBOUNDED, np.inf, upper.astype(np.float64))
