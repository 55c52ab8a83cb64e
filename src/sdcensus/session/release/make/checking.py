"""Checking a file as it stands on disk: what a file that fails this never gets into its place."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.errors import InputError, Refused, SdcensusError, Sentence
from sdcensus.formats.microdata.layout import parts_of, weight_of
from sdcensus.formats.microdata.read import MicrodataTable, read_microdata, table_texts
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.plan import Layout, MicrodataFormat
from sdcensus.model.release.release_file import ColumnKind, ReleaseFile
from sdcensus.model.schema.variable import Entity
from sdcensus.model.sentences import sentence
from sdcensus.session.publish.workplace import MANIFEST, WrittenFile, read_json

#: What the manifest of a file says about itself.
FORMAT_NAME, FORMAT_VERSION = "sdcensus-file", 1

Integers = npt.NDArray[Any]


@dataclass(frozen=True, slots=True)
class FileCheck:
    """What a check of a folder found. Public: it reads nothing but the folder.

    Attributes:
        folder: The folder.
        release: The file that it holds.
        files: How many files it lists.
        records: Records by unit.
        problems: What is wrong; empty if nothing is.
    """

    folder: Path
    release: str
    files: int
    records: Mapping[str, int]
    problems: tuple[Sentence, ...]

    @property
    def sound(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems


def check_folder(folder: str | Path, progress: Progress = no_progress) -> FileCheck:
    """Check a folder that ``release make`` has made: digests, formats, numbers, households.

    Raises:
        InputError: It is no folder of a file.
    """
    root = Path(folder)
    manifest = read_manifest(root)
    problems = list(_digest_problems(root, manifest))
    tables = _tables(manifest)
    if not problems:
        problems += _content_problems(root, tables, progress)
    return FileCheck(
        folder=root,
        release=str(manifest["release"]),
        files=len(manifest["files"]),
        records={str(each["unit"]): int(each["records"]) for each in tables},
        problems=tuple(problems),
    )


def read_manifest(root: Path) -> dict[str, Any]:
    """The manifest of a file.

    Raises:
        InputError: There is none, or it is damaged.
    """
    if not root.is_dir():
        what = "is a file, not a folder" if root.exists() else "does not exist"
        raise InputError(f"{root} {what}. Name the folder that sdcensus release make has made.")
    manifest = read_json(root / MANIFEST) if (root / MANIFEST).is_file() else {}
    if manifest.get("format") != FORMAT_NAME:
        raise InputError(
            f"{root} has no {MANIFEST} of sdcensus release make. Name the folder that it has made."
        )
    if manifest.get("version") != FORMAT_VERSION:
        raise InputError(f"{root / MANIFEST} was written by a newer sdcensus. Update sdcensus.")
    if not isinstance(manifest.get("files"), list) or not isinstance(manifest.get("tables"), list):
        raise InputError(f"{root / MANIFEST} is damaged. Make the file again.")
    return manifest


def _tables(manifest: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [dict(table) for table in manifest["tables"]]


def _digest_problems(root: Path, manifest: Mapping[str, Any]) -> Iterator[Sentence]:
    names = {MANIFEST}
    for line in manifest["files"]:
        written = WrittenFile.from_json(line)
        names.add(written.name)
        if Path(written.name).name != written.name:
            yield sentence("release.check.name", file=written.name)
        elif not (root / written.name).is_file():
            yield sentence("release.check.absent", file=written.name)
        elif not written.fits(root):
            yield sentence("release.check.changed", file=written.name)
    for path in sorted(root.iterdir()):
        if path.name not in names:
            yield sentence("release.check.strange", file=path.name)


def _content_problems(
    root: Path, tables: Sequence[Mapping[str, Any]], progress: Progress
) -> Iterator[Sentence]:
    """Every format says the same, units are numbered without gaps, households are whole."""
    first: dict[str, MicrodataTable] = {}
    for table in tables:
        for place, name in enumerate(table["files"]):
            progress("reading files back", place / len(table["files"]))
            try:
                read = read_microdata(root / name)
            except SdcensusError as error:
                yield sentence("release.check.unreadable", file=name, why=str(error))
                continue
            unit = str(table["unit"])
            known = first.setdefault(unit, read)
            if read.rows != int(table["records"]):
                yield sentence("release.check.rows", file=name)
            elif known is not read and known.differs_from(read):
                column = known.differs_from(read)[0]
                yield sentence("release.check.differs", file=name, column=column)
    for table in tables:
        unit = str(table["unit"])
        if unit in first:
            yield from _number_problems(table, first)


def _number_problems(
    table: Mapping[str, Any], read: Mapping[str, MicrodataTable]
) -> Iterator[Sentence]:
    unit, columns = str(table["unit"]), read[str(table["unit"])].columns
    numbers, held = _whole(columns.get(str(table["number"]))), None
    holder = table.get("holder")
    if holder:
        held = _whole(columns.get(str(holder["number"])))
        if held is None or int(held.max(initial=0)) > int(holder["records"]):
            yield sentence("release.check.holders", unit=unit)
            return
        if np.unique(held[held > 0]).size != int(holder["with_members"]):
            yield sentence("release.check.partly", unit=str(holder["unit"]))
    if numbers is None or not _without_gaps(numbers, held):
        yield sentence("release.check.gaps", unit=unit)
    weights = columns.get(str(table["weight"]))
    amounts = None if weights is None else _amounts(weights)
    if amounts is None or not (amounts > 0).all():
        yield sentence("release.check.weights", unit=unit)


def _without_gaps(numbers: Integers, held: Integers | None) -> bool:
    """Whether units are numbered from 1 on: all of them, or those of each household."""
    households = np.zeros(numbers.size, dtype=np.int64) if held is None else held
    order = np.lexsort((numbers, households))
    starts = np.flatnonzero(np.append(True, np.diff(households[order]) != 0))
    sizes = np.diff(np.append(starts, numbers.size))
    expected = np.arange(numbers.size) - np.repeat(starts, sizes) + 1
    return bool(np.array_equal(numbers[order], expected))


def _whole(texts: pa.Array | None) -> Integers | None:
    """Whole numbers of a column, 0 where there is nothing; ``None`` for something else."""
    values = None if texts is None else _amounts(texts)
    if values is None or not np.array_equal(values, np.floor(values)):
        return None
    return values.astype(np.int64)


def _amounts(texts: pa.Array) -> Integers | None:
    try:
        numbers = pc.if_else(pc.equal(texts, ""), "0", texts).cast(pa.float64())
    except pa.ArrowInvalid:
        return None
    return np.asarray(numbers, dtype=np.float64)


def manifest_tables(file: ReleaseFile, layout: Layout, folder: Path) -> list[dict[str, Any]]:
    """What the manifest says about the tables of a file that stands in a folder."""
    endings = {f".{format.value}" for format in MicrodataFormat}
    every = sorted(path.name for path in folder.iterdir() if path.suffix in endings)
    households = {table.entity: table.rows for table in file.tables}.get(Entity.HOUSEHOLD, 0)
    tables = []
    for part in parts_of(file, layout):
        columns = part.table.columns
        numbers = [each for each in columns if each.kind is ColumnKind.NUMBER_OF_UNIT]
        weight = weight_of(part.table)
        entry: dict[str, Any] = {
            "unit": part.table.entity.value,
            "records": part.table.rows,
            "number": numbers[0].name,
            "weight": "" if weight is None else weight.name,
            "files": [name for name in every if name.partition(".")[0] == part.stem],
        }
        if len(numbers) > 1:
            held = numbers[1].values
            entry["holder"] = {
                "unit": Entity.HOUSEHOLD.value,
                "number": numbers[1].name,
                "records": households,
                "with_members": int(np.unique(held[held > 0]).size),
            }
        tables.append(entry)
    return tables


def check_made(
    folder: Path,
    file: ReleaseFile,
    layout: Layout,
    progress: Progress = no_progress,
) -> None:
    """Refuse a file whose files on disk do not say what was to be published.

    Raises:
        Refused: With everything that is wrong.
    """
    problems = list(check_folder(folder, progress).problems)
    manifest = read_manifest(folder)
    for part, table in zip(parts_of(file, layout), manifest["tables"], strict=True):
        read = read_microdata(folder / table["files"][0])
        problems += [
            sentence("release.check.differs", file=table["files"][0], column=column)
            for column in read.differs_from(table_texts(part.table))
        ]
    if problems:
        lines = "\n".join(f"  {problem}" for problem in problems)
        raise Refused(f"The file fails its own check and is not put into its place:\n{lines}")
