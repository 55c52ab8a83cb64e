"""Files of a server that only their owner can read: its database, its backups."""

from __future__ import annotations

from contextlib import AbstractContextManager
from pathlib import Path
from typing import BinaryIO

from sdcensus.errors import InputError
from sdcensus.store.owner_only import (
    create_owner_only,
    is_owner_only,
    make_owner_only_folder,
    open_owner_only,
)


def make_private_file(path: Path) -> bool:
    """Make an empty file that only its owner can read, unless something of this name exists.

    A folder that does not exist is made as well, for its owner only: a database puts files of its
    own beside it.

    Returns:
        Whether the file was made.
    """
    if not path.parent.exists():
        make_owner_only_folder(path.parent)
    try:
        create_owner_only(path, b"")
    except FileExistsError:
        return False
    return True


def open_private_file(path: Path) -> AbstractContextManager[BinaryIO]:
    """Open a file for writing that only its owner can read; it gets its name in the end."""
    return open_owner_only(path)


def is_private_file(path: Path) -> bool:
    """Whether nobody but the owner can read a file.

    Raises:
        InputError: The system does not tell.
    """
    try:
        return is_owner_only(path)
    except OSError as error:
        reason = error.strerror or str(error) or type(error).__name__
        raise InputError(f"{path} cannot be looked at: {reason}.") from None
