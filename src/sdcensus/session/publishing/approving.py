"""Two people put their names under a publication: under its plan, policy, lock and files."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sdcensus.errors import InputError, Refused, SpecError
from sdcensus.session.publishing.workplace import MANIFEST, WrittenFile, read_json
from sdcensus.store.owner_only import write_owner_only

#: What approvals, the lock and the office's notes are called in the office's folder.
APPROVALS, LOCK, OFFICE_FILE = "approval.json", "publication.lock", "published.json"
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
    """

    approvals: tuple[Approval, ...] = ()
    outdated: tuple[Approval, ...] = ()

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
    exactly what was approved.

    Args:
        folder: The published folder.
        name: Who approves.
        role: In which function.
        date: On which day, as ISO text; no clock is read.
        office: The office's folder; by default the one beside the published one.

    Raises:
        Refused: Files are not as they were published, or the same person approves twice.
    """
    from sdcensus.session.publishing.verifying import verify

    who = " ".join(name.split())
    if not who:
        raise SpecError("An approval needs the name of who approves.")
    root = Path(folder)
    private = office_of(root, office)
    checked = verify(root)
    if not checked.sound:
        raise Refused(
            f"{root} cannot be approved: it is not as it was published. {checked.problems[0]}"
            f"{f', and {len(checked.problems) - 1} more' if len(checked.problems) > 1 else ''}."
        )
    digests = _digests(root, private)
    known = read_approvals(private, root)
    if any(one.name.casefold() == who.casefold() for one in known.approvals):
        raise Refused(f"{who} has approved this already; a second person has to.")
    kept = (*known.approvals, Approval(who, role.strip(), date.strip()))
    content = {
        "format": "sdcensus-approval",
        "version": 1,
        "approved": digests,
        "approvals": [_to_json(one) for one in kept],
    }
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    write_owner_only(private / APPROVALS, text.encode())
    return Approvals(kept, known.outdated)


def read_approvals(office: Path, folder: Path) -> Approvals:
    """Who has approved what is published now."""
    content = read_json(office / APPROVALS)
    try:
        found = tuple(
            Approval(str(one["name"]), str(one["role"]), str(one["date"]))
            for one in content.get("approvals", ())
        )
    except (LookupError, TypeError):
        raise InputError(f"{office / APPROVALS} is damaged. Restore it from a backup.") from None
    if content.get("approved") == _digests(folder, office):
        return Approvals(found)
    return Approvals((), found)


def office_of(folder: Path, office: str | Path | None = None) -> Path:
    """The office's folder of a publication."""
    private = folder.with_name(f"{folder.name}.office") if office is None else Path(office)
    if not (private / OFFICE_FILE).is_file():
        raise InputError(
            f"{private} is not the office's folder of a publication. Name it: --office FOLDER."
        )
    return private


def _digests(folder: Path, office: Path) -> dict[str, Any]:
    """What an approval is about: digests of plan, policy, lock and outputs."""
    kept = read_json(office / OFFICE_FILE)
    lock = office / LOCK
    return {
        "plan": kept.get("plan"),
        "policy": kept.get("policy"),
        "lock": WrittenFile.of(lock).to_json() if lock.is_file() else None,
        "outputs": WrittenFile.of(folder / MANIFEST).to_json(),
    }


def _to_json(one: Approval) -> Mapping[str, str]:
    return {"name": one.name, "role": one.role, "date": one.date}
