"""Mistakes in questions, conditions and programs, in the language of the reader.

The texts stand in the catalogue ``mistakes``, by the words that an error carries; here what
somebody wrote, names, lists and numbers are put into them.
"""

from __future__ import annotations

from collections.abc import Mapping

from sdcensus.errors import Sentence, Told
from sdcensus.model.quantities import figure_text
from sdcensus.web.languages import texts


def mistake_text(said: Sentence, language: str) -> str | None:
    """What an error says; ``None`` where that, or a part of it, is in English only.

    Examples:
        >>> from sdcensus.errors import unknown
        >>> mistake_text(unknown("variable", "aeg", ["age", "sex"]), "nl")
        "Er is geen variabele 'aeg'. Bedoelt u 'age'?"
        >>> mistake_text(Sentence("Something else."), "nl")
    """
    try:
        return _told(said, language, texts(language))
    except KeyError:
        return None


def _told(said: Sentence, language: str, known: Mapping[str, str]) -> str:
    values = {name: _shown(value, language, known) for name, value in said.values.items()}
    return known[f"mistakes.{said.words}"].format_map(values)


def _shown(value: Told, language: str, known: Mapping[str, str]) -> str:
    if isinstance(value, Sentence):
        return _told(value, language, known)
    if isinstance(value, tuple):
        return ", ".join(value)
    return value if isinstance(value, str) else figure_text(value, language)
