"""Options by their names, wherever people may write either the option or its word."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from sdcensus.errors import UnknownName

Option = TypeVar("Option", bound=StrEnum)


def option(options: type[Option], what: str, value: Option | str) -> Option:
    """The option of that name; others are refused with those that exist.

    Args:
        options: The enumeration.
        what: What one of them is, for the message.
        value: The option or its word.
    """
    try:
        return options(value)
    except ValueError:
        raise UnknownName(what, str(value), known=list(options)) from None
