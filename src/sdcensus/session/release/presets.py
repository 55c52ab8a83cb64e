"""Designs that offices have published, as documents to begin with."""

from __future__ import annotations

from pathlib import Path

from sdcensus.documents.release.preset_files import preset_document, presets
from sdcensus.errors import OutputError


def preset_lines(name: str = "") -> tuple[str, ...]:
    """The text of one of them, or their names."""
    return (preset_document(name),) if name else presets()


def write_preset(name: str, path: Path) -> Path:
    """Write one of them to a new file.

    Raises:
        OutputError: The file exists, or cannot be written.
    """
    text = preset_document(name)
    try:
        with path.open("x", encoding="utf-8", newline="\n") as file:
            file.write(text)
    except FileExistsError:
        raise OutputError(f"{path} already exists. Choose another name.") from None
    except OSError as error:
        raise OutputError(f"{path} cannot be written: {error.strerror}.") from None
    return path
