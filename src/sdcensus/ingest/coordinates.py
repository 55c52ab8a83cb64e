"""Points of a map: coordinates from columns of a file, and the cell of a grid that each lies in."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.model.schema.grids import GridSpec

Integers = npt.NDArray[Any]

#: A coordinate as text, with a point as its decimal mark.
_COORDINATE = r"^-?([0-9]+[.]?[0-9]*|[.][0-9]+)([eE][+-]?[0-9]{1,3})?$"
_FARTHEST = 1e15


def grid_positions(
    grid: GridSpec, x: Integers, y: Integers, unallocated: int
) -> tuple[Integers, Integers]:
    """The cell of each point, row by row from the south-west; and which lie outside.

    Points without coordinates, marked by NaN, are unallocated.
    """
    absent = np.isnan(x) | np.isnan(y)
    # No integer is as large as some floats: far outside is outside.
    x, y = (np.clip(np.where(absent, 0.0, line), -_FARTHEST, _FARTHEST) for line in (x, y))
    # Division by remainder: a point just west of an edge stays west of it.
    column = np.floor_divide(x, grid.cell).astype(np.int64) - grid.first_column
    row = np.floor_divide(y, grid.cell).astype(np.int64) - grid.first_row
    outside = (column < 0) | (column >= grid.across) | (row < 0) | (row >= grid.up)
    outside &= ~absent
    cells = row * grid.across + column
    return np.where(absent | outside, unallocated, cells), outside


def coordinates(array: pa.Array, decimal_mark: str = ".") -> tuple[Integers, Integers]:
    """Numbers, NaN for an empty field; and which fields are not numbers."""
    if pa.types.is_string(array.type):
        text = pc.utf8_trim_whitespace(array)
        plain = pc.match_substring_regex(text, _COORDINATE.replace("[.]", f"[{decimal_mark}]"))
        text = pc.replace_substring(text, decimal_mark, ".")
        bad = pc.and_(pc.is_valid(text), pc.invert(pc.fill_null(plain, False)))
        array = pc.if_else(pc.fill_null(plain, False), text, None).cast(pa.float64())
        return (
            array.to_numpy(zero_copy_only=False),
            bad.to_numpy(zero_copy_only=False).astype(bool),
        )
    numbers = array.cast(pa.float64()).to_numpy(zero_copy_only=False)
    return numbers, np.zeros(len(array), dtype=bool)
