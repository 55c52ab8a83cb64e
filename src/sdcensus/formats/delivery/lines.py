"""The cells of a grid as lines of a csv file, without a look at single cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from sdcensus.formats.delivery.delimited import BUFFER, packed
from sdcensus.kernels.lines import LONGEST_NUMBER, put_grid_lines
from sdcensus.model.marks import Mark


def write_grid_lines(
    file: BinaryIO,
    columns: Sequence[Sequence[str]],
    values: npt.NDArray[np.int64],
    marks: npt.NDArray[np.uint8],
    endings: Sequence[str],
    decimals: int,
) -> None:
    """Write one line for each cell, the last axis running fastest.

    Args:
        file: Where to.
        columns: For each axis, what stands for each of its codes, separators included.
        values, marks: The cells, one dimension for each axis.
        endings: What stands behind the number for each mark, separators included.
        decimals: How many of the digits of a value stand behind the point.
    """
    if not values.size:
        return
    words, starts = packed([word for one in columns for word in one])
    sizes = [len(one) for one in columns]
    ends, end_starts = packed(endings)
    longest = LONGEST_NUMBER + decimals + 1 + int(np.diff(end_starts).max())
    longest += sum(max(len(word.encode()) for word in one) for one in columns)
    buffer = np.empty(max(BUFFER, longest), dtype=np.uint8)
    at_a_time = buffer.size // longest
    for first in range(0, values.size, at_a_time):
        used = put_grid_lines(
            buffer,
            first,
            min(first + at_a_time, values.size),
            np.array(values.shape, dtype=np.int64),
            words,
            starts,
            np.cumsum([0, *sizes[:-1]], dtype=np.int64),
            np.arange(len(sizes), dtype=np.int64),
            np.ascontiguousarray(values).reshape(-1),
            np.ascontiguousarray(marks).reshape(-1),
            ends,
            end_starts,
            np.array([mark.has_number for mark in Mark]),
            decimals,
        )
        file.write(buffer[:used].data)
