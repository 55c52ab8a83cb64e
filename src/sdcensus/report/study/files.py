"""A study as a folder that only its owner can read: a page, a workbook, and csv files."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path

from sdcensus.errors import OutputError
from sdcensus.model.progress import Progress, no_progress
from sdcensus.report.charts import require_libraries
from sdcensus.report.study.page import page
from sdcensus.report.study.published import published_for
from sdcensus.report.study.results import Study
from sdcensus.report.study.rows import sheets
from sdcensus.report.study.sheets import as_csv, as_workbook, require_workbooks
from sdcensus.store.owner_only import create_owner_only, make_owner_only_folder

PAGE, WORKBOOK = "study.html", "study.xlsx"


def check_study_target(folder: str | Path) -> Path:
    """Refuse early what could not be written in the end."""
    target = Path(folder)
    try:
        there, parent = os.path.lexists(target), target.absolute().parent.is_dir()
    except (OSError, ValueError) as error:
        raise OutputError(f"{target} cannot be written: {error}.") from None
    if there:
        raise OutputError(f"{target} already exists. Choose another name or remove it first.")
    if not parent:
        raise OutputError(f"The folder {target.parent} does not exist.")
    require_libraries()
    require_workbooks()
    probe = _partial(target)
    try:  # a study takes minutes, and a folder that cannot be written is found out in no time
        make_owner_only_folder(probe)
    finally:
        shutil.rmtree(probe, ignore_errors=True)
    return target


def _partial(target: Path) -> Path:
    """What a folder is called until all of it is written."""
    return target.with_name(f".{target.name}.partial-{secrets.token_hex(4)}")


def write_study(
    study: Study, folder: str | Path, *, progress: Progress = no_progress
) -> tuple[Path, ...]:
    """Write a study to a new folder that only its owner can read: all of it, or nothing.

    Args:
        study: What was measured.
        folder: Where; must not exist.
        progress: Called with the stage and how much of it is done.

    Returns:
        The files, the page first.
    """
    target = check_study_target(folder)
    published = published_for(study)
    shown = sheets(study, published)
    contents = {
        PAGE: page(study, published, progress=progress).encode("utf-8"),
        WORKBOOK: as_workbook(study, shown, published),
        **{sheet.file: as_csv(sheet) for sheet in shown},
    }
    progress("writing", 0.0)
    partial = _partial(target)
    try:
        make_owner_only_folder(partial)
        for name, content in contents.items():
            create_owner_only(partial / name, content)
        if target.exists():
            raise OutputError(f"{target} already exists. Choose another name.")
        try:
            partial.replace(target)
        except OSError as error:
            raise OutputError(f"{target} cannot be written: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return tuple(target / name for name in contents)
