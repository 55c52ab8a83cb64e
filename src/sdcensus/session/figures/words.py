"""Words about figures that are computed from published counts, in every language."""

from __future__ import annotations

from sdcensus.model.text import Text

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
