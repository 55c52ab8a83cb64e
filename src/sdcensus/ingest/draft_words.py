"""Words by which columns of a census are recognised, in four languages."""

from __future__ import annotations

import re
import tomllib
import unicodedata
from enum import StrEnum
from importlib.resources import files
from itertools import pairwise

from sdcensus.model.schema.variable import CodeKind, Entity
from sdcensus.model.text import Text


class Concept(StrEnum):
    """What a column is likely to be about."""

    SEX = "sex"
    AGE = "age"
    AREA = "area"
    WEIGHT = "weight"
    PERSONAL_NAME = "personal name"
    CONTACT = "contact or number of a person"
    NUMBER = "number of a unit"
    SIZE = "number of persons in a unit"


_SPLIT = re.compile(r"[^a-z0-9]+|(?<=[a-z])(?=[0-9])|(?<=[0-9])(?=[a-z])")


def words_of(text: str) -> list[str]:
    """The words of a name or label, without accents, in small letters.

    Examples:
        >>> words_of("P05_Área-No"), words_of("householdNo")
        (['p', '05', 'area', 'no'], ['household', 'no'])
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text)
    plain = unicodedata.normalize("NFKD", apart).encode("ascii", "ignore").decode().lower()
    return [word for word in _SPLIT.split(plain) if word]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_KNOWN = tomllib.loads((files("sdcensus.ingest") / "draft_words.toml").read_text(encoding="utf-8"))
_CONCEPTS = {Concept[name.upper()]: _words(text) for name, text in _KNOWN["concepts"].items()}
#: Two words that together say what one alone does not.
_PAIRS = {
    tuple(pair): Concept[name.upper()] for name, pairs in _KNOWN["pairs"].items() for pair in pairs
}
_ENTITIES = {Entity[name.upper()]: _words(text) for name, text in _KNOWN["entities"].items()}
#: Words beside which a word for an area has another meaning.
_NO_PLACE = _words(_KNOWN["others"]["no_place"])
_PERSON_NUMBER = _words(_KNOWN["others"]["person_number"])
_PRIVATE = _words(_KNOWN["others"]["private"])
_NOT_APPLICABLE = re.compile("|".join(_KNOWN["labels"]["not_applicable"]))
_NOT_STATED = re.compile("|".join(_KNOWN["labels"]["not_stated"]))
#: What the usual universes are called in schemas.
AND_OVER = {age: Text.named("universes.and_over").filled(age=str(age)) for age in (15, 65)}
PRIVATE_HOUSEHOLDS = Text.named("universes.private_households")


def concepts_of(name: str, label: str = "") -> set[Concept]:
    """What a column may be about, by its name; its label counts where the name says nothing."""
    concepts = _concepts(words_of(name))
    return concepts or {
        concept for concept in _concepts(words_of(label)) if concept is not Concept.NUMBER
    }


def _concepts(words: list[str]) -> set[Concept]:
    concepts = {
        concept for concept, known in _CONCEPTS.items() if any(word in known for word in words)
    }
    for left, right in pairwise(words):
        pair = _PAIRS.get((left, right))
        if pair is not None:
            concepts.add(pair)
    if _NO_PLACE & set(words):  # estado civil
        concepts.discard(Concept.AREA)
    last = words[-1] if words else ""
    if last.endswith("id") and len(last) > 3:  # personid
        concepts.add(Concept.NUMBER)
    return concepts


def numbers_persons(name: str) -> bool:
    """Whether a column numbers the persons of a household."""
    return bool(_PERSON_NUMBER & set(words_of(name)))


def entity_named(text: str) -> Entity | None:
    """The kind of unit that a file or record name speaks of."""
    words = set(words_of(text))
    for entity, known in _ENTITIES.items():
        if words & known:
            return entity
    return None


def is_private_household(label: str) -> bool:
    """Whether a code is that of private households, by its label.

    Examples:
        >>> is_private_household("Private household"), is_private_household("Private dwelling")
        (True, False)
    """
    words = set(words_of(label))
    households = _ENTITIES[Entity.HOUSEHOLD] | {"huishouden", "huishoudens"}
    return bool(words & _PRIVATE) and bool(words & households)


def kind_of_label(label: str) -> CodeKind:
    """Whether a label says that there is no value."""
    plain = " ".join(
        unicodedata.normalize("NFKD", label).encode("ascii", "ignore").decode().lower().split()
    )
    if _NOT_APPLICABLE.search(plain):
        return CodeKind.NOT_APPLICABLE
    return CodeKind.NOT_STATED if _NOT_STATED.search(plain) else CodeKind.VALID
