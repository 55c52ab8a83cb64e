"""The evaluation sheet: one row for each table, before and after protection. Confidential."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import BytesIO
from typing import Any

from sdcensus.documents.workbooks.files import plain_book
from sdcensus.formats.shared.sheets import library
from sdcensus.report.assessment.results import Assessment
from sdcensus.report.assessment.words import conclusions, lead, part_text
from sdcensus.report.page import RUNNING_STAMP
from sdcensus.utility.evaluation import EvaluationRow, Stage, StageFigures

_STAMP_ROW, _HEAD_ROW = 0, 2
_NOTHING = "–"
#: Figures that are there at every stage, and those that compare a stage with the original.
_OF_ORIGINAL = (
    "cells",
    "zeros",
    "total",
    "minimum",
    "maximum",
    "unsafe cells",
    "share of unsafe cells",
    "mean",
    "median",
)
_OF_LATER = (
    "withheld",
    *_OF_ORIGINAL,
    "mean change",
    "median change",
    "largest change",
    "share equal to original",
)
#: The usual width of a column, in signs, and the height of a line.
_WIDTH, _LINE_HEIGHT = 11, 15.0


def evaluation_workbook(assessments: Sequence[Assessment]) -> bytes:
    """A workbook: a row for each table with margins and without, distances, conclusions."""

    def more(book: Any, formats: _Formats) -> None:
        _distances(book, formats, assessments)
        _intervals(book, formats, assessments)
        _conclusions(book, formats, assessments)

    measured = [each for assessment in assessments for each in assessment.measured]
    meanings = dict(meaning for each in measured for meaning in each.measure.meaning)
    return _workbook([each.evaluation for each in assessments], more, meanings)


def rows_workbook(rows: Sequence[EvaluationRow]) -> bytes:
    """A workbook with nothing but a row for each table, with margins and without."""
    return _workbook(rows, lambda book, formats: None, {})


def _workbook(
    rows: Sequence[EvaluationRow],
    more: Callable[[Any, _Formats], None],
    meanings: Mapping[str, str],
) -> bytes:
    buffer = BytesIO()
    book = plain_book(library(), buffer, {"in_memory": True})
    book.set_properties({"title": "Evaluation of tables"})
    formats = _Formats(book)
    _evaluation(book, formats, "With margins", rows, margins=True)
    _evaluation(book, formats, "Without margins", rows, margins=False)
    more(book, formats)
    _meaning(book, formats, {**_MEANINGS, **meanings, _NOTHING: _NO_MEANING})
    book.close()
    return buffer.getvalue()


class _Formats:
    def __init__(self, book: Any) -> None:
        head = {
            "bold": True,
            "text_wrap": True,
            "valign": "bottom",
            "bottom": 1,
            "bg_color": "#e9f3f3",
        }
        self.stamp = book.add_format({"font_color": "#9b2c2c", "bold": True})
        self.head = book.add_format({**head, "align": "left", "indent": 1})
        self.number_head = book.add_format({**head, "align": "right"})
        self.group = book.add_format({**head, "align": "center", "left": 1})
        self.name = book.add_format({"bold": True, "text_wrap": True, "valign": "top"})
        self.text = book.add_format(
            {"text_wrap": True, "valign": "top", "align": "left", "indent": 1}
        )
        self.whole = book.add_format({"num_format": "#,##0", "valign": "top"})
        self.decimal = book.add_format({"num_format": "#,##0.000", "valign": "top"})
        self.share = book.add_format({"num_format": "0.00%", "valign": "top"})
        self.none = book.add_format({"font_color": "#5b6773", "align": "right", "valign": "top"})

    def put(self, sheet: Any, row: int, column: int, heading: str, value: object) -> None:
        """One value, by its kind; a dash where there is none."""
        if value is None:
            sheet.write_string(row, column, _NOTHING, self.none)
        elif isinstance(value, str):
            sheet.write_string(row, column, value, self.text)
        elif isinstance(value, int):
            sheet.write_number(row, column, value, self.whole)
        elif isinstance(value, float):
            kind = self.share if "share" in heading else self.decimal
            sheet.write_number(row, column, value, kind)


def _sheet(book: Any, formats: _Formats, name: str) -> Any:
    sheet = book.add_worksheet(name)
    sheet.write_string(_STAMP_ROW, 0, RUNNING_STAMP, formats.stamp)
    sheet.set_landscape()
    sheet.set_paper(9)
    sheet.set_margins(left=0.4, right=0.4, top=0.5, bottom=0.6)
    sheet.fit_to_pages(1, 0)
    sheet.set_footer(f"&L{RUNNING_STAMP}&C&A&R&P / &N")
    return sheet


# ---------------------------------------------------------------- the sheet itself

_NAMES = (("number", 9), ("table", 36), ("hierarchy levels", 11), ("note", 26))
_FIGURE_WIDTH = 9.5
#: In percent, so that the names and one stage are as wide as a page.
_PRINT_SCALE = 56


def _evaluation(
    book: Any, formats: _Formats, name: str, rows: Sequence[EvaluationRow], *, margins: bool
) -> None:
    """One row for each table; the stages stand side by side."""
    sheet = _sheet(book, formats, name)
    stages = list(dict.fromkeys(stage.stage for row in rows for stage in row.stages))
    for column, (head, width) in enumerate(_NAMES):
        sheet.write_string(_HEAD_ROW, column, "", formats.head)
        sheet.write_string(_HEAD_ROW + 1, column, head, formats.head)
        sheet.set_column(column, column, width)
    column = len(_NAMES)
    places: dict[Stage, int] = {}
    for stage in stages:
        figures = _figures_of(stage)
        places[stage] = column
        sheet.merge_range(
            _HEAD_ROW, column, _HEAD_ROW, column + len(figures) - 1, stage.value, formats.group
        )
        for at, head in enumerate(figures, start=column):
            sheet.write_string(_HEAD_ROW + 1, at, head, formats.number_head)
            sheet.set_column(at, at, _FIGURE_WIDTH)
        column += len(figures)
    sheet.set_row(_HEAD_ROW + 1, 3 * _LINE_HEIGHT)
    for at, row in enumerate(rows, start=_HEAD_ROW + 2):
        _table_row(sheet, formats, at, row, places, margins=margins)
    sheet.freeze_panes(_HEAD_ROW + 2, 2)
    sheet.repeat_rows(_HEAD_ROW, _HEAD_ROW + 1)
    # Each stage on a page of its own, beside the names of the tables.
    sheet.set_print_scale(_PRINT_SCALE)
    sheet.repeat_columns(0, 1)
    sheet.set_v_pagebreaks(list(places.values())[1:])
    sheet.print_across()
    sheet.autofilter(_HEAD_ROW + 1, 0, _HEAD_ROW + 1 + max(len(rows), 1), column - 1)


def _figures_of(stage: Stage) -> tuple[str, ...]:
    return _OF_ORIGINAL if stage is Stage.ORIGINAL else _OF_LATER


def _table_row(
    sheet: Any,
    formats: _Formats,
    at: int,
    row: EvaluationRow,
    places: dict[Stage, int],
    *,
    margins: bool,
) -> None:
    stages: dict[Stage, StageFigures] = {
        stage.stage: stage for stage in row.stages if stage.margins is margins
    }
    notes = [] if stages else ["the levels of the table do not nest: it has no interior cells"]
    for stage, first in places.items():
        values = stages[stage].columns() if stage in stages else {}
        for column, head in enumerate(_figures_of(stage), start=first):
            formats.put(sheet, at, column, head, values.get(head))
        if stage in stages and stages[stage].reason:
            notes.append(f"{stage}: {stages[stage].reason}")
    note = "; ".join([*notes, f"unsafe: counts from 1 to {row.unsafe_up_to}"])
    variables = ", ".join(row.variables)
    # Tables without a name are called by their variables.
    heading = row.table if row.table.endswith(variables) else f"{row.table}: {variables}"
    texts = (row.number, heading, ", ".join(map(str, row.levels)) or _NOTHING, note)
    for column, value in enumerate(texts):
        formats.put(sheet, at, column, "", value)
    sheet.set_row(at, _height((heading, _NAMES[1][1]), (note, _NAMES[3][1])))


def _height(*texts: tuple[str, float]) -> float:
    """The height of a row with texts in columns of these widths.

    Not every program finds the height of wrapped lines by itself.
    """
    lines = (
        sum(math.ceil(max(len(line), 1) / (0.9 * width)) for line in text.split("\n"))
        for text, width in texts
    )
    return _LINE_HEIGHT * max(lines)


# ---------------------------------------------------------------- further sheets


def _listed(
    book: Any,
    formats: _Formats,
    name: str,
    records: Iterable[dict[str, Any]],
    widths: dict[str, int],
    freeze: int,
    pages: int = 1,
) -> None:
    sheet = _sheet(book, formats, name)
    heads: list[str] = []
    row = _HEAD_ROW
    for record in records:
        if not heads:
            heads = list(record)
            for column, head in enumerate(heads):
                word = head == "number" or isinstance(record[head], str)
                kind = formats.head if word else formats.number_head
                sheet.write_string(_HEAD_ROW, column, head, kind)
                sheet.set_column(column, column, widths.get(head, _WIDTH))
            sheet.set_row(_HEAD_ROW, 4 * _LINE_HEIGHT)
        row += 1
        texts = []
        for column, head in enumerate(heads):
            value = record.get(head)
            formats.put(sheet, row, column, head, value)
            texts += [(value, widths.get(head, _WIDTH))] if isinstance(value, str) else []
        sheet.set_row(row, _height(*texts))
    sheet.freeze_panes(_HEAD_ROW + 1, freeze)
    if pages > 1:
        sheet.fit_to_pages(pages, 0)
        sheet.repeat_columns(0, freeze - 1)
        sheet.print_across()
    if heads:
        sheet.autofilter(_HEAD_ROW, 0, row, len(heads) - 1)
        sheet.repeat_rows(_HEAD_ROW)


def _distances(book: Any, formats: _Formats, assessments: Sequence[Assessment]) -> None:
    records = []
    for assessment in assessments:
        for part, measured in assessment.utility:
            figures = {name.replace("_", " "): value for name, value in measured.figures().items()}
            whys = dict.fromkeys(why for _, why in measured.reasons)
            records.append(
                {
                    "number": assessment.evaluation.number,
                    "table": assessment.evaluation.table,
                    "cells of": part_text(part),
                    **figures,
                    "note": "; ".join(whys),
                }
            )
    widths = {"number": 8, "table": 34, "cells of": 18, "note": 30}
    _listed(book, formats, "Distances", records, widths, 3, pages=2)


def _intervals(book: Any, formats: _Formats, assessments: Sequence[Assessment]) -> None:
    records = []
    for assessment in assessments:
        for found in assessment.intervals:
            records.append(
                {
                    "number": assessment.evaluation.number,
                    "table": assessment.evaluation.table,
                    "from this table alone, for": found.knowledge.sentence(),
                    "intervals by": found.how.value,
                    "given away": found.disclosed,
                    "non-empty cells": found.cells,
                    "share given away": found.share,
                    "small given away": found.small_disclosed,
                    "small cells": found.small_cells,
                    "share of small": found.small_share,
                    "note": "" if found.cells else "no cell is non-empty",
                }
            )
    widths = {"number": 8, "table": 34, "from this table alone, for": 60, "note": 24}
    _listed(book, formats, "Given away", records, widths, 2)


def _conclusions(book: Any, formats: _Formats, assessments: Sequence[Assessment]) -> None:
    sheet = _sheet(book, formats, "Conclusions")
    heads = (("number", 8), ("table", 34), ("method", 22), ("what was found", 100))
    figures = [_figures(each) for each in assessments]
    columns = list(dict.fromkeys(heading for each in figures for heading in each))
    for column, (head, width) in enumerate((*heads, *((heading, 10) for heading in columns))):
        sheet.write_string(_HEAD_ROW, column, head, formats.head)
        sheet.set_column(column, column, width)
    sheet.set_row(_HEAD_ROW, 3 * _LINE_HEIGHT)
    for row, assessment in enumerate(assessments, start=_HEAD_ROW + 1):
        said = "\n".join([lead(assessment), *conclusions(assessment), *_left_out(assessment)])
        texts = (assessment.evaluation.number, assessment.evaluation.table, assessment.method, said)
        for column, value in enumerate(texts):
            formats.put(sheet, row, column, "", value)
        for column, heading in enumerate(columns, start=len(heads)):
            value = figures[row - _HEAD_ROW - 1].get(heading)
            formats.put(sheet, row, column, heading, value)
        sheet.set_row(
            row, _height((said, heads[-1][1]), (assessment.evaluation.table, heads[1][1]))
        )
    sheet.freeze_panes(_HEAD_ROW + 1, 2)
    sheet.repeat_rows(_HEAD_ROW)


def _figures(assessment: Assessment) -> dict[str, float | int | None]:
    """The figures of all measures, by the headings of their columns."""
    rows = [row for each in assessment.measured for row in each.rows]
    return dict(figure for row in rows for figure in row.figures)


def _left_out(assessment: Assessment) -> list[str]:
    return [f"Not measured: {why}" for why in assessment.left_out]


_MEANINGS = {
    "number, table": "one row for each table that was assessed together, with its variables",
    "hierarchy levels": "how many levels each variable has in the table, its total not counted",
    "original, published": "true counts, and what readers see; stages stand side by side",
    "with, without margins": "totals and subtotals are among the cells, or interior cells only",
    "unsafe cells": "cells with a count from 1 up to the number that the note names",
    "withheld": "cells without a published number; they are in no other figure",
    "mean change": "mean of the size of the change from the true count, over the cells",
    "share equal to original": "cells that are published as they are",
    "given away": (
        "non-empty cells for which one count is left, or only 0 and 1, from this table alone, for"
        " the intruder named beside it"
    ),
    "small": "cells with a true count of 1 or 2",
    "mean absolute distance": "mean size of the change, over cells that hold anyone",
    "hellinger normalised": "0 for identical tables; divided by the root of the sum of true counts",
    "utility": "one less the normalised Hellinger distance",
}
_NO_MEANING = "has no meaning for this table; the note beside it or the page says why"


def _meaning(book: Any, formats: _Formats, meanings: Mapping[str, str]) -> None:
    sheet = _sheet(book, formats, "Meaning")
    sheet.set_column(0, 0, 28)
    sheet.set_column(1, 1, 90)
    for row, (name, meaning) in enumerate(meanings.items(), start=_HEAD_ROW):
        sheet.write_string(row, 0, name, formats.name)
        sheet.write_string(row, 1, meaning, formats.text)
        sheet.set_row(row, _height((meaning, 90)))
