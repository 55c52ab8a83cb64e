"""Records as a Stata file of release 118: numbers with labels and extended missing values."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt

from sdcensus.formats.microdata.encoding import STATA_HIGHEST, STATA_LOWEST
from sdcensus.formats.microdata.file_date import short_months
from sdcensus.formats.microdata.labelled import LabelledColumn, LabelledTable, float_values

ROWS_AT_A_TIME = 50_000
_DOUBLE = 65526
#: Of each type for whole numbers: its number, the smallest and largest values, and how numpy
#: calls it. Missing values follow the largest one: ``.``, ``.a`` to ``.z``.
_WHOLE = (
    (65530, -127, 100, "<i1"),
    (65529, -32767, 32740, "<i2"),
    (65528, STATA_LOWEST, STATA_HIGHEST, "<i4"),
)
_NO_NUMBER = struct.unpack("<d", bytes.fromhex("000000000000e07f"))[0]
_SECTIONS = (
    "variable_types",
    "varnames",
    "sortlist",
    "formats",
    "value_label_names",
    "variable_labels",
    "characteristics",
)


def write_stata(table: LabelledTable, file: BinaryIO) -> Iterator[float]:
    """Write a table, and tell after each part how much is done."""
    kinds = [_kind(column) for column in table.columns]
    head = _head(table)
    sections = _sections(table.columns, kinds)
    layout = np.dtype([(f"c{place}", kind[1]) for place, kind in enumerate(kinds)])
    labels = b"".join(map(_value_labels, table.columns))
    file.write(head + _map(head, sections, table.rows * layout.itemsize, len(labels)))
    for name in _SECTIONS:
        file.write(_tagged(name, sections[name]))
    file.write(b"<data>")
    for start in range(0, table.rows, ROWS_AT_A_TIME):
        rows = slice(start, min(start + ROWS_AT_A_TIME, table.rows))
        records = np.zeros(rows.stop - rows.start, dtype=layout)
        for place, (column, kind) in enumerate(zip(table.columns, kinds, strict=True)):
            records[f"c{place}"] = _values(column, kind, rows)
        file.write(records.tobytes())
        yield rows.stop / table.rows
    file.write(b"</data><strls></strls>" + _tagged("value_labels", labels) + b"</stata_dta>")


def _tagged(name: str, content: bytes) -> bytes:
    return f"<{name}>".encode() + content + f"</{name}>".encode()


def _head(table: LabelledTable) -> bytes:
    months = short_months(table.date)
    time = f"{months[0]:02d} {months[1]} {months[2]:04d} 00:00".encode() if months else b""
    title = table.title.encode()
    return b"<stata_dta>" + _tagged(
        "header",
        b"<release>118</release><byteorder>LSF</byteorder>"
        + _tagged("K", struct.pack("<H", len(table.columns)))
        + _tagged("N", struct.pack("<Q", table.rows))
        + _tagged("label", struct.pack("<H", len(title)) + title)
        + _tagged("timestamp", struct.pack("<B", len(time)) + time),
    )


def _map(head: bytes, sections: dict[str, bytes], data: int, labels: int) -> bytes:
    """Where each part of the file begins."""
    places = [0, len(head)]
    at = len(head) + len("<map></map>") + 14 * 8
    for name in _SECTIONS:
        places.append(at)
        at += len(_tagged(name, sections[name]))
    for name, size in (("data", data), ("strls", 0), ("value_labels", labels)):
        places.append(at)
        at += len(_tagged(name, b"")) + size
    places += [at, at + len("</stata_dta>")]
    return _tagged("map", struct.pack("<14Q", *places))


def _sections(
    columns: Sequence[LabelledColumn], kinds: Sequence[tuple[int, str]]
) -> dict[str, bytes]:
    formats = [_format(column, kind) for column, kind in zip(columns, kinds, strict=True)]
    return {
        "variable_types": b"".join(struct.pack("<H", kind) for kind, _ in kinds),
        "varnames": b"".join(column.name.encode().ljust(129, b"\0") for column in columns),
        "sortlist": bytes(2 * (len(columns) + 1)),
        "formats": b"".join(text.encode().ljust(57, b"\0") for text in formats),
        "value_label_names": b"".join(
            (column.name if column.labels else "").encode().ljust(129, b"\0") for column in columns
        ),
        "variable_labels": b"".join(column.label.encode().ljust(321, b"\0") for column in columns),
        "characteristics": b"",
    }


def _kind(column: LabelledColumn) -> tuple[int, str]:
    """The smallest type that holds a column: its number, and how numpy calls it."""
    if column.encoding is not None:
        numbers = [value for value in column.encoding.values if isinstance(value, int)]
        low, high = min(numbers, default=0), max(numbers, default=0)
    elif column.column.decimals:
        return _DOUBLE, "<f8"
    else:
        values = column.column.values
        low, high = (int(values.min()), int(values.max())) if values.size else (0, 0)
    for number, smallest, largest, kind in _WHOLE:
        if smallest <= low and high <= largest:
            return number, kind
    return _DOUBLE, "<f8"


def _format(column: LabelledColumn, kind: tuple[int, str]) -> str:
    decimals = column.column.decimals
    if column.encoding is None and (decimals or kind[0] == _DOUBLE):
        return f"%{18 + decimals}.{decimals}f"
    return "%12.0g" if kind[1] in ("<i4", "<f8") else "%8.0g"


def _no_value(kind: tuple[int, str], letter: str = "") -> float:
    """How a type writes that there is no value, or why there is none."""
    rank = ord(letter) - ord("a") + 1 if letter else 0
    for number, _, largest, _ in _WHOLE:
        if kind[0] == number:
            return largest + 1 + rank
    bits: int = struct.unpack("<Q", struct.pack("<d", _NO_NUMBER))[0] + (rank << 40)
    value: float = struct.unpack("<d", struct.pack("<Q", bits))[0]
    return value


def _values(column: LabelledColumn, kind: tuple[int, str], rows: slice) -> npt.NDArray[Any]:
    absent = column.column.absent
    if column.encoding is None:
        if kind[0] == _DOUBLE:
            numbers = float_values(column, rows)
            return np.where(np.isnan(numbers), _NO_NUMBER, numbers)
        whole = column.column.values[rows].astype(np.int64)
        return whole if absent is None else np.where(absent[rows], int(_no_value(kind)), whole)
    values = [
        _no_value(kind, value[1:]) if isinstance(value, str) else value
        for value in column.encoding.values
    ]
    places = column.column.values[rows].astype(np.int64)
    if absent is not None:
        places = np.where(absent[rows], len(values), places)
    return np.array([*values, _no_value(kind)], dtype=kind[1])[places]


def _value_labels(column: LabelledColumn) -> bytes:
    """The labels of a column's values, by value."""
    encoding = column.encoding
    if encoding is None or not column.labels:
        return b""
    long = (_WHOLE[2][0], "<i4")
    pairs = sorted(
        (int(_no_value(long, value[1:])) if isinstance(value, str) else value, label.encode())
        for value, label in zip(encoding.values, column.labels, strict=True)
    )
    texts = [label + b"\0" for _, label in pairs]
    offsets = np.append(0, np.cumsum([len(text) for text in texts]))[:-1]
    table = (
        struct.pack("<II", len(pairs), sum(map(len, texts)))
        + offsets.astype("<u4").tobytes()
        + np.array([value for value, _ in pairs], dtype="<i4").tobytes()
        + b"".join(texts)
    )
    name = column.name.encode().ljust(129, b"\0")
    return _tagged("lbl", struct.pack("<I", len(table)) + name + bytes(3) + table)
