"""The words of the product, in its languages: files beside each other, and nothing in code.

``words/en/notes.toml`` has the English words of the area ``notes``. A new language is a folder with
the same files and its name in ``LANGUAGES``. An area is read when one of its texts is first needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

#: The languages that the product speaks. Labels of a census come in the languages of the census.
LANGUAGES = ("en", "es", "fr", "nl")

FOLDER = Path(__file__).resolve().parents[1] / "words"


@cache
def catalogue(area: str, language: str) -> Mapping[str, str]:
    """The texts of an area in one language by their keys, such as ``example.listed``.

    Members of a list have their numbers as keys. An area that is for offices only need not exist
    in every language; it is empty in others.
    """
    import tomllib

    path = FOLDER / language / f"{area}.toml"
    document = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return MappingProxyType(dict(_flat(document)))


def by_language(key: str) -> tuple[tuple[str, str], ...]:
    """A text by its area and key, such as ``notes.protected``, with its languages."""
    area, _, name = key.partition(".")
    spoken = ((language, catalogue(area, language).get(name)) for language in LANGUAGES)
    texts = tuple((language, text) for language, text in spoken if text is not None)
    if not texts:
        raise KeyError(key)
    return texts


def lines(texts: Mapping[str, str], key: str) -> tuple[str, ...]:
    """The members of a list of texts.

    Examples:
        >>> lines({"a.0": "One.", "a.1": "Two.", "b": "Three."}, "a")
        ('One.', 'Two.')
    """
    return tuple(text for name, text in texts.items() if name.startswith(f"{key}."))


def _flat(document: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in document.items():
        if isinstance(value, list):
            value = {str(at): member for at, member in enumerate(value)}
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", str(value)
