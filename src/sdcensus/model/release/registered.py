"""Files that an office has handed out or will: what its register says about them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from sdcensus.model.published.lock import CLOSE_DAYS, days_apart
from sdcensus.model.release.licence import LicenceClass


class FileEvent(StrEnum):
    """What happens to a file."""

    REGISTERED = "registered"
    WITHDRAWN = "withdrawn"


@dataclass(frozen=True, slots=True, kw_only=True)
class RegisteredFile:
    """An entry of the register of files.

    Attributes:
        event: Whether the file was registered or withdrawn; who has a copy keeps it.
        name, title, design: The file.
        licence: For whom it is.
        date: The day.
        names: Who decided.
        census, reference_date: Of which census it is: its code, empty where it has none.
        data_version, lineage: Of the records that it was made from, after the treatments.
        secret_id: Of the secret that drew it.
        records: How many persons it holds.
        folder: The name of the folder in the office folder that tells what was done.
        shown: The file in that folder that tells what it shows of whom, called by its digest.
        files: Names and digests of the files.
        reason: Why a risk was accepted, or why it was withdrawn.
        extract: Which extract of the plan it is; empty for the whole design.
        content: A digest of what it says, whatever the order of its records.
        place: Where it stood when it was registered.
        store_version: The data version of the store that the plan names, before the treatments;
            empty in entries of earlier versions.
    """

    event: FileEvent
    name: str
    title: str
    design: str
    licence: LicenceClass
    date: str
    names: tuple[str, ...]
    census: str
    reference_date: str
    data_version: str
    lineage: str
    secret_id: str
    records: int
    folder: str
    shown: str = ""
    files: tuple[tuple[str, str], ...] = ()
    reason: str = ""
    extract: str = ""
    content: str = ""
    place: str = ""
    store_version: str = ""

    def to_json(self) -> dict[str, Any]:
        """As plain values; an entry of an earlier version stays as it was."""
        said = asdict(self)
        if not self.store_version:
            del said["store_version"]
        return said

    @classmethod
    def from_json(cls, content: dict[str, Any]) -> RegisteredFile:
        """Read what ``to_json`` made."""
        said = dict(content)
        said["event"] = FileEvent(said["event"])
        said["licence"] = LicenceClass(said["licence"])
        said["names"] = tuple(map(str, said["names"]))
        said["files"] = tuple((str(name), str(digest)) for name, digest in said["files"])
        return cls(**said)


def files_of(
    events: tuple[RegisteredFile, ...], census: str, reference_date: str
) -> tuple[RegisteredFile, ...]:
    """The files that are out of one census; an office may keep several in one folder.

    The same code is the same census. Without codes, only reference dates more than a year apart
    are different ones: a name or date that was corrected must not hide what is out.
    """

    def same(entry: RegisteredFile) -> bool:
        if census and entry.census:
            return entry.census == census
        return (days_apart(entry.reference_date, reference_date) or 0) <= CLOSE_DAYS

    return tuple(entry for entry in files_out(events) if same(entry))


def files_out(events: tuple[RegisteredFile, ...]) -> tuple[RegisteredFile, ...]:
    """Every file that was ever handed out, each version of it once.

    A file that was withdrawn is still out: nobody gives back what everybody could copy.
    """
    out = [event for event in events if event.event is FileEvent.REGISTERED]
    return tuple({event.shown: event for event in out}.values())
