"""Who holds which file: applications, decisions, agreements, copies, papers, breaches.

A register is a list of events that only grows; a ``Holding`` is what they say about one licence.
"""

from __future__ import annotations

import datetime
from dataclasses import asdict, dataclass, field, fields, replace
from enum import StrEnum
from typing import Any, ClassVar

from sdcensus.errors import SpecError

#: How many people decide about an application.
DECISIONS_NEEDED = 2


class ApplicantKind(StrEnum):
    """Who applies."""

    PERSON = "person"
    TEAM = "team"
    ORGANISATION = "organisation"


class SanctionKind(StrEnum):
    """What follows from a breach."""

    WARNING = "warning"
    SUSPENSION = "suspension"
    EXCLUSION = "exclusion"


class HoldingState(StrEnum):
    """How far a licence is."""

    APPLIED = "applied"
    HALF_DECIDED = "half-decided"
    GRANTED = "granted"
    REFUSED = "refused"
    ACTIVE = "active"
    SUSPENDED = "suspended"
    EXCLUDED = "excluded"
    EXPIRED = "expired"
    ENDED = "ended"


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened to a licence.

    Attributes:
        licence: Its number, such as ``2026-001``.
        date: The day, as ISO text.
    """

    kind: ClassVar[str]
    licence: str
    date: str

    def to_json(self) -> dict[str, Any]:
        """As plain values."""
        return {"event": self.kind, **asdict(self)}


@dataclass(frozen=True, slots=True, kw_only=True)
class Applied(Event):
    """Somebody applies for files."""

    kind: ClassVar[str] = "application"
    applicant: str
    applicant_kind: str = ApplicantKind.PERSON
    members: tuple[str, ...] = ()
    organisation: str = ""
    email: str = ""
    project: str = ""
    abstract: str = ""
    files: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentKept(Event):
    """A document that belongs to it: where it lies and its digest, not a copy."""

    kind: ClassVar[str] = "document"
    what: str
    place: str
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided(Event):
    """One person's decision."""

    kind: ClassVar[str] = "decision"
    name: str
    granted: bool
    role: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreed(Event):
    """The agreement was signed."""

    kind: ClassVar[str] = "agreement"
    signed_by: str
    expires: str
    place: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class HandedOut(Event):
    """A copy was made, with an order of records of its own."""

    kind: ClassVar[str] = "copy"
    file: str
    copy: str
    place: str = ""
    digests: tuple[tuple[str, str], ...] = ()
    content: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Extended(Event):
    """A licence holds longer."""

    kind: ClassVar[str] = "extension"
    expires: str
    name: str
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Deposited(Event):
    """A paper that came of it."""

    kind: ClassVar[str] = "paper"
    title: str
    citation: str = ""
    place: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Breached(Event):
    """The terms were broken, or somebody says so."""

    kind: ClassVar[str] = "breach"
    what: str
    reported_by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Sanctioned(Event):
    """What the office did about a breach."""

    kind: ClassVar[str] = "sanction"
    sanction: str
    name: str
    until: str = ""
    reason: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended(Event):
    """The holder has destroyed or returned the copies."""

    kind: ClassVar[str] = "end"
    how: str
    name: str = ""


_KINDS: dict[str, type[Event]] = {
    kind.kind: kind
    for kind in (
        *(Applied, DocumentKept, Decided, Agreed, HandedOut),
        *(Extended, Deposited, Breached, Sanctioned, Ended),
    )
}


def event_from_json(content: dict[str, Any]) -> Event:
    """Read what ``Event.to_json`` made.

    Raises:
        LookupError, TypeError: It is something else.
    """
    kind = _KINDS[content["event"]]
    names = {each.name for each in fields(kind)}
    given = {name: _frozen(value) for name, value in content.items() if name in names}
    return kind(**given)


def _frozen(value: Any) -> Any:
    return tuple(map(_frozen, value)) if isinstance(value, list) else value


@dataclass(frozen=True, slots=True, kw_only=True)
class Holding:
    """Everything that a register says about one licence."""

    application: Applied
    documents: tuple[DocumentKept, ...] = ()
    decisions: tuple[Decided, ...] = ()
    agreement: Agreed | None = None
    copies: tuple[HandedOut, ...] = ()
    extensions: tuple[Extended, ...] = ()
    papers: tuple[Deposited, ...] = ()
    breaches: tuple[Breached, ...] = ()
    sanctions: tuple[Sanctioned, ...] = ()
    ended: Ended | None = None
    events: tuple[Event, ...] = field(default=())

    @property
    def number(self) -> str:
        """The number of the licence."""
        return self.application.licence

    @property
    def expires(self) -> str:
        """The last day on which it holds; empty without an agreement."""
        if self.agreement is None:
            return ""
        return self.extensions[-1].expires if self.extensions else self.agreement.expires

    @property
    def granted(self) -> bool:
        """Whether enough people have granted it, and nobody has refused."""
        votes = [decision.granted for decision in self.decisions]
        return all(votes) and len(votes) >= DECISIONS_NEEDED

    def state(self, day: str) -> HoldingState:
        """How far it is on a day."""
        if self.ended is not None:
            return HoldingState.ENDED
        for sanction in self.sanctions:
            if sanction.sanction == SanctionKind.EXCLUSION and _lasts(sanction, day):
                return HoldingState.EXCLUDED
        if any(not decision.granted for decision in self.decisions):
            return HoldingState.REFUSED
        if not self.granted:
            return HoldingState.HALF_DECIDED if self.decisions else HoldingState.APPLIED
        if self.agreement is None:
            return HoldingState.GRANTED
        if self.expires < day:
            return HoldingState.EXPIRED
        suspensions = [each for each in self.sanctions if each.sanction == SanctionKind.SUSPENSION]
        suspended = any(_lasts(sanction, day) for sanction in suspensions)
        return HoldingState.SUSPENDED if suspended else HoldingState.ACTIVE

    def with_event(self, event: Event) -> Holding:
        """The same after one thing more."""
        after = replace(self, events=(*self.events, event))
        match event:
            case DocumentKept():
                return replace(after, documents=(*self.documents, event))
            case Decided():
                return replace(after, decisions=(*self.decisions, event))
            case Agreed():
                return replace(after, agreement=event)
            case HandedOut():
                return replace(after, copies=(*self.copies, event))
            case Extended():
                return replace(after, extensions=(*self.extensions, event))
            case Deposited():
                return replace(after, papers=(*self.papers, event))
            case Breached():
                return replace(after, breaches=(*self.breaches, event))
            case Sanctioned():
                return replace(after, sanctions=(*self.sanctions, event))
            case Ended():
                return replace(after, ended=event)
        raise SpecError(f"{event.kind} is nothing that happens to a licence.")


def _lasts(sanction: Sanctioned, day: str) -> bool:
    return sanction.date <= day and (not sanction.until or day <= sanction.until)


def holdings(events: tuple[Event, ...]) -> dict[str, Holding]:
    """The licences of a register by number, in the order of their applications."""
    by_number: dict[str, Holding] = {}
    for event in events:
        if isinstance(event, Applied):
            by_number[event.licence] = Holding(application=event, events=(event,))
        else:
            by_number[event.licence] = by_number[event.licence].with_event(event)
    return by_number


@dataclass(frozen=True, slots=True)
class Reminder:
    """Something that an office should see to.

    Attributes:
        licence: Which licence.
        what: The kind of reminder, a key of the catalogue.
        day: By when, as ISO text; empty where there is no day.
        who: The applicant.
    """

    licence: str
    what: str
    day: str
    who: str


def reminders(by_number: dict[str, Holding], day: str, within: int) -> tuple[Reminder, ...]:
    """What is due on a day, or expires within so many days after it; the most urgent first."""
    horizon = (datetime.date.fromisoformat(day) + datetime.timedelta(days=within)).isoformat()
    due: list[Reminder] = []
    for holding in by_number.values():
        who, state = holding.application.applicant, holding.state(day)

        def remind(what: str, until: str, number: str = holding.number, whom: str = who) -> None:
            due.append(Reminder(number, what, until, whom))

        if state in (HoldingState.APPLIED, HoldingState.HALF_DECIDED):
            remind("decision", holding.application.date)
        elif state is HoldingState.GRANTED:
            remind("agreement", holding.decisions[-1].date)
        elif state is HoldingState.EXPIRED:
            remind("expired", holding.expires)
        elif state in (HoldingState.ACTIVE, HoldingState.SUSPENDED) and holding.expires <= horizon:
            remind("expires", holding.expires)
        if state is HoldingState.EXCLUDED and holding.copies:
            remind("return", holding.sanctions[-1].date)
        if len(holding.breaches) > len(holding.sanctions):
            remind("breach", holding.breaches[-1].date)
        for sanction in holding.sanctions:
            if sanction.until and day <= sanction.until <= horizon:
                remind("sanction-ends", sanction.until)
    return tuple(sorted(due, key=lambda reminder: (reminder.day, reminder.licence)))
