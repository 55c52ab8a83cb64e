"""Changes of single settings of a schema: labels, plain values, levels of numbers, links."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from enum import StrEnum

from sdcensus.documents.schema.sections import VariableSection, read_section
from sdcensus.documents.toml.edits import without_comments
from sdcensus.documents.toml.lines import KeyPath
from sdcensus.documents.toml.mistakes import Languages, Mistakes
from sdcensus.errors import InputError, unknown
from sdcensus.model.schema.variable import NEVER_STORED, Role
from sdcensus.session.schema_editing.working_copy import WorkingCopy

#: What the draft writes where it was not sure.
GUESSED = "guessed"
#: Settings of a variable that are one plain value.
PLAIN = frozenset(
    {"entity", "width", "decimals", "unit", "empty", "range", "not_stated", "not_applicable"}
)
#: Settings of a variable that are texts in several languages.
SPOKEN = frozenset({"label", "description", "topic"})
#: Settings that say which census it is.
CENSUS = frozenset({"name", "country", "code", "reference_date", "languages"})
#: Settings that say how units are known and linked.
UNITS = frozenset({"id", "within", "link", "optional"})


class Form(StrEnum):
    """What the values of a variable are."""

    CODES = "codes"
    RANGE = "range"
    AMOUNT = "amount"
    NONE = "none"


def section_of(copy: WorkingCopy, name: str) -> VariableSection | None:
    """The table of a variable without settings that have mistakes; ``None`` if it has no sense."""
    raw = copy.variables.get(name)
    section = read_section(VariableSection, raw, ("variable", name), Mistakes(copy.document))
    if section is None and isinstance(raw, dict):
        return read_section(VariableSection, {}, ("variable", name), Mistakes(copy.document))
    return section


def form_of(section: VariableSection) -> Form:
    """What the values of a variable are said to be."""
    if section.role in NEVER_STORED or section.role is Role.WEIGHT:
        return Form.NONE
    if section.continuous or section.role is Role.CONTINUOUS:
        return Form.AMOUNT
    return Form.RANGE if section.range is not None else Form.CODES


def languages_of(copy: WorkingCopy) -> Languages:
    """The languages of the census, as far as they can be read."""
    census = copy.document.data.get("census", {})
    declared = census.get("languages", []) if isinstance(census, dict) else []
    texts = declared if isinstance(declared, list) else [declared]
    return Languages(tuple(language for language in texts if isinstance(language, str)))


def spoken(values: Mapping[str, str], old: object, languages: Languages) -> object:
    """A text with some languages changed, as it is written; ``None`` if nothing is left of it.

    Plain where it is in the first language only and was plain.
    """
    before = old if isinstance(old, dict) else {languages.first: old} if old else {}
    texts = {**before, **values}
    said = {
        language: " ".join(text.split())
        for language, text in texts.items()
        if isinstance(text, str) and text.strip()
    }
    if not said:
        return None
    if set(said) == {languages.first} and not isinstance(old, dict):
        return said[languages.first]
    return said


def with_spoken(
    copy: WorkingCopy, name: str, setting: str, values: Mapping[str, str]
) -> WorkingCopy:
    """A label, description or topic in the languages of the census."""
    old = copy.variables[name].get(setting)
    text = spoken(values, old, languages_of(copy))
    return copy.with_setting(("variable", name, setting), text)


def with_plain(copy: WorkingCopy, name: str, setting: str, value: object) -> WorkingCopy:
    """A setting that is one value; what is wrong with it the reader of schemas says."""
    if setting not in PLAIN:
        raise InputError(unknown("setting", setting, sorted(PLAIN)))
    empty = value in (None, "", []) or (setting == "empty" and value == "problem")
    return copy.with_setting(("variable", name, setting), None if empty else value)


def with_bounds(
    copy: WorkingCopy, name: str, level: str, bounds: str | None, label: Mapping[str, str]
) -> WorkingCopy:
    """A level of numbers by its lower bounds, with its label; ``None`` takes it out."""
    section = section_of(copy, name)
    old = section.levels if section is not None and isinstance(section.levels, dict) else {}
    levels = {**old, level: bounds} if bounds is not None else dict(old)
    if bounds is None:
        levels.pop(level, None)
    copy = copy.with_setting(("variable", name, "levels"), levels or None)
    if bounds is None:
        return without_level_label(copy, name, level)
    return with_level_label(copy, name, level, label)


def with_level_label(
    copy: WorkingCopy, name: str, level: str, label: Mapping[str, str]
) -> WorkingCopy:
    """What readers see for a level."""
    labels = copy.variables[name].get("level_labels", {})
    labels = dict(labels) if isinstance(labels, dict) else {}
    said = spoken(label, labels.get(level), languages_of(copy))
    if said is None:
        return without_level_label(copy, name, level)
    labels[level] = said
    return copy.with_setting(("variable", name, "level_labels"), labels or None)


def without_level_label(copy: WorkingCopy, name: str, level: str) -> WorkingCopy:
    """A level that readers see by its name."""
    labels = copy.variables[name].get("level_labels", {})
    known = labels if isinstance(labels, dict) else {}
    left = {key: text for key, text in known.items() if key != level}
    return copy.with_setting(("variable", name, "level_labels"), left or None)


def with_census(copy: WorkingCopy, setting: str, value: object) -> WorkingCopy:
    """What is said about the census itself."""
    if setting not in CENSUS:
        raise InputError(unknown("setting", setting, sorted(CENSUS)))
    path = ("census", setting)
    copy = copy.with_setting(path, None if value in (None, "", []) else value)
    text = without_comments(copy.text, ("census",), lambda comment: _about(comment, setting))
    return replace(copy, text=text)


def _about(comment: str, setting: str) -> bool:
    """Whether a comment of the draft asks for what has been answered now."""
    asked = {"code": GUESSED, "name": "write the name of the census"}.get(setting)
    return asked is not None and asked in comment


def with_unit(copy: WorkingCopy, entity: str, setting: str, value: object) -> WorkingCopy:
    """How records of a kind are known, and what holds them."""
    if setting not in UNITS:
        raise InputError(unknown("setting", setting, sorted(UNITS)))
    kinds = copy.document.data.get("entity", {})
    if not isinstance(kinds, dict) or not isinstance(kinds.get(entity), dict):
        raise InputError(unknown("entity", entity, kinds if isinstance(kinds, dict) else ()))
    empty = value in (None, "", [], False)
    copy = copy.with_setting(("entity", entity, setting), None if empty else value)
    if setting == "id":
        copy = copy.with_setting(("entity", entity, "from_content"), True if empty else None)
    if setting == "within" and empty:
        copy = copy.with_setting(("entity", entity, "link"), None)
        copy = copy.with_setting(("entity", entity, "optional"), None)
    return copy


def accepted(copy: WorkingCopy, name: str) -> WorkingCopy:
    """A variable that somebody has looked at: what was guessed is now known."""
    text = without_comments(copy.text, ("variable", name), is_guess)
    return replace(copy, text=text, looked_at=copy.looked_at | {name})


def accepted_rest(copy: WorkingCopy) -> WorkingCopy:
    """Everything but the variables: census, files, units and universes are as they should be."""
    text = copy.text
    for path in rest_of(copy):
        text = without_comments(text, path, is_guess)
    return replace(copy, text=text)


def rest_of(copy: WorkingCopy) -> list[KeyPath]:
    """The tables that are no variables."""
    return [path for path in copy.comments if path[0] != "variable"]


def reopened(copy: WorkingCopy, name: str) -> WorkingCopy:
    """A variable that is to be looked at again."""
    return replace(copy, looked_at=copy.looked_at - {name})


def is_guess(comment: str) -> bool:
    """Whether a comment is a mark of the draft."""
    return re.search(rf"\b{GUESSED}\b", comment) is not None
