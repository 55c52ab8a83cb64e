"""Cells that are listed by their places, as lines of text."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled
from sdcensus.kernels.text.lines import put_number

Bytes = npt.NDArray[np.uint8]
Int64 = npt.NDArray[np.int64]

_NEWLINE = 10


@compiled
def put_cell_lines(
    out: Bytes,
    places: npt.NDArray[Any],
    words: Bytes,
    starts: Int64,
    columns: Int64,
    axes: Int64,
    values: Int64,
) -> int:
    """Write one line for each cell: its words, then its value; returns how many bytes it took.

    Args:
        out: Where the lines go; large enough for all of them.
        places: The place of each cell on each axis; a row for each axis.
        words, starts: The words of all columns one behind the other, each with its separator, and
            where each begins and, one further, ends.
        columns: For each column, where its first word stands in ``starts``.
        axes: For each column, the axis whose codes it shows.
        values: The value of each cell.
    """
    at = 0
    for cell in range(values.size):
        for column in range(axes.size):
            word = columns[column] + places[axes[column], cell]
            for one in range(starts[word], starts[word + 1]):
                out[at] = words[one]
                at += 1
        at = put_number(out, at, values[cell], 0)
        out[at] = _NEWLINE
        at += 1
    return at
