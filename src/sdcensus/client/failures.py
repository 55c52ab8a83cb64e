"""What can go wrong between a program and a table builder, in the one tree of errors.

A refusal of the policy is ``Refused``, a name that the office does not have is ``UnknownName``, a
question that makes no sense is ``QuestionError``: the same as without a server in between. The
rest is ``ServiceError``. No message holds a token.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sdcensus.client.reasons import Reason, Remedy, reasons_of, remedies_of
from sdcensus.errors import QuestionError, Refused, SdcensusError, UnknownName
from sdcensus.model.quantities import waiting_text

_LONGEST_MESSAGE = 2_000


class ServiceError(SdcensusError):
    """A table builder did not answer as asked.

    Attributes:
        status: The status of the answer; ``None`` where there was none.
        code: The reason code of the API, such as ``quota``; empty where there was none.
        request: The number under which the office finds the request in its logs.
    """

    def __init__(
        self, text: str, *, status: int | None = None, code: str = "", request: str = ""
    ) -> None:
        self.status, self.code, self.request = status, code, request
        super().__init__(text)


class NotReached(ServiceError):
    """Nobody answered: wrong address, no network, no valid certificate, or too slow."""


class NotUnderstood(ServiceError):
    """The answer is cut short, or is not one of a table builder."""


class Waiting(ServiceError):
    """Later it may work.

    Attributes:
        retry_after: After how many seconds, where the server says so.
    """

    def __init__(self, text: str, *, retry_after: float | None = None, **more: Any) -> None:
        self.retry_after = retry_after
        super().__init__(text, **more)


class QuotaUsedUp(Waiting):
    """The role has asked for as much as it may for now."""


class Busy(Waiting):
    """The server has too much to do."""


class StillRunning(Waiting):
    """A large table was not ready in the time that the program wanted to wait."""


class NotAllowed(ServiceError):
    """A token is missing, wrong, expired or revoked, or its role may not do this."""


class UnknownThere(UnknownName, QuestionError):
    """The office has no such variable, level, code or population; the message offers near ones.

    Attributes:
        place: The part of the question that has the name, such as ``by[1]``; empty if none.
        at: The character at which it stands, where it is known.
    """

    def __init__(self, text: str, *, place: str = "", at: int | None = None) -> None:
        SdcensusError.__init__(self, text)
        self.kind = self.name = ""
        self.known: tuple[str, ...] = ()
        self.place, self.at = place, at


class TableRefused(Refused):
    """The policy of the office does not allow this table.

    Attributes:
        reasons: Why not.
        remedies: Tables near it that are allowed; each has a question that can be asked.
    """

    def __init__(
        self, text: str, *, reasons: tuple[Reason, ...], remedies: tuple[Remedy, ...]
    ) -> None:
        self.reasons, self.remedies = reasons, remedies
        super().__init__(text)


def failure(status: int, body: object, *, retry_after: float | None = None) -> SdcensusError:
    """The error that the answer of a server stands for.

    Args:
        status: The status of the answer.
        body: What was read from it: the one shape of errors, or anything else.
        retry_after: What the server says about when to try again, in seconds.
    """
    said = body.get("error") if isinstance(body, Mapping) else None
    if not isinstance(said, Mapping):
        if status in (429, 503):  # A proxy says it too, in its own words.
            return Busy(_busy(retry_after), retry_after=retry_after, status=status)
        return ServiceError(
            f"The server answered with status {status}, and not in the words of a table builder."
            " Is the address right, and is nothing between you and it that answers instead?",
            status=status,
        )
    code, request = _word(said, "code"), _word(said, "request")
    message = _word(said, "message") or f"The server answered with status {status}."
    place = _word(said, "place")
    at = said["at"] if type(said.get("at")) is int else None
    about: dict[str, Any] = {"status": status, "code": code, "request": request}
    match code:
        case "refused":
            reasons, remedies = reasons_of(said.get("reasons")), remedies_of(said.get("remedies"))
            return TableRefused(
                _refused(message, reasons, remedies), reasons=reasons, remedies=remedies
            )
        case "bad-question" | "too-large":
            return QuestionError(message.removeprefix(f"{place}: "), place=place, at=at)
        case "unknown-name":
            return UnknownThere(message, place=place, at=at)
        case "quota":
            later = "" if retry_after is None else f" Try again in {waiting_text(retry_after)}."
            return QuotaUsedUp(f"{message}{later}", retry_after=retry_after, **about)
        case "busy":
            return Busy(message, retry_after=retry_after, **about)
        case "unauthorised" | "forbidden" | "csrf":
            return NotAllowed(message, **about)
        case "internal":
            return ServiceError(f"{message} (request {request})" if request else message, **about)
        case _:
            return ServiceError(message, **about)


def _refused(message: str, reasons: tuple[Reason, ...], remedies: tuple[Remedy, ...]) -> str:
    """A message that names the reasons and what would help, each once."""
    lines = [message]
    lines += [
        f"- {reason.text}" for reason in reasons if reason.text and reason.text not in message
    ]
    if remedies:
        lines.append("What would help:")
        lines += [f"- {remedy.text}" for remedy in remedies if remedy.text]
    return "\n".join(lines)


def _busy(retry_after: float | None) -> str:
    later = "a moment" if retry_after is None else waiting_text(retry_after)
    return f"The server has too much to do. Try again in {later}."


def _word(said: Mapping[str, Any], name: str) -> str:
    """A text of the error; other things, and what would flood a console, are left out."""
    value = said.get(name)
    return value[:_LONGEST_MESSAGE] if isinstance(value, str) else ""
