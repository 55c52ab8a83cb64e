"""The words of pages and errors in the language of a request; they stand in ``words/*/web``.

Into mistakes in questions, conditions and programs are put what somebody wrote, names, lists and
numbers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from types import MappingProxyType
from typing import TYPE_CHECKING

from sdcensus.errors import SpecError, unknown
from sdcensus.model.catalogue import LANGUAGES, OWN, areas, catalogue

if TYPE_CHECKING:
    from starlette.requests import HTTPConnection


from sdcensus.errors import Sentence, Told
from sdcensus.model.quantities import figure_text

#: The cookie in which a page remembers the language that somebody chose.
LANGUAGE_COOKIE = "lang"

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
    of_pages = (OWN, *(area for area in areas() if area.startswith("web/")))
    return MappingProxyType(
        {
            f"{area.removeprefix('web/')}.{key}": text
            for area in of_pages
            for key, text in catalogue(area, language).items()
        }
    )


def text(language: str, key: str, **values: object) -> str:
    """One text with its places filled; a key that has no text shows itself.

    Examples:
        >>> text("fr", "no.such.text")
        'no.such.text'
    """
    words = texts(language).get(key, key)
    for name, value in values.items():
        words = words.replace("{" + name + "}", str(value))
    return words


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
    for language in (link, cookie):
        if language in languages and language is not None:
            return language
    return preferred(header, languages)


@lru_cache(maxsize=1_000)
def preferred(header: str, languages: tuple[str, ...]) -> str:
    """The language that a header ``Accept-Language`` prefers, of those that are spoken."""
    best, at = languages[0], 0.0
    # A country's own form of a language first, then the language, whatever the country.
    known = {language.partition("-")[0]: language for language in reversed(languages)}
    known |= {language.lower(): language for language in languages}
    for part in header[:_LONGEST_HEADER].split(","):
        tag, _, rest = part.partition(";")
        name = tag.strip().lower()
        language = known.get(name) or known.get(name.partition("-")[0])
        weight = _weight(rest)
        if language is not None and weight > at:
            best, at = language, weight
    return best


def _weight(parameters: str) -> float:
    name, _, value = parameters.strip().partition("=")
    if name.strip().lower() != "q":
        return 1.0
    try:
        return min(max(float(value), 0.0), 1.0)
    except ValueError:
        return 0.0


def mistake_text(said: Sentence, language: str) -> str | None:
    """What an error says; ``None`` where that, or a part of it, is in English only.

    Examples:
        >>> from sdcensus.errors import unknown
        >>> mistake_text(unknown("variable", "aeg", ["age", "sex"]), "nl")
        "Er is geen variabele 'aeg'. Bedoelt u 'age'?"
        >>> mistake_text(Sentence("Something else."), "nl")
    """
    try:
        return _told(said, language, texts(language))
    except KeyError:
        return None


def _told(said: Sentence, language: str, known: Mapping[str, str]) -> str:
    values = {name: _shown(value, language, known) for name, value in said.values.items()}
    return known[f"mistakes.{said.words}"].format_map(values)


def _shown(value: Told, language: str, known: Mapping[str, str]) -> str:
    if isinstance(value, Sentence):
        return _told(value, language, known)
    if isinstance(value, tuple):
        return ", ".join(value)
    return value if isinstance(value, str) else figure_text(value, language)
