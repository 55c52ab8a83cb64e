"""The evaluation sheet: one row for each table, before and after protection. Confidential."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from io import BytesIO
from typing import Any

from sdcensus.documents.workbooks.files import plain_book
from sdcensus.formats.shared.sheets import library
from sdcensus.model.sentences import in_language, speak
from sdcensus.report.assessment.results import Assessment
from sdcensus.report.assessment.words import conclusions, lead, part_text
from sdcensus.report.page import running_stamp
from sdcensus.utility.evaluation import EvaluationRow, Stage, StageFigures

_STAMP_ROW, _HEAD_ROW = 0, 2
_NOTHING = "–"
#: Figures that are there at every stage, and those that compare a stage with the original.
_OF_ORIGINAL = {
    "cells": "loss.cells",
    "zeros": "sheet.zeros",
    "total": "sheet.total",
    "minimum": "sheet.minimum",
    "maximum": "sheet.maximum",
    "unsafe cells": "sheet.unsafe",
    "unsafe cells, share of cells": "sheet.unsafe_share",
    "mean": "loss.mean",
    "median": "sheet.median",
}
_OF_LATER = {
    "withheld": "sheet.withheld",
    **_OF_ORIGINAL,
    "mean change, empty cells included": "sheet.mean_change",
    "median change": "sheet.median_change",
    "largest change": "loss.largest_change",
    "equal to original, share of cells": "sheet.share_equal",
}
_STAGES = {
    Stage.ORIGINAL: "sheet.original",
    Stage.SWAPPED: "sheet.after_swap",
    Stage.PUBLISHED: "sheet.published",
}
#: Columns of shares; figures of measures that are shares say so in English.
_SHARES = (
    *("share_given", "small_share", "kept_share", "kept_units_share"),
    *("seen_share", "right_share"),
)
#: The usual width of a column, in signs, and the height of a line.
_WIDTH, _LINE_HEIGHT = 11, 15.0


def evaluation_workbook(assessments: Sequence[Assessment], language: str | None = None) -> bytes:
    """A workbook: a row for each table with margins and without, distances, conclusions."""

    def more(book: Any, formats: SheetFormats) -> None:
        _counted(book, formats, assessments)
        _distances(book, formats, assessments)
        _intervals(book, formats, assessments)
        _conclusions(book, formats, assessments)

    measured = [each for assessment in assessments for each in assessment.measured]
    meanings = dict(meaning for each in measured for meaning in each.measure.meaning)
    return workbook([each.evaluation for each in assessments], more, meanings, language)


def workbook(
    rows: Sequence[EvaluationRow],
    more: Callable[[Any, SheetFormats], None],
    meanings: Mapping[str, str],
    language: str | None,
    *,
    first: Callable[[Any, SheetFormats], None] | None = None,
    stages: Mapping[Stage, str] | None = None,
) -> bytes:
    """A workbook of evaluation rows, with margins and without, and further sheets.

    Args:
        rows: One for each table.
        more: Writes the sheets behind them.
        meanings: What else the last sheet explains, by name.
        language: Of the words.
        first: Writes the sheets before them.
        stages: What stages are called, where they are called otherwise than usual.
    """
    buffer = BytesIO()
    book = plain_book(library(), buffer, {"in_memory": True})
    book.set_properties({"title": speak("assess.sheet.title", language)})
    formats = SheetFormats(book, language, stages)
    if first is not None:
        first(book, formats)
    _evaluation(book, formats, formats.word("sheet.with"), rows, margins=True)
    _evaluation(book, formats, formats.word("sheet.without"), rows, margins=False)
    more(book, formats)
    own = {
        formats.word(f"meanings.{name}.name"): formats.word(f"meanings.{name}.text")
        for name in _MEANINGS
    }
    none = {_NOTHING: formats.word("meanings.none.text")}
    _meaning(book, formats, {**own, **meanings, **none})
    book.close()
    return buffer.getvalue()


class SheetFormats:
    """How cells of a confidential workbook look, and its words."""

    def __init__(
        self, book: Any, language: str | None, stages: Mapping[Stage, str] | None = None
    ) -> None:
        self.language = language
        self._stages = stages or {}
        #: Headings below which figures are shares, besides those that say so in English.
        self.shares = {
            *(self.word(f"sheet.{name}") for name in _SHARES),
            speak("utility.share_unchanged", language),
            speak("utility.share_unchanged_nonzero", language),
        }
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

    def word(self, key: str, **values: str | int) -> str:
        """A text of the catalogue in the language of the sheet."""
        return speak(f"assess.{key}", self.language, **values)

    def stage(self, stage: Stage) -> str:
        """What a stage is called."""
        return self._stages.get(stage) or self.word(_STAGES[stage])

    def put(self, sheet: Any, row: int, column: int, heading: str, value: object) -> None:
        """One value, by its kind; a dash where there is none."""
        if value is None:
            sheet.write_string(row, column, _NOTHING, self.none)
        elif isinstance(value, str):
            sheet.write_string(row, column, in_language(value, self.language), self.text)
        elif isinstance(value, int):
            sheet.write_number(row, column, value, self.whole)
        elif isinstance(value, float):
            kind = self.share if "share" in heading or heading in self.shares else self.decimal
            sheet.write_number(row, column, value, kind)


def new_sheet(book: Any, formats: SheetFormats, name: str) -> Any:
    """A sheet that says on every page that it is confidential."""
    sheet = book.add_worksheet(name)
    stamp = running_stamp(formats.language)
    sheet.write_string(_STAMP_ROW, 0, stamp, formats.stamp)
    sheet.set_landscape()
    sheet.set_margins(left=0.4, right=0.4, top=0.5, bottom=0.6)
    sheet.set_footer(f"&L{stamp}&C&A&R&P / &N")
    return sheet


# ---------------------------------------------------------------- the sheet itself

_NAMES = (("number", 9), ("table", 36), ("levels", 11), ("note", 26))
_FIGURE_WIDTH = 9.5


def _evaluation(
    book: Any, formats: SheetFormats, name: str, rows: Sequence[EvaluationRow], *, margins: bool
) -> None:
    """One row for each table; the stages stand side by side."""
    sheet = new_sheet(book, formats, name)
    stages = list(dict.fromkeys(stage.stage for row in rows for stage in row.stages))
    for column, (head, width) in enumerate(_NAMES):
        sheet.write_string(_HEAD_ROW, column, "", formats.head)
        sheet.write_string(_HEAD_ROW + 1, column, formats.word(f"sheet.{head}"), formats.head)
        sheet.set_column(column, column, width)
    column = len(_NAMES)
    places: dict[Stage, int] = {}
    for stage in stages:
        figures = _figures_of(stage)
        places[stage] = column
        named = formats.stage(stage)
        last = column + len(figures) - 1
        sheet.merge_range(_HEAD_ROW, column, _HEAD_ROW, last, named, formats.group)
        for at, key in enumerate(figures.values(), start=column):
            sheet.write_string(_HEAD_ROW + 1, at, formats.word(key), formats.number_head)
            sheet.set_column(at, at, _FIGURE_WIDTH)
        column += len(figures)
    sheet.set_row(_HEAD_ROW + 1, 3 * _LINE_HEIGHT)
    for at, row in enumerate(rows, start=_HEAD_ROW + 2):
        _table_row(sheet, formats, at, row, places, margins=margins)
    sheet.freeze_panes(_HEAD_ROW + 2, 2)
    sheet.repeat_rows(_HEAD_ROW, _HEAD_ROW + 1)
    # Each stage begins a page of its own, beside the names of the tables.
    sheet.set_v_pagebreaks(list(places.values())[1:])
    sheet.autofilter(_HEAD_ROW + 1, 0, _HEAD_ROW + 1 + max(len(rows), 1), column - 1)


def _figures_of(stage: Stage) -> Mapping[str, str]:
    return _OF_ORIGINAL if stage is Stage.ORIGINAL else _OF_LATER


def _table_row(
    sheet: Any,
    formats: SheetFormats,
    at: int,
    row: EvaluationRow,
    places: dict[Stage, int],
    *,
    margins: bool,
) -> None:
    stages: dict[Stage, StageFigures] = {
        stage.stage: stage for stage in row.stages if stage.margins is margins
    }
    notes = [] if stages else [formats.word("sheet.not_nested")]
    for stage, first in places.items():
        values = stages[stage].columns() if stage in stages else {}
        for column, head in enumerate(_figures_of(stage), start=first):
            formats.put(sheet, at, column, head, values.get(head))
        if stage in stages and stages[stage].reason:
            why = in_language(stages[stage].reason, formats.language)
            notes.append(f"{formats.stage(stage)}: {why}")
    note = "; ".join([*notes, formats.word("sheet.unsafe_note", n=row.unsafe_up_to)])
    variables = ", ".join(row.variables)
    # Tables without a name are called by their variables.
    heading = row.table if row.table.endswith(variables) else f"{row.table}: {variables}"
    texts = (row.number, heading, ", ".join(map(str, row.levels)) or _NOTHING, note)
    for column, value in enumerate(texts):
        formats.put(sheet, at, column, "", value)
    sheet.set_row(at, row_height((heading, _NAMES[1][1]), (note, _NAMES[3][1])))


def row_height(*texts: tuple[str, float]) -> float:
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
    formats: SheetFormats,
    name: str,
    records: Iterable[dict[str, Any]],
    widths: dict[str, int],
    freeze: int,
) -> None:
    sheet = new_sheet(book, formats, name)
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
        sheet.set_row(row, row_height(*texts))
    sheet.freeze_panes(_HEAD_ROW + 1, freeze)
    if heads:
        sheet.autofilter(_HEAD_ROW, 0, row, len(heads) - 1)
        sheet.repeat_rows(_HEAD_ROW)


def _counted(book: Any, formats: SheetFormats, assessments: Sequence[Assessment]) -> None:
    """A row for interior cells, one for totals and subtotals, one for all cells of each table."""
    word, records = formats.word, []
    for assessment in assessments:
        for counts in assessment.counted:
            small, perceived = counts.small, counts.perceived
            records.append(
                {
                    word("sheet.number"): assessment.evaluation.number,
                    word("sheet.table"): assessment.evaluation.table,
                    word("sheet.cells_of"): part_text(counts.part, formats.language),
                    word("counted.cells"): counts.cells,
                    word("sheet.nonempty_cells"): counts.nonempty,
                    word("sheet.few_cells"): small.cells,
                    word("sheet.kept"): int(small.unchanged_cells),
                    word("sheet.kept_share"): small.share_of_cells,
                    word("sheet.few_units"): small.records,
                    word("sheet.kept_units"): int(small.unchanged_records),
                    word("sheet.kept_units_share"): small.share_of_records,
                    word("sheet.shown"): perceived.seen.nonzero,
                    word("sheet.seen"): counts.visible,
                    word("sheet.seen_share"): perceived.seen.share,
                    word("sheet.right"): counts.right,
                    word("sheet.right_share"): perceived.share_right,
                }
            )
    widths = {"number": 8, "table": 34, "cells_of": 18}
    named = {word(f"sheet.{name}"): width for name, width in widths.items()}
    _listed(book, formats, word("sheet.counted"), records, named, 3)


def _distances(book: Any, formats: SheetFormats, assessments: Sequence[Assessment]) -> None:
    word, records = formats.word, []
    for assessment in assessments:
        for part, measured in assessment.utility:
            figures = {
                speak(f"utility.{name}", formats.language): value
                for name, value in measured.figures().items()
            }
            whys = dict.fromkeys(in_language(why, formats.language) for _, why in measured.reasons)
            records.append(
                {
                    word("sheet.number"): assessment.evaluation.number,
                    word("sheet.table"): assessment.evaluation.table,
                    word("sheet.cells_of"): part_text(part, formats.language),
                    **figures,
                    word("sheet.note"): "; ".join(whys),
                }
            )
    widths = {"number": 8, "table": 34, "cells_of": 18, "note": 30}
    named = {word(f"sheet.{name}"): width for name, width in widths.items()}
    _listed(book, formats, word("sheet.distances"), records, named, 3)


def _intervals(book: Any, formats: SheetFormats, assessments: Sequence[Assessment]) -> None:
    word, records = formats.word, []
    for assessment in assessments:
        for interval in assessment.intervals:
            for part, given in interval.parts.items():
                records.append(
                    {
                        word("sheet.number"): assessment.evaluation.number,
                        word("sheet.table"): assessment.evaluation.table,
                        word("sheet.for_whom"): interval.knowledge.sentence(formats.language),
                        word("sheet.intervals_by"): interval.how.value,
                        word("sheet.cells_of"): part_text(part, formats.language),
                        word("risk.given_away"): given.disclosed,
                        word("sheet.looked_at"): given.cells,
                        word("sheet.share_given"): given.share,
                        word("sheet.small_given"): given.small_disclosed,
                        word("sheet.small_looked_at"): given.small_cells,
                        word("sheet.small_share"): given.small_share,
                        word("sheet.note"): "" if given.cells else word("reason.no_record"),
                    }
                )
    widths = {"number": 8, "table": 34, "for_whom": 60, "cells_of": 18, "note": 24}
    named = {word(f"sheet.{name}"): width for name, width in widths.items()}
    _listed(book, formats, word("sheet.given_away"), records, named, 2)


def _conclusions(book: Any, formats: SheetFormats, assessments: Sequence[Assessment]) -> None:
    word, language = formats.word, formats.language
    sheet = new_sheet(book, formats, word("sheet.conclusions"))
    heads = (
        (word("sheet.number"), 8),
        (word("sheet.table"), 34),
        (word("loss.method"), 22),
        (word("sheet.what"), 100),
    )
    figures = [_figures(each) for each in assessments]
    columns = list(dict.fromkeys(heading for each in figures for heading in each))
    for column, (head, width) in enumerate((*heads, *((heading, 10) for heading in columns))):
        sheet.write_string(_HEAD_ROW, column, head, formats.head)
        sheet.set_column(column, column, width)
    sheet.set_row(_HEAD_ROW, 3 * _LINE_HEIGHT)
    for row, assessment in enumerate(assessments, start=_HEAD_ROW + 1):
        said = "\n".join(
            [
                lead(assessment, language),
                *conclusions(assessment, language),
                *_left_out(assessment, language),
            ]
        )
        texts = (assessment.evaluation.number, assessment.evaluation.table, assessment.method, said)
        for column, value in enumerate(texts):
            formats.put(sheet, row, column, "", value)
        for column, heading in enumerate(columns, start=len(heads)):
            value = figures[row - _HEAD_ROW - 1].get(heading)
            formats.put(sheet, row, column, heading, value)
        sheet.set_row(
            row, row_height((said, heads[-1][1]), (assessment.evaluation.table, heads[1][1]))
        )
    sheet.freeze_panes(_HEAD_ROW + 1, 2)
    sheet.repeat_rows(_HEAD_ROW)


def _figures(assessment: Assessment) -> dict[str, float | int | None]:
    """The figures of all measures, by the headings of their columns."""
    rows = [row for each in assessment.measured for row in each.rows]
    return dict(figure for row in rows for figure in row.figures)


def _left_out(assessment: Assessment, language: str | None) -> list[str]:
    reasons = assessment.left_out
    return [speak("assess.left_out.not_measured", language, why=why) for why in reasons]


#: What the sheets explain; the words stand in the catalogue.
_MEANINGS = (
    *("table", "levels", "stages", "margins", "unsafe", "withheld", "mean_change"),
    *("share_equal", "given_away", "small", "distance", "hellinger", "utility"),
)


def _meaning(book: Any, formats: SheetFormats, meanings: Mapping[str, str]) -> None:
    sheet = new_sheet(book, formats, formats.word("sheet.meaning"))
    sheet.set_column(0, 0, 28)
    sheet.set_column(1, 1, 90)
    for row, (name, meaning) in enumerate(meanings.items(), start=_HEAD_ROW):
        sheet.write_string(row, 0, name, formats.name)
        sheet.write_string(row, 1, meaning, formats.text)
        sheet.set_row(row, row_height((meaning, 90)))
