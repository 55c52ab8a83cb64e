"""Columns and rows that are the same: each is worked at once."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.elimination.basis import Columns, Int64

UInt64 = npt.NDArray[np.uint64]


def marks(numbers: Int64) -> UInt64:
    """Two words for each number that look drawn, the same on every machine (splitmix64)."""
    with np.errstate(over="ignore"):
        state = numbers.astype(np.uint64)[:, None] * np.uint64(2) + np.arange(1, 3).astype(
            np.uint64
        )
        state *= np.uint64(0x9E3779B97F4A7C15)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray(state ^ (state >> np.uint64(31)))


def same_columns(columns: Columns) -> tuple[Int64, Int64]:
    """Columns with the same numbers in the same rows, as groups.

    Returns:
        For each group its first column, and for each column its group. Groups stand in the order
        of their first columns. Columns are told apart by sums of words in 128 bits.
    """
    size = columns.starts.size - 1
    sums = np.zeros((size, 2), dtype=np.uint64)
    owners = np.repeat(np.arange(size), np.diff(columns.starts))
    with np.errstate(over="ignore"):
        words = marks(columns.rows) * columns.values.astype(np.uint64)[:, None]
        np.add.at(sums, owners, words)
    return _groups(sums)


def same_rows(columns: Columns, height: int) -> tuple[Int64, Int64]:
    """Rows with the same numbers in the same columns, as groups; as for columns."""
    sums = np.zeros((height, 2), dtype=np.uint64)
    owners = np.repeat(np.arange(columns.starts.size - 1), np.diff(columns.starts))
    with np.errstate(over="ignore"):
        words = marks(owners) * columns.values.astype(np.uint64)[:, None]
        np.add.at(sums, columns.rows, words)
    return _groups(sums)


def _groups(sums: UInt64) -> tuple[Int64, Int64]:
    _, first, group = np.unique(sums, axis=0, return_index=True, return_inverse=True)
    order = np.argsort(first, kind="stable")
    place = np.empty_like(order)
    place[order] = np.arange(order.size)
    return first[order].astype(np.int64), place[group.reshape(-1)].astype(np.int64)


def chosen_columns(columns: Columns, chosen: Int64) -> Columns:
    """Some of the columns, in the order in which they are named."""
    lengths = np.diff(columns.starts)[chosen]
    starts = np.zeros(chosen.size + 1, dtype=np.int64)
    np.cumsum(lengths, out=starts[1:])
    places = np.repeat(columns.starts[chosen] - starts[:-1], lengths) + np.arange(starts[-1])
    return Columns(starts, columns.rows[places], columns.values[places])


def with_rows(columns: Columns, kept: Int64, height: int) -> Columns:
    """The columns with only those rows, numbered in the order in which they are named."""
    number = np.full(height, -1, dtype=np.int64)
    number[kept] = np.arange(kept.size)
    rows = number[columns.rows]
    held = rows >= 0
    before = np.zeros(held.size + 1, dtype=np.int64)
    np.cumsum(held, out=before[1:])
    return Columns(before[columns.starts], rows[held], columns.values[held])
