"""Parquet and csv files as relations that DuckDB reads where they lie.

Columns are called by their place (``c0``, ``c1`` …): DuckDB takes ``Age`` and ``age`` for one
name, and a name in a file is text of somebody else. What a column delivers is what the loader would
have read: text as written, whole numbers as 64-bit integers, no value as null.
"""

from __future__ import annotations

import codecs
import csv
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path

import pyarrow as pa
from pyarrow import parquet

from sdcensus.errors import InputError, unknown
from sdcensus.model.schema.schema import CensusFile
from sdcensus.model.schema.source import FileFormat, FileSource
from sdcensus.model.schema.variable import Entity

_DELIMITERS = (",", ";", "\t", "|")
#: The encodings that DuckDB reads without downloading anything, by the names Python gives them.
_ENCODINGS = {
    "utf-8": "utf-8",
    "utf-8-sig": "utf-8",
    "ascii": "utf-8",
    "iso8859-1": "latin-1",
    "utf-16": "utf-16",
    "utf-16-le": "utf-16",
}
_LARGEST_INTEGER_PRECISION = 18


class RawFileKind(StrEnum):
    """What a column delivers."""

    TEXT = "text"
    INTEGER = "integer"
    FLOAT = "float"
    DECIMAL = "decimal"


#: How a stored column becomes what is delivered; ``{}`` is the column.
_DELIVERED = {
    RawFileKind.TEXT: "CAST({} AS VARCHAR)",
    RawFileKind.INTEGER: "CAST({} AS BIGINT)",
    # Data frames write "no value" as NaN. DuckDB's comparisons believe the statistics of a parquet
    # file, which leave NaN out; what is looked for in a text is looked for in every value.
    RawFileKind.FLOAT: (
        "CASE WHEN contains(CAST(CAST({0} AS DOUBLE) AS VARCHAR), 'nan') THEN NULL"
        " ELSE CAST({0} AS DOUBLE) END"
    ),
    RawFileKind.DECIMAL: "CAST({} AS VARCHAR)",
}


class Parameters:
    """What stands for the names in a query: texts that we did not write ourselves."""

    __slots__ = ("values",)

    def __init__(self) -> None:
        self.values: dict[str, object] = {}

    def add(self, value: object) -> str:
        """The name that stands for a value in the query."""
        name = f"p{len(self.values)}"
        self.values[name] = value
        return f"${name}"

    def used_in(self, query: str) -> dict[str, object]:
        """The values whose names stand in a query; DuckDB wants no others."""
        names = dict.fromkeys(re.findall(r"\$(p[0-9]+)", query))
        return {name: self.values[name] for name in names}


@dataclass(frozen=True, slots=True)
class _Piece:
    """One file: where it lies, what its columns are called and what they hold."""

    path: Path
    names: tuple[str, ...]
    kinds: Mapping[str, RawFileKind | None]
    delimiter: str = ""
    encoding: str = ""
    skip: int = 0

    @property
    def fingerprint(self) -> tuple[int, int]:
        status = self.path.stat()
        return status.st_size, status.st_mtime_ns

    def read(self, parameters: Parameters) -> str:
        """The file as a relation with all its columns, by place."""
        path = parameters.add(_literal(self.path))
        places = [f"c{place}" for place in range(len(self.names))]
        if not self.delimiter:
            return (
                f"read_parquet({path}, hive_partitioning = false, binary_as_string = true)"
                f" AS t({', '.join(places)})"
            )
        columns = ", ".join(f"'{place}': 'VARCHAR'" for place in places)
        return (
            f"read_csv({path}, columns = {{{columns}}}, auto_detect = false, header = false,"
            f" skip = {self.skip:d}, delim = {parameters.add(self.delimiter)}, quote = '\"',"
            f" escape = '\"', nullstr = '', strict_mode = true, hive_partitioning = false,"
            f" encoding = '{self.encoding}', max_line_size = 8388608) AS t"
        )


def _literal(path: Path) -> str:
    """A path in which nothing is taken for a pattern."""
    text = str(path.resolve())
    return "".join(f"[{sign}]" if sign in "*?[" else sign for sign in text)


class RawFile:
    """A file of the schema, or several that are read as one."""

    def __init__(self, file: CensusFile) -> None:
        self.entity: Entity = file.entity
        self._decimal = file.source.decimal
        self.first_row = 2 if file.source.format is FileFormat.CSV else 1
        self._name = file.name
        self._pieces = tuple(_piece(file.source, path) for path in file.source.paths)

    @property
    def name(self) -> str:
        """The name of the (first) file, for messages."""
        return self._pieces[0].path.name

    def piece_name(self, piece: int) -> str:
        """The name of one of the files."""
        return self._pieces[piece].path.name

    def fingerprint(self) -> tuple[object, ...]:
        """Sizes and times of the files: other ones mean that they were written meanwhile."""
        try:
            return tuple(piece.fingerprint for piece in self._pieces)
        except OSError:
            return ()

    def kind(self, column: str) -> RawFileKind:
        """What a column delivers, in all the files alike."""
        kinds = set()
        for piece in self._pieces:
            if column not in piece.names:
                raise InputError(
                    f"{piece.path.name}: {unknown('column', column, piece.names)}"
                    f" Set `column` in the schema where [files.{self._name}] calls it so."
                )
            kind = piece.kinds.get(column, RawFileKind.TEXT)
            if kind is None:
                raise InputError(
                    f"{piece.path.name}: the column {column!r} holds times, lists or structures,"
                    " which cannot be read without loading. Load the census:"
                    " sdcensus load SCHEMA --out STORE"
                )
            kinds.add(kind)
        if len(kinds) == 1:
            return kinds.pop()
        if RawFileKind.TEXT in kinds:
            raise InputError(
                f"{self.name} and the files that belong to it: column {column!r} is text in some"
                " and a number in others. Write it in the same way in all of them."
            )
        return RawFileKind.FLOAT

    def decimal_mark(self, column: str) -> str:
        """The mark of texts is that of the file; a number has none until it is written."""
        return self._decimal if self.kind(column) is RawFileKind.TEXT else "."

    def relation(
        self, columns: Sequence[str], parameters: Parameters, *, numbered: bool = False
    ) -> str:
        """A query in parentheses with these columns as ``k0``, ``k1`` …

        Where it is ``numbered`` also the place of the file (``part``) and of the record in it
        (``row``, from 0).
        """
        kinds = [self.kind(column) for column in columns]
        queries = []
        for part, piece in enumerate(self._pieces):
            selected = [
                f"{_DELIVERED[kind].format(f't.c{piece.names.index(column)}')} AS k{at}"
                for at, (column, kind) in enumerate(zip(columns, kinds, strict=True))
            ]
            if numbered:
                selected += [f"{part} AS part", "row_number() OVER () - 1 AS row"]
            query = f"SELECT {', '.join(selected or ['1 AS one'])} FROM {piece.read(parameters)}"
            if piece.delimiter and len(piece.names) == 1:
                query += " WHERE t.c0 IS NOT NULL"  # an empty line, which is no record
            queries.append(query)
        return f"({' UNION ALL '.join(queries)})"


def _piece(source: FileSource, path: Path) -> _Piece:
    if path.is_dir():
        raise InputError(f"{path} is a folder. Give the path of a file.")
    if not path.exists():
        raise InputError(f"There is no file {path}. Check the path; it may be misspelt.")
    if source.format is FileFormat.PARQUET:
        return _parquet_piece(path)
    if source.format is FileFormat.CSV:
        return _csv_piece(path, source)
    raise InputError(
        f"{path.name}: files of format {source.format.value!r} cannot be read without loading. Load"
        " the census: sdcensus load SCHEMA --out STORE"
    )


def _parquet_piece(path: Path) -> _Piece:
    try:
        schema = parquet.read_schema(path)
    except (pa.ArrowException, OSError):
        raise InputError(
            f"{path.name}: the parquet file is damaged, cut off or encrypted. Copy or write it"
            " again."
        ) from None
    _check_names(schema.names, path)
    return _Piece(path, tuple(schema.names), {field.name: _kind(field.type) for field in schema})


def _kind(stored: pa.DataType) -> RawFileKind | None:
    """What a stored type delivers; ``None`` for types that only the loader can read."""
    types = pa.types
    if types.is_dictionary(stored):
        return _kind(stored.value_type)
    if types.is_integer(stored) or types.is_boolean(stored):
        return RawFileKind.INTEGER
    if types.is_floating(stored):
        return RawFileKind.FLOAT
    if types.is_decimal(stored):
        small = stored.scale <= 0 and stored.precision <= _LARGEST_INTEGER_PRECISION
        return RawFileKind.INTEGER if small else RawFileKind.DECIMAL
    if types.is_nested(stored) or (types.is_temporal(stored) and not types.is_date(stored)):
        return None
    return RawFileKind.TEXT


def _csv_piece(path: Path, source: FileSource) -> _Piece:
    encoding = _encoding(path, source.encoding)
    delimiter = source.delimiter
    if delimiter is None:
        delimiter = max(_DELIMITERS, key=lambda one: len(_header(path, source.encoding, one)[0]))
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise InputError(
            f"{path.name}: {delimiter!r} cannot be the delimiter. It is one character such as"
            ' ",", ";", "\\t" or "|".'
        )
    names, skip = _header(path, source.encoding, delimiter)
    if not any(names):
        raise InputError(
            f"{path.name}: the first row holds no column names. A csv file begins with them."
        )
    _check_names([name for name in names if name], path)
    return _Piece(path, names, {}, delimiter, encoding, skip)


def _encoding(path: Path, encoding: str) -> str:
    try:
        known = _ENCODINGS.get(codecs.lookup(encoding).name)
    except LookupError:
        known = None
    with path.open("rb") as file:
        other_order = file.read(2) == codecs.BOM_UTF16_BE
    if known is None or (known == "utf-16" and other_order):
        raise InputError(
            f"{path.name}: a csv file in encoding {encoding!r} cannot be read without loading; only"
            " utf-8, latin-1 and utf-16 (little-endian) can. Load the census: sdcensus load SCHEMA"
            " --out STORE"
        )
    return known


def _header(path: Path, encoding: str, delimiter: str) -> tuple[tuple[str, ...], int]:
    """The names in the first row that is not empty, and how many rows there are up to it."""
    if codecs.lookup(encoding).name in ("utf-8", "ascii"):
        encoding = "utf-8-sig"
    try:
        with path.open(encoding=encoding, newline="") as file:
            for rows, row in enumerate(csv.reader(file, delimiter=delimiter), start=1):
                if row:
                    return tuple(name.strip() for name in row), rows
    except (UnicodeError, csv.Error):
        raise InputError(
            f"{path.name}: the header is not csv text in encoding {encoding!r}. Check the encoding,"
            " and that quotation marks are closed."
        ) from None
    except OSError as error:
        raise InputError(f"{path} cannot be opened: {error.strerror}.") from None
    raise InputError(f"{path} is empty. Was it copied completely?")


def _check_names(names: Sequence[str], path: Path) -> None:
    for twice in sorted({name for name in names if list(names).count(name) > 1}):
        raise InputError(
            f"{path.name}: two columns have the same name {twice!r}. Give every column a name of"
            " its own."
        )
