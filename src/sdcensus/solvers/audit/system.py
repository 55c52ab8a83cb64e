"""Cells with equations between them, of which some are published and some are not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.kernels.inference.row_bounds import Rows
from sdcensus.model.cube.constraints import SparseMatrix
from sdcensus.model.inference.knowledge import UNBOUNDED

Int64 = npt.NDArray[np.int64]
Mask = npt.NDArray[np.bool_]

#: A bound that says nothing, up or down.
FREE = 1 << 56
#: No published value is larger: sums of bounds stay far below 2**63.
MOST_VALUE = 1 << 48


@dataclass(frozen=True, slots=True)
class FailedEquation:
    """An equation between published cells that does not hold.

    Attributes:
        row: Its number.
        cells: The cells in it.
        factors: How often each counts: 1 for a part, -1 for what the parts add up to.
        gap: By how much the parts exceed what they should add up to.
    """

    row: int
    cells: tuple[int, ...]
    factors: tuple[int, ...]
    gap: int


@dataclass(frozen=True, slots=True, eq=False)
class AuditSystem:
    """Equations between cells, the values of published cells, and bounds of the others.

    Attributes:
        equations: One row for each equation, over all cells; each row has to be 0.
        values: The published values; 0 for cells that are withheld.
        hidden: The cells that are withheld.
        lower, upper: What is known of them from the start; ``FREE`` where nothing is.
        tolerance: By how much an equation may fail, as published values are rounded.
    """

    equations: SparseMatrix
    values: Int64
    hidden: Mask
    lower: Int64
    upper: Int64
    tolerance: int = 0

    @classmethod
    def of(
        cls,
        equations: SparseMatrix,
        values: npt.NDArray[Any],
        hidden: npt.NDArray[Any],
        *,
        lower: npt.NDArray[Any] | int | None = 0,
        upper: npt.NDArray[Any] | int | None = None,
        tolerance: int = 0,
    ) -> AuditSystem:
        """Check and take arrays.

        Args:
            equations: One row for each equation.
            values: A value for each cell; those of withheld cells are not looked at.
            hidden: A mask of the withheld cells.
            lower, upper: What is known of each cell from the start, one bound for all or one for
                each; ``None``, or ``UNBOUNDED`` above, where nothing is known.
            tolerance: By how much an equation may fail.
        """
        size = equations.shape[1]
        mask, numbers = np.asarray(hidden), np.asarray(values)
        if mask.shape != (size,) or mask.dtype != np.bool_:
            raise SpecError(f"An audit needs a mask of the {size:,} cells that are withheld.")
        if numbers.shape != (size,) or numbers.dtype.kind not in "iu":
            raise SpecError(f"An audit needs a whole number for each of the {size:,} cells.")
        if type(tolerance) is not int or tolerance < 0:
            raise SpecError("What equations may fail by is a whole number, 0 or more.")
        known = np.where(mask, 0, numbers).astype(np.int64)
        low = _bounds(size, lower, -FREE)
        high = _bounds(size, upper, FREE)
        high[high == UNBOUNDED] = FREE
        largest = int(np.abs(known).max(initial=0))
        longest = int(np.diff(equations.starts).max(initial=1))
        if largest > MOST_VALUE or largest * longest > 1 << 61:
            raise SpecError(
                f"A published value is {largest:,}: values up to {MOST_VALUE:,} can be audited."
                " Give larger units, such as thousands."
            )
        return cls(equations, known, mask.copy(), low, high, tolerance)

    def __post_init__(self) -> None:
        for array in (self.values, self.hidden, self.lower, self.upper):
            array.flags.writeable = False

    def __repr__(self) -> str:
        return f"<AuditSystem of {self.hidden.size} cells, {int(self.hidden.sum())} withheld>"

    def failed(self) -> tuple[FailedEquation, ...]:
        """The equations between published cells alone that fail by more than is tolerated."""
        matrix = self.equations
        unknown = np.zeros(matrix.shape[0], dtype=np.int64)
        np.add.at(unknown, matrix.rows, self.hidden[matrix.columns])
        gaps = matrix.times(self.values)
        rows = np.flatnonzero((unknown == 0) & (np.abs(gaps) > self.tolerance))
        return tuple(self.equation(row, int(gaps[row])) for row in rows.tolist())

    def equation(self, row: int, gap: int = 0) -> FailedEquation:
        """One equation with its cells."""
        part = slice(self.equations.starts[row], self.equations.starts[row + 1])
        cells = tuple(self.equations.columns[part].tolist())
        return FailedEquation(row, cells, tuple(self.equations.values[part].tolist()), gap)

    def unknowns(self) -> Unknowns:
        """The equations with what is published on one side and what is withheld on the other."""
        matrix = self.equations
        cells = np.flatnonzero(self.hidden)
        number = np.full(matrix.shape[1], -1, dtype=np.int64)
        number[cells] = np.arange(cells.size)
        unknown = self.hidden[matrix.columns]
        rows = matrix.rows[unknown]
        right = -matrix.times(self.values)
        kept, row_of = np.unique(rows, return_inverse=True)
        starts = np.zeros(kept.size + 1, dtype=np.int64)
        np.cumsum(np.bincount(row_of, minlength=kept.size), out=starts[1:])
        return Unknowns.of(
            cells=cells,
            equations=kept,
            starts=starts,
            columns=number[matrix.columns[unknown]],
            values=matrix.values[unknown].astype(np.int64),
            row_bounds=(right[kept] - self.tolerance, right[kept] + self.tolerance),
            bounds=(self.lower[cells], self.upper[cells]),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Unknowns:
    """Withheld cells, and rows that they keep to.

    Attributes:
        cells: The cells by their numbers in the system.
        equations: The equations by their numbers in the system.
        rows: The matrix with the bounds of its rows.
        lower, upper: Bounds of each cell.
    """

    cells: Int64
    equations: Int64
    rows: Rows
    lower: Int64
    upper: Int64

    @classmethod
    def of(
        cls,
        *,
        cells: Int64,
        equations: Int64,
        starts: Int64,
        columns: Int64,
        values: Int64,
        row_bounds: tuple[Int64, Int64],
        bounds: tuple[Int64, Int64],
    ) -> Unknowns:
        """Make the columns of a matrix that is given by rows."""
        row = np.repeat(np.arange(equations.size, dtype=np.int64), np.diff(starts))
        order = np.argsort(columns, kind="stable")
        first = np.zeros(cells.size + 1, dtype=np.int64)
        np.cumsum(np.bincount(columns, minlength=cells.size), out=first[1:])
        rows = Rows(starts, columns, values, first, row[order], *row_bounds)
        return cls(cells, equations, rows, *bounds)

    @property
    def size(self) -> int:
        """How many unknown cells there are."""
        return int(self.cells.size)

    @property
    def height(self) -> int:
        """How many rows there are."""
        return int(self.equations.size)

    def matrix(self) -> Any:
        """The matrix as a sparse one of scipy."""
        from scipy.sparse import csr_array

        shape = (self.height, self.size)
        return csr_array((self.rows.values, self.rows.columns, self.rows.starts), shape=shape)

    def part(self, cells: Int64, rows: Int64) -> Unknowns:
        """Some cells with some rows. Cells that are left out are at their bounds, which are equal.

        Args:
            cells: Numbers of unknown cells, ascending.
            rows: Numbers of rows, ascending.
        """
        number = np.full(self.size, -1, dtype=np.int64)
        number[cells] = np.arange(cells.size)
        picked = np.zeros(self.height, dtype=bool)
        picked[rows] = True
        row = np.repeat(np.arange(self.height, dtype=np.int64), np.diff(self.rows.starts))
        inside = picked[row]
        row, column, value = row[inside], self.rows.columns[inside], self.rows.values[inside]
        moved = np.zeros(self.height, dtype=np.int64)
        left_out = number[column] < 0
        np.add.at(moved, row[left_out], (value * self.lower[column])[left_out])
        kept = ~left_out
        place = np.cumsum(picked) - 1
        starts = np.zeros(rows.size + 1, dtype=np.int64)
        np.cumsum(np.bincount(place[row[kept]], minlength=rows.size), out=starts[1:])
        return Unknowns.of(
            cells=self.cells[cells],
            equations=self.equations[rows],
            starts=starts,
            columns=number[column[kept]],
            values=value[kept],
            row_bounds=((self.rows.lower - moved)[rows], (self.rows.upper - moved)[rows]),
            bounds=(self.lower[cells], self.upper[cells]),
        )


def _bounds(size: int, given: npt.NDArray[Any] | int | None, nothing: int) -> Int64:
    if given is None:
        return np.full(size, nothing, dtype=np.int64)
    array = np.asarray(given)
    if array.dtype.kind not in "iu" or array.shape not in ((), (size,)):
        raise SpecError(f"Bounds are whole numbers: one for all, or one for each of {size} cells.")
    return np.clip(np.broadcast_to(array, (size,)).astype(np.int64), -FREE, FREE)
