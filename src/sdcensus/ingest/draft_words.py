"""Words by which columns of a census are recognised, in four languages."""

from __future__ import annotations

import re
import unicodedata
from enum import StrEnum
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


_CONCEPTS: dict[Concept, frozenset[str]] = {
    Concept.SEX: _words("sex sexo sexe gender genero genre"),
    Concept.AGE: _words("age edad idade"),
    Concept.AREA: _words(
        "ed ea area region regiao district distrito parish parroquia paroisse freguesia commune"
        " comuna concelho municipio municipality municipalite provincia province departamento"
        " departement canton county sector secteur setor localidad localite localidade zona zone"
        " estado state isla island constituency barrio bairro enumeration"
    ),
    Concept.SIZE: _words(
        "size hhsize hsize famsize numprec tamano tamanho taille grootte occupants ocupantes"
        " occupants bewoners"
    ),
    Concept.WEIGHT: _words(
        "weight weights wgt wt peso pesos poids ponderacion ponderation ponderacao fexp perwt hhwt"
        " expansion"
    ),
    Concept.PERSONAL_NAME: _words(
        "name names nombre nombres apellido apellidos surname firstname lastname fullname nom noms"
        " prenom prenoms nome nomes sobrenome apelido"
    ),
    Concept.CONTACT: _words(
        "phone telephone telefono telefone tel mobile celular movil email mail correo courriel"
        " address direccion adresse endereco morada dni cedula passport pasaporte passeport"
        " passaporte cpf ssn curp rut nin nationalid nid gps latitude longitude latitud longitud"
        " lat lon lng"
    ),
    Concept.NUMBER: _words(
        "no nr nro num numero number id ids serial folio orden ordem ordre line linea ligne linha"
        " seq hhid pid hid household hogar menage domicilio dwelling vivienda logement building"
        " edificio batiment family familia famille questionnaire cuestionario boleta"
    ),
}
#: Two words that together say what one alone does not.
_PAIRS: dict[tuple[str, str], Concept] = {
    ("national", "id"): Concept.CONTACT,
    ("id", "card"): Concept.CONTACT,
    ("carte", "identite"): Concept.CONTACT,
    ("first", "name"): Concept.PERSONAL_NAME,
    ("last", "name"): Concept.PERSONAL_NAME,
}
#: Words beside which a word for an area has another meaning.
_NO_PLACE = _words("civil conyugal marital conjugal salud sante saude mind")
_PERSON_NUMBER = _words(
    "person persons pers persona pessoa personne pno pnum line linea ligne linha orden ordem ordre"
    " member miembro membre membro individual individuo individu ln"
)
_ENTITIES: dict[Entity, frozenset[str]] = {
    Entity.PERSON: _words(
        "person persons people per pers persona personas poblacion population individual"
        " individuals individuo individuos individu individus pessoa pessoas personne personnes"
        " member members"
    ),
    Entity.FAMILY: _words("family families familia familias famille familles"),
    Entity.HOUSEHOLD: _words(
        "household households hh hogar hogares menage menages agregado agregados familiar"
    ),
    Entity.DWELLING: _words(
        "dwelling dwellings housing vivienda viviendas logement logements domicilio domicilios"
        " alojamento alojamentos house houses"
    ),
    Entity.BUILDING: _words(
        "building buildings edificio edificios batiment batiments immeuble immeubles"
    ),
}
_PRIVATE = _words("private particular particulares ordinaire ordinaires particulier particuliere")
#: What the usual universes are called in schemas.
AND_OVER = {age: Text.named("universes.and_over").filled(age=str(age)) for age in (15, 65)}
PRIVATE_HOUSEHOLDS = Text.named("universes.private_households")
_NOT_APPLICABLE = re.compile(
    r"not appl|no aplica|no correspond|^n\.? ?/? ?a\.?$|sans objet|non appl|nao se aplica|nao aplic"
    r"|\bniu\b|not in universe|fuera del universo|under (?:\d+|age)|menor(?:es)? de \d+"
)
_NOT_STATED = re.compile(
    r"not stated|not reported|not known|unknown|unspecified|missing|no answer|no response|refus"
    r"|don'?t know|no declarad|no especific|no respon|no contesta|no sabe|sin (?:dato|inform|respue"
    r"|declar)|ns\W?nr|ns\W?nc|desconoc|ignorad|non declare|non precise|non repon|ne sait|inconnu"
    r"|nao declarad|nao sabe|nao respon|sem (?:declar|inform|respos)|desconhec"
)


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
