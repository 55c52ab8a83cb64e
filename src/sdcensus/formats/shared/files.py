"""Files for the public: whole or not at all, and never in the place of another one."""

from __future__ import annotations

import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from sdcensus.errors import OutputError
from sdcensus.store.owner_only import keep_writing_to_owner


@contextmanager
def new_file(path: Path) -> Iterator[BinaryIO]:
    """Open a new file for writing; it gets its name when everything is in it."""
    beside = path.parent / f".{secrets.token_hex(8)}.part"
    try:
        with beside.open("xb") as file:
            yield file
        keep_writing_to_owner(beside)
        beside.replace(path)
    except BaseException as error:
        with suppress(OSError):
            beside.unlink()
        # Errors that name a file are about another one, unless it is ours.
        if isinstance(error, OSError) and error.filename in (None, str(beside)):
            reason = error.strerror or type(error).__name__
            raise OutputError(f"{path} cannot be written: {reason}.") from error
        raise


def check_new(path: Path) -> None:
    """Refuse a file that exists, or a folder that does not."""
    if path.exists() or path.is_symlink():
        raise OutputError(f"{path} already exists. Choose another name or remove it first.")
    if not path.parent.is_dir():
        raise OutputError(f"The folder {path.parent} does not exist.")
