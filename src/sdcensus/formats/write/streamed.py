"""Tables that are too large to be held, written part by part: Parquet and csv, nothing else.

Only cells with a published number other than 0 are listed; each file says that all others are
published as 0. The same cells give the same bytes, however they were cut into parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.parquet as pq

from sdcensus.errors import SpecError
from sdcensus.formats.read.raw import METADATA
from sdcensus.formats.shared.files import check_new, new_file
from sdcensus.formats.tables.columns import word_numbers
from sdcensus.formats.write import check_formats, files_of
from sdcensus.formats.write.about import about_document, about_parts
from sdcensus.formats.write.columns import WordColumn, values_name, word_columns
from sdcensus.formats.write.delimited import head, quoted
from sdcensus.formats.write.lines import BUFFER, packed
from sdcensus.kernels.text.cell_lines import put_cell_lines
from sdcensus.kernels.text.lines import LONGEST_NUMBER
from sdcensus.model.cube.streamed_cells import PublishedCells
from sdcensus.model.published.delivery import DeliveredAxis
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import ABSENT
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text

Int64 = npt.NDArray[np.int64]

#: The formats in which a table can be written part by part.
STREAMED_FORMATS = ("parquet", "csv")
#: Cells of a row group.
ROW_GROUP = 1 << 20

_Put = Callable[[PublishedCells], None]


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StreamedTable:
    """A published table without its cells, which follow part by part. Public.

    Attributes:
        name, title, axes, unit, notes, provenance, spec, source, date: As of a
            ``DeliveredTable``.
    """

    name: str
    title: Text
    axes: tuple[DeliveredAxis, ...]
    spec: TableSpec
    provenance: Provenance
    unit: Text = Text()
    notes: tuple[Text, ...] = ()
    source: Text = Text()
    date: str = ""

    def __repr__(self) -> str:
        shape = "×".join(str(len(axis)) for axis in self.axes) or "one cell"
        return f"<StreamedTable {self.name}: {shape}>"

    def about(self) -> str:
        """Everything but the numbers, as a document."""
        return about_document(
            about_parts(
                name=self.name,
                title=self.title,
                axes=self.axes,
                spec=self.spec,
                provenance=self.provenance,
                unit=self.unit,
                notes=tuple(dict.fromkeys([*self.notes, ABSENT])),
                source=self.source,
                date=self.date,
                absent_are_zero=True,
            )
        )


def check_streamed_formats(formats: Sequence[str], table: str) -> tuple[str, ...]:
    """Formats by name, each once; refuses those that need a whole table."""
    chosen = check_formats(formats)
    for name in chosen:
        if name not in STREAMED_FORMATS:
            raise SpecError(
                f"{table}: the table is too large to be held whole, which the format {name!r}"
                f" needs. Write it as {' or '.join(STREAMED_FORMATS)}, in a plan of its own if"
                " other tables need other formats; or take fewer or coarser axes."
            )
    if not chosen:
        raise SpecError(f"{table}: name a format: {' or '.join(STREAMED_FORMATS)}.")
    return chosen


def write_streamed(
    table: StreamedTable,
    cells: Iterable[PublishedCells],
    folder: Path,
    *,
    formats: Sequence[str],
    languages: Sequence[str] = (),
    labels: bool = True,
) -> tuple[Path, ...]:
    """Write a table to new files in a folder as its cells come: all of them, or none.

    Args:
        table: The table.
        cells: Its cells, in the order in which they are listed.
        folder: Where to; it exists.
        formats: ``parquet``, ``csv`` (with a document beside it) or both.
        languages: Of labels; several make a column for each.
        labels: Whether there are columns of labels.

    Returns:
        The files, in the order of the formats.
    """
    chosen = check_streamed_formats(formats, table.name)
    spoken = tuple(dict.fromkeys(languages))
    columns = word_columns(table.axes, languages=spoken, labels=labels)
    folder = Path(folder)
    targets = [folder / one for name in chosen for one in files_of(table.name, name, spoken)]
    for target in targets:
        check_new(target)
    try:
        with ExitStack() as open_files:
            puts: list[_Put] = []
            for name in chosen:
                main, *beside = (folder / one for one in files_of(table.name, name, spoken))
                for path in beside:
                    open_files.enter_context(new_file(path)).write(table.about().encode())
                file = open_files.enter_context(new_file(main))
                if name == "csv":
                    puts.append(_Lines(columns, file).put)
                else:
                    puts.append(open_files.enter_context(_Groups(table, columns, file)).put)
            for part in _in_groups(cells, len(table.axes)):
                for put in puts:
                    put(part)
    except BaseException:
        for target in targets:
            target.unlink(missing_ok=True)
        raise
    return tuple(targets)


def _in_groups(cells: Iterable[PublishedCells], axes: int) -> Iterator[PublishedCells]:
    """The same cells, so many at a time; the last ones may be fewer."""
    waiting: list[PublishedCells] = []
    size = 0
    for part in cells:
        if len(part.places) != axes:
            raise SpecError("Every published cell has a place on every axis.")
        start = 0
        while size + len(part) - start >= ROW_GROUP:
            stop = start + ROW_GROUP - size
            yield _joined([*waiting, _part(part, start, stop)])
            waiting, size, start = [], 0, stop
        if start < len(part):
            waiting.append(_part(part, start, len(part)))
            size += len(part) - start
    if waiting:
        yield _joined(waiting)


def _part(cells: PublishedCells, start: int, stop: int) -> PublishedCells:
    here = slice(start, stop)
    return PublishedCells(tuple(one[here] for one in cells.places), cells.published[here])


def _joined(parts: Sequence[PublishedCells]) -> PublishedCells:
    if len(parts) == 1:
        return parts[0]
    places = zip(*(one.places for one in parts), strict=True)
    return PublishedCells(
        tuple(np.concatenate(one) for one in places),
        np.concatenate([one.published for one in parts]),
    )


class _Groups:
    """Row groups of a Parquet file."""

    __slots__ = ("_columns", "_lists", "_schema", "_writer")

    def __init__(self, table: StreamedTable, columns: Sequence[WordColumn], file: BinaryIO) -> None:
        words = pa.dictionary(pa.int32(), pa.string())
        fields = [pa.field(one.name, words, nullable=False) for one in columns]
        fields.append(pa.field(values_name(0), pa.int64()))
        self._schema = pa.schema(fields, {METADATA: table.about()})
        self._columns = columns
        self._lists = [word_numbers(one.words) for one in columns]
        self._writer: Any = pq.ParquetWriter(file, self._schema)

    def __enter__(self) -> _Groups:
        return self

    def __exit__(self, *_: object) -> None:
        self._writer.close()

    def put(self, cells: PublishedCells) -> None:
        arrays = [
            pa.DictionaryArray.from_arrays(numbers[cells.places[one.axis]], words)
            for one, (words, numbers) in zip(self._columns, self._lists, strict=True)
        ]
        arrays.append(pa.array(cells.published))
        made = pa.Table.from_arrays(arrays, schema=self._schema)
        self._writer.write_table(made, row_group_size=ROW_GROUP)


class _Lines:
    """Lines of a csv file."""

    __slots__ = ("_axes", "_begins", "_buffer", "_file", "_longest", "_starts", "_words")

    def __init__(self, columns: Sequence[WordColumn], file: BinaryIO) -> None:
        self._file = file
        self._axes = np.array([one.axis for one in columns], dtype=np.int64)
        written = [[f"{quoted(word)}," for word in one.words] for one in columns]
        self._words, self._starts = packed([word for one in written for word in one])
        sizes = [len(one) for one in written]
        self._begins = np.append(0, np.cumsum(sizes, dtype=np.int64))[:-1].astype(np.int64)
        longest = sum(max(len(word.encode()) for word in one) for one in written)
        self._longest = longest + LONGEST_NUMBER + 1
        self._buffer = np.empty(max(BUFFER, self._longest), dtype=np.uint8)
        file.write(head(columns, 0, signs=False))

    def put(self, cells: PublishedCells) -> None:
        step = self._buffer.size // self._longest
        for start in range(0, len(cells), step):
            here = slice(start, start + step)
            values = np.ascontiguousarray(cells.published[here])
            places = np.zeros((max(len(cells.places), 1), values.size), dtype=np.int64)
            for axis, one in enumerate(cells.places):
                places[axis] = one[here]
            used = put_cell_lines(
                self._buffer,
                places,
                self._words,
                self._starts,
                self._begins,
                self._axes,
                values,
            )
            self._file.write(self._buffer[:used].data)
