"""What cannot be answered, in one shape on every route."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

import orjson

from sdcensus.errors import (
    MissingExtra,
    QuestionError,
    Refused,
    SdcensusError,
    Sentence,
    SpecError,
    UnknownName,
)
from sdcensus.model.quantities import number_text
from sdcensus.web.caching import CacheBusy
from sdcensus.web.languages import mistake_text, text
from sdcensus.web.quotas import QuotaExceeded

Json = dict[str, Any]
Header = tuple[bytes, bytes]

#: The code of an error that has no better one, by its status.
CODES: Mapping[int, str] = {
    400: "bad-question",
    401: "unauthorised",
    403: "forbidden",
    404: "not-found",
    405: "not-found",
    406: "unsupported",
    408: "bad-question",
    413: "too-large",
    414: "too-large",
    415: "unsupported",
    421: "not-found",
    429: "quota",
    431: "too-large",
    500: "internal",
    503: "busy",
}
#: The sentence that stands before details in English, by the part of the question they are about.
_LEADS: Mapping[str, str] = {
    **{part: f"lead_{part}" for part in ("of", "measure", "by", "where", "codes", "groups")},
    "line": "lead_program",
}
#: How words about names begin that do not exist, or not for what is counted.
_STRANGE = ("unknown.code-of", "units.several")
#: Seconds after which somebody who was turned away may come back.
COME_BACK = 2


@dataclass(eq=False)
class ApiError(Exception):
    """Something that cannot be answered.

    Attributes:
        status: The status of HTTP.
        key: The text, a key of the catalogue ``errors``; or empty, and ``message`` says it.
        code: The code of the reason; by the status where it is empty.
        values: What the text has places for.
        message: A text that is ready, in English.
        said: The same without its place, as far as it can be told in other languages.
        place: The part of the request that is wrong.
        at: The character of that part.
        reasons: The reasons of a refusal.
        remedies: What would help.
        headers: More headers.
    """

    status: int
    key: str = ""
    code: str = ""
    values: Mapping[str, object] = field(default_factory=dict)
    message: str = ""
    said: Sentence = field(default_factory=Sentence)
    place: str | None = None
    at: int | None = None
    reasons: Sequence[Json] = ()
    remedies: Sequence[Json] = ()
    headers: tuple[Header, ...] = ()

    @property
    def reason(self) -> str:
        """The code for programs, metrics and the audit."""
        return self.code or CODES.get(self.status, "internal")

    def told(self, language: str, request: str) -> Json:
        """The error as plain values."""
        values = {
            "request": request,
            **{name: _written(value, language) for name, value in self.values.items()},
        }
        if self.message:
            message = self.message if language == "en" else self._translated(language)
        else:
            message = text(language, f"errors.{self.key}", **values)
        return {
            "status": self.status,
            "code": self.reason,
            "message": message,
            "place": self.place,
            "at": self.at,
            "reasons": list(self.reasons),
            "remedies": list(self.remedies),
            "request": request,
        }

    def _translated(self, language: str) -> str:
        """A mistake in the words of the reader, behind its place as in English."""
        detail = mistake_text(self.said, language)
        if detail is None:
            return self._led(language)
        # Lines and columns are told by the page in its language; parts of questions are names.
        named = self.place and self._part != "line"
        return _clean(f"{self.place}: {detail}" if named else detail)

    @property
    def _part(self) -> str:
        """The first word of the place."""
        return re.split(r"[^a-z]", self.place or "", maxsplit=1)[0]

    def _led(self, language: str) -> str:
        """Details that are in English only, behind what they are about in the reader's words."""
        key = _LEADS.get(self._part, "lead_question" if self.place else "lead_request")
        if self.code == "refused":
            key = "refused"
        lead = [text(language, f"errors.{key}")]
        if self.code == "unknown-name":
            lead.append(text(language, "errors.lead_unknown"))
        # The place has a member of its own, and pages tell it in their language.
        detail = self.message.removeprefix(f"{self.place}: ")
        return f"{' '.join(lead)}\n{text(language, 'errors.lead_detail', detail=detail)}"

    def body(self, language: str, request: str) -> bytes:
        """The error as JSON."""
        return orjson.dumps({"error": self.told(language, request)})


def not_found(key: str = "not_found", code: str = "not-found", **values: object) -> ApiError:
    """There is no such thing."""
    return ApiError(404, key, code, values=values)


def busy(key: str = "busy", seconds: int = COME_BACK) -> ApiError:
    """Too much is going on; come back."""
    values = {"seconds": seconds, "until": _until(seconds)}
    return ApiError(503, key, values=values, headers=_retry_after(seconds))


def _written(value: object, language: str) -> object:
    """A value as the language writes it: numbers with its thousands."""
    return number_text(value, language) if isinstance(value, int) else value


def too_many(key: str, wait: int, **values: object) -> ApiError:
    """Somebody has had enough for now."""
    told = {**values, "until": _until(wait)}
    return ApiError(429, key, values=told, headers=_retry_after(wait))


def _until(seconds: int) -> str:
    """The minute from which on a request may be sent again, for readers in any time zone."""
    then = datetime.now(UTC) + timedelta(seconds=max(seconds, 1) + 59)
    return then.strftime("%Y-%m-%d %H:%M UTC")


def _retry_after(seconds: int) -> tuple[Header, ...]:
    return ((b"retry-after", b"%d" % max(seconds, 1)),)


def as_api_error(error: Exception) -> ApiError | None:
    """What an error means to the one who asked; ``None`` for those that are none of theirs."""
    match error:
        case ApiError():
            return error
        case QuestionError():
            strange = _is_strange(error)
            return ApiError(
                404 if strange else 400,
                code="unknown-name" if strange else "",
                message=_shown(error),
                said=error.said,
                place=_clean(error.place) or None,
                at=error.at,
            )
        case UnknownName():
            return ApiError(404, code="unknown-name", message=_shown(error), said=error.said)
        case SpecError():
            return ApiError(400, message=_shown(error), said=error.said)
        case MissingExtra():
            return ApiError(406, "format_missing")
        case Refused():
            return ApiError(403, code="refused", message=_shown(error))
        case QuotaExceeded():
            return too_many(f"quota_{error.what}", error.wait, limit=error.limit)
        case CacheBusy():
            return busy()
        case _:
            return None


def _is_strange(error: QuestionError) -> bool:
    """Whether a mistake is a name that does not exist, or not for what is counted."""
    if isinstance(error.__cause__ or error.__context__, UnknownName):
        return True
    if error.place.startswith("line "):  # A program with a wrong name is a wrong program.
        return False
    first = error.said.values.get("first", error.said)
    return isinstance(first, Sentence) and first.words.startswith(_STRANGE)


def _shown(error: SdcensusError) -> str:
    # What somebody sent comes back in messages: without characters that no JSON can hold.
    return _clean(str(error))


def _clean(text: str) -> str:
    return text.encode("utf-8", "replace").decode("utf-8")[:4_000]
