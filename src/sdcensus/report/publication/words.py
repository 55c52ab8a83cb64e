"""The words of the page for readers of a publication, in every language of the product."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

WORDS: Mapping[str, Mapping[str, str]] = {
    "en": {
        "title": "How to read these tables",
        "lead": "The numbers in these tables are protected: some were changed a little before"
        " publication, so that nobody who answered the census can be recognised. They are meant"
        " for statistics, and are good for that.",
        "everybody": "For everybody",
        "users": "For people who use the data",
        "researchers": "For researchers",
        "example": "An example from one of these tables",
        "signs": "Signs",
        "these signs": "Signs in the tables, instead of a number or beside one",
        "all": "Everything that is published",
        "sign": "sign",
        "meaning": "meaning",
        "law": "Legal basis and contact",
        "contact": "Questions",
        "tables": "The tables",
        "table": "table",
        "shows": "what it shows",
        "cells": "cells",
        "files": "files",
    },
    "es": {
        "title": "Cómo leer estas tablas",
        "lead": "Los números de estas tablas están protegidos: algunos se modificaron un poco antes"
        " de publicarlos, para que nadie que respondió al censo pueda ser reconocido. Sirven para"
        " la estadística, y sirven bien.",
        "everybody": "Para todo el mundo",
        "users": "Para quienes usan los datos",
        "researchers": "Para la investigación",
        "example": "Un ejemplo de una de estas tablas",
        "signs": "Signos",
        "these signs": "Signos en las tablas, en lugar de un número o junto a uno",
        "all": "Todo lo que se publica",
        "sign": "signo",
        "meaning": "significado",
        "law": "Base legal y contacto",
        "contact": "Consultas",
        "tables": "Las tablas",
        "table": "tabla",
        "shows": "qué muestra",
        "cells": "celdas",
        "files": "archivos",
    },
    "fr": {
        "title": "Comment lire ces tableaux",
        "lead": "Les nombres de ces tableaux sont protégés\u202f: certains ont été légèrement"
        " modifiés avant la publication, afin que personne ayant répondu au recensement ne puisse"
        " être reconnu. Ils sont destinés à la statistique, et s’y prêtent bien.",
        "everybody": "Pour tout le monde",
        "users": "Pour les personnes qui utilisent les données",
        "researchers": "Pour la recherche",
        "example": "Un exemple tiré de l’un de ces tableaux",
        "signs": "Signes",
        "these signs": "Signes dans les tableaux, à la place d’un nombre ou à côté de lui",
        "all": "Tout ce qui est publié",
        "sign": "signe",
        "meaning": "signification",
        "law": "Base légale et contact",
        "contact": "Questions",
        "tables": "Les tableaux",
        "table": "tableau",
        "shows": "ce qu’il montre",
        "cells": "cases",
        "files": "fichiers",
    },
    "nl": {
        "title": "Hoe deze tabellen te lezen",
        "lead": "De getallen in deze tabellen zijn beschermd: sommige zijn vóór publicatie iets"
        " gewijzigd, zodat niemand die aan de telling heeft meegedaan kan worden herkend. Ze zijn"
        " bedoeld voor statistiek, en daar zijn ze goed voor.",
        "everybody": "Voor iedereen",
        "users": "Voor wie de gegevens gebruikt",
        "researchers": "Voor onderzoekers",
        "example": "Een voorbeeld uit een van deze tabellen",
        "signs": "Tekens",
        "these signs": "Tekens in de tabellen, in plaats van een getal of ernaast",
        "all": "Alles wat is gepubliceerd",
        "sign": "teken",
        "meaning": "betekenis",
        "law": "Wettelijke grondslag en contact",
        "contact": "Vragen",
        "tables": "De tabellen",
        "table": "tabel",
        "shows": "wat ze toont",
        "cells": "cellen",
        "files": "bestanden",
    },
}
EVERYBODY: Mapping[str, Mapping[str, str]] = {
    "en": {
        "secret": "What people told the census stays secret. That is why numbers are changed a"
        " little.",
        "large": "Large numbers tell the truth well. Of a small number, do not believe the last"
        " digit.",
        "true": "A 0 means nobody.",
        "hides": "A 0 can mean a few or nobody.",
        "grows": "A 0 can mean a few or nobody, and a small number can mean nobody.",
        "same": "A group has the same number in every table in which it stands.",
        "other": "A group can have slightly different numbers in different tables.",
    },
    "es": {
        "secret": "Lo que la gente contó al censo es secreto. Por eso los números se modifican un"
        " poco.",
        "large": "Los números grandes dicen bien la verdad. De un número pequeño, no confíe en la"
        " última cifra.",
        "true": "Un 0 significa nadie.",
        "hides": "Un 0 puede significar unos pocos o nadie.",
        "grows": "Un 0 puede significar unos pocos o nadie, y un número pequeño puede significar"
        " nadie.",
        "same": "Un grupo tiene el mismo número en todas las tablas en las que aparece.",
        "other": "Un grupo puede tener números algo distintos en tablas distintas.",
    },
    "fr": {
        "secret": "Ce que les gens ont déclaré au recensement reste secret. C’est pourquoi les"
        " nombres sont légèrement modifiés.",
        "large": "Les grands nombres disent bien la vérité. D’un petit nombre, ne croyez pas le"
        " dernier chiffre.",
        "true": "Un 0 signifie personne.",
        "hides": "Un 0 peut signifier quelques personnes ou personne.",
        "grows": "Un 0 peut signifier quelques personnes ou personne, et un petit nombre peut"
        " signifier personne.",
        "same": "Un groupe a le même nombre dans tous les tableaux où il figure.",
        "other": "Un groupe peut avoir des nombres un peu différents dans des tableaux différents.",
    },
    "nl": {
        "secret": "Wat mensen bij de telling hebben verteld, blijft geheim. Daarom worden getallen"
        " iets gewijzigd.",
        "large": "Grote getallen geven de werkelijkheid goed weer. Vertrouw bij een klein getal"
        " niet op het laatste cijfer.",
        "true": "Een 0 betekent niemand.",
        "hides": "Een 0 kan enkelen of niemand betekenen.",
        "grows": "Een 0 kan enkelen of niemand betekenen, en een klein getal kan niemand"
        " betekenen.",
        "same": "Een groep heeft hetzelfde getal in elke tabel waarin ze voorkomt.",
        "other": "Een groep kan in verschillende tabellen iets verschillende getallen hebben.",
    },
}
USERS: Mapping[str, Mapping[str, Any]] = {
    "en": {
        "adds up": "In these tables every total is the sum of its parts.",
        "sums": (
            "Totals are published on their own. They are not always the sums of their parts,"
            " because every number was changed by itself; none of them is a mistake.",
            "Use a published total rather than a sum of your own: a sum of many numbers collects"
            " the changes of all of them, a published total has only one.",
            "For a group that is not in the tables, add up as few published numbers as possible.",
        ),
        "always": (
            "Do not draw conclusions from small differences between numbers, or between tables.",
            "Shares and ratios were computed from published numbers. In brackets they rest on"
            " small numbers and are of low reliability.",
        ),
    },
    "es": {
        "adds up": "En estas tablas cada total es la suma de sus partes.",
        "sums": (
            "Los totales se publican por sí mismos. No siempre son la suma de sus partes, porque"
            " cada número se modificó por separado; ninguno es un error.",
            "Use un total publicado en lugar de una suma propia: una suma de muchos números acumula"
            " los cambios de todos, un total publicado tiene uno solo.",
            "Para un grupo que no está en las tablas, sume los menos números publicados posible.",
        ),
        "always": (
            "No saque conclusiones de pequeñas diferencias entre números o entre tablas.",
            "Las proporciones y razones se calcularon con números publicados. Entre paréntesis se"
            " basan en números pequeños y son de baja fiabilidad.",
        ),
    },
    "fr": {
        "adds up": "Dans ces tableaux, chaque total est la somme de ses parties.",
        "sums": (
            "Les totaux sont publiés pour eux-mêmes. Ils ne sont pas toujours la somme de leurs"
            " parties, car chaque nombre a été modifié séparément\u202f; aucun n’est une erreur.",
            "Utilisez un total publié plutôt que votre propre somme\u202f: une somme de nombreux"
            " nombres accumule les modifications de tous, un total publié n’en a qu’une.",
            "Pour un groupe qui ne figure pas dans les tableaux, additionnez aussi peu de nombres"
            " publiés que possible.",
        ),
        "always": (
            "Ne tirez pas de conclusions de petites différences entre nombres ou entre tableaux.",
            "Les parts et les rapports ont été calculés à partir de nombres publiés. Entre"
            " parenthèses, ils reposent sur de petits nombres et sont peu fiables.",
        ),
    },
    "nl": {
        "adds up": "In deze tabellen is elk totaal de som van zijn delen.",
        "sums": (
            "Totalen worden op zichzelf gepubliceerd. Ze zijn niet altijd de som van hun delen,"
            " omdat elk getal afzonderlijk is gewijzigd; geen ervan is een fout.",
            "Gebruik een gepubliceerd totaal in plaats van een eigen som: een som van veel getallen"
            " verzamelt de wijzigingen van al die getallen, een gepubliceerd totaal heeft er maar"
            " één.",
            "Tel voor een groep die niet in de tabellen staat zo weinig mogelijk gepubliceerde"
            " getallen op.",
        ),
        "always": (
            "Trek geen conclusies uit kleine verschillen tussen getallen of tussen tabellen.",
            "Aandelen en verhoudingen zijn berekend uit gepubliceerde getallen. Tussen haakjes"
            " berusten ze op kleine getallen en zijn ze weinig betrouwbaar.",
        ),
    },
}
RESEARCHERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "en": {
        "same": (
            "The same question has the same published number in every table and in every re-run, so"
            " repeating it teaches nothing new. Groups that are described differently can be"
            " changed differently, even if they happen to be the same people.",
        ),
        "other": (
            "The same table has the same numbers in every re-run. A group that stands in several"
            " tables can have slightly different numbers there.",
        ),
        "always": (
            "How large changes are, and how often they happen, is not published: it would help to"
            " undo them. Treat every count as measured with a small error of its own.",
            "Models should not rest on single small cells. Coarser areas or fewer categories give"
            " more reliable estimates than many small cells.",
            "The method, the version of the data and a fingerprint of the parameters stand beside"
            " every table, so that two publications can be compared. manifest.json holds a digest"
            " of every file.",
            "For research that these tables cannot serve, ask the office about microdata.",
        ),
    },
    "es": {
        "same": (
            "La misma pregunta tiene el mismo número publicado en todas las tablas y en toda"
            " repetición; repetirla no enseña nada nuevo. Los grupos descritos de otro modo pueden"
            " modificarse de otro modo, aunque resulten ser las mismas personas.",
        ),
        "other": (
            "La misma tabla tiene los mismos números en toda repetición. Un grupo que aparece en"
            " varias tablas puede tener en ellas números algo distintos.",
        ),
        "always": (
            "Cuán grandes y frecuentes son los cambios no se publica: ayudaría a deshacerlos. Trate"
            " cada recuento como medido con un pequeño error propio.",
            "Los modelos no deberían basarse en celdas pequeñas aisladas. Zonas mayores o menos"
            " categorías dan estimaciones más fiables que muchas celdas pequeñas.",
            "El método, la versión de los datos y una huella de los parámetros acompañan a cada"
            " tabla, para poder comparar dos publicaciones. Los archivos se comprueban con"
            " manifest.json.",
            "Para investigaciones a las que estas tablas no sirven, consulte a la oficina sobre"
            " microdatos.",
        ),
    },
    "fr": {
        "same": (
            "Une même question a le même nombre publié dans tous les tableaux et à chaque nouvelle"
            " exécution\u202f; la répéter n’apprend rien de nouveau. Des groupes décrits autrement"
            " peuvent être modifiés autrement, même s’il s’agit des mêmes personnes.",
        ),
        "other": (
            "Un même tableau a les mêmes nombres à chaque nouvelle exécution. Un groupe qui figure"
            " dans plusieurs tableaux peut y avoir des nombres un peu différents.",
        ),
        "always": (
            "L’ampleur et la fréquence des modifications ne sont pas publiées\u202f: cela aiderait"
            " à les défaire. Traitez chaque effectif comme mesuré avec une petite erreur propre.",
            "Les modèles ne devraient pas reposer sur de petites cases isolées. Des zones plus"
            " grandes ou moins de catégories donnent des estimations plus fiables que de"
            " nombreuses petites cases.",
            "La méthode, la version des données et une empreinte des paramètres accompagnent chaque"
            " tableau, afin que deux publications puissent être comparées. manifest.json contient"
            " une empreinte de chaque fichier.",
            "Pour des recherches auxquelles ces tableaux ne suffisent pas, renseignez-vous auprès"
            " de l’office au sujet des microdonnées.",
        ),
    },
    "nl": {
        "same": (
            "Dezelfde vraag heeft hetzelfde gepubliceerde getal in elke tabel en bij elke"
            " herhaling; haar herhalen levert niets nieuws op. Groepen die anders zijn omschreven"
            " kunnen anders gewijzigd zijn, ook als het toevallig dezelfde mensen zijn.",
        ),
        "other": (
            "Dezelfde tabel heeft bij elke herhaling dezelfde getallen. Een groep die in meer"
            " tabellen voorkomt, kan daar iets verschillende getallen hebben.",
        ),
        "always": (
            "Hoe groot wijzigingen zijn en hoe vaak ze voorkomen, wordt niet gepubliceerd: het zou"
            " helpen om ze ongedaan te maken. Behandel elk aantal als gemeten met een kleine eigen"
            " fout.",
            "Modellen horen niet op afzonderlijke kleine cellen te berusten. Grotere gebieden of"
            " minder categorieën geven betrouwbaardere schattingen dan veel kleine cellen.",
            "De methode, de versie van de gegevens en een vingerafdruk van de parameters staan bij"
            " elke tabel, zodat twee publicaties te vergelijken zijn. manifest.json bevat een"
            " controlegetal van elk bestand.",
            "Vraag het bureau naar microdata voor onderzoek waarvoor deze tabellen niet voldoen.",
        ),
    },
}
