"""Checking a published folder against its own list of files, and what the office has on record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from sdcensus.errors import InputError
from sdcensus.model.progress import Progress, no_progress
from sdcensus.session.publish.approval import Approvals, private_folder, read_approvals
from sdcensus.session.publish.workplace import (
    FORMAT_NAME,
    FORMAT_VERSION,
    MANIFEST,
    OFFICE_FILE,
    WrittenFile,
    read_json,
)


@dataclass(frozen=True, slots=True)
class Verification:
    """What was found when a published folder was checked.

    Attributes:
        folder: The folder.
        publication: What it holds.
        files: How many files it lists.
        size: Their bytes.
        problems: What is not as it was published; empty if everything is.
        approvals: Who has approved it, if the office's folder was looked at.
    """

    folder: Path
    publication: str
    files: int
    size: int
    problems: tuple[str, ...]
    approvals: Approvals | None = None

    @property
    def sound(self) -> bool:
        """Whether everything is as it was published."""
        return not self.problems


def verify(
    folder: str | Path, *, office: str | Path | None = None, progress: Progress = no_progress
) -> Verification:
    """Compare every file of a published folder with its digest.

    Args:
        folder: The published folder.
        office: The office's folder, to see who has approved what is published.
        progress: Called with the stage and how much of it is done.

    Raises:
        InputError: It is no published folder.
    """
    root = Path(folder)
    if not root.is_dir():
        what = "is a file, not a folder" if root.exists() else "does not exist"
        raise InputError(f"{root} {what}. Name the folder that sdcensus publish has made.")
    manifest = read_json(root / MANIFEST)
    if manifest.get("format") != FORMAT_NAME:
        raise InputError(
            f"{root} has no {MANIFEST} of sdcensus publish. Name the folder that it has made."
        )
    if manifest.get("version") != FORMAT_VERSION:
        raise InputError(f"{root / MANIFEST} was written by a newer sdcensus. Update sdcensus.")
    try:
        listed = [WrittenFile.from_json(one) for one in manifest["files"]]
    except (LookupError, TypeError, ValueError):
        raise InputError(f"{root / MANIFEST} is damaged. Publish again.") from None
    approvals = None
    problems = list(_problems(root, listed, progress))
    if office is not None:
        private = private_folder(root, office)
        kept = read_json(private / OFFICE_FILE).get("manifest", {})
        if WrittenFile.of(root / MANIFEST).to_json() != kept:
            problems.insert(0, f"{MANIFEST}: is not the one that was published")
        approvals = read_approvals(private, root)
    return Verification(
        root,
        str(manifest.get("publication", "")),
        len(listed),
        sum(written_file.size for written_file in listed),
        tuple(problems),
        approvals,
    )


def _problems(root: Path, listed: list[WrittenFile], progress: Progress) -> Iterator[str]:
    total = sum(written_file.size for written_file in listed) or 1
    seen = 0
    for written_file in listed:
        progress("comparing files with their digests", seen / total)
        seen += written_file.size
        path = root / written_file.name
        # A list from elsewhere must not make us read outside of the folder.
        if (
            not written_file.name
            or Path(written_file.name).name != written_file.name
            or written_file.name in (".", "..")
        ):
            yield f"{written_file.name!r}: no name of a file in this folder"
        elif path.is_symlink():
            yield f"{written_file.name}: is a link, not a file"
        elif not path.is_file():
            yield f"{written_file.name}: missing"
        elif path.stat().st_size != written_file.size:
            yield f"{written_file.name}: has another size than when it was published"
        elif not written_file.fits(root):
            yield f"{written_file.name}: has other contents than when it was published"
    names = {written_file.name for written_file in listed} | {MANIFEST}
    for path in sorted(root.iterdir()):
        if path.name not in names:
            yield f"{path.name}: not part of the publication"
