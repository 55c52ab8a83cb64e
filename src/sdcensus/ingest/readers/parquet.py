"""The parquet reader: only the columns that are asked for, as text, integers or decimals.

Dictionaries and large or small types are unpacked. Booleans become 0 and 1, dates and times ISO
text. A float column that holds nothing but integers becomes integers: data frames turn a column
of codes into floats as soon as one code is missing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import parquet

from sdcensus.errors import InputError
from sdcensus.ingest.readers.columns import (
    BATCH_ROWS,
    ColumnKind,
    SourceColumn,
    checked_names,
    positions,
    same_columns,
)
from sdcensus.ingest.readers.files import check_file
from sdcensus.ingest.readers.text import blank_to_null, is_whole
from sdcensus.model.schema.source import FileSource

_LARGEST_INTEGER_PRECISION = 18


class ParquetReader:
    """Reads one parquet file, or several with the same columns."""

    def __init__(self, source: FileSource) -> None:
        self._paths = source.paths
        self._schemas: list[pa.Schema] = []
        self._rows = 0
        for path in source.paths:
            check_file(path, source.format)
            with _opened(path) as file:
                self._schemas.append(file.schema_arrow)
                self._rows += file.metadata.num_rows
            checked_names(self._schemas[-1].names, file=path.name)
        names = self._schemas[0].names
        for path, schema in zip(self._paths[1:], self._schemas[1:], strict=True):
            same_columns(names, schema.names, file=path.name, as_in=self.name)
        self._types: dict[str, pa.DataType] = {}
        self._nested = {name for name in names if self._is_nested(name)}

    @property
    def name(self) -> str:
        """The name of the (first) file."""
        return self._paths[0].name

    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(name for name in self._schemas[0].names if name not in self._nested)

    def columns(self) -> tuple[SourceColumn, ...]:
        """The columns that hold plain values; lists and structures are not offered."""
        types = self._delivered(self.names())
        return tuple(SourceColumn(name, _kind(types[name])) for name in self.names())

    def rows(self) -> int | None:
        """The number of rows of all the files."""
        return self._rows

    def batches(
        self, columns: Sequence[str], *, rows: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """The asked columns in file order; a row group is never held as a whole."""
        positions(columns, self._schemas[0].names, file=self.name)
        nested = [name for name in columns if name in self._nested]
        if nested:
            raise InputError(
                f"{self.name}: column {nested[0]!r} holds lists, structures or durations. Write it"
                " as columns of plain values."
            )
        return self._batches(tuple(columns), rows)

    def _batches(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        types = self._delivered(columns)
        schema = pa.schema([(name, types[name]) for name in columns])
        for path in self._paths:
            for batch in _stored(path, columns, rows):
                arrays = {
                    name: _deliver(batch.column(name), types[name], path.name, name)
                    for name in dict.fromkeys(columns)
                }
                yield pa.RecordBatch.from_arrays([arrays[name] for name in columns], schema=schema)

    def _is_nested(self, name: str) -> bool:
        types = [schema.field(name).type for schema in self._schemas]
        return any(pa.types.is_nested(kind) or pa.types.is_duration(kind) for kind in types)

    def _delivered(self, names: Sequence[str]) -> dict[str, pa.DataType]:
        """The type in which each column is delivered, the same for all the files."""
        new = [name for name in dict.fromkeys(names) if name not in self._types]
        for name in new:
            self._types[name] = self._common_type(name)
        floats = [name for name in new if pa.types.is_floating(self._types[name])]
        for name in self._whole(floats):
            self._types[name] = pa.int64()
        return self._types

    def _common_type(self, name: str) -> pa.DataType:
        stored = [schema.field(name).type for schema in self._schemas]
        # A file in which the column is empty throughout says nothing about its type.
        types = {_plain_type(kind) for kind in stored if not pa.types.is_null(kind)}
        if len(types) <= 1:
            return types.pop() if types else pa.string()
        if pa.string() in types:
            raise InputError(
                f"{self.name} and the files that belong to it: column {name!r} is text in some "
                "and a number in others. Write it in the same way in all of them."
            )
        return pa.float64()

    def _whole(self, names: list[str]) -> set[str]:
        """Which float columns hold nothing but integers. Reads them once."""
        whole = set(names)
        for path in self._paths:
            if not whole:
                break
            for batch in _stored(path, sorted(whole), BATCH_ROWS):
                for name in batch.schema.names:
                    if name in whole and not is_whole(_as_float(batch.column(name))):
                        whole.discard(name)
        return whole


@contextmanager
def _opened(path: Path) -> Iterator[parquet.ParquetFile]:
    with _damage(path), parquet.ParquetFile(path) as file:
        yield file


@contextmanager
def _damage(path: Path) -> Iterator[None]:
    try:
        yield
    # A damaged file can also name columns that are not text or claim impossible sizes.
    except (pa.ArrowException, OSError, ValueError, MemoryError) as error:
        raise InputError(
            f"{path.name}: the parquet file is damaged, cut off or encrypted. "
            "Copy or write it again."
        ) from error


def _stored(path: Path, columns: Sequence[str], rows: int) -> Iterator[pa.RecordBatch]:
    with _opened(path) as file:
        for batch in file.iter_batches(batch_size=rows, columns=list(dict.fromkeys(columns))):
            if batch.num_rows:
                yield batch


def _plain_type(stored: pa.DataType) -> pa.DataType:
    """The plain type in which a stored type is delivered."""
    if pa.types.is_dictionary(stored):
        return _plain_type(stored.value_type)
    if pa.types.is_integer(stored) or pa.types.is_boolean(stored):
        return pa.int64()
    if pa.types.is_floating(stored):
        return pa.float64()
    if pa.types.is_decimal(stored):
        if stored.scale <= 0 and stored.precision <= _LARGEST_INTEGER_PRECISION:
            return pa.int64()
        return pa.decimal128(min(stored.precision, 38), stored.scale)
    return pa.string()


def _kind(delivered: pa.DataType) -> ColumnKind:
    if pa.types.is_integer(delivered):
        return ColumnKind.INTEGER
    return ColumnKind.TEXT if pa.types.is_string(delivered) else ColumnKind.DECIMAL


def _as_float(array: pa.Array) -> pa.Array:
    """Floats with null instead of NaN, which is how data frames write "no value"."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    floats = array.cast(pa.float64(), safe=False)
    return pc.if_else(pc.is_nan(floats), pa.scalar(None, pa.float64()), floats)


def _deliver(array: pa.Array, wanted: pa.DataType, file: str, name: str) -> pa.Array:
    """One stored array in the type in which its column is delivered."""
    if pa.types.is_dictionary(array.type):
        array = array.dictionary_decode()
    try:
        if pa.types.is_string(wanted):
            texts = _as_text(array)
            # Nothing has made sure so far that text in the file is UTF-8.
            texts.validate(full=True)
            return blank_to_null(texts)
        if pa.types.is_floating(array.type):
            return _as_float(array).cast(wanted)
        return array.cast(wanted)
    except (pa.ArrowException, OverflowError) as error:
        raise InputError(
            f"{file}: column {name!r} holds values that fit neither 64-bit integers, decimals of "
            "38 digits nor text in UTF-8. Write it in one of these types."
        ) from error


def _as_text(array: pa.Array) -> pa.Array:
    """Text as it is; dates and times in ISO form, times with a zone in UTC."""
    kind = array.type
    if pa.types.is_timestamp(kind):
        plain = _to_seconds(array.cast(pa.timestamp(kind.unit)), pa.timestamp("s"))
        mark = "Z" if kind.tz else ""
        texts = pc.replace_substring(plain.cast(pa.string()), " ", "T")
        return pc.binary_join_element_wise(texts, mark, "")
    if pa.types.is_time(kind):
        array = _to_seconds(array, pa.time32("s"))
    return array.cast(pa.string())


def _to_seconds(array: pa.Array, seconds: pa.DataType) -> pa.Array:
    """Without fractions of seconds if there are none."""
    try:
        return array.cast(seconds)
    except pa.ArrowInvalid:
        return array
