"""Where dictionaries and census files disagree: codes, columns, contradictions.

Codes are named, never how many records have them; values of which nobody knows that they are codes
are not shown at all.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from sdcensus.ingest.dictionaries.code_texts import common_code
from sdcensus.ingest.dictionaries.entries import DictionaryVariable
from sdcensus.ingest.dictionaries.matching import Matches
from sdcensus.ingest.draft_columns import Profile
from sdcensus.ingest.draft_guesses import Guess
from sdcensus.model.schema.variable import NEVER_STORED
from sdcensus.model.sentences import Value, speak

#: What can be shown as a code: short, with a digit or of two letters at most.
_CODE = re.compile(r"(?=.{1,12}$)(?:\S*[0-9]\S*)|\S{1,2}|\.[A-Za-z]")
_SHORT_LIST = 6


@dataclass(frozen=True, slots=True)
class ColumnCodes:
    """Codes of one column of a file; ``hidden`` if there are values that may not be shown."""

    file: str
    column: str
    codes: tuple[str, ...]
    hidden: bool = False


@dataclass(frozen=True, slots=True)
class DictionaryCheck:
    """What an office should look at before it trusts dictionary and files.

    Attributes:
        described: How many columns have an entry.
        not_in_dictionary: Codes that occur and have no entry.
        never_used: Codes of the dictionary that do not occur.
        without_entry: Columns that are not described, with their files.
        without_column: Variables of the dictionary that are no columns, with their places.
        doubts: Entries that stand twice or contradict each other, and what was ambiguous.
    """

    described: int
    not_in_dictionary: tuple[ColumnCodes, ...]
    never_used: tuple[ColumnCodes, ...]
    without_entry: tuple[tuple[str, str], ...]
    without_column: tuple[tuple[str, str], ...]
    doubts: tuple[str, ...]

    def summary(self, language: str | None = None) -> Iterator[str]:
        """A few lines with numbers of codes, variables and doubts."""

        def say(key: str, **values: Value) -> str:
            return speak(f"start.dictionary.{key}", language, **values)

        total = self.described + len(self.without_entry)
        yield say("described", n=self.described, all=total)
        for key, places in (
            ("without_entry", [name for _, name in self.without_entry]),
            ("without_column", [name for name, _ in self.without_column]),
        ):
            if places:
                yield say("listed", what=say(key), n=len(places), names=_listed(places))
        for key, columns in (
            ("not_in_dictionary", self.not_in_dictionary),
            ("never_used", self.never_used),
        ):
            if columns:
                codes = sum(len(column.codes) for column in columns)
                names = [column.column for column in columns]
                form = "in_columns" if len(names) > 1 else "in_column"
                yield say(form, what=say(key), n=codes, columns=len(names), names=_listed(names))
        if self.doubts:
            yield say("number", what=say("doubts"), n=len(self.doubts))

    def text(self, language: str | None = None) -> str:
        """Everything, for a file."""
        sections = {
            "not_in_dictionary": _codes(self.not_in_dictionary, language),
            "never_used": _codes(self.never_used, language),
            "without_entry": [f"{file}: {name}" for file, name in self.without_entry],
            "without_column": [f"{name} ({place})" for name, place in self.without_column],
            "doubts": self.doubts,
        }
        lines = [speak("start.dictionary.title", language), "", *self.summary(language), ""]
        for key, entries in sections.items():
            lines += _section(key, entries, language)
        return "\n".join(lines).rstrip("\n") + "\n"


def _section(key: str, entries: Sequence[str], language: str | None) -> list[str]:
    shown = entries or [speak("start.dictionary.none", language)]
    return [speak(f"start.dictionary.{key}", language), *(f"  {entry}" for entry in shown), ""]


def _codes(columns: Iterable[ColumnCodes], language: str | None) -> list[str]:
    hidden = speak("start.dictionary.hidden", language)
    return [
        f"{column.file}: {column.column}: "
        + ", ".join([*column.codes, *([hidden] if column.hidden else [])])
        for column in columns
    ]


def _listed(names: Sequence[str]) -> str:
    return ", ".join(names[:_SHORT_LIST]) + (", …" if len(names) > _SHORT_LIST else "")


def check_dictionary(
    columns: Mapping[str, Mapping[str, Profile]],
    matches: Matches,
    guesses: Mapping[tuple[str, str], Guess],
) -> DictionaryCheck:
    """Compare what occurs in files with what dictionaries say.

    Args:
        columns: What the columns of each file hold, by the title of the file.
        matches: The entries of the columns.
        guesses: What was drafted for each column; identifiers are not looked at.
    """
    strange: list[ColumnCodes] = []
    unused: list[ColumnCodes] = []
    for (title, name), entry in matches.entries.items():
        profile = columns[title][name]
        guess = guesses.get((title, name))
        if profile.counts is None or guess is None or guess.role in NEVER_STORED:
            continue
        others = _not_described(profile, entry, guess)
        if others:
            shown = tuple(value for value in others if _CODE.fullmatch(value))
            strange.append(ColumnCodes(title, name, shown, len(shown) < len(others)))
        occurring = {common_code(value) for value in profile.counts} | set(profile.counts)
        absent = tuple(
            code.code
            for code in entry.codes
            if code.code not in occurring and common_code(code.code) not in occurring
        )
        if absent:
            unused.append(ColumnCodes(title, name, absent))
    return DictionaryCheck(
        len(matches.entries),
        tuple(strange),
        tuple(unused),
        matches.without_entry,
        tuple((variable.name, str(variable.place)) for variable in matches.without_column),
        matches.doubts,
    )


def _not_described(profile: Profile, entry: DictionaryVariable, guess: Guess) -> list[str]:
    """The values that the entry does not have, where it has a list of codes or a range."""
    is_list = bool(entry.codes) and guess.codes is not None
    if not is_list and not entry.ranges:
        return []
    known = {common_code(code.code) for code in entry.codes}
    known |= {code.code for code in entry.codes} | set(profile.column.missing)
    return sorted(
        value
        for value in profile.counts or {}
        if value not in known
        and common_code(value) not in known
        and not _inside(common_code(value), entry)
    )


def _inside(value: str, entry: DictionaryVariable) -> bool:
    is_whole = value.lstrip("-").isdecimal() and len(value) <= 18
    return is_whole and any(span.low <= int(value) <= span.high for span in entry.ranges)
