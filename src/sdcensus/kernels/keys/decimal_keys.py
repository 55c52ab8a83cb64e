"""Record keys that other tools drew as decimals between 0 and 1, as whole numbers."""

from __future__ import annotations

import re
from decimal import ROUND_HALF_EVEN, Context, Decimal, InvalidOperation, Overflow
from typing import Any

import numpy as np
import numpy.typing as npt

from sdcensus.errors import InputError, SpecError
from sdcensus.kernels._compile import compiled
from sdcensus.kernels.keys.record_keys import read_only

UInt32 = npt.NDArray[np.uint32]

MOST_DIGITS = 9

_DECIMAL = re.compile(r"\s*[+-]?([0-9]+([.,][0-9]*)?|[.,][0-9]+)([eE][+-]?[0-9]+)?\s*")


def keys_from_decimals(
    values: npt.NDArray[Any], digits: int, *, first_row: int = 1, where: str = "The key column"
) -> UInt32:
    """Integer keys from keys that another tool drew as decimals between 0 and 1.

    A number is taken as the shortest decimal that means it, and must be a multiple of
    ``10**-digits`` up to a millionth of that; text is read digit by digit. 1 is the same key as 0.

    Args:
        values: float64, or text such as ``0.12345678`` (a decimal comma and ``1e-05`` are read).
        digits: How many decimals the keys have, 1 to 9; the modulus is ``10**digits``.
        first_row: Number of the first row, for messages.
        where: File and column, for messages.

    Examples:
        >>> keys_from_decimals(np.array([0.1, 0.25, 1.0]), 2)
        array([10, 25,  0], dtype=uint32)
        >>> keys_from_decimals(np.array(["0.12345678", "1e-05"]), 8)
        array([12345678,     1000], dtype=uint32)
    """
    if values.dtype.kind == "f" and values.dtype != np.float64:
        raise InputError(
            f"{where}: keys stored as {values.dtype} cannot be read exactly. "
            "Export them as text or in double precision."
        )
    keys, is_key = parse_decimal_keys(values, digits)
    wrong = np.flatnonzero(~is_key)
    if wrong.size:
        rows = "1 row has" if wrong.size == 1 else f"{wrong.size} rows have"
        raise InputError(
            f"{where}: {rows} no key between 0 and 1 with at most {digits} decimals, first in row "
            f"{first_row + int(wrong[0])}. Correct the keys, declare the digits that they have "
            f"(at most {MOST_DIGITS}), or derive keys from the record ids."
        )
    return keys


def parse_decimal_keys(
    values: npt.NDArray[Any], digits: int
) -> tuple[UInt32, npt.NDArray[np.bool]]:
    """Like ``keys_from_decimals``, for callers who report problems themselves.

    Returns:
        The keys, 0 where there is none, and which rows have one.

    Examples:
        >>> parse_decimal_keys(np.array(["0.12", "0.123", ""]), 2)
        (array([12,  0,  0], dtype=uint32), array([ True, False, False]))
    """
    if not 1 <= digits <= MOST_DIGITS:
        raise SpecError(
            f"Decimal keys can have 1 to {MOST_DIGITS} digits: sums of longer ones do not fit 64 "
            f"bits. Shorten them to {MOST_DIGITS} digits, or derive keys from the record ids."
        )
    if values.ndim != 1:
        raise TypeError("Keys are a one-dimensional array.")
    if values.dtype.kind in "SUOT":
        texts = values if values.dtype.kind in "SU" else values.astype(np.str_)
        units = _units_of_texts(texts, digits)
    elif values.dtype == np.float64 or values.dtype.kind in "iu":
        units = _units_of_numbers(values.astype(np.float64, copy=False), digits)
    else:
        raise TypeError("Keys are text, float64 or integers.")
    is_key = units >= 0
    return np.where(is_key, units % 10**digits, 0).astype(np.uint32), is_key


def _units_of_numbers(values: npt.NDArray[np.float64], digits: int) -> npt.NDArray[np.int64]:
    """``values * 10**digits`` as integers; -1 where that is not one.

    The product and the shortest decimal differ by less than 3e-7, so only rows about as far from
    an integer as the tolerance need exact decimals.
    """
    inside = (values >= 0) & (values <= 1)
    scaled = np.where(inside, values, 0.0) * 10.0**digits
    units = np.rint(scaled)
    distance = np.abs(scaled - units)
    result = np.where(inside & (distance <= 1e-6), units, -1).astype(np.int64)
    for row in np.flatnonzero(inside & (distance > 5e-7) & (distance < 2e-6)):
        result[row] = _exact_units(repr(float(values[row])), digits)
    return result


def _units_of_texts(values: npt.NDArray[Any], digits: int) -> npt.NDArray[np.int64]:
    width = values.dtype.itemsize // (4 if values.dtype.kind == "U" else 1)
    kind = np.uint32 if values.dtype.kind == "U" else np.uint8
    native = np.ascontiguousarray(values.astype(values.dtype.newbyteorder("="), copy=False))
    characters = native.view(kind).reshape(len(values), width) if width else None
    result = np.full(len(values), -1, dtype=np.int64)
    if characters is not None:
        _parse_plain(read_only(characters), digits, result)
    for row in np.flatnonzero(result < 0):
        text = values[row]
        if isinstance(text, bytes):
            text = text.decode("latin-1")
        result[row] = _exact_units(text, digits)
    return result


def _exact_units(text: str, digits: int) -> int:
    """What the definition says, in decimal arithmetic; -1 for a refusal."""
    if not _DECIMAL.fullmatch(text):
        return -1
    context = Context(prec=60, rounding=ROUND_HALF_EVEN)
    try:
        scaled = context.multiply(Decimal(text.strip().replace(",", ".")), Decimal(10) ** digits)
    except (InvalidOperation, Overflow):
        return -1
    units = scaled.to_integral_value(rounding=ROUND_HALF_EVEN)
    exact = context.abs(context.subtract(scaled, units)) <= Decimal("1e-6")
    return int(units) if exact and 0 <= scaled <= 10**digits else -1


@compiled
def _parse_plain(characters: npt.NDArray[Any], digits: int, result: npt.NDArray[np.int64]) -> None:
    """Read digits with one separator; rows that are written in another way stay as they are."""
    whole = 10**digits
    for row in range(len(characters)):
        value, after, seen, plain, ended = 0, -1, 0, True, False
        for place in range(characters.shape[1]):
            character = int(characters[row, place])
            digit = character - 48
            if character == 0 or character == 32:
                ended = character == 0 or seen > 0 or after >= 0
            elif ended:
                plain = False
            elif 0 <= digit <= 9:
                seen += 1
                if after < digits:
                    value = value * 10 + digit
                elif digit:
                    plain = False
                if after >= 0:
                    after += 1
                plain = plain and value <= whole
            elif (character == 46 or character == 44) and after < 0:
                after = 0
            else:
                plain = False
            if not plain:
                break
        for _ in range(max(after, 0), digits):
            value *= 10
        if plain and seen and value <= whole:
            result[row] = value
