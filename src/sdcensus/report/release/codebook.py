"""The codebook of a file: every variable with its codes and how often they stand in the file.

Public: it is made of the file and of nothing else.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from fractions import Fraction
from html import escape

from sdcensus.formats.microdata.layout import weight_of
from sdcensus.formats.microdata.statistics import (
    column_statistics,
    may_tell_frequencies,
    may_tell_records,
)
from sdcensus.model.quantities import number_text, share_text, written_as
from sdcensus.model.release.release_file import (
    ColumnKind,
    ReleaseColumn,
    ReleaseFile,
    ReleaseTable,
)
from sdcensus.model.schema.variable import Code, CodeKind, Entity
from sdcensus.model.spec.headings import entity_text
from sdcensus.report import page as shell
from sdcensus.report.page import Html
from sdcensus.report.release.languages import language_links, pages
from sdcensus.report.release.removed import removed_table
from sdcensus.report.release.tables import say

#: What the file of a codebook is called.
STEM = "codebook"
#: A variable with more codes may be cut by the end of a printed page; its headings are repeated.
_SHORT = 14
_NUMBERS = (ColumnKind.AMOUNT, ColumnKind.WEIGHT)

STYLE = """
.variable{border-top:1px solid var(--line);padding-top:4px;margin:0 0 22px}
h2+.variable,.variable.about{border-top:0}
.variable h3{font-size:15px;margin:8px 0 2px;overflow-wrap:anywhere}
.variable h3 code{font-size:15px;font-weight:700}
.variable .kind{color:var(--soft);margin:0 0 6px}
.variable dl{display:grid;grid-template-columns:max-content 1fr;gap:2px 14px;margin:0 0 8px}
.variable dt{color:var(--soft)}.variable dd{margin:0;overflow-wrap:anywhere}
table.codes{table-layout:fixed}
table.codes th,table.codes td{white-space:normal;vertical-align:top;overflow-wrap:anywhere}
table.codes col.code{width:11%}table.codes col.number{width:13%}table.codes col.share{width:9%}
table.codes thead th{overflow-wrap:normal}
table.codes td:not(.word){white-space:nowrap;overflow-wrap:normal}table.codes col.bar{width:14%}
table.codes .bar i{display:block;height:9px;margin-top:6px;background:var(--weak);min-width:1px}
tr.missing th,tr.missing td{color:var(--soft)}
.variables td,.variables th{overflow-wrap:anywhere}
pre{font:13px ui-monospace,Menlo,Consolas,"DejaVu Sans Mono",monospace;white-space:pre-wrap;
background:var(--grey);padding:8px 12px;border-radius:6px;margin:0 0 10px}
@media(max-width:760px){table.codes{table-layout:auto;min-width:0}table.codes .bar{display:none}
table.codes col{width:auto!important}table.codes td.word{min-width:9em}
table.codes th.word{min-width:3em}.variable dl{grid-template-columns:1fr}
.variable dt{margin-top:4px}}
@media print{.variable h3{font-size:12px}.variable.short{break-inside:avoid}.variable h3,
.variable .kind,.variable dl{break-after:avoid}table.codes .bar i{height:6px;margin-top:4px}
pre{font-size:10px}.variable{margin-bottom:12px}}
"""


def codebook_pages(file: ReleaseFile, languages: Sequence[str] = ()) -> dict[str, bytes]:
    """The codebook in every language that is asked for and that we write, by its file's name.

    Args:
        file: The file.
        languages: Those of the file if none is named.
    """
    return pages(
        STEM,
        ".html",
        languages or file.languages,
        lambda language, others: codebook_page(file, language, others=others),
    )


def codebook_page(file: ReleaseFile, language: str, *, others: Sequence[str] = ()) -> str:
    """The codebook in one language.

    Args:
        file: The file.
        language: Of the words; labels that lack it are shown in the first of the file.
        others: Languages in which there is a codebook beside this one.
    """
    parts: dict[str, list[str]] = {
        "file": [*_about(file, language)],
        "notes": [shell.bullets(note.show(language) for note in file.notes)] if file.notes else [],
        "weights": [*_weights(file, language)],
        "variables": [*_overview(file, language)],
    }
    sections = {say(f"codebook.{name}", language): inside for name, inside in parts.items()}
    for at, table in enumerate(file.tables):
        title = say("codebook.of", language, units=_units(table, language))
        sections[title] = [_variable(file, table, at, place, language) for place in _all(table)]
    if file.removed:
        sections[say("codebook.removed", language)] = [removed_table(file, language)]
    sections = {title: inside for title, inside in sections.items() if inside}
    facts = [
        file.country.show(language),
        file.census.show(language),
        file.reference_date,
        say(f"class.{file.licence.value}", language),
        say("codebook.version", language, version=file.version),
    ]
    return shell.page(
        say("codebook.title", language, title=file.title.show(language) or file.name),
        language_links(STEM, others, language),
        shell.contents(*sections, language=language),
        *(shell.section(title, *inside) for title, inside in sections.items()),
        facts=" · ".join(fact for fact in facts if fact),
        lead=file.abstract.show(language),
        stamp=None,
        language=language,
        style=STYLE,
    )


def _units(table: ReleaseTable, language: str) -> str:
    return entity_text(table.entity, language)


def _all(table: ReleaseTable) -> range:
    return range(len(table.columns))


# ------------------------------------------------------------------------------ the file


def _about(file: ReleaseFile, language: str) -> Iterator[str]:
    telling, sized = may_tell_frequencies(file), may_tell_records(file)
    rows = [
        [
            _units(table, language),
            *([number_text(table.rows, language)] if sized else []),
            number_text(len(table.columns), language),
        ]
        for table in file.tables
    ]
    names = ("units", "records", "columns") if sized else ("units", "columns")
    heads = [say(f"codebook.{head}", language) for head in names]
    yield shell.table(say("codebook.tables", language), heads, rows)
    told = {
        "sampling": file.sampling.show(language),
        "producer": file.producer.show(language),
        "contact": file.contact,
        "citation": file.citation.show(language),
    }
    pairs = "".join(
        f"<dt>{escape(say(f'codebook.{name}', language))}</dt><dd>{escape(text)}</dd>"
        for name, text in told.items()
        if text
    )
    yield Html(f'<div class="variable about"><dl>{pairs}</dl></div>\n' if pairs else "")
    key = "counted" if telling else "licensed_only" if sized else "not_counted"
    yield shell.paragraph(say(f"codebook.{key}", language), soft=True)


def _weights(file: ReleaseFile, language: str) -> Iterator[str]:
    """How to use the weights, and how to compute errors."""
    weighted = [(table, weight) for table in file.tables if (weight := weight_of(table))]
    if not weighted or all(_all_one(weight) for _, weight in weighted):
        yield say("codebook.no_weight", language)
        return
    table, weight = next(
        (pair for pair in weighted if pair[0].entity is Entity.PERSON), weighted[-1]
    )
    numbers = [each for each in table.columns if each.kind is ColumnKind.NUMBER_OF_UNIT]
    clustered = len(numbers) > 1
    yield shell.paragraph(
        say("codebook.use_weight", language, weight=weight.name, units=_units(table, language))
    )
    if clustered:
        holder = numbers[-1].name
        yield say("codebook.clusters", language, holder=holder)
        yield _program(holder, weight.name)
    else:
        yield say("codebook.single", language)
        yield _program("1", weight.name)
    yield say("codebook.conservative", language)


def _program(cluster: str, weight: str) -> Html:
    own = cluster == "1"
    stata = f"svyset {'_n' if own else cluster} [pweight = {weight}]"
    lines = [
        f"R:     design <- svydesign(ids = ~{cluster}, weights = ~{weight}, data = records)",
        f"Stata: {stata}",
    ]
    return Html(f"<pre>{escape(chr(10).join(lines))}</pre>\n")


def _all_one(weight: ReleaseColumn) -> bool:
    return bool((weight.values == 10**weight.decimals).all())


# ------------------------------------------------------------------------------ variables


def _overview(file: ReleaseFile, language: str) -> Iterator[str]:
    for at, table in enumerate(file.tables):
        rows = [
            [
                shell.link(column.name, f"#{_address(at, place)}"),
                column.label.show(language),
                say(f"codebook.kinds.{column.kind.value}", language),
                say("codebook.yes", language) if column.recoded else "",
            ]
            for place, column in enumerate(table.columns)
        ]
        heads = [
            say(f"codebook.{head}", language) for head in ("name", "label", "kind", "is_recoded")
        ]
        caption = say("codebook.of", language, units=_units(table, language))
        yield Html(
            f'<div class="variables">'
            f"{shell.table(caption, heads, rows, words=4, wrapped=True)}</div>\n"
        )


def _address(table: int, column: int) -> str:
    return f"v{table + 1}-{column + 1}"


def _variable(file: ReleaseFile, table: ReleaseTable, at: int, place: int, language: str) -> Html:
    column = table.columns[place]
    name = _address(at, place)
    label = column.label.show(language)
    title = f"<code>{escape(column.name)}</code> {escape(label)}".rstrip()
    kind = say(f"codebook.kinds.{column.kind.value}", language)
    unit = column.unit_by_language.show(language) or column.unit
    unit = f" · {unit}" if unit else ""
    told = {
        "description": column.description,
        "universe": column.universe,
        "recoded": column.recoded,
    }
    pairs = "".join(
        f"<dt>{escape(say(f'codebook.{key}', language))}</dt><dd>{escape(text.show(language))}</dd>"
        for key, text in told.items()
        if text
    )
    short = " short" if len(column.codes) <= _SHORT else ""
    body = [
        f'<article class="variable{short}" aria-labelledby="{name}">',
        f'<h3 id="{name}">{title}</h3>',
        f'<p class="kind">{escape(kind + unit)}</p>',
        f"<dl>{pairs}</dl>" if pairs else "",
        _values(file, table, column, language),
        "</article>\n",
    ]
    return Html("\n".join(part for part in body if part))


def _values(file: ReleaseFile, table: ReleaseTable, column: ReleaseColumn, language: str) -> str:
    if column.kind is ColumnKind.NUMBER_OF_UNIT:
        return shell.paragraph(say("codebook.numbering", language), soft=True)
    if column.codes:
        return _codes(file, table, column, language)
    if column.kind in _NUMBERS:
        return _numbers(file, table, column, language)
    return ""


#: Figures about numbers by what DDI calls them, in this order: plain ones, weighted ones.
_FIGURES = {
    ("vald", False): "with_number",
    ("invd", False): "without_number",
    ("min", False): "smallest",
    ("max", False): "largest",
    ("mean", False): "mean",
    ("mean", True): "weighted_mean",
}


def _numbers(file: ReleaseFile, table: ReleaseTable, column: ReleaseColumn, language: str) -> str:
    summaries = column_statistics(file, table, column).summaries
    figures = {(each.kind, each.weighted): each.value for each in summaries}
    lines = [
        [say(f"codebook.{key}", language), _figure(figures[name], language)]
        for name, key in _FIGURES.items()
        if name in figures
    ]
    if not lines:
        return ""
    heads = [say("codebook.figure", language), say("codebook.value", language)]
    return shell.table(say("codebook.numbers_of", language, name=column.name), heads, lines)


def _figure(exact: str, language: str) -> str:
    """A decimal number as a language writes it."""
    whole, point, part = exact.removeprefix("-").partition(".")
    sign = "−" if exact.startswith("-") else ""
    return sign + written_as(f"{int(whole):,}{point}{part}", language)


def _codes(file: ReleaseFile, table: ReleaseTable, column: ReleaseColumn, language: str) -> str:
    """Codes with labels, and where these may be told frequencies of the file with small bars."""
    told = column_statistics(file, table, column)
    counts = told.frequencies
    weights = [Fraction(total) for total in told.weighted]
    heads = ["code", "label"]
    heads += ["records", "percent"] if counts else []
    heads += ["weighted", "weighted_percent"] if weights else []
    kinds = ["code", "label", *["number", "share"] * (len(heads) // 2 - 1)]
    kinds += ["bar"] if counts else []
    columns = "".join(f'<col class="{kind}">' for kind in kinds)
    titles = "".join(
        f'<th scope="col" class="{"word" if head in ("code", "label") else "number"}">'
        f"{escape(say(f'codebook.{head}', language))}</th>"
        for head in heads
    )
    titles += '<td class="bar"></td>' if counts else ""
    figures = _figure_cells(counts, weights, language)
    lines = "".join(
        _code_line(code, figures[at] if counts else "", language)
        for at, code in enumerate(column.codes)
    )
    caption = escape(say("codebook.codes_of", language, name=column.name))
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{caption}">'
        f'<table class="codes"><caption>{caption}</caption><colgroup>{columns}</colgroup>'
        f"<thead><tr>{titles}</tr></thead>\n<tbody>{lines}</tbody></table></div>"
    )


def _figure_cells(counts: Sequence[int], weights: Sequence[Fraction], language: str) -> list[str]:
    """The cells of each code behind its label; bars show weights where there are any."""
    records, whole = sum(counts), sum(weights, Fraction(0))
    sizes = weights or [Fraction(count) for count in counts]
    longest = max(sizes, default=Fraction(0))
    lines = []
    for at, count in enumerate(counts):
        texts = [number_text(count, language)]
        texts.append(share_text(count / records if records else None, language))
        if weights:
            texts.append(number_text(round(weights[at]), language))
            texts.append(share_text(float(weights[at] / whole) if whole else None, language))
        length = round(100 * sizes[at] / longest) if longest > 0 else 0
        bar = f'<i style="width:{length}%"></i>' if sizes[at] > 0 else ""
        cells = "".join(f"<td>{escape(text)}</td>" for text in texts)
        lines.append(f'{cells}<td class="bar" aria-hidden="true">{bar}</td>')
    return lines


def _code_line(code: Code, figures: str, language: str) -> str:
    label = escape(code.label.show(language) or code.code)
    kind = ""
    if code.kind is not CodeKind.VALID:
        words = escape(say(f"codebook.{code.kind.value}", language))
        label, kind = f"{label} <i>({words})</i>", ' class="missing"'
    shown = escape(code.code) if code.code.strip() else f"<i>{escape(_empty(language))}</i>"
    return (
        f'<tr{kind}><th scope="row" class="word">{shown}</th><td class="word">{label}</td>'
        f"{figures}</tr>\n"
    )


def _empty(language: str) -> str:
    return say("codebook.empty", language)
