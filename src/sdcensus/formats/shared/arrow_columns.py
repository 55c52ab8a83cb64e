"""Words, numbers and signs of cells as columns of Arrow, and these as csv, some cells at a time."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.formats.write.about import COUNTS, SIGNS, WordColumn
from sdcensus.model.published.table import Mark
from sdcensus.model.text import DANGEROUS, NUMBER

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
    """Published counts, and signs where some cells have none or have one beside them."""
    if flags is None:
        return [(COUNTS, pa.array(values))]
    every, numbers = word_numbers([mark.sign for mark in Mark])
    signs = pa.DictionaryArray.from_arrays(pa.array(numbers[flags]), every)
    missing = np.array([not mark.has_number for mark in Mark])[flags]
    return [(COUNTS, pa.array(values, mask=missing)), (SIGNS, signs)]


_NEEDS_QUOTES = '[",\r\n]'


def write_csv(
    tables: Iterator[pa.Table], file: BinaryIO, *, head: bool = True, guarded: bool = True
) -> None:
    """Write tables one below the other: UTF-8, commas, quotes only where they are needed.

    Numbers are written plainly, what is missing as nothing between two commas.

    Args:
        tables: The tables, of the same columns.
        file: Where to.
        head: Whether names of columns stand above them.
        guarded: Whether a text that could be a formula stands behind an apostrophe. Codes of
            records are read by programs, and have to come back as they are.
    """
    for at, table in enumerate(tables):
        if at == 0 and head:
            names = _quoted(pa.array(table.column_names, pa.string()), guarded=guarded)
            file.write(f"{','.join(names.to_pylist())}\n".encode())
        if not table.num_rows:
            continue
        columns = [_texts(column.combine_chunks(), guarded=guarded) for column in table.columns]
        lines = pc.binary_join_element_wise(*columns, ",") if len(columns) > 1 else columns[0]
        whole = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
        file.write(pc.binary_join(whole, "\n")[0].as_buffer())
        file.write(b"\n")


def _texts(column: Any, *, guarded: bool) -> Any:
    """The values of a column as they stand in the file."""
    if isinstance(column, pa.ChunkedArray):  # of a column that is empty
        column = pa.concat_arrays(column.chunks)
    if pa.types.is_dictionary(column.type):
        return pc.fill_null(_quoted(column.dictionary, guarded=guarded).take(column.indices), "")
    if pa.types.is_string(column.type):
        return pc.fill_null(_quoted(column, guarded=guarded), "")
    return pc.fill_null(column.cast(pa.string()), "")


def _quoted(words: Any, *, guarded: bool) -> Any:
    if guarded:
        dangerous = pc.and_not(
            pc.match_substring_regex(words, DANGEROUS), pc.match_substring_regex(words, NUMBER)
        )
        words = pc.if_else(dangerous, pc.binary_join_element_wise("'", words, ""), words)
    doubled = pc.replace_substring(words, '"', '""')
    wrapped = pc.binary_join_element_wise('"', doubled, '"', "")
    return pc.if_else(pc.match_substring_regex(words, _NEEDS_QUOTES), wrapped, words)


def number_texts(values: npt.NDArray[np.int64], decimals: int) -> pa.Array:
    """Integers as texts with so many of their digits behind a point.

    Examples:
        >>> number_texts(np.array([125, -7, 0]), 2).to_pylist()
        ['1.25', '-0.07', '0.00']
    """
    texts = pa.array(values).cast(pa.string())
    if not decimals:
        return texts
    below = pc.starts_with(texts, "-")
    digits = pc.utf8_lpad(pc.utf8_trim(texts, "-"), decimals + 1, "0")
    whole = pc.utf8_slice_codeunits(digits, 0, -decimals)
    parts = pc.utf8_slice_codeunits(digits, -decimals)
    return pc.binary_join_element_wise(
        pc.if_else(below, "-", ""), pc.binary_join_element_wise(whole, parts, "."), ""
    )
