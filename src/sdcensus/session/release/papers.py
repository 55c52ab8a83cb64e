"""The public papers of a file: codebook, lists, terms, and what catalogues read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sdcensus.formats.microdata.ddi import write_ddi
from sdcensus.formats.microdata.nada import write_nada
from sdcensus.formats.microdata.write import write_microdata
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.file_variable import FileDesign
from sdcensus.model.release.plan import Documentation, ReleasePlan
from sdcensus.model.release.release_file import ReleaseFile
from sdcensus.report.release.codebook import codebook_pages
from sdcensus.report.release.removed import removed_files
from sdcensus.report.release.terms import terms_files


def write_file(
    file: ReleaseFile,
    plan: ReleasePlan,
    design: FileDesign | None,
    folder: Path,
    progress: Progress = no_progress,
) -> None:
    """Write records and papers of a file into a folder that exists.

    Args:
        file: The file.
        plan: Formats, layout, documentation.
        design: Its code lists, for the list of recodes; ``None`` for a file of nobody.
        folder: Where to.
        progress: Told how far it is.
    """
    making = plan.making
    write_microdata(file, folder, making.formats, making.layout, progress=progress)
    if Documentation.DDI in making.documentation:
        write_ddi(file, folder, making.layout)
    if Documentation.NADA in making.documentation:
        write_nada(file, folder, making.layout)
    progress("writing papers", 0.0)
    for name, content in _pages(file, plan, design):
        (folder / name).write_bytes(content)


def _pages(
    file: ReleaseFile, plan: ReleasePlan, design: FileDesign | None
) -> Iterator[tuple[str, bytes]]:
    if Documentation.HTML in plan.making.documentation:
        yield from codebook_pages(file).items()
    yield from removed_files(file, design).items()
    yield from terms_files(file).items()
