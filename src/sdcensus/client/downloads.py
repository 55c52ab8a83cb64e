"""Files of published tables: formats, names, and writing them whole or not at all."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from email.message import Message
from pathlib import Path

from sdcensus.errors import OutputError, SpecError, UnknownName


@dataclass(frozen=True, slots=True)
class DownloadFormat:
    """A format in which tables can be downloaded."""

    media_type: str
    ending: str


FORMATS = {
    "xlsx": DownloadFormat(
        "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet", ".xlsx"
    ),
    "csv": DownloadFormat("text/csv", ".csv"),
    "json-stat": DownloadFormat("application/json", ".json"),
    "sdmx-csv": DownloadFormat("application/vnd.sdmx.data+csv", ".sdmx.csv"),
    "px": DownloadFormat("application/x-pc-axis", ".px"),
    "parquet": DownloadFormat("application/vnd.apache.parquet", ".parquet"),
    # The same with the page about the table beside it, in one file.
    "csv-zip": DownloadFormat("application/zip", ".zip"),
    "sdmx-csv-zip": DownloadFormat("application/zip", ".sdmx.zip"),
}


def format_of(named: str | None, target: Path) -> str:
    """The format that is named, or that the ending of a file tells.

    Examples:
        >>> format_of(None, Path("table.xlsx")), format_of("px", Path("folder"))
        ('xlsx', 'px')
    """
    if named is not None:
        if named not in FORMATS:
            raise UnknownName("format", str(named), known=FORMATS)
        return named
    # The longest ending first: .sdmx.csv is no .csv.
    for name, one in sorted(FORMATS.items(), key=lambda pair: -len(pair[1].ending)):
        if target.name.lower().endswith(one.ending):
            return name
    raise SpecError(
        f"Say in which format: format= one of {', '.join(FORMATS)}, or a file that ends like one."
    )


def name_of(headers: Message, chosen: str) -> str:
    """The name that the server gives a file, without anything that is a way to another folder."""
    said = headers.get_filename() or ""
    plain = re.sub(r'[\x00-\x1f<>:"/\\|?*]+', "-", said).strip(". -")
    ending = FORMATS[chosen].ending
    if not plain:
        plain = f"table{ending}"
    return plain[-120:]


def written(pieces: Iterator[bytes], target: Path, name: str, *, replace: bool) -> Path:
    """Write the pieces to a file, which gets its name when everything is in it."""
    path = target / name if target.is_dir() else target
    if not path.parent.is_dir():
        raise OutputError(f"The folder {path.parent} does not exist.")
    _check(path, replace)
    beside = path.parent / f".{secrets.token_hex(8)}.part"
    try:
        with beside.open("xb") as file:
            file.writelines(pieces)
        _check(path, replace)
        beside.replace(path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise OutputError(f"{path} cannot be written: {reason}.") from error
    finally:
        with suppress(OSError):
            beside.unlink()
    return path


def _check(path: Path, replace: bool) -> None:
    if path.is_dir():
        raise OutputError(f"{path} is a folder.")
    if (path.exists() or path.is_symlink()) and not replace:
        raise OutputError(
            f"{path} already exists. Choose another name, or say replace=True to replace it."
        )
