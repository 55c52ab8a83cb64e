"""The report on a derived store as files that only their owner can read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sdcensus.formats.shared.sheets import library
from sdcensus.microdata.method import FactTable
from sdcensus.model.progress import Progress, no_progress
from sdcensus.report.charts import require_libraries
from sdcensus.report.derivation.page import effects_page, plan_page
from sdcensus.report.derivation.results import Effects
from sdcensus.report.derivation.workbook import effects_workbook, plan_workbook
from sdcensus.report.new_folder import write_new_folder
from sdcensus.store.owner_only import write_owner_only

#: What the files of the report are called, and those of a dry run.
PAGE, WORKBOOK = "report.html", "report.xlsx"
PLAN_PAGE, PLAN_WORKBOOK = "plan.html", "plan.xlsx"


def require_report_libraries() -> None:
    """Say before any work if what draws or writes workbooks is not installed."""
    require_libraries()
    library()


def write_effects(effects: Effects, folder: Path, progress: Progress = no_progress) -> None:
    """Write the page and the workbook into the folder of the office; older ones are replaced."""
    write_owner_only(folder / PAGE, effects_page(effects, progress=progress).encode())
    write_owner_only(folder / WORKBOOK, effects_workbook(effects))


def write_plan(
    census: str, method: str, facts: Sequence[FactTable], folder: Path, language: str | None
) -> tuple[Path, Path]:
    """Write what a method would meet into a new folder: both files, or nothing."""
    page = plan_page(census, method, facts, language).encode()
    workbook = plan_workbook(facts, language)
    write_new_folder(folder, {PLAN_PAGE: page, PLAN_WORKBOOK: workbook})
    return folder / PLAN_PAGE, folder / PLAN_WORKBOOK
