"""Recording what happens to licences, and what is due."""

from __future__ import annotations

import datetime
import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path

from sdcensus.errors import InputError, Refused, SpecError
from sdcensus.model.confidential import Confidential
from sdcensus.model.release.holding import (
    DECISIONS_NEEDED,
    Agreed,
    ApplicantKind,
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
    HoldingState,
    Reminder,
    Sanctioned,
    SanctionKind,
    holdings,
    reminders,
)
from sdcensus.model.vocabulary import option
from sdcensus.session.licence.rules import (
    check_may_hold,
    check_not_excluded,
    check_order,
    is_applicant,
    known_licence,
    registered_file,
)
from sdcensus.session.office.people import check_second_person, iso_day, shown_name
from sdcensus.session.publish.lock import taken
from sdcensus.store.licences import read_licences, write_licences

#: How long a licence holds where nothing is said, in days.
USUAL_DAYS = 2 * 365
#: How many days ahead reminders look.
AHEAD = 60
#: For how many seconds to wait for somebody who records something else.
_PATIENCE = 20.0


class LicenceRegister(Confidential):
    """The register of one office folder. Every change is written before it is answered.

    Args:
        office: The office folder.
    """

    __slots__ = ("office",)

    def __init__(self, office: str | Path) -> None:
        self.office = Path(office)

    def __repr__(self) -> str:
        return "<LicenceRegister: confidential>"

    # ------------------------------------------------------------------------------- looking

    def holdings(self) -> dict[str, Holding]:
        """All licences by number."""
        return holdings(read_licences(self.office))

    def holding(self, number: str) -> Holding:
        """One licence.

        Raises:
            UnknownName: There is none of that number.
        """
        return known_licence(self.holdings(), number)

    def due(self, day: str = "", *, within: int = AHEAD) -> tuple[Reminder, ...]:
        """What the office should see to, the most urgent first."""
        if within < 0:
            raise SpecError("--within is a number of days, 0 or more.")
        return reminders(self.holdings(), day_or_today(day), within)

    # ----------------------------------------------------------------------------- recording

    def apply(
        self,
        applicant: str,
        files: Sequence[str],
        *,
        project: str,
        abstract: str = "",
        kind: str | ApplicantKind = ApplicantKind.PERSON,
        members: Sequence[str] = (),
        organisation: str = "",
        email: str = "",
        documents: Sequence[str | Path] = (),
        date: str = "",
    ) -> Holding:
        """Record an application; documents are kept as digests and places, not copied.

        Raises:
            SpecError: Something that an application needs is not said.
            Refused: The applicant is excluded, or a file is not registered or needs no licence.
        """
        who, day = _name(applicant, "who applies"), day_or_today(date)
        wanted = tuple(dict.fromkeys(name.strip() for name in files if name.strip()))
        if not wanted:
            raise SpecError("An application names the files that are wanted: --file NAME.")
        what = _name(project, "the project")
        papers = [_looked_at(Path(document)) for document in documents]

        def events(known: dict[str, Holding]) -> list[Event]:
            check_not_excluded(known, who, shown_name(organisation), day)
            for name in wanted:
                registered_file(self.office, name)
            number = _next_number(known, day)
            applied = Applied(
                licence=number,
                date=day,
                applicant=who,
                applicant_kind=option(ApplicantKind, "kind of applicant", kind).value,
                members=tuple(filter(None, map(shown_name, members))),
                organisation=shown_name(organisation),
                email=shown_name(email),
                project=what,
                abstract=abstract.strip(),
                files=wanted,
            )
            kept = [
                DocumentKept(licence=number, date=day, what=name, place=place, sha256=digest)
                for name, place, digest in papers
            ]
            return [applied, *kept]

        return self._record(events)

    def decide(
        self,
        number: str,
        name: str,
        *,
        granted: bool,
        role: str = "",
        reason: str = "",
        date: str = "",
    ) -> Holding:
        """Record one person's decision; two different persons have to grant a licence.

        Raises:
            Refused: It is decided already, or the same person decides twice.
        """
        who, day = _name(name, "who decides"), day_or_today(date)
        if not granted and not reason.strip():
            raise SpecError('A refusal gives its reason: --reason "WHY".')

        def events(known: dict[str, Holding]) -> list[Event]:
            holding = known_licence(known, number)
            check_order(holding, day)
            if holding.state(day) not in (HoldingState.APPLIED, HoldingState.HALF_DECIDED):
                raise Refused(f"Licence {number} is decided already ({holding.state(day)}).")
            check_second_person(who, [decision.name for decision in holding.decisions])
            if is_applicant(holding, who):
                raise Refused(f"{who} applies, and cannot decide about it. Two others have to.")
            return [
                Decided(
                    licence=number,
                    date=day,
                    name=who,
                    granted=granted,
                    role=shown_name(role),
                    reason=reason.strip(),
                )
            ]

        return self._record(events, number)

    def agree(
        self,
        number: str,
        signed_by: str,
        *,
        expires: str = "",
        document: str | Path | None = None,
        date: str = "",
    ) -> Holding:
        """Record that the agreement is signed; from then on copies may be handed out.

        Raises:
            Refused: Two persons have not granted it yet.
            SpecError: It would expire before it begins.
        """
        who, day = _name(signed_by, "who signed"), day_or_today(date)
        until = iso_day(expires) or usual_end(day)
        if until <= day:
            raise SpecError(f"A licence from {day} cannot expire on {until}.")
        _, place, digest = _looked_at(Path(document)) if document is not None else ("", "", "")

        def events(known: dict[str, Holding]) -> list[Event]:
            holding = known_licence(known, number)
            check_order(holding, day)
            if holding.agreement is not None:
                raise Refused(f"Licence {number} has its agreement; extend it instead.")
            if not holding.granted:
                given = len(holding.decisions)
                raise Refused(
                    f"Licence {number} is not granted: {given} of {DECISIONS_NEEDED} decisions."
                    f" Decide first: sdcensus licence decide {self.office} {number} --name NAME"
                    " --grant"
                )
            return [
                Agreed(
                    licence=number,
                    date=day,
                    signed_by=who,
                    expires=until,
                    place=place,
                    sha256=digest,
                )
            ]

        return self._record(events, number)

    def extend(
        self, number: str, name: str, *, expires: str, reason: str = "", date: str = ""
    ) -> Holding:
        """Let a licence hold longer."""
        who, day, until = _name(name, "who extends it"), day_or_today(date), iso_day(expires)

        def events(known: dict[str, Holding]) -> list[Event]:
            holding = known_licence(known, number)
            check_order(holding, day)
            if holding.agreement is None or holding.ended is not None:
                raise Refused(f"Licence {number} has no agreement that could be extended.")
            if until <= max(holding.expires, day):
                raise SpecError(
                    f"Licence {number} holds until {holding.expires}; say a later day:"
                    " --expires DATE."
                )
            return [
                Extended(licence=number, date=day, expires=until, name=who, reason=reason.strip())
            ]

        return self._record(events, number)

    def hand_out(
        self,
        number: str,
        file: str,
        *,
        copy: str,
        place: str,
        digests: Sequence[tuple[str, str]] = (),
        content: str = "",
        date: str = "",
    ) -> Holding:
        """Record a copy that was made for a holder, if that holder may have it."""
        day = day_or_today(date)
        event = HandedOut(
            licence=number,
            date=day,
            file=file,
            copy=copy,
            place=place,
            digests=tuple(digests),
            content=content,
        )

        def events(known: dict[str, Holding]) -> list[Event]:
            check_may_hold(known, number, file, day, self.office)
            return [event]

        return self._record(events, number)

    def check_may_hold(self, number: str, file: str, *, date: str = "") -> Holding:
        """Refuse a copy for somebody who may not have it.

        Raises:
            Refused: With the reason, and what to do.
        """
        return check_may_hold(self.holdings(), number, file, day_or_today(date), self.office)

    def deposit(
        self,
        number: str,
        title: str,
        *,
        citation: str = "",
        document: str | Path | None = None,
        date: str = "",
    ) -> Holding:
        """Record a paper that a holder has deposited."""
        named = _name(title, "the title of the paper")
        _, place, digest = _looked_at(Path(document)) if document is not None else ("", "", "")
        event = Deposited(
            licence=number,
            date=day_or_today(date),
            title=named,
            citation=citation.strip(),
            place=place,
            sha256=digest,
        )
        return self._record(lambda known: _of_known(known, event), number)

    def breach(self, number: str, what: str, *, reported_by: str = "", date: str = "") -> Holding:
        """Record that the terms were broken."""
        event = Breached(
            licence=number,
            date=day_or_today(date),
            what=_name(what, "what happened"),
            reported_by=shown_name(reported_by),
        )
        return self._record(lambda known: _of_known(known, event), number)

    def sanction(
        self,
        number: str,
        kind: str | SanctionKind,
        name: str,
        *,
        until: str = "",
        reason: str = "",
        date: str = "",
    ) -> Holding:
        """Record what the office does about a breach; an exclusion holds for every licence."""
        day, last = day_or_today(date), iso_day(until)
        if last and last < day:
            raise SpecError(f"A sanction from {day} cannot end on {last}.")
        event = Sanctioned(
            licence=number,
            date=day,
            sanction=option(SanctionKind, "sanction", kind).value,
            name=_name(name, "who decides"),
            until=last,
            reason=reason.strip(),
        )
        return self._record(lambda known: _of_known(known, event), number)

    def end(self, number: str, how: str, *, name: str = "", date: str = "") -> Holding:
        """Record that copies were destroyed or returned."""
        event = Ended(
            licence=number,
            date=day_or_today(date),
            how=_name(how, "how it ended"),
            name=shown_name(name),
        )

        def events(known: dict[str, Holding]) -> list[Event]:
            if known_licence(known, number).ended is not None:
                raise Refused(f"Licence {number} has ended already.")
            return _of_known(known, event)

        return self._record(events, number)

    def keep_document(self, number: str, document: str | Path, *, date: str = "") -> Holding:
        """Record a document that belongs to a licence: its place and digest."""
        name, place, digest = _looked_at(Path(document))
        event = DocumentKept(
            licence=number, date=day_or_today(date), what=name, place=place, sha256=digest
        )
        return self._record(lambda known: _of_known(known, event), number)

    def _record(
        self, events: Callable[[dict[str, Holding]], list[Event]], number: str = ""
    ) -> Holding:
        """Add events that follow from what is known, while nobody else does."""
        with taken(self.office, _PATIENCE):
            before = read_licences(self.office)
            added = events(holdings(before))
            after = (*before, *added)
            write_licences(self.office, after)
        return holdings(after)[number or added[0].licence]


def _of_known(known: dict[str, Holding], event: Event) -> list[Event]:
    check_order(known_licence(known, event.licence), event.date)
    return [event]


def _next_number(known: dict[str, Holding], day: str) -> str:
    year = day[:4]
    used = [int(number[5:]) for number in known if number.startswith(f"{year}-")]
    return f"{year}-{max(used, default=0) + 1:03d}"


def _name(text: str, what: str) -> str:
    shown = shown_name(text)
    if not shown:
        raise SpecError(f"Say {what}; it is empty.")
    return shown


def day_or_today(text: str) -> str:
    """The day that is named, or today: a register of the office is about days."""
    return iso_day(text) or datetime.datetime.now().astimezone().date().isoformat()


def usual_end(day: str) -> str:
    """The last day of a licence from a day on where nothing else is said."""
    begins = datetime.date.fromisoformat(day)
    return (begins + datetime.timedelta(days=USUAL_DAYS)).isoformat()


def _looked_at(path: Path) -> tuple[str, str, str]:
    """The name of a document, where it lies, and its digest."""
    try:
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}. It is not recorded.") from None
    return path.name, str(path.absolute()), digest
