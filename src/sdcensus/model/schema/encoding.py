"""From what stands in a file to the position of a code, and to fixed-point numbers.

One rule for every reader and engine, applied to distinct values: a file of a hundred million
rows has a few hundred of them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from decimal import ROUND_HALF_EVEN, Context, Decimal
from enum import IntEnum
from fractions import Fraction

from sdcensus.model.schema.variable import CodeKind, EmptyField, Variable

#: Values beyond this cannot be summed exactly over a census.
LARGEST_FIXED_POINT = 1 << 53
#: No number of a census has more digits before the point, or is written in more characters: the
#: longest of a typed file has 309 digits.
_MOST_DIGITS, _LONGEST = 18, 320
_NUMBER = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]{1,4})?")
_EXACT = Context(prec=2 * _LONGEST)


class Trouble(IntEnum):
    """Why a value has no position; negative, so that it can stand in its place."""

    UNKNOWN = -1
    EMPTY = -2
    OUT_OF_RANGE = -3
    NOT_A_NUMBER = -4
    ZERO = -5
    """Of a weight: 0, or less than the decimals that are kept can show."""
    NEGATIVE = -6
    """Of a weight: below 0."""


#: A fixed-point column holds this where there is no value.
NO_VALUE = -(1 << 63)


class CodeEncoder:
    """Finds the leaf of a variable that a value of a file stands for.

    A value matches a code to the letter (blanks around it do not count); where it does not, and
    the code is a whole number, by value, so that ``01`` and ``1.0`` find the code ``1``. A missing
    code of an amount is found by value whatever number it is. Leaves that are intervals take every
    number between their bounds.

    Args:
        variable: The variable.
        decimal_mark: The decimal mark of the file; text that is a code as it stands is a code.
        scale: What amounts of the file are multiplied by to be in the unit of the variable.
    """

    __slots__ = (
        "_by_number",
        "_by_text",
        "_continuous",
        "_decimal_mark",
        "_decimals",
        "_empty",
        "_intervals",
        "_lowers",
        "_numeric",
        "_scale",
    )

    def __init__(
        self, variable: Variable, *, decimal_mark: str = ".", scale: Fraction = Fraction(1)
    ) -> None:
        self._decimal_mark = decimal_mark
        self._scale = scale
        self._by_text = {code.code: at for at, code in enumerate(variable.codes)}
        self._by_number: dict[Decimal, int] = {}
        ambiguous: set[Decimal] = set()
        for text, at in self._by_text.items():
            number = _code_number(text, variable, decimal_mark)
            if number is not None:
                if number in self._by_number:
                    if variable.continuous:  # two ways to write one missing code
                        continue
                    ambiguous.add(number)
                self._by_number[number] = at
        for number in ambiguous:
            del self._by_number[number]
        bounded = [
            (code.lower, code.upper, at)
            for at, code in enumerate(variable.codes)
            if code.lower is not None
        ]
        self._intervals = sorted(bounded, key=lambda one: one[0] or 0)
        self._lowers = [lower or 0 for lower, _, _ in self._intervals]
        valid = [code for code in variable.codes if code.kind is CodeKind.VALID]
        self._numeric = bool(valid) and all(code.lower is not None for code in valid)
        self._continuous, self._decimals = variable.continuous, variable.decimals
        self._empty = _empty_position(variable)

    def position(self, value: str | None) -> int:
        """The position of the leaf, or a ``Trouble``."""
        text = "" if value is None else value.strip()
        if not text:
            return self._empty
        exact = self._by_text.get(text)
        if exact is not None:
            return exact
        number = _number(text, self._decimal_mark)
        if number is None:
            return Trouble.NOT_A_NUMBER if self._numeric else Trouble.UNKNOWN
        same = self._by_number.get(number)
        if same is not None:
            return same
        if self._continuous and isinstance(self._amount(text), Trouble):
            return Trouble.OUT_OF_RANGE  # no class is that of an amount which cannot be kept
        return self._interval(number if self._scale == 1 else Fraction(number) * self._scale)

    def _amount(self, text: str) -> int | Trouble:
        mark, scale = self._decimal_mark, self._scale
        return fixed_point(text, self._decimals, decimal_mark=mark, scale=scale)

    def _interval(self, number: Decimal | Fraction) -> int:
        if not self._numeric:
            return Trouble.UNKNOWN
        at = bisect_right(self._lowers, number) - 1
        if at < 0:
            return Trouble.OUT_OF_RANGE
        lower, upper, position = self._intervals[at]
        single = lower == upper and not self._continuous  # 0.5 is no age, but an income below 1
        if upper is not None and (number != lower if single else number >= upper + 1):
            return Trouble.OUT_OF_RANGE
        return position


def _empty_position(variable: Variable) -> int:
    source = variable.source
    meaning = EmptyField.PROBLEM if source is None else source.empty
    if meaning is EmptyField.PROBLEM:
        return Trouble.EMPTY
    kind = CodeKind.NOT_STATED if meaning is EmptyField.NOT_STATED else CodeKind.NOT_APPLICABLE
    position = variable.position_of(kind)
    return Trouble.EMPTY if position is None else position


def _number(text: str, decimal_mark: str = ".") -> Decimal | None:
    """A number in plain or scientific notation; Python alone would also read ``1_0``.

    Where the decimal mark is a comma, a point separates thousands in most countries: ``1.234``
    is refused rather than taken for little more than one.
    """
    if decimal_mark != ".":
        if "." in text:
            return None
        text = text.replace(decimal_mark, ".")
    return Decimal(text) if len(text) <= _LONGEST and _NUMBER.fullmatch(text) else None


def _code_number(text: str, variable: Variable, decimal_mark: str) -> Decimal | None:
    """The number by which a code is found; of amounts, missing codes may be any number."""
    if not variable.continuous:
        whole = whole_number(text)
        return None if whole is None else Decimal(whole)
    as_in_the_file = _number(text, decimal_mark)
    return _number(text) if as_in_the_file is None else as_in_the_file


def whole_number(text: str) -> int | None:
    """The whole number that a text is written as, if it is one.

    Examples:
        >>> whole_number("007"), whole_number("7.0"), whole_number("x")
        (7, None, None)
    """
    digits = text[1:] if text[:1] == "-" else text
    plain = digits.isascii() and digits.isdigit() and len(digits) <= _LONGEST
    return int(text) if plain else None


def weight_trouble(weight: int) -> Trouble | None:
    """Why a fixed-point number is no weight, if it is none.

    Examples:
        >>> weight_trouble(0), weight_trouble(-5), weight_trouble(1)
        (<Trouble.ZERO: -5>, <Trouble.NEGATIVE: -6>, None)
    """
    if weight > 0:
        return None
    return Trouble.ZERO if weight == 0 else Trouble.NEGATIVE


def fixed_point(
    value: str | None, decimals: int, *, decimal_mark: str = ".", scale: Fraction = Fraction(1)
) -> int | Trouble:
    """A decimal number, times ``scale``, as an integer of its last digit, rounded half to even.

    Examples:
        >>> fixed_point("1.25", 1), fixed_point("12,5", 2, decimal_mark=",")
        (12, 1250)
        >>> fixed_point("1.5", 2, scale=Fraction(1, 100))
        2
        >>> fixed_point("a lot", 2)
        <Trouble.NOT_A_NUMBER: -4>
    """
    text = "" if value is None else value.strip()
    if not text:
        return Trouble.EMPTY
    number = _number(text, decimal_mark)
    if number is None:
        return Trouble.NOT_A_NUMBER
    if number.adjusted() + decimals > _MOST_DIGITS:
        return Trouble.OUT_OF_RANGE
    if scale != 1:
        scaled = round(Fraction(number) * scale * 10**decimals)  # half to even, as below
        return scaled if abs(scaled) <= LARGEST_FIXED_POINT else Trouble.OUT_OF_RANGE
    # In a context of our own: the caller's might round once before us.
    exact = number.scaleb(decimals, context=_EXACT)
    scaled = int(exact.to_integral_value(rounding=ROUND_HALF_EVEN, context=_EXACT))
    return scaled if abs(scaled) <= LARGEST_FIXED_POINT else Trouble.OUT_OF_RANGE
