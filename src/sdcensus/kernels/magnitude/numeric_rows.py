"""Numeric perturbation tables: rows at anchors, on a grid, and what lies between two rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.perturbation.lookup import LookupRows, frozen

Int64 = npt.NDArray[np.int64]
UInt64 = npt.NDArray[np.uint64]

#: Heights, shares and factors are whole numbers of billionths.
BILLION = 10**9
_BILLION = np.uint64(BILLION)

#: The anchors of a table; for each the deviations and widths of its row; the step of its grid.
Table = tuple[Sequence[int], Sequence[tuple[Sequence[int], Sequence[int]]], int]


class NumericRows(NamedTuple):
    """Numeric tables as flat arrays, one table after the other.

    Attributes:
        uppers, values, guide, shift: Every row, as ``LookupRows`` has them; a row has the number
            of its anchor.
        anchors: The anchors of all tables, ascending within each.
        first: Where the anchors of each table begin, and where the last one ends.
        steps: For each table, how many steps of its grid make one.
    """

    uppers: UInt64
    values: Int64
    guide: npt.NDArray[np.int32]
    shift: np.uint64
    anchors: Int64
    first: Int64
    steps: Int64

    @classmethod
    def build(cls, tables: Sequence[Table], modulus: int) -> NumericRows:
        """Put tables behind each other."""
        rows = [row for _, table_rows, _ in tables for row in table_rows]
        lookup = LookupRows.build(rows, modulus, start=len(rows))
        anchors = [anchor for table_anchors, _, _ in tables for anchor in table_anchors]
        first = np.cumsum([0, *(len(table_anchors) for table_anchors, _, _ in tables)])
        return cls(
            lookup.uppers,
            lookup.values,
            lookup.guide,
            np.uint64(lookup.shift),
            frozen(np.array(anchors, dtype=np.int64)),
            frozen(first.astype(np.int64)),
            frozen(np.array([step for _, _, step in tables], dtype=np.int64)),
        )


@compiled
def _at_row(row: int, key: np.uint64, rows: NumericRows) -> int:
    at = rows.guide[row, key >> rows.shift]
    while key >= rows.uppers[at]:
        at += 1
    return rows.values[at]  # type: ignore[no-any-return]


@compiled
def deviation(height: np.uint64, table: int, key: np.uint64, rows: NumericRows) -> int:
    """The deviation at a height, in billionths of a step of the grid.

    At an anchor it is that of its row, above the last one that of the last row; between two
    anchors, and between 0 (where nothing is added) and the first, it lies on the line.
    """
    begin, end = rows.first[table], rows.first[table + 1]
    row = begin
    while row < end and np.uint64(rows.anchors[row]) * _BILLION < height:
        row += 1
    if row == end:
        return _at_row(end - 1, key, rows) * 1_000_000_000
    lower, below = 0, 0
    if row > begin:
        lower, below = rows.anchors[row - 1], _at_row(row - 1, key, rows)
    gap = rows.anchors[row] - lower
    share = (np.int64(height) - lower * 1_000_000_000 + gap // 2) // gap
    above = _at_row(row, key, rows)
    return below * (1_000_000_000 - share) + above * share  # type: ignore[no-any-return]
