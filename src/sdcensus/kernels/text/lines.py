"""Cells as lines of text: words that are ready, numbers that are formatted here.

Each column of words stands in one long array of bytes, one word behind the other with its
separator; ``starts`` says where each begins and, one further, where it ends.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.kernels._compile import compiled

Bytes = npt.NDArray[np.uint8]
Int64 = npt.NDArray[np.int64]

#: A number of 64 bits has a sign, nineteen digits and a point.
LONGEST_NUMBER = 24

_NEWLINE, _MINUS, _POINT, _ZERO = 10, 45, 46, 48


@compiled
def put_number(out: Bytes, at: int, value: int, decimals: int) -> int:
    """Write a number with so many of its digits behind a point; returns where it ends."""
    left = np.uint64(value)
    if value < 0:
        out[at] = _MINUS
        at += 1
        left = np.uint64(0) - left
    digits = 1
    reach = np.uint64(10)
    while digits < 20 and left >= reach:
        digits += 1
        if digits < 20:
            reach *= np.uint64(10)
    digits = max(digits, decimals + 1)
    end = at + digits + (1 if decimals else 0)
    place = end
    for number in range(digits):
        if decimals and number == decimals:
            place -= 1
            out[place] = _POINT
        place -= 1
        higher = left // np.uint64(10)
        out[place] = np.uint8(_ZERO + (left - higher * np.uint64(10)))
        left = higher
    return end


@compiled
def put_grid_lines(
    out: Bytes,
    first: int,
    last: int,
    shape: Int64,
    words: Bytes,
    starts: Int64,
    columns: Int64,
    axes: Int64,
    values: Int64,
    marks: Bytes,
    sign_words: Bytes,
    sign_starts: Int64,
    numbered: npt.NDArray[Any],
    decimals: int,
) -> int:
    """Write one line for each cell of a grid from ``first`` to before ``last``.

    Args:
        out: Where the lines go; large enough for all of them.
        first, last: Numbers of cells, the last axis running fastest.
        shape: How many codes each axis has.
        words, starts: The words of all columns.
        columns: For each column, where its first word stands in ``starts``.
        axes: For each column, the axis whose codes it shows.
        values: The values of all cells.
        marks: The marks of all cells; empty where none has one, and then no line ends in a sign.
        sign_words, sign_starts: What is written for each mark, its separator included.
        numbered: For each mark, whether a number stands beside it.
        decimals: How many digits stand behind the point.

    Returns:
        How many bytes were written.
    """
    places = np.zeros(max(shape.size, 1), dtype=np.int64)
    left = first
    for axis in range(shape.size - 1, -1, -1):
        places[axis] = left % shape[axis]
        left //= shape[axis]
    # The columns in front that only the last axis does not touch are copied from the line before.
    fixed = 0
    while fixed < axes.size and axes[fixed] != shape.size - 1:
        fixed += 1
    at, fixed_from, fixed_to = 0, 0, -1
    for cell in range(first, last):
        line = at
        if fixed_to < 0:
            for column in range(fixed):
                word = columns[column] + places[axes[column]]
                for byte in range(starts[word], starts[word + 1]):
                    out[at] = words[byte]
                    at += 1
            fixed_from, fixed_to = line, at
        else:
            for byte in range(fixed_from, fixed_to):
                out[at] = out[byte]
                at += 1
        for column in range(fixed, axes.size):
            word = columns[column] + places[axes[column]]
            for byte in range(starts[word], starts[word + 1]):
                out[at] = words[byte]
                at += 1
        if marks.size == 0:
            at = put_number(out, at, values[cell], decimals)
        else:
            mark = marks[cell]
            if numbered[mark]:
                at = put_number(out, at, values[cell], decimals)
            for byte in range(sign_starts[mark], sign_starts[mark + 1]):
                out[at] = sign_words[byte]
                at += 1
        out[at] = _NEWLINE
        at += 1
        for axis in range(shape.size - 1, -1, -1):
            places[axis] += 1
            if places[axis] < shape[axis]:
                break
            places[axis] = 0
            fixed_to = -1  # another axis moves on, or the grid ends
    return at
