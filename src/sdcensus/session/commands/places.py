"""Where in a program something stands, and mistakes that point there."""

from __future__ import annotations

from typing import NoReturn

from sdcensus.errors import QuestionError, Sentence

#: How much of a long line stands above the caret, at most.
_WIDEST = 100


def line_and_column(text: str, at: int) -> tuple[int, int]:
    """The line and column of a character, both from 1.

    Examples:
        >>> line_and_column("one\\ntwo", 5)
        (2, 2)
    """
    at = min(max(at, 0), len(text))
    return text.count("\n", 0, at) + 1, at - text.rfind("\n", 0, at)


def place_of(text: str, at: int) -> str:
    """The same in words.

    Examples:
        >>> place_of("one\\ntwo", 5)
        'line 2, column 2'
    """
    line, column = line_and_column(text, at)
    return f"line {line}, column {column}"


def pointer(text: str, at: int) -> str:
    """The line of a character, and below it a caret that points at the character.

    Of a long line, what stands around the character is shown.

    Examples:
        >>> print(pointer("TABLE t\\n  OF x", 10))
          OF x
          ^
    """
    at = min(max(at, 0), len(text))
    start = text.rfind("\n", 0, at) + 1
    end = text.find("\n", at)
    line = text[start : len(text) if end < 0 else end]
    column = at - start
    first = max(0, min(column - _WIDEST // 2, len(line) - _WIDEST))
    shown = line[first : first + _WIDEST]
    # One column for each character, whatever it is: the caret counts characters.
    shown = "".join(sign if sign.isprintable() else " " for sign in shown)
    return f"{shown.rstrip()}\n{' ' * (column - first)}^"


def refuse(source: str, at: int, text: Sentence) -> NoReturn:
    """Say what is wrong at a character of a program.

    Raises:
        QuestionError: Always; ``at`` is the character, ``place`` its line and column.
    """
    raise QuestionError(text, place=place_of(source, at), at=min(at, len(source)))
