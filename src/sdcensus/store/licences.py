"""The register of licences in the office folder."""

from __future__ import annotations

from pathlib import Path

from sdcensus.model.release.holding import Event, event_from_json
from sdcensus.store.event_chain import read_chain, write_chain

#: Where the register stands, in the office folder.
LICENCES_FILE = "licences.json"
_NAME = "sdcensus-licences"


def read_licences(office: Path) -> tuple[Event, ...]:
    """Everything that happened; nothing where no register was begun.

    Raises:
        StoreError: The file is damaged, was changed by hand, or a newer version wrote it.
    """
    return read_chain(office / LICENCES_FILE, _NAME, event_from_json)


def write_licences(office: Path, events: tuple[Event, ...]) -> None:
    """Write all events; those that were there stay as they were."""
    write_chain(office / LICENCES_FILE, _NAME, [event.to_json() for event in events])
