"""Records as Parquet: codes as dictionaries of texts, numbers, and labels in the metadata."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from sdcensus.formats.microdata.delimited import ROWS_AT_A_TIME, text_array
from sdcensus.formats.shared.arrow_columns import word_numbers
from sdcensus.model.release.release_file import ReleaseColumn, ReleaseFile, ReleaseTable
from sdcensus.model.text import Text

#: Where labels stand in the metadata of the file.
LABELS = b"sdcensus.microdata"


def write_columnar(
    file: ReleaseFile, table: ReleaseTable, languages: Sequence[str], target: BinaryIO
) -> Iterator[float]:
    """Write a table, and tell after each part how much is done."""
    fields = [pa.field(column.name, _type(column)) for column in table.columns]
    schema = pa.schema(fields, {LABELS: _labels(file, table, languages)})
    words = [word_numbers([code.code for code in column.codes]) for column in table.columns]
    with pq.ParquetWriter(target, schema) as writer:
        for start in range(0, max(table.rows, 1), ROWS_AT_A_TIME):
            rows = slice(start, min(start + ROWS_AT_A_TIME, table.rows))
            arrays = [
                _array(column, every, rows)
                for column, every in zip(table.columns, words, strict=True)
            ]
            writer.write_table(pa.Table.from_arrays(arrays, schema=schema))
            yield rows.stop / max(table.rows, 1)


def _type(column: ReleaseColumn) -> Any:
    if column.codes:
        return pa.dictionary(pa.int32(), pa.string())
    return pa.float64() if column.decimals else pa.int64()


def _array(column: ReleaseColumn, words: Any, rows: slice) -> Any:
    if column.codes:
        return text_array(column, words, rows)
    values = column.values[rows].astype(np.int64)
    shown = values / 10.0**column.decimals if column.decimals else values
    return pa.array(shown, mask=None if column.absent is None else column.absent[rows])


def _labels(file: ReleaseFile, table: ReleaseTable, languages: Sequence[str]) -> bytes:
    def spoken(text: Text) -> dict[str, str]:
        return {language: text.show(language) for language in languages} if text else {}

    document = {
        "title": spoken(file.title),
        "variables": [
            {
                "name": column.name,
                "label": spoken(column.label),
                "decimals": column.decimals,
                "codes": [
                    {"code": code.code, "kind": code.kind.value, "label": spoken(code.label)}
                    for code in column.codes
                ],
            }
            for column in table.columns
        ],
    }
    return json.dumps(document, ensure_ascii=False, separators=(",", ":")).encode()
