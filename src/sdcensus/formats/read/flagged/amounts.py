"""Numbers of other tools as whole numbers: with decimals, of either mark, and negative ones."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from sdcensus.formats.read.raw import RawTable

_NUMBER = re.compile(r"[+-]?\d+(?:[.,]\d*)?(?:e[+-]?\d+)?", re.IGNORECASE)
#: Digits behind the point beyond which nobody publishes.
_MOST_DECIMALS = 6
#: No value of a cell has more digits.
_MOST_DIGITS = 14


@dataclass(frozen=True, slots=True, eq=False)
class Amounts:
    """Values as whole numbers of their last decimal.

    Attributes:
        numbers: The values; 0 where there is none.
        known: Where there is a number.
        decimals: How many digits stand behind the point.
    """

    numbers: npt.NDArray[np.int64]
    known: npt.NDArray[np.bool_]
    decimals: int


def is_number(text: str) -> bool:
    """Whether a text is a number.

    Examples:
        >>> is_number("12,50"), is_number("x"), is_number("-3")
        (True, False, True)
    """
    return _NUMBER.fullmatch(text.strip()) is not None


def amounts(raw: RawTable, texts: Sequence[str], decimals: int | None = None) -> Amounts:
    """Read numbers; what is none is left to the status beside it.

    Args:
        raw: The file, for messages.
        texts: One for each row.
        decimals: How many digits stand behind the point; as many as occur if ``None``.
    """
    read = [_digits(text) for text in texts]
    most = max((len(part[1]) for part in read if part is not None), default=0)
    kept = most if decimals is None else decimals
    numbers = np.zeros(len(texts), dtype=np.int64)
    known = np.zeros(len(texts), dtype=bool)
    for row, part in enumerate(read):
        if part is None:
            if is_number(texts[row]):
                raise raw.mistake(row, f"{texts[row]!r} is no number that can be a cell's.")
            continue
        whole, behind = part
        digits = whole + behind.ljust(kept, "0")[:kept]
        if behind[kept:].strip("0"):
            raise raw.mistake(
                row, f"{texts[row]!r} has more than the {kept} decimals that the table has."
            )
        if len(digits.lstrip("+-0")) > _MOST_DIGITS:
            raise raw.mistake(row, f"{texts[row]!r} has more digits than a cell can have.")
        numbers[row], known[row] = int(digits), True
    return Amounts(numbers, known, kept)


def _digits(text: str) -> tuple[str, str] | None:
    """The digits before and behind the point, without zeros at the end."""
    plain = text.strip()
    if not is_number(plain) or "e" in plain.lower():
        return None
    whole, _, behind = plain.replace(",", ".").partition(".")
    behind = behind.rstrip("0")
    return None if len(behind) > _MOST_DECIMALS else (whole, behind)
