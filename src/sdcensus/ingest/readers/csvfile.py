"""The csv reader: any delimiter and encoding, larger than memory, nothing converted.

Fields stay text as written, so that ``0412`` keeps its zero and ``1,5`` its comma. Quotation
marks, doubled quotation marks and line ends inside quoted fields are understood. Empty lines are
left out, as by every csv reader; a row with too many or too few fields is an error. Rows are
numbered as a spreadsheet shows them: the header is row 1.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from pyarrow import csv as arrow_csv

from sdcensus.errors import InputError
from sdcensus.ingest.readers.columns import (
    BATCH_ROWS,
    ColumnKind,
    SourceColumn,
    checked_names,
    in_slices,
    positions,
    same_columns,
)
from sdcensus.ingest.readers.files import check_file
from sdcensus.ingest.readers.text import blank_to_null
from sdcensus.ingest.readers.transcode import Utf8Stream, first_invalid_utf8, undecodable
from sdcensus.model.schema.source import FileSource

DELIMITERS = (",", ";", "\t", "|")
#: A row must fit into one block. Longer than this means that a quotation mark is not closed.
_BLOCK = 1 << 22
#: Stands in every field of a row that is appended to the file. If it does not come back as the
#: last row, a quotation mark near the end was never closed: the file is cut off.
_END = "\x1aend"
#: What the library says of a row with too many or too few fields.
_RAGGED = re.compile(r"Row #(\d+): Expected \d+ columns, got (\d+)")


@dataclass(frozen=True, slots=True)
class _Header:
    """One file with what its header says; a field without a name has the name ''."""

    path: Path
    encoding: str
    delimiter: str
    fields: tuple[str, ...]
    row: int
    bytes: int

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(name for name in self.fields if name)


class CsvReader:
    """Reads one csv file, or several with the same columns."""

    def __init__(self, source: FileSource) -> None:
        for path in source.paths:
            check_file(path, source.format)
        self._files = tuple(
            read_header(path, source.encoding, source.delimiter) for path in source.paths
        )
        first = self._files[0]
        for other in self._files[1:]:
            same_columns(first.names, other.names, file=other.path.name, as_in=first.path.name)

    @property
    def name(self) -> str:
        """The name of the (first) file."""
        return self._files[0].path.name

    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return self._files[0].names

    def columns(self) -> tuple[SourceColumn, ...]:
        """The named columns of the header; all of them are text."""
        return tuple(SourceColumn(name, ColumnKind.TEXT) for name in self._files[0].names)

    def rows(self) -> int | None:
        """None: only reading the file tells."""
        return None

    def batches(
        self, columns: Sequence[str], *, rows: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """The asked columns as text, in file order."""
        positions(columns, self._files[0].names, file=self.name)
        return self._batches(tuple(columns), rows)

    def _batches(self, columns: tuple[str, ...], rows: int) -> Iterator[pa.RecordBatch]:
        for file in self._files:
            for batch in _read(file, columns):
                yield from in_slices(batch, rows)


def read_header(path: Path, encoding: str, delimiter: str | None) -> _Header:
    """Find the delimiter, the names of the columns and where the rows begin."""
    if delimiter is None:
        delimiter = max(DELIMITERS, key=lambda one: _names_with(one, path, encoding))
    _check_delimiter(delimiter, file=path.name)
    header = _first_row(path, encoding, delimiter)
    if header is None:
        raise InputError(
            f"{path.name}: the quotation marks of the header (row 1) do not match. "
            "A name with a quotation mark inside is quoted, and the mark doubled."
        )
    if not header.names:
        raise InputError(
            f"{path.name}: the first row holds no column names. A csv file begins with them."
        )
    checked_names(header.fields, file=path.name)
    return header


def _check_delimiter(delimiter: str, *, file: str) -> None:
    if len(delimiter) != 1 or not delimiter.isascii() or delimiter in '"\r\n\0':
        raise InputError(
            f"{file}: {delimiter!r} cannot be the delimiter. It is one character such as "
            '",", ";", "\\t" or "|".'
        )


def _names_with(delimiter: str, path: Path, encoding: str) -> int:
    header = _first_row(path, encoding, delimiter)
    return 0 if header is None else len(header.fields)


def _first_row(path: Path, encoding: str, delimiter: str) -> _Header | None:
    """The header; None if it is not well-formed with this delimiter."""
    consumed: list[str] = []
    names: tuple[str, ...] = ()
    with Utf8Stream(path, encoding) as stream:
        # newline="" leaves line ends inside quoted names alone. Bytes that are not UTF-8 are no
        # concern of the header unless they stand in it.
        text = io.TextIOWrapper(
            io.BufferedReader(stream, 1 << 16), "utf-8", errors="surrogateescape", newline=""
        )
        try:
            for row in csv.reader(_recorded(text, consumed), delimiter=delimiter, strict=True):
                if row:
                    names = tuple(name.strip() for name in row)
                    break
        except csv.Error:
            return None
    header = "".join(consumed).encode("utf-8", "surrogateescape")
    try:
        header.decode("utf-8")
    except UnicodeDecodeError as error:
        place = first_invalid_utf8(path) or (error.start + 1, 1)
        raise InputError(undecodable(path, "utf-8", *place)) from error
    rows = sum(1 for line in consumed if not line.strip("\r\n")) + 1
    # The rows are read from the line end of the header on: the library would take U+FEFF at the
    # beginning of what it reads for a byte order mark.
    end = len(header) - header.endswith((b"\r", b"\n"))
    return _Header(path, encoding, delimiter, names, rows, end)


def _recorded(lines: io.TextIOWrapper, consumed: list[str]) -> Iterator[str]:
    for line in lines:
        consumed.append(line)
        yield line


def _read(file: _Header, columns: tuple[str, ...]) -> Iterator[pa.RecordBatch]:
    """The rows of one file, column by column as asked."""
    place_of = {name: str(place) for place, name in enumerate(file.fields)}
    wanted = [place_of[name] for name in columns]
    schema = pa.schema([(name, pa.string()) for name in columns])
    places = {name: place for place, name in enumerate(dict.fromkeys(wanted))}
    held: pa.RecordBatch | None = None
    for batch in _parse(file, list(places)):
        if held is not None:
            yield held
        texts = [blank_to_null(column) for column in batch.columns]
        held = pa.RecordBatch.from_arrays([texts[places[one]] for one in wanted], schema=schema)
    last = held.num_rows - 1 if held is not None else 0
    if held is None or any(column[last].as_py() != _END for column in held.columns):
        raise InputError(_unclosed(file))
    if last > 0:
        yield held.slice(0, last)


def _parse(file: _Header, names: list[str]) -> Iterator[pa.RecordBatch]:
    """The raw record batches with the appended last row; every mishap becomes an InputError."""
    tail = "\n" + file.delimiter.join([_END] * len(file.fields)) + "\n"
    stream = Utf8Stream(file.path, file.encoding, skip=file.bytes, tail=tail.encode())
    reader = None
    try:
        reader = arrow_csv.open_csv(
            stream,
            # One thread: the streaming reader is no faster with more, and only so it knows
            # the numbers of the rows.
            read_options=arrow_csv.ReadOptions(
                use_threads=False,
                block_size=_BLOCK,
                column_names=[str(place) for place in range(len(file.fields))],
            ),
            parse_options=arrow_csv.ParseOptions(
                delimiter=file.delimiter,
                newlines_in_values=True,
            ),
            convert_options=arrow_csv.ConvertOptions(
                include_columns=names,
                column_types={name: pa.string() for name in names},
            ),
        )
        yield from reader
    except pa.ArrowException as error:
        raise InputError(_explain(file, str(error))) from None
    finally:
        if reader is not None:
            reader.close()
        stream.close()


def _explain(file: _Header, message: str) -> str:
    """Our own words: those of the library quote the row, and rows hold personal data."""
    name, expected = file.path.name, len(file.fields)
    ragged = _RAGGED.search(message)
    if ragged:
        row, found = int(ragged[1]) + file.row, int(ragged[2])
        return (
            f"{name}: row {row} has {found} field{'s' if found != 1 else ''}, the header has "
            f"{expected}. Check the delimiter ({file.delimiter!r} is used), and that fields that "
            "contain it are quoted and every quotation mark is closed."
        )
    if "UTF8" in message:
        place = first_invalid_utf8(file.path)
        if place is not None:
            return undecodable(file.path, "utf-8", *place)
    if "straddl" in message:
        return (
            f"{name}: a row is longer than {_BLOCK >> 20} MB. Probably a quotation mark is "
            "opened and not closed."
        )
    return f"{name}: the file cannot be read as csv. Check that it is complete."


def _unclosed(file: _Header) -> str:
    return (
        f"{file.path.name}: the file ends inside a quoted field. Either it is cut off, or a "
        "quotation mark is opened somewhere and not closed."
    )
