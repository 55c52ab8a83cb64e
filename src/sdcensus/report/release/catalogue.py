"""The page of all files for researchers, for the site of the office. Public.

It is one file that no server has to know: a script of a few lines hides what does not hold the
words that somebody types, and without it the page shows everything.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape

from sdcensus.formats.microdata.statistics import may_tell_records
from sdcensus.model.catalogue import FIRST
from sdcensus.model.quantities import number_text
from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.release.release_file import ColumnKind, ReleaseFile
from sdcensus.model.schema.variable import Entity
from sdcensus.model.spec.headings import entity_text
from sdcensus.model.text import Text
from sdcensus.report import page as shell
from sdcensus.report.page import Html
from sdcensus.report.release.languages import language_links
from sdcensus.report.release.tables import say

#: What the file of the page is called.
STEM = "catalogue"


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueEntry:
    """A file as the office's page shows it. Public.

    Attributes:
        name: Its short name.
        title, abstract, census, country, producer, citation: What they say.
        years: The year or years that it is about.
        licence: Who gets it.
        variables: Each with its name, label and kind of unit.
        records: How many records it has, by kind of unit.
        contact: Where to apply.
        apply: How to apply; our words for the class if empty.
        terms, codebook, ddi, removed: Where these papers are, as seen from the page.
        files: Names and places of the records, for files that everybody may take.
        version: Of the file.
    """

    name: str
    title: Text
    licence: LicenceClass
    abstract: Text = Text()
    census: Text = Text()
    country: Text = Text()
    producer: Text = Text()
    citation: Text = Text()
    years: str = ""
    variables: tuple[tuple[str, Text, Entity], ...] = ()
    records: tuple[tuple[Entity, int], ...] = ()
    contact: str = ""
    apply: Text = Text()
    terms: str = ""
    codebook: str = ""
    ddi: str = ""
    removed: str = ""
    files: tuple[tuple[str, str], ...] = field(default=())
    version: str = ""

    @classmethod
    def of(
        cls,
        file: ReleaseFile,
        *,
        terms: str = "",
        codebook: str = "",
        ddi: str = "",
        removed: str = "",
        files: tuple[tuple[str, str], ...] = (),
        apply: Text = Text(),
    ) -> CatalogueEntry:
        """The entry of a file, with the places of its papers."""
        variables = tuple(
            (column.name, column.label, table.entity)
            for table in file.tables
            for column in table.columns
            if column.kind not in (ColumnKind.NUMBER_OF_UNIT, ColumnKind.WEIGHT)
        )
        return cls(
            name=file.name,
            title=file.title or Text.of(file.name),
            licence=file.licence,
            abstract=file.abstract,
            census=file.census,
            country=file.country,
            producer=file.producer,
            citation=file.citation,
            years=file.reference_date[:4],
            variables=variables,
            records=tuple((table.entity, table.rows) for table in file.tables)
            if may_tell_records(file)
            else (),
            contact=file.contact,
            apply=apply,
            terms=terms,
            codebook=codebook,
            ddi=ddi,
            removed=removed,
            files=files,
            version=file.version,
        )


_STYLE = """
.find{display:grid;grid-template-columns:1fr max-content;gap:4px 14px;
align-items:end;margin:18px 0 6px}
.find label{display:block;color:var(--soft);font-size:14px}
.find input,.find select{font:inherit;color:var(--ink);background:var(--paper);padding:7px 10px;
border:1px solid var(--soft);border-radius:6px;width:100%}
.card{border:1px solid var(--line);border-radius:10px;padding:14px 18px;margin:0 0 16px}
.card h2{border:0;margin:0 0 2px;font-size:19px;overflow-wrap:anywhere}
.card .class{display:inline-block;background:var(--accent-soft);border-radius:999px;
padding:1px 11px;font-size:13px;margin:6px 0}
.card dl{display:grid;grid-template-columns:minmax(7em,max-content) 1fr;gap:4px 16px;margin:10px 0}
.card dt{color:var(--soft)}.card dd{margin:0;overflow-wrap:anywhere}
.card ul.papers{display:flex;flex-wrap:wrap;gap:2px 18px;list-style:none;padding:0;margin:8px 0 0}
.card details{margin:6px 0 0}.card .names{columns:2;padding-left:18px;font-size:14px}
.card .names li{break-inside:avoid;overflow-wrap:anywhere}[hidden]{display:none!important}
@media(max-width:760px){.find,.card dl{grid-template-columns:1fr}.card .names{columns:1}
.card dt{margin-top:4px}}
@media print{.find{display:none}.card{break-inside:avoid}.card .names{font-size:10px}}
"""

#: Hides cards and variables that do not hold every typed word; accents and capitals do not count.
_SCRIPT = """
(()=>{const plain=t=>t.normalize("NFD").replace(/[\\u0300-\\u036f]/g,"").toLowerCase();
const find=document.querySelector(".find"),words=find.querySelector("input"),
kind=find.querySelector("select"),said=document.querySelector("#shown");
const cards=[...document.querySelectorAll(".card")].map(card=>({card,text:plain(card.textContent),
names:[...card.querySelectorAll(".names li")].map(item=>({item,text:plain(item.textContent)})),
fold:card.querySelector("details")}));
const show=()=>{const asked=plain(words.value).split(/\\s+/).filter(Boolean);let number=0;
for(const {card,text,names,fold} of cards){
const fits=asked.every(word=>text.includes(word))&&(!kind.value||card.dataset.class===kind.value);
card.hidden=!fits;number+=fits;
const held=names.filter(({text})=>asked.some(word=>text.includes(word)));
for(const {item} of names)item.hidden=held.length>0&&!held.some(one=>one.item===item);
if(fold)fold.open=held.length>0}
said.textContent=said.dataset.words.replace("{n}",number)};
find.hidden=false;words.addEventListener("input",show);kind.addEventListener("change",show)})();
"""


def catalogue_page(
    entries: Sequence[CatalogueEntry],
    language: str | None = None,
    *,
    producer: Text = Text(),
    contact: str = "",
    others: Sequence[str] = (),
) -> str:
    """The page in one language.

    Args:
        entries: The files, in the order of the page.
        language: Of the words.
        producer: The office.
        contact: Where to ask.
        others: Languages in which there is a page beside this one.
    """
    cards = [_card(entry, at, language) for at, entry in enumerate(entries, start=1)]
    content = [
        language_links(STEM, others, language or FIRST),
        *([_find(entries, language)] if len(entries) else []),
        *(cards or [shell.paragraph(say("catalogue.none", language))]),
        *([Html(f"<script>{_SCRIPT}</script>\n")] if cards else []),
    ]
    facts = [producer.show(language), contact]
    return shell.page(
        say("catalogue.title", language),
        *content,
        facts=" · ".join(fact for fact in facts if fact),
        lead=say("catalogue.lead", language),
        stamp=None,
        language=language or FIRST,
        style=_STYLE,
    )


def _find(entries: Sequence[CatalogueEntry], language: str | None) -> Html:
    """Where to type; hidden without the script, which would have to answer."""
    every = [
        licence for licence in LicenceClass if any(each.licence is licence for each in entries)
    ]
    options = "".join(
        f'<option value="{licence.value}">{escape(say(f"class.{licence.value}", language))}'
        "</option>"
        for licence in every
    )
    shown = say("catalogue.shown", language, n="{n}")
    number = shown.replace("{n}", number_text(len(entries), language))
    return Html(
        f'<search class="find" hidden><div><label for="words">'
        f"{escape(say('catalogue.find', language))}</label>"
        f'<input id="words" type="search" autocomplete="off"></div>'
        f'<div><label for="class">{escape(say("catalogue.class", language))}</label>'
        f'<select id="class"><option value="">{escape(say("catalogue.every", language))}</option>'
        f"{options}</select></div></search>\n"
        f'<p id="shown" class="soft" role="status" data-words="{escape(shown)}">'
        f"{escape(number)}</p>\n"
    )


def _card(entry: CatalogueEntry, at: int, language: str | None) -> Html:
    title = entry.title.show(language) or entry.name
    about = " · ".join(
        part
        for part in (
            entry.country.show(language),
            entry.census.show(language),
            entry.years if entry.years not in entry.census.show(language) else "",
        )
        if part
    )
    abstract = entry.abstract.show(language)
    body = [
        f'<article class="card" aria-labelledby="file-{at}" data-class="{entry.licence.value}">',
        f'<h2 id="file-{at}">{escape(title)}</h2>',
        f'<p class="facts">{escape(about)}</p>' if about else "",
        f'<span class="class">{escape(say(f"class.{entry.licence.value}", language))}</span>',
        f"<p>{escape(abstract)}</p>" if abstract else "",
        _fields(entry, language),
        _papers(entry, language),
        _variables(entry, language),
        "</article>\n",
    ]
    return Html("\n".join(part for part in body if part))


def _fields(entry: CatalogueEntry, language: str | None) -> str:
    records = ", ".join(
        f"{number_text(number, language)} {entity_text(entity, language)}"
        for entity, number in entry.records
    )
    apply = entry.apply.show(language) or say(f"catalogue.apply.{entry.licence.value}", language)
    contact = _contact(entry.contact)
    fields = {
        "years": escape(entry.years),
        "records": escape(records),
        "how": f"{escape(apply)}{f' {contact}' if contact else ''}",
        "citation": escape(entry.citation.show(language)),
        "version": escape(entry.version),
    }
    pairs = "".join(
        f"<dt>{escape(say(f'catalogue.{name}', language))}</dt><dd>{text}</dd>"
        for name, text in fields.items()
        if text
    )
    return f"<dl>{pairs}</dl>"


def _contact(contact: str) -> str:
    """An address that a click opens where it is one of mail or of a page."""
    if re.fullmatch(r"[^@\s<>\"]+@[^@\s<>\"]+\.[^@\s<>\"]+", contact):
        return f'<a href="mailto:{escape(contact)}">{escape(contact)}</a>'
    if re.fullmatch(r"https?://[^\s<>\"]+", contact):
        return f'<a href="{escape(contact)}">{escape(contact)}</a>'
    return escape(contact)


def _papers(entry: CatalogueEntry, language: str | None) -> str:
    papers = [
        (say(f"catalogue.{name}", language), target)
        for name in ("terms", "codebook", "ddi", "removed")
        if (target := getattr(entry, name))
    ]
    items = "".join(
        # Cards have the same words; who hears links alone hears whose they are.
        f'<li><a href="{escape(target)}" aria-label="{escape(f"{words}: {entry.name}")}">'
        f"{escape(words)}</a></li>"
        for words, target in (*papers, *entry.files)
    )
    return f'<ul class="papers">{items}</ul>' if items else ""


def _variables(entry: CatalogueEntry, language: str | None) -> str:
    if not entry.variables:
        return ""
    parts = []
    for entity in dict.fromkeys(entity for _, _, entity in entry.variables):
        items = "".join(
            f"<li><code>{escape(name)}</code> {escape(label.show(language))}</li>"
            for name, label, of in entry.variables
            if of is entity
        )
        units = escape(entity_text(entity, language))
        parts.append(f'<p class="soft">{units}</p><ul class="names">{items}</ul>')
    words = say("catalogue.variables", language, n=len(entry.variables))
    return f"<details><summary>{escape(words)}</summary>{''.join(parts)}</details>"
