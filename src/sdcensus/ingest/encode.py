"""Columns of a file as positions in code lists and fixed-point numbers."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sdcensus.model.schema.encoding import (
    LARGEST_FIXED_POINT,
    NO_VALUE,
    CodeEncoder,
    Trouble,
    fixed_point,
)
from sdcensus.model.schema.variable import Role, Variable, smallest_width

Integers = npt.NDArray[Any]
_WIDE = pa.decimal128(38, 12)
#: Numbers that fit that type, written plainly.
_PLAIN_NUMBER = r"^-?[0-9]{1,15}([.][0-9]{0,12})?$"
_MOST_EXAMPLES = 100


@dataclass(frozen=True, slots=True)
class Encoded:
    """Encoded values of a batch and where they could not be encoded.

    ``trouble`` has a negative ``Trouble`` where there is one, else 0 or more; ``None`` where
    there is none at all. ``examples`` are distinct values with trouble, and which.
    """

    values: Integers
    trouble: Integers | None = None
    examples: tuple[tuple[int, str], ...] = ()


class ColumnEncoder:
    """Encodes the values of one variable, remembering what it has seen.

    Args:
        variable: The variable.
        decimal_mark: The decimal mark of the file.
        scale: What its amounts are multiplied by to be in the unit of the variable.
    """

    def __init__(
        self, variable: Variable, *, decimal_mark: str = ".", scale: Fraction = Fraction(1)
    ) -> None:
        self.variable = variable
        self._scale = scale
        # The mark is that of texts; a number has none until it is written.
        self._encoders = {
            mark: CodeEncoder(variable, decimal_mark=mark, scale=scale)
            for mark in {decimal_mark, "."}
        }
        self._decimal_mark = decimal_mark
        self._seen: dict[Any, int] = {}
        self._width = smallest_width(len(variable.codes))
        self.fallback = variable.missing_position or 0

    def positions(self, array: pa.Array) -> Encoded:
        """The position of each value in the code list."""
        encoded = pc.dictionary_encode(array, null_encoding="encode")
        positions = self._distinct_positions(encoded.dictionary)
        at = encoded.indices.to_numpy(zero_copy_only=False)
        if positions.size and positions.min() >= 0:
            return Encoded(positions.astype(self._width)[at])
        clean = np.where(positions < 0, self.fallback, positions).astype(self._width)
        return Encoded(clean[at], positions[at], _examples(encoded.dictionary, positions))

    def numbers(self, array: pa.Array) -> Encoded:
        """Fixed-point values; ``NO_VALUE`` where the value is one of the missing codes."""
        encoded = pc.dictionary_encode(array, null_encoding="encode")
        values, trouble = self._distinct_numbers(encoded.dictionary)
        at = encoded.indices.to_numpy(zero_copy_only=False)
        if not (trouble < 0).any():
            return Encoded(values[at])
        return Encoded(values[at], trouble[at], _examples(encoded.dictionary, trouble))

    def _distinct_positions(self, distinct: pa.Array) -> Integers:
        """The position of each distinct value: plain numbers in one go, the rest one by one."""
        positions = np.full(len(distinct), Trouble.UNKNOWN, dtype=np.int64)
        plain = np.zeros(len(distinct), dtype=bool)
        if self.variable.continuous:
            plain, exact, values = self._plain_numbers(distinct)
            plain &= exact  # what has to be rounded could fall into another interval
            positions[plain] = self._interval_positions(values[plain])
        for at, value in zip(*_others(distinct, plain), strict=True):
            positions[at] = self._position(value)
        return positions

    def _distinct_numbers(self, distinct: pa.Array) -> tuple[Integers, Integers]:
        """The fixed-point value of each distinct value, and its trouble."""
        plain, _, values = self._plain_numbers(distinct)
        trouble = np.zeros(len(distinct), dtype=np.int64)
        for at, value in zip(*_others(distinct, plain), strict=True):
            number = self._number(value)
            if isinstance(number, Trouble):
                values[at], trouble[at] = NO_VALUE, number
            else:
                values[at] = number
        if self.variable.role is Role.WEIGHT:
            sound = trouble == 0
            trouble[sound & (values == 0)] = Trouble.ZERO
            trouble[sound & (values < 0)] = Trouble.NEGATIVE
        return values, trouble

    def _plain_numbers(self, distinct: pa.Array) -> tuple[Integers, Integers, Integers]:
        """Which values are plain numbers and no missing code; which need no rounding; the values.

        Goes through the decimal notation of every number, so that 1.015 is rounded as it is
        written and not as the nearest binary fraction.
        """
        decimals = self.variable.decimals
        text = pc.utf8_trim_whitespace(distinct.cast(pa.string()))
        mark = self._decimal_mark if pa.types.is_string(distinct.type) else "."
        number = _PLAIN_NUMBER.replace("[.]", f"[{mark}]")
        plain = pc.fill_null(pc.match_substring_regex(text, number), False)
        if mark != ".":
            text = pc.replace_substring(text, mark, ".")
        missing = [code.code for code in self.variable.codes if code.is_missing]
        wide = pc.if_else(plain, text, "0").cast(_WIDE)
        rounded = pc.round(wide, ndigits=decimals, round_mode="half_to_even")
        exact = pc.equal(rounded, wide)
        narrow = rounded.cast(pa.decimal128(38, decimals))
        halves = np.frombuffer(narrow.buffers()[1], dtype=np.int64).reshape(-1, 2)
        halves = halves[narrow.offset : narrow.offset + len(narrow)]
        values = halves[:, 0].copy()
        mask = plain.to_numpy(zero_copy_only=False).astype(bool)
        numbers = {fixed_point(code, decimals, decimal_mark=at) for code in missing for at in ".,"}
        mask &= ~np.isin(values, [number for number in numbers if not isinstance(number, Trouble)])
        in_one_half = halves[:, 1] == values >> 63
        mask &= in_one_half & (np.abs(values) <= LARGEST_FIXED_POINT)
        # What is multiplied first is rounded afterwards, each number by itself.
        mask &= self._scale == 1
        return mask, exact.to_numpy(zero_copy_only=False).astype(bool), values

    def _interval_positions(self, values: Integers) -> Integers:
        """The leaf of each fixed-point value, as ``CodeEncoder`` finds it one by one."""
        scale = 10**self.variable.decimals
        leaves = sorted(
            (code.lower, code.upper, at)
            for at, code in enumerate(self.variable.codes)
            if code.lower is not None
        )
        if not leaves:
            return np.full(values.size, Trouble.UNKNOWN, dtype=np.int64)
        # Bounds beyond 64 bits are beyond every amount.
        largest = int(np.iinfo(np.int64).max)
        bounds = [max(-largest, min(lower * scale, largest)) for lower, _, _ in leaves]
        lowers = np.array(bounds, dtype=np.int64)
        ends = [
            largest if upper is None else min((upper + 1) * scale, largest)
            for _, upper, _ in leaves
        ]
        at = np.searchsorted(lowers, values, side="right") - 1
        inside = (at >= 0) & (values < np.array(ends, dtype=np.int64)[at])
        positions = np.array([position for _, _, position in leaves], dtype=np.int64)
        return np.where(inside, positions[at], Trouble.OUT_OF_RANGE)

    def _position(self, value: Any) -> int:
        known = self._seen.get(value)
        if known is None:
            encoder = self._encoders[self._mark(value)]
            known = self._seen[value] = int(encoder.position(_text(value)))
        return known

    def _number(self, value: Any) -> int | Trouble:
        position = self._position(value)
        if position >= 0 and self.variable.codes[position].is_missing:
            return NO_VALUE
        decimals = self.variable.decimals
        mark = self._mark(value)
        return fixed_point(_text(value), decimals, decimal_mark=mark, scale=self._scale)

    def _mark(self, value: Any) -> str:
        return self._decimal_mark if isinstance(value, str) else "."


def _examples(distinct: pa.Array, found: Integers) -> tuple[tuple[int, str], ...]:
    places = np.flatnonzero(found < 0)[:_MOST_EXAMPLES]
    values = distinct.take(pa.array(places)).to_pylist()
    pairs = zip(found[places].tolist(), values, strict=True)
    return tuple((trouble, _text(value) or "") for trouble, value in pairs)


def _others(distinct: pa.Array, plain: Integers) -> tuple[list[int], list[Any]]:
    """Places and values of what is not a plain number."""
    places = np.flatnonzero(~plain)
    return places.tolist(), distinct.take(pa.array(places)).to_pylist()


def _text(value: Any) -> str | None:
    """A value as a file would write it."""
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, float):
        return None if value != value else str(int(value)) if value.is_integer() else repr(value)
    return str(value)
