"""Sentences of the catalogues: said in one language, or kept to be said in any.

What is measured deep inside is told by ``sentence``: a text in English that remembers its key and
what fills its places. Whoever shows it says it in the language of the reader by ``in_language``.
Numbers are written as that language does.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import TypeAlias

from sdcensus.errors import Sentence
from sdcensus.model.catalogue import FIRST, LANGUAGES, catalogue
from sdcensus.model.quantities import figure_text, number_text
from sdcensus.model.text import Text

#: What fills a place: texts as they are, numbers, texts and sentences in several languages.
Value: TypeAlias = str | int | float | Text


def speak(key: str, language: str | None = None, /, **values: Value) -> str:
    """A text of the product in one language, with its places filled.

    Examples:
        >>> speak("notes.smallest_group", "nl", size=1_000).split(".")[:2]
        ['Groepen van minder dan 1', '000 worden niet verder uitgesplitst']
    """
    area, _, name = key.partition(".")
    shown = {name: _shown(value, language) for name, value in values.items()}
    return catalogue(area, language or FIRST)[name].format_map(shown)


def sentence(key: str, /, **values: Value) -> Sentence:
    """A text of the product in English that can be said in every other language."""
    said = Sentence(speak(key, FIRST, **values))
    said.words, said.values = key, MappingProxyType(values)  # type: ignore[arg-type]
    return said


def in_language(text: str, language: str | None) -> str:
    """A sentence in a language; any other text as it is."""
    if not isinstance(text, Sentence) or not text.words or language is None:
        return str(text)
    area, _, name = text.words.partition(".")
    if name not in _known(area):
        return str(text)  # what is wrong in a question is told by the server's own catalogue
    return speak(text.words, language, **text.values)  # type: ignore[arg-type]


def in_every_language(show: Callable[[str], str]) -> Text:
    """What a function says in each language, to fill a place of a sentence."""
    return Text.of({language: show(language) for language in LANGUAGES})


def figure(show: Callable[[str], str]) -> Sentence:
    """A figure on its own, written as each language does."""
    return sentence("language.figure", value=in_every_language(show))


def _known(area: str) -> frozenset[str]:
    try:
        return frozenset(catalogue(area, FIRST))
    except OSError:
        return frozenset()


def _shown(value: Value, language: str | None) -> str:
    if isinstance(value, Text):
        return value.show(language or FIRST)
    if isinstance(value, Sentence):
        return in_language(value, language)
    if isinstance(value, str):
        return value
    return number_text(value, language) if isinstance(value, int) else figure_text(value, language)
