"""The date in the head of a file: that of the census, never the day on which it is written."""

from __future__ import annotations

from datetime import date

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]


def short_months(text: str) -> tuple[int, str, int] | None:
    """Day, month in English letters and year of a date; ``None`` if it is no whole date.

    Examples:
        >>> short_months("2021-05-12"), short_months("2021")
        ((12, 'May', 2021), None)
    """
    try:
        day = date.fromisoformat(text)
    except ValueError:
        return None
    return day.day, _MONTHS[day.month - 1], day.year
