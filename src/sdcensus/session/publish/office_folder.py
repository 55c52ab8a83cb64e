"""The office's folder: what all publications share, and what belongs to one of them.

Several plans may have the same office folder, so that what one of them has published is known to
the others. The lock and the registry are common to all; everything else lies in a folder for each
publication.
"""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from sdcensus.errors import OutputError
from sdcensus.store.owner_only import create_owner_only, make_owner_only_folder

#: What the office keeps about one publication: what was published, who has approved it.
OFFICE_FILE, APPROVALS = "published.json", "approval.json"
#: Where that says who has accepted that a publication may give people away, and why.
ACCEPTED_RISK = "accepted_risk"
#: Taken while somebody works in the folder. It stays: who removed it could take it from another.
RUNNING = "running.lock"
#: Files that somebody was writing who was killed.
_HALF_WRITTEN = re.compile(r"\.[0-9a-f]{16}\.part")
_PATIENCE = 0.2


def folder_of(office: Path, publication: str) -> Path:
    """Where the office keeps what belongs to one publication.

    Examples:
        >>> folder_of(Path("office"), "DEMO 2021 plan").name
        'DEMO-2021-plan'
        >>> folder_of(Path("office"), "../../etc").name
        'etc'
    """
    return office / (re.sub(r"[^\w.]+", "-", publication).strip(".-") or "publication")


@contextmanager
def taken(office: Path) -> Iterator[None]:
    """Keep others out of the office's folder; what a killed run had taken is nobody's.

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
            connection = sqlite3.connect(path, timeout=_PATIENCE, isolation_level=None)
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
