"""The role of a variable and what its values are; settings that do not go with them go."""

from __future__ import annotations

from sdcensus.errors import InputError
from sdcensus.ingest.draft_columns import Profile
from sdcensus.ingest.draft_guesses import may_be_shown
from sdcensus.model.schema.variable import NEVER_STORED, Role
from sdcensus.session.schema_editing.code_lists import with_first_codes
from sdcensus.session.schema_editing.settings import Form, form_of, section_of
from sdcensus.session.schema_editing.working_copy import WorkingCopy

#: Whole numbers with more different values are a range and no list.
_FEW_NUMBERS = 30
_CODES = ("codes", "range", "levels", "level_labels", "hierarchy", "not_stated", "not_applicable")
_NUMBERS = ("continuous", "decimals", "unit")


def with_role(
    copy: WorkingCopy, name: str, role: Role | None, profile: Profile | None
) -> WorkingCopy:
    """Another role; settings that do not go with it are taken out, and codes come where needed."""
    table = ("variable", name)
    copy = copy.with_setting((*table, "role"), None if role is None else role.value)
    out: tuple[str, ...] = ()
    if role in NEVER_STORED:
        out = (*_CODES, *_NUMBERS, "imputed", "counts", "counts_open")
        out += ("width",) if role is Role.DIRECT_IDENTIFIER else ()
    elif role is Role.WEIGHT:
        out = (*_CODES, "continuous", "unit", "empty", "imputed", "width", "counts", "counts_open")
    if role is not Role.GEOGRAPHY:
        out += ("map", "grid")
    for setting in out:
        copy = copy.with_setting((*table, setting), None)
    section = section_of(copy, name)
    if section is None or role in NEVER_STORED or role is Role.WEIGHT:
        return copy
    if role is Role.CONTINUOUS:
        return with_form(copy, name, Form.AMOUNT, profile)
    if role is Role.GEOGRAPHY and form_of(section) is not Form.CODES:
        return with_form(copy, name, Form.CODES, profile)
    if form_of(section) is Form.CODES and section.codes is None and profile is not None:
        return with_form(copy, name, _likely_form(profile), profile)
    return copy


def _likely_form(profile: Profile) -> Form:
    if profile.number and not profile.whole:
        return Form.AMOUNT
    if not profile.whole or profile.zero_padded:
        return Form.CODES
    if profile.counts is None:
        return Form.AMOUNT
    return Form.CODES if len(profile.counts) <= _FEW_NUMBERS else Form.RANGE


def with_form(copy: WorkingCopy, name: str, form: Form, profile: Profile | None) -> WorkingCopy:
    """Other values: a list of codes, a range of whole numbers, or an amount."""
    section = section_of(copy, name)
    if section is None or form is Form.NONE:
        raise InputError("This follows from the role of the variable: choose another role.")
    known = {Form.CODES: section.codes is not None, Form.RANGE: section.range is not None}
    if form_of(section) is form and known.get(form, section.continuous):
        return copy
    table = ("variable", name)
    out: tuple[str, ...] = {
        Form.CODES: ("range", "continuous", "decimals", "unit", "levels", "level_labels"),
        Form.RANGE: ("codes", "continuous", "decimals", "unit", "levels", "level_labels"),
        Form.AMOUNT: ("codes", "range", "hierarchy", "levels", "level_labels", "width"),
    }[form]
    if form is Form.RANGE:
        out += ("hierarchy",)
    for setting in out:
        copy = copy.with_setting((*table, setting), None)
    if form is not Form.AMOUNT and section.role is Role.CONTINUOUS:
        copy = copy.with_setting((*table, "role"), None)
    missing = {*section.not_stated, *section.not_applicable}
    if form is Form.AMOUNT:
        decimals = 2 if profile is None else (0 if profile.whole else profile.decimals or 2)
        copy = copy.with_setting((*table, "continuous"), True)
        return copy.with_setting((*table, "decimals"), min(decimals, 9))
    if form is Form.RANGE:
        numbers = [] if profile is None else profile.numbers()
        numbers = [number for number in numbers if str(number) not in missing]
        bounds = [numbers[0], numbers[-1]] if numbers else [0, 120]
        return copy.with_setting((*table, "range"), bounds)
    values = (
        []
        if profile is None or profile.counts is None
        else sorted(
            value
            for value, count in profile.counts.items()
            if profile.number or may_be_shown(value, count)
        )
    )
    return with_first_codes(copy, name, [value for value in values if value not in missing])
