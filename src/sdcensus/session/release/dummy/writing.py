"""Dummy files on disk: records, codebook, DDI, and a note that nobody is in them."""

from __future__ import annotations

import secrets
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import OutputError
from sdcensus.formats.microdata.ddi import write_ddi
from sdcensus.formats.microdata.write import write_microdata
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.plan import Layout, MicrodataFormat
from sdcensus.model.release.release_file import ReleaseFile
from sdcensus.report.release.codebook import codebook_pages
from sdcensus.session.release.dummy.drawing import RECORDS, dummy_file
from sdcensus.session.release.dummy.structure import (
    PlannedStructure,
    planned_structure,
    published_tables,
    structure_of_tables,
)

NOTE_FILE = "DUMMY-DATA.txt"


@dataclass(frozen=True, slots=True, eq=False)
class WrittenDummy:
    """A dummy file that was written.

    Attributes:
        file: What it holds. Public, and about nobody.
        files: Names of the files in the folder.
        tables: How many published tables it was drawn from.
    """

    file: ReleaseFile
    files: tuple[str, ...]
    tables: int


def write_dummy(
    published: str | Path,
    out: str | Path,
    *,
    release: str | Path | None = None,
    design: str = "",
    records: int = RECORDS,
    formats: Sequence[MicrodataFormat] = (MicrodataFormat.CSV,),
    progress: Progress = no_progress,
) -> WrittenDummy:
    """Draw a dummy file from published tables and write it to a new folder.

    Args:
        published: A folder of published tables, or a registry of them.
        out: The folder, which appears when all of it is written.
        release: The document whose design gives the structure; without one it is that of the
            published tables.
        design: The design; the one to make if none is named.
        records: How many persons.
        formats: Formats of the records.
        progress: Told how far it is.

    Raises:
        OutputError: The folder is there already, or cannot be written.
        InputError: There are no published tables.
    """
    target = Path(out)
    if target.exists():
        raise OutputError(f"{target} already exists. Choose another name or remove it first.")
    if not target.absolute().parent.is_dir():
        raise OutputError(f"The folder {target.parent} does not exist.")
    tables = published_tables(published, progress)
    planned = (
        PlannedStructure(structure_of_tables(tables))
        if release is None
        else planned_structure(release, design)
    )
    progress("drawing records", 0.0)
    file = dummy_file(
        planned.structure, tables, records=records, harmonisation=planned.harmonisation
    )
    partial = target.with_name(f".{target.name}.partial-{secrets.token_hex(4)}")
    try:
        partial.mkdir()
        _write(file, partial, formats, planned.layout, progress)
        names = tuple(sorted(path.name for path in partial.iterdir()))
        partial.replace(target)
    except OSError as error:
        raise OutputError(f"{target} cannot be written: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return WrittenDummy(file, names, len(tables))


def _write(
    file: ReleaseFile,
    folder: Path,
    formats: Sequence[MicrodataFormat],
    layout: Layout,
    progress: Progress,
) -> None:
    write_microdata(file, folder, formats, layout, progress=progress)
    write_ddi(file, folder, layout)
    for name, content in codebook_pages(file).items():
        (folder / f"{file.name}-{name}").write_bytes(content)
    lines = [
        f"{file.title.show(language)}\n{note.show(language)}\n"
        for language in file.languages
        for note in file.notes
    ]
    (folder / NOTE_FILE).write_bytes("\n".join(lines).encode("utf-8"))
