"""What an answer says of itself beyond the notes of its method, in the languages of the product."""

from __future__ import annotations

from sdcensus.model.text import Text

#: How groups of somebody's own are called, so that nobody takes them for codes of the office. The
#: first characters are ours: what users write never starts a cell of a spreadsheet.
OWN_GROUP = Text.of(
    {
        "en": "Own group: {label}",
        "es": "Grupo propio: {label}",
        "fr": "Groupe personnel\u202f: {label}",
        "nl": "Eigen groep: {label}",
    }
)
#: A code of which the condition chooses a part only.
IN_PART = "{label} *"

SUMS = Text.of(
    {
        "en": "Own groups, and conditions that no single category describes, are sums of published"
        " values. Each added value brings its own small change, so the error of such a figure is"
        " larger: about {factor} times that of a published value in this table. Where a category"
        " of the office fits, use that.",
        "es": "Los grupos propios, y las condiciones que ninguna categoría describe por sí sola,"
        " son sumas de valores publicados. Cada valor sumado aporta su propio pequeño cambio, de"
        " modo que el error de esa cifra es mayor: en esta tabla, unas {factor} veces el de un"
        " valor publicado. Si hay una categoría de la oficina que sirva, utilícela.",
        "fr": "Les groupes personnels, et les conditions qu’aucune catégorie ne décrit à elle"
        " seule, sont des sommes de valeurs publiées. Chaque valeur ajoutée apporte sa propre"
        " petite modification\u202f; l’erreur d’un tel chiffre est donc plus grande\u202f: dans ce"
        " tableau, environ {factor} fois celle d’une valeur publiée. Si une catégorie de l’office"
        " convient, utilisez-la.",
        "nl": "Eigen groepen, en voorwaarden die niet met één categorie te beschrijven zijn, zijn"
        " sommen van gepubliceerde waarden. Elke opgetelde waarde brengt haar eigen kleine"
        " wijziging mee; de fout van zo’n cijfer is dus groter: in deze tabel ongeveer {factor}"
        " keer die van een gepubliceerde waarde. Is er een categorie van het bureau die past,"
        " gebruik dan die.",
    }
)
PARTLY = Text.of(
    {
        "en": "Categories with * hold only what the condition chooses of them.",
        "es": "Las categorías con * contienen solo lo que la condición elige de ellas.",
        "fr": "Les catégories avec * ne contiennent que ce que la condition en retient.",
        "nl": "Categorieën met * bevatten alleen wat de voorwaarde ervan kiest.",
    }
)
LOW_RELIABILITY = Text.of(
    {
        "en": "Figures in brackets are small, and the protection weighs heavily on them: do not"
        " rely on them.",
        "es": "Las cifras entre paréntesis son pequeñas y la protección pesa mucho en ellas: no se"
        " fíe de ellas.",
        "fr": "Les chiffres entre parenthèses sont petits et la protection y pèse lourd\u202f: ne"
        " vous y fiez pas.",
        "nl": "Cijfers tussen haakjes zijn klein en de bescherming weegt er zwaar op: vertrouw er"
        " niet op.",
    }
)
WITHHELD_AREAS = Text.of(
    {
        "en": "{available} of {areas} areas are available; protecting personal data withholds"
        " {withheld}.",
        "es": "Están disponibles {available} de {areas} zonas; sin publicar, para proteger los"
        " datos personales: {withheld}.",
        "fr": "{available} zones sur {areas} sont disponibles\u202f; non publiées pour"
        " protéger les données personnelles\u202f: {withheld}.",
        "nl": "{available} van {areas} gebieden zijn beschikbaar; niet gepubliceerd om"
        " persoonsgegevens te beschermen: {withheld}.",
    }
)
