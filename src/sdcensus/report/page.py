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
from typing import Any

from sdcensus._version import __version__
from sdcensus.report.charts import SHADES, as_svg

#: Stands at the foot of every printed page that only the office may see.
RUNNING_STAMP = "Confidential: for the office only"


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
    """
    head = [
        f'<!doctype html>\n<html lang="{escape(language)}"><head><meta charset="utf-8">',
        '<meta name="viewport" content="width=device-width,initial-scale=1">',
        '<meta name="color-scheme" content="light dark">',
    ]
    if stamp is not None:
        head.append('<meta name="robots" content="noindex">')
    running = RUNNING_STAMP if stamp is not None else ""
    head.append(f"<title>{escape(title)}</title>\n<style>{_style(running)}</style></head>\n")
    body = ['<body><div class="sheet">\n<main>\n']
    if stamp is not None:
        body.append(f'<p class="stamp">Confidential. {escape(stamp)}</p>\n')
    body.append(f"<h1>{escape(title)}</h1>\n")
    if facts:
        body.append(f'<p class="facts">{escape(facts)}</p>\n')
    if lead:
        body.append(f'<p class="lead">{escape(lead)}</p>\n')
    body += [piece if isinstance(piece, Html) else paragraph(piece) for piece in content]
    words = f"Made by sdcensus {__version__}. {closing}".rstrip()
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


def contents(*titles: str) -> Html:
    """Links to the sections of a long page."""
    links = "".join(f'<li><a href="#{anchor(title)}">{escape(title)}</a></li>' for title in titles)
    return Html(f'<nav aria-label="On this page"><ul>{links}</ul></nav>\n')


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
    drawn = as_svg(chart, alternative, margin=2, themed=True)
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
    return (
        f"\n:root{{color-scheme:light dark;{light}}}\n"
        f"@media screen and (prefers-color-scheme:dark){{:root{{{dark}}}}}\n"
        f"{_RULES}"
        f"@page{{size:A4;margin:15mm 14mm 17mm;{foot}"
        '@bottom-right{content:counter(page) " of " counter(pages);font:9px sans-serif}}\n'
    )


_RULES = """\
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);
font:15px/1.5 system-ui,"Segoe UI",Roboto,"DejaVu Sans",Arial,sans-serif}
.sheet{max-width:980px;margin:24px auto;background:var(--paper);border:1px solid var(--line);
padding:36px 48px}
.stamp{display:inline-block;color:var(--bad);border:1px solid var(--bad);border-radius:4px;
padding:1px 8px;font-size:12px;letter-spacing:.03em;margin:0}
h1{font-size:26px;line-height:1.2;margin:12px 0 2px;text-wrap:balance}
h2{font-size:17px;margin:32px 0 8px;border-bottom:1px solid var(--line);padding-bottom:4px}
h3{font-size:15px;margin:20px 0 4px}
p{margin:0 0 10px}.lead{font-size:17px;margin:12px 0 18px}.soft,.facts{color:var(--soft)}
.facts{margin:0}ul{margin:0 0 10px;padding-left:20px}li{margin-bottom:5px}
a{color:var(--strong)}:focus-visible{outline:2px solid var(--strong);outline-offset:2px}
code{font:13px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace}
nav ul{display:flex;flex-wrap:wrap;gap:2px 18px;list-style:none;padding:0;margin:14px 0 0;
font-size:14px}nav li{margin:0}
.tiles{display:grid;grid-template-columns:repeat(4,1fr);gap:12px;margin:0 0 18px}
.tile{border:1px solid var(--line);border-radius:8px;padding:10px 14px;display:flex;
flex-direction:column-reverse;justify-content:flex-end}
.tile dd{margin:0;font-size:24px;font-weight:700;font-variant-numeric:tabular-nums}
.tile dt{color:var(--soft);font-size:13px;line-height:1.35}
.tile.bad dd{color:var(--bad)}.tile.warn dd{color:var(--warn)}.tile.good dd{color:var(--ok)}
figure{margin:0 0 14px}figcaption{color:var(--soft);margin:0 0 6px}
figcaption b{color:var(--ink);font-weight:600}
svg{max-width:100%;height:auto;display:block}
.beside{display:grid;grid-template-columns:1fr 1fr;gap:10px 28px}.beside>*{min-width:0}
.scroll{overflow-x:auto;margin:0 0 14px}figure .scroll{margin:0}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:14px}
caption{text-align:left;color:var(--soft);padding-bottom:6px}
th,td{padding:5px 8px;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
th.word,td.word{text-align:left}td.word{white-space:normal}
thead th{font-weight:600;vertical-align:bottom;white-space:normal;line-height:1.3}
tr.over th{text-align:center;border-bottom:0;color:var(--soft);font-weight:500}
tr.over td{border-bottom:0}
tbody th{font-weight:500}td.stay{background:var(--accent-soft)}td.none{color:var(--soft)}
td.bad{color:var(--bad);font-weight:600}td.warn{color:var(--warn)}td.good{color:var(--ok)}
tr.pick td,tr.pick th{background:var(--accent-soft);font-weight:600}
table.wrapped td,table.wrapped th{white-space:normal;vertical-align:top}
.note{background:var(--warn-soft);color:var(--warn);border-radius:8px;padding:9px 14px;
margin:18px 0}
.note.bad{background:var(--bad-soft);color:var(--bad)}
.note.good{background:var(--ok-soft);color:var(--ok)}
.note.plain{background:var(--accent-soft);color:var(--ink)}
.note p{margin:4px 0 0}.note ul{margin:4px 0 0}
details{margin:0 0 14px}summary{cursor:pointer;color:var(--strong)}
footer{margin-top:32px;padding-top:8px;border-top:1px solid var(--line);color:var(--soft);
font-size:13px}
@media(max-width:760px){.sheet{margin:0;border:0;padding:20px 16px}
.tiles{grid-template-columns:repeat(2,1fr)}.beside{grid-template-columns:1fr}
figure:not(.beside figure) .scroll svg{min-width:560px}
caption{position:sticky;left:0;max-width:calc(100vw - 32px)}
td.word,table.wrapped tbody th{min-width:9em}}
@media print{body{background:#fff;font-size:11.5px}.sheet{border:0;margin:0;padding:0;
max-width:none}nav{display:none}.tiles{grid-template-columns:repeat(4,1fr);gap:8px}
.tile{padding:6px 10px}.tile dd{font-size:17px}.tile dt{font-size:10.5px}.lead{font-size:13.5px}
h1{font-size:21px}h2{font-size:14.5px;margin-top:20px;break-after:avoid}
h3{font-size:12.5px;break-after:avoid}.beside{grid-template-columns:1fr 1fr;gap:6px 18px}
table{font-size:10px}th,td{padding:2.5px 5px}thead{display:table-header-group}
caption,figcaption{break-after:avoid}figure,tr,.tiles,.note,li{break-inside:avoid}
.scroll{overflow:visible}footer{break-before:avoid;font-size:10.5px}
details::details-content{content-visibility:visible;display:block;height:auto}
summary{list-style:none;color:var(--ink);font-weight:600}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""
