"""What computed figures are called, in every language of the product."""

from __future__ import annotations

from sdcensus.model.quantities import number_text
from sdcensus.model.schema.variable import Variable
from sdcensus.model.spec.headings import joined_in_title, universe_text, variable_heading
from sdcensus.model.spec.universe import Universe
from sdcensus.model.text import Text

#: The title that a user gave: the first characters are ours, so that nobody takes it for a title
#: of the office, and no cell of a spreadsheet starts with what a user wrote.
OWN_TITLE = {
    "en": "Own table: {title}",
    "es": "Tabla propia: {title}",
    "fr": "Tableau personnel\u202f: {title}",
    "nl": "Eigen tabel: {title}",
}
_PER = {"en": "Per {per}", "es": "Por cada {per}", "fr": "Pour {per}", "nl": "Per {per}"}
_SHARE = {
    "en": ("Percentage ({above})", "Percentage ({above}, of: {below})"),
    "es": ("Porcentaje ({above})", "Porcentaje ({above}, de: {below})"),
    "fr": ("Pourcentage ({above})", "Pourcentage ({above}, parmi\u202f: {below})"),
    "nl": ("Percentage ({above})", "Percentage ({above}, van: {below})"),
}
_RATIO = {
    "en": "Ratio ({above}, per {per} of: {below})",
    "es": "Razón ({above}, por cada {per} de: {below})",
    "fr": "Rapport ({above}, pour {per} de\u202f: {below})",
    "nl": "Verhouding ({above}, per {per} van: {below})",
}
SEX_RATIO = {
    "en": "Sex ratio (men per {per} women)",
    "es": "Razón de sexos (hombres por cada {per} mujeres)",
    "fr": "Rapport de masculinité (hommes pour {per} femmes)",
    "nl": "Geslachtsverhouding (mannen per {per} vrouwen)",
}
DEPENDENCY_RATIO = {
    "en": "Dependency ratio (under 15 or 65 and over, per {per} aged 15 to 64)",
    "es": "Razón de dependencia (menores de 15 o de 65 y más, por cada {per} de 15 a 64)",
    "fr": "Rapport de dépendance (moins de 15 ans ou 65 ans et plus, pour {per} de 15 à 64 ans)",
    "nl": "Demografische druk (jonger dan 15 of 65 en ouder, per {per} van 15 tot en met 64)",
}
_MIDDLE = {
    "mean": {
        "en": "Mean of {name}",
        "es": "Media de {name}",
        "fr": "Moyenne\u202f: {name}",
        "nl": "Gemiddelde van {name}",
    },
    "median": {
        "en": "Median of {name}",
        "es": "Mediana de {name}",
        "fr": "Médiane\u202f: {name}",
        "nl": "Mediaan van {name}",
    },
    "median-age": {
        "en": "Median age",
        "es": "Edad mediana",
        "fr": "Âge médian",
        "nl": "Mediane leeftijd",
    },
}
_BY = {"en": "by", "es": "por", "fr": "par", "nl": "naar"}


def per_text(per: int) -> Text:
    """What a ratio is given per, as a unit."""
    return Text.of({one: text.format(per=number_text(per, one)) for one, text in _PER.items()})


def named_words(words: dict[str, str], per: int) -> Text:
    """What a ratio with a name of its own is."""
    return Text.of({one: text.format(per=number_text(per, one)) for one, text in words.items()})


def share_words(above: Universe, below: Universe) -> Text:
    """What a share is: of whom, the percentage of whom."""
    made = {}
    for language, (alone, both) in _SHARE.items():
        first, second = (universe_text(one, language) for one in (above, below))
        made[language] = (both if second else alone).format(above=first, below=second)
    return Text.of(made)


def ratio_words(above: Universe, below: Universe, per: int) -> Text:
    """What a ratio is: how many of whom per so many of whom."""
    made = {}
    for language, text in _RATIO.items():
        first, second = (universe_text(one, language) for one in (above, below))
        made[language] = text.format(above=first, below=second, per=number_text(per, language))
    return Text.of(made)


def middle_words(kind: str, variable: Variable) -> Text:
    """What a mean or median is of."""
    texts = _MIDDLE[kind].items()
    return Text.of({one: text.format(name=variable_heading(variable, one)) for one, text in texts})


def figures_title(words: Text, labels: list[Text], condition: Text) -> Text:
    """What is computed, for which groups, and for whom."""
    made = {}
    for language, text in words.by_language:
        axes = joined_in_title([one.show(language) for one in labels], language)
        by = f" {_BY.get(language, _BY['en'])} {axes}" if labels else ""
        whom = condition.show(language)
        made[language] = f"{text}{by}. {whom}" if whom else f"{text}{by}"
    return Text.of(made)


def own_title(title: str) -> Text:
    """The title that a user gave a table."""
    return Text.of({one: text.format(title=title) for one, text in OWN_TITLE.items()})
