"""An audit as files that only their owner can read: a page, a workbook, or a csv file."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

from sdcensus.documents.workbooks.files import plain_book
from sdcensus.errors import OutputError
from sdcensus.formats.shared.sheets import library
from sdcensus.formats.write import check_new
from sdcensus.model.sentences import speak
from sdcensus.model.text import plain_cell
from sdcensus.report.assessment.sheet import SheetFormats, new_sheet
from sdcensus.report.audit import words
from sdcensus.report.audit.page import audit_page, kind_text
from sdcensus.report.audit.plots import widths
from sdcensus.report.audit.results import AuditFindings
from sdcensus.report.charts import require_libraries
from sdcensus.store.owner_only import create_owner_only

_HEAD_ROW = 3
_COLUMNS = ("table", "cell", "kind", "status", "lower", "upper", "width", "proof")
_WIDTHS = (24, 44, 18, 20, 12, 12, 12, 100)


def check_audit_target(path: str | Path) -> Path:
    """Refuse early what could not be written in the end."""
    target = Path(path)
    ending = target.suffix.lower()
    if ending not in (".html", ".xlsx", ".csv"):
        raise OutputError(f"{target}: an audit is written as .html, .xlsx or .csv.")
    check_new(target)
    if ending == ".html":
        require_libraries()
    elif ending == ".xlsx":
        library()
    return target


def write_audit(findings: AuditFindings, path: str | Path, language: str | None = None) -> Path:
    """Write a new file that only its owner can read; its ending says which kind."""
    target = Path(path)
    writers: dict[str, Callable[[], bytes]] = {
        ".html": lambda: audit_page(findings, language).encode(),
        ".xlsx": lambda: audit_workbook(findings, language),
        ".csv": lambda: audit_csv(findings).encode("utf-8-sig"),
    }
    create_owner_only(target, writers[target.suffix.lower()]())
    return target


def _lines(findings: AuditFindings, language: str | None) -> list[list[str | int | None]]:
    decimals = findings.decimals
    unit = 10**decimals

    def number(value: int | None) -> int | str | None:
        if value is None or unit == 1:
            return value
        return words.amount_text(value, decimals)

    return [
        [
            cell.table,
            cell.cell,
            kind_text(cell, language),
            words.status_text(cell.status, language),
            number(cell.lower),
            number(cell.upper),
            number(cell.width),
            " | ".join(words.proof_text(proof, decimals, language) for proof in cell.proofs),
        ]
        for cell in findings.cells
    ]


def audit_csv(findings: AuditFindings) -> str:
    """All withheld cells, one in each line; what has no bound is empty."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_COLUMNS)
    for line in _lines(findings, None):
        writer.writerow(
            "" if value is None else plain_cell(value) if isinstance(value, str) else value
            for value in line
        )
    return text.getvalue()


def audit_workbook(findings: AuditFindings, language: str | None = None) -> bytes:
    """Sheets of what was found, of all withheld cells, and of the tables."""
    buffer = io.BytesIO()
    book = plain_book(library(), buffer, {"in_memory": True})
    formats = SheetFormats(book, language)
    _summary(book, formats, findings)
    heads = [speak(f"audit.head.{name}", language) for name in _COLUMNS]
    title = speak("audit.tile.withheld", language)
    _sheet(book, formats, title, heads, _lines(findings, language), _WIDTHS)
    names = ("table", "tool", "cells", "shown", "withheld", "absent")
    rows: list[list[str | int | None]] = [
        [table.name, table.tool, table.cells, table.shown, table.withheld, table.absent]
        for table in findings.tables
    ]
    heads = [speak(f"audit.head.{name}", language) for name in names]
    _sheet(book, formats, speak("audit.section.tables", language), heads, rows, (40, 34, *[12] * 4))
    if findings.failed:
        failed: list[list[str | int | None]] = [
            [wrong.total, wrong.parts, words.amount_text(wrong.gap, findings.decimals)]
            for wrong in findings.failed
        ]
        heads = [speak(f"audit.head.{name}", language) for name in ("total", "parts", "gap")]
        title = speak("audit.section.failed", language)
        _sheet(book, formats, title, heads, failed, (60, 12, 14))
    book.close()
    return buffer.getvalue()


def _summary(book: Any, formats: SheetFormats, findings: AuditFindings) -> None:
    language = formats.language
    sheet = new_sheet(book, formats, speak("audit.section.scope", language))
    sheet.set_column(0, 0, 100)
    lines = [speak("audit.title", language), words.lead(findings, language)]
    near = speak("audit.page.near", language, what=words.near_text(findings, language))
    counts = [f"{name}: {number}" for name, number in widths(findings, language)]
    chart = f"{speak('audit.page.chart', language)}: {'; '.join(counts)}"
    every = [*lines, near, *words.scope(findings, language), chart]
    for row, text in enumerate(every, start=_HEAD_ROW - 1):
        sheet.write_string(row, 0, text, formats.name if row == _HEAD_ROW - 1 else formats.text)


def _sheet(
    book: Any,
    formats: SheetFormats,
    title: str,
    heads: list[str],
    rows: list[list[str | int | None]],
    column_widths: tuple[int, ...],
) -> None:
    sheet = new_sheet(book, formats, title[:31])
    for column, (head, width) in enumerate(zip(heads, column_widths, strict=True)):
        sheet.write_string(_HEAD_ROW, column, head, formats.head)
        sheet.set_column(column, column, width)
    for row, values in enumerate(rows, start=_HEAD_ROW + 1):
        for column, value in enumerate(values):
            if isinstance(value, str):
                sheet.write_string(row, column, value, formats.text)
            elif value is not None:
                sheet.write_number(row, column, value)
    sheet.autofilter(_HEAD_ROW, 0, _HEAD_ROW + max(len(rows), 1), len(heads) - 1)
    sheet.freeze_panes(_HEAD_ROW + 1, 1)
