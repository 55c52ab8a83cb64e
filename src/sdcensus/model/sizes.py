"""Amounts of memory and disk as people write them."""

from __future__ import annotations

import re

from sdcensus.errors import SpecError

#: Powers of 1000 and of 1024, as the units are defined.
_UNITS = {
    "": 1,
    "b": 1,
    "kb": 10**3,
    "mb": 10**6,
    "gb": 10**9,
    "tb": 10**12,
    "k": 10**3,
    "m": 10**6,
    "g": 10**9,
    "t": 10**12,
    "kib": 1 << 10,
    "mib": 1 << 20,
    "gib": 1 << 30,
    "tib": 1 << 40,
}
_SIZE = re.compile(r"\s*(?P<number>[0-9]+(?:\.[0-9]+)?)\s*(?P<unit>[A-Za-z]*)\s*", re.ASCII)


def parse_bytes(text: str | int, *, what: str = "The size") -> int:
    """Read an amount of memory such as ``4GB``, ``512MB`` or ``1.5 GiB``.

    Args:
        text: What was written; a whole number is taken as bytes.
        what: What the amount is, for the message.

    Examples:
        >>> parse_bytes("1.5GB")
        1500000000
    """
    if isinstance(text, bool) or not isinstance(text, int | str):
        raise SpecError(f"{what} is written as a text such as '4GB'.")
    match = _SIZE.fullmatch(str(text))
    unit = None if match is None else _UNITS.get(match["unit"].lower())
    if match is None or unit is None:
        raise SpecError(
            f"{what} {text!r} cannot be read. Write a number with a unit, such as 4GB, 512MB or"
            " 1.5GiB."
        )
    whole, _, digits = match["number"].partition(".")
    amount: int = int(whole + digits) * unit // 10 ** len(digits)
    if amount < 1:
        raise SpecError(f"{what} {text!r} must be more than nothing, such as 4GB.")
    return amount


def bytes_text(amount: int) -> str:
    """An amount of memory for people, in decimal units.

    Examples:
        >>> bytes_text(3_240_000_000)
        '3.2 GB'
    """
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB"), (10**3, "kB")):
        if amount >= unit:
            number = amount / unit
            return f"{number:.1f} {name}" if number < 10 else f"{number:.0f} {name}"
    return f"{amount} bytes"
