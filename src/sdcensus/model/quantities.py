"""Numbers, shares, sizes and times as people read them: the one place for each.

What is not nothing never reads as nothing, and what is not certain never as certain.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction

from sdcensus.errors import SpecError
from sdcensus.model.text import Text

#: What stands where a number has no meaning.
NOTHING = "–"

#: What stands between thousands, and between a number and its decimals, in each language.
_THOUSANDS = Text.named("language.thousands")
_DECIMALS = Text.named("language.decimals")
#: A number with the sign of percent.
_PERCENT = Text.named("language.percent")

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


def bytes_text(size: int) -> str:
    """An amount of memory or disk, in decimal units.

    Examples:
        >>> bytes_text(999), bytes_text(47_142), bytes_text(12_345_678), bytes_text(3_240_000_000)
        ('999 bytes', '47 kB', '12.3 MB', '3.2 GB')
    """
    for unit, name in ((10**12, "TB"), (10**9, "GB"), (10**6, "MB")):
        if size >= unit:
            return f"{size / unit:.1f} {name}"
    return f"{size / 1_000:.0f} kB" if size >= 1_000 else f"{size} bytes"


def duration_text(seconds: float) -> str:
    """A time that something took.

    Examples:
        >>> duration_text(0.0312), duration_text(4.26), duration_text(83)
        ('31 ms', '4.3 s', '1 min 23 s')
    """
    if seconds < 0.9995:
        return f"{max(seconds * 1000, 1):.0f} ms"
    if seconds < 60:
        return f"{seconds:.1f} s"
    return f"{int(seconds) // 60} min {int(seconds) % 60} s"


def waiting_text(seconds: float) -> str:
    """A time to wait, as people say it.

    Examples:
        >>> waiting_text(1), waiting_text(90), waiting_text(7200)
        ('1 second', '2 minutes', '2 hours')
    """
    units = (("hour", 3600), ("minute", 60), ("second", 1))
    unit, size = next((unit for unit in units if seconds >= unit[1]), units[-1])
    number = -int(-seconds // size)
    return f"{number} {unit}{'' if number == 1 else 's'}"


def number_text(number: int, language: str | None = None, decimals: int = 0) -> str:
    """A whole number as people of a language read it; or one of its last decimals.

    Examples:
        >>> number_text(12345), number_text(-4), number_text(12345, "es")
        ('12,345', '-4', '12.345')
        >>> number_text(1234500, decimals=2), number_text(1234500, "es", 2)
        ('12,345.00', '12.345,00')
        >>> number_text(12345, "nl"), number_text(12345, "fr").split()
        ('12.345', ['12', '345'])
    """
    return written_as(f"{Decimal(number).scaleb(-decimals):,.{decimals}f}", language)


def written_as(figure: str, language: str | None) -> str:
    """A figure as Python writes it, with the signs of a language for thousands and decimals.

    Examples:
        >>> written_as("1,234.5", None), written_as("1,234.5", "es")
        ('1,234.5', '1.234,5')
    """
    signs = {ord(","): _THOUSANDS.show(language), ord("."): _DECIMALS.show(language)}
    return figure.translate(signs)


def figure_text(figure: float, language: str | None = None) -> str:
    """A figure with up to six digits as people of a language read it; whole ones in full.

    Examples:
        >>> figure_text(2.5), figure_text(2.5, "nl"), figure_text(20_000.0)
        ('2.5', '2,5', '20,000')
    """
    if float(figure).is_integer():
        return number_text(int(figure), language)
    return written_as(f"{figure:g}", language)


def decimal_text(figure: float | None, digits: int, language: str | None = None) -> str:
    """A figure with so many decimals, or a dash where it has no meaning.

    Examples:
        >>> decimal_text(0.1234, 2), decimal_text(0.0, 2), decimal_text(0.0001, 2)
        ('0.12', '0.00', '< 0.01')
        >>> decimal_text(None, 2), decimal_text(1234.25, 1, "nl")
        ('–', '1.234,2')
    """
    if figure is None:
        return NOTHING
    least = 10.0**-digits
    small = 0 < figure < least / 2
    text = f"< {least:.{digits}f}" if small else f"{figure:,.{digits}f}"
    return written_as(text, language)


def share_text(share: float | None, language: str | None = None, *, digits: int = 1) -> str:
    """A share in percent, or a dash where there is none.

    Examples:
        >>> share_text(0.123), share_text(0.00004), share_text(0.99999), share_text(1)
        ('12.3 %', '< 0.1 %', '> 99.9 %', '100 %')
        >>> share_text(0.0), share_text(0.123, "nl"), share_text(0.123, digits=0), share_text(None)
        ('0 %', '12,3%', '12 %', '–')
    """
    if share is None:
        return NOTHING
    least = 10.0**-digits
    if share in (0, 1):
        text = f"{100 * share:.0f}"
    elif share * 100 < least:
        text = f"< {least:.{digits}f}"
    elif 100 - least < share * 100 < 100:
        text = f"> {100 - least:.{digits}f}"
    else:
        text = f"{share * 100:,.{digits}f}"
    return _PERCENT.show(language).format(n=written_as(text, language))


def limit_text(share: float, language: str | None = None) -> str:
    """A share that somebody has set, in percent with all its digits.

    Examples:
        >>> limit_text(0.5), limit_text(0.0125), limit_text(0.0125, "nl")
        ('50 %', '1.25 %', '1,25%')
    """
    percent = figure_text(float(Fraction(str(share)) * 100), language)
    return _PERCENT.show(language).format(n=percent)


def chance_text(chance: float | None, language: str | None = None) -> str:
    """A probability; neither certain nor impossible by rounding.

    Examples:
        >>> chance_text(0.383), chance_text(0.9999), chance_text(0.001), chance_text(None)
        ('0.38', '> 0.99', '< 0.01', '–')
    """
    if chance is None:
        return NOTHING
    if chance < 0.01:
        return written_as("< 0.01" if chance else "0", language)
    return written_as("> 0.99" if 0.99 < chance < 1 else f"{chance:.2f}", language)
