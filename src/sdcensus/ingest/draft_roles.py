"""What a column may be: part of an id, an area, something that identifies a person.

Names raise a suspicion and values decide: a column of telephone numbers is not a question about
telephones. Where values cannot clear it, the suspicion stands.
"""

from __future__ import annotations

import re

from sdcensus.ingest.draft_columns import Profile
from sdcensus.ingest.draft_words import (
    Concept,
    concepts_of,
    is_answer,
    is_rural,
    kind_of_missing_text,
)
from sdcensus.model.schema.variable import CodeKind

#: The answers to a question have at most so many codes,
_FEW_ANSWERS = 20
#: and so much fewer than those who answered it; each was given by some.
_ROWS_OF_ANSWER, _OFTEN = 10, 3
#: Longer numbers than this may be those of a telephone or a document.
_SHORT_CODE = 3
#: No id is longer.
_LONGEST_ID = 20


def concepts(profile: Profile) -> set[Concept]:
    """What the column may be about."""
    return concepts_of(profile.name, profile.column.label)


def may_identify_units(profile: Profile) -> bool:
    """Whether the column may be part of the id of a record."""
    about = concepts(profile)
    return (
        bool(about & {Concept.NUMBER, Concept.AREA})
        and not about & {Concept.CONTACT, Concept.PERSONAL_NAME, Concept.WEIGHT}
        and profile.empty == 0
        and profile.stated > 0
        and not profile.missing_texts
        and not (profile.column.value_labels and Concept.AREA not in about)
        and (profile.whole or (not profile.number and profile.longest <= _LONGEST_ID))
    )


def has_own_values(profile: Profile) -> bool:
    """Whether every row has a short value of its own, whatever the column is called."""
    return (
        not concepts(profile) & {Concept.CONTACT, Concept.PERSONAL_NAME, Concept.WEIGHT}
        and not profile.missing_texts
        and profile.filled == profile.rows
        and (profile.counts is None or len(profile.counts) == profile.rows)
        and (profile.whole or profile.counts is None or looks_like_codes(profile))
        and (profile.counts is None or is_nearly_unique(profile))
        and profile.longest <= _LONGEST_ID
        and not (profile.number and not profile.whole)
    )


def may_number_members(profile: Profile) -> bool:
    """Whether the column may count the members of a household, by its values alone."""
    return (
        profile.whole
        and profile.stated == profile.rows > 0
        and profile.longest <= 3
        and not profile.column.value_labels
    )


def may_be_geography(profile: Profile) -> bool:
    """Whether the column may hold the codes of the areas in which units lie."""
    return (
        concepts(profile) & {Concept.AREA, Concept.ELSEWHERE} == {Concept.AREA}
        and profile.counts is not None
        and profile.filled > 0
        and (profile.whole or looks_like_codes(profile) or _are_area_names(profile))
        and not _tells_town_from_country(profile)
    )


def _are_area_names(profile: Profile) -> bool:
    """Whether areas are written by their names: a few texts, each of which stands in many rows."""
    counts = profile.counts or {}
    return (
        not profile.number
        and len(counts) * _ROWS_OF_ANSWER <= profile.filled
        and all(count >= _OFTEN and len(value) <= 60 for value, count in counts.items())
    )


def _tells_town_from_country(profile: Profile) -> bool:
    """Whether a column called "area" has urban and rural, which are no areas."""
    labels = [label for _, label in profile.column.value_labels] or list(profile.counts or {})
    return any(is_rural(label) for label in labels)


def may_identify_a_person(profile: Profile, about: set[Concept]) -> bool:
    """Whether a column holds names, numbers or addresses, and no question about them.

    A word of the name raises the suspicion; values clear it that could not tell anybody apart: a
    few short codes, yes and no, or, where the name is that of a question, a few texts that occur
    often. The names of areas are no names of persons.
    """
    if Concept.PERSONAL_NAME in about and not profile.number:
        suspected = Concept.AREA not in about
    else:
        suspected = Concept.CONTACT in about
    if not suspected:
        return False
    if profile.counts is None:
        return True
    if profile.whole:
        return not (profile.longest <= _SHORT_CODE and len(profile.values) <= _FEW_ANSWERS)
    values = [value for value in profile.counts if kind_of_missing_text(value) is CodeKind.VALID]
    if all(is_answer(value) for value in values):
        return False
    often = all(profile.counts[value] >= _OFTEN for value in values)
    few = len(values) <= _FEW_ANSWERS and len(values) * _ROWS_OF_ANSWER <= profile.filled
    return not (Concept.ANSWER in about and often and few)


def is_labelled_number(profile: Profile, about: set[Concept]) -> bool:
    """Whether a column holds numbers of persons, of which only a few have labels ("none")."""
    labels = {code.strip() for code, _ in profile.column.value_labels}
    counts = profile.counts
    labelled = 0 if counts is None else sum(counts.get(label, 0) for label in labels)
    return may_identify_a_person(profile, about) and 2 * labelled < profile.filled


def is_nearly_unique(profile: Profile) -> bool:
    """Whether nearly every row has a long number of its own."""
    counts = profile.counts
    return (
        counts is not None
        and profile.stated >= 20
        and profile.longest >= 6
        and profile.longest - profile.shortest <= 1  # amounts differ more in length
        and len(profile.values) * 10 > profile.stated * 9
    )


def looks_like_codes(profile: Profile) -> bool:
    """Whether all values look like codes: short, with a digit, without blanks."""
    return (
        profile.counts is not None
        and profile.longest <= 12
        and all(
            re.fullmatch(r"[A-Za-z]{0,4}[-./]?[0-9][0-9A-Za-z./+-]*", count)
            for count in profile.counts
            if kind_of_missing_text(count) is CodeKind.VALID
        )
    )
