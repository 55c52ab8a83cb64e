"""Presets: designs that others have published, each with its source."""

from __future__ import annotations

from functools import cache
from importlib import resources

from sdcensus.errors import UnknownName

_FOLDER = resources.files("sdcensus.documents.release") / "presets"

PRESET_NAMES = ("us-virgin-islands", "ipums", "grenada", "trinidad-and-tobago")


#: What a preset cannot know.
_HEAD = """\
# The census store and the office folder, from where this document lies: write yours.
store = "census.store"
office = "office"

"""


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


def preset_document(name: str) -> str:
    """A preset as a document of an office: it begins with the places that the office has to name.

    Raises:
        UnknownName: There is none of that name.
    """
    return _HEAD + preset_text(name)
