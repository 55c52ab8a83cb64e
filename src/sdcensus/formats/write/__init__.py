"""Writing delivered tables in the formats that offices must deliver.

The same table gives the same bytes, whenever and wherever it is written: there is no clock in any
of these files. Every format is one module, with its ``TableFormat`` at the end, and one line in
``model/published/table_format.py``; or it is in another package that announces it.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from sdcensus.errors import OutputError, SdcensusError, SpecError
from sdcensus.formats.shared.files import check_new
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.table_format import table_format

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
) -> tuple[Path, ...]:
    """Write a table to new files in a folder: all of them, or none.

    Args:
        table: The table.
        folder: Where to; it exists.
        formats: In which formats, by name.
        languages: In which languages labels and texts are written; none for the first that a text
            has.
        labels: Whether files for programs (csv, parquet) have columns of labels as well.

    Returns:
        The files, in the order of the formats.
    """
    chosen = [table_format(name) for name in check_formats(formats)]
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
