"""Files of published tables: formats, names, and writing them whole or not at all."""

from __future__ import annotations

import re
import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import Any

from sdcensus.client.catalogue import understood
from sdcensus.errors import OutputError, SpecError, UnknownName


@dataclass(frozen=True, slots=True)
class DownloadFormat:
    """A format in which a server gives tables."""

    name: str
    media_type: str
    ending: str


def formats_of(document: Any) -> tuple[DownloadFormat, ...]:
    """Read the formats of the answer about data sets; first come those without an archive."""
    formats, archives = [], []
    with understood():
        for one in document["formats"]:
            name, endings = str(one["name"]), list(map(str, one["endings"]))
            formats.append(DownloadFormat(name, str(one["media_type"]), endings[0]))
            if len(endings) > 1:
                # The same with what stands beside it, in one file.
                inner = endings[0].rpartition(".")[0]
                archives.append(DownloadFormat(f"{name}-zip", "application/zip", f"{inner}.zip"))
    return (*formats, *archives)


def format_of(named: str | None, target: Path, formats: Sequence[DownloadFormat]) -> DownloadFormat:
    """The format that is named, or that the ending of a file tells.

    Examples:
        >>> px = DownloadFormat("px", "application/x-pc-axis", ".px")
        >>> format_of(None, Path("table.px"), [px]) == format_of("px", Path("folder"), [px]) == px
        True
    """
    names = [download_format.name for download_format in formats]
    if named is not None:
        if named not in names:
            raise UnknownName("format", str(named), known=names)
        return formats[names.index(named)]
    # The longest ending first: .sdmx.csv is no .csv.
    for download_format in sorted(formats, key=lambda one: -len(one.ending)):
        if target.name.lower().endswith(download_format.ending):
            return download_format
    raise SpecError(
        f"Say in which format: format= one of {', '.join(names)}, or a file that ends like one."
    )


def name_of(headers: Message, chosen: DownloadFormat) -> str:
    """The name that the server gives a file, without anything that is a way to another folder."""
    said = headers.get_filename() or ""
    plain = re.sub(r'[\x00-\x1f<>:"/\\|?*]+', "-", said).strip(". -")
    if not plain:
        plain = f"table{chosen.ending}"
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
