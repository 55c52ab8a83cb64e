"""The register of licences in the office folder: events, each bound to the one before.

One file that only its owner can read and that is replaced as a whole. Every event carries a digest
of itself and of the digest before, so that a line that somebody takes out, or changes, shows.
"""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any

from sdcensus.errors import StoreError
from sdcensus.model.release.holding import Event, event_from_json
from sdcensus.model.text import parse_json
from sdcensus.store.owner_only import make_owner_only_folder, write_owner_only

#: Where the register stands, in the office folder.
LICENCES_FILE = "licences.json"
_FORMAT, _VERSION = "sdcensus-licences", 1


def read_licences(office: Path) -> tuple[Event, ...]:
    """Everything that happened; nothing where no register was begun.

    Raises:
        StoreError: The file is damaged, was changed by hand, or a newer version wrote it.
    """
    path = office / LICENCES_FILE
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise _damaged(path) from None
    if not isinstance(content, dict) or content.get("format") != _FORMAT:
        raise StoreError(f"{path} is no register of licences.")
    if content.get("version") != _VERSION:
        raise StoreError(f"{path} was written by a newer sdcensus. Update sdcensus.")
    events: list[Event] = []
    before = ""
    try:
        for number, line in enumerate(content["events"], start=1):
            plain = {name: value for name, value in line.items() if name != "digest"}
            before = _digest(plain, before)
            if line.get("digest") != before:
                raise StoreError(
                    f"{path}: event {number} (licence {line.get('licence')}) or one before it was"
                    " changed by hand. Restore the file from a backup; events are added, never"
                    " changed."
                )
            events.append(event_from_json(plain))
    except (LookupError, TypeError, AttributeError):
        raise _damaged(path) from None
    return tuple(events)


def write_licences(office: Path, events: tuple[Event, ...]) -> Path:
    """Write all events; those that were there stay as they were."""
    lines: list[dict[str, Any]] = []
    before = ""
    for event in events:
        plain = json.loads(json.dumps(event.to_json()))
        before = _digest(plain, before)
        lines.append({**plain, "digest": before})
    text = json.dumps(
        {"format": _FORMAT, "version": _VERSION, "events": lines}, indent=1, ensure_ascii=False
    )
    make_owner_only_folder(office)
    path = office / LICENCES_FILE
    write_owner_only(path, f"{text}\n".encode())
    return path


def _digest(event: dict[str, Any], before: str) -> str:
    text = json.dumps([before, event], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _damaged(path: Path) -> StoreError:
    return StoreError(f"{path} is damaged. Restore it from a backup.")
