"""Names and labels that a format cannot hold as they are: told before anything is written."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from sdcensus.errors import Sentence
from sdcensus.model.release.plan import MicrodataFormat
from sdcensus.model.sentences import sentence

_ELLIPSIS = "…"
_SPSS_RESERVED = frozenset(
    ("all", "and", "by", "eq", "ge", "gt", "le", "lt", "ne", "not", "or", "to", "with")
)
_STATA_RESERVED = frozenset(
    (
        *("byte", "double", "float", "if", "in", "int", "long", "strl", "using", "with"),
        *("_all", "_b", "_coef", "_cons", "_n", "_pi", "_pred", "_rc", "_skip"),
    )
)
_STATA_TEXT_TYPE = re.compile(r"str[0-9]+")


class ShortenedPart(StrEnum):
    """What of a file is not as the office wrote it."""

    NAME = "name"
    VARIABLE_LABEL = "variable-label"
    VALUE_LABEL = "value-label"
    TITLE = "title"
    NO_LABELS = "no-labels"


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortening:
    """A name or a label that stands in a file in another form. Public.

    Attributes:
        format: The format.
        file: The file, without its ending.
        part: What it is.
        original, shortened: As the office wrote it, and as it stands in the file.
        variable: Of which variable; empty for titles.
        code: Of which code, for a label of a value.
        language: The language of a label.
    """

    format: MicrodataFormat
    file: str
    part: ShortenedPart
    original: str
    shortened: str
    variable: str = ""
    code: str = ""
    language: str = ""

    @property
    def message(self) -> Sentence:
        """The same in a sentence."""
        spoken = f" ({self.language})" if self.language else ""
        return sentence(
            f"release_formats.shortened.{self.part.value}",
            file=f"{self.file}.{self.format.value}{spoken}",
            variable=self.variable,
            code=self.code,
            original=self.original,
            shortened=self.shortened,
        )


@dataclass(frozen=True, slots=True)
class FormatLimits:
    """What a format holds.

    Attributes:
        name, variable_label, value_label, title: The longest of each, as ``size`` measures it.
        size: In what the format measures texts: bytes or characters.
        most_labels: How many values of a variable can have labels; ``None`` for any number.
    """

    name: int
    variable_label: int
    value_label: int
    title: int
    size: Callable[[str], int]
    most_labels: int | None = None


def byte_size(text: str) -> int:
    """How many bytes a text takes in a file."""
    return len(text.encode())


LIMITS = {
    MicrodataFormat.SAV: FormatLimits(64, 256, 120, 64, byte_size),
    MicrodataFormat.DTA: FormatLimits(32, 80, 32_000, 80, len, 65_536),
}


def plain_text(text: str) -> str:
    """A text without signs that labels and xml cannot have: line breaks and such become blanks."""
    return "".join(
        " " if unicodedata.category(sign) in ("Cc", "Cs") or sign in "\ufffe\uffff" else sign
        for sign in text
    )


def shortened(text: str, most: int, size: Callable[[str], int], end: str = _ELLIPSIS) -> str:
    """A text cut between two characters, never inside one, so that it fits with its end.

    Examples:
        >>> shortened("Niños pequeños", 9, byte_size), shortened("Niños", 6, byte_size)
        ('Niños…', 'Niños')
    """
    if size(text) <= most:
        return text
    room = most - size(end)
    kept = text[: max(room, 0)]
    while kept and size(kept) > room:
        kept = kept[:-1]
    # A sign and the accent that stands on it are one character to a reader.
    while kept and len(kept) < len(text) and unicodedata.combining(text[len(kept)]):
        kept = kept[:-1]
    return kept.rstrip() + end if kept.rstrip() else end


def variable_names(names: Sequence[str], format: MicrodataFormat) -> tuple[str, ...]:
    """Names as a format allows them, each another one also where case makes no difference.

    Examples:
        >>> variable_names(["if", "ed@parish", "2nd", "IF"], MicrodataFormat.DTA)
        ('if_', 'ed_parish', 'v2nd', 'IF')
    """
    limits = LIMITS[format]
    fixed = [_allowed(name, format) for name in names]
    # Names that can stay as they are keep their place before those that are made.
    taken = {name.casefold() for name, allowed in zip(names, fixed, strict=True) if name == allowed}
    unique: list[str] = []
    kept: set[str] = set()
    for name, allowed in zip(names, fixed, strict=True):
        chosen, number = allowed, 1
        stays = name == allowed and name.casefold() not in kept
        while not stays and chosen.casefold() in taken:
            number += 1
            chosen = shortened_name(allowed, limits, f"_{number}")
        kept.add(chosen.casefold())
        taken.add(chosen.casefold())
        unique.append(chosen)
    return tuple(unique)


def shortened_name(name: str, limits: FormatLimits, end: str) -> str:
    """A name with an end, cut so that both fit."""
    kept = name
    while limits.size(kept) + limits.size(end) > limits.name:
        kept = kept[:-1]
    return kept + end


def _allowed(name: str, format: MicrodataFormat) -> str:
    limits = LIMITS[format]
    stata = format is MicrodataFormat.DTA
    others = "_" if stata else "_.$#@"
    name = unicodedata.normalize("NFC", name)
    signs = [sign if sign.isalnum() or sign in others else "_" for sign in name]
    fixed = "".join(signs) or "v"
    first = fixed[0]
    if not (first.isalpha() or (stata and first == "_") or (not stata and first == "@")):
        fixed = f"v{fixed}"
    while limits.size(fixed) > limits.name:
        fixed = fixed[:-1]
    if not stata and fixed.endswith("."):
        fixed = f"{fixed[:-1]}_"
    reserved = _STATA_RESERVED if stata else _SPSS_RESERVED
    # Stata's reserved words are in small letters, but _N; SPSS knows no case.
    word = fixed if stata and fixed != "_N" else fixed.lower()
    word = "strl" if word == "strL" else word
    if word in reserved or (stata and _STATA_TEXT_TYPE.fullmatch(word)):
        fixed = shortened_name(fixed, limits, "_")
    return fixed


def value_labels(
    labels: Sequence[str], codes: Sequence[str], limits: FormatLimits
) -> tuple[str, ...]:
    """Labels of values as a format holds them, no two of a variable alike.

    Readers that make categories of labels refuse a list in which one stands twice: its second
    appearance, and what only differs where it is cut, tells the code as well.
    """
    unique: dict[str, None] = {}
    for label, code in zip(labels, codes, strict=True):
        text = shortened(label or code or "-", limits.value_label, limits.size)
        number = 1
        while text in unique:
            end = f" ({code})" if number == 1 else f" ({number})"
            if limits.size(end) > limits.value_label // 2:
                end = f" ({number + 1})"
            fits = shortened(label or code, limits.value_label - limits.size(end), limits.size)
            text = fits + end
            number += 1
        unique[text] = None
    return tuple(unique)
