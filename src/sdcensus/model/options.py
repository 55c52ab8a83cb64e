"""Options by their names, wherever people may write either the option or its word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from enum import StrEnum
from typing import Any, TypeVar

from sdcensus.errors import UnknownName

Option = TypeVar("Option", bound=StrEnum)
Settings = TypeVar("Settings")


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


def with_settings(options: Settings, settings: Mapping[str, Any]) -> Settings:
    """The options with fields that were said by name; others are refused with those that exist."""
    given: Any = options
    names = [field.name for field in fields(given)]
    for name in settings:
        if name not in names:
            raise UnknownName("setting", name, known=names)
    changed: Settings = replace(given, **settings)
    return changed
