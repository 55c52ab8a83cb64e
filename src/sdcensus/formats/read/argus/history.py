"""What tau-ARGUS is told about cells before it begins (``.hst``, a-priori file).

A line for each cell: its codes, and what is said of it: its status, its cost, or how far it has to
be protected.
"""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal, InvalidOperation
from enum import StrEnum
from pathlib import Path

from sdcensus.errors import InputError
from sdcensus.formats.read.argus.lines import ArgusLine, lines_of


class Said(StrEnum):
    """What a line says of its cell."""

    SAFE = "s"
    UNSAFE = "u"
    PROTECTED = "p"
    FORCED_ZERO = "z"
    SECONDARY = "m"
    SECONDARY_BY_HAND = "ml"
    COST = "c"
    WEIGHT = "w"
    LEVELS = "pl"
    BOUNDS = "ab"


#: How many numbers stand behind the word.
_NUMBERS = {Said.COST: 1, Said.WEIGHT: 1, Said.LEVELS: 2, Said.BOUNDS: 2}
_SEPARATORS = ";,\t|"


@dataclass(frozen=True, slots=True)
class HistoryLine:
    """One line.

    Attributes:
        line: Its number.
        codes: The cell, by a code of each column.
        said: What is said of it.
        numbers: The numbers behind that.
    """

    line: int
    codes: tuple[str, ...]
    said: Said
    numbers: tuple[Decimal, ...] = ()


def read_history(
    path: str | Path, columns: int, separator: str | None = None
) -> tuple[HistoryLine, ...]:
    """Read what is said of cells.

    Args:
        path: The file.
        columns: How many columns of codes the table has.
        separator: What stands between fields; found from the first line if ``None``.

    Raises:
        InputError: A line has too few fields, or says something that is not known.
    """
    lines = list(lines_of(path))
    if not lines:
        raise InputError(f"{Path(path)} says nothing about any cell: it is empty.")
    sign = separator or max(_SEPARATORS, key=lines[0].text.count)
    return tuple(_read(line, columns, sign) for line in lines)


def _read(line: ArgusLine, columns: int, separator: str) -> HistoryLine:
    fields = [field.strip().strip('"').strip() for field in line.text.split(separator)]
    while len(fields) > columns + 1 and not fields[-1]:
        fields.pop()
    if len(fields) < columns + 1:
        raise line.mistake(
            f"{len(fields)} fields, separated by {separator!r}; a line has {columns} codes and what"
            " is said of the cell. Name the separator if it is another one."
        )
    codes, word, rest = tuple(fields[:columns]), fields[columns].lower(), fields[columns + 1 :]
    try:
        said = Said(word)
    except ValueError:
        known = ", ".join(Said)
        raise line.mistake(f"{word!r} says nothing that is known. There are: {known}.") from None
    needed = _NUMBERS.get(said, 0)
    if len(rest) < needed:
        raise line.mistake(f"{word!r} needs {needed} number{'s' * (needed > 1)} behind it.")
    return HistoryLine(
        line.number, codes, said, tuple(_number(line, text) for text in rest[:needed])
    )


def _number(line: ArgusLine, text: str) -> Decimal:
    try:
        return Decimal(text.replace(",", "."))
    except InvalidOperation:
        raise line.mistake(f"{text!r} is no number.") from None
