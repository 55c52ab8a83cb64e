"""In which form and language an answer is given."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from sdcensus.model.published.table_format import all_formats
from sdcensus.session.answer import JSON_STAT, form_names, served_formats
from sdcensus.web.api.errors import ApiError
from sdcensus.web.languages import chosen_language

_LONGEST_HEADER = 1_000


def asked_format(name: str | None, accept: str) -> str:
    """The form that is asked for: by name, else by the header ``Accept``.

    Raises:
        ApiError: There is no such form (406).
    """
    if name is not None:
        if name in form_names():
            return name
        raise _no_such_form(name)
    found = accepted(accept)
    if found is None:
        raise _no_such_form(None)
    return found


def _no_such_form(name: str | None) -> ApiError:
    place = None if name is None else "format"
    return ApiError(406, "format", values={"formats": ", ".join(form_names())}, place=place)


def told_formats(language: str) -> list[dict[str, Any]]:
    """The formats of tables as the server has them, for pages and for clients."""
    return [
        {
            "name": table_format.name,
            "label": table_format.label,
            "about": table_format.about.show(language),
            "media_type": table_format.media_types[0],
            "endings": list(table_format.endings),
        }
        for table_format in all_formats()
    ]


@lru_cache(maxsize=1_000)
def accepted(header: str) -> str | None:
    """The form that a header ``Accept`` prefers; JSON-stat where it is as good as others.

    Examples:
        >>> accepted(""), accepted("text/csv, */*;q=0.1"), accepted("image/png")
        ('json-stat', 'csv', None)
    """
    if not header.strip():
        return JSON_STAT
    ranges = [_range(one) for one in header[:_LONGEST_HEADER].split(",") if one.strip()]
    best, at = None, 0.0
    for table_format in served_formats():
        quality = max(_quality(media_type, ranges) for media_type in table_format.media_types)
        if quality > at:
            best, at = table_format.name, quality
    return best


def _range(text: str) -> tuple[str, float]:
    kind, *parameters = [part.strip().lower() for part in text.split(";")]
    quality = 1.0
    for parameter in parameters:
        name, _, value = parameter.partition("=")
        if name.strip() == "q":
            try:
                quality = min(max(float(value), 0.0), 1.0)
            except ValueError:
                quality = 0.0
    return kind, quality


def _quality(media_type: str, ranges: list[tuple[str, float]]) -> float:
    """The quality of a type: of the range that names it most closely."""
    main = media_type.partition("/")[0]
    for wanted in (media_type, f"{main}/*", "*/*"):
        found = [quality for kind, quality in ranges if kind == wanted]
        if found:
            return max(found)
    return 0.0


def asked_language(
    link: str | None, cookie: str | None, header: str, languages: tuple[str, ...]
) -> str:
    """The language of an answer of the API.

    Raises:
        ApiError: The link names a language that is not spoken (400).
    """
    if link is not None and link not in languages:
        raise ApiError(400, "language", values={"languages": ", ".join(languages)}, place="lang")
    return chosen_language(link, cookie, header, languages)
