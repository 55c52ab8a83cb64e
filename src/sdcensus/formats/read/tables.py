"""Reading published tables back, as anybody can who has the files.

A file that sdcensus wrote describes itself: its code lists stand in ``NAME.about.json`` beside a
csv file, or in the metadata of a Parquet file. Tables of other tools are read from their columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np

from sdcensus.errors import InputError
from sdcensus.formats.read.delivered import check_delivered, delivered_table
from sdcensus.formats.read.foreign import ForeignTable, foreign_table, foreign_tables
from sdcensus.formats.read.raw import (
    NoPublishedTable,
    RawTable,
    about_beside,
    about_file,
    about_inside,
    read_raw,
)
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.provenance import Provenance
from sdcensus.model.published.table import PublishedTable, SparseTable, Table
from sdcensus.model.spec.document import spec_from_json
from sdcensus.model.text import Text

#: How the names of files end that can be read back.
READABLE = (".csv", ".parquet")
_WORKBOOK = ".xlsx"
#: Tables with shapes: one row for each area.
_LAYERS = (".gpkg", ".geo.parquet")
_SDMX = ".sdmx.csv"
#: The columns with which the lines of an SDMX-CSV file begin.
_SDMX_COLUMNS = {"STRUCTURE", "STRUCTURE_ID", "ACTION"}


#: Why tables of sums are passed over by what is about counts.
_SUMS = "sums of amounts are not counts; what they give away is measured by the office"


@dataclass(frozen=True, slots=True)
class SkippedFile:
    """A file of a folder that was not read, and why."""

    name: str
    reason: str


@dataclass(frozen=True, slots=True, eq=False)
class PublishedFolder:
    """The published tables of a folder, and its files that were not read."""

    tables: tuple[PublishedTable, ...]
    skipped: tuple[SkippedFile, ...] = ()

    def of_counts(self, folder: str | Path) -> PublishedFolder:
        """The same without tables of sums, which then stand among what was not read.

        Args:
            folder: What it is called in messages.

        Raises:
            InputError: All tables are of sums.
        """
        counts = tuple(each for each in self.tables if each.table.spec.amount is None)
        sums = tuple(
            SkippedFile(each.name, _SUMS)
            for each in self.tables
            if each.table.spec.amount is not None
        )
        if not counts:
            raise InputError(
                f"{folder} holds tables of sums only. {_SUMS[0].upper()}{_SUMS[1:]}: sdcensus"
                " assess STORE --by AXES --measure 'sum(VARIABLE)'."
            )
        return PublishedFolder(counts, (*self.skipped, *sums))


def read_published(path: str | Path) -> PublishedTable:
    """Read one published table from a ``.csv`` or ``.parquet`` file.

    Raises:
        InputError: It is no such file, is damaged, or does not fit its description.
    """
    published_table = _read_file(Path(path), Path(path).name)
    return (
        foreign_tables([published_table])[0]
        if isinstance(published_table, ForeignTable)
        else published_table
    )


def scan_published(
    folder: str | Path,
    *,
    skip_unreadable: bool = False,
    most_cells: int | None = None,
    progress: Progress = no_progress,
) -> PublishedFolder:
    """Read all published tables of a folder, and say which files were left out.

    A table that stands there twice, as csv and as Parquet, is read once.

    Args:
        folder: The folder.
        skip_unreadable: Go on without files that cannot be read; else the first one is an error.
        most_cells: Tables with more cells are left out, and not even read.
        progress: Told how far it is.
    """
    root = Path(folder)
    if not root.is_dir():
        what = "is a file, not a folder" if root.exists() else "does not exist"
        raise InputError(f"{root} {what}. Name the folder that holds the published tables.")
    files = sorted(
        (path.relative_to(root).as_posix(), path)
        for path in root.rglob("*")
        if path.is_file() and not any(part.startswith(".") for part in path.relative_to(root).parts)
    )
    found: list[PublishedTable | ForeignTable] = []
    skipped = [
        SkippedFile(name, "workbooks are for people; the same table as .csv or .parquet is read")
        for name, path in files
        if path.suffix.lower() == _WORKBOOK
    ]
    skipped += [
        SkippedFile(name, "layers are for maps; the same table as .csv or .parquet is read")
        for name, path in files
        if path.name.lower().endswith(_LAYERS)
    ]
    chosen = [
        (name, path)
        for name, path in files
        if path.suffix.lower() in READABLE
        and not path.name.lower().endswith(_LAYERS)
        and not _has_twin(path)
    ]
    for at, (name, path) in enumerate(chosen):
        progress("reading published tables", at / len(chosen))
        try:
            found.append(_read_file(path, name, most_cells))
        except InputError as error:
            if not skip_unreadable and not isinstance(error, NoPublishedTable):
                raise
            skipped.append(SkippedFile(name, str(error)))
    tables = _in_order(found)
    if not tables:
        raise InputError(_nothing(root, skipped))
    return PublishedFolder(tables, tuple(skipped))


def _has_twin(path: Path) -> bool:
    """Whether this is an SDMX-CSV file, and its table stands beside it in a form that is read."""
    table, ending = path.name[: -len(_SDMX)], path.name[-len(_SDMX) :]
    own = about_file(path).is_file()  # a table that is called so itself
    return (
        not own
        and ending.lower() == _SDMX
        and any(path.with_name(f"{table}{one}").is_file() for one in READABLE)
    )


def _in_order(found: Sequence[PublishedTable | ForeignTable]) -> tuple[PublishedTable, ...]:
    """All tables by name, each once; code lists of other tools' tables are made together."""
    foreign = [foreign_table for foreign_table in found if isinstance(foreign_table, ForeignTable)]
    tables = [
        published_table for published_table in found if isinstance(published_table, PublishedTable)
    ]
    tables += foreign_tables(foreign)
    kept: list[PublishedTable] = []
    for published_table in sorted(tables, key=lambda table: table.name):
        if not any(_same(published_table, other) for other in kept):
            kept.append(published_table)
    return tuple(kept)


def _same(one: PublishedTable, other: PublishedTable) -> bool:
    if Path(one.name).with_suffix("") != Path(other.name).with_suffix(""):
        return False
    if isinstance(one.table, Table) and isinstance(other.table, Table):
        return one.table == other.table
    if isinstance(one.table, SparseTable) and isinstance(other.table, SparseTable):
        return (
            one.table.spec == other.table.spec
            and np.array_equal(one.table.numbers, other.table.numbers)
            and np.array_equal(one.table.published, other.table.published)
            and one.table.small == other.table.small
        )
    return False


def _nothing(root: Path, skipped: Sequence[SkippedFile]) -> str:
    text = f"{root} holds no published table that can be read (.csv or .parquet)."
    books = [
        skipped_file.name
        for skipped_file in skipped
        if skipped_file.name.lower().endswith(_WORKBOOK)
    ]
    others = [skipped_file for skipped_file in skipped if skipped_file.name not in books]
    if others:
        text += " " + " ".join(f"{other.name}: {other.reason}" for other in others[:3])
    elif books:
        text += (
            f" There are only workbooks ({', '.join(books[:3])}), which are laid out for people."
            " Write the same tables with --out NAME.csv or NAME.parquet."
        )
    return text


# ---------------------------------------------------------------- one file


def _read_file(
    path: Path, name: str, most_cells: int | None = None
) -> PublishedTable | ForeignTable:
    ending = path.suffix.lower()
    if ending == _WORKBOOK:
        raise InputError(
            f"{path}: workbooks are laid out for people. Give the same table as .csv or .parquet."
        )
    if ending not in READABLE:
        raise InputError(f"{path}: published tables are read from .csv and .parquet files.")
    if not path.is_file():
        raise InputError(f"{path} does not exist, or is no file.")
    about = about_beside(path) if ending == ".csv" else None
    if most_cells is not None:
        _check_size(path, about if ending == ".csv" else about_inside(path), most_cells)
    raw = read_raw(path, about)
    _check_public(raw)
    if raw.about is None:
        if set(raw.columns) >= _SDMX_COLUMNS:
            raise NoPublishedTable(
                f"{path} is an SDMX-CSV file, whose code lists stand elsewhere. The same table as"
                " .csv or .parquet is read."
            )
        return foreign_table(raw, name)
    return _described(raw, raw.about, name)


def _check_size(path: Path, about: dict[str, Any] | None, most: int) -> None:
    """Leave out a table by what stands about it, before its values take memory."""
    document = None if about is None else about.get("specification")
    if not isinstance(document, dict):
        return
    cells = spec_from_json(document, where=str(path)).cells
    if cells > most:
        raise NoPublishedTable(
            f"{path} has {cells:,} cells, and at most {most:,} are held at a time."
        )


def _check_public(raw: RawTable) -> None:
    """Refuse what must never lie among published files."""
    if "cell_key" in raw.columns:
        raise InputError(
            f"{raw.path} holds cell keys: it is a confidential file of the office, not a published"
            " table. Take it out of the folder, and find out who has seen it."
        )
    if "probability" in raw.columns and not {"deviation", "target"}.isdisjoint(raw.columns):
        raise InputError(
            f"{raw.path} holds a perturbation table: it is the noise itself, a confidential file of"
            " the office. Take it out of the folder, and find out who has seen it."
        )
    if {"parts", "error_factor"} <= set(raw.columns):
        raise InputError(
            f"{raw.path} holds sums of published values, which say nothing that the table itself"
            " does not say. Leave it out."
        )


def _described(raw: RawTable, about: dict[str, Any], name: str) -> PublishedTable:
    check_delivered(raw, about)
    document = about.get("specification")
    if not isinstance(document, dict):
        raise InputError(
            f'{raw.path}: what stands about the table has no code lists ("specification"); an'
            " older version of sdcensus wrote it. Publish the table again; or take the description"
            " away, and the table is read from its columns alone."
        )
    spec = spec_from_json(document, where=str(raw.path))
    provenance = None
    if "provenance" in about:
        provenance = _provenance(about["provenance"], raw.path)
    if provenance is not None and provenance.spec_hash != spec.hash():
        raise InputError(
            f"{raw.path}: the code lists are not those of the table that was published; the"
            " description was changed, or belongs to another table."
        )
    notes = _notes(about.get("notes", []), raw.path)
    return PublishedTable(name, delivered_table(raw, about, spec, notes), provenance)


def _notes(document: object, path: Path) -> tuple[Text, ...]:
    texts = []
    for one in document if isinstance(document, list) else [None]:
        if not isinstance(one, dict) or not all(isinstance(text, str) for text in one.values()):
            raise InputError(f'{path}: what readers should know ("notes") is damaged.')
        texts.append(Text.of(one))
    return tuple(texts)


def _provenance(document: object, path: Path) -> Provenance:
    numbers = ("key_version", "smallest_group")
    kinds = {field.name: int if field.name in numbers else str for field in fields(Provenance)}
    # What there is not is left out, as in every file from before there was any.
    absent: dict[str, Any] = {"smallest_group": 0, "lineage": ""}
    given = absent | document if isinstance(document, dict) else {}
    if any(type(given.get(name)) is not kind for name, kind in kinds.items()):
        raise InputError(f'{path}: how the table was made ("provenance") is damaged.')
    return Provenance(**{name: given[name] for name in kinds})
