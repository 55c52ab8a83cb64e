"""A page about a perturbation: words, pictures and numbers, in one file without scripts."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape

from sdcensus._version import __version__
from sdcensus.report.charts import as_svg
from sdcensus.report.perturbation_plots import CONFIDENTIAL, Picture
from sdcensus.session.perturbation_rows import first_and_last, shown_deviations
from sdcensus.session.perturbation_summary import Summary
from sdcensus.session.perturbation_words import (
    distinction_sentence,
    in_words,
    key_space_text,
    lookup_sentence,
    percent,
    probability,
    scrambled_sentence,
    signed,
    small,
)

#: Of larger tables, the first rows and the last one stand on the page.
MOST_ROWS = 24

_STYLE = """
:root{color-scheme:light;--ink:#17212b;--soft:#5b6773;--line:#dde2e6;--paper:#fff;--ground:#f6f7f5;
--accent:#0a6a72;--accent-soft:#e9f3f3;--bad:#9b2c2c;--warn:#8a5a00;--warn-soft:#fdf3dc}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--ink);
font:15px/1.5 system-ui,"Segoe UI",Roboto,"DejaVu Sans",Arial,sans-serif}
main{max-width:900px;margin:24px auto;background:var(--paper);border:1px solid var(--line);
padding:36px 48px}
.stamp{display:inline-block;color:var(--bad);border:1px solid var(--bad);border-radius:4px;
padding:1px 8px;font-size:12px;letter-spacing:.04em}
h1{font-size:26px;line-height:1.2;margin:12px 0 2px}
h2{font-size:17px;margin:32px 0 8px;border-bottom:1px solid var(--line);padding-bottom:4px}
.lead{font-size:17px;margin:12px 0 18px}.soft{color:var(--soft)}
.tiles{display:grid;grid-template-columns:repeat(4,1fr);gap:12px;margin:0}
.tile{border:1px solid var(--line);border-radius:8px;padding:10px 14px;display:flex;
flex-direction:column-reverse;justify-content:flex-end}
.tile dd{margin:0;font-size:24px;font-weight:700;font-variant-numeric:tabular-nums}
.tile dt{color:var(--soft);font-size:13px;line-height:1.35}
figure{margin:0}figcaption{color:var(--soft);margin:0 0 4px}
svg{max-width:100%;height:auto;display:block}
.scroll{overflow-x:auto}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:14px}
caption{text-align:left;color:var(--soft);padding-bottom:6px}
th,td{padding:5px 8px;border-bottom:1px solid var(--line);text-align:right;white-space:nowrap}
th:first-child,td:first-child{text-align:left}thead th{font-weight:600;vertical-align:bottom}
tbody th{font-weight:500}td.stay{background:var(--accent-soft)}td.none{color:#a5aeb6}
tr.pick td,tr.pick th{background:var(--accent-soft);font-weight:600}
.note{background:var(--warn-soft);color:var(--warn);border-radius:8px;padding:9px 14px}
.note ul{margin:4px 0 0;padding-left:20px}
footer{margin-top:32px;padding-top:8px;border-top:1px solid var(--line);color:var(--soft);
font-size:13px}
@media(max-width:760px){main{margin:0;border:0;padding:20px 16px}.tiles{grid-template-columns:
repeat(2,1fr)}figure .scroll svg{min-width:560px}}
@media print{body{background:#fff;font-size:12px}main{border:0;margin:0;padding:0;max-width:none}
.tiles{grid-template-columns:repeat(4,1fr)}.tile dd{font-size:18px}.lead{font-size:14px}
h2{margin-top:20px;break-after:avoid}table{font-size:11.5px}th,td{padding:3px 6px}
figure,tr,.tiles,.note{break-inside:avoid}.scroll{overflow:visible}footer{break-before:avoid}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
@page{margin:16mm;@bottom-left{content:"Confidential: for the office only";color:#9b2c2c;
font:9px sans-serif}@bottom-right{content:counter(page) " of " counter(pages);font:9px sans-serif}}
"""


def page(title: str, summary: Summary, shown: Sequence[Picture]) -> str:
    """The whole page, for the office only."""
    figures = "".join(_figure(one) for one in shown)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        '<meta name="robots" content="noindex">'
        f"<title>{escape(title)}</title>\n<style>{_STYLE}</style></head>\n<body><main>\n"
        f'<span class="stamp">Confidential. {escape(CONFIDENTIAL)}</span>\n'
        f"<h1>{escape(title)}</h1>\n"
        f'<div class="soft">{escape(_facts(summary))}</div>\n'
        f'<p class="lead">{escape(in_words(summary))}</p>\n'
        f"{_tiles(summary)}{_relaxed(summary)}{figures}{_rows(summary)}{_measures(summary)}"
        f"{_lookups(summary)}"
        f"<footer>Made by sdcensus {escape(__version__)}. Whoever knows these numbers can undo"
        " more of what is published: keep this page like the census itself.</footer>\n"
        "</main></body></html>\n"
    )


def _facts(summary: Summary) -> str:
    keys = "any number of keys" if summary.keys is None else f"{key_space_text(summary.keys)} keys"
    return f"Largest change {summary.max_deviation} · {keys} · {summary.tail}"


def _tiles(summary: Summary) -> str:
    large = summary.large
    ones = next((row for row in summary.rows if row.count == 1), None)
    tiles = [
        (f"{large.size:.2f}", "mean change of a large count, up or down"),
        (f"{large.variance:.3g}", "variance of the change of a large count"),
        (percent(large.stay), "of large counts are published as they are"),
    ]
    if ones is not None:
        tiles.append((percent(ones.becomes_zero), "of the ones are published as 0"))
    inside = "".join(
        f'<div class="tile"><dt>{escape(words)}</dt><dd>{escape(number)}</dd></div>'
        for number, words in tiles
    )
    return f'<dl class="tiles">{inside}</dl>\n'


def _relaxed(summary: Summary) -> str:
    if not summary.relaxed:
        return ""
    lines = "".join(f"<li>{escape(str(one))}</li>" for one in summary.relaxed)
    return (
        '<div class="note" role="note" style="margin-top:18px"><b>Not everything that was asked'
        f" for could be met.</b><ul>{lines}</ul></div>\n"
    )


def _figure(picture: Picture) -> str:
    drawn = as_svg(picture.chart, picture.alternative, margin=2)
    return (
        f"<h2>{escape(picture.title)}</h2>\n<figure><figcaption>{escape(picture.caption)}"
        f'</figcaption><div class="scroll">{drawn}</div></figure>\n'
    )


def _rows(summary: Summary) -> str:
    """The probability of each change, row by row."""
    shown = first_and_last(summary.rows, MOST_ROWS)
    deviations = shown_deviations(shown)
    head = ["count", *map(signed, deviations)]
    lines = []
    for row in shown:
        cells = []
        for value in deviations:
            share = row.chances.get(value, 0.0)
            kind = ' class="none"' if not share else ' class="stay"' if not value else ""
            cells.append(f"<td{kind}>{escape(probability(share))}</td>")
        lines.append(f'<tr><th scope="row">{escape(row.counts)}</th>{"".join(cells)}</tr>')
    return (
        "<h2>The same in numbers</h2>\n"
        + _table("Probability of each change of a count", head, lines)
        + _part(summary)
    )


def _measures(summary: Summary) -> str:
    head = ["count", "mean change", "mean size", "variance", "bits", "stays", "becomes 0"]
    lines = [
        _line(
            row.counts,
            small(row.bias).replace("-", "−"),
            f"{row.size:.3f}",
            f"{row.variance:.3f}",
            f"{row.entropy:.2f}",
            probability(row.stay),
            probability(row.becomes_zero),
        )
        for row in first_and_last(summary.rows, MOST_ROWS)
    ]
    words = (
        "Each row in figures. Bits: how uncertain the change is. Becomes 0: of the smallest count"
        " of the row."
    )
    return "<p></p>" + _table(words, head, lines)


def _lookups(summary: Summary) -> str:
    if not summary.lookups:
        return ""
    head = ["look-up", "parts add up", "guesses a part", "guesses both", "bits left"]
    lines = [
        _line(
            f"{one.name}{' (default)' if one.is_default else ''}",
            *(
                probability(share, 3)
                for share in (
                    one.coupling.gap_is_zero,
                    one.coupling.guess_part,
                    one.coupling.guess_both,
                )
            ),
            f"{one.coupling.uncertainty_bits:.2f}",
            kind=' class="pick"' if one.is_default else "",
        )
        for one in summary.lookups
    ]
    return (
        "<h2>What a total and its parts give away</h2>\n"
        f"<p>{escape(lookup_sentence())}</p>\n"
        + _table("Two large parts and their published total", head, lines)
        + f"<p><b>Default for this table: {summary.default_lookup}.</b>"
        f" {escape(summary.why_default)}</p>\n"
        f'<p class="soft">{escape(scrambled_sentence(summary))}</p>\n'
        f"<p>{escape(distinction_sentence(summary))}</p>\n"
    )


def _table(words: str, head: Iterable[str], lines: Iterable[str]) -> str:
    titles = "".join(f'<th scope="col">{escape(one)}</th>' for one in head)
    return (
        f'<div class="scroll" tabindex="0"><table><caption>{escape(words)}</caption>'
        f"<thead><tr>{titles}</tr></thead>\n<tbody>{''.join(lines)}</tbody></table></div>\n"
    )


def _line(first: str, *cells: str, kind: str = "") -> str:
    inside = "".join(f"<td>{escape(one)}</td>" for one in cells)
    return f'<tr{kind}><th scope="row">{escape(first)}</th>{inside}</tr>\n'


def _part(summary: Summary) -> str:
    hidden = len(summary.rows) - MOST_ROWS
    if hidden <= 0:
        return ""
    return f'<p class="soft">{hidden} rows between the first and the last are not shown.</p>\n'
