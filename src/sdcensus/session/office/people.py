"""Names of people and dates, as an office writes them under its decisions."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Sequence

from sdcensus.errors import Refused, SpecError
from sdcensus.model.letters import plain_letters


def shown_name(text: str) -> str:
    """A name as it is shown: no signs that nobody sees, single blanks."""
    shown = "".join(" " if sign.isspace() else sign for sign in unicodedata.normalize("NFC", text))
    return " ".join("".join(sign for sign in shown if sign.isprintable()).split())


def check_second_person(who: str, before: Sequence[str]) -> None:
    """Refuse a name of somebody who has approved, or who may have under another spelling."""
    for name in before:
        if unicodedata.normalize("NFKC", name).casefold() == (
            unicodedata.normalize("NFKC", who).casefold()
        ):
            raise Refused(f"{who} has approved this already; a second person has to.")
        if may_be_same(name, who):
            raise Refused(
                f"{who} may be {name}, who has approved this already: the names differ in accents,"
                " signs or order only. If they are two persons, write what tells them apart, such"
                " as a second name."
            )


def may_be_same(name: str, other: str) -> bool:
    """Whether two names differ in accents, signs, case or order only."""
    return bool(name) and bool(other) and _name_parts(name) == _name_parts(other)


def _name_parts(name: str) -> list[str]:
    """The parts of a name, the same for most ways to write it."""
    return sorted(re.findall(r"\w+", plain_letters(name))) or [name]


def iso_day(text: str) -> str:
    """A day as ISO text; empty where nothing is said.

    Raises:
        SpecError: It is no date.
    """
    if not text.strip():
        return ""
    try:
        return datetime.date.fromisoformat(text.strip()).isoformat()
    except ValueError:
        raise SpecError(f"{text!r} is no date. Write it as 2026-03-01.") from None
