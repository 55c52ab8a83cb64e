"""Reminders as a file that calendars read (iCalendar, RFC 5545). It holds names of applicants."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from pathlib import Path

from sdcensus.model.release.holding import Reminder
from sdcensus.model.sentences import speak
from sdcensus.store.owner_only import write_owner_only

#: A line has at most so many bytes; longer ones go on in the next.
_WIDTH = 75


def write_calendar(
    due: Sequence[Reminder], path: Path, day: str, language: str | None = None
) -> None:
    """Write reminders into a calendar that only its owner can read; an older one is replaced.

    Args:
        due: What is due.
        path: The file.
        day: As of which day: what has waited since an earlier day stands on this one.
        language: Of the words.
    """
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//sdcensus//licences//EN"]
    for reminder in due:
        lines += _event(reminder, day, language)
    lines.append("END:VCALENDAR")
    text = "".join(f"{part}\r\n" for line in lines for part in _folded(line))
    write_owner_only(path, text.encode())


def _event(reminder: Reminder, day: str, language: str | None) -> Iterator[str]:
    first = datetime.date.fromisoformat(max(reminder.day, day))
    words = speak(f"licence.due.{reminder.what}", language, day=reminder.day)
    yield "BEGIN:VEVENT"
    # The same reminder has the same name in every calendar, so that it is not there twice.
    yield f"UID:{reminder.licence}-{reminder.what}-{reminder.day}@licences.sdcensus"
    yield f"DTSTAMP:{day.replace('-', '')}T000000Z"
    yield f"DTSTART;VALUE=DATE:{first:%Y%m%d}"
    yield f"DTEND;VALUE=DATE:{first + datetime.timedelta(days=1):%Y%m%d}"
    yield f"SUMMARY:{_escaped(f'{reminder.licence} {reminder.who}: {words}')}"
    yield "TRANSP:TRANSPARENT"
    yield "END:VEVENT"


def _escaped(text: str) -> str:
    for mark in ("\\", ";", ","):
        text = text.replace(mark, f"\\{mark}")
    return " ".join(text.split())


def _folded(line: str) -> Iterator[str]:
    """A line in parts that are short enough, no letter cut in two."""
    part, width = "", _WIDTH
    for letter in line:
        if len((part + letter).encode()) > width:
            yield part
            part = " "
        part += letter
    yield part
