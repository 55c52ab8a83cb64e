"""The register of files in the office folder."""

from __future__ import annotations

from pathlib import Path

from sdcensus.model.release.registered import RegisteredFile
from sdcensus.store.event_chain import read_chain, write_chain

#: Where the register stands, in the office folder.
FILES_FILE = "files.json"
_NAME = "sdcensus-files"


def read_registered(office: Path) -> tuple[RegisteredFile, ...]:
    """Everything that was registered; nothing where no register was begun.

    Raises:
        StoreError: The file is damaged, was changed by hand, or a newer version wrote it.
    """
    return read_chain(office / FILES_FILE, _NAME, RegisteredFile.from_json)


def write_registered(office: Path, events: tuple[RegisteredFile, ...]) -> None:
    """Write all events; those that were there stay as they were."""
    write_chain(office / FILES_FILE, _NAME, [event.to_json() for event in events])
