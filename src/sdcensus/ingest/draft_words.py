"""Words by which columns of a census are recognised, in four languages."""

from __future__ import annotations

import re
import tomllib
from enum import StrEnum
from importlib.resources import files
from itertools import pairwise

from sdcensus.model.letters import plain_letters
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
    ANSWER = "answer to a question"
    ELSEWHERE = "place of birth, work or before"


#: Shorter beginnings of words for units are too much like other words.
_SHORTEST_STEM = 3
_SPLIT = re.compile(r"[^a-z0-9]+|(?<=[a-z])(?=[0-9])|(?<=[0-9])(?=[a-z])")


def words_of(text: str) -> list[str]:
    """The words of a name or label, without accents, in small letters.

    Examples:
        >>> words_of("P05_Área-No"), words_of("householdNo")
        (['p', '05', 'area', 'no'], ['household', 'no'])
    """
    apart = re.sub(r"(?<=[a-z])(?=[A-Z])", "_", text)
    plain = plain_letters(apart)
    return [word for word in _SPLIT.split(plain) if word]


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


_KNOWN = tomllib.loads((files("sdcensus.ingest") / "draft_words.toml").read_text(encoding="utf-8"))
_CONCEPTS = {Concept[name.upper()]: _words(text) for name, text in _KNOWN["concepts"].items()}
#: What is true of a column besides what it is about.
_BESIDE = frozenset({Concept.ANSWER, Concept.ELSEWHERE})
#: Two words that together say what one alone does not.
_PAIRS = {
    tuple(pair): Concept[name.upper()] for name, pairs in _KNOWN["pairs"].items() for pair in pairs
}
_ENTITIES = {Entity[name.upper()]: _words(text) for name, text in _KNOWN["entities"].items()}
#: Words beside which a word for an area has another meaning.
_NO_PLACE = _words(_KNOWN["others"]["no_place"])
#: Words that say that a column holds the number of a unit, whatever the unit.
_ID_WORDS = _words(_KNOWN["others"]["id_words"])
_PERSON_NUMBER = _words(_KNOWN["others"]["person_number"])
_PRIVATE = _words(_KNOWN["others"]["private"])
ABOUT_INTERVIEWS = frozenset(_KNOWN["others"]["about_interviews"].split())
_RURAL = _words(_KNOWN["others"]["rural"])
#: Words beside which a number is no number of a unit, but says how many there are, or of what kind.
_NO_ID = _words(_KNOWN["others"]["no_id"])
#: The two words for the whole of a census, which say nothing about the units of a file.
_WHOLE_CENSUS = [_words(text) for text in _KNOWN["others"]["whole_census"]]
_YES_NO = frozenset(_KNOWN["answers"]["yes_no"])
#: Texts that stand where there is no value, in small letters, and what they say about it.
_MISSING_KINDS = {
    text: CodeKind[kind.upper()]
    for kind, texts in _KNOWN["missing_texts"].items()
    for text in texts
}
MISSING_TEXTS = frozenset(_MISSING_KINDS)
_UNDER_AGE = re.compile("|".join(_KNOWN["labels"]["under_age"]))
_REST_OF = re.compile("|".join(_KNOWN["labels"]["rest_of"]))
#: Names that are written together; what a child weighs at birth is no weight of a record.
_ENDS_AS_WEIGHT = re.compile(
    r"(?!birth|body|over|under|sobre)[a-z]{1,12}(weights?|wgts?|poids|peso)"
)
_NOT_APPLICABLE = re.compile("|".join(_KNOWN["labels"]["not_applicable"]))
_NOT_STATED = re.compile("|".join(_KNOWN["labels"]["not_stated"]))
#: What the usual universes are called in schemas.
AND_OVER = {age: Text.named("universes.and_over").filled(age=str(age)) for age in (15, 65)}
PRIVATE_HOUSEHOLDS = Text.named("universes.private_households")


def concepts_of(name: str, label: str = "") -> set[Concept]:
    """What a column may be about, by its name; its label counts where the name says nothing."""
    named, labelled = _concepts(words_of(name)), _concepts(words_of(label))
    # What a question is like may be said in either.
    beside = (named | labelled) & _BESIDE
    return beside | (named - _BESIDE or labelled - _BESIDE - {Concept.NUMBER})


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
    if unit_in("_".join(words)) is not None or any(
        word.endswith("id") and len(word) > 3 for word in words[-1:]
    ):  # idviv, personid
        concepts.add(Concept.NUMBER)
    if any(_ENDS_AS_WEIGHT.fullmatch(word) for word in words):  # hhweight, popwgt
        concepts.add(Concept.WEIGHT)
    if _NO_ID & set(words):  # jefe_hogar, tipo_vivienda
        concepts.discard(Concept.NUMBER)
    return concepts


def numbers_persons(name: str) -> bool:
    """Whether a column numbers the persons of a household."""
    return bool(_PERSON_NUMBER & set(words_of(name)))


def compact(name: str) -> str:
    """A name without accents, case and signs.

    Examples:
        >>> compact("ID_Viv"), compact("idviv")
        ('idviv', 'idviv')
    """
    return "".join(words_of(name))


def core(name: str) -> str:
    """A name without the words that only say that it is a number; empty if it is nothing else.

    Examples:
        >>> core("NUM_LOG"), core("no_logement"), core("id")
        ('log', 'logement', '')
    """
    return "".join(word for word in words_of(name) if word not in _ID_WORDS)


def abbreviates(short: str, long: str) -> bool:
    """Whether one name is the beginning of another.

    Examples:
        >>> abbreviates("NUM_LOG", "no_logement"), abbreviates("no", "no_logement")
        (True, False)
    """
    return len(core(short)) >= _SHORTEST_STEM and core(long).startswith(core(short))


def unit_in(name: str) -> Entity | None:
    """The kind of unit whose number a column holds, by its name, also where that is cut short.

    Examples:
        >>> [str(unit_in(name)) for name in ("ID_VIV", "id_vivienda", "nhogar", "hhid")]
        ['dwelling', 'dwelling', 'household', 'household']
        >>> unit_in("vivienda_propia"), unit_in("men")
        (None, None)
    """
    words = words_of(name)
    if any(word not in _ID_WORDS for word in words) and len(words) > 1:
        words = [word for word in words if word not in _ID_WORDS]
    if len(words) != 1:
        return None
    (word,) = words
    stem = re.sub(r"^(?:id|num|nro|cod|n)(?=[a-z]{2})|(?<=[a-z]{2})(?:id|num|nro|no)$", "", word)
    marked = stem != word or any(word in _ID_WORDS for word in words_of(name))
    for entity, known in _ENTITIES.items():
        if stem in known or (
            marked and len(stem) >= _SHORTEST_STEM and any(full.startswith(stem) for full in known)
        ):
            return entity
    return None


def entity_named(text: str) -> Entity | None:
    """The kind of unit that a file or record name speaks of.

    Examples:
        >>> entity_named("censo_poblacion_vivienda_hogares"), entity_named("VIV_2017")
        (<Entity.HOUSEHOLD: 'household'>, <Entity.DWELLING: 'dwelling'>)
        >>> entity_named("hld_pop_2023"), entity_named("ind_2023")
        (<Entity.HOUSEHOLD: 'household'>, <Entity.PERSON: 'person'>)
    """
    words = set(words_of(text))
    units = {entity: words & known for entity, known in _ENTITIES.items()}
    whole = [words & census for census in _WHOLE_CENSUS]
    if all(whole):  # a census of population and housing
        others = {entity: found - whole[0] - whole[1] for entity, found in units.items()}
        units = others if any(others.values()) else units
    return next((entity for entity, found in units.items() if found), None)


def is_answer(value: str) -> bool:
    """Whether a value is yes or no.

    Examples:
        >>> is_answer("Sí"), is_answer("NON"), is_answer("Ana")
        (True, True, False)
    """
    return plain_letters(value).strip(" .") in _YES_NO


def is_rural(label: str) -> bool:
    """Whether a label tells the country from towns.

    Examples:
        >>> is_rural("Rural disperso"), is_rural("Ruralia")
        (True, False)
    """
    return bool(_RURAL & set(words_of(label)))


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
    """Whether a label says that there is no value.

    Examples:
        >>> str(kind_of_label("Ignorado")), str(kind_of_label("Nueve y más"))
        ('not_stated', 'valid')
        >>> str(kind_of_label("No sabe leer")), str(kind_of_label("Other, unspecified"))
        ('valid', 'valid')
    """
    plain = " ".join(plain_letters(label).split())
    if _NOT_APPLICABLE.search(plain):
        return CodeKind.NOT_APPLICABLE
    if _REST_OF.search(plain):
        return CodeKind.VALID
    return CodeKind.NOT_STATED if _NOT_STATED.search(plain) else CodeKind.VALID


def is_under_age(label: str) -> bool:
    """Whether a label names those who were too young to be asked; of an age, it is a value.

    Examples:
        >>> is_under_age("Menores de 15 años"), is_under_age("Under 15"), is_under_age("15-24")
        (True, True, False)
    """
    return _UNDER_AGE.search(" ".join(plain_letters(label).split())) is not None


def kind_of_missing_text(text: str) -> CodeKind:
    """What a text means that stands where there is no value.

    Examples:
        >>> str(kind_of_missing_text("NA")), str(kind_of_missing_text("No aplica"))
        ('not_stated', 'not_applicable')
    """
    return _MISSING_KINDS.get(text.strip().lower(), CodeKind.VALID)
