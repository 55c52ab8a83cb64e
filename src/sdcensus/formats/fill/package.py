"""An ``.xlsx`` package: its sheets by name, and a copy of it in which some parts are others."""

from __future__ import annotations

import io
import posixpath
import re
import zipfile
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from sdcensus.documents.workbooks.files import read_workbook_file
from sdcensus.errors import InputError
from sdcensus.formats.fill.sheet import NotReadableError, local, parse, parser_for

_BROKEN = (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError, RuntimeError, OSError)
_FULL = re.compile(rb"""\s+fullCalcOnLoad\s*=\s*("[^"]*"|'[^']*')""")
#: What may stand behind the settings of calculation in a workbook.
_BEHIND = frozenset(
    {
        *("oleSize", "customWorkbookViews", "pivotCaches", "smartTagPr", "smartTagTypes"),
        *("webPublishing", "fileRecoveryPr", "webPublishObjects", "extLst"),
    }
)


@dataclass(frozen=True, slots=True)
class Package:
    """The parts of a workbook.

    Attributes:
        path: The file.
        parts: Its parts by name, in their order.
        book: The name of the part that lists the sheets.
        sheets: The name of each sheet, and of its part.
    """

    path: Path
    parts: dict[str, bytes]
    infos: tuple[zipfile.ZipInfo, ...]
    book: str
    sheets: tuple[tuple[str, str], ...]

    @classmethod
    def open(cls, path: Path) -> Package:
        """Read a workbook that a user hands over."""
        content = read_workbook_file(path, what="template")
        try:
            with zipfile.ZipFile(io.BytesIO(content)) as package:
                infos = tuple(package.infolist())
                parts = {info.filename: package.read(info) for info in infos}
        except _BROKEN:
            raise InputError(f"{path} is a damaged workbook.") from None
        try:
            book = _related(parts, "", "officeDocument")[0][1]
            names = _sheet_ids(parts[book])
            targets = dict(_related(parts, book, "worksheet"))
        except (NotReadableError, KeyError, IndexError):
            raise InputError(f"{path} is no .xlsx workbook, or a damaged one.") from None
        sheets = tuple((name, targets[one]) for name, one in names if targets.get(one) in parts)
        return cls(path, parts, infos, book, sheets)

    def related(self, part: str, kind: str) -> list[str]:
        """The parts of a kind that another part names."""
        return [target for _, target in _related(self.parts, part, kind)]

    def write(self, file: BinaryIO, changed: Mapping[str, bytes]) -> None:
        """Write a copy in which some parts are others; names, order and times stay."""
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED) as package:
            for zip_info in self.infos:
                info = zipfile.ZipInfo(zip_info.filename, zip_info.date_time)
                info.external_attr = zip_info.external_attr
                info.compress_type = (
                    zipfile.ZIP_STORED
                    if zip_info.compress_type == zipfile.ZIP_STORED
                    else zipfile.ZIP_DEFLATED
                )
                package.writestr(
                    info, changed.get(zip_info.filename, self.parts[zip_info.filename])
                )


def _related(parts: Mapping[str, bytes], part: str, kind: str) -> list[tuple[str, str]]:
    """Ids and names of the parts of a kind that a part names."""
    folder, name = posixpath.split(part)
    content = parts.get(posixpath.join(folder, "_rels", f"{name}.rels"))
    found: list[tuple[str, str]] = []
    if content is None:
        return found

    def start(element: str, attributes: dict[str, str]) -> None:
        if local(element) != "Relationship" or attributes.get("TargetMode") == "External":
            return
        if attributes.get("Type", "").rpartition("/")[2] == kind:
            target = posixpath.normpath(posixpath.join("/", folder, attributes.get("Target", "")))
            found.append((attributes.get("Id", ""), target.lstrip("/")))

    parser = parser_for(content)
    parser.StartElementHandler = start
    parse(parser, content)
    return found


def _sheet_ids(content: bytes) -> list[tuple[str, str]]:
    """The name of each sheet and the id under which its part is known."""
    found: list[tuple[str, str]] = []

    def start(element: str, attributes: dict[str, str]) -> None:
        if local(element) == "sheet":
            ids = [value for name, value in attributes.items() if local(name) == "id"]
            found.append((attributes.get("name", ""), ids[0] if ids else ""))

    parser = parser_for(content)
    parser.StartElementHandler = start
    parse(parser, content)
    return found


def calculated_anew(content: bytes) -> bytes:
    """The part that lists the sheets, asking for formulas to be computed when it is opened."""
    places: dict[str, int] = {}
    depth = 0

    def start(element: str, _: dict[str, str]) -> None:
        nonlocal depth
        depth += 1
        name = local(element)
        if depth == 2 and (name == "calcPr" or name in _BEHIND):
            places.setdefault("calcPr" if name == "calcPr" else "behind", parser.CurrentByteIndex)

    def end(_: str) -> None:
        nonlocal depth
        depth -= 1
        if depth == 0:
            places["end"] = parser.CurrentByteIndex

    parser = parser_for(content)
    parser.StartElementHandler, parser.EndElementHandler = start, end
    parse(parser, content)
    if "calcPr" in places:
        at = places["calcPr"]
        stop = content.index(b">", at) + 1
        tag = _FULL.sub(b"", content[at:stop])
        closing = b"/>" if tag.endswith(b"/>") else b">"
        tag = tag[: -len(closing)].rstrip() + b' fullCalcOnLoad="1"' + closing
        return content[:at] + tag + content[stop:]
    at = places.get("behind", places["end"])
    prefix = re.match(rb"</?((?:[\w.-]+:)?)", content[at:])
    name = (prefix[1] if prefix is not None else b"") + b"calcPr"
    return content[:at] + b"<" + name + b' fullCalcOnLoad="1"/>' + content[at:]
