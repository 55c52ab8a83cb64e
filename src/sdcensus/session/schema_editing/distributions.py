"""Counts of records beside codes, levels and numbers, as a page shows them. Confidential."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sdcensus.documents.schema.sections import VariableSection
from sdcensus.errors import SpecError
from sdcensus.ingest.distributions import Distribution, distribution, sizes
from sdcensus.ingest.draft_columns import Profile
from sdcensus.model.schema.code_lists import continuous_codes, interval_level, range_codes
from sdcensus.model.schema.encoding import CodeEncoder
from sdcensus.model.schema.variable import (
    NEVER_STORED,
    Code,
    CodeKind,
    EmptyField,
    Entity,
    Level,
    Role,
    Variable,
    VariableSource,
)
from sdcensus.session.schema_editing.code_lists import CodeRows
from sdcensus.session.schema_editing.settings import Form, form_of
from sdcensus.session.schema_editing.sources import SourceFile

View = dict[str, Any]
#: Values that are not in the list: more of them are told as a number.
_MOST_STRANGERS = 200
#: Whole numbers with more different values are drawn as a histogram.
_MOST_BARS = 130


def is_private(section: VariableSection) -> bool:
    """Whether values are not shown: they identify somebody, or are parts of ids."""
    return section.role in NEVER_STORED


def shown_distribution(
    section: VariableSection, profile: Profile, listed: CodeRows
) -> Distribution:
    """What may be shown of a column: of ids and identifiers nothing but how many there are."""
    if is_private(section):
        return sizes(profile)
    codes = {row.code for row in listed.rows} | {*section.not_stated, *section.not_applicable}
    return distribution(profile, listed=codes)


def counts_by_value(
    section: VariableSection, shown: Distribution, listed: CodeRows
) -> dict[str, tuple[str | None, int]]:
    """Each value with the code that it finds, as a load would find it, and its records."""
    codes = _leaves(section, listed)
    if not codes:
        return {value: (None, count) for value, count in shown.values.items()}
    variable = Variable(
        name="column",
        entity=Entity.PERSON,
        codes=tuple(codes),
        continuous=form_of(section) is Form.AMOUNT,
        source=VariableSource(file="", column="", empty=EmptyField.PROBLEM),
    )
    encoder = CodeEncoder(variable)
    places = {value: encoder.position(value) for value in shown.values}
    return {
        value: (codes[at].code if at >= 0 else None, shown.values[value])
        for value, at in places.items()
    }


def _leaves(section: VariableSection, listed: CodeRows) -> list[Code]:
    missing = {
        **dict.fromkeys(section.not_applicable, CodeKind.NOT_APPLICABLE),
        **dict.fromkeys(section.not_stated, CodeKind.NOT_STATED),
    }
    apart = [Code(code, kind=kind) for code, kind in missing.items()]
    if form_of(section) is Form.RANGE and section.range is not None:
        try:
            return [*range_codes(*section.range), *apart]
        except SpecError:
            return []
    if form_of(section) is not Form.CODES:
        return []
    leaves = dict.fromkeys(row.code for row in listed.rows if row.code not in listed.groups)
    return [Code(code, kind=missing.get(code, CodeKind.VALID)) for code in {**leaves, **missing}]


def levels_view(section: VariableSection, first: str, shown: Distribution | None) -> list[View]:
    """The levels of numbers: their bounds, and the groups that these make."""
    if not isinstance(section.levels, dict):
        return []
    return [
        {
            "name": name,
            "bounds": bounds,
            "label": labels_of(section.level_labels.get(name, ""), first),
            "groups": _groups(section, bounds, shown),
        }
        for name, bounds in section.levels.items()
    ]


def _groups(section: VariableSection, bounds: str, shown: Distribution | None) -> list[View]:
    try:
        if form_of(section) is Form.AMOUNT:
            codes: Sequence[Code] = continuous_codes([bounds])
        elif section.range is not None:
            codes = range_codes(*section.range)
        else:
            return []
        level: Level = interval_level("level", bounds, codes)
    except SpecError:
        return []
    variable = Variable(
        name="column",
        entity=Entity.PERSON,
        codes=tuple(codes),
        continuous=form_of(section) is Form.AMOUNT,
    )
    encoder = CodeEncoder(variable)
    counts = [0] * len(level.codes)
    for value, count in () if shown is None else shown.values.items():
        at = encoder.position(value)
        if at >= 0:
            counts[level.group[at]] += count
    return [
        {"code": code.code, "count": count if shown is not None and shown.values else None}
        for code, count in zip(level.codes, counts, strict=True)
    ]


def distribution_view(
    section: VariableSection,
    profile: Profile | None,
    shown: Distribution | None,
    counts: Mapping[str, tuple[str | None, int]],
    source: SourceFile | None,
) -> View | None:
    """The distribution of a column: values that no code has, bars of numbers, missing codes."""
    if profile is None or shown is None:
        return None
    view: View = {
        "rows": shown.rows,
        "empty": shown.empty,
        "distinct": shown.distinct,
        "private": is_private(section),
        "hidden": shown.hidden,
        "hidden_rows": shown.hidden_rows,
        "whole": profile.whole,
    }
    if is_private(section):
        if section.role is Role.DIRECT_IDENTIFIER or not profile.filled:
            return view
        # How many digits an id has matters for its width.
        return {**view, "shortest": profile.shortest, "longest": profile.longest}
    missing = {*section.not_stated, *section.not_applicable}
    form = form_of(section)
    if form is Form.CODES or form is Form.RANGE:
        strange = {value: count for value, (code, count) in counts.items() if code is None}
        most = sorted(strange.items(), key=lambda pair: (-pair[1], pair[0]))
        view["strange"] = [
            {"value": value, "count": count} for value, count in most[:_MOST_STRANGERS]
        ]
        view["strange_values"] = len(strange)
        view["strange_rows"] = sum(strange.values())
    if form is Form.CODES:
        return view
    numbers = {value: count for value, count in shown.values.items() if value not in missing}
    if profile.whole and 0 < len(numbers) <= _MOST_BARS:
        single: dict[int, int] = {}
        for value, count in numbers.items():
            single[int(value)] = single.get(int(value), 0) + count
        if max(single) - min(single) < 2 * _MOST_BARS:
            whole = range(min(single), max(single) + 1)
            view["bars"] = [
                {"lower": number, "upper": number, "count": single.get(number, 0)}
                for number in whole
            ]
    if "bars" not in view and profile.number and source is not None:
        bars = source.bars(profile.name, tuple(sorted(missing)))
        view["bars"] = [
            {"lower": bar.lower, "upper": bar.upper, "count": bar.count} for bar in bars
        ]
    view["missing"] = [
        {"value": code, "count": shown.values.get(code, 0)} for code in sorted(missing)
    ]
    return view


def labels_of(raw: object, first: str) -> dict[str, str]:
    """A text by language; a plain one is in the first of them."""
    if isinstance(raw, str):
        return {first: raw} if raw else {}
    return {str(key): str(text) for key, text in raw.items()} if isinstance(raw, dict) else {}
