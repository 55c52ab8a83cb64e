"""Writing delivered tables in the formats that offices must deliver.

The same table gives the same bytes, whenever and wherever it is written: there is no clock in any
of these files. Every format is one module, with its ``TableFormat`` at the end, and one line in
``model/published/table_format.py``; or it is in another package that announces it.
"""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import BinaryIO

from sdcensus.errors import OutputError, SdcensusError, SpecError
from sdcensus.model.cube.sparse_cube import LARGEST_DENSE_GRID
from sdcensus.model.cube.streamed_cells import PublishedCells
from sdcensus.model.published.area_outlines import OutlinesOf
from sdcensus.model.published.delivery import DeliveredTable, deliver, delivered_axis, heading_of
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
from sdcensus.store.owner_only import keep_writing_to_owner


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file for writing; it gets its name when everything is in it."""
    beside = path.parent / f".{secrets.token_hex(8)}.part"
    try:
        with beside.open("xb") as file:
            yield file
        keep_writing_to_owner(beside)
        beside.replace(path)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink()
        # Errors that name a file are about another one, unless it is ours.
        if isinstance(error, OSError) and error.filename in (None, str(beside)):
            reason = error.strerror or type(error).__name__
            raise OutputError(f"{path} cannot be written: {reason}.") from error
        raise


def check_new(path: Path) -> None:
    """Refuse a file that exists, or a folder that does not."""
    if path.exists() or path.is_symlink():
        raise OutputError(f"{path} already exists. Choose another name or remove it first.")
    if not path.parent.is_dir():
        raise OutputError(f"The folder {path.parent} does not exist.")


__all__ = ["check_formats", "files_of", "write_delivered"]

#: Names that some systems keep for devices, and signs that they do not allow in names of files.
_DEVICES = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9¹²³])(\..*)?", re.IGNORECASE)
_FORBIDDEN = re.compile(r'[\x00-\x1f<>:"/\\|?*]')


def check_formats(names: Sequence[str]) -> tuple[str, ...]:
    """Formats by name, each once; refuses what does not exist or cannot be written here.

    Examples:
        >>> check_formats(["csv", "px", "csv"])
        ('csv', 'px')
    """
    for name in names:
        table_format(name).check()
    return tuple(dict.fromkeys(names))


def files_of(name: str, format: str, languages: Sequence[str] = ()) -> tuple[str, ...]:
    """The names of the files that a table will have in a format.

    Examples:
        >>> files_of("ages", "xlsx", ["en", "es"])
        ('ages.en.xlsx', 'ages.es.xlsx')
    """
    (chosen,) = check_formats([format])
    if not name or name.startswith((".", " ")) or name.endswith(" ") or _DEVICES.fullmatch(name):
        raise OutputError(f"No file can be called {name!r} on every system. Choose another name.")
    forbidden = _FORBIDDEN.search(name)
    if forbidden:
        raise OutputError(f"No file can be called {name!r}: take {forbidden[0]!r} out of the name.")
    return table_format(chosen).files(name, tuple(dict.fromkeys(languages)))


def write_delivered(
    table: DeliveredTable,
    folder: Path,
    *,
    formats: Sequence[str],
    languages: Sequence[str] = (),
    labels: bool = True,
    outlines: OutlinesOf | None = None,
) -> tuple[Path, ...]:
    """Write a table to new files in a folder: all of them, or none.

    Args:
        table: The table.
        folder: Where to; it exists.
        formats: In which formats, by name.
        languages: In which languages labels and texts are written; none for the first that a text
            has.
        labels: Whether files for programs (csv, parquet) have columns of labels as well.
        outlines: Where areas lie that are no squares; asked for formats that draw them only.

    Returns:
        The files, in the order of the formats.
    """
    chosen = [table_format(name) for name in check_formats(formats)]
    if outlines is not None and any(format.areas for format in chosen):
        table = table.with_outlines(outlines)
    for format in chosen:
        if format.most_cells is not None and table.cells > format.most_cells:
            raise SpecError(
                f"{table.name}: the table has {table.cells:,} cells, and the format"
                f" {format.name!r} takes {format.most_cells:,}. Take another format, or fewer or"
                " coarser axes."
            )
    spoken = tuple(dict.fromkeys(languages))
    folder = Path(folder)
    names = [file for format in chosen for file in files_of(table.name, format.name, spoken)]
    targets = [folder / name for name in names]
    for target in targets:
        check_new(target)
    try:
        written = [
            path
            for format in chosen
            for path in format.write(table, folder, languages=spoken, labels=labels)
        ]
    except BaseException as error:
        for target in targets:
            target.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, SdcensusError):
            reason = error.strerror or type(error).__name__
            raise OutputError(f"{folder / table.name} cannot be written: {reason}.") from error
        raise
    return tuple(written)


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
    outlines: OutlinesOf | None = None,
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
        outlines: Where areas lie that are no squares, for formats that draw them.
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
        return write_delivered(
            delivered, target.folder, formats=formats, languages=languages, outlines=outlines
        )[0]
    # Here and not above: few tables are that large, and what writes them uses this module.
    from sdcensus.formats.write.streamed import StreamedTable, write_streamed

    streamed = StreamedTable(
        name=target.name,
        title=heading,
        axes=axes,
        spec=noted.spec,
        provenance=provenance,
        unit=Text.of({each: units_text(noted.spec, each) for each in LANGUAGES}),
        notes=noted.notes,
        small=noted.small,
    )
    cells = PublishedCells(tuple(noted.positions()), noted.published)
    return write_streamed(streamed, [cells], target.folder, formats=formats, languages=languages)[0]
