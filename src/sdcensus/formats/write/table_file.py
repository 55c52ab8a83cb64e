"""One published table to a file that somebody names: the same files that a plan would write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from sdcensus.errors import OutputError, SpecError
from sdcensus.formats.shared.files import check_new
from sdcensus.formats.write import files_of, write_delivered
from sdcensus.formats.write.streamed import StreamedTable, write_streamed
from sdcensus.model.cube.sparse_cube import LARGEST_DENSE_GRID
from sdcensus.model.cube.streamed_cells import PublishedCells
from sdcensus.model.published.delivery import deliver, delivered_axis, heading_of
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import AnyTable, SparseTable, Table
from sdcensus.model.published.table_format import (
    TableFormat,
    all_formats,
    format_of_file,
    table_format,
)
from sdcensus.model.spec.headings import units_text
from sdcensus.model.text import LANGUAGES, Text


@dataclass(frozen=True, slots=True)
class TableTarget:
    """Where a table goes.

    Attributes:
        folder: The folder of its files.
        name: How they are called, without their endings.
        format: Their format.
    """

    folder: Path
    name: str
    format: TableFormat

    @property
    def files(self) -> tuple[Path, ...]:
        """The files; the first holds the numbers."""
        return tuple(self.folder / file for file in files_of(self.name, self.format.name))


def table_target(path: str | Path, format: str | None = None) -> TableTarget:
    """Where a table goes, from the name of a file; refuses what could not be written in the end.

    Args:
        path: The file. Its ending tells the format, unless one is named.
        format: The name of the format; an ending that the file does not have is put behind it.
    """
    path = Path(path)
    by_ending = format_of_file(path)
    chosen = by_ending if format is None else table_format(format)
    if chosen is None:
        endings = ", ".join(table_format.endings[0] for table_format in all_formats())
        raise OutputError(f"{path}: write a table to a file that ends in one of {endings}.")
    name, ending = path.name, chosen.endings[0]
    if name.lower().endswith(ending):
        name = name[: -len(ending)]
    elif by_ending is not None:
        raise OutputError(
            f"{path} ends like the format {by_ending.name!r}, and {chosen.name!r} was asked for:"
            f" {path.name[: -len(by_ending.endings[0])]}{ending}."
        )
    chosen.check()
    target = TableTarget(path.parent, name, chosen)
    for file in target.files:
        check_new(file)
    return target


def write_table(
    table: AnyTable,
    path: str | Path,
    *,
    provenance: Provenance,
    format: str | None = None,
    title: Text | None = None,
    language: str | None = None,
    notes: Sequence[Text] = (),
) -> Path:
    """Write a published table to a new file, and what belongs to it beside it.

    Args:
        table: The table. One that is too large to be held is listed without the cells that are
            published as 0, and the file says so.
        path: The file; its ending tells the format. ``.csv`` has notes and provenance beside it in
            ``NAME.about.json``, ``.parquet`` in its metadata, ``.xlsx`` on a sheet.
        provenance: How the table was made.
        format: The name of the format, where the ending does not tell it.
        title: What stands above it; by default what it shows, in words.
        language: The language of labels; that of texts in formats for people.
        notes: Notes besides those of the table.
    """
    given: object = table
    if not isinstance(given, AnyTable):
        raise SpecError(
            f"A {type(given).__name__} is no published table, and only those can be written for"
            " the public. Protect it first, and write the table of what comes out."
        )
    target = table_target(path, format)
    formats, languages = (target.format.name,), (language,) if language else ()
    axes = tuple(map(delivered_axis, table.spec.axes))
    heading = title or heading_of(table.spec, axes)
    # In a plan a table has a name, which is that of its files.
    named = replace(table, spec=replace(table.spec, name=table.spec.name or target.name))
    noted = named.with_notes(*(note for note in notes if note not in table.notes))
    if isinstance(noted, SparseTable) and noted.spec.cells <= LARGEST_DENSE_GRID:
        noted = noted.whole()
    if isinstance(noted, Table):
        delivered = deliver(
            noted, name=target.name, title=heading, axes=axes, provenance=provenance
        )
        return write_delivered(delivered, target.folder, formats=formats, languages=languages)[0]
    streamed = StreamedTable(
        name=target.name,
        title=heading,
        axes=axes,
        spec=noted.spec,
        provenance=provenance,
        unit=Text.of({one: units_text(noted.spec, one) for one in LANGUAGES}),
        notes=noted.notes,
        small=noted.small,
    )
    cells = PublishedCells(tuple(noted.positions()), noted.published)
    return write_streamed(streamed, [cells], target.folder, formats=formats, languages=languages)[0]
