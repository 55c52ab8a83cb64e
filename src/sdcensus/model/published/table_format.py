"""Formats in which published tables are written: what each says of itself, and where it is.

Every format declares itself once, in the module that writes it. Those of this package are listed
here by name and loaded when they are asked for. Other packages bring theirs by an entry point of
the group ``sdcensus.formats``, for which installed packages are searched only where the list ends:
for a name, an ending or a type that is not ours, and where all formats are shown.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Protocol

from sdcensus.errors import MissingExtra, SpecError, UnknownName
from sdcensus.model.method.registry import Announced, announced, loaded
from sdcensus.model.text import Text

if TYPE_CHECKING:
    from sdcensus.model.cube.streamed_cells import PublishedCells
    from sdcensus.model.published.delivery import DeliveredTable

#: Where other packages announce their formats.
GROUP = "sdcensus.formats"

#: The formats of this package, in the order in which they are shown.
BUILT_IN: Mapping[str, str] = MappingProxyType(
    {
        "xlsx": "sdcensus.formats.write.xlsx:XLSX",
        "csv": "sdcensus.formats.write.delimited:CSV",
        "json-stat": "sdcensus.formats.write.json_stat:JSON_STAT",
        "sdmx-csv": "sdcensus.formats.write.sdmx:SDMX_CSV",
        "px": "sdcensus.formats.write.px:PX",
        "parquet": "sdcensus.formats.write.parquet:PARQUET",
        "gpkg": "sdcensus.formats.write.geopackage:GEOPACKAGE",
        "geoparquet": "sdcensus.formats.write.geoparquet:GEOPARQUET",
    }
)


class WriteTable(Protocol):
    """Writes a table to the files of a format."""

    def __call__(
        self, table: DeliveredTable, folder: Path, *, languages: tuple[str, ...], labels: bool
    ) -> tuple[Path, ...]:
        """Write new files in a folder, and say which: those of ``TableFormat.files``."""
        ...


#: Opens a file for a table whose cells come part by part, from the table, its columns and the file.
StreamTable = Callable[..., AbstractContextManager[Callable[["PublishedCells"], None]]]


@dataclass(frozen=True, slots=True, kw_only=True)
class TableFormat:
    """A format in which published tables are written.

    Attributes:
        name: How plans, commands and addresses call it.
        label: What menus call it.
        about: What it is good for, in a sentence for a menu.
        endings: How its files end, after the name of the table. The first holds the numbers; what
            stands beside it comes with it in one archive where one file is wanted.
        media_type: What its first file is served as.
        accepts: Further media types by which it may be asked for.
        versions: By which versions of its media type it may be asked for, where that has any.
        aliases: Other names that people have for it.
        each_language: Whether several languages make several files, each with the language before
            its ending; else one file holds all of them.
        label_columns: Whether it can be written with columns of labels, or without.
        most_cells: How many cells a table may have; ``None`` for no limit.
        seconds_per_cell: How long it takes one core to write a cell longer than as csv.
        bytes_per_cell: About how long a cell is in its file; ``None`` for a line with its codes.
        needs: An optional library without which it cannot be written.
        extra: The extra that brings that library.
        areas: Whether it is for maps: for tables with an axis of areas whose shapes are known.
        write: Writes a table.
        stream: Writes a table that is too large to be held; ``None`` where it must be held whole.
    """

    name: str
    label: str
    endings: tuple[str, ...]
    media_type: str
    write: WriteTable
    about: Text = Text()
    accepts: tuple[str, ...] = ()
    versions: tuple[str, ...] = ()
    aliases: tuple[str, ...] = ()
    each_language: bool = False
    label_columns: bool = False
    most_cells: int | None = None
    seconds_per_cell: float = 0.0
    bytes_per_cell: float | None = None
    needs: str = ""
    extra: str = "formats"
    areas: bool = False
    stream: StreamTable | None = None

    @property
    def media_types(self) -> tuple[str, ...]:
        """The types by which it is asked for, without parameters."""
        return (self.media_type.partition(";")[0], *self.accepts)

    @property
    def full_media_type(self) -> str:
        """The type of its first file, with the version where it has one, without the charset.

        Examples:
            >>> table_format("sdmx-csv").full_media_type
            'application/vnd.sdmx.data+csv;version=2.0.0'
        """
        kind = self.media_types[0]
        return f"{kind};version={self.versions[0]}" if self.versions else kind

    def files(self, table: str, languages: Sequence[str] = ()) -> tuple[str, ...]:
        """The names of the files of a table."""
        if not self.each_language or len(languages) < 2:
            return tuple(f"{table}{ending}" for ending in self.endings)
        return tuple(
            f"{table}.{language}{ending}" for language in languages for ending in self.endings
        )

    def check(self) -> None:
        """Say early that an optional part is missing."""
        if self.needs and find_spec(self.needs) is None:
            raise MissingExtra(self.extra, needed_for=f"Writing tables as {self.name}")


def table_format(name: str) -> TableFormat:
    """The format of a name.

    Raises:
        UnknownName: There is none.

    Examples:
        >>> table_format("px").endings
        ('.px',)
    """
    if name in BUILT_IN:
        return _declared(Announced(name, BUILT_IN[name]))
    if name not in _installed():
        raise UnknownName("format", name, known=FORMAT_NAMES)
    return _declared(_installed()[name])


class _FormatNames(Collection[str]):
    """The names of all formats; packages are searched for one that is not ours, or for all."""

    def __contains__(self, name: object) -> bool:
        return name in BUILT_IN or name in _installed()

    def __iter__(self) -> Iterator[str]:
        return iter((*BUILT_IN, *_installed()))

    def __len__(self) -> int:
        return len(BUILT_IN) + len(_installed())


#: The names of all formats: ours, then those of other packages.
FORMAT_NAMES = _FormatNames()


def all_formats() -> tuple[TableFormat, ...]:
    """All formats: ours, then those of other packages."""
    return tuple(map(table_format, FORMAT_NAMES))


def meant_format(word: str) -> str:
    """The name of the format that people also call so; empty for none.

    Examples:
        >>> meant_format("Excel")
        'xlsx'
    """
    return next((format.name for format in all_formats() if word.lower() in format.aliases), "")


def format_of_file(path: Path) -> TableFormat | None:
    """The format whose files end like this one; ``None`` if no format's do.

    Examples:
        >>> format_of_file(Path("ages.sdmx.csv")).name
        'sdmx-csv'
    """
    return _by_ending(path, map(table_format, BUILT_IN)) or _by_ending(path, all_formats())


def _by_ending(path: Path, formats: Iterable[TableFormat]) -> TableFormat | None:
    # The longest ending first: .sdmx.csv is no .csv.
    fitting = [format for format in formats if path.name.lower().endswith(format.endings[0])]
    return max(fitting, key=lambda format: len(format.endings[0]), default=None)


def _installed() -> dict[str, Announced]:
    """The formats of other packages by name; a name of ours is ours."""
    return {entry.name: entry for entry in announced(GROUP) if entry.name not in BUILT_IN}


@cache
def _declared(entry: Announced) -> TableFormat:
    """The declaration at a place."""

    def read(declared: Any) -> TableFormat:
        if not isinstance(declared, TableFormat) or declared.name != entry.name:
            raise SpecError(f"{entry.target} is no TableFormat that is called {entry.name!r}.")
        return declared

    return loaded(entry, read)
