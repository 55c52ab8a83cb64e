"""Brings dictionaries and the columns of census files together.

A column finds its entry by name, whatever the case, spacing and accents: first in the table of its
file, then among entries of no table, then in other tables if these agree. Codes are compared in a
common form (``01``, ``1``, ``1.0``) and are taken over in the form that the file has.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sdcensus.errors import InputError
from sdcensus.ingest.dictionaries.code_texts import common_code, common_name
from sdcensus.ingest.dictionaries.entries import (
    Dictionary,
    DictionaryCode,
    DictionaryVariable,
    joined,
)
from sdcensus.ingest.draft_columns import Profile
from sdcensus.ingest.readers import SourceColumn
from sdcensus.model.schema.code_lists import MISSING_LABELS
from sdcensus.model.schema.variable import CodeKind
from sdcensus.model.text import Text

_NAMES_TO_SHOW = 5


@dataclass(frozen=True, slots=True)
class Matches:
    """The entries of the columns of files, and what was left over.

    Attributes:
        entries: By title of the file and name of the column, with codes as the file writes them.
        without_entry: Columns that no dictionary describes, with their files.
        without_column: Entries that are about no column.
        doubts: What was ambiguous, on top of the doubts of the dictionaries.
    """

    dictionary: Dictionary
    entries: Mapping[tuple[str, str], DictionaryVariable]
    without_entry: tuple[tuple[str, str], ...]
    without_column: tuple[DictionaryVariable, ...]
    doubts: tuple[str, ...]


def match(
    columns: Mapping[str, Mapping[str, Profile]], dictionaries: Sequence[Dictionary]
) -> Matches:
    """Find the entry of every column, and put what it says into the profile of the column.

    Args:
        columns: What the columns of each file hold, by the title of the file.
        dictionaries: The dictionaries; the first that says something is right.

    Raises:
        InputError: A dictionary is about none of the columns.
    """
    known = {common_name(name) for names in columns.values() for name in names}
    for dictionary in dictionaries:
        if not any(common_name(variable.name) in known for variable in dictionary.variables):
            raise InputError(_no_column(dictionary, columns))
    whole = joined(dictionaries)
    by_name: dict[str, list[DictionaryVariable]] = {}
    for variable in whole.variables:
        by_name.setdefault(common_name(variable.name), []).append(variable)
    entries: dict[tuple[str, str], DictionaryVariable] = {}
    doubts: list[str] = list(whole.doubts)
    used: set[tuple[str, str]] = set()
    for title, profiles in columns.items():
        times = Counter(map(common_name, profiles))
        for name, profile in profiles.items():
            candidates = by_name.get(common_name(name), [])
            if times[common_name(name)] > 1:
                candidates = [variable for variable in candidates if variable.name == name]
            source = _entry(candidates, title, name, doubts)
            if source is None:
                continue
            used.add((source.table, source.name))
            entry, spellings = in_form_of(source, profile, whole.language)
            entries[title, name] = entry
            doubts += [f"{title}: {name!r} writes {text}." for text in spellings]
            profile.column = described_column(profile.column, entry, whole.language)
    lacking = [
        (title, name)
        for title, profiles in columns.items()
        for name in profiles
        if (title, name) not in entries
    ]
    unused = [
        variable
        for variable in whole.variables
        if (variable.table, variable.name) not in used
        and (variable.table or common_name(variable.name) not in known)
    ]
    return Matches(whole, entries, tuple(lacking), tuple(unused), tuple(doubts))


def _entry(
    candidates: Sequence[DictionaryVariable], title: str, name: str, doubts: list[str]
) -> DictionaryVariable | None:
    own = [variable for variable in candidates if variable.table == title]
    general = [variable for variable in candidates if not variable.table]
    for variables in (own, general):
        if variables:
            return variables[0]
    if not candidates:
        return None
    if all(variable.same_meaning(candidates[0]) for variable in candidates):
        return candidates[0]
    tables = ", ".join(repr(variable.table) for variable in candidates)
    doubts.append(
        f"{title}: {name!r} is described in the tables {tables}, which differ, and none of them"
        " has the name of this file. Nothing was taken over."
    )
    return None


def _no_column(dictionary: Dictionary, columns: Mapping[str, Mapping[str, Profile]]) -> str:
    described = [variable.name for variable in dictionary.variables[:_NAMES_TO_SHOW]]
    names = [name for profiles in columns.values() for name in profiles][:_NAMES_TO_SHOW]
    return (
        f"{dictionary.file}: the dictionary describes no column of these files. Its variables are"
        f" {', '.join(described)} …; the columns are {', '.join(names)} …. If another of its"
        " columns has the names, say which: --dictionary-columns variable=HEADING"
    )


# ---------------------------------------------------------------- the form of codes


def in_form_of(
    variable: DictionaryVariable, profile: Profile, language: str
) -> tuple[DictionaryVariable, list[str]]:
    """The entry with its codes as a column writes them, and codes that it writes in several ways.

    Where a column writes one number in several ways, the profile is made to have one of them: a
    load finds the code by its value.
    """
    codes = list(variable.codes)
    ranges = []
    values = profile.counts or {}
    for span in variable.ranges:
        if span.text and span.text in values:  # "10-19" may be a code
            codes.append(DictionaryCode(span.text, span.label))
        else:
            ranges.append(span)
    times = Counter(common_code(code.code) for code in codes)
    single = [code.code for code in codes if times[common_code(code.code)] == 1]
    spellings = _one_spelling(profile, single)
    forms = _forms(profile)
    written: dict[str, DictionaryCode] = {}
    for code in codes:
        common = common_code(code.code)
        known = forms.get(common, [])
        if code.code in known or times[common] > 1:
            known = [code.code]
        if not known and not code.label and code.kind is not CodeKind.VALID:
            continue  # a missing code that nobody labelled and nobody used
        label = code.label or _missing_label(code.kind, language)
        for form in known or [_likely_form(code.code, profile)]:
            written.setdefault(form, replace(code, code=form, label=label))
    entry = replace(variable, codes=tuple(written.values()), ranges=tuple(ranges))
    return entry, spellings


def _forms(profile: Profile) -> dict[str, list[str]]:
    """How a column writes each value, the usual form first."""
    values = profile.counts or {}
    forms: dict[str, list[str]] = {}
    for value in sorted(values, key=lambda value: (-values[value], value)):
        forms.setdefault(common_code(value), []).append(value)
    return forms


def _one_spelling(profile: Profile, codes: Sequence[str]) -> list[str]:
    """Make one spelling of several of one number; say which there were."""
    counts = profile.counts
    spellings: list[str] = []
    forms = _forms(profile)
    for code in codes:
        present = forms.get(common_code(code), [])
        if counts is None or len(present) < 2 or not _is_number(code):
            continue
        kept = code if code in present else present[0]
        for form in present:
            if form != kept:
                counts[kept] += counts.pop(form)
        spellings.append(f"one code in several ways: {', '.join(sorted(present))}")
    return spellings


def _missing_label(kind: CodeKind, language: str) -> Text:
    if kind is CodeKind.VALID:
        return Text()
    return Text.of(MISSING_LABELS[kind].show(language), language=language)


def _is_number(text: str) -> bool:
    return common_code(text).lstrip("-").isdecimal()


def _likely_form(code: str, profile: Profile) -> str:
    """How the column would write a code that does not occur in it."""
    plain = common_code(code)
    if not _is_number(code) or plain.startswith("-") or not profile.whole or not profile.counts:
        return code
    if profile.zero_padded and profile.shortest == profile.longest:
        return plain.zfill(profile.longest)
    return code if profile.zero_padded else plain


def described_column(
    column: SourceColumn, entry: DictionaryVariable, language: str
) -> SourceColumn:
    """What is known about a column, with what its entry says."""
    labels = {code.code: code.label.show(language) or code.code for code in entry.codes}
    has_values = any(code.kind is CodeKind.VALID for code in entry.codes) or entry.ranges
    if not has_values:  # what the file itself says about its values
        labels = {**dict(column.value_labels), **labels}
    missing = [code.code for code in entry.codes if code.kind is not CodeKind.VALID]
    return replace(
        column,
        label=entry.label.show(language) or column.label,
        value_labels=tuple(labels.items()),
        missing=tuple(dict.fromkeys([*missing, *column.missing])),
    )
