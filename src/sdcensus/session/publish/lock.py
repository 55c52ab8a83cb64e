"""One run at a time in the folder of an office."""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sdcensus.store.owner_only import create_owner_only, make_owner_only_folder, taken_alone

#: Taken while somebody works in the folder. It stays: who removed it could take it from another.
RUNNING = "running.lock"
#: Files that somebody was writing who was killed.
_HALF_WRITTEN = re.compile(r"\.[0-9a-f]{16}\.part")
_PATIENCE = 0.2


@contextmanager
def taken(office: Path, patience: float = _PATIENCE) -> Iterator[None]:
    """Keep others out of the office's folder; what a killed run had taken is nobody's.

    Args:
        office: The folder.
        patience: For how many seconds to wait for somebody else.

    Raises:
        OutputError: Somebody else works in it, or it cannot be written.
    """
    make_owner_only_folder(office)
    path = office / RUNNING
    with suppress(FileExistsError):
        create_owner_only(path, b"")
    with taken_alone(
        path,
        busy=f"Another run is publishing with the office folder {office}. Wait until it is done.",
        otherwise="Choose an office folder in which you may write; if nobody publishes now, the"
        " file can be removed.",
        patience=patience,
    ):
        yield


def sweep(office: Path) -> None:
    """Remove what somebody was writing who was killed; only while the folder is taken."""
    for path in list(office.rglob(".*.part")):
        if _HALF_WRITTEN.fullmatch(path.name) and path.is_file():
            with suppress(OSError):
                path.unlink()
