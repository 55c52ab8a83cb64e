"""The words of pages and errors, in the languages of the server: files, and nothing in code.

One folder for each language, one file for each part of the pages. Words of tables, notes and
figures are not here: they stand beside what they are about, in ``model`` and ``session``.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from sdcensus.errors import SpecError, unknown

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection

#: The languages that the catalogues are written in; the first is the one of last resort.
LANGUAGES = ("en", "es", "fr", "nl")

#: The cookie in which a page remembers the language that somebody chose.
LANGUAGE_COOKIE = "lang"

_FOLDER = Path(__file__).resolve().parent
#: Longer headers are not about languages.
_LONGEST_HEADER = 500


@lru_cache(maxsize=len(LANGUAGES))
def texts(language: str) -> Mapping[str, str]:
    """Every text of a language by its full key, such as ``builder.areas.title``.

    Examples:
        >>> texts("en")["errors.not_found"]
        'There is nothing at this address.'
    """
    if language not in LANGUAGES:
        raise SpecError(unknown("language", language, LANGUAGES))
    found: dict[str, str] = {}
    for path in sorted((_FOLDER / language).glob("*.toml")):
        document = tomllib.loads(path.read_text(encoding="utf-8"))
        found.update(_flat(document, f"{path.stem}."))
    return MappingProxyType(found)


def text(language: str, key: str, **values: object) -> str:
    """One text with its places filled; a key that has no text shows itself.

    Examples:
        >>> text("fr", "no.such.text")
        'no.such.text'
    """
    found = texts(language).get(key, key)
    for name, value in values.items():
        found = found.replace("{" + name + "}", str(value))
    return found


def language_of(request: HTTPConnection, languages: Sequence[str] = LANGUAGES) -> str:
    """The language of an answer: of the link, else of the cookie, else what the browser prefers."""
    return chosen_language(
        request.query_params.get("lang"),
        request.cookies.get(LANGUAGE_COOKIE),
        request.headers.get("accept-language", ""),
        tuple(languages),
    )


def chosen_language(
    link: str | None, cookie: str | None, header: str, languages: tuple[str, ...]
) -> str:
    """The first language that is asked for and spoken, by link, cookie and header in turn.

    Examples:
        >>> chosen_language(None, None, "de, es-AR;q=0.8, en;q=0.5", LANGUAGES)
        'es'
    """
    for one in (link, cookie):
        if one in languages and one is not None:
            return one
    return preferred(header, languages)


@lru_cache(maxsize=1_000)
def preferred(header: str, languages: tuple[str, ...]) -> str:
    """The language that a header ``Accept-Language`` prefers, of those that are spoken."""
    best, at = languages[0], 0.0
    for part in header[:_LONGEST_HEADER].split(","):
        tag, _, rest = part.partition(";")
        name = tag.strip().lower().partition("-")[0]
        weight = _weight(rest)
        if name in languages and weight > at:
            best, at = name, weight
    return best


def _weight(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip().lower() != "q":
        return 1.0
    try:
        return min(max(float(value), 0.0), 1.0)
    except ValueError:
        return 0.0


def _flat(document: Mapping[str, Any], before: str) -> Iterator[tuple[str, str]]:
    for name, value in document.items():
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", str(value)
