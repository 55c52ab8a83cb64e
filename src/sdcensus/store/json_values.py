"""Values of a JSON document, each checked for what it has to be."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from sdcensus.model.text import Text

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


def text_to_json(text: Text) -> str | list[list[str]] | None:
    """Nothing, the plain text if it is English, else pairs of language and text."""
    if not text.by_language:
        return None
    if len(text.by_language) == 1 and text.by_language[0][0] == "en":
        return text.by_language[0][1]
    return [list(pair) for pair in text.by_language]


def text_from_json(value: object) -> Text:
    """Read what ``text_to_json`` made."""
    if value is None:
        return Text()
    if isinstance(value, str):
        return Text((("en", value),))
    pairs = [listed(pair, string) for pair in checked(value, list)]
    return Text(tuple((language, text) for language, text in pairs))
