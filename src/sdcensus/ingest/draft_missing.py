"""Which codes of a column say that there is no value: by their labels, their texts, their place.

A label decides what a code is. Only of codes without one is the place a hint, and then it is said
to be a guess.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from sdcensus.ingest.draft_words import Concept, is_under_age, kind_of_label, kind_of_missing_text
from sdcensus.model.schema.number_codes import LARGEST_NUMBER
from sdcensus.model.schema.variable import CodeKind

#: So many codes of two letters are a list of countries.
_MANY_COUNTRIES = 20
#: So few codes without a label among others that have one may be missing codes.
_FEW_WITHOUT_LABEL = 3


def missing_by_label(labels: Mapping[str, str], about: set[Concept]) -> dict[str, CodeKind]:
    """The codes whose label says that there is no value; a label that does not is a value."""
    kinds = {code: kind_of_label(label) for code, label in labels.items()}
    missing: dict[str, CodeKind] = {
        code: kind for code, kind in kinds.items() if kind is not CodeKind.VALID
    }
    young = [code for code, label in labels.items() if is_under_age(label)]
    others = [label for code, label in labels.items() if code not in missing and code not in young]
    # Among ages and groups of numbers, the youngest are a group like the others.
    numbers = sum(any(sign.isdigit() for sign in label) for label in others)
    if len(young) == 1 and Concept.AGE not in about and 2 * numbers < len(others):
        missing[young[0]] = CodeKind.NOT_APPLICABLE
    return missing


def missing_among(others: Sequence[str], labels: Mapping[str, str]) -> dict[str, CodeKind]:
    """Codes without a label that stand apart, where the others have labels."""
    codes = [*others, *labels]
    if len(others) > _FEW_WITHOUT_LABEL or not all(is_whole(code) for code in codes):
        return {}
    apart = missing_at_the_ends(sorted({int(code) for code in codes}))
    return {code: kind for code, kind in apart.items() if code in others}


def missing_at_the_ends(numbers: list[int]) -> dict[str, CodeKind]:
    """Numbers of one digit repeated, apart from the others: -99 and -88 below, 9 or 99 above."""
    below = [number for number in numbers if number < 0]
    others = [number for number in numbers if number >= 0]
    missing: dict[str, CodeKind] = {}
    if len(others) >= 2 and all(re.fullmatch(r"-([1-9])\1*", str(number)) for number in below):
        missing = {str(number): CodeKind.NOT_STATED for number in below if number < -5}
    return {**missing, **_missing_at_the_top(others)} if others else missing


def _missing_at_the_top(numbers: list[int]) -> dict[str, CodeKind]:
    """9, 99, 999 … at the top after a gap; where 98 stands below 99, both after a gap."""
    top = numbers[-1]
    if re.fullmatch("9+", str(top)) is None or top > LARGEST_NUMBER:
        return {}
    missing = {str(top): CodeKind.NOT_STATED}
    if top - 1 in numbers:
        missing[str(top - 1)] = CodeKind.NOT_APPLICABLE
    below = numbers[: -len(missing)]
    if len(below) < 2 or top - len(missing) in below:
        return {}
    return missing


def missing_by_text(labels: Mapping[str, str]) -> dict[str, CodeKind]:
    """The codes that say themselves, or whose label says, that there is no value."""
    # Where all codes are two letters, NA is Namibia.
    countries = len(labels) > _MANY_COUNTRIES and all(len(code) == 2 for code in labels)
    missing: dict[str, CodeKind] = {}
    for code, label in labels.items():
        kind = CodeKind.VALID if countries else kind_of_missing_text(code)
        kind = kind if kind is not CodeKind.VALID or len(code) == 2 else kind_of_label(label)
        if kind is not CodeKind.VALID:
            missing[code] = kind
    return missing


def is_whole(text: str) -> bool:
    """Whether a text is a whole number of at most 15 digits."""
    return re.fullmatch(r"-?[0-9]{1,15}", text) is not None
