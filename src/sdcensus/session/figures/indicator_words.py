"""What figures from published counts are called, in every language of the product."""

from __future__ import annotations

from collections.abc import Mapping

from sdcensus.model.quantities import number_text
from sdcensus.model.text import LANGUAGES, Text

BY = Text.of({"en": "by", "es": "por", "fr": "par", "nl": "naar"})
HOUSEHOLD_SIZE = Text.of(
    {
        "en": "Average household size",
        "es": "Tamaño medio del hogar",
        "fr": "Taille moyenne des ménages",
        "nl": "Gemiddelde huishoudensgrootte",
    }
)
PER_HOUSEHOLD = Text.of(
    {
        "en": "Persons per household",
        "es": "Personas por hogar",
        "fr": "Personnes par ménage",
        "nl": "Personen per huishouden",
    }
)
MEDIAN_AGE = Text.of(
    {"en": "Median age", "es": "Edad mediana", "fr": "Âge médian", "nl": "Mediane leeftijd"}
)
SHARE = Text.of(
    {
        "en": "Percentage ({above})",
        "es": "Porcentaje ({above})",
        "fr": "Pourcentage ({above})",
        "nl": "Percentage ({above})",
    }
)
SHARE_OF = Text.of(
    {
        "en": "Percentage ({above}, of: {below})",
        "es": "Porcentaje ({above}, de: {below})",
        "fr": "Pourcentage ({above}, parmi\u202f: {below})",
        "nl": "Percentage ({above}, van: {below})",
    }
)
RATIO = Text.of(
    {
        "en": "Ratio ({above}, per {per} of: {below})",
        "es": "Razón ({above}, por cada {per} de: {below})",
        "fr": "Rapport ({above}, pour {per} de\u202f: {below})",
        "nl": "Verhouding ({above}, per {per} van: {below})",
    }
)
SEX_RATIO = Text.of(
    {
        "en": "Sex ratio (men per {per} women)",
        "es": "Razón de sexos (hombres por cada {per} mujeres)",
        "fr": "Rapport de masculinité (hommes pour {per} femmes)",
        "nl": "Geslachtsverhouding (mannen per {per} vrouwen)",
    }
)
DEPENDENCY_RATIO = Text.of(
    {
        "en": "Dependency ratio (under 15 or 65 and over, per {per} aged 15 to 64)",
        "es": "Razón de dependencia (menores de 15 o de 65 y más, por cada {per} de 15 a 64)",
        "fr": "Rapport de dépendance (moins de 15 ans ou 65 ans et plus, pour {per} de 15 à 64"
        " ans)",
        "nl": "Demografische druk (jonger dan 15 of 65 en ouder, per {per} van 15 tot en met 64)",
    }
)
PER = Text.of({"en": "Per {per}", "es": "Por cada {per}", "fr": "Pour {per}", "nl": "Per {per}"})
DISTRIBUTION = Text.of(
    {
        "en": "{above}, percent",
        "es": "{above}, por ciento",
        "fr": "{above}, pour cent",
        "nl": "{above}, procent",
    }
)
MEDIAN = Text.of(
    {
        "en": "Median of {above}",
        "es": "Mediana de {above}",
        "fr": "Médiane\u202f: {above}",
        "nl": "Mediaan van {above}",
    }
)
MEAN = Text.of(
    {
        "en": "Mean of {above}",
        "es": "Media de {above}",
        "fr": "Moyenne\u202f: {above}",
        "nl": "Gemiddelde van {above}",
    }
)


def filled(
    text: Text,
    *,
    above: Mapping[str, str] | None = None,
    below: Mapping[str, str] | None = None,
    per: int = 0,
) -> Text:
    """A text with what it is about, in every language.

    Args:
        text: The text with its places.
        above, below: What is counted, and of what, by language.
        per: Per how many.
    """
    made = {}
    for language in LANGUAGES:
        made[language] = text.show(language).format(
            above=(above or {}).get(language, ""),
            below=(below or {}).get(language, ""),
            per=number_text(per, language),
        )
    return Text.of(made)
