"""The cells of a grid as lines of a text file, without a look at single cells."""

from __future__ import annotations

from collections.abc import Sequence
from typing import BinaryIO

import numpy as np
import numpy.typing as npt

from sdcensus.kernels.text.lines import LONGEST_NUMBER, put_grid_lines
from sdcensus.model.published.table import Mark

Bytes = npt.NDArray[np.uint8]
Int64 = npt.NDArray[np.int64]

#: Bytes of lines that are held before they are written.
BUFFER = 8 << 20


def packed(words: Sequence[str]) -> tuple[Bytes, Int64]:
    """Words one behind the other as bytes, and where each begins and the last one ends."""
    made = [word.encode() for word in words]
    starts = np.zeros(len(made) + 1, dtype=np.int64)
    np.cumsum([len(one) for one in made], out=starts[1:])
    return np.frombuffer(b"".join(made), dtype=np.uint8), starts


def write_lines(
    file: BinaryIO,
    columns: Sequence[tuple[int, Sequence[str]]],
    values: Int64,
    marks: Bytes | None,
    endings: Sequence[str],
    decimals: int,
) -> None:
    """Write one line for each cell of a grid, the last axis running fastest.

    Args:
        file: Where to.
        columns: The number of an axis, and what stands for each of its codes, separators included.
        values: The cells, one dimension for each axis.
        marks: Their marks; ``None`` for none, and then nothing stands behind a number.
        endings: What stands behind the number for each mark, separators included.
        decimals: How many of the digits of a value stand behind the point.
    """
    if not values.size:
        return
    words, starts = packed([word for _, one in columns for word in one])
    sizes = [len(one) for _, one in columns]
    ends, end_starts = packed(endings)
    longest = LONGEST_NUMBER + decimals + 1
    longest += 0 if marks is None else int(np.diff(end_starts).max())
    longest += sum(max(len(word.encode()) for word in one) for _, one in columns)
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
            np.cumsum([0, *sizes], dtype=np.int64)[:-1],
            np.array([axis for axis, _ in columns], dtype=np.int64),
            np.ascontiguousarray(values).reshape(-1),
            np.zeros(0, dtype=np.uint8) if marks is None else np.ravel(marks),
            ends,
            end_starts,
            np.array([mark.has_number for mark in Mark]),
            decimals,
        )
        file.write(buffer[:used].data)
