"""Options of ``sdcensus ptable``, and how their values are understood."""

from __future__ import annotations

import re
from enum import StrEnum
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from sdcensus.errors import SecretError
from sdcensus.model.vocabulary import ExchangeFormat

if TYPE_CHECKING:
    from sdcensus.model.secret import Secret

# The help is shown before anything heavy is imported: these words are written with a stroke here,
# or are of the command line alone.


class VarianceMode(StrEnum):
    """Whether the variance is a bound, or has to be met."""

    AT_MOST = "at-most"
    EQUAL = "equal"


class Source(StrEnum):
    """Where rows come from, other than maximum entropy."""

    NORMAL = "normal"
    GEOMETRIC = "geometric"
    PER_UNIT = "per-unit"


class Strength(StrEnum):
    """How strongly counts are changed, in plain words."""

    LIGHT = "light"
    MEDIUM = "medium"
    STRONG = "strong"
    NO_ONES_AND_TWOS = "no-ones-and-twos"


class Order(StrEnum):
    """In which order the changes of a row stand in its keys."""

    ASCENDING = "ascending"
    SCRAMBLED = "scrambled"


class ConvertedOrder(StrEnum):
    """In which order the changes of a row stand in its keys."""

    KEPT = "kept"
    SCRAMBLED = "scrambled"


_POWER = re.compile(r"([0-9_]+)\s*(?:(?:\*\*|\^)\s*([0-9]+))?")
CONFIDENTIAL = "Only you can read it: never publish the parameters."


def number(text: str) -> float:
    """A number as people write it: 0.4, .4 or 2/5."""
    try:
        return float(Fraction(text))
    except (ValueError, ZeroDivisionError, OverflowError):
        hint = " Write it with a point." if "," in text else ""
        raise typer.BadParameter(f"{text!r} is no number.{hint}") from None


def key_count(text: str) -> int:
    """How many keys there are: 256, 10**8 or 2**32."""
    match = _POWER.fullmatch(text.strip())
    if match is not None:
        base, power = int(match[1].replace("_", "") or 0), int(match[2] or 1)
        if power <= 64 and 2 <= base**power <= 2**32:
            return int(base**power)
    raise typer.BadParameter(
        f"{text!r} is no number of keys. Give a whole number from 2 to 2**32, such as 256, 10**8"
        " or 2**32."
    )


Format = Annotated[
    ExchangeFormat | None,
    typer.Option("--format", help="The layout of the file, where its header does not tell."),
]
Repeat = Annotated[
    int | None,
    typer.Option(
        "--repeat",
        metavar="N",
        help="The last N rows of the file serve larger counts in turn, as in rounding to N.",
    ),
]
KeyCount = Annotated[
    int | None,
    typer.Option(
        "--key-space",
        metavar="KEYS",
        parser=key_count,
        help="How many keys the new file has: 256, 4096, 10**8 ... By default what its format has.",
    ),
]
KeyVersion = Annotated[
    int,
    typer.Option(
        "--key-version", metavar="N", min=0, help="Version of the series, for a scrambled order."
    ),
]


def office_secret(path: Path | None) -> Secret:
    """The secret of a file, for a scrambled order."""
    from sdcensus import read_secret

    if path is None:
        raise SecretError(
            "A scrambled order is made from the office secret. Give its file: --secret FILE."
        )
    return read_secret(path)
