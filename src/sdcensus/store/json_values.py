"""Values of a JSON document, each checked for what it has to be."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

Result = TypeVar("Result")


def checked(value: object, kind: type[Result]) -> Result:
    """The value, if it is of that very type."""
    if type(value) is not kind:
        raise TypeError(f"{kind.__name__} expected")
    return value


def string(value: object) -> str:
    """A text."""
    return checked(value, str)


def whole(value: object) -> int:
    """A whole number."""
    return checked(value, int)


def optional(value: object, read: Callable[[object], Result]) -> Result | None:
    """What is read of a value, or ``None`` where there is none."""
    return None if value is None else read(value)


def listed(value: object, read: Callable[[object], Result]) -> tuple[Result, ...]:
    """What is read of each member of a list."""
    return tuple(read(item) for item in checked(value, list))
