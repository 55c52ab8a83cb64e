"""Numbers that people write, as whole numbers: shares in billionths, sizes in last decimals."""

from __future__ import annotations

from decimal import Decimal, InvalidOperation
from fractions import Fraction

from sdcensus.errors import SpecError
from sdcensus.kernels.magnitude.numeric_rows import BILLION
from sdcensus.model.schema.encoding import LARGEST_FIXED_POINT

_MOST_DIGITS = 400


def exactly(what: str, value: object) -> Fraction:
    """A number as it is written, not as its nearest float.

    Examples:
        >>> exactly("The share", 0.1)
        Fraction(1, 10)
    """
    if isinstance(value, Fraction):
        return value
    try:
        if isinstance(value, bool):
            raise InvalidOperation
        number = Decimal(str(value).strip())
        # Beyond any amount; written out, it would fill the memory.
        if not number.is_finite() or abs(number.adjusted()) > _MOST_DIGITS:
            raise InvalidOperation
    except InvalidOperation:
        raise SpecError(f"{what} is a number, not {value!r}.") from None
    return Fraction(number)


def in_billionths(what: str, value: object, *, most: int | None = 1) -> int:
    """A number of nine decimals at most, 0 or more, as a whole number of billionths."""
    number = exactly(what, value)
    if number < 0 or (most is not None and number > most):
        limits = "0 or more" if most is None else f"between 0 and {most}"
        raise SpecError(f"{what} is {limits}, not {value}.")
    billionths = number * BILLION
    if billionths.denominator != 1:
        raise SpecError(f"{what} has nine decimals at most, and {value} has more.")
    return int(billionths)


def in_last_decimals(what: str, size: Fraction, decimals: int) -> int:
    """A size in units of the variable as a whole number of its last decimals.

    Raises:
        SpecError: It is larger than any amount can be, or has more decimals than the variable.
    """
    units: Fraction = size * 10**decimals
    if units > LARGEST_FIXED_POINT:
        raise SpecError(
            f"{what} is larger than any amount of {decimals} decimals: it is at most"
            f" {LARGEST_FIXED_POINT // 10**decimals:,} here."
        )
    if units.denominator != 1:
        raise SpecError(
            f"{what} is {float(size):g}, and the amount has {decimals or 'no'} decimals. Take a"
            f" multiple of {Fraction(1, 10**decimals)}."
        )
    return int(units)


def numbers_of(what: str, text: object) -> tuple[str | Fraction, ...]:
    """Numbers that stand in a text with commas, or in a list.

    Examples:
        >>> numbers_of("Shares", "1, 0.5")
        ('1', '0.5')
    """
    if isinstance(text, str):
        parts: list[object] = list(text.split(","))
    else:
        parts = list(text) if isinstance(text, list | tuple) else [text]
    numbers = [part if isinstance(part, Fraction) else str(part).strip() for part in parts]
    if not numbers or "" in numbers:
        raise SpecError(f"{what} are numbers with commas between them, such as 1, 0.5.")
    return tuple(numbers)
