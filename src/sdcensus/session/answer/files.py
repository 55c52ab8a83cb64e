"""An answer as a file: the formats of the batch, with everything that a reader needs inside."""

from __future__ import annotations

import io
import tempfile
import zipfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdcensus.errors import Refused, UnknownName
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.session.answer.service import Answer

#: What the public can have: the format of the batch, the type of its first file. Formats whose
#: notes stand in a file of their own also come as one zip file with both.
MEDIA_TYPES = {
    "json-stat": "application/json",
    "csv": "text/csv; charset=utf-8",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "sdmx-csv": "application/vnd.sdmx.data+csv; version=1.0; charset=utf-8",
    "px": "application/x-pc-axis",
    "parquet": "application/vnd.apache.parquet",
}
ZIPPED = ("csv", "sdmx-csv")
ZIP_ENDING = "-zip"
FORMATS = (*MEDIA_TYPES, *(f"{one}{ZIP_ENDING}" for one in ZIPPED))

#: The time of everything in a zip file: the same answer gives the same bytes.
_NO_TIME = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True, slots=True)
class Rendered:
    """A file that somebody downloads."""

    content: bytes
    media_type: str
    filename: str


def render(answer: Answer, format_name: str, language: str) -> Rendered:
    """The table of an answer as a file.

    Args:
        answer: The answer.
        format_name: One of ``FORMATS``.
        language: The language of labels and notes.

    Raises:
        Refused: The answer is a refusal.
    """
    table = answer.table
    if table is None:
        answer.verdict.raise_if_refused()
        raise Refused("There is no table.")
    if format_name not in FORMATS:
        raise UnknownName("format", format_name, known=FORMATS)
    # Here and not above: a server that starts needs nothing that writes files.
    from sdcensus.formats.write import check_formats, write_delivered

    plain = format_name.removesuffix(ZIP_ENDING)
    check_formats([plain])
    with tempfile.TemporaryDirectory(prefix="sdcensus-") as name:
        paths = write_delivered(
            table, Path(name), formats=(plain,), languages=(language,), labels=True
        )
        files = {path.name: path.read_bytes() for path in paths}
    first = next(iter(files))
    if plain == format_name:
        return Rendered(files[first], MEDIA_TYPES[plain], first)
    return Rendered(_zipped(files), "application/zip", f"{Path(first).stem}.zip")


def json_stat(table: DeliveredTable, language: str | None = None) -> dict[str, Any]:
    """A table as a JSON-stat 2.0 dataset, in plain values."""
    from sdcensus.formats.write.json_stat import json_stat as made

    return made(table, language)


def _zipped(files: dict[str, bytes]) -> bytes:
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            entry = zipfile.ZipInfo(name, _NO_TIME)
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = 0o644 << 16
            archive.writestr(entry, content)
    return target.getvalue()


__all__ = ["FORMATS", "MEDIA_TYPES", "ZIPPED", "ZIP_ENDING", "Rendered", "json_stat", "render"]
