"""Presets: designs that others have published, each with its source."""

from __future__ import annotations

from functools import cache
from importlib import resources

from sdcensus.errors import UnknownName

_FOLDER = resources.files("sdcensus.documents.release") / "presets"

PRESET_NAMES = ("us-virgin-islands", "ipums", "grenada", "trinidad-and-tobago")


def presets() -> tuple[str, ...]:
    """The names of the presets that a release document may start from."""
    return PRESET_NAMES


@cache
def preset_text(name: str) -> str:
    """A preset as the document that it is, with its source in the comments.

    Raises:
        UnknownName: There is none of that name.
    """
    if name not in PRESET_NAMES:
        raise UnknownName("preset", name, known=PRESET_NAMES)
    return (_FOLDER / f"{name}.toml").read_text(encoding="utf-8")
