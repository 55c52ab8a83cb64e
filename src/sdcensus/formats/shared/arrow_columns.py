"""Words, numbers and signs of cells as columns of Arrow, some cells at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sdcensus.formats.write.columns import COUNTS, SIGNS, WordColumn
from sdcensus.model.published.table import Mark

Positions = npt.NDArray[np.int64]
#: The words of a column, each once, and the number of the word for each code of its axis.
WordNumbers = tuple[pa.Array, npt.NDArray[np.int32]]

#: Cells that are held as columns at the same time.
ROWS_AT_A_TIME = 100_000


def word_numbers(words: Sequence[str]) -> WordNumbers:
    """Every word once, for a dictionary, and the number of each word in it.

    Where a dictionary repeats itself, Arrow 26 writes whatever its memory holds into the
    dictionary page of a Parquet file.
    """
    place = {word: number for number, word in enumerate(dict.fromkeys(words))}
    numbers = np.array([place[word] for word in words], dtype=np.int32)
    return pa.array(list(place), pa.string()), numbers


def word_arrays(
    columns: Sequence[WordColumn], words: Sequence[WordNumbers], places: Sequence[Any] | Positions
) -> list[pa.Array]:
    """The words of some cells.

    Args:
        columns: The columns.
        words: Of each column, what ``word_numbers`` makes of its words.
        places: For each axis, the place of the code of each cell.
    """
    return [
        pa.DictionaryArray.from_arrays(pa.array(numbers[places[column.axis]]), every)
        for column, (every, numbers) in zip(columns, words, strict=True)
    ]


def slices(size: int) -> Iterator[slice]:
    """Parts of so many cells; one empty part where there are none, so that columns appear."""
    for start in range(0, max(size, 1), ROWS_AT_A_TIME):
        yield slice(start, min(start + ROWS_AT_A_TIME, size))


def grid_positions(shape: tuple[int, ...], cells: slice) -> Positions:
    """The positions of a run of cells of a grid on each axis, the last axis running fastest."""
    numbers = np.arange(cells.start, cells.stop)
    if not shape:
        return np.zeros((0, numbers.size), dtype=np.int64)
    return np.stack(np.unravel_index(numbers, shape))


def published_values(
    values: npt.NDArray[np.int64], flags: npt.NDArray[np.uint8] | None
) -> list[tuple[str, pa.Array]]:
    """Published counts, and signs where some cells have none."""
    if flags is None:
        return [(COUNTS, pa.array(values))]
    every, numbers = word_numbers([mark.sign for mark in Mark])
    signs = pa.DictionaryArray.from_arrays(pa.array(numbers[flags]), every)
    return [(COUNTS, pa.array(values, mask=flags != 0)), (SIGNS, signs)]
