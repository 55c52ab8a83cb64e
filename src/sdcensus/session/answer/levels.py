"""What levels are called where people read them, also where a schema has no labels for them."""

from __future__ import annotations

from collections.abc import Sequence

from sdcensus.model.schema.variable import Level, Role, Variable
from sdcensus.model.spec.axis import Axis
from sdcensus.model.spec.headings import inside_sentence, layer_heading, variable_heading
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import LANGUAGES, Text


def _words(english: str, spanish: str, french: str, dutch: str) -> Text:
    return Text.of({"en": english, "es": spanish, "fr": french, "nl": dutch})


#: Names that schemas of many countries give their levels. Others are shown as they are written.
_KNOWN = {
    "area": _words("Area", "Zona", "Zone", "Gebied"),
    "block": _words("Block", "Manzana", "Îlot", "Blok"),
    "broad": _words("Broad groups", "Grandes grupos", "Grands groupes", "Hoofdgroepen"),
    "canton": _words("Canton", "Cantón", "Canton", "Kanton"),
    "city": _words("City", "Ciudad", "Ville", "Stad"),
    "class": _words("Class", "Clase", "Classe", "Klasse"),
    "commune": _words("Commune", "Comuna", "Commune", "Gemeente"),
    "constituency": _words(
        "Constituency", "Circunscripción electoral", "Circonscription", "Kiesdistrict"
    ),
    "country": _words("Country", "País", "Pays", "Land"),
    "county": _words("County", "Condado", "Comté", "Graafschap"),
    "department": _words("Department", "Departamento", "Département", "Departement"),
    "detailed": _words("Detailed", "Detallado", "Détaillé", "Gedetailleerd"),
    "district": _words("District", "Distrito", "District", "District"),
    "division": _words("Division", "División", "Division", "Afdeling"),
    "ed": _words(
        "Enumeration district",
        "Distrito de empadronamiento",
        "District de recensement",
        "Telgebied",
    ),
    "families": _words("Families", "Familias", "Familles", "Gezinnen"),
    "five_year": _words(
        "Five-year groups", "Grupos quinquenales", "Groupes quinquennaux", "Vijfjaarsklassen"
    ),
    "grid": _words("Grid square", "Celda de cuadrícula", "Carreau", "Vierkant"),
    "group": _words("Group", "Grupo", "Groupe", "Groep"),
    "island": _words("Island", "Isla", "Île", "Eiland"),
    "kind": _words("Kind", "Clase", "Sorte", "Soort"),
    "major": _words("Major groups", "Grandes grupos", "Grands groupes", "Hoofdgroepen"),
    "minor": _words("Minor groups", "Subgrupos", "Sous-groupes", "Subgroepen"),
    "municipality": _words("Municipality", "Municipio", "Municipalité", "Gemeente"),
    "neighbourhood": _words("Neighbourhood", "Barrio", "Quartier", "Buurt"),
    "origin": _words("Origin", "Origen", "Origine", "Herkomst"),
    "parish": _words("Parish", "Parroquia", "Paroisse", "Parochie"),
    "province": _words("Province", "Provincia", "Province", "Provincie"),
    "region": _words("Region", "Región", "Région", "Regio"),
    "section": _words("Section", "Sección", "Section", "Sectie"),
    "settlement": _words("Settlement", "Localidad", "Localité", "Nederzetting"),
    "single_year": _words("Single years", "Años simples", "Années simples", "Losse jaren"),
    "state": _words("State", "Estado", "État", "Staat"),
    "ten_year": _words(
        "Ten-year groups", "Grupos decenales", "Groupes décennaux", "Tienjaarsklassen"
    ),
    "village": _words("Village", "Aldea", "Village", "Dorp"),
    "ward": _words("Ward", "Barrio", "Quartier", "Wijk"),
}


def level_label(variable: Variable, level: Level) -> Text:
    """What a level is called: as the schema says, else like the variable or by its own name.

    Args:
        variable: The variable.
        level: One of its levels.
    """
    given = variable.level_label(level.name)
    if given:
        return given
    if level.name == variable.name:
        return variable.label or Text.of(variable_heading(variable))
    known = _KNOWN.get(level.name.casefold())
    if known is not None:
        return known
    words = level.name.replace("_", " ").strip()
    return Text.of(f"{words[:1].upper()}{words[1:]}")


def axis_label(axis: Axis) -> Text:
    """What an axis is called: areas by their level (parishes are no enumeration districts)."""
    variable = axis.variable
    if variable.role is Role.GEOGRAPHY and len(axis.levels) == 1:
        return level_label(variable, axis.levels[0])
    return variable.label or Text.of(variable_heading(variable))


def question_heading(spec: TableSpec) -> Text:
    """What a table shows, in words, in every language of the product."""
    return Text.of({one: layer_heading(spec, _headings(spec.axes, one), one) for one in LANGUAGES})


def _headings(axes: Sequence[Axis], language: str) -> list[str]:
    return [_heading(axis, language) for axis in axes]


def _heading(axis: Axis, language: str) -> str:
    variable = axis.variable
    label = axis_label(axis).show(language)
    names = [level_label(variable, one).show(language) for one in axis.levels]
    if names == [label] or [one.name for one in axis.levels] == [variable.leaf_level]:
        return label
    if variable.role is Role.GEOGRAPHY:
        return " / ".join(names)
    # In the middle of a sentence, and after the name of the variable.
    return f"{label} ({', '.join(inside_sentence(one) for one in names)})"
