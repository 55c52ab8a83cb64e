"""Linear programs, with whole numbers or without, and what solvers answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Self

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.solvers.limits import relative_gap

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]


class Status(StrEnum):
    """How a solver ended."""

    OPTIMAL = "optimal"
    INFEASIBLE = "infeasible"
    UNBOUNDED = "unbounded"
    LIMIT = "limit reached"
    STOPPED = "stopped"
    FAILED = "failed"


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class LinearProgram:
    """Make ``cost`` times the variables as small as possible, within bounds and rows.

    Attributes:
        cost: What one unit of each variable costs.
        lower, upper: Bounds of each variable; infinite where there is none.
        integer: Which variables are whole numbers.
        rows, columns, values: The matrix, one entry for each number that is not 0.
        row_lower, row_upper: Bounds of each row of the matrix.
        start: Values from which a search may begin, if some are known.
    """

    cost: Float64
    lower: Float64
    upper: Float64
    integer: npt.NDArray[np.bool_]
    rows: Int64
    columns: Int64
    values: Float64
    row_lower: Float64
    row_upper: Float64
    start: Float64 | None = None

    def __post_init__(self) -> None:
        if {self.lower.shape, self.upper.shape, self.integer.shape} != {self.cost.shape}:
            raise SpecError("A program has one cost, two bounds and one kind for each variable.")
        if {self.columns.shape, self.values.shape} != {self.rows.shape}:
            raise SpecError("Every entry of the matrix has a row, a column and a value.")
        if self.row_lower.shape != self.row_upper.shape:
            raise SpecError("Every row of the matrix has two bounds.")
        for numbers, below in ((self.rows, self.height), (self.columns, self.width)):
            if numbers.size and not (numbers.min() >= 0 and numbers.max() < below):
                raise SpecError("An entry of the matrix lies outside of it.")

    @property
    def width(self) -> int:
        """How many variables there are."""
        return self.cost.size

    @property
    def height(self) -> int:
        """How many rows there are."""
        return self.row_lower.size

    def with_cost(self, cost: Float64) -> Self:
        """The same program for another goal."""
        return replace(self, cost=cost)

    def with_row(self, values: Float64, lower: float, upper: float) -> Self:
        """The same program with one more row, given in full."""
        columns = np.flatnonzero(values)
        return replace(
            self,
            rows=np.append(self.rows, np.full(columns.size, self.height)),
            columns=np.append(self.columns, columns),
            values=np.append(self.values, values[columns]),
            row_lower=np.append(self.row_lower, lower),
            row_upper=np.append(self.row_upper, upper),
        )


@dataclass(frozen=True, slots=True, eq=False)
class Solution:
    """What a solver found.

    Attributes:
        status: How it ended; only ``OPTIMAL`` is proven to be the best.
        values: The variables; whole numbers are exactly whole. Empty when nothing was found.
        objective: What they cost.
        bound: What no solution costs less than.
        repeatable: Whether every machine finds the same: not where the clock or a person ended it.
        work: What it took, as limits count it.
    """

    status: Status
    values: Float64
    objective: float
    bound: float = float("-inf")
    repeatable: bool = True
    work: float = 0.0

    @property
    def optimal(self) -> bool:
        """Whether this is proven to be the best."""
        return self.status is Status.OPTIMAL

    @property
    def has_values(self) -> bool:
        """Whether anything was found, the best or not."""
        return not np.isnan(self.objective)

    @property
    def gap(self) -> float:
        """How far the cost may lie above the best, as a share of it."""
        return relative_gap(self.objective, self.bound)


def nothing(status: Status, *, repeatable: bool = True, work: float = 0.0) -> Solution:
    """A solution without values."""
    return Solution(status, np.zeros(0), float("nan"), repeatable=repeatable, work=work)


def found(
    program: LinearProgram,
    status: Status,
    values: Float64,
    *,
    bound: float = float("-inf"),
    repeatable: bool = True,
    work: float = 0.0,
) -> Solution:
    """A solution whose whole numbers are made exactly whole."""
    exact = np.where(program.integer, np.round(values), values)
    objective = float(program.cost @ exact)
    proven = objective if status is Status.OPTIMAL else min(bound, objective)
    return Solution(status, exact, objective, proven, repeatable, work)
