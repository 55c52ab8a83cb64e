"""A study as a folder that only its owner can read: a page, a workbook, and csv files."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

from sdcensus.documents.workbooks.files import plain_book
from sdcensus.errors import MissingExtra
from sdcensus.model.progress import Progress, no_progress
from sdcensus.model.quantities import NOTHING
from sdcensus.model.text import plain_cell
from sdcensus.report.charts import require_libraries
from sdcensus.report.new_folder import check_new_folder, write_new_folder
from sdcensus.report.page import running_stamp
from sdcensus.report.study.page import page
from sdcensus.report.study.published import Published, published_for
from sdcensus.report.study.results import Study
from sdcensus.report.study.rows import sheets
from sdcensus.report.study.sheet import Form, StudySheet, Value
from sdcensus.report.study.words import reasons, say, sentences

_WIDEST, _NARROWEST, _TEXT_WIDTH = 60, 9, 120


def as_csv(sheet: StudySheet) -> bytes:
    """A sheet as csv: UTF-8, commas, plain numbers, empty where a figure has no meaning."""
    text = io.StringIO(newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow([column.name for column in sheet.columns])
    for row in sheet.rows:
        writer.writerow([_plain(value) for value in row])
    return text.getvalue().encode("utf-8")


def _plain(value: Value) -> str | int:
    if value is None:
        return ""
    if isinstance(value, str):
        return plain_cell(value)
    return f"{value:.8g}" if isinstance(value, float) else value


def require_workbooks() -> Any:
    """Say at once if what writes workbooks is not installed."""
    try:
        return import_module("xlsxwriter")
    except ImportError:
        raise MissingExtra("formats", needed_for="Writing the workbook of a study") from None


def as_workbook(study: Study, shown: Sequence[StudySheet], published: Published | None) -> bytes:
    """The sheets as one workbook, with the findings in words before them."""
    library = require_workbooks()
    content = io.BytesIO()
    book = plain_book(library, content, {"in_memory": True})
    book.set_properties({"title": say(study, "title", census=study.census)})
    styles = _Styles(book)
    _write_summary(book.add_worksheet(say(study, "summary")), study, published, styles)
    for sheet in shown:
        _write_sheet(book.add_worksheet(sheet.name), study, sheet, styles)
    book.close()
    return content.getvalue()


class _Styles:
    """How cells look."""

    def __init__(self, book: Any) -> None:
        self.title = book.add_format({"bold": True, "font_size": 14})
        self.stamp = book.add_format({"font_color": "#9b2c2c", "italic": True})
        self.bold = book.add_format({"bold": True, "valign": "top"})
        self.wrapped = book.add_format({"text_wrap": True, "valign": "top"})
        head = {"bold": True, "bottom": 1, "text_wrap": True, "valign": "bottom"}
        self.head = book.add_format(head)
        self.head_right = book.add_format({**head, "align": "right"})
        self.none = book.add_format({"align": "right", "font_color": "#5b6773"})
        self._book = book
        self._made: dict[tuple[Form, bool], Any] = {}

    def of(self, form: Form, *, first: bool) -> Any:
        """The format of a column; the first row of a table has a line above it."""
        if (form, first) not in self._made:
            look: dict[str, Any] = {} if form is Form.TEXT else {"num_format": form.value}
            if first:
                look |= {"top": 1, "top_color": "#c9d0d6"}
            self._made[form, first] = self._book.add_format(look)
        return self._made[form, first]


def _prepare(sheet: Any, study: Study) -> None:
    sheet.hide_gridlines(2)
    sheet.set_landscape()
    sheet.set_footer(f"&L{running_stamp(study.language)}&R&P / &N")


def _write_summary(sheet: Any, study: Study, published: Published | None, styles: _Styles) -> None:
    _prepare(sheet, study)
    sheet.set_column(0, 0, 30)
    sheet.set_column(1, 1, _TEXT_WIDTH)
    sheet.write_string(0, 0, say(study, "title", census=study.census), styles.title)
    sheet.write_string(1, 0, running_stamp(study.language), styles.stamp)
    row = 3
    lines = [*sentences(study, published)]
    lines += [(say(study, "find.meaningless"), reason) for reason in reasons(study)]
    data = say(study, "said.data", version=study.data_version, secret=study.secret_id)
    lines.append((say(study, "find.data"), data))
    for head, text in lines:
        # The height that wrapped text needs: programs that only show it compute none.
        height = max(1 + len(text) // (_TEXT_WIDTH - 8), 1 + len(head) // 28)
        sheet.set_row(row, 15.0 * height)
        sheet.write_string(row, 0, head, styles.wrapped)
        sheet.write_string(row, 1, text, styles.wrapped)
        row += 1


def _write_sheet(sheet: Any, study: Study, content: StudySheet, styles: _Styles) -> None:
    _prepare(sheet, study)
    top = 3
    sheet.freeze_panes(top + 1, content.frozen)
    sheet.repeat_rows(top)
    sheet.set_row(top, 46)
    for at, column in enumerate(content.columns):
        texts = [str(row[at]) for row in content.rows] if column.form is Form.TEXT else []
        longest = max(
            map(len, [*column.heading.split(), *texts, "00,000,000"[: 9 if texts else 10]])
        )
        sheet.set_column(at, at, max(_NARROWEST, min(_WIDEST, longest + 2)))
        style = styles.head if column.form is Form.TEXT else styles.head_right
        sheet.write_string(top, at, column.heading, style)
    sheet.write_string(0, 0, content.title, styles.title)
    sheet.write_string(1, 0, running_stamp(study.language), styles.stamp)
    if not content.rows:
        sheet.write_string(top + 1, 0, say(study, "empty_sheet"), styles.wrapped)
        return
    sheet.autofilter(top, 0, top + len(content.rows), len(content.columns) - 1)
    before: Value = None
    for row, values in enumerate(content.rows, top + 1):
        first = values[0] != before and row > top + 1
        before = values[0]
        for at, (value, column) in enumerate(zip(values, content.columns, strict=True)):
            style = styles.of(column.form, first=first)
            if value is None:
                sheet.write_string(row, at, NOTHING, styles.none)
            elif isinstance(value, str):
                sheet.write_string(row, at, value, style)
            else:
                sheet.write_number(row, at, value, style)


PAGE, WORKBOOK = "study.html", "study.xlsx"


def check_study_target(folder: str | Path) -> Path:
    """Refuse early what could not be written in the end."""
    require_libraries()
    require_workbooks()
    return check_new_folder(folder)


def write_study(
    study: Study, folder: str | Path, *, progress: Progress = no_progress
) -> tuple[Path, ...]:
    """Write a study to a new folder that only its owner can read: all of it, or nothing.

    Args:
        study: What was measured.
        folder: Where; must not exist.
        progress: Called with the stage and how much of it is done.

    Returns:
        The files, the page first.
    """
    target = check_study_target(folder)
    published = published_for(study)
    # Files for programs are the same in every language.
    plain = sheets(replace(study, language=None), published)
    contents = {
        PAGE: page(study, published, progress=progress).encode("utf-8"),
        WORKBOOK: as_workbook(study, sheets(study, published), published),
        **{sheet.file: as_csv(sheet) for sheet in plain},
    }
    progress("writing", 0.0)
    return write_new_folder(target, contents)
