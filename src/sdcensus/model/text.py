"""Texts: the words of the product, labels in several languages, and what others may have written.

The words of the product are files beside each other, and nothing in code: ``words/en/notes.toml``
has the English words of the area ``notes``. A new language is a folder with the same files and its
name in ``LANGUAGES``. An area is read when one of its texts is first needed.

A label such as ``=HYPERLINK(...)`` or ``@SUM(...)`` is a text for us, and a program for whoever
opens the file. Labels come from schemas, and schemas from others: ``plain_cell`` makes them texts
that no spreadsheet takes for a formula.
"""

from __future__ import annotations

import json
import re
import unicodedata
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any, Self

#: The languages that the product speaks. Labels of a census come in the languages of the census.
LANGUAGES = ("en", "es", "fr", "nl")

FOLDER = Path(__file__).resolve().parents[1] / "words"


@cache
def catalogue(area: str, language: str) -> Mapping[str, str]:
    """The texts of an area in one language by their keys, such as ``example.listed``.

    Members of a list have their numbers as keys. An area that is for offices only need not exist
    in every language; it is empty in others.
    """
    import tomllib

    path = FOLDER / language / f"{area}.toml"
    document = tomllib.loads(path.read_text(encoding="utf-8")) if path.is_file() else {}
    return MappingProxyType(dict(_flat(document)))


def by_language(key: str) -> tuple[tuple[str, str], ...]:
    """A text by its area and key, such as ``notes.protected``, with its languages."""
    area, _, name = key.partition(".")
    spoken = ((language, catalogue(area, language).get(name)) for language in LANGUAGES)
    texts = tuple((language, text) for language, text in spoken if text is not None)
    if not texts:
        raise KeyError(key)
    return texts


def lines(texts: Mapping[str, str], key: str) -> tuple[str, ...]:
    """The members of a list of texts.

    Examples:
        >>> lines({"a.0": "One.", "a.1": "Two.", "b": "Three."}, "a")
        ('One.', 'Two.')
    """
    return tuple(text for name, text in texts.items() if name.startswith(f"{key}."))


def _flat(document: Mapping[str, Any], before: str = "") -> Iterator[tuple[str, str]]:
    for name, value in document.items():
        if isinstance(value, list):
            value = {str(at): member for at, member in enumerate(value)}
        if isinstance(value, Mapping):
            yield from _flat(value, f"{before}{name}.")
        else:
            yield f"{before}{name}", str(value)


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


def has_control_character(text: str) -> bool:
    """Whether a text has a line break, a tab or another character that is no sign."""
    return any(unicodedata.category(sign) == "Cc" for sign in text)


#: The label of the total of any axis, in the languages that the product speaks.
TOTAL_LABEL = Text(
    (("en", "Total"), ("es", "Total"), ("fr", "Total"), ("nl", "Totaal"), ("pt", "Total"))
)
#: The label of the code that stands for "no value" where a schema has none of its own.
NOT_STATED_LABEL = Text(
    (("en", "Not stated"), ("es", "No declarado"), ("fr", "Non déclaré"), ("nl", "Onbekend"))
)


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
