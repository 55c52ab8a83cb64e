"""Columns of Arrow as csv, without a look at single cells."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.model.text import DANGEROUS, NUMBER

_NEEDS_QUOTES = '[",\r\n]'


def write_csv(tables: Iterator[pa.Table], file: BinaryIO) -> None:
    """Write tables one below the other: UTF-8, commas, quotes only where they are needed.

    Numbers are written plainly, what is missing as nothing between two commas. A text that could
    be a formula stands behind an apostrophe.
    """
    for at, table in enumerate(tables):
        if at == 0:
            names = _quoted(pa.array(table.column_names, pa.string()))
            file.write(f"{','.join(names.to_pylist())}\n".encode())
        if not table.num_rows:
            continue
        columns = [_texts(column.combine_chunks()) for column in table.columns]
        lines = pc.binary_join_element_wise(*columns, ",") if len(columns) > 1 else columns[0]
        whole = pa.ListArray.from_arrays(pa.array([0, len(lines)], pa.int32()), lines)
        file.write(pc.binary_join(whole, "\n")[0].as_buffer())
        file.write(b"\n")


def _texts(column: Any) -> Any:
    """The values of a column as they stand in the file."""
    if isinstance(column, pa.ChunkedArray):  # of a column that is empty
        column = pa.concat_arrays(column.chunks)
    if pa.types.is_dictionary(column.type):
        return pc.fill_null(_quoted(column.dictionary).take(column.indices), "")
    if pa.types.is_string(column.type):
        return pc.fill_null(_quoted(column), "")
    return pc.fill_null(column.cast(pa.string()), "")


def _quoted(words: Any) -> Any:
    dangerous = pc.and_not(
        pc.match_substring_regex(words, DANGEROUS), pc.match_substring_regex(words, NUMBER)
    )
    words = pc.if_else(dangerous, pc.binary_join_element_wise("'", words, ""), words)
    doubled = pc.replace_substring(words, '"', '""')
    wrapped = pc.binary_join_element_wise('"', doubled, '"', "")
    return pc.if_else(pc.match_substring_regex(words, _NEEDS_QUOTES), wrapped, words)
