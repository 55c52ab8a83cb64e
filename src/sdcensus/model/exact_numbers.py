"""Numbers as other programs write them, read exactly."""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

#: Counts, deviations and targets are smaller than this; so everything fits 64 bits.
LARGEST_NUMBER = 10**9
#: A probability with more characters was not written by a program for perturbation tables.
_LONGEST = 80
_SMALLEST_EXPONENT = 40

_NUMBER = re.compile(r"[+-]?(?:[0-9]+(?:[.,][0-9]*)?|[.,][0-9]+)(?:[eE][+-]?[0-9]{1,3})?")
_FRACTION = re.compile(r"[0-9]+\s*/\s*[0-9]*[1-9][0-9]*")
_NOTHING = frozenset({"na", "n/a", "nan", "null", "none", "inf", "+inf", "-inf", "infinity", "."})


class BadNumber(ValueError):
    """A field is no number that can be used; the text says why."""


def whole(text: str, *, comma: bool = False) -> int:
    """A whole number; ``1.0`` is one too, since R writes it so.

    Args:
        text: The field.
        comma: Whether a comma may stand for the decimal point.
    """
    digits = text[1:] if text.startswith("-") else text
    if digits.isdigit() and digits.isascii() and len(digits) < 10:
        return int(text)
    value = exact(text, comma=comma)
    if value.denominator != 1:
        raise BadNumber(f"{text!r} is not a whole number")
    if abs(value) > LARGEST_NUMBER:
        raise BadNumber(f"{text!r} is too large a number")
    return int(value)


def exact(text: str, *, comma: bool = False, fraction: bool = False) -> Fraction:
    """A decimal number, exactly as it is written.

    Examples:
        >>> exact("0.37967089"), exact("1e-08"), exact("0,5", comma=True)
        (Fraction(37967089, 100000000), Fraction(1, 100000000), Fraction(1, 2))
    """
    if not text:
        raise BadNumber("the field is empty")
    if text.lower() in _NOTHING:
        raise BadNumber(f"{text!r} is not a number, and every field needs one")
    if len(text) > _LONGEST:
        raise BadNumber(f"a number has more than {_LONGEST} characters")
    if fraction and _FRACTION.fullmatch(text):
        above, below = text.split("/")
        return Fraction(int(above), int(below))
    if not _NUMBER.fullmatch(text):
        raise BadNumber(f"{text!r} is not a number")
    if "," in text:
        if not comma:
            raise BadNumber(
                f"{text!r} has a decimal comma, which is understood only where fields are"
                " delimited by semicolons or tabs"
            )
        text = text.replace(",", ".")
    value = Decimal(text)
    if value and not -_SMALLEST_EXPONENT <= value.adjusted() <= _SMALLEST_EXPONENT:
        raise BadNumber(f"{text!r} is too large or too small a number")
    return Fraction(value)


def decimals(text: str) -> int:
    """How many digits stand behind the decimal point; those of an exponent included.

    Examples:
        >>> decimals("0.40"), decimals("1e-08"), decimals("1")
        (2, 8, 0)
    """
    exponent = Decimal(text.replace(",", ".")).as_tuple().exponent
    return max(0, -exponent) if isinstance(exponent, int) else 0


def shown(value: Fraction) -> str:
    """A probability or a mean for a message, without a tail of noise.

    Examples:
        >>> shown(Fraction(999, 1000)), shown(Fraction(1, 3)), shown(Fraction(-1, 10**8))
        ('0.999', '0.33333333', '-0.00000001')
    """
    text = f"{float(value):.8f}".rstrip("0").rstrip(".")
    if text in ("0", "-0") and value:
        return f"{float(value):.1e}"
    return "0" if text == "-0" else text
