"""Papers about files as files: those of the office that only their owner can read."""

from __future__ import annotations

from pathlib import Path

from sdcensus.formats.shared.sheets import library
from sdcensus.model.progress import Progress, no_progress
from sdcensus.report.charts import require_libraries
from sdcensus.report.new_folder import write_new_folder
from sdcensus.report.release.assessment import assessment_page
from sdcensus.report.release.results import ReleaseAssessment
from sdcensus.report.release.workbook import assessment_tables, assessment_workbook

#: What the files of an assessment are called, besides a csv file for each table.
PAGE, WORKBOOK = "assessment.html", "assessment.xlsx"


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
