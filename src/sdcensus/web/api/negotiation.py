"""In which form and language an answer is given."""

from __future__ import annotations

from collections.abc import Mapping
from functools import lru_cache

from sdcensus.session.answer import FORMATS as RENDERED
from sdcensus.web.api.errors import ApiError
from sdcensus.web.languages import chosen_language

JSON_STAT = "json-stat"
#: The forms of a table by name, each with the media types that ask for it.
FORMATS: Mapping[str, tuple[str, ...]] = {
    "json-stat": (
        "application/json",
        "application/vnd.json-stat+json",
        "application/json-stat",
        "application/vnd.jsonstat+json",
    ),
    "csv": ("text/csv",),
    "xlsx": ("application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",),
    "sdmx-csv": ("application/vnd.sdmx.data+csv",),
    "px": ("application/x-pc-axis", "text/x-pc-axis", "text/x-px", "application/x-px"),
    "parquet": ("application/vnd.apache.parquet", "application/x-parquet"),
}
#: Every form; some are asked for by name only: a form with the text about it beside.
NAMES: tuple[str, ...] = RENDERED
_LONGEST_HEADER = 1_000


def asked_format(name: str | None, accept: str) -> str:
    """The form that is asked for: by name, else by the header ``Accept``.

    Raises:
        ApiError: There is no such form (406).
    """
    if name is not None:
        if name in NAMES:
            return name
        raise _no_such_form(name)
    found = accepted(accept)
    if found is None:
        raise _no_such_form(None)
    return found


def _no_such_form(name: str | None) -> ApiError:
    place = None if name is None else "format"
    return ApiError(406, "format", values={"formats": ", ".join(NAMES)}, place=place)


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
    for name, types in FORMATS.items():
        quality = max(_quality(one, ranges) for one in types)
        if quality > at:
            best, at = name, quality
    return best


def _range(text: str) -> tuple[str, float]:
    kind, *parameters = [part.strip().lower() for part in text.split(";")]
    quality = 1.0
    for one in parameters:
        name, _, value = one.partition("=")
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
