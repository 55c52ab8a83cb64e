"""From which line of records the table builder of an office serves, for who publishes beside it.

A server under a plan leaves word of it in the office's folder; the guard over published numbers
reads it there, as the server reads the lock.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path

from sdcensus.errors import OutputError, StoreError
from sdcensus.model.text import parse_json
from sdcensus.session.census.census import Census
from sdcensus.session.guard.run import read_lock
from sdcensus.session.guard.served_menus import note_menus
from sdcensus.store.owner_only import write_owner_only

SERVED_FILE = "served-lines.json"


def read_served(office: Path) -> Mapping[str, str]:
    """The line of records that is served of each census; empty if nothing is.

    Raises:
        StoreError: The file is damaged.
    """
    path = office / SERVED_FILE
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
        return {str(series): str(line) for series, line in content.items()}
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError, AttributeError):
        raise StoreError(
            f"{path} is damaged. Restore it from a backup; or remove it and start the table builder"
            " again."
        ) from None


def note_served(office: Path, census: Census, menus: Sequence[str] = ()) -> tuple[str, ...]:
    """Leave word in the office's folder of what is served from now on; a caution if it cannot.

    Args:
        office: The folder.
        census: What is served.
        menus: What is offered of it, as texts.
    """
    try:
        known = dict(read_served(office))
        series = read_lock(office).series_of(census.schema.census)
        if office.is_dir() and known.get(series) != census.origin.lineage:
            known[series] = census.origin.lineage
            write_owner_only(office / SERVED_FILE, json.dumps(known, sort_keys=True).encode())
        note_menus(office, series, menus)
    except OutputError:
        return (
            f"{office} cannot be written by the server: whoever publishes from another line of"
            " records, or closes cells, is not told what is served.",
        )
    return ()
