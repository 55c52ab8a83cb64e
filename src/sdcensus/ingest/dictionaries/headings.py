"""What the heading of a column of a dictionary says: its role and its language."""

from __future__ import annotations

import re
import tomllib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from importlib.resources import files

from sdcensus.ingest.draft_words import words_of


class ColumnRole(StrEnum):
    """What a column of a dictionary holds."""

    VARIABLE = "variable"
    LABEL = "label"
    VALUE = "value"
    VALUE_LABEL = "value_label"
    TABLE = "table"
    MINIMUM = "minimum"
    MAXIMUM = "maximum"
    RANGE = "range"
    MISSING = "missing"
    LIST = "list"


#: The roles that have a column for each language.
SPOKEN = frozenset({ColumnRole.LABEL, ColumnRole.VALUE_LABEL})
_OTHER = "other"
_EXACT, _WEAK_EXACT, _PART = 10.0, 5.0, 4.0

_KNOWN = tomllib.loads(
    (files("sdcensus.ingest.dictionaries") / "words.toml").read_text(encoding="utf-8")
)
_SMALL = frozenset(_KNOWN["small"]["words"].split())
_LANGUAGE_OF: dict[str, str] = {
    word: language for language, words in _KNOWN["languages"].items() for word in words.split()
}
_STOPWORDS = {language: set(words.split()) for language, words in _KNOWN["stopwords"].items()}
#: A language in a heading: "label_es", "label:en", "label::Español (es)", "Label (English)".
_MARKED = re.compile(
    r"(?:^|.*\S)\s*(?:::?|_|-|\.|\(|\[|/|\s)\s*([^\W\d_]{2,20})(?:\s*\(([a-z]{2,3})\))?\s*[)\]]?"
)
#: Two letters are words in other languages too: these stand alone behind a sign only.
_SIGNED = re.compile(r".*(?:::?|_|-|\.|\(|\[|/)\s*[^\W\d_]{2,3}\s*[)\]]?|.*\s[A-Z]{2,3}")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading with what its words say.

    ``scores`` tells for each role how well the words fit; ``language`` is the one that the heading
    names, ``spoken`` those in which it may be written.
    """

    text: str
    scores: Mapping[str, float]
    language: str = ""
    spoken: frozenset[str] = frozenset()

    def score(self, role: ColumnRole) -> float:
        """How well the words fit a role; below zero if they say something else."""
        return self.scores.get(role.value, 0.0) - self.scores.get(_OTHER, 0.0)


def _tokens(words: Iterable[str]) -> frozenset[str]:
    """The words that matter, in the singular as far as an "s" tells."""
    plain = [word[:-1] if len(word) > 4 and word.endswith("s") else word for word in words]
    return frozenset(word for word in plain if word not in _SMALL) or frozenset(plain)


@cache
def _phrases() -> dict[frozenset[str], list[tuple[str, str, float]]]:
    """For each set of words: role, language and weight."""
    phrases: dict[frozenset[str], list[tuple[str, str, float]]] = {}
    for role in (*(role.value for role in ColumnRole), _OTHER):
        for strength, by_language in _KNOWN[role].items():
            weight = _EXACT if strength == "strong" else _WEAK_EXACT
            for language, texts in by_language.items():
                for text in texts:
                    meaning = (role, language, weight)
                    phrases.setdefault(_tokens(text.split()), []).append(meaning)
    return phrases


def read_heading(text: str) -> Heading:
    """What a heading says.

    Examples:
        >>> heading = read_heading("Label (English)")
        >>> heading.language, heading.score(ColumnRole.LABEL) > heading.score(ColumnRole.VALUE)
        ('en', True)
        >>> read_heading("Etiqueta de valor").score(ColumnRole.VALUE_LABEL)
        10.0
    """
    words = words_of(text)
    language = ""
    marked = _MARKED.fullmatch(text.strip())
    if marked is not None and len(words) > 1:
        named = [words_of(part) for part in (marked[2], marked[1]) if part]
        for part in named:
            code = _LANGUAGE_OF.get(part[0]) if len(part) == 1 else None
            signed = len(part[0]) > 3 or _SIGNED.fullmatch(text.strip()) if part else False
            if code is not None and signed:
                language = code
                break
        if language:
            words = [word for word in words if _LANGUAGE_OF.get(word) != language] or words
    tokens = _tokens(words)
    scores: dict[str, float] = {}
    spoken: Counter[str] = Counter()
    for phrase, meanings in _phrases().items():
        if not phrase <= tokens:
            continue
        exact = phrase == tokens
        for role, phrase_language, weight in meanings:
            score = weight if exact else min(weight, _PART + len(phrase)) - len(tokens) / 4
            scores[role] = max(scores.get(role, 0.0), score)
            if exact:
                spoken[phrase_language] += 1
    if scores.get(_OTHER, 0.0) < _EXACT:
        scores.pop(_OTHER, None)
    languages = frozenset(name for name in spoken if spoken[name] == max(spoken.values()))
    return Heading(text, scores, language, languages)


def language_of(texts: Iterable[str]) -> str:
    """The language that labels are most likely written in; empty if nothing tells.

    Examples:
        >>> language_of(["Nivel de instrucción de la persona", "Tenencia de la vivienda"])
        'es'
    """
    times: Counter[str] = Counter()
    for text in texts:
        words = set(re.findall(r"[^\W\d_]+", text.casefold()))
        for language, known in _STOPWORDS.items():
            times[language] += len(words & known)
    ranked = times.most_common(2)
    if not ranked or not ranked[0][1]:
        return ""
    return ranked[0][0] if len(ranked) < 2 or ranked[0][1] > ranked[1][1] else ""


def likely_language(languages: Iterable[str]) -> str:
    """The language of those in which a heading may be written that most dictionaries are in."""
    possible = set(languages)
    return next((language for language in _STOPWORDS if language in possible), "")


def language_named(text: str) -> str:
    """The code of a language by its name or code; the text itself if it may be a code."""
    word = "".join(words_of(text))
    return _LANGUAGE_OF.get(word, text.strip().casefold() if len(word) in (2, 3) else "")
