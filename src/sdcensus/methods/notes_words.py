"""The sentences of notes for readers of a published table, in every language of the product."""

from __future__ import annotations

from sdcensus.model.text import Text

PROTECTED = Text.of(
    {
        "en": "The values of this table are protected: small changes were made before publication,"
        " to protect those who are counted. Do not draw conclusions from small values or from"
        " small differences between values.",
        "es": "Los valores de esta tabla están protegidos: antes de publicarlos se hicieron"
        " pequeños cambios para proteger a quienes se cuenta. No saque conclusiones de valores"
        " pequeños ni de pequeñas diferencias entre valores.",
        "fr": "Les valeurs de ce tableau sont protégées\u202f: de petites modifications ont été"
        " apportées avant la publication pour protéger les personnes recensées. Ne tirez"
        " pas de conclusions de petites valeurs ni de petites différences entre valeurs.",
        "nl": "De waarden van deze tabel zijn beschermd: vóór publicatie zijn kleine"
        " wijzigingen aangebracht om de getelde personen te beschermen. Trek geen"
        " conclusies uit kleine waarden of uit kleine verschillen tussen waarden.",
    }
)
ZEROS = Text.of(
    {
        "en": "A published 0 can mean none, or a small number.",
        "es": "Un 0 publicado puede significar ninguno, o un número pequeño.",
        "fr": "Un 0 publié peut signifier aucun, ou un petit nombre.",
        "nl": "Een gepubliceerde 0 kan geen enkele betekenen, of een klein aantal.",
    }
)
TRUE_ZEROS = Text.of(
    {
        "en": "A published 0 means none.",
        "es": "Un 0 publicado significa ninguno.",
        "fr": "Un 0 publié signifie aucun.",
        "nl": "Een gepubliceerde 0 betekent geen enkele.",
    }
)
ZEROS_GROW = Text.of(
    {
        "en": "A published 0 can mean none, or a small number; a small published value can mean"
        " none.",
        "es": "Un 0 publicado puede significar ninguno, o un número pequeño; un valor publicado"
        " pequeño puede significar ninguno.",
        "fr": "Un 0 publié peut signifier aucun, ou un petit nombre\u202f; une petite valeur"
        " publiée peut signifier aucun.",
        "nl": "Een gepubliceerde 0 kan geen enkele betekenen, of een klein aantal; een kleine"
        " gepubliceerde waarde kan geen enkele betekenen.",
    }
)
CONSISTENT = Text.of(
    {
        "en": "The same question has the same published value in every table. Groups that are"
        " described differently can have different values, even if they are the same people.",
        "es": "La misma pregunta tiene el mismo valor publicado en todas las tablas. Grupos"
        " descritos de otro modo pueden tener valores distintos, aunque sean las mismas personas.",
        "fr": "Une même question a la même valeur publiée dans tous les tableaux. Des groupes"
        " décrits autrement peuvent avoir des valeurs différentes, même s’il s’agit des mêmes"
        " personnes.",
        "nl": "Dezelfde vraag heeft in elke tabel dezelfde gepubliceerde waarde. Groepen die"
        " anders zijn omschreven kunnen andere waarden hebben, ook als het dezelfde mensen zijn.",
    }
)
INCONSISTENT = Text.of(
    {
        "en": "The same group can have slightly different published values in different tables.",
        "es": "El mismo grupo puede tener valores publicados algo distintos en tablas distintas.",
        "fr": "Un même groupe peut avoir des valeurs publiées un peu différentes dans des"
        " tableaux différents.",
        "nl": "Dezelfde groep kan in verschillende tabellen iets verschillende gepubliceerde"
        " waarden hebben.",
    }
)
ADDS_UP = Text.of(
    {
        "en": "In this table every total is the sum of its parts.",
        "es": "En esta tabla cada total es la suma de sus partes.",
        "fr": "Dans ce tableau, chaque total est la somme de ses parties.",
        "nl": "In deze tabel is elk totaal de som van zijn delen.",
    }
)
SHOWN_ADD_UP = Text.of(
    {
        "en": "Wherever a total and all its parts are shown, the total is the sum of its parts.",
        "es": "Donde se muestran un total y todas sus partes, el total es la suma de sus partes.",
        "fr": "Là où un total et toutes ses parties sont affichés, le total est la somme de ses"
        " parties.",
        "nl": "Waar een totaal en al zijn delen worden getoond, is het totaal de som van zijn"
        " delen.",
    }
)
HAPPENS_TO = Text.of(
    {
        "en": "In this table every total happens to be the sum of its published parts. In other"
        " tables it may not be, because each value was changed on its own. Use published totals"
        " rather than sums of your own.",
        "es": "En esta tabla cada total resulta ser la suma de sus partes publicadas. En otras"
        " tablas puede no serlo, porque cada valor se modificó por separado. Use los totales"
        " publicados en lugar de sumas propias.",
        "fr": "Dans ce tableau, chaque total se trouve être la somme de ses parties publiées."
        " Dans d’autres tableaux, ce n’est pas toujours le cas, car chaque valeur a été"
        " modifiée séparément. Utilisez les totaux publiés plutôt que vos propres sommes.",
        "nl": "In deze tabel is elk totaal toevallig de som van zijn gepubliceerde delen. In"
        " andere tabellen hoeft dat niet zo te zijn, omdat elke waarde afzonderlijk is"
        " gewijzigd. Gebruik gepubliceerde totalen in plaats van eigen sommen.",
    }
)
NOT_ADDITIVE = Text.of(
    {
        "en": "Totals are not always the sums of their published parts, because each value was"
        " changed on its own. Use published totals rather than sums of your own.",
        "es": "Los totales no siempre son la suma de sus partes publicadas, porque cada valor se"
        " modificó por separado. Use los totales publicados en lugar de sumas propias.",
        "fr": "Les totaux ne sont pas toujours la somme de leurs parties publiées, car chaque"
        " valeur a été modifiée séparément. Utilisez les totaux publiés plutôt que vos"
        " propres sommes.",
        "nl": "Totalen zijn niet altijd de som van hun gepubliceerde delen, omdat elke waarde"
        " afzonderlijk is gewijzigd. Gebruik gepubliceerde totalen in plaats van eigen"
        " sommen.",
    }
)
#: The note about sums with an example, and its parts, by language.
WORDS = {
    "en": {
        "listed": "the published values for {parts}",
        "counted": "the {count} published values by {axis}",
        "total": "the published total",
        "value": "the published value for {code}",
        "note": "Totals are not always the sums of their parts. Example{place}: {parts} add up to"
        " {sum}, while {whole} is {total_value}. Each value was changed on its own; none of them is"
        " a mistake. Use the published total rather than a sum of your own.",
    },
    "es": {
        "listed": "los valores publicados de {parts}",
        "counted": "los {count} valores publicados por {axis}",
        "total": "el total publicado",
        "value": "el valor publicado de {code}",
        "note": "Los totales no siempre son la suma de sus partes. Ejemplo{place}: {parts} suman"
        " {sum}, mientras que {whole} es {total_value}. Cada valor se modificó por separado;"
        " ninguno es un error. Use el total publicado en lugar de una suma propia.",
    },
    "fr": {
        "listed": "les valeurs publiées pour {parts}",
        "counted": "les {count} valeurs publiées par {axis}",
        "total": "le total publié",
        "value": "la valeur publiée pour {code}",
        "note": "Les totaux ne sont pas toujours la somme de leurs parties. Exemple{place}\u202f:"
        " {parts} font ensemble {sum}, alors que {whole} est de {total_value}. Chaque valeur a"
        " été modifiée séparément\u202f; aucune n’est une erreur. Utilisez le total publié plutôt"
        " que votre propre somme.",
    },
    "nl": {
        "listed": "de gepubliceerde waarden voor {parts}",
        "counted": "de {count} gepubliceerde waarden naar {axis}",
        "total": "het gepubliceerde totaal",
        "value": "de gepubliceerde waarde voor {code}",
        "note": "Totalen zijn niet altijd de som van hun delen. Voorbeeld{place}: {parts} tellen"
        " samen op tot {sum}, terwijl {whole} {total_value} is. Elke waarde is afzonderlijk"
        " gewijzigd; geen ervan is een fout. Gebruik het gepubliceerde totaal in plaats van een"
        " eigen som.",
    },
}
