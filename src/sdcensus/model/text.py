"""A text in several languages, as labels and notes are."""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

from sdcensus.model.catalogue import LANGUAGES as LANGUAGES, by_language


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
