"""What readers of a publication should know, in plain words: a page for each language. Public.

Everything on it follows from what is published. It names no parameter of the method, no limit of
a change, no chance: whoever reads it learns how to use the numbers, not how to undo them.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from sdcensus.model.published.table import Mark
from sdcensus.model.published.table_format import all_formats
from sdcensus.model.quantities import number_text
from sdcensus.model.text import LANGUAGES, Text, catalogue, lines
from sdcensus.report.page import Html, bullets, contents, link, page, section, table


def links(name: str, files: Iterable[str], before: str = "") -> Html:
    """Links to the files of a table, named by what is different: their endings.

    Args:
        name: The table.
        files: Its files.
        before: The way to the folder in which they lie.

    Examples:
        >>> links("ages", ["ages.csv", "ages.about.json"])
        '<a href="ages.csv">csv</a>'
    """
    # Files that only programs read stand beside another one.
    beside = tuple(ending for table_format in all_formats() for ending in table_format.endings[1:])
    shown = [file for file in files if not file.endswith(beside)]
    return Html(
        " ".join(link(file[len(name) :].lstrip("."), before + quote(file)) for file in shown)
    )


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
        groups: Which groups are not broken down further, if there is a rule for that.
        records: What was done to records before they were counted; nothing where nothing was.
    """

    census: Text
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
    groups: Text = Text()
    records: tuple[Text, ...] = ()


def notes_pages(notes: PublicationNotes, languages: Sequence[str]) -> dict[str, bytes]:
    """The page in every language that is asked for and that we write, by the name of its file."""
    chosen = [language for language in languages if language in LANGUAGES] or ["en"]
    if len(chosen) == 1:
        return {"notes.html": _page(notes, chosen[0]).encode("utf-8")}
    return {f"notes.{language}.html": _page(notes, language).encode("utf-8") for language in chosen}


def _page(notes: PublicationNotes, language: str) -> str:
    words = catalogue("publication", language)
    parts: dict[str, list[str]] = {
        words["everybody"]: [bullets(_everybody(notes, language))],
        words["users"]: _users(notes, language),
        words["researchers"]: [bullets(_researchers(notes, language))],
    }
    if notes.signs:
        signs = [[sign, mark.meaning.show(language)] for mark, sign in notes.signs]
        head = [words["sign"], words["meaning"]]
        parts[words["signs"]] = [table(words["these_signs"], head, signs, words=2)]
    law = [notes.legal_basis.show(language)] if notes.legal_basis else []
    law += [f"{words['contact']}: {notes.contact}"] if notes.contact else []
    if law:
        parts[words["law"]] = [bullets(law)]
    parts[words["tables"]] = [_tables(notes, language)]
    facts = [notes.office.show(language), notes.census.show(language), notes.date]
    return page(
        words["title"],
        contents(*parts, language=language),
        *(section(title, *content) for title, content in parts.items()),
        facts=" · ".join(fact for fact in facts if fact),
        lead=words["lead"],
        stamp=None,
        language=language,
    )


def _everybody(notes: PublicationNotes, language: str) -> list[str]:
    words = catalogue("publication", language)
    secret, large, zeros, same = (
        words[f"for_everybody.{key}"] for key in ("secret", "large", notes.zeros, _same(notes))
    )
    groups = [notes.groups.show(language)] if notes.groups else []
    records = [note.show(language) for note in notes.records]
    return [secret, *records, f"{large} {zeros}", same, *groups]


def _users(notes: PublicationNotes, language: str) -> list[str]:
    words = catalogue("publication", language)
    always = lines(words, "for_users.always")
    if notes.adds_up:
        return [bullets([words["for_users.adds_up"], *always])]
    advice: list[str] = [bullets([*lines(words, "for_users.sums"), *always])]
    if notes.example:
        advice.append(section(words["example"], notes.example.show(language), level=3))
    return advice


def _researchers(notes: PublicationNotes, language: str) -> list[str]:
    words = catalogue("publication", language)
    parts = (_same(notes), "always")
    return [line for part in parts for line in lines(words, f"for_researchers.{part}")]


def _same(notes: PublicationNotes) -> str:
    return "same" if notes.consistent else "other"


def _tables(notes: PublicationNotes, language: str) -> Html:
    words = catalogue("publication", language)
    rows: list[list[str]] = []
    for noted_table in notes.tables:
        title = noted_table.title.show(language) or noted_table.name
        cells = number_text(noted_table.cells, language)
        rows.append([noted_table.name, title, links(noted_table.name, noted_table.files), cells])
    head = [words["table"], words["shows"], words["files"], words["cells"]]
    return table(words["all"], head, rows, words=3, wrapped=True)
