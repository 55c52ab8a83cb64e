"""A new folder of a report that only its owner can read: all of it, or nothing."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping
from pathlib import Path

from sdcensus.errors import OutputError
from sdcensus.store.owner_only import create_owner_only, make_owner_only_folder


def check_new_folder(folder: str | Path) -> Path:
    """Refuse early what could not be written in the end: a report takes minutes."""
    target = Path(folder)
    try:
        there, parent = os.path.lexists(target), target.absolute().parent.is_dir()
    except (OSError, ValueError) as error:
        raise OutputError(f"{target} cannot be written: {error}.") from None
    if there:
        raise OutputError(f"{target} already exists. Choose another name or remove it first.")
    if not parent:
        raise OutputError(f"The folder {target.parent} does not exist.")
    probe = _partial(target)
    try:
        make_owner_only_folder(probe)
    finally:
        shutil.rmtree(probe, ignore_errors=True)
    return target


def write_new_folder(folder: str | Path, contents: Mapping[str, bytes]) -> tuple[Path, ...]:
    """Write files to a new folder, which appears when all of them are written."""
    target = Path(folder)
    partial = _partial(target)
    try:
        make_owner_only_folder(partial)
        for name, content in contents.items():
            create_owner_only(partial / name, content)
        if target.exists():
            raise OutputError(f"{target} already exists. Choose another name.")
        try:
            partial.replace(target)
        except OSError as error:
            raise OutputError(f"{target} cannot be written: {error.strerror or error}.") from None
    finally:
        shutil.rmtree(partial, ignore_errors=True)
    return tuple(target / name for name in contents)


def _partial(target: Path) -> Path:
    """What a folder is called until all of it is written."""
    return target.with_name(f".{target.name}.partial-{secrets.token_hex(4)}")
