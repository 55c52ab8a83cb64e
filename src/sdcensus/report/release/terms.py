"""Terms of use by licence class, and the agreement that a licensed user signs.

The words are ours, for an office that has none. An office puts its own in their place by a text
with the same gaps: ``{title}``, ``{producer}``, ``{contact}``, ``{citation}``; that of an agreement
may have those of ``AgreementFields`` as well, such as ``{person}``. An empty line begins a new
paragraph, a line that begins with ``#`` is a heading, one that begins with ``-`` a rule.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape

from sdcensus.errors import SpecError
from sdcensus.model.catalogue import catalogue, lines
from sdcensus.model.release.licence import LicenceClass
from sdcensus.model.release.release_file import ReleaseFile
from sdcensus.model.text import Text
from sdcensus.report import page as shell
from sdcensus.report.page import Html
from sdcensus.report.release.languages import language_links
from sdcensus.report.release.tables import AREA, say

#: What the files of the terms are called.
STEM = "terms"
_GAP = re.compile(r"\{(\w*)\}")


@dataclass(frozen=True, slots=True, kw_only=True)
class TermsFields:
    """What fills the gaps of terms. Public.

    Attributes:
        licence: For whom the file is.
        title: What the file is called.
        producer: The office.
        contact: Where to write.
        citation: How to cite the file.
    """

    licence: LicenceClass
    title: Text
    producer: Text = Text()
    contact: str = ""
    citation: Text = Text()

    @classmethod
    def of(cls, file: ReleaseFile) -> TermsFields:
        """The fields of a file."""
        return cls(
            licence=file.licence,
            title=file.title or Text.of(file.name),
            producer=file.producer,
            contact=file.contact,
            citation=file.citation,
        )

    def shown(self, language: str) -> Mapping[str, str]:
        """What stands in each gap; a gap that nothing fills says what belongs there."""
        texts = {
            "title": self.title.show(language),
            "producer": self.producer.show(language),
            "contact": self.contact,
            "citation": self.citation.show(language),
        }
        return {name: text or say(f"terms.gap.{name}", language) for name, text in texts.items()}


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementFields:
    """What fills an agreement; what is empty is printed as a line to write on.

    Attributes:
        terms: The file and its terms.
        number: The number of the agreement in the office's register.
        person, position, organisation, address, team: Who uses the file.
        project, abstract: What for.
        begins, ends: From when to when; then the file is destroyed.
        file: Which file and version is handed out.
        for_office: Who signs for the office.
    """

    terms: TermsFields
    number: str = ""
    person: str = ""
    position: str = ""
    organisation: str = ""
    address: str = ""
    team: str = ""
    project: str = ""
    abstract: str = ""
    begins: str = ""
    ends: str = ""
    file: str = ""
    for_office: str = ""


def terms(
    about: ReleaseFile | TermsFields, language: str = "en", *, template: str | None = None
) -> str:
    """The terms of use as plain text.

    Args:
        about: The file, or what fills the gaps.
        language: Of our own words.
        template: The office's own words instead of ours.

    Raises:
        SpecError: The template has a gap that nothing fills.
    """
    fields = about if isinstance(about, TermsFields) else TermsFields.of(about)
    return _filled(
        _own(fields.licence, language) if template is None else template, fields, language
    )


def _own(licence: LicenceClass, language: str) -> str:
    """Our words for a class, in the form of a template."""
    words = catalogue(AREA, language)
    rules = lines(words, f"terms.rules.{licence.value}")
    every = lines(words, "terms.every")
    parts = [
        f"# {words['terms.title']}",
        words[f"terms.intro.{licence.value}"],
        f"# {words['terms.heading']}",
        *(f"- {rule}" for rule in (*every, *rules)),
        f"# {words['terms.cite_heading']}",
        words["terms.cite"],
        f"# {words['terms.contact_heading']}",
        words["terms.contact"],
    ]
    return "\n\n".join(parts) + "\n"


def _filled(
    template: str, fields: TermsFields, language: str, more: Mapping[str, str] | None = None
) -> str:
    shown = {**fields.shown(language), **(more or {})}

    def gap(match: re.Match[str]) -> str:
        name = match[1]
        if name not in shown:
            known = ", ".join(f"{{{each}}}" for each in shown)
            raise SpecError(
                f"The terms have the gap {{{name}}}, which nothing fills. The gaps are {known}."
            )
        return shown[name]

    return _GAP.sub(gap, template)


def terms_page(
    about: ReleaseFile | TermsFields,
    language: str = "en",
    *,
    template: str | None = None,
    others: Sequence[str] = (),
) -> str:
    """The terms of use as a page."""
    fields = about if isinstance(about, TermsFields) else TermsFields.of(about)
    text = terms(fields, language, template=template)
    return shell.page(
        say("terms.page_title", language, title=fields.title.show(language)),
        language_links(STEM, others, language),
        *_blocks(text),
        facts=" · ".join(
            part
            for part in (
                fields.producer.show(language),
                say(f"class.{fields.licence.value}", language),
            )
            if part
        ),
        stamp=None,
        language=language,
    )


def _blocks(text: str) -> Iterator[Html]:
    """Paragraphs, headings and rules of a template as html; no two headings share an address."""
    rules: list[str] = []
    number = 0
    for block in re.split(r"\n\s*\n", text.replace("\r\n", "\n").strip()):
        rest: list[str] = []
        for line in block.splitlines():
            if line.startswith("-"):
                rules.append(line[1:].strip())
                continue
            if rules and line.startswith((" ", "\t")):
                rules[-1] = f"{rules[-1]} {line.strip()}"
                continue
            if rules:
                yield _numbered(rules)
                rules = []
            if line.startswith("#"):
                if rest:
                    yield shell.paragraph(" ".join(rest))
                    rest = []
                number += 1
                heading = escape(line.lstrip("#").strip())
                yield Html(f'<h2 id="part-{number}">{heading}</h2>\n')
            else:
                rest.append(line.strip())
        if rest:
            yield shell.paragraph(" ".join(rest))
    if rules:
        yield _numbered(rules)


def _numbered(rules: list[str]) -> Html:
    """Rules are numbered, so that letters can name them."""
    return Html(f"<ol>{''.join(f'<li>{escape(rule)}</li>' for rule in rules)}</ol>\n")


# ------------------------------------------------------------------------------ agreements

_AGREEMENT_STYLE = """
.blanks{display:grid;grid-template-columns:34% 1fr;gap:10px 18px;
margin:0 0 12px}.blanks dt{color:var(--soft)}
.blanks dd{margin:0;min-height:1.6em;border-bottom:1px solid var(--soft);overflow-wrap:anywhere;
white-space:pre-line}
.signatures{display:grid;grid-template-columns:1fr 1fr;gap:28px;margin-top:40px;break-inside:avoid}
.signatures .name{min-height:1.5em}
.signatures p{border-top:1px solid var(--ink);padding-top:4px;margin-top:44px}
@media(max-width:760px){.blanks{grid-template-columns:1fr;gap:2px}
.signatures{grid-template-columns:1fr}}
"""
_LINE = "_" * 20
_WHO = ("person", "position", "organisation", "address", "team")
_WHAT = ("project", "abstract", "file", "begins", "ends")


def agreement(fields: AgreementFields, language: str = "en", *, template: str | None = None) -> str:
    """The agreement between the office and a user as a page to print and sign.

    Args:
        fields: What is known; the rest is left to be written by hand.
        language: Of our own words.
        template: The office's own terms instead of ours.
    """
    shown = fields.terms.shown(language)
    # The terms have headings of their own; within the agreement they are a part.
    return shell.page(
        say("agreement.title", language, title=shown["title"]),
        shell.section(say("agreement.who", language), _blanks(fields, _WHO, language)),
        shell.section(say("agreement.what", language), _blanks(fields, _WHAT, language)),
        *_blocks(_agreed_terms(fields, language, template)),
        shell.section(
            say("agreement.signatures", language),
            say("agreement.promise", language, producer=shown["producer"]),
            _signatures(fields, language),
        ),
        facts=" · ".join(
            part
            for part in (
                say("agreement.number", language, number=fields.number) if fields.number else "",
                shown["producer"],
                say(f"class.{fields.terms.licence.value}", language),
            )
            if part
        ),
        lead=say("agreement.lead", language, producer=shown["producer"]),
        stamp=None,
        language=language,
        style=_AGREEMENT_STYLE,
    )


def _agreed_terms(fields: AgreementFields, language: str, template: str | None) -> str:
    """The terms; the office's own may name who signs, and for what."""
    if template is None:
        return terms(fields.terms, language)
    names = ("number", *_WHO, *_WHAT, "for_office")
    # A gap that nobody has filled is left to be written by hand.
    more = {name: str(getattr(fields, name)) or _LINE for name in names}
    return _filled(template, fields.terms, language, more)


def _blanks(fields: AgreementFields, names: tuple[str, ...], language: str) -> Html:
    pairs = "".join(
        f"<dt>{escape(say(f'agreement.{name}', language))}</dt>"
        f"<dd>{escape(str(getattr(fields, name)))}</dd>"
        for name in names
    )
    return Html(f'<dl class="blanks">{pairs}</dl>\n')


def _signatures(fields: AgreementFields, language: str) -> Html:
    boxes = "".join(
        f"<div><b>{escape(say(f'agreement.{side}', language))}</b>"
        f'<div class="name">{escape(name)}</div>'
        f"<p>{escape(say('agreement.sign', language))}</p></div>"
        for side, name in (("user", fields.person), ("office", fields.for_office))
    )
    return Html(f'<div class="signatures">{boxes}</div>\n')
