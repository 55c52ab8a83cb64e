"""Delivered tables as Parquet: typed columns, and what is known about them in the metadata."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sdcensus.formats.read.raw import METADATA
from sdcensus.formats.shared.files import new_file
from sdcensus.formats.tables.columns import grid_positions, word_numbers
from sdcensus.formats.write.about import about_document, delivered_about
from sdcensus.formats.write.columns import SIGNS, WordColumn, values_name, word_columns
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.marks import Mark

#: Cells of a row group.
ROW_GROUP = 1 << 19


def write(
    table: DeliveredTable, folder: Path, *, languages: tuple[str, ...], labels: bool
) -> tuple[Path, ...]:
    """Write ``NAME.parquet``: dictionary columns of words, numbers, signs where there are any.

    Whole numbers are integers of 64 bits; figures with digits behind the point are the nearest
    numbers of double precision. A cell without a number has none.
    """
    columns = word_columns(table.axes, languages=languages, labels=labels)
    schema = _schema(table, columns)
    target = folder / f"{table.name}.parquet"
    with new_file(target) as file, pq.ParquetWriter(file, schema) as writer:
        for piece in _pieces(table, columns, schema):
            writer.write_table(piece, row_group_size=ROW_GROUP)
    return (target,)


def _schema(table: DeliveredTable, columns: Sequence[WordColumn]) -> Any:
    words = pa.dictionary(pa.int32(), pa.string())
    number = pa.float64() if table.decimals else pa.int64()
    fields = [pa.field(one.name, words, nullable=False) for one in columns]
    fields.append(pa.field(values_name(table.decimals), number))
    if table.marks is not None:
        fields.append(pa.field(SIGNS, words, nullable=False))
    return pa.schema(fields, {METADATA: about_document(delivered_about(table))})


def _pieces(table: DeliveredTable, columns: Sequence[WordColumn], schema: Any) -> Iterator[Any]:
    lists = [word_numbers(one.words) for one in columns]
    signs, sign_numbers = word_numbers([table.sign(mark) for mark in Mark])
    numbered = np.array([mark.has_number for mark in Mark])
    values = table.values.reshape(-1)
    marks = None if table.marks is None else table.marks.reshape(-1)
    for start in range(0, max(values.size, 1), ROW_GROUP):
        cells = slice(start, min(start + ROW_GROUP, values.size))
        at = grid_positions(table.shape, cells)
        arrays = [
            pa.DictionaryArray.from_arrays(numbers[at[one.axis]], words)
            for one, (words, numbers) in zip(columns, lists, strict=True)
        ]
        found = values[cells]
        shown = found / 10.0**table.decimals if table.decimals else found
        if marks is None:
            arrays.append(pa.array(shown))
        else:
            arrays.append(pa.array(shown, mask=~numbered[marks[cells]]))
            arrays.append(pa.DictionaryArray.from_arrays(sign_numbers[marks[cells]], signs))
        yield pa.Table.from_arrays(arrays, schema=schema)
