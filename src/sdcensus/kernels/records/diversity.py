"""What classes of records that look alike still tell about a sensitive variable."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Integers = npt.NDArray[Any]
Int64 = npt.NDArray[np.int64]
Floats = npt.NDArray[np.float64]
Mask = npt.NDArray[np.bool_]

#: Rounding of sums of logarithms must not make classes fail.
TOLERANCE = 1e-9


@compiled
def class_measures(
    starts: Int64,
    order: Integers,
    values: Integers,
    first: Int64,
    others: Integers,
    file_shares: Floats,
    ordered: bool,
    apart: int,
    least: int,
    weight: float,
    counted: Int64,
    distinct: Int64,
    effective: Floats,
    recursive: Mask,
    distances: Floats,
) -> None:
    """Measure each class: a cell of keys, with the cells whose records may be in it.

    Args:
        starts: Where the records of each cell begin in ``order``, and the end of the last.
        order: The records, cell by cell.
        values: The sensitive value of each record; below 0 for one that is not known.
        first: Where the other cells of each class begin in ``others``, and the end of the last.
        others: Those cells.
        file_shares: The share of each value in the file.
        ordered: Whether values have an order.
        apart: The first of the values that stand outside the order.
        least: l of recursive diversity.
        weight: c of recursive diversity.
        counted, distinct, effective, recursive, distances: The results by cell: how many records
            tell their value, how many values there are, exp of the entropy, whether the most
            frequent value is rare enough, the distance from the file.
    """
    counts = np.zeros(file_shares.size, dtype=np.int64)
    for cell in range(starts.size - 1):
        total = _added(starts, order, values, cell, counts)
        for at in range(first[cell], first[cell + 1]):
            total += _added(starts, order, values, others[at], counts)
        counted[cell] = total
        entropy = 0.0
        for value in range(counts.size):
            if counts[value] > 0:
                distinct[cell] += 1
                share = counts[value] / total
                entropy -= share * np.log(share)
        effective[cell] = np.exp(entropy)
        recursive[cell] = total == 0 or _is_recursive(counts, least, weight)
        if total > 0:
            distances[cell] = _distance(counts, total, file_shares, ordered, apart)
        counts[:] = 0


@compiled
def _added(starts: Int64, order: Integers, values: Integers, cell: int, counts: Int64) -> int:
    """Count the values of a cell; how many there are."""
    total = 0
    for at in range(starts[cell], starts[cell + 1]):
        value = values[order[at]]
        if value >= 0:
            counts[value] += 1
            total += 1
    return total


@compiled
def _is_recursive(counts: Int64, least: int, weight: float) -> bool:
    ranked = np.sort(counts)[::-1]
    rest = 0
    for at in range(least - 1, ranked.size):
        rest += ranked[at]
    return bool(ranked[0] < weight * rest)


@compiled
def _distance(counts: Int64, total: int, shares: Floats, ordered: bool, apart: int) -> float:
    """Half the sum of differences; in an order the sum of cumulative ones by its steps.

    Values outside the order count by themselves; the larger of both distances is told.
    """
    if not ordered:
        distance = 0.0
        for value in range(counts.size):
            distance += abs(counts[value] / total - shares[value])
        return float(distance / 2)
    inside, inside_share = counts[:apart].sum(), shares[:apart].sum()
    outside = 0.0
    for value in range(apart, counts.size):
        outside += abs(counts[value] / total - shares[value])
    outside = (outside + abs(inside / total - inside_share)) / 2
    if inside == 0 or apart < 2:
        return float(outside)
    mine, theirs, distance = 0.0, 0.0, 0.0
    for value in range(apart):
        mine += counts[value] / inside
        theirs += shares[value] / inside_share
        distance += abs(mine - theirs)
    return float(max(outside, distance / (apart - 1)))
