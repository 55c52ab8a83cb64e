"""What happened to a licence, in words."""

from __future__ import annotations

from collections.abc import Iterator

from sdcensus.model.release.holding import (
    Agreed,
    Applied,
    Breached,
    Decided,
    Deposited,
    DocumentKept,
    Ended,
    Event,
    Extended,
    HandedOut,
    Holding,
    Sanctioned,
)
from sdcensus.model.sentences import speak


def event_lines(holding: Holding, language: str | None) -> Iterator[str]:
    """A line for each event, the first one first."""
    for event in holding.events:
        yield f"{event.date}  {_words(event, language)}"
        for line in _more(event, language):
            yield f"            {line}"


def _more(event: Event, language: str | None) -> Iterator[str]:
    """What else a register knows about an event: members, digests, places, reasons."""

    def say(key: str, **values: str) -> str:
        return speak(f"licence.more.{key}", language, **values)

    match event:
        case Applied():
            members = ", ".join(event.members)
            texts = {"members": members, "email": event.email, "abstract": event.abstract}
            yield from (say(key, text=text) for key, text in texts.items() if text)
        case Agreed() if event.sha256:
            yield say("signed", digest=event.sha256[:16], place=event.place)
        case HandedOut():
            for file, digest in event.digests:
                yield say("digest", file=file, digest=digest)
        case Deposited():
            if event.citation:
                yield say("citation", text=event.citation)
            if event.sha256:
                yield say("paper", digest=event.sha256[:16], place=event.place)
        case Breached() if event.reported_by:
            yield say("reported", name=event.reported_by)
        case Extended() | Sanctioned() if event.reason:
            yield say("reason", text=event.reason)


def _words(event: Event, language: str | None) -> str:
    def say(key: str, **values: str) -> str:
        return speak(f"licence.event.{key}", language, **values)

    match event:
        case Applied():
            files = ", ".join(event.files)
            where = f" ({event.organisation})" if event.organisation else ""
            return say(
                "application", who=event.applicant + where, files=files, project=event.project
            )
        case DocumentKept():
            return say("document", what=event.what, place=event.place, digest=event.sha256[:16])
        case Decided():
            key = "granted" if event.granted else "refused"
            return say(key, name=event.name, reason=event.reason)
        case Agreed():
            return say("agreement", name=event.signed_by, until=event.expires)
        case HandedOut():
            return say("copy", file=event.file, place=event.place)
        case Extended():
            return say("extension", until=event.expires, name=event.name)
        case Deposited():
            return say("paper", title=event.title)
        case Breached():
            return say("breach", what=event.what)
        case Sanctioned():
            until = event.until or "…"
            kind = speak(f"licence.sanction.{event.sanction}", language)
            return say("sanction", kind=kind, name=event.name, until=until)
        case Ended():
            return say("end", how=event.how)
    raise ValueError(event.kind)
