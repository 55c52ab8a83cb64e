"""Registers of an office: lists of events that only grow, each bound to the one before.

One file that only its owner can read and that is replaced as a whole. Every event carries a digest
of itself and of the digest before, so that a line that somebody takes out, or changes, shows.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

from sdcensus.errors import StoreError
from sdcensus.model.text import parse_json
from sdcensus.store.owner_only import make_owner_only_folder, write_owner_only

Event = TypeVar("Event")
_VERSION = 1


def read_chain(path: Path, name: str, read: Callable[[dict[str, Any]], Event]) -> tuple[Event, ...]:
    """Every event of a register; none where no register was begun.

    Args:
        path: Its file.
        name: What the register is called in its file.
        read: How an event is read; what it cannot read is a ``LookupError`` or ``TypeError``.

    Raises:
        StoreError: The file is damaged, was changed by hand, or a newer version wrote it.
    """
    try:
        content = parse_json(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        return ()
    except OSError as error:
        raise StoreError(f"{path} cannot be read: {error.strerror}.") from None
    except (ValueError, RecursionError):
        raise _damaged(path) from None
    if not isinstance(content, dict) or content.get("format") != name:
        raise StoreError(f"{path} is no register of the kind {name}.")
    if content.get("version") != _VERSION:
        raise StoreError(f"{path} was written by a newer sdcensus. Update sdcensus.")
    events: list[Event] = []
    before = ""
    try:
        for number, line in enumerate(content["events"], start=1):
            plain = {key: value for key, value in line.items() if key != "digest"}
            before = _digest(plain, before)
            if line.get("digest") != before:
                raise StoreError(
                    f"{path}: event {number} or one before it was changed by hand. Restore the"
                    " file from a backup; events are added, never changed."
                )
            events.append(read(plain))
    except (LookupError, TypeError, ValueError, AttributeError):
        raise _damaged(path) from None
    return tuple(events)


def write_chain(path: Path, name: str, events: Sequence[Mapping[str, Any]]) -> None:
    """Write all events of a register; those that were there stay as they were."""
    lines: list[dict[str, Any]] = []
    before = ""
    for event in events:
        plain = json.loads(json.dumps(event))
        before = _digest(plain, before)
        lines.append({**plain, "digest": before})
    content = {"format": name, "version": _VERSION, "events": lines}
    make_owner_only_folder(path.parent)
    write_owner_only(path, f"{json.dumps(content, indent=1, ensure_ascii=False)}\n".encode())


def _digest(event: Mapping[str, Any], before: str) -> str:
    text = json.dumps([before, event], sort_keys=True, ensure_ascii=False)
    return hashlib.sha256(text.encode()).hexdigest()


def _damaged(path: Path) -> StoreError:
    return StoreError(f"{path} is damaged. Restore it from a backup.")
