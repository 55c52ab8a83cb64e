"""Writing a schema and its code lists: all of them or none, and what was there before is kept."""

from __future__ import annotations

import os
import secrets
from collections.abc import Mapping
from pathlib import Path

from sdcensus.errors import OutputError, SdcensusError

BACKUP = ".bak"


class ChangedOnDisk(SdcensusError):
    """A file is not any more what it was when it was read."""


def write_all(contents: Mapping[Path, bytes]) -> list[Path]:
    """Write files: first beside their places, then all into them.

    A file that there is already is kept as ``NAME.bak``, or ``NAME.bak2`` and so on.

    Returns:
        The files that were written.

    Raises:
        OutputError: A file cannot be written. Files that exist are as they were.
    """
    waiting: dict[Path, Path] = {}
    try:
        for path, content in contents.items():
            path.parent.mkdir(parents=True, exist_ok=True)
            beside = path.parent / f".{secrets.token_hex(8)}.part"
            waiting[path] = beside
            with beside.open("xb") as file:
                file.write(content)
                file.flush()
                os.fsync(file.fileno())
            if path.exists():
                beside.chmod(path.stat().st_mode & 0o777)
                _backup(path).write_bytes(path.read_bytes())
        # The schema comes last: it names the others.
        for path, beside in waiting.items():
            beside.replace(path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise OutputError(f"The schema cannot be written: {reason}.") from None
    finally:
        for beside in waiting.values():
            beside.unlink(missing_ok=True)
    return list(contents)


def _backup(path: Path) -> Path:
    """A name for what was there before; nothing that is kept is overwritten."""
    names = [f"{path.name}{BACKUP}", *(f"{path.name}{BACKUP}{at}" for at in range(2, 10_000))]
    return next(path.with_name(name) for name in names if not path.with_name(name).exists())
