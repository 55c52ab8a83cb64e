"""How codes stand in SPSS and Stata files: as numbers, as texts, or numbered.

Both formats label values. Codes that are whole numbers stand as those numbers. SPSS labels texts
too, so that other codes stand there as they are written; Stata labels numbers only, and there they
are numbered in the order of the code list. Every label of a list that is numbered begins with the
code, and no label of any other list does. Codes for "no value" become user-missing values in SPSS
and extended missing values (.a "not stated", .b "not applicable") in Stata.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from sdcensus.model.schema.variable import Code, CodeKind

#: Whole numbers in the one way to write them: no sign before 0, no zeros in front.
_WHOLE = re.compile(r"0|-?[1-9][0-9]*")
#: Whole numbers up to this are exact in a number of double precision.
LARGEST_EXACT = 1 << 53
#: What Stata takes for a whole number with a label.
STATA_LOWEST, STATA_HIGHEST = -2147483647, 2147483620
#: The longest texts of SPSS that are one piece, and those that a variable record can name.
SPSS_TEXT, SPSS_SHORT_TEXT = 255, 8
#: SPSS names at most so many missing values one by one.
SPSS_MISSING = 3
_LETTERS = "abcdefghijklmnopqrstuvwxyz"


class CodeForm(StrEnum):
    """How the codes of a column stand in a file."""

    NUMBERS = "numbers"
    TEXTS = "texts"
    NUMBERED = "numbered"


@dataclass(frozen=True, slots=True)
class Encoding:
    """How each code of a column stands in a file.

    Attributes:
        form: As what they stand.
        values: For each code its number, its text, or a letter after a point (``.a``) for an
            extended missing value.
        missing: Which of them are declared as missing.
    """

    form: CodeForm
    values: tuple[int | str, ...]
    missing: tuple[bool, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The values as the file of codes tells them."""
        return tuple(str(value) for value in self.values)


def whole_number(code: str) -> int | None:
    """The number that a code is, if it is written in the one way to write it.

    Examples:
        >>> whole_number("12"), whole_number("-3"), whole_number("012"), whole_number("")
        (12, -3, None, None)
    """
    if not _WHOLE.fullmatch(code) or len(code) > 17:
        return None
    number = int(code)
    return number if abs(number) <= LARGEST_EXACT else None


def _missing(codes: Sequence[Code]) -> tuple[bool, ...]:
    return tuple(code.is_missing for code in codes)


def _ordered_missing(codes: Sequence[Code]) -> list[int]:
    """Positions of codes for no value: the first of each kind before all others."""
    places = [place for place, code in enumerate(codes) if code.is_missing]
    first: list[int] = []
    for kind in (CodeKind.NOT_STATED, CodeKind.NOT_APPLICABLE):
        first += [place for place in places if codes[place].kind is kind][:1]
    return [*first, *(place for place in places if place not in first)]


def spss_encoding(codes: Sequence[Code]) -> Encoding:
    """How codes stand in a ``.sav`` file.

    Numbers stand as they are. Where valid codes are numbers and a code for no value is not, the
    latter gets the next number below all others. Texts stand as they are unless SPSS would change
    them (it takes blanks off their end) or cannot declare them as missing; then all are numbered.
    """
    numbers = [whole_number(code.code) for code in codes]
    missing = _missing(codes)
    repeated = len({code.code for code in codes}) < len(codes)
    valid = [number for number, none in zip(numbers, missing, strict=True) if not none]
    if not repeated and any(not none for none in missing) and None not in valid:
        exact = [number for number in numbers if number is not None]
        if len(exact) == len(codes) and _declarable(exact, missing):
            return Encoding(CodeForm.NUMBERS, tuple(exact), missing)
        lowest = min([0, *(number for number in valid if number is not None)])
        return Encoding(CodeForm.NUMBERS, _below(numbers, codes, lowest), missing)
    if not repeated and _texts_stand(codes):
        return Encoding(CodeForm.TEXTS, tuple(code.code for code in codes), missing)
    return Encoding(CodeForm.NUMBERED, _below(_numbered(codes), codes, 0), missing)


def _declarable(numbers: Sequence[int], missing: Sequence[bool]) -> bool:
    """Whether the missing ones are few, or a range that no valid one lies in."""
    none = [number for number, gone in zip(numbers, missing, strict=True) if gone]
    if len(none) <= SPSS_MISSING:
        return True
    valid = (number for number, gone in zip(numbers, missing, strict=True) if not gone)
    return not any(min(none) <= number <= max(none) for number in valid)


def _below(
    numbers: Sequence[int | None], codes: Sequence[Code], lowest: int
) -> tuple[int | str, ...]:
    """The numbers, with those of codes for no value below all others."""
    values: list[int | str] = [0 if number is None else number for number in numbers]
    for rank, place in enumerate(_ordered_missing(codes), start=1):
        values[place] = lowest - rank
    return tuple(values)


def _numbered(codes: Sequence[Code]) -> list[int | None]:
    numbers: list[int | None] = []
    rank = 0
    for code in codes:
        rank += not code.is_missing
        numbers.append(None if code.is_missing else rank)
    return numbers


def _texts_stand(codes: Sequence[Code]) -> bool:
    lengths = [len(code.code.encode()) for code in codes]
    none = [length for length, code in zip(lengths, codes, strict=True) if code.is_missing]
    return (
        max(lengths, default=0) <= SPSS_TEXT
        and all(code.code == code.code.rstrip(" ") for code in codes)
        and not any("\0" in code.code for code in codes)
        and max(none, default=0) <= SPSS_SHORT_TEXT
        # Readers differ about where the second missing value of a long text stands.
        and len(none) <= (SPSS_MISSING if max(lengths, default=0) <= SPSS_SHORT_TEXT else 1)
    )


def stata_encoding(codes: Sequence[Code]) -> Encoding:
    """How codes stand in a ``.dta`` file.

    Codes for no value beyond the 26 that Stata has letters for are numbered after the valid ones.
    """
    numbers = [whole_number(code.code) for code in codes]
    repeated = len({code.code for code in codes}) < len(codes)
    valid = [number for number, code in zip(numbers, codes, strict=True) if not code.is_missing]
    fits = all(number is not None and STATA_LOWEST <= number <= STATA_HIGHEST for number in valid)
    places = _stata_letters(codes)
    form = CodeForm.NUMBERS if fits and not repeated else CodeForm.NUMBERED
    if len(_ordered_missing(codes)) > len(_LETTERS):
        form = CodeForm.NUMBERED
    plain: Sequence[int | None] = numbers if form is CodeForm.NUMBERS else _numbered(codes)
    values: list[int | str] = []
    rest = len(valid)
    for place, number in enumerate(plain):
        if place in places:
            values.append(f".{places[place]}")
        elif number is None:
            rest += 1
            values.append(rest)
        else:
            values.append(number)
    return Encoding(form, tuple(values), tuple(place in places for place in range(len(codes))))


def _stata_letters(codes: Sequence[Code]) -> dict[int, str]:
    """The letter of each code for no value; .a is "not stated", .b "not applicable"."""
    fixed = {CodeKind.NOT_STATED: "a", CodeKind.NOT_APPLICABLE: "b"}
    letters: dict[int, str] = {}
    others = iter(_LETTERS[2:])
    for place in _ordered_missing(codes):
        letter = fixed.pop(codes[place].kind, "") or next(others, "")
        if letter:
            letters[place] = letter
    return letters
