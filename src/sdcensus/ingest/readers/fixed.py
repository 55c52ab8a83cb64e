"""The reader of fixed width text: a layout says where each column stands.

The layout is a csv file or workbook with the columns ``name``, ``start`` (from 1) and ``width``,
in characters. Blanks around a value are not part of it. Trailing blanks of a line may have been
cut away, as many programs do; a short line that still ends in a blank was cut off by something
else and is an error, and so is a last line that is short and has no line end where all the others
are complete.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa

from sdcensus.documents.workbooks.small_tables import small_table
from sdcensus.errors import InputError
from sdcensus.ingest.readers.columns import (
    BATCH_ROWS,
    ColumnKind,
    SourceColumn,
    in_slices,
    positions,
)
from sdcensus.ingest.readers.files import check_file, text_encoding
from sdcensus.ingest.readers.lines import TextLines, read_lines
from sdcensus.model.schema.source import FileSource


@dataclass(frozen=True, slots=True)
class FieldPlace:
    """Where a column stands in a line; ``start`` counts from 0."""

    name: str
    start: int
    width: int


class FixedWidthReader:
    """Reads one fixed width file, or several with the same layout."""

    def __init__(self, source: FileSource) -> None:
        for path in source.paths:
            check_file(path, source.format)
            text_encoding(source.encoding, file=path.name)
        if source.layout is None:
            raise InputError(
                f"{source.paths[0].name}: a fixed width file needs a layout. Set layout to a csv "
                "file with the columns name,start,width."
            )
        self._paths = source.paths
        self._encoding = source.encoding
        self._places = read_layout(source.layout)

    @property
    def name(self) -> str:
        """The name of the (first) file."""
        return self._paths[0].name

    def names(self) -> tuple[str, ...]:
        """The names of the columns."""
        return tuple(place.name for place in self._places)

    def columns(self) -> tuple[SourceColumn, ...]:
        """The columns of the layout; all of them are text."""
        return tuple(
            SourceColumn(place.name, ColumnKind.TEXT, width=place.width) for place in self._places
        )

    def rows(self) -> int | None:
        """None: only reading the file tells."""
        return None

    def batches(
        self, columns: Sequence[str], *, rows: int = BATCH_ROWS
    ) -> Iterator[pa.RecordBatch]:
        """The asked columns as text, in file order."""
        found = positions(columns, self.names(), file=self.name)
        return self._batches([self._places[place] for place in found], rows)

    def _batches(self, places: list[FieldPlace], rows: int) -> Iterator[pa.RecordBatch]:
        width = max(place.start + place.width for place in self._places)
        for path in self._paths:
            for lines in _records(path, self._encoding, width):
                yield from in_slices(fields(lines, places), rows)


def fields(lines: TextLines, places: Sequence[FieldPlace]) -> pa.RecordBatch:
    """Cut the fields out of the lines."""
    schema = pa.schema([(place.name, pa.string()) for place in places])
    arrays = [lines.field(place.start, place.width) for place in places]
    return pa.RecordBatch.from_arrays(arrays, schema=schema)


def _records(path: Path, encoding: str, width: int) -> Iterator[TextLines]:
    """The lines that hold records, after the checks; empty lines may only stand at the end."""
    empty = 0
    any_short = False
    for lines in read_lines(path, encoding):
        holds = lines.lengths > 0
        records = lines.select(holds)
        if len(records) == 0:
            empty = empty or int(lines.numbers[0])
            continue
        gaps = lines.numbers[~holds & (lines.numbers < records.numbers[-1])]
        if empty or len(gaps):
            raise InputError(
                f"{path.name}: line {empty or int(gaps[0])} is empty. Every line holds a record; "
                "empty lines may only stand at the end."
            )
        empty = 0 if holds[-1] else int(records.numbers[-1]) + 1
        short = records.lengths < width
        _check_short(records.select(short), width)
        last_is_cut = bool(short[-1]) and not lines.ended and bool(holds[-1])
        if last_is_cut and not any_short and short.sum() == 1 and records.numbers[-1] > 1:
            raise InputError(_cut_off(path.name, int(records.numbers[-1]), width))
        any_short = any_short or bool(short.any())
        yield records


def _check_short(short: TextLines, width: int) -> None:
    if len(short) == 0:
        return
    final = short.cells[short.starts + short.lengths - 1]
    cut = np.flatnonzero(final == 32)
    if len(cut):
        raise InputError(_cut_off(short.file, int(short.numbers[cut[0]]), width))


def _cut_off(file: str, line: int, width: int) -> str:
    return (
        f"{file}: line {line} is cut off: it ends before the layout does, which needs {width} "
        "characters. Only blanks at the end of a line may be left out."
    )


def read_layout(path: Path) -> tuple[FieldPlace, ...]:
    """Read where the columns stand."""
    places: dict[str, FieldPlace] = {}
    filled = [(line, fields) for line, fields in small_table(path, what="layout") if any(fields)]
    header = [title.lower() for title in filled[0][1]] if filled else []
    absent = [column for column in ("name", "start", "width") if column not in header]
    if absent:
        raise InputError(
            f"{path.name}: the layout has no column {absent[0]!r}. It needs name, start and width."
        )
    for line, fields in filled[1:]:
        if len(fields) < len(header):
            raise InputError(
                f"{path.name}: line {line} has {len(fields)} fields, the header has {len(header)}."
            )
        row = dict(zip(header, fields, strict=False))
        start, width = (_number(path, line, row, column) for column in ("start", "width"))
        name = row["name"]
        if not name:
            raise InputError(f"{path.name}: line {line} gives no name.")
        if name in places:
            raise InputError(f"{path.name}: line {line} names {name!r} a second time.")
        places[name] = FieldPlace(name, start - 1, width)
    if not places:
        raise InputError(f"{path.name}: the layout names no columns.")
    return tuple(places.values())


def _number(path: Path, line: int, row: dict[str, str], column: str) -> int:
    text = row[column]
    if not (text.isascii() and text.isdigit() and 0 < int(text) < 1_000_000):
        raise InputError(
            f"{path.name}: line {line}: {column} is {text!r}. It is a whole number from 1."
        )
    return int(text)
