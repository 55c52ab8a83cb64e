"""One run at a time in the folder of an office."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sdcensus.errors import OutputError
from sdcensus.store.owner_only import create_owner_only, make_owner_only_folder

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
    connection: sqlite3.Connection | None = None
    try:
        try:
            connection = sqlite3.connect(path, timeout=patience, isolation_level=None)
            connection.execute("BEGIN EXCLUSIVE")
        except sqlite3.Error as error:
            raise OutputError(_not_taken(office, error)) from None
        yield
    finally:
        if connection is not None:
            connection.close()


def sweep(office: Path) -> None:
    """Remove what somebody was writing who was killed; only while the folder is taken."""
    for path in list(office.rglob(".*.part")):
        if _HALF_WRITTEN.fullmatch(path.name) and path.is_file():
            with suppress(OSError):
                path.unlink()


def _not_taken(office: Path, error: sqlite3.Error) -> str:
    busy = getattr(error, "sqlite_errorcode", 0) & 0xFF in (
        sqlite3.SQLITE_BUSY,
        sqlite3.SQLITE_LOCKED,
    )
    if busy:
        return f"Another run is publishing with the office folder {office}. Wait until it is done."
    return (
        f"{office / RUNNING} cannot be used: {error}. Choose an office folder in which you may"
        " write; if nobody publishes now, the file can be removed."
    )
