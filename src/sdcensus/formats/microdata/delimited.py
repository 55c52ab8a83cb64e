"""Records as csv: codes as the schema writes them, numbers with all their digits."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.formats.shared.arrow_columns import number_texts, word_numbers, write_csv
from sdcensus.model.release.release_file import ReleaseColumn, ReleaseTable

ROWS_AT_A_TIME = 100_000


def write_delimited(table: ReleaseTable, file: BinaryIO) -> Iterator[float]:
    """Write a table, and tell after each part how much is done.

    UTF-8, commas, lines that end in a line feed, quotes only where they are needed. What is not
    there is nothing between two commas.
    """
    words = [word_numbers([code.code for code in column.codes]) for column in table.columns]
    names = [column.name for column in table.columns]
    for start in range(0, max(table.rows, 1), ROWS_AT_A_TIME):
        rows = slice(start, min(start + ROWS_AT_A_TIME, table.rows))
        arrays = [
            text_array(column, every, rows)
            for column, every in zip(table.columns, words, strict=True)
        ]
        write_csv(
            iter([pa.Table.from_arrays(arrays, names=names)]),
            file,
            head=start == 0,
            guarded=False,
        )
        yield rows.stop / max(table.rows, 1)


def text_array(column: ReleaseColumn, words: Any, rows: slice) -> Any:
    """The values of some records as texts; null for what is not there."""
    values = column.values[rows]
    absent = None if column.absent is None else column.absent[rows]
    if column.codes:
        every, numbers = words
        return pa.DictionaryArray.from_arrays(pa.array(numbers[values], mask=absent), every)
    texts = number_texts(values.astype(np.int64), column.decimals)
    if absent is None:
        return texts
    return pc.if_else(pa.array(absent), pa.scalar(None, pa.string()), texts)
