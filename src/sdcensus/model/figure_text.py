"""Shares and measures in words; what is not nothing never reads as nothing."""

from __future__ import annotations

#: Stands where a figure has no meaning.
NOTHING = "–"


def share_text(share: float | None, *, digits: int = 1) -> str:
    """A share in percent.

    Examples:
        >>> share_text(0.123), share_text(0.00004), share_text(0.0), share_text(None)
        ('12.3 %', '<0.1 %', '0 %', '–')
    """
    if share is None:
        return NOTHING
    if share == 0:
        return "0 %"
    least = 10.0**-digits
    if share * 100 < least:
        return f"<{least:.{digits}f} %"
    if share < 1 and share * 100 > 100 - least:
        return f">{100 - least:.{digits}f} %"
    return f"{share:.{digits}%}".replace("%", " %")


def figure_text(value: float | None, digits: int) -> str:
    """A number, or a dash where it has no meaning.

    Examples:
        >>> figure_text(0.1234, 2), figure_text(0.0, 2), figure_text(0.0001, 2)
        ('0.12', '0.00', '<0.01')
    """
    if value is None:
        return NOTHING
    least = 10.0**-digits
    if 0 < value < least / 2:
        return f"<{least:.{digits}f}"
    return f"{value:.{digits}f}"
