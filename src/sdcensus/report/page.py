"""The shell of every html page, and the blocks that stand in it.

A page is one file: no script, nothing from the internet. It follows the light or dark theme of
whoever reads it, prints to A4 in light colours, and can be read aloud: headings in order, captions
and scopes of tables, words for every picture, regions that scroll by keyboard.

Blocks take plain text and give ``Html``. Text that is not ``Html`` is escaped, so that a label
such as ``<5`` is shown and never read as a tag.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from html import escape
from importlib.resources import files
from typing import Any

from sdcensus._version import __version__
from sdcensus.model.sentences import speak
from sdcensus.report.charts import SHADES, as_svg


def running_stamp(language: str | None = None) -> str:
    """Stands at the foot of every printed page that only the office may see."""
    return speak("assess.page.running", language)


RUNNING_STAMP = running_stamp()


class Html(str):
    """Text that is html already."""

    __slots__ = ()


class Tone(StrEnum):
    """How loud something is."""

    PLAIN = ""
    SOFT = "none"
    MARKED = "stay"
    GOOD = "good"
    WARN = "warn"
    BAD = "bad"


@dataclass(frozen=True, slots=True)
class PageCell:
    """A cell of a table whose text is not to look like the others."""

    text: str
    tone: Tone = Tone.PLAIN


@dataclass(frozen=True, slots=True)
class Tile:
    """A number that tells most, and what it is."""

    number: str
    words: str
    tone: Tone = Tone.PLAIN


# ---------------------------------------------------------------- the shell


def page(
    title: str,
    *content: str,
    facts: str = "",
    lead: str = "",
    stamp: str | None,
    closing: str = "",
    language: str = "en",
    style: str = "",
) -> str:
    """A whole page.

    Args:
        title: Its only first heading.
        content: Blocks, one below the other; plain text becomes paragraphs.
        facts: A line below the title: what the page is about, in short.
        lead: What was found, in plain words.
        stamp: Says on every printed page that it is confidential, and why; ``None`` for a public
            page, in which no figure may come from true counts.
        closing: The last words, before the version.
        language: Of the text, such as ``"en"``.
        style: Rules of this page alone.
    """
    head = [
        f'<!doctype html>\n<html lang="{escape(language)}"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
    ]
    if stamp is not None:
        head.append('<meta name="robots" content="noindex">')
    running = running_stamp(language) if stamp is not None else ""
    head.append(f"<title>{escape(title)}</title>\n<style>{_style(running)}{style}</style></head>\n")
    body = ['<body><div class="sheet">\n<main>\n']
    if stamp is not None:
        confidential = escape(speak("assess.page.confidential", language))
        body.append(f'<p class="stamp">{confidential} {escape(stamp)}</p>\n')
    body.append(f"<h1>{escape(title)}</h1>\n")
    if facts:
        body.append(f'<p class="facts">{escape(facts)}</p>\n')
    if lead:
        body.append(f'<p class="lead">{escape(lead)}</p>\n')
    body += [piece if isinstance(piece, Html) else paragraph(piece) for piece in content]
    made = speak("assess.page.made_by", language, version=__version__)
    words = f"{made} {closing}".rstrip()
    body.append(f"</main>\n<footer>{escape(words)}</footer>\n</div></body></html>\n")
    return "".join([*head, *body])


# ---------------------------------------------------------------- blocks


def section(title: str, *content: str, level: int = 2) -> Html:
    """A heading with what belongs below it; it can be linked to by its words."""
    inside = "".join(piece if isinstance(piece, Html) else paragraph(piece) for piece in content)
    return Html(
        f'<section aria-labelledby="{anchor(title)}">\n'
        f'<h{level} id="{anchor(title)}">{escape(title)}</h{level}>\n{inside}</section>\n'
    )


def anchor(title: str) -> str:
    """The name by which a section is linked to.

    Examples:
        >>> anchor("What falls, what holds")
        'what-falls-what-holds'
    """
    plain = unicodedata.normalize("NFKD", title).encode("ascii", "ignore").decode()
    return re.sub(r"[^a-z0-9]+", "-", plain.lower()).strip("-") or "part"


def contents(*titles: str, language: str | None = None) -> Html:
    """Links to the sections of a long page."""
    links = "".join(f'<li><a href="#{anchor(title)}">{escape(title)}</a></li>' for title in titles)
    words = escape(speak("assess.page.on_this_page", language))
    return Html(f'<nav aria-label="{words}"><ul>{links}</ul></nav>\n')


def paragraph(text: str, *, soft: bool = False) -> Html:
    """A paragraph."""
    kind = ' class="soft"' if soft else ""
    return Html(f"<p{kind}>{inline(text)}</p>\n")


def bullets(sentences: Iterable[str]) -> Html:
    """Sentences as a list; nothing where there are none."""
    lines = "".join(f"<li>{inline(sentence)}</li>" for sentence in sentences)
    return Html(f"<ul>{lines}</ul>\n" if lines else "")


def strong(text: str) -> Html:
    """Words that are meant to be seen first."""
    return Html(f"<b>{inline(text)}</b>")


def code(text: str) -> Html:
    """Words to be typed."""
    return Html(f"<code>{escape(text)}</code>")


def link(text: str, target: str) -> Html:
    """Words that lead to a file beside the page."""
    return Html(f'<a href="{escape(target)}">{inline(text)}</a>')


def together(*parts: str) -> Html:
    """Plain and marked words in one sentence."""
    return Html("".join(inline(part) for part in parts))


def inline(text: str) -> str:
    """Plain text made safe; what is html already stays."""
    return text if isinstance(text, Html) else escape(text)


def note(title: str, *content: str, tone: Tone = Tone.WARN) -> Html:
    """A box that is read before the rest."""
    kind = {Tone.WARN: "", Tone.BAD: " bad", Tone.GOOD: " good"}.get(tone, " plain")
    inside = "".join(
        piece if isinstance(piece, Html) else f"<p>{escape(piece)}</p>"
        for piece in content
        if piece
    )
    return Html(f'<div class="note{kind}" role="note"><b>{escape(title)}</b>{inside}</div>\n')


def tiles(shown: Iterable[Tile | tuple[str, str]]) -> Html:
    """A few numbers side by side, each with its meaning."""
    every = [tile if isinstance(tile, Tile) else Tile(*tile) for tile in shown]
    inside = "".join(
        f'<div class="{f"tile {tile.tone}".rstrip()}">'
        f"<dt>{escape(tile.words)}</dt><dd>{escape(tile.number)}</dd></div>"
        for tile in every
    )
    return Html(f'<dl class="tiles">{inside}</dl>\n')


def table(
    caption: str,
    head: Sequence[str],
    rows: Iterable[Sequence[PageCell | str]],
    *,
    groups: Sequence[tuple[str, int]] = (),
    words: int = 1,
    picked: Collection[int] = (),
    wrapped: bool = False,
) -> Html:
    """A table with a caption; the first cell of a row names it.

    Args:
        caption: What it shows.
        head: One heading for each column.
        rows: Cells, as text.
        groups: A line above the headings: words, and over how many columns each stands.
        words: How many columns from the left hold words and not numbers.
        picked: Rows that stand out, by their position.
        wrapped: Whether long words may break into lines, for tables of sentences.
    """
    above = ""
    if groups:
        over = "".join(
            f'<th scope="colgroup" colspan="{width}">{escape(name)}</th>'
            if name
            else f'<td colspan="{width}"></td>'
            for name, width in groups
        )
        above = f'<tr class="over">{over}</tr>'
    titles = "".join(
        f'<th scope="col"{_word(at, words)}>{escape(title)}</th>' for at, title in enumerate(head)
    )
    lines = "".join(_row(row, words, at in picked) for at, row in enumerate(rows))
    kind = ' class="wrapped"' if wrapped else ""
    return Html(
        f"{_scroll(caption)}<table{kind}><caption>{escape(caption)}</caption>"
        f"<thead>{above}<tr>{titles}</tr></thead>\n<tbody>{lines}</tbody></table></div>\n"
    )


def figure(chart: Any, alternative: str, *, caption: str = "", title: str = "") -> Html:
    """A chart with a title and how to read it.

    Args:
        chart: A chart of Altair without title.
        alternative: What it shows, for those who cannot see it.
        caption: How to read it.
        title: What it shows.
    """
    return drawing(Html(as_svg(chart, alternative, margin=2, themed=True)), title, caption)


def drawing(drawn: Html, title: str = "", caption: str = "") -> Html:
    """A picture that is drawn already, with a title and how to read it."""
    parts = [f"<b>{escape(title)}</b>" if title else "", escape(caption)]
    words = " ".join(part for part in parts if part)
    says = f"<figcaption>{words}</figcaption>" if words else ""
    return Html(f"<figure>{says}{_scroll(title or caption or 'Chart')}{drawn}</div></figure>\n")


def side_by_side(*blocks: str) -> Html:
    """Blocks beside each other where there is room."""
    return Html(f'<div class="beside">{"".join(map(inline, blocks))}</div>\n')


def details(summary: str, *content: str) -> Html:
    """What is folded away until somebody wants it; printed in any case."""
    inside = "".join(piece if isinstance(piece, Html) else paragraph(piece) for piece in content)
    return Html(f"<details><summary>{escape(summary)}</summary>\n{inside}</details>\n")


def to_sign(choices: Iterable[str], signature: str) -> Html:
    """What somebody has to decide, one of several, and where they sign."""
    boxes = "".join(f'<li style="list-style:none">☐ {escape(words)}</li>' for words in choices)
    return Html(
        f'<ul style="padding-left:0">{boxes}</ul>'
        '<p class="soft" style="margin-top:36px;border-top:1px solid var(--line);'
        f'padding-top:4px;max-width:28em">{escape(signature)}</p>\n'
    )


def _row(row: Sequence[PageCell | str], words: int, picked: bool) -> str:
    cells = []
    for at, cell in enumerate(row):
        tone = cell.tone if isinstance(cell, PageCell) else Tone.PLAIN
        text = cell.text if isinstance(cell, PageCell) else cell
        if at == 0:
            cells.append(f'<th scope="row" class="word">{inline(text)}</th>')
        else:
            cells.append(f"<td{_word(at, words, tone)}>{inline(text)}</td>")
    kind = ' class="pick"' if picked else ""
    return f"<tr{kind}>{''.join(cells)}</tr>\n"


def _word(at: int, words: int, tone: Tone = Tone.PLAIN) -> str:
    kinds = " ".join(kind for kind in ("word" if at < words else "", tone.value) if kind)
    return f' class="{kinds}"' if kinds else ""


def _scroll(name: str) -> str:
    """What is wider than the page scrolls by itself, with the keyboard as well."""
    return f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(name)}">'


# ---------------------------------------------------------------- the style

#: Besides the colours of charts; light and dark.
_MORE_SHADES = {
    "ground": ("#f6f7f5", "#10151a"),
    "accent-soft": ("#e9f3f3", "#1d3437"),
    "warn": ("#805300", "#f0c878"),
    "warn-soft": ("#fdf3dc", "#352b17"),
    "bad-soft": ("#fbeaea", "#3a2122"),
    "ok": ("#256b3a", "#7fcf97"),
    "ok-soft": ("#e7f4ea", "#1b3323"),
}


def shades() -> dict[str, tuple[str, str]]:
    """Every colour of a page by its name: in light, in dark."""
    return {**SHADES, **_MORE_SHADES}


def _style(running: str) -> str:
    light = ";".join(f"--{name}:{shade}" for name, (shade, _) in shades().items())
    dark = ";".join(f"--{name}:{shade}" for name, (_, shade) in shades().items())
    foot = (
        f'@bottom-left{{content:"{running}";color:{SHADES["bad"][0]};font:9px sans-serif}}'
        if running
        else ""
    )
    rules = (files("sdcensus.report") / "page.css").read_text(encoding="utf-8")
    return (
        f"\n:root{{color-scheme:light dark;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        f"{rules}"
        f"@page{{size:A4;margin:15mm 14mm 17mm;{foot}"
        '@bottom-right{content:counter(page) " of " counter(pages);font:9px sans-serif}}\n'
    )
