"""What figures that are computed from published counts are called, in every language.

For plans, the table builder and commands alike.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from sdcensus.model.quantities import number_text
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.headings import (
    joined_in_title,
    universe_text,
    variable_heading,
)
from sdcensus.model.spec.universe import Universe
from sdcensus.model.text import LANGUAGES, Text

COMPUTED = Text.of(
    {
        "en": "The figures of this table were computed from published counts, which are protected."
        " Figures in brackets rest on small counts and are of low reliability.",
        "es": "Las cifras de esta tabla se calcularon con recuentos publicados, que están"
        " protegidos. Las cifras entre paréntesis se basan en recuentos pequeños y son de baja"
        " fiabilidad.",
        "fr": "Les chiffres de ce tableau ont été calculés à partir d’effectifs publiés, qui sont"
        " protégés. Les chiffres entre parenthèses reposent sur de petits effectifs et sont peu"
        " fiables.",
        "nl": "De cijfers van deze tabel zijn berekend uit gepubliceerde aantallen, die beschermd"
        " zijn. Cijfers tussen haakjes berusten op kleine aantallen en zijn weinig betrouwbaar.",
    }
)
OPEN_CLASS = Text.of(
    {
        "en": "A class without an end counts with its lowest value.",
        "es": "Una clase sin límite superior cuenta con su valor más bajo.",
        "fr": "Une classe sans limite supérieure compte pour sa valeur la plus basse.",
        "nl": "Een klasse zonder bovengrens telt mee met haar laagste waarde.",
    }
)
PERCENT = Text.of({"en": "Percent", "es": "Por ciento", "fr": "Pour cent", "nl": "Procent"})
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


def share_words(above: Universe, below: Universe) -> Text:
    """What a share is: of whom, the percentage of whom."""
    if below.everything:
        return SHARE.filled(above=_condition(above))
    return SHARE_OF.filled(above=_condition(above), below=_condition(below))


def ratio_words(above: Universe, below: Universe, per: int) -> Text:
    """What a ratio is: how many of whom per so many of whom."""
    return RATIO.filled(above=_condition(above), below=_condition(below), per=_number(per))


def per_words(words: Text, per: int) -> Text:
    """What a ratio with a name of its own is, or what ratios are given per."""
    return words.filled(per=_number(per))


def variable_words(words: Text, variable: Variable) -> Text:
    """What a figure of a variable is."""
    return words.filled(above={each: variable_heading(variable, each) for each in LANGUAGES})


def figure_title(
    words: Text, headings: Callable[[str], Sequence[str]], condition: Text = Text()
) -> Text:
    """What is computed, for which groups, and for whom.

    Args:
        words: What is computed.
        headings: What its axes are called in a language.
        condition: For whom; empty for everybody.
    """
    titles = {}
    for language, text in words.by_language:
        axes = list(headings(language))
        by = f" {BY.show(language)} {joined_in_title(axes, language)}" if axes else ""
        whom = condition.show(language)
        titles[language] = f"{text}{by}. {whom}" if whom else f"{text}{by}"
    return Text.of(titles)


def condition_words(universe: Universe) -> Text:
    """For whom a figure is, in words; empty for everybody."""
    return Text.of(_condition(universe))


def _condition(universe: Universe) -> dict[str, str]:
    return {language: universe_text(universe, language) for language in LANGUAGES}


def _number(number: int) -> dict[str, str]:
    return {language: number_text(number, language) for language in LANGUAGES}
