"""Files of published tables: formats, names, waiting for large ones, writing them whole."""

from __future__ import annotations

import re
import secrets
import time
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from email.message import Message
from pathlib import Path
from typing import Any

from sdcensus.client.catalogue import understood
from sdcensus.client.failures import ServiceError, StillRunning, failure
from sdcensus.client.transport import Transport
from sdcensus.errors import OutputError, SpecError, UnknownName
from sdcensus.model.progress import Progress
from sdcensus.model.quantities import waiting_text


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
        for described in document["formats"]:
            name, endings = str(described["name"]), list(map(str, described["endings"]))
            formats.append(DownloadFormat(name, str(described["media_type"]), endings[0]))
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
    for download_format in sorted(formats, key=lambda table_format: -len(table_format.ending)):
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


#: Pauses between two looks at a job, in seconds: the first, and the longest.
SHORTEST_PAUSE, LONGEST_PAUSE = 0.1, 5.0


def await_job(transport: Transport, job: str, *, wait: float, progress: Progress) -> None:
    """Wait until a job is done.

    Raises:
        StillRunning: It is not done in time.
        Refused: The policy does not allow the table.
        ServiceError: It failed, or the server has forgotten it.
    """
    until = time.monotonic() + wait
    pause = SHORTEST_PAUSE
    while True:
        received = transport.send("GET", transport.address(f"/jobs/{job}"))
        document = received.json()
        with understood():
            state = document["job"]
            status, stage = str(state["status"]), str(state.get("stage") or state["status"])
            done = min(max(float(state.get("progress") or 0.0), 0.0), 1.0)
        if status == "done":
            progress(stage, 1.0)
            return
        if status not in ("waiting", "running"):
            said = state.get("error") if isinstance(state.get("error"), dict) else {}
            if said.get("code") == "refused":
                raise failure(403, {"error": said})
            message = said.get("message") or "Ask again."
            raise ServiceError(f"The large table could not be made: {message}", code=status)
        progress(stage, done)
        left = until - time.monotonic()
        if left <= 0:
            raise StillRunning(
                f"The table is not ready after {waiting_text(wait)}. Give it more time with wait=,"
                " or ask for a smaller table.",
                code=status,
            )
        transport.sleep(min(pause, left))
        pause = min(1.5 * pause, LONGEST_PAUSE)
