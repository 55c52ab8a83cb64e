"""The page about an audit. For the office: it says how withheld cells can be computed."""

from __future__ import annotations

from sdcensus.model.catalogue import FIRST
from sdcensus.model.quantities import number_text
from sdcensus.model.sentences import speak
from sdcensus.report import page as shell
from sdcensus.report.audit import words
from sdcensus.report.audit.plots import widths_plot
from sdcensus.report.audit.results import AuditedCell, AuditFindings
from sdcensus.report.page import Html, PageCell, Tile, Tone
from sdcensus.solvers.audit.intervals import CellStatus

#: Cells that a page lists; a workbook has all of them.
MOST_CELLS = 200
_TONES = {
    CellStatus.DISCLOSED: Tone.BAD,
    CellStatus.APPROXIMATE: Tone.WARN,
    CellStatus.PROTECTED: Tone.PLAIN,
}


def audit_page(findings: AuditFindings, language: str | None = None) -> str:
    """The whole page."""
    sections = {
        "cells": _cells(findings, language),
        "widths": _widths(findings, language),
        "failed": _failed(findings, language),
        "tables": _tables(findings, language),
        "scope": shell.bullets(words.scope(findings, language)),
    }
    titles = {
        name: speak(f"audit.section.{name}", language)
        for name, content in sections.items()
        if content
    }
    tables = len(findings.tables)
    facts = speak(
        f"audit.facts{'' if tables != 1 else '_one'}",
        language,
        tables=tables,
        cells=number_text(sum(table.cells for table in findings.tables), language),
        withheld=number_text(len(findings.cells), language),
    )
    return shell.page(
        speak("audit.title", language),
        _tiles(findings, language),
        shell.contents(*titles.values(), language=language),
        *(shell.section(title, sections[name]) for name, title in titles.items()),
        facts=facts,
        lead=words.lead(findings, language),
        stamp=speak("audit.stamp", language),
        closing=speak("audit.closing", language),
        language=language or FIRST,
    )


def _tiles(findings: AuditFindings, language: str | None) -> Html:
    disclosed = findings.count(CellStatus.DISCLOSED)
    near = findings.count(CellStatus.APPROXIMATE)
    numbers = (
        ("withheld", len(findings.cells), Tone.PLAIN),
        ("disclosed", disclosed, Tone.BAD if disclosed else Tone.GOOD),
        ("near", near, Tone.WARN if near else Tone.GOOD),
        ("unbounded", findings.unbounded, Tone.PLAIN),
    )
    return shell.tiles(
        Tile(number_text(number, language), speak(f"audit.tile.{name}", language), tone)
        for name, number, tone in numbers
    )


def _cells(findings: AuditFindings, language: str | None) -> Html:
    shown = [cell for cell in findings.cells if cell.status is not CellStatus.PROTECTED]
    said = speak("audit.page.near", language, what=words.near_text(findings, language))
    parts = [shell.paragraph(said, soft=True)]
    if not shown:
        return Html("".join([*parts, shell.paragraph(speak("audit.page.none", language))]))
    names = ("cell", "table", "status", "kind", "proof", "interval")
    head = [speak(f"audit.head.{name}", language) for name in names]
    rows = [_row(cell, findings.decimals, language) for cell in shown[:MOST_CELLS]]
    caption = speak("audit.page.caption_cells", language)
    parts.append(shell.table(caption, head, rows, words=5, wrapped=True))
    if len(shown) > MOST_CELLS:
        more = number_text(len(shown) - MOST_CELLS, language)
        parts.append(shell.paragraph(speak("audit.page.more", language, n=more)))
    return Html("".join(parts))


def _row(cell: AuditedCell, decimals: int, language: str | None) -> list[PageCell | str]:
    proofs = " | ".join(words.proof_text(proof, decimals, language) for proof in cell.proofs)
    return [
        cell.cell,
        cell.table,
        PageCell(words.status_text(cell.status, language), _TONES[cell.status]),
        kind_text(cell, language),
        proofs,
        words.interval_text(cell, decimals, language),
    ]


def kind_text(cell: AuditedCell, language: str | None) -> str:
    """Why a cell is withheld, where the file says it."""
    names = {None: "unknown", True: "secondary", False: "primary"}
    return speak(f"audit.kind.{names[cell.secondary]}", language)


def _widths(findings: AuditFindings, language: str | None) -> Html:
    if not findings.cells:
        return Html("")
    plot = widths_plot(findings, language)
    return shell.figure(plot.chart, plot.alternative, title=plot.title)


def _failed(findings: AuditFindings, language: str | None) -> Html:
    if not findings.failed:
        return Html("")
    head = [speak(f"audit.head.{name}", language) for name in ("total", "parts", "gap")]
    rows = [
        [
            failed.total,
            number_text(failed.parts, language),
            words.amount_text(failed.gap, findings.decimals, language),
        ]
        for failed in findings.failed[:MOST_CELLS]
    ]
    return shell.table(speak("audit.page.caption_failed", language), head, rows)


def _tables(findings: AuditFindings, language: str | None) -> Html:
    names = ("table", "tool", "cells", "shown", "withheld", "absent")
    head = [speak(f"audit.head.{name}", language) for name in names]
    rows = [
        [
            table.name,
            table.tool,
            *(
                number_text(number, language)
                for number in (table.cells, table.shown, table.withheld, table.absent)
            ),
        ]
        for table in findings.tables
    ]
    return shell.table(speak("audit.page.caption_tables", language), head, rows, words=2)
