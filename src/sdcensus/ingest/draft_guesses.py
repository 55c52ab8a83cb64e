"""From what a column holds to a first description of its variable.

Everything here is a guess that the office checks. Two things are never done: the values of a text
column that may hold names are not written down, and no count of records is.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from sdcensus.ingest.draft_columns import Profile
from sdcensus.ingest.draft_missing import (
    is_whole,
    missing_among,
    missing_at_the_ends,
    missing_by_label,
    missing_by_text,
)
from sdcensus.ingest.draft_roles import (
    concepts,
    is_labelled_number,
    is_nearly_unique,
    looks_like_codes,
    may_be_geography,
    may_identify_a_person,
)
from sdcensus.ingest.draft_words import ABOUT_INTERVIEWS, Concept, kind_of_missing_text, unit_in
from sdcensus.model.schema.variable import CodeKind, Role

#: Whole numbers with at most so many different values are codes.
_FEW_NUMBERS = 20
#: Text with at most so many different values may be codes.
_FEW_TEXTS = 50
#: A longer range than this is an amount.
_LONGEST_RANGE = 1000
#: Classifications such as occupations have at most so many codes.
_LONGEST_CLASSIFICATION = 1500
#: Text that stands in fewer rows than this may be about one person.
_OFTEN = 3
#: A code without a label is a mistake if fewer than one record of so many has it.
_RECORDS_OF_MISTAKE = 1000
_OLDEST = 120
#: The oldest ages that occur, with which a missing code is compared.
_LAST_AGES = 5
#: Stands for the label of a code that has none, until it is known in which language to say so.
NO_LABEL = "\0"


@dataclass(slots=True)
class Guess:
    """The settings of a variable, and what the office should check about them."""

    role: Role | None = None
    codes: dict[str, str] | None = None
    range: tuple[int, int] | None = None
    continuous: bool = False
    decimals: int = 0
    missing: dict[str, CodeKind] = field(default_factory=dict)
    empty: CodeKind | None = None
    notes: list[str] = field(default_factory=list)
    left_out: bool = False

    def of_kind(self, kind: CodeKind) -> list[str]:
        """The missing codes of one kind."""
        return [code for code, code_kind in self.missing.items() if code_kind is kind]


def guess(profile: Profile, *, in_id: bool, geography: bool, in_link: bool = False) -> Guess:
    """A first description of the variable in a column.

    Args:
        profile: What the column holds.
        in_id: Whether it is part of the id of a record.
        geography: Whether it is the geography of the census.
        in_link: Whether it says to which record of another file a record belongs.
    """
    about = concepts(profile)
    if not profile.stated:
        guess = Guess(left_out=True, notes=["it is empty"])
    elif profile.name in ABOUT_INTERVIEWS and not in_id and not in_link:
        guess = Guess(left_out=True, notes=["it tells of the interview and not of who was asked"])
    elif geography:
        guess = _classification(profile)
        guess.role = Role.GEOGRAPHY
        guess.notes.append(
            "guessed: the geography. Add labels, and a column 'parent' for the levels above."
        )
    elif in_id and not profile.column.value_labels and not may_be_geography(profile):
        guess = Guess(role=Role.RECORD_ID, notes=["guessed: a part of the id of a record."])
    elif in_link and not profile.column.value_labels:
        guess = Guess(
            role=Role.HOUSEHOLD_LINK, notes=["guessed: it says to what the record belongs."]
        )
    elif profile.column.value_labels and not is_labelled_number(profile, about):
        guess = _labelled(profile, about)
    elif may_identify_a_person(profile, about):
        guess = _identifier("guessed from its name: it is read and never stored.")
    elif is_weight(profile):
        guess = Guess(
            role=Role.WEIGHT, decimals=_decimals(profile, 6), notes=["guessed: a weight."]
        )
    elif profile.whole:
        guess = _whole_numbers(profile, about)
    elif profile.number:
        guess = _amount(profile, {})
    else:
        guess = _text(profile, about)
    if Concept.WEIGHT in about and guess.continuous:
        guess.notes.append(_NO_WEIGHT)
    _say_what_missing_texts_mean(profile, guess)
    if about & {Concept.SEX, Concept.AGE} and guess.role is None and not guess.left_out:
        guess.role = Role.KEY
    if Concept.SIZE in about and (guess.codes is not None or guess.range is not None):
        guess.notes.append(
            'if it is the number of persons inside, say so: counts = "persons". Tables of both'
            " units are then checked for it."
        )
    _say_what_empty_means(profile, guess)
    return guess


#: What looks like a weight by its name, and has records without one.
_NO_WEIGHT = (
    'if it is the weight of a sample: role = "weight". A weight is a number above 0 in every'
    " record, and here some have none."
)


def is_weight(profile: Profile) -> bool:
    """Whether the column holds a weight of every record."""
    named = Concept.WEIGHT in concepts(profile) and not profile.column.value_labels
    return named and profile.number and profile.stated == profile.rows > 0


def _say_what_missing_texts_mean(profile: Profile, guess: Guess) -> None:
    """Texts such as NA in a column of numbers are missing codes."""
    stored = guess.codes is not None or guess.range is not None or guess.continuous
    if not stored or not profile.number or not profile.missing_texts:
        return
    for text in sorted(profile.missing_texts):
        if guess.codes is None or text not in guess.codes:
            guess.missing.setdefault(text, kind_of_missing_text(text))
    guess.notes.append("guessed: texts that stand where there is no number are missing codes.")


def _say_what_empty_means(profile: Profile, made: Guess) -> None:
    if (
        not profile.empty
        or made.left_out
        or made.role
        in (
            Role.WEIGHT,
            Role.RECORD_ID,
            Role.HOUSEHOLD_LINK,
            Role.DIRECT_IDENTIFIER,
        )
    ):
        return
    mostly = profile.empty * 3 > profile.rows
    made.empty = CodeKind.NOT_APPLICABLE if mostly else CodeKind.NOT_STATED
    made.notes.append("guessed: what an empty field means; not_stated or not_applicable.")


def _identifier(note: str) -> Guess:
    return Guess(role=Role.DIRECT_IDENTIFIER, notes=[note])


def _decimals(profile: Profile, default: int) -> int:
    return min(profile.decimals or default, 9)


def _amount(profile: Profile, missing: dict[str, CodeKind]) -> Guess:
    whole = profile.whole
    return Guess(
        continuous=True,
        decimals=0 if whole else _decimals(profile, 2),
        missing=missing,
        notes=["guessed: an amount. Add 'unit', and levels for the groups that tables show."],
    )


# ---------------------------------------------------------------- labels of the file


def _labelled(profile: Profile, about: set[Concept]) -> Guess:
    """A column for which the file itself has labels."""
    labels = {code.strip(): label.strip() for code, label in profile.column.value_labels}
    labels = {code: label for code, label in labels.items() if _possible(code)}
    missing = missing_by_label(labels, about)
    for code in profile.column.missing:
        if _possible(code.strip()):
            missing.setdefault(code.strip(), CodeKind.NOT_STATED)
    counts = profile.counts
    others = [value for value in profile.values if value not in labels and value not in missing]
    for value in [*others, *profile.missing_texts]:
        if value not in labels and kind_of_missing_text(value) is not CodeKind.VALID:
            missing[value] = kind_of_missing_text(value)
    others = [value for value in others if value not in missing]
    numbers = profile.number and (counts is None or bool(others))
    if numbers and not profile.whole:
        return _amount(profile, missing)
    if numbers and (counts is None or len(others) > max(_FEW_NUMBERS, 2 * len(labels))):
        values = [
            int(value) for value in {*others, *labels} if value not in missing and is_whole(value)
        ]
        return _range_or_amount(profile, values, missing, about)
    guessed = missing_among(others, labels)
    missing.update(guessed)
    rest = [other for other in others if other not in guessed]
    described = any(code not in missing for code in labels)
    wrong = rest if described and hardly_occur(profile, rest) else []
    missing.update(dict.fromkeys(wrong, CodeKind.NOT_STATED))
    added = [
        other
        for other in others
        if other not in missing and may_be_shown(other, (counts or {})[other])
    ]
    codes = {**labels, **dict.fromkeys(sorted(added), NO_LABEL)}
    absent = {value: labels.get(value, "") for value in missing} | dict.fromkeys(wrong, NO_LABEL)
    guess = Guess(codes={**codes, **absent}, missing=missing)
    if not any(code not in missing for code in codes):
        return _identifier("only missing codes have labels; check what this column holds.")
    if added:
        guess.notes.append(
            "some codes have no label in the file: write what they mean, or correct the records."
        )
    if len(added) + len(guessed) + len(wrong) < len(others):
        guess.notes.append(_LEFT_OUT)
    if wrong:
        guess.notes.append(
            f"guessed: {_listed(wrong)}, without a label and in hardly any record, is a mistake:"
            " not stated."
        )
    if guessed:
        guess.notes.append(
            f"guessed: {_listed(guessed)}, apart and without a label, is a missing code."
        )
    if len(missing) > len(guessed) + len(wrong):
        guess.notes.append("guessed from labels: which codes are missing codes.")
    return guess


def hardly_occur(profile: Profile, values: Iterable[str]) -> bool:
    """Whether so few of many records have one of these values that they may be mistakes."""
    records = sum((profile.counts or {}).get(value, 0) for value in values)
    return records * _RECORDS_OF_MISTAKE < profile.filled


def _listed(codes: Iterable[str]) -> str:
    return " and ".join(sorted(codes))


_LEFT_OUT = "values that are rare or long were left out: they may be about one person."


# ---------------------------------------------------------------- whole numbers


def _whole_numbers(profile: Profile, about: set[Concept]) -> Guess:
    """A column of whole numbers without labels."""
    different = len(profile.values)
    numbers_units = (unit_in(profile.name) is not None and different > _FEW_NUMBERS) or (
        Concept.NUMBER in about and different > _LONGEST_RANGE
    )
    if (
        is_nearly_unique(profile)
        or numbers_units
        or (profile.counts is None and Concept.NUMBER in about)
    ):
        return _identifier(
            "guessed: nearly every row has a number of its own, so it may identify a person."
        )
    if profile.counts is None:
        return _amount(profile, {})
    if profile.zero_padded:
        return _classification(profile)
    numbers = profile.numbers()
    missing = {} if Concept.AREA in about else missing_at_the_ends(numbers)
    if Concept.AGE in about:
        missing = _no_ages(missing, profile)
    valid = [number for number in numbers if str(number) not in missing]
    if Concept.AGE not in about and len(valid) <= _FEW_NUMBERS:
        guess = Guess(codes={str(number): str(number) for number in numbers}, missing=missing)
        guess.notes.append("the labels are missing: write what the codes mean.")
        _note_missing(guess)
        return guess
    if Concept.AREA in about or _is_classification(profile, valid):
        return _classification(profile)
    return _range_or_amount(profile, valid, missing, about)


def _no_ages(missing: dict[str, CodeKind], profile: Profile) -> dict[str, CodeKind]:
    """Missing codes among ages: more have one than have the ages below, of which few are left."""
    ages = [number for number in profile.numbers() if str(number) not in missing]
    oldest = max((profile.values.get(str(age), 0) for age in ages[-_LAST_AGES:]), default=0)
    rare = {code for code in missing if code.isdigit() and profile.values[code] <= oldest}
    return {} if rare else missing


def _range_or_amount(
    profile: Profile, valid: list[int], missing: dict[str, CodeKind], about: set[Concept]
) -> Guess:
    if not valid:
        return _amount(profile, missing)
    low, high = min(valid), max(valid)
    if Concept.AGE in about and low >= 0 and high <= _OLDEST:
        inside = [
            int(value) for value in missing if is_whole(value) and high < int(value) <= _OLDEST
        ]
        low, high = 0, min([_OLDEST, *(one - 1 for one in inside)])
    outside = all(not is_whole(value) or not low <= int(value) <= high for value in missing)
    if high - low > _LONGEST_RANGE or not outside:
        return _amount(profile, missing)
    guess = Guess(range=(low, high), missing=missing)
    guess.notes.append("guessed: the range. Write all numbers that are possible.")
    _note_missing(guess)
    return guess


def _note_missing(made: Guess) -> None:
    if made.missing:
        made.notes.append("guessed: the missing codes, which stand apart.")


def _is_classification(profile: Profile, valid: list[int]) -> bool:
    """Whether numbers look like codes: all of the same length, and far from all of them used."""
    span = max(valid) - min(valid) + 1
    if len(valid) * 2 >= span or len(valid) > _LONGEST_CLASSIFICATION:
        return False
    return profile.shortest == profile.longest >= 3


def _classification(profile: Profile) -> Guess:
    counts = profile.values
    shown = [count for count in counts if _possible(count) and _may_be_code(count, counts[count])]
    labels = dict(profile.column.value_labels)
    codes = {
        value: labels.get(value, value) for value in sorted({*shown, *filter(_possible, labels)})
    }
    missing = missing_by_text(codes)
    if len(missing) == len(codes):
        return _identifier("check what this column holds.")
    guess = Guess(codes=codes, missing=missing)
    guess.notes.append("the codes are those in the file. Add labels, and codes that do not occur.")
    return guess


# ---------------------------------------------------------------- text


def _text(profile: Profile, about: set[Concept]) -> Guess:
    """A column of text: codes if a few short texts occur often, else possibly names."""
    note = "guessed: many different texts, which may be names. It is read and never stored."
    counts = profile.counts
    if counts is None:
        return _identifier(note)
    often = all(may_be_shown(value, count) for value, count in counts.items())
    if Concept.AREA in about and often and len(counts) <= _LONGEST_CLASSIFICATION:
        return _classification(profile)  # names of areas, each of which holds many
    short = all(len(count) <= 2 for count in counts)
    if len(counts) > _FEW_TEXTS or (not short and len(counts) * _OFTEN > profile.filled):
        if len(counts) <= _LONGEST_CLASSIFICATION and looks_like_codes(profile):
            return _classification(profile)
        return _identifier(note)
    shown = [count for count in counts if may_be_shown(count, counts[count])]
    missing = missing_by_text({value: value for value in shown})
    if len(missing) == len(shown):
        return _identifier(note)
    guess = Guess(codes={value: value for value in sorted(shown)}, missing=missing)
    if missing:
        guess.notes.append("guessed: which texts are missing codes.")
    if len(shown) < len(counts):
        guess.notes.append(_LEFT_OUT)
    return guess


def _may_be_code(value: str, count: int) -> bool:
    """Whether a value of a code list can be written down."""
    short_with_digit = len(value) <= 12 and any(sign.isdigit() for sign in value)
    return short_with_digit or may_be_shown(value, count)


def may_be_shown(value: str, count: int) -> bool:
    """Whether a value can be written down: no name is two letters long or a number."""
    if not _possible(value):
        return False
    often = count >= _OFTEN and len(value) <= 60
    return len(value) <= 2 or (is_whole(value) and len(value) <= 5) or often


def _possible(code: str) -> bool:
    """Whether a schema can have the code."""
    return bool(code.strip()) and code.isprintable() and code not in ("_T", "_U", "_Z")
