"""Tables that are too large to be held, written part by part in the formats that can.

Only cells with a published number other than 0 are listed; each file says that all others are
published as 0. The same cells give the same bytes, however they were cut into parts.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt

from sdcensus.errors import SpecError
from sdcensus.formats.write import check_formats, check_new, files_of, new_file
from sdcensus.formats.write.about import (
    WordColumn,
    about_document,
    about_parts,
    check_names,
    word_columns,
)
from sdcensus.model.cube.streamed_cells import PublishedCells
from sdcensus.model.published.delivery import DeliveredAxis
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.small_groups import SmallGroups
from sdcensus.model.published.table import NOT_BROKEN_DOWN, absent_text
from sdcensus.model.published.table_format import all_formats, table_format
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text

Int64 = npt.NDArray[np.int64]

#: Cells that are written at a time: a row group of a Parquet file.
ROW_GROUP = 1 << 20


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class StreamedTable:
    """A published table without its cells, which follow part by part. Public.

    Attributes:
        name, title, axes, unit, notes, provenance, spec, source, date: As of a
            ``DeliveredTable``.
        small: Which groups are not broken down; ``None`` where there is no such rule.
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
    small: SmallGroups | None = None

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
                notes=tuple(dict.fromkeys([*self.notes, absent_text(self.small)])),
                source=self.source,
                date=self.date,
                sparse=True,
                small=self.small,
            )
        )


def check_streamed_formats(formats: Sequence[str], table: str) -> tuple[str, ...]:
    """Formats by name, each once; refuses those that need a whole table."""
    chosen = check_formats(formats)
    whole = [name for name in chosen if table_format(name).stream is None]
    if chosen and not whole:
        return chosen
    others = " or ".join(
        table_format.name for table_format in all_formats() if table_format.stream is not None
    )
    if not chosen:
        raise SpecError(f"{table}: name a format: {others}.")
    raise SpecError(
        f"{table}: the table is too large to be held whole, which the format {whole[0]!r} needs."
        f" Write it as {others}, in a plan of its own if other tables need other formats; or take"
        " fewer or coarser axes."
    )


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
        formats: Those that can be written part by part; what stands beside their first file is
            the document about the table.
        languages: Of labels; several make a column for each.
        labels: Whether there are columns of labels.

    Returns:
        The files, in the order of the formats.
    """
    chosen = check_streamed_formats(formats, table.name)
    spoken = tuple(dict.fromkeys(languages))
    columns = _columns(table, spoken, labels=labels)
    folder = Path(folder)
    targets = [folder / file for name in chosen for file in files_of(table.name, name, spoken)]
    for target in targets:
        check_new(target)
    try:
        with ExitStack() as open_files:
            puts: list[Callable[[PublishedCells], None]] = []
            for name in chosen:
                main, *beside = (folder / file for file in files_of(table.name, name, spoken))
                for path in beside:
                    open_files.enter_context(new_file(path)).write(table.about().encode())
                file = open_files.enter_context(new_file(main))
                stream = table_format(name).stream
                assert stream is not None
                puts.append(open_files.enter_context(stream(table, columns, file)))
            for part in _in_groups(cells, len(table.axes)):
                marked = part if table.small is None else _marked(part, table.small)
                for put in puts:
                    put(marked)
    except BaseException:
        for target in targets:
            target.unlink(missing_ok=True)
        raise
    return tuple(targets)


def _columns(
    table: StreamedTable, languages: tuple[str, ...], *, labels: bool
) -> tuple[WordColumn, ...]:
    """The columns of words; the last one tells which cells are not broken down, under a rule."""
    columns = word_columns(table.axes, languages=languages, labels=labels)
    if table.small is None:
        return columns
    check_names((column.name for column in columns), [NOT_BROKEN_DOWN])
    return (*columns, WordColumn(NOT_BROKEN_DOWN, len(table.axes), ("0", "1")))


def _marked(cells: PublishedCells, small: SmallGroups) -> PublishedCells:
    """The same cells with what the column needs that tells which are not broken down."""
    hidden = (cells.published < small.smallest).astype(np.uint8)
    return PublishedCells((*cells.places, hidden), cells.published)


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
    return PublishedCells(tuple(place[here] for place in cells.places), cells.published[here])


def _joined(parts: Sequence[PublishedCells]) -> PublishedCells:
    if len(parts) == 1:
        return parts[0]
    places = zip(*(part.places for part in parts), strict=True)
    return PublishedCells(
        tuple(np.concatenate(place) for place in places),
        np.concatenate([part.published for part in parts]),
    )
