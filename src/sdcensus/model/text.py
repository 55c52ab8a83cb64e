"""Texts: the words of the product, labels in several languages, and what others may have written.

The words of the product come from ``model/catalogue.py``.

A label such as ``=HYPERLINK(...)`` or ``@SUM(...)`` is a text for us, and a program for whoever
opens the file. Labels come from schemas, and schemas from others: ``plain_cell`` makes them texts
that no spreadsheet takes for a formula.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from sdcensus.model.catalogue import FIRST, LANGUAGES, by_language, catalogue, lines

__all__ = [
    "DANGEROUS",
    "LANGUAGES",
    "NOT_STATED_LABEL",
    "NUMBER",
    "TOTAL_LABEL",
    "Text",
    "catalogue",
    "has_control_character",
    "lines",
    "parse_json",
    "plain_cell",
    "said",
    "text_of_cell",
]


@dataclass(frozen=True, slots=True)
class Text:
    """One text in one or more languages; the first is shown when the asked one is missing.

    Examples:
        >>> label = Text.of({"en": "Male", "es": "Hombre"})
        >>> label.show("es"), label.show("fr"), str(label)
        ('Hombre', 'Male', 'Male')
    """

    by_language: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, value: str | Mapping[str, str], *, language: str = "en") -> Self:
        """Make a text from a plain string (in ``language``) or a map of language to string."""
        if isinstance(value, str):
            return cls(((language, value),) if value else ())
        return cls(tuple((key, text) for key, text in value.items() if text))

    @classmethod
    def named(cls, key: str) -> Self:
        """A text of the product by its area and key, in every language in which there is one.

        Examples:
            >>> Text.named("files.sheets.table").show("fr")
            'Tableau'
        """
        return cls(by_language(key))

    def show(self, language: str | None = None) -> str:
        """The text in ``language``, or in the first language there is."""
        for key, text in self.by_language:
            if key == language:
                return text
        return self.by_language[0][1] if self.by_language else ""

    def filled(self, **values: str | Mapping[str, str] | Text) -> Self:
        """The text with its gaps filled, in every language; values may differ by language.

        Examples:
            >>> Text.of({"en": "{whom} here", "nl": "{whom} hier"}).filled(whom="Ann").show("nl")
            'Ann hier'
        """
        spoken = {
            name: value if isinstance(value, Text) else type(self).of(value)
            for name, value in values.items()
        }
        return type(self)(
            tuple(
                (key, text.format(**{name: value.show(key) for name, value in spoken.items()}))
                for key, text in self.by_language
            )
        )

    def __str__(self) -> str:
        return self.show()

    def __bool__(self) -> bool:
        return bool(self.by_language)


def said(key: str, language: str | None = None, /, **values: object) -> str:
    """A text of the product in one language, with its places filled.

    Examples:
        >>> said("notes.smallest_group", "nl", size=10).split(".")[0]
        'Groepen van minder dan 10 worden niet verder uitgesplitst'
    """
    area, _, name = key.partition(".")
    return catalogue(area, language or FIRST)[name].format_map(values)


def has_control_character(text: str) -> bool:
    """Whether a text has a line break, a tab or another character that is no sign."""
    return any(unicodedata.category(sign) == "Cc" for sign in text)


#: The label of the total of any axis, in the languages that the product speaks.
TOTAL_LABEL = Text.named("labels.total")
#: The label of the code that stands for "no value" where a schema has none of its own.
NOT_STATED_LABEL = Text.named("labels.not_stated")


#: Texts that begin like a formula, in the grammar that Python and Arrow share: with a sign that
#: begins one, or that is taken away before a spreadsheet looks. A single sign, such as the one for
#: no value, is no formula, and nor is a number. Apostrophes before it are part of a text that
#: looks as if it had been made plain already, and must come back as it was.
DANGEROUS = r"^'*[=+\-@\t\r\n](.|\n|\r)"
NUMBER = r"^'*[+-][0-9]+([.,][0-9]+)*%?$"
_DANGEROUS, _NUMBER = re.compile(DANGEROUS), re.compile(NUMBER)


def plain_cell(text: str) -> str:
    """A text as it stands in a cell: behind an apostrophe if it could be a formula.

    Examples:
        >>> plain_cell("=1+1"), plain_cell("- of which men"), plain_cell("-12"), plain_cell("-")
        ("'=1+1", "'- of which men", '-12', '-')
    """
    dangerous = _DANGEROUS.match(text) and not _NUMBER.fullmatch(text)
    return f"'{text}" if dangerous else text


def text_of_cell(cell: str) -> str:
    """The text that ``plain_cell`` made a cell of.

    Examples:
        >>> text_of_cell("'=1+1"), text_of_cell("'t Zand")
        ('=1+1', "'t Zand")
    """
    return cell[1:] if cell[:1] == "'" and plain_cell(cell[1:]) == cell else cell


def parse_json(text: str | bytes) -> Any:
    """What a text in JSON says.

    Python's own parser calls itself for every bracket, and gives up with an error that is no
    mistake in a value when there are a thousand of them within each other.

    Raises:
        ValueError: It is no JSON, or nested deeper than anything that this program writes.
    """
    try:
        return json.loads(text)
    except RecursionError:
        raise ValueError("nested too deeply") from None
