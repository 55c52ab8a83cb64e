"""Options by their names, wherever people may write either the option or its word."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any, TypeVar

from sdcensus.errors import UnknownName

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

Option = TypeVar("Option", bound=StrEnum)
Settings = TypeVar("Settings", bound="DataclassInstance")


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
    names = [field.name for field in fields(options)]
    for name in settings:
        if name not in names:
            raise UnknownName("setting", name, known=names)
    return replace(options, **settings)
