"""Papers about files as files: those of the office for their owner alone, the others for all."""

from __future__ import annotations

import secrets
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from sdcensus.errors import OutputError
from sdcensus.formats.shared.sheets import library
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.release.changes import RecodeRow
from sdcensus.model.release.release_file import ReleaseFile
from sdcensus.model.text import Text
from sdcensus.report.charts import require_libraries
from sdcensus.report.new_folder import write_new_folder
from sdcensus.report.release import catalogue, removed, terms
from sdcensus.report.release.assessment import assessment_page
from sdcensus.report.release.codebook import codebook_pages
from sdcensus.report.release.done import WhatWasDone, done_json, done_page
from sdcensus.report.release.languages import pages, spoken
from sdcensus.report.release.results import ReleaseAssessment
from sdcensus.report.release.workbook import assessment_tables, assessment_workbook
from sdcensus.store.owner_only import write_owner_only

#: What the files of an assessment are called, besides a csv file for each table.
PAGE, WORKBOOK = "assessment.html", "assessment.xlsx"
#: What the office keeps about the making of a file.
DONE_PAGE, DONE_DOCUMENT = "what-was-done.html", "what-was-done.json"


def require_assessment_libraries() -> None:
    """Say before any work if what draws or writes workbooks is not installed."""
    require_libraries()
    library()


def assessment_files(
    assessment: ReleaseAssessment,
    language: str | None = None,
    *,
    progress: Progress = no_progress,
) -> dict[str, bytes]:
    """Every file of an assessment by its name. Confidential."""
    return {
        PAGE: assessment_page(assessment, language, progress=progress).encode("utf-8"),
        WORKBOOK: assessment_workbook(assessment, language),
        **dict(assessment_tables(assessment, language)),
    }


def write_assessment(
    assessment: ReleaseAssessment,
    folder: str | Path,
    language: str | None = None,
    *,
    progress: Progress = no_progress,
) -> tuple[Path, ...]:
    """Write the page, the workbook and the tables to a new folder: all of them, or nothing."""
    return write_new_folder(folder, assessment_files(assessment, language, progress=progress))


# ------------------------------------------------------------------------------ what was done


def write_done(done: WhatWasDone, folder: Path, language: str | None = None) -> tuple[Path, Path]:
    """Write what was done into the folder of the office; older papers are replaced."""
    write_owner_only(folder / DONE_PAGE, done_page(done, language).encode("utf-8"))
    write_owner_only(folder / DONE_DOCUMENT, done_json(done))
    return folder / DONE_PAGE, folder / DONE_DOCUMENT


# ------------------------------------------------------------------------------ public papers


def public_papers(
    file: ReleaseFile,
    languages: Sequence[str] = (),
    *,
    recodes: Sequence[RecodeRow] = (),
    template: str | None = None,
) -> dict[str, bytes]:
    """The papers that go with a file, by their names: codebook, list of changes, terms.

    Args:
        file: The file.
        languages: Those of the file if none is named.
        recodes: Codes that stand for several codes of the census.
        template: The office's own terms instead of ours.
    """
    chosen = languages or file.languages

    def changes(language: str, others: Sequence[str]) -> str:
        return removed.removed_page(file, language, recodes, others=others)

    def rules(language: str, others: Sequence[str]) -> str:
        return terms.terms_page(file, language, template=template, others=others)

    def plain(language: str, others: Sequence[str]) -> str:
        return terms.terms(file, language, template=template)

    return {
        **codebook_pages(file, chosen),
        **pages(removed.STEM, ".html", chosen, changes),
        f"{removed.STEM}.csv": removed.removed_csv(file, spoken(chosen)[0], recodes),
        **pages(terms.STEM, ".html", chosen, rules),
        **pages(terms.STEM, ".txt", chosen, plain),
    }


def write_codebook(
    file: ReleaseFile, folder: Path, languages: Sequence[str] = ()
) -> tuple[Path, ...]:
    """Write the codebook into a folder, a page for each language."""
    return write_public(folder, codebook_pages(file, languages))


def catalogue_pages(
    entries: Callable[[str], Sequence[catalogue.CatalogueEntry]],
    languages: Sequence[str] = (),
    *,
    producer: Text = Text(),
    contact: str = "",
) -> dict[str, bytes]:
    """The page of all files by its name, one for each language.

    Args:
        entries: The files as a page in a language shows them, with its links.
        languages: Of the pages.
        producer: The office.
        contact: Where to ask.
    """

    def page(language: str, others: Sequence[str]) -> str:
        return catalogue.catalogue_page(
            entries(language), language, producer=producer, contact=contact, others=others
        )

    return pages(catalogue.STEM, ".html", languages, page)


def write_public(folder: Path, papers: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Write public papers into a folder that exists; older ones are replaced whole."""
    for name, content in papers.items():
        partial = folder / f".{name}.partial-{secrets.token_hex(4)}"
        try:
            partial.write_bytes(content)
            partial.replace(folder / name)
        except OSError as error:
            reason = error.strerror or error
            raise OutputError(f"{folder / name} cannot be written: {reason}.") from None
        finally:
            partial.unlink(missing_ok=True)
    return tuple(folder / name for name in papers)
