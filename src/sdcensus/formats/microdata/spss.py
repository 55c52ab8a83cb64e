"""Records as an SPSS system file: numbers and texts with labels and user-missing values.

The file is not compressed, so that its records are written as they lie in memory. Texts are UTF-8.
"""

from __future__ import annotations

import math
import struct
import sys
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from sdcensus.formats.microdata.encoding import SPSS_MISSING, SPSS_SHORT_TEXT
from sdcensus.formats.microdata.file_date import short_months
from sdcensus.formats.microdata.labelled import (
    LabelledColumn,
    LabelledTable,
    float_values,
    is_text,
)
from sdcensus.model.release.release_file import ColumnKind

#: Records that are laid out at the same time.
ROWS_AT_A_TIME = 50_000
_NUMBER, _TEXT = 5, 1
_NOMINAL, _SCALE = 1, 3
_NO_VALUE = -sys.float_info.max
_PRODUCT = b"@(#) SPSS DATA FILE sdcensus"


def write_spss(table: LabelledTable, file: BinaryIO) -> Iterator[float]:
    """Write a table, and tell after each part how much is done."""
    columns = table.columns
    file.write(_head(table))
    for column, short in zip(columns, _short_names(columns), strict=True):
        file.write(_variable(column, short))
    file.write(_value_labels(columns))
    file.write(_facts(table))
    file.write(struct.pack("<ii", 999, 0))
    layout = _record(columns)
    for start in range(0, table.rows, ROWS_AT_A_TIME):
        rows = slice(start, min(start + ROWS_AT_A_TIME, table.rows))
        records = np.zeros(rows.stop - rows.start, dtype=layout)
        for place, column in enumerate(columns):
            records[f"c{place}"] = _values(column, rows)
        file.write(records.tobytes())
        yield rows.stop / table.rows


def _width(column: LabelledColumn) -> int:
    """How many bytes a text has; 0 for numbers."""
    if not is_text(column):
        return 0
    return max(1, *(len(code.code.encode()) for code in column.column.codes))


def _blocks(column: LabelledColumn) -> int:
    return max(1, math.ceil(_width(column) / 8))


def _record(columns: Sequence[LabelledColumn]) -> np.dtype[np.void]:
    fields: list[tuple[str, str]] = []
    for place, column in enumerate(columns):
        kind = f"S{8 * _blocks(column)}" if is_text(column) else "<f8"
        fields.append((f"c{place}", kind))
    return np.dtype(fields)


def _values(column: LabelledColumn, rows: slice) -> npt.NDArray[Any]:
    encoding = column.encoding
    if encoding is None:
        numbers = float_values(column, rows)
        return np.where(np.isnan(numbers), _NO_VALUE, numbers)
    places = column.column.values[rows].astype(np.int64)
    absent = column.column.absent
    if is_text(column):
        size = 8 * _blocks(column)
        words = [str(value).encode().ljust(size) for value in encoding.values]
        texts = np.array([*words, b" " * size], dtype=f"S{size}")
        if absent is not None:
            places = np.where(absent[rows], len(words), places)
        return texts[places]
    values = np.array([*encoding.values, _NO_VALUE], dtype=np.float64)
    if absent is not None:
        places = np.where(absent[rows], len(encoding.values), places)
    return values[places]


def _head(table: LabelledTable) -> bytes:
    months = short_months(table.date)
    date = f"{months[0]:02d} {months[1]} {months[2] % 100:02d}" if months else "01 Jan 00"
    return (
        b"$FL2"
        + _PRODUCT.ljust(60)
        + struct.pack(
            "<iiiiid",
            2,
            sum(map(_blocks, table.columns)),
            0,
            0,
            table.rows if table.rows < 1 << 31 else -1,
            100.0,
        )
        + date.encode()
        + b"00:00:00"
        + table.title.encode().ljust(64)
        + bytes(3)
    )


def _short_names(columns: Sequence[LabelledColumn]) -> list[str]:
    return [f"V{number}" for number in range(1, len(columns) + 1)]


def _format(column: LabelledColumn) -> int:
    width = _width(column)
    if width:
        return _TEXT << 16 | width << 8
    if column.encoding is not None:
        longest = max((len(str(value)) for value in column.encoding.values), default=1)
        return _NUMBER << 16 | max(longest, 2) << 8
    values, decimals = column.column.values, column.column.decimals
    largest = max(abs(int(values.max())), abs(int(values.min()))) if values.size else 0
    return _NUMBER << 16 | min(max(len(str(largest)) + 2, decimals + 4), 40) << 8 | decimals


def _variable(column: LabelledColumn, short: str) -> bytes:
    width, form = _width(column), _format(column)
    missing = _missing(column)
    count = 0 if width > SPSS_SHORT_TEXT else missing[0]
    label = column.label.encode()
    parts = [
        struct.pack("<iiiiii", 2, width, bool(label), count, form, form),
        short.encode().ljust(8),
    ]
    if label:
        parts.append(struct.pack("<i", len(label)) + label.ljust(-4 * (-len(label) // 4)))
    if count:
        parts.append(missing[1])
    more = _TEXT << 16 | 1 << 8
    for _ in range(1, _blocks(column)):
        parts.append(struct.pack("<iiiiii", 2, -1, 0, 0, more, more) + b" " * 8)
    return b"".join(parts)


def _missing(column: LabelledColumn) -> tuple[int, bytes]:
    """How many values are missing (-2 for a range), and these values."""
    encoding = column.encoding
    if encoding is None:
        return 0, b""
    none = [value for value, gone in zip(encoding.values, encoding.missing, strict=True) if gone]
    if len(none) > SPSS_MISSING:
        numbers = [float(value) for value in none]
        return -2, struct.pack("<dd", min(numbers), max(numbers))
    return len(none), b"".join(_eight(value) for value in none)


def _eight(value: int | str) -> bytes:
    return value.encode().ljust(8) if isinstance(value, str) else struct.pack("<d", value)


def _value_labels(columns: Sequence[LabelledColumn]) -> bytes:
    parts: list[bytes] = []
    index = 1
    for column in columns:
        encoding = column.encoding
        if encoding is not None and column.labels and _width(column) <= SPSS_SHORT_TEXT:
            parts.append(struct.pack("<ii", 3, len(column.labels)))
            for value, label in zip(encoding.values, column.labels, strict=True):
                text = label.encode()
                size = -8 * (-(len(text) + 1) // 8)
                parts.append(_eight(value) + (bytes([len(text)]) + text).ljust(size))
            parts.append(struct.pack("<iii", 4, 1, index))
        index += _blocks(column)
    return b"".join(parts)


def _fact(kind: int, size: int, content: bytes) -> bytes:
    return struct.pack("<iiii", 7, kind, size, len(content) // size) + content


def _facts(table: LabelledTable) -> bytes:
    """What follows the variables: machine, missing numbers, display, names, size, encoding."""
    columns = table.columns
    display = b"".join(
        struct.pack("<iii", _SCALE if _is_scale(column) else _NOMINAL, 8, int(not is_text(column)))
        for column in columns
    )
    names = "\t".join(
        f"{short}={column.name}"
        for short, column in zip(_short_names(columns), columns, strict=True)
    )
    lowest = float(np.nextafter(_NO_VALUE, 0))
    parts = [
        _fact(3, 4, struct.pack("<8i", 1, 0, 0, -1, 1, 1, 2, 65001)),
        _fact(4, 8, struct.pack("<ddd", _NO_VALUE, sys.float_info.max, lowest)),
        _fact(11, 4, display),
        _fact(13, 1, names.encode()),
        _fact(16, 8, struct.pack("<qq", 1, table.rows)),
        _fact(20, 1, b"UTF-8"),
    ]
    long_texts = [column for column in columns if _width(column) > SPSS_SHORT_TEXT]
    labels = b"".join(map(_long_labels, long_texts))
    missing = b"".join(map(_long_missing, long_texts))
    if labels:
        parts.append(_fact(21, 1, labels))
    if missing:
        parts.append(_fact(22, 1, missing))
    return b"".join(parts)


def _is_scale(column: LabelledColumn) -> bool:
    return column.column.kind in (ColumnKind.AMOUNT, ColumnKind.WEIGHT)


def _sized(text: bytes) -> bytes:
    return struct.pack("<i", len(text)) + text


def _long_labels(column: LabelledColumn) -> bytes:
    if column.encoding is None or not column.labels:
        return b""
    width = _width(column)
    pairs = zip(column.encoding.values, column.labels, strict=True)
    return (
        _sized(column.name.encode())
        + struct.pack("<ii", width, len(column.labels))
        + b"".join(
            _sized(str(value).encode().ljust(width)) + _sized(label.encode())
            for value, label in pairs
        )
    )


def _long_missing(column: LabelledColumn) -> bytes:
    count, values = _missing(column)
    if not count:
        return b""
    return _sized(column.name.encode()) + struct.pack("<Bi", count, 8) + values
