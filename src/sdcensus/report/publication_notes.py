"""What readers of a publication should know, in plain words: a page for each language. Public.

Everything on it follows from what is published. It names no parameter of the method, no limit of
a change, no chance: whoever reads it learns how to use the numbers, not how to undo them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sdcensus.model.headings import number_text
from sdcensus.model.marks import Mark
from sdcensus.model.text import Text
from sdcensus.report.page import Html, bullets, contents, page, section, table
from sdcensus.report.publication_files import links

#: The languages in which the page is written.
LANGUAGES = ("en", "es")


@dataclass(frozen=True, slots=True, kw_only=True)
class NotedTable:
    """A published table, for the list at the end of the page."""

    name: str
    title: Text
    cells: int
    files: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PublicationNotes:
    """What the page is made of. Public.

    Attributes:
        census: The census.
        office, legal_basis, contact: Who publishes, by which law, and where to ask.
        date: The date of the publication.
        tables: Everything that is published.
        example: A total that is not the sum of its parts, told by one of the tables.
        signs: The marks that stand in the tables, with the signs for them.
        adds_up: Whether the totals of all tables are the sums of their parts.
        consistent: Whether a group has the same number in all tables.
        zeros: What a published 0 means: ``true`` for nobody, ``hides`` for nobody or a few,
            ``grows`` where a small number can mean nobody as well.
    """

    census: str
    office: Text
    legal_basis: Text
    contact: str
    date: str
    tables: tuple[NotedTable, ...]
    example: Text = Text()
    signs: tuple[tuple[Mark, str], ...] = ()
    adds_up: bool = False
    consistent: bool = True
    zeros: str = "hides"


def notes_pages(notes: PublicationNotes, languages: Sequence[str]) -> dict[str, bytes]:
    """The page in every language that is asked for and that we write, by the name of its file."""
    chosen = [one for one in languages if one in LANGUAGES] or ["en"]
    if len(chosen) == 1:
        return {"notes.html": _page(notes, chosen[0]).encode("utf-8")}
    return {f"notes.{one}.html": _page(notes, one).encode("utf-8") for one in chosen}


def _page(notes: PublicationNotes, language: str) -> str:
    words = _WORDS[language]
    parts: dict[str, list[str]] = {
        words["everybody"]: [bullets(_everybody(notes, language))],
        words["users"]: _users(notes, language),
        words["researchers"]: [bullets(_researchers(notes, language))],
    }
    if notes.signs:
        signs = [[sign, mark.meaning.show(language)] for mark, sign in notes.signs]
        head = [words["sign"], words["meaning"]]
        parts[words["signs"]] = [table(words["these signs"], head, signs, words=2)]
    law = [notes.legal_basis.show(language)] if notes.legal_basis else []
    law += [f"{words['contact']}: {notes.contact}"] if notes.contact else []
    if law:
        parts[words["law"]] = [bullets(law)]
    parts[words["tables"]] = [_tables(notes, language)]
    facts = [notes.office.show(language), notes.census, notes.date]
    return page(
        words["title"],
        contents(*parts),
        *(section(title, *content) for title, content in parts.items()),
        facts=" · ".join(one for one in facts if one),
        lead=words["lead"],
        stamp=None,
        language=language,
    )


def _everybody(notes: PublicationNotes, language: str) -> list[str]:
    said = _EVERYBODY[language]
    return [said["secret"], f"{said['large']} {said[notes.zeros]}", said[_same(notes)]]


def _users(notes: PublicationNotes, language: str) -> list[str]:
    said = _USERS[language]
    if notes.adds_up:
        return [bullets([said["adds up"], *said["always"]])]
    told: list[str] = [bullets([*said["sums"], *said["always"]])]
    if notes.example:
        example = section(_WORDS[language]["example"], notes.example.show(language), level=3)
        told.append(example)
    return told


def _researchers(notes: PublicationNotes, language: str) -> list[str]:
    said = _RESEARCHERS[language]
    return [*said[_same(notes)], *said["always"]]


def _same(notes: PublicationNotes) -> str:
    return "same" if notes.consistent else "other"


def _tables(notes: PublicationNotes, language: str) -> Html:
    words = _WORDS[language]
    rows: list[list[str]] = []
    for one in notes.tables:
        title = one.title.show(language) or one.name
        cells = number_text(one.cells, language)
        rows.append([one.name, title, links(one.name, one.files), cells])
    head = [words["table"], words["shows"], words["files"], words["cells"]]
    return table(words["all"], head, rows, words=3, wrapped=True)


_WORDS: Mapping[str, Mapping[str, str]] = {
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
}
_EVERYBODY: Mapping[str, Mapping[str, str]] = {
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
}
_USERS: Mapping[str, Mapping[str, Any]] = {
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
}
_RESEARCHERS: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "en": {
        "same": (
            "How a number was changed depends only on the people who are counted: the same group"
            " has the same published number in every table and in every re-run. Repeating a"
            " question therefore teaches nothing new.",
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
            "Cómo se modificó un número depende solo de las personas que se cuentan: el mismo grupo"
            " tiene el mismo número publicado en todas las tablas y en toda repetición. Repetir una"
            " pregunta no enseña nada nuevo.",
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
}
