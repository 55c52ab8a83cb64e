"""The workbook about a derived store: the evaluation of its tables, and every table of facts."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from typing import Any

from sdcensus.documents.workbooks.files import plain_book
from sdcensus.formats.shared.sheets import library
from sdcensus.microdata.method import FactTable
from sdcensus.model.sentences import in_language, speak
from sdcensus.report.assessment.sheet import SheetFormats, new_sheet, row_height, workbook
from sdcensus.report.derivation import tables
from sdcensus.report.derivation.results import Effects
from sdcensus.report.derivation.words import findings, lead
from sdcensus.utility.evaluation import Stage

_HEAD_ROW = 3
_NARROW, _WIDE = 12, 46
#: As long as programs let names of sheets be.
_LONGEST_NAME = 31


def effects_workbook(effects: Effects) -> bytes:
    """The whole workbook; the figures of every stage stand side by side on its first sheets."""
    language = effects.language
    every = [
        tables.levels_table(effects),
        tables.small_table(effects),
        tables.combined_table(effects),
        tables.stages_table(effects, effects.tables),
        tables.spread_table(effects, effects.tables),
        tables.repeated_table(effects, effects.tables),
        tables.associations_table(effects),
        tables.rules_table(effects),
        tables.figures_table(effects),
        tables.sizes_table(effects),
        tables.line_table(effects),
        tables.settings_table(effects),
    ]

    def first(book: Any, formats: SheetFormats) -> None:
        _summary(book, formats, effects)

    def more(book: Any, formats: SheetFormats) -> None:
        for table in every:
            if table.rows:
                name = speak(f"derive.sheet.{table.name}", language)
                facts_sheet(book, formats, table, name)
        for table in effects.facts:
            facts_sheet(book, formats, table, table.name)

    stages = {stage: tables.stage_text(stage, language) for stage in Stage}
    rows = [table.evaluation for table in effects.tables]
    return workbook(rows, more, {}, language, first=first, stages=stages)


def plan_workbook(facts: Sequence[FactTable], language: str | None) -> bytes:
    """What a method would meet, a sheet for each table."""
    buffer = BytesIO()
    book = plain_book(library(), buffer, {"in_memory": True})
    formats = SheetFormats(book, language)
    if not facts:
        sheet = new_sheet(book, formats, speak("derive.sheet.summary", language))
        sheet.write_string(_HEAD_ROW, 0, speak("derive.about.no_plan", language), formats.text)
    for table in facts:
        facts_sheet(book, formats, table, table.name)
    book.close()
    return buffer.getvalue()


def _summary(book: Any, formats: SheetFormats, effects: Effects) -> None:
    language = effects.language
    sheet = new_sheet(book, formats, speak("derive.sheet.summary", language))
    sheet.set_column(0, 0, 110)
    lines = [speak("derive.title", language, census=effects.census), lead(effects)]
    for row, text in enumerate([*lines, *findings(effects)], start=2):
        sheet.write_string(row, 0, text, formats.name if row == 2 else formats.text)
        sheet.set_row(row, row_height((text, 110)))


def facts_sheet(book: Any, formats: SheetFormats, table: FactTable, name: str) -> None:
    """A table of facts on a sheet of its own, as numbers."""
    sheet = new_sheet(book, formats, _free_name(book, name))
    language = formats.language
    sheet.write_string(1, 0, in_language(table.title, language), formats.name)
    words = tables.word_columns(table)
    heads = [in_language(heading, language) for heading in table.headings]
    widths = [_width(table, at) for at in range(len(heads))]
    for column, head in enumerate(heads):
        kind = formats.head if column < words else formats.number_head
        sheet.write_string(_HEAD_ROW, column, head, kind)
        sheet.set_column(column, column, widths[column])
    sheet.set_row(_HEAD_ROW, row_height(*zip(heads, widths, strict=True)))
    for row, values in enumerate(table.rows, start=_HEAD_ROW + 1):
        for column, value in enumerate(values):
            share = tables.is_share(table.headings[column])
            if isinstance(value, float) and share:
                sheet.write_number(row, column, value, formats.share)
            else:
                formats.put(sheet, row, column, "", value)
        texts = [
            (in_language(value, language), widths[column])
            for column, value in enumerate(values)
            if isinstance(value, str)
        ]
        sheet.set_row(row, row_height(*texts) if texts else 15.0)
    last = _HEAD_ROW + max(len(table.rows), 1)
    sheet.autofilter(_HEAD_ROW, 0, last, len(heads) - 1)
    sheet.freeze_panes(_HEAD_ROW + 1, 1)
    sheet.repeat_rows(_HEAD_ROW)
    if table.note is not None:
        sheet.write_string(last + 2, 0, in_language(table.note, language))


def _width(table: FactTable, at: int) -> int:
    texts = [row[at] for row in table.rows if isinstance(row[at], str)]
    if not texts:
        return _NARROW
    return max(_NARROW, min(_WIDE, 3 + max(len(str(text)) for text in texts)))


def _free_name(book: Any, name: str) -> str:
    """A name that programs take and no other sheet has."""
    plain = "".join(sign for sign in name if sign not in "[]:*?/\\'")[:_LONGEST_NAME]
    taken = {sheet.get_name().lower() for sheet in book.worksheets()}
    number, free = 2, plain
    while free.lower() in taken:
        free = f"{plain[: _LONGEST_NAME - 3]} {number}"
        number += 1
    return free
