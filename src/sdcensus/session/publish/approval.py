"""Two people put their names under a publication: under its plan, policy, lock and files."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from sdcensus.errors import InputError, Refused, SpecError
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.published.lock import LOCK_FILE
from sdcensus.model.published.provenance import line_text
from sdcensus.session.gate.gate import AcceptedRisk
from sdcensus.session.guard.run import read_lock
from sdcensus.session.office.people import check_second_person, iso_day, shown_name
from sdcensus.session.publish.lock import taken
from sdcensus.session.publish.workplace import (
    ACCEPTED_RISK,
    APPROVALS,
    FORMAT_NAME,
    FORMAT_VERSION,
    MANIFEST,
    OFFICE_FILE,
    WrittenFile,
    folder_of,
    read_json,
)
from sdcensus.store.owner_only import write_owner_only


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
        lines: How the records were derived of which its tables are made; empty for the original.
    """

    folder: Path
    publication: str
    files: int
    size: int
    problems: tuple[str, ...]
    approvals: Approvals | None = None
    lines: tuple[str, ...] = ()

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
        listed = [WrittenFile.from_json(file) for file in manifest["files"]]
    except (LookupError, TypeError, ValueError):
        raise InputError(f"{root / MANIFEST} is damaged. Publish again.") from None
    approvals = None
    problems = list(_problems(root, listed, progress))
    lines = _lines(manifest)
    if len(lines) > 1:
        problems.append(f"{MANIFEST}: tables of several lines of records: {'; '.join(lines)}")
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
        lines,
    )


def _lines(manifest: Mapping[str, Any]) -> tuple[str, ...]:
    """From which lines of records the tables of a publication were made, in words."""
    try:
        makings = [made for table in manifest["tables"] for made in table["provenance"]]
        return tuple(dict.fromkeys(line_text(str(made.get("lineage", ""))) for made in makings))
    except (LookupError, TypeError, AttributeError):
        return ()


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


#: How many people have to approve.
NEEDED = 2


@dataclass(frozen=True, slots=True)
class Approval:
    """One person's approval."""

    name: str
    role: str = ""
    date: str = ""


@dataclass(frozen=True, slots=True)
class Approvals:
    """Who has approved a publication as it is.

    Attributes:
        approvals: The people.
        outdated: Approvals of something that has changed since.
        accepted: Who has accepted that it may give people away, and why; ``None`` if nobody had to.
        two_lines: The names under which the office has decided that tables of several lines of
            records are out.
    """

    approvals: tuple[Approval, ...] = ()
    outdated: tuple[Approval, ...] = ()
    accepted: AcceptedRisk | None = None
    two_lines: tuple[str, ...] = ()

    @property
    def complete(self) -> bool:
        """Whether enough people have approved."""
        return len(self.approvals) >= NEEDED


def approve(
    folder: str | Path,
    *,
    name: str,
    role: str = "",
    date: str = "",
    office: str | Path | None = None,
) -> Approvals:
    """Record that somebody approves a publication as it is.

    The digests of plan, policy, lock and all files stand beside the names, so an approval holds for
    exactly what was approved, wherever it lies.

    Args:
        folder: The published folder.
        name: Who approves.
        role: In which function.
        date: On which day, as ISO text; no clock is read.
        office: The office's folder; by default the one beside the published one.

    Raises:
        Refused: Something is not as it was published, or the same person approves twice.
    """
    from sdcensus.session.publish.approval import verify

    who = shown_name(name)
    if not who:
        raise SpecError("An approval needs the name of who approves.")
    day = iso_day(date)
    root = Path(folder)
    # Nobody publishes, and nobody else approves, while the digests are looked at and written.
    with _taken_for(root, office) as private:
        checked = verify(root, office=private.parent)
        if not checked.sound:
            others = len(checked.problems) - 1
            raise Refused(
                f"{root} cannot be approved: it is not as it was published. {checked.problems[0]}"
                f"{f', and {others:,} more' if others else ''}."
            )
        _check_documents(private)
        known = read_approvals(private, root)
        check_second_person(who, [approval.name for approval in known.approvals])
        kept = (*known.approvals, Approval(who, shown_name(role), day))
        content: dict[str, Any] = {
            "format": "sdcensus-approval",
            "version": 1,
            "approved": _digests(root, private),
            "approvals": [asdict(approval) for approval in kept],
        }
        if known.accepted is not None:
            content[ACCEPTED_RISK] = known.accepted.to_json()
        text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        write_owner_only(private / APPROVALS, text.encode())
    return Approvals(kept, known.outdated, known.accepted, known.two_lines)


def read_approvals(private: Path, folder: Path) -> Approvals:
    """Who has approved what is published now.

    Args:
        private: Where the office keeps what belongs to the publication.
        folder: The published folder.
    """
    content = read_json(private / APPROVALS)
    try:
        approvals = tuple(
            Approval(str(entry["name"]), str(entry["role"]), str(entry["date"]))
            for entry in content.get("approvals", ())
        )
    except (LookupError, TypeError):
        raise InputError(f"{private / APPROVALS} is damaged. Restore it from a backup.") from None
    accepted = read_accepted_risk(private)
    decided = tuple(event.name for event in read_lock(private.parent).events if event.beside)
    if content.get("approved") == _digests(folder, private):
        return Approvals(approvals, (), accepted, decided)
    return Approvals((), approvals, accepted, decided)


def read_accepted_risk(private: Path) -> AcceptedRisk | None:
    """Who has accepted that a publication may give people away; ``None`` if nobody had to.

    Args:
        private: Where the office keeps what belongs to the publication.
    """
    content = read_json(private / OFFICE_FILE).get(ACCEPTED_RISK)
    if content is None:
        return None
    try:
        return AcceptedRisk.from_json(content)
    except (LookupError, TypeError, SpecError):
        raise InputError(f"{private / OFFICE_FILE} is damaged. Restore it from a backup.") from None


def private_folder(folder: Path, office: str | Path | None = None) -> Path:
    """Where the office keeps what belongs to a publication.

    Args:
        folder: The published folder.
        office: The office's folder; by default the one beside the published one.

    Raises:
        InputError: There is nothing about this publication.
    """
    root = folder.resolve() if folder.is_symlink() or not folder.name else folder
    if office is None and not root.name:
        raise InputError(f"{folder} is no published folder.")
    shared = root.with_name(f"{root.name}.office") if office is None else Path(office)
    if (shared / OFFICE_FILE).is_file():  # somebody has named the part that is of this publication
        shared = shared.parent
    path = folder_of(shared, str(read_json(folder / MANIFEST).get("publication", "")))
    if not (path / OFFICE_FILE).is_file():
        raise InputError(
            f"{shared} is not the office's folder of {folder}. Name it: --office FOLDER."
        )
    return path


@contextmanager
def _taken_for(folder: Path, office: str | Path | None) -> Iterator[Path]:
    private = private_folder(folder, office)
    with taken(private.parent):
        if (private / ".part" / "commit.json").exists():
            raise Refused(
                f"A run was interrupted while it put {folder} into its place. Publish the plan"
                " again, then approve."
            )
        yield private


def _digests(folder: Path, private: Path) -> dict[str, str | None]:
    """What an approval is about: digests of plan, policy, lock and outputs, as they are now."""
    kept = read_json(private / OFFICE_FILE)
    digests = {
        "plan": _document_now(kept.get("plan")),
        "policy": _document_now(kept.get("policy")),
        "lock": _digest_of(private.parent / LOCK_FILE),
        "outputs": _digest_of(folder / MANIFEST),
    }
    accepted = kept.get(ACCEPTED_RISK)
    if accepted is not None:
        # Who approves, approves with what was accepted: another name or reason is another thing.
        text = json.dumps(accepted, sort_keys=True, ensure_ascii=False)
        digests["accepted risk"] = hashlib.sha256(text.encode()).hexdigest()
    return digests


def _check_documents(private: Path) -> None:
    """Refuse to approve files together with a plan or policy from which they were not made."""
    kept = read_json(private / OFFICE_FILE)
    for what in ("plan", "policy"):
        document = kept.get(what)
        if document is not None and _document_now(document) != document.get("sha256"):
            raise Refused(
                f"The {what} {document.get('name')} has changed since it was published. Publish"
                " again, then approve."
            )


def _document_now(made: Mapping[str, Any] | None) -> str | None:
    """The digest of a document; where it has been moved away, the one that it had."""
    if made is None:
        return None
    return _digest_of(Path(str(made.get("path", "")))) or made.get("sha256")


def _digest_of(path: Path) -> str | None:
    return WrittenFile.of(path).sha256 if path.is_file() else None
