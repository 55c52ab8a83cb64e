"""Writing delivered tables in the formats that offices must deliver.

The same table gives the same bytes, whenever and wherever it is written: there is no clock in any
of these files. Every format has a module of its own with the same function ``write``, which is
loaded when it is asked for.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import MappingProxyType
from typing import Protocol, cast

from sdcensus.errors import MissingExtra, OutputError, SdcensusError, UnknownName
from sdcensus.formats.shared.files import check_new
from sdcensus.model.published.delivery import DeliveredTable

__all__ = ["FORMATS", "DeliveryFormat", "check_formats", "files_of", "write_delivered"]

#: Names that some systems keep for devices, and signs that they do not allow in names of files.
_DEVICES = re.compile(r"(con|prn|aux|nul|(com|lpt)[0-9¹²³])(\..*)?", re.IGNORECASE)
_FORBIDDEN = re.compile(r'[\x00-\x1f<>:"/\\|?*]')


class _Write(Protocol):
    def __call__(
        self, table: DeliveredTable, folder: Path, *, languages: tuple[str, ...], labels: bool
    ) -> tuple[Path, ...]: ...


@dataclass(frozen=True, slots=True)
class DeliveryFormat:
    """A format in which tables are delivered.

    Attributes:
        name: How plans call it.
        module: Where it is written.
        endings: How its files end, after the name of the table.
        each_language: Whether several languages make several files, each with the language before
            its ending; else one file holds all of them.
        needs: An optional library without which it cannot be written.
    """

    name: str
    module: str
    endings: tuple[str, ...]
    each_language: bool = False
    needs: str = ""

    def files(self, table: str, languages: Sequence[str] = ()) -> tuple[str, ...]:
        """The names of the files of a table."""
        if not self.each_language or len(languages) < 2:
            return tuple(f"{table}{ending}" for ending in self.endings)
        return tuple(f"{table}.{one}{ending}" for one in languages for ending in self.endings)

    def check(self) -> None:
        """Say early that an optional part is missing."""
        if self.needs and find_spec(self.needs) is None:
            raise MissingExtra("formats", needed_for=f"Writing tables as {self.name}")

    def write(
        self, table: DeliveredTable, folder: Path, *, languages: tuple[str, ...], labels: bool
    ) -> tuple[Path, ...]:
        """Write a table to new files of this format."""
        writer = cast(_Write, import_module(f"{__name__}.{self.module}").write)
        return writer(table, folder, languages=languages, labels=labels)


_ALL = (
    DeliveryFormat("csv", "delimited", (".csv", ".about.json")),
    DeliveryFormat("parquet", "parquet", (".parquet",)),
    DeliveryFormat("xlsx", "xlsx", (".xlsx",), each_language=True, needs="xlsxwriter"),
    DeliveryFormat("json-stat", "json_stat", (".json",), each_language=True),
    DeliveryFormat("sdmx-csv", "sdmx", (".sdmx.csv", ".sdmx.xml")),
    DeliveryFormat("px", "px", (".px",)),
)
#: All formats, by the names that plans use.
FORMATS: Mapping[str, DeliveryFormat] = MappingProxyType({one.name: one for one in _ALL})


def check_formats(names: Sequence[str]) -> tuple[str, ...]:
    """Formats by name, each once; refuses what does not exist or cannot be written here.

    Examples:
        >>> check_formats(["csv", "px", "csv"])
        ('csv', 'px')
    """
    for name in names:
        if name not in FORMATS:
            raise UnknownName("format", name, known=FORMATS)
        FORMATS[name].check()
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
    found = _FORBIDDEN.search(name)
    if found:
        raise OutputError(f"No file can be called {name!r}: take {found[0]!r} out of the name.")
    return FORMATS[chosen].files(name, tuple(dict.fromkeys(languages)))


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
    chosen = check_formats(formats)
    spoken = tuple(dict.fromkeys(languages))
    folder = Path(folder)
    targets = [folder / one for name in chosen for one in files_of(table.name, name, spoken)]
    for target in targets:
        check_new(target)
    try:
        made = [
            path
            for name in chosen
            for path in FORMATS[name].write(table, folder, languages=spoken, labels=labels)
        ]
    except BaseException as error:
        for target in targets:
            target.unlink(missing_ok=True)
        if isinstance(error, OSError) and not isinstance(error, SdcensusError):
            reason = error.strerror or type(error).__name__
            raise OutputError(f"{folder / table.name} cannot be written: {reason}.") from error
        raise
    return tuple(made)
