"""The public papers of a file: codebook, lists, terms, and what catalogues read."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from sdcensus.documents.mapping.harmonisation import read_harmonisation
from sdcensus.formats.microdata.ddi import write_ddi
from sdcensus.formats.microdata.nada import write_nada
from sdcensus.formats.microdata.write import write_microdata
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.file_variable import FileDesign
from sdcensus.model.release.plan import Documentation, ReleasePlan
from sdcensus.model.release.release_file import ReleaseFile
from sdcensus.report.release.codebook import codebook_pages
from sdcensus.report.release.removed import recoded_codes, removed_csv, removed_page
from sdcensus.report.release.terms import terms, terms_page
from sdcensus.session.release.make.harmonisation import harmonised
from sdcensus.store.census_store import CensusStore


def with_harmonised(file: ReleaseFile, design: FileDesign, plan: ReleasePlan) -> ReleaseFile:
    """A file with international codes beside its own, where the plan names a mapping."""
    if plan.making.harmonisation is None:
        return file
    schema = CensusStore.open(plan.store).schema
    return harmonised(file, read_harmonisation(plan.making.harmonisation, schema), design)


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
    """Every paper by its name: the first language without a suffix."""
    if Documentation.HTML in plan.making.documentation:
        yield from codebook_pages(file).items()
    recodes = () if design is None else recoded_codes(design)
    for place, language in enumerate(file.languages or ("en",)):
        suffix = "" if place == 0 else f".{language}"
        yield f"removed-and-recoded{suffix}.html", removed_page(file, language, recodes).encode()
        yield f"removed-and-recoded{suffix}.csv", removed_csv(file, language, recodes)
        yield f"terms{suffix}.html", terms_page(file, language).encode()
        yield f"terms{suffix}.txt", terms(file, language).encode()
