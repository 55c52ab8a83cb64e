"""Figures of tables of sums as workbooks and csv files, for the office only."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from sdcensus.documents.workbooks.files import plain_book
from sdcensus.formats.shared.sheets import library
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.quantities import NOTHING
from sdcensus.model.sentences import in_language, speak
from sdcensus.model.spec.headings import table_heading
from sdcensus.model.text import plain_cell
from sdcensus.report.charts import require_libraries
from sdcensus.report.magnitude.blocks import (
    Block,
    Column,
    Form,
    Value,
    further_block,
    loss_block,
    losses_block,
    method_text,
    methods_block,
    risk_blocks,
)
from sdcensus.report.magnitude.page import sum_study_page
from sdcensus.report.magnitude.results import SumAssessment, SumStudy
from sdcensus.report.magnitude.words import sum_conclusions, sum_lead
from sdcensus.report.new_folder import check_new_folder, write_new_folder
from sdcensus.report.page import running_stamp

PAGE, WORKBOOK = "study.html", "study.xlsx"
_HEAD_ROW, _WIDE, _NARROW = 3, 44, 13


def sum_workbook(assessments: Sequence[SumAssessment], language: str | None = None) -> bytes:
    """A sheet for each kind of figures, with a row or more for each table."""
    titled = [
        (assessment.public.title, block)
        for assessment in assessments
        for block in (
            *risk_blocks(assessment.figures, language),
            loss_block(assessment.figures, language),
            further_block(assessment.figures, language),
        )
    ]
    words = [
        (assessment.public.title, text)
        for assessment in assessments
        for text in (
            sum_lead(assessment, language),
            *sum_conclusions(assessment, language),
            *(in_language(caution, language) for caution in assessment.cautions),
            *(in_language(reason, language) for reason in assessment.left_out),
        )
    ]
    return _workbook(joined(titled), words, language)


def joined(titled: Iterable[tuple[str, Block]]) -> list[Block]:
    """Blocks of one kind below each other, the name of the table before each row."""
    by_kind: dict[str, Block] = {}
    for title, block in titled:
        rows = tuple((title, *row) for row in block.rows)
        if block.key in by_kind:
            rows = (*by_kind[block.key].rows, *rows)
        columns = (Column("table", Form.TEXT), *block.columns)
        by_kind[block.key] = replace(block, columns=columns, rows=rows)
    return list(by_kind.values())


def as_csv(block: Block) -> bytes:
    """A block as csv: UTF-8, commas, shares as plain numbers, empty where there is none."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in block.columns])
    for row in block.rows:
        writer.writerow([_plain(value) for value in row])
    return text.getvalue().encode("utf-8")


def _plain(value: Value) -> str | int:
    if value is None:
        return ""
    if isinstance(value, str):
        return plain_cell(value)
    return f"{value:.8g}" if isinstance(value, float) else value


def write_sum_study(
    study: SumStudy, folder: str | Path, *, progress: Progress = no_progress
) -> tuple[Path, ...]:
    """Write a study of sums to a new folder that only its owner can read: all of it, or nothing.

    Args:
        study: What was measured.
        folder: Where; must not exist.
        progress: Called with the stage and how much of it is done.

    Returns:
        The files, the page first.
    """
    require_libraries()
    target = check_new_folder(folder)
    progress("drawing", 0.0)
    contents = {
        PAGE: sum_study_page(study).encode("utf-8"),
        WORKBOOK: _workbook(_study_blocks(study, study.language), [], study.language),
        # Files for programs are the same in every language.
        **{f"{block.key}.csv": as_csv(block) for block in _study_blocks(study, None)},
    }
    progress("writing", 0.0)
    return write_new_folder(target, contents)


def _study_blocks(study: SumStudy, language: str | None) -> list[Block]:
    methods, details = [], []
    for table in study.tables:
        title = table_heading(table.spec, language)
        methods.append((title, methods_block(study, table, language)))
        methods.append((title, losses_block(study, table, language)))
        for result in table.results:
            named = f"{title}: {method_text(result, language)}"
            details += [(named, block) for block in risk_blocks(result.figures, language)]
            details.append((named, loss_block(result.figures, language)))
    return joined([*methods, *details])


def _workbook(
    blocks: Sequence[Block], words: Sequence[tuple[str, str]], language: str | None
) -> bytes:
    content = io.BytesIO()
    book = plain_book(library(), content, {"in_memory": True})
    styles = _styles(book)
    for block in blocks:
        name = speak(f"sums.sheet.{block.key}", language)
        _write(_sheet(book, name, language, styles), block, language, styles)
    if words:
        sheet = _sheet(book, speak("assess.sheet.conclusions", language), language, styles)
        sheet.set_column(0, 0, _WIDE)
        sheet.set_column(1, 1, 3 * _WIDE)
        for row, (title, text) in enumerate(words, start=2):
            sheet.write_string(row, 0, title, styles[Form.TEXT])
            sheet.write_string(row, 1, text, styles[Form.TEXT])
    book.close()
    return content.getvalue()


def _styles(book: Any) -> dict[str, Any]:
    wrapped = {"text_wrap": True, "valign": "top"}
    return {
        "stamp": book.add_format({"font_color": "#9b2c2c", "bold": True}),
        "title": book.add_format({"bold": True}),
        "head": book.add_format({**wrapped, "bold": True, "bottom": 1, "bg_color": "#e9f3f3"}),
        "none": book.add_format({"font_color": "#5b6773", "align": "right", "valign": "top"}),
        Form.TEXT: book.add_format(wrapped),
        **{
            form: book.add_format({"num_format": form.value, "valign": "top"})
            for form in (Form.COUNT, Form.SHARE)
        },
    }


def _sheet(book: Any, name: str, language: str | None, styles: dict[str, Any]) -> Any:
    """A sheet that says on every page that it is confidential."""
    sheet = book.add_worksheet(name)
    stamp = running_stamp(language)
    sheet.write_string(0, 0, stamp, styles["stamp"])
    sheet.set_landscape()
    sheet.set_footer(f"&L{stamp}&C&A&R&P / &N")
    return sheet


def _write(sheet: Any, block: Block, language: str | None, styles: dict[str, Any]) -> None:
    sheet.write_string(1, 0, block.title(language), styles["title"])
    for at, (heading, column) in enumerate(
        zip(block.headings(language), block.columns, strict=True)
    ):
        sheet.set_column(at, at, _WIDE if column.form is Form.TEXT else _NARROW)
        sheet.write_string(_HEAD_ROW, at, heading, styles["head"])
    for row, values in enumerate(block.rows, start=_HEAD_ROW + 1):
        for at, (value, column) in enumerate(zip(values, block.columns, strict=True)):
            if value is None:
                sheet.write_string(row, at, NOTHING, styles["none"])
            elif isinstance(value, str):
                sheet.write_string(row, at, value, styles[Form.TEXT])
            else:
                sheet.write_number(row, at, value, styles[column.form])
    sheet.write_string(_HEAD_ROW + len(block.rows) + 2, 0, block.note(language), styles[Form.TEXT])
    sheet.freeze_panes(_HEAD_ROW + 1, 1)
