"""What stands in the cells of a template: ``{table: axis=code, axis=@A}``, ``{table.title}``.

An axis that is not named stands at its total. ``@A5`` is what the cell A5 of the same sheet says;
``@A`` is column A of the same row, and ``@5`` row 5 of the same column, so that one placeholder can
be copied over a whole block. Braces that are meant as such are written twice.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

_QUOTES = {'"': '"', "'": "'", "\N{LEFT DOUBLE QUOTATION MARK}": "\N{RIGHT DOUBLE QUOTATION MARK}"}
_REFERENCE = re.compile(r"@\s*\$?([A-Za-z]{1,3})?\$?([0-9]{1,7})?\s*")
_AXIS = re.compile(r"\s*([^@=]+?)\s*(?:@\s*([^=]+?)\s*)?")

#: How the grammar is explained to whoever broke it.
HOW = "Write {table: axis=code, axis=@A}, {table.title}, or {{ for a brace."


class PlaceholderError(ValueError):
    """A placeholder cannot be understood; the text says why."""


@dataclass(frozen=True, slots=True)
class CellReference:
    """A cell of the same sheet that holds a code; without a column or a row, that of the cell."""

    column: str = ""
    row: int | None = None


@dataclass(frozen=True, slots=True)
class Chosen:
    """The code of one axis."""

    axis: str
    level: str
    code: str | CellReference


@dataclass(frozen=True, slots=True)
class Placeholder:
    """One placeholder: what it names, and what is said behind the colon.

    Attributes:
        name: A table, a table and one of its texts, or a word such as ``office``.
        chosen: Codes of axes.
        words: What stands behind the colon and chooses no code: a language.
    """

    name: str
    chosen: tuple[Chosen, ...] = ()
    words: tuple[str, ...] = ()


def parse(text: str) -> list[str | Placeholder]:
    """The plain texts and placeholders of a cell, in their order.

    Examples:
        >>> parse("By {office}")
        ['By ', Placeholder(name='office', chosen=(), words=())]
    """
    parts: list[str | Placeholder] = []
    plain = ""
    at = 0
    while at < len(text):
        if text[at : at + 2] in ("{{", "}}"):
            plain += text[at]
            at += 2
        elif text[at] == "{":
            end = _end(text, at + 1)
            if plain:
                parts.append(plain)
                plain = ""
            parts.append(_placeholder(text[at + 1 : end]))
            at = end + 1
        else:
            plain += text[at]
            at += 1
    return [*parts, plain] if plain else parts


def _end(text: str, start: int) -> int:
    for at, sign in _outside_quotes(text, start):
        if sign == "}":
            return at
        if sign == "{":
            break
    raise PlaceholderError(f"a placeholder is not closed. {HOW}")


def _outside_quotes(text: str, start: int = 0) -> Iterator[tuple[int, str]]:
    """The signs of a text that do not stand in quotes, and where."""
    closing = ""
    for at in range(start, len(text)):
        if closing:
            closing = "" if text[at] == closing else closing
        elif text[at] in _QUOTES and _QUOTES[text[at]] in text[at + 1 :]:
            closing = _QUOTES[text[at]]
        else:
            yield at, text[at]


def _split(text: str, sign: str, most: int = -1) -> list[str]:
    found, start = [], 0
    for at, one in _outside_quotes(text):
        if one == sign and most != 0:
            found.append(text[start:at])
            start, most = at + 1, most - 1
    return [*found, text[start:]]


def _placeholder(inner: str) -> Placeholder:
    head, *rest = _split(inner, ":", 1)
    name = _unquoted(head)
    if not name:
        raise PlaceholderError(f"a placeholder names no table. {HOW}")
    chosen: list[Chosen] = []
    words: list[str] = []
    for part in _split(rest[0], ",") if rest else []:
        if not part.strip():
            continue
        left, *right = _split(part, "=", 1)
        if not right:
            words.append(_unquoted(part))
            continue
        axis = _AXIS.fullmatch(left)
        if axis is None or not right[0].strip():
            raise PlaceholderError(f"{part.strip()!r} does not say axis=code. {HOW}")
        if any(one.axis == axis[1] for one in chosen):
            raise PlaceholderError(f"the axis {axis[1]!r} stands there twice.")
        chosen.append(Chosen(_unquoted(axis[1]), _unquoted(axis[2] or ""), _code(right[0])))
    return Placeholder(name, tuple(chosen), tuple(words))


def _code(text: str) -> str | CellReference:
    if not text.strip().startswith("@"):
        return _unquoted(text)
    match = _REFERENCE.fullmatch(text.strip())
    if match is None or not (match[1] or match[2]):
        raise PlaceholderError(
            f"{text.strip()!r} is no cell: write @A5, @A for column A of the same row, or @5 for"
            " row 5 of the same column."
        )
    return CellReference((match[1] or "").upper(), int(match[2]) if match[2] else None)


def _unquoted(text: str) -> str:
    text = text.strip()
    if len(text) > 1 and text[0] in _QUOTES and text[-1] == _QUOTES[text[0]]:
        return text[1:-1]
    return text
