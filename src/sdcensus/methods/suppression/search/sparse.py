"""Changes of very many cells, found by a solver: where a tableau would be too large."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.methods.suppression.search.task import Task

Float64 = npt.NDArray[np.float64]
Int64 = npt.NDArray[np.int64]


def farthest_change(
    task: Task, units: Int64, lower: Float64, upper: Float64, at: int, sign: int
) -> Float64:
    """The change of some units, within bounds, that moves one of them as far as possible."""
    cost = np.zeros(units.size)
    cost[at] = -sign
    values = _solved(_sums(task, units), cost, lower, upper)
    return np.zeros(units.size) if values is None else values


def cheapest_change(
    task: Task,
    units: Int64,
    lower: Float64,
    upper: Float64,
    slope: Float64,
    at: int,
    amount: int,
) -> Float64 | None:
    """The change of some units that moves one of them so far at the least cost."""
    from scipy.sparse import hstack

    if not lower[at] <= amount <= upper[at]:
        return None
    sums = _sums(task, units)
    low, high = lower.copy(), upper.copy()
    low[at] = high[at] = amount
    # Every unit goes up or down, and pays for both.
    up = np.maximum(low, 0.0), np.maximum(high, 0.0)
    down = np.maximum(-high, 0.0), np.maximum(-low, 0.0)
    values = _solved(
        hstack([sums, -sums], format="csr"),
        np.concatenate([slope, slope]),
        np.concatenate([up[0], down[0]]),
        np.concatenate([up[1], down[1]]),
    )
    return None if values is None else values[: units.size] - values[units.size :]


def _sums(task: Task, units: Int64) -> Any:
    sums = task.columns[:, units].tocsr()
    return sums[np.flatnonzero(np.diff(sums.indptr))]


def _solved(sums: Any, cost: Float64, lower: Float64, upper: Float64) -> Float64 | None:
    from scipy.optimize import linprog

    result = linprog(
        cost,
        A_eq=sums if sums.shape[0] else None,
        b_eq=np.zeros(sums.shape[0]) if sums.shape[0] else None,
        bounds=np.stack([lower, upper], axis=1),
        method="highs",
    )
    return None if result.x is None else np.asarray(result.x)
