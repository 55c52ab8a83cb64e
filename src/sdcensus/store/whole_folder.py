"""Folders that are there whole or not at all: under a temporary name first, then one rename."""

from __future__ import annotations

import os
import secrets
import shutil
from pathlib import Path

from sdcensus.errors import OutputError
from sdcensus.model.text import parse_json
from sdcensus.store.manifest import MANIFEST_FILE, UNFINISHED_FILE
from sdcensus.store.owner_only import make_owner_only_folder


class FolderInTheMaking:
    """A folder of its own beside where it will stand, which only its owner can enter.

    Its manifest is written last, under another name: what a killed program leaves behind cannot
    be taken for the finished folder.

    Args:
        out: Where it will stand.
        replace: Put it in the place of an older one of the same kind.
        what: What such a folder is, for messages: ``a census store``.
        format_name: What the manifest of such a folder calls its format.
        resumed: Names work that goes on where a killed program of the same name stopped; empty for
            work that begins anew.
    """

    def __init__(
        self, out: Path, *, replace: bool, what: str, format_name: str, resumed: str = ""
    ) -> None:
        self.out = out
        self.replace = replace
        self.resumed = resumed
        if not replace and (out.exists() or out.is_symlink()):
            raise OutputError(
                f"{out} already exists. Choose another name, or add --replace to make it anew."
            )
        if replace and out.exists() and not _is_of(out, format_name):
            raise OutputError(f"{out} is not {what}, so it is not replaced.")
        self.folder = out.with_name(f"{out.name}.partial-{resumed or secrets.token_hex(4)}")
        try:
            out.parent.mkdir(parents=True, exist_ok=True)
            make_owner_only_folder(self.folder)
        except OSError as error:
            raise self.not_written(error) from None

    def not_written(self, error: OSError) -> OutputError:
        """What to say when the disk refuses."""
        reason = error.strerror or type(error).__name__
        return OutputError(f"{self.out} cannot be written: {reason}.")

    def write_manifest(self, text: str) -> None:
        """Write the manifest; from here on the writer itself can open the folder."""
        try:
            with (self.folder / UNFINISHED_FILE).open("w", encoding="utf-8", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
        except OSError as error:
            raise self.not_written(error) from None

    def publish(self) -> None:
        """Let the manifest count, and give the folder its real name."""
        old: Path | None = None
        try:
            (self.folder / UNFINISHED_FILE).replace(self.folder / MANIFEST_FILE)
            if self.replace and self.out.exists():
                old = self.folder.with_name(f"{self.folder.name}.old")
                self.out.replace(old)
            self.folder.replace(self.out)
        except OSError as error:
            if old is not None and old.exists() and not self.out.exists():
                old.replace(self.out)
            raise self.not_written(error) from None
        if old is not None:
            shutil.rmtree(old, ignore_errors=True)

    def abandon(self) -> None:
        """Remove what was written."""
        shutil.rmtree(self.folder, ignore_errors=True)


def _is_of(folder: Path, format_name: str) -> bool:
    """Whether the manifest of a folder names this format, or is too damaged to name any."""
    try:
        content = parse_json((folder / MANIFEST_FILE).read_text(encoding="utf-8"))
    except OSError:
        return False
    except ValueError:
        return True
    return isinstance(content, dict) and content.get("format", format_name) == format_name
