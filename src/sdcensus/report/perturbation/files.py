"""Pictures and pages of a perturbation as files that only their owner can read."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from sdcensus.errors import OutputError
from sdcensus.model.perturbation.table import Perturbation
from sdcensus.model.vocabulary import PerturbationChart
from sdcensus.report.charts import as_png, as_svg, require_libraries
from sdcensus.report.perturbation.page import page
from sdcensus.report.perturbation.plots import Picture, pictures, sheet
from sdcensus.report.perturbation.summary import Summary
from sdcensus.store.owner_only import create_owner_only

#: What can be made, by the ending of the file.
ENDINGS = (".png", ".svg", ".html")


def write_pictures(
    perturbation: Perturbation,
    summary: Summary,
    paths: Sequence[str | Path],
    *,
    title: str,
    charts: Sequence[PerturbationChart | str] = (),
) -> list[Path]:
    """Draw a perturbation to files: all of them are written, or none.

    Args:
        perturbation: What is drawn.
        summary: What was found out about it; a page tells that as well.
        paths: Files that end with .png, .svg or .html; they must not exist.
        title: What to call it.
        charts: Which charts; all of them if none is named.
    """
    targets = check_targets(paths)
    if not targets:
        return []
    drawn = pictures(perturbation, charts)
    contents = [(path, _content(path, title, summary, drawn)) for path in targets]
    written: list[Path] = []
    try:
        for path, content in contents:
            _create(path, content)
            written.append(path)
    except BaseException:
        for path in written:
            path.unlink(missing_ok=True)
        raise
    return written


def check_targets(paths: Sequence[str | Path]) -> list[Path]:
    """Refuse early what could not be written in the end."""
    targets = [Path(path) for path in paths]
    for at, path in enumerate(targets):
        if path.suffix.lower() not in ENDINGS:
            raise OutputError(
                f"{path}: a picture ends with .png or .svg, and a page with pictures and numbers"
                " with .html."
            )
        if path in targets[:at]:
            raise OutputError(f"{path} is named twice. Give each picture a file of its own.")
        if path.exists():
            raise OutputError(f"{path} already exists. Choose another name or remove it first.")
        if not path.parent.is_dir():
            raise OutputError(f"The folder {path.parent} does not exist.")
    if targets:
        require_libraries()
    return targets


def _content(path: Path, title: str, summary: Summary, drawn: Sequence[Picture]) -> bytes:
    ending = path.suffix.lower()
    if ending == ".html":
        return page(title, summary, drawn).encode("utf-8")
    together = sheet(title, drawn)
    if ending == ".png":
        return as_png(together)
    return as_svg(together, " ".join(picture.alternative for picture in drawn)).encode("utf-8")


def _create(path: Path, content: bytes) -> None:
    try:
        create_owner_only(path, content)
    except FileExistsError:
        raise OutputError(f"{path} already exists. Choose another name.") from None
