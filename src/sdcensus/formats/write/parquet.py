"""Delivered tables as Parquet: typed columns, and what is known about them in the metadata."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sdcensus.formats.read.raw import METADATA
from sdcensus.formats.shared.arrow_columns import grid_positions, word_arrays, word_numbers
from sdcensus.formats.write import new_file
from sdcensus.formats.write.about import (
    SIGNS,
    WordColumn,
    about_document,
    delivered_about,
    values_name,
    word_columns,
)
from sdcensus.model.cube.streamed_cells import PublishedCells
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.table import Mark
from sdcensus.model.published.table_format import TableFormat
from sdcensus.model.text import Text

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
    fields = [pa.field(column.name, words, nullable=False) for column in columns]
    fields.append(pa.field(values_name(table.decimals), number))
    if table.marks is not None:
        fields.append(pa.field(SIGNS, words, nullable=False))
    return pa.schema(fields, {METADATA: about_document(delivered_about(table))})


def _pieces(table: DeliveredTable, columns: Sequence[WordColumn], schema: Any) -> Iterator[Any]:
    lists = [word_numbers(column.words) for column in columns]
    signs, sign_numbers = word_numbers([table.sign(mark) for mark in Mark])
    numbered = np.array([mark.has_number for mark in Mark])
    values = table.values.reshape(-1)
    marks = None if table.marks is None else table.marks.reshape(-1)
    for start in range(0, max(values.size, 1), ROW_GROUP):
        cells = slice(start, min(start + ROW_GROUP, values.size))
        arrays = word_arrays(columns, lists, grid_positions(table.shape, cells))
        numbers = values[cells]
        shown = numbers / 10.0**table.decimals if table.decimals else numbers
        if marks is None:
            arrays.append(pa.array(shown))
        else:
            arrays.append(pa.array(shown, mask=~numbered[marks[cells]]))
            arrays.append(pa.DictionaryArray.from_arrays(sign_numbers[marks[cells]], signs))
        yield pa.Table.from_arrays(arrays, schema=schema)


class _Groups:
    """Row groups of a Parquet file, of cells that come part by part."""

    __slots__ = ("_columns", "_schema", "_words", "_writer")

    def __init__(self, table: Any, columns: Sequence[WordColumn], file: BinaryIO) -> None:
        words = pa.dictionary(pa.int32(), pa.string())
        fields = [pa.field(column.name, words, nullable=False) for column in columns]
        fields.append(pa.field(values_name(0), pa.int64()))
        self._schema = pa.schema(fields, {METADATA: table.about()})
        self._columns = columns
        self._words = [word_numbers(column.words) for column in columns]
        self._writer: Any = pq.ParquetWriter(file, self._schema)

    def __enter__(self) -> Callable[[PublishedCells], None]:
        return self.put

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def put(self, cells: PublishedCells) -> None:
        """Write some cells as one row group."""
        arrays = word_arrays(self._columns, self._words, cells.places)
        arrays.append(pa.array(cells.published))
        piece = pa.Table.from_arrays(arrays, schema=self._schema)
        self._writer.write_table(piece, row_group_size=len(cells))


PARQUET = TableFormat(
    name="parquet",
    label="Parquet",
    about=Text.named("files.about.parquet"),
    endings=(".parquet",),
    media_type="application/vnd.apache.parquet",
    accepts=("application/x-parquet",),
    label_columns=True,
    seconds_per_cell=0.2e-6,
    bytes_per_cell=2,
    stream=_Groups,
    write=write,
)
