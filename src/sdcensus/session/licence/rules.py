"""Who may have what: rules that a register keeps before it records anything."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from sdcensus.errors import Refused, SpecError, UnknownName
from sdcensus.model.release.holding import Holding, HoldingState
from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.release.registered import FileEvent, RegisteredFile
from sdcensus.session.office.people import may_be_same
from sdcensus.store.registered_files import read_registered


def known_licence(known: dict[str, Holding], number: str) -> Holding:
    """A licence by its number."""
    if number not in known:
        raise UnknownName("licence", number, known=list(known))
    return known[number]


def registered_file(office: Path, name: str) -> RegisteredFile:
    """What the register of files says about a file that needs a licence.

    Raises:
        Refused: It is not registered, was withdrawn, or needs no licence.
    """
    known = read_registered(office)
    events = [event for event in known if event.name == name]
    if not events:
        names = ", ".join(dict.fromkeys(event.name for event in known))
        listed = f" Registered files: {names}." if names else ""
        raise Refused(
            f"{name} is not registered in {office}, so no copy of it goes out.{listed} Two people"
            " register it: sdcensus release register FOLDER --name NAME --name NAME"
        )
    last = events[-1]
    if last.event is FileEvent.WITHDRAWN:
        raise Refused(f"{name} was withdrawn on {last.date}; no further copy goes out.")
    if last.licence is LicenceClass.PUBLIC_USE:
        raise Refused(
            f"{name} is a public use file: it needs no licence, and everybody gets the same file."
            f" Give the folder that was registered: {last.place}"
        )
    return last


def check_order(holding: Holding, day: str) -> None:
    """Refuse a day before the application."""
    if day < holding.application.date:
        raise SpecError(
            f"Licence {holding.number} was applied for on {holding.application.date}; {day} lies"
            " before that."
        )


def check_not_excluded(
    known: dict[str, Holding], applicant: str, organisation: str, day: str
) -> None:
    """An exclusion is one of the person or organisation, not of a single licence."""
    for holding in known.values():
        if replace(holding, ended=None).state(day) is not HoldingState.EXCLUDED:
            continue
        excluded = holding.application
        names = (excluded.applicant, *excluded.members)
        same_person = any(may_be_same(name, applicant) for name in names)
        if same_person or may_be_same(organisation, excluded.organisation):
            raise Refused(
                f"{applicant} is excluded since a breach of licence {holding.number}. See it with:"
                f" sdcensus licence show OFFICE {holding.number}"
            )


def check_may_hold(
    known: dict[str, Holding], number: str, file: str, day: str, office: Path
) -> Holding:
    """Refuse a copy for somebody who may not have it, with the reason and what to do."""
    holding = known_licence(known, number)
    check_order(holding, day)
    state = holding.state(day)
    if state is not HoldingState.ACTIVE:
        raise Refused(
            f"Licence {number} is {state} on {day}; copies go to active licences only. See:"
            f" sdcensus licence show {office} {number}"
        )
    if file not in holding.application.files:
        wanted = ", ".join(holding.application.files)
        raise Refused(
            f"Licence {number} is for {wanted}, not for {file}. Another file needs another"
            " application."
        )
    applied = holding.application
    check_not_excluded(known, applied.applicant, applied.organisation, day)
    return holding


def is_applicant(holding: Holding, who: str) -> bool:
    """Whether somebody decides about an application of their own."""
    applied = holding.application
    return any(may_be_same(name, who) for name in (applied.applicant, *applied.members))
