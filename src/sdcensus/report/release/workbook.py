"""The workbook of an assessment: a sheet for each table, and the figure. Confidential."""

from __future__ import annotations

import csv
from collections import Counter
from collections.abc import Iterator
from io import BytesIO, StringIO
from typing import Any

from sdcensus.documents.workbooks.files import plain_book
from sdcensus.errors import Sentence
from sdcensus.formats.shared.sheets import library
from sdcensus.microdata.method import FactTable
from sdcensus.model.catalogue import FIRST
from sdcensus.model.sentences import in_language
from sdcensus.model.text import plain_cell
from sdcensus.report.assessment.sheet import SheetFormats, new_sheet, row_height
from sdcensus.report.derivation.workbook import facts_sheet
from sdcensus.report.release import tables
from sdcensus.report.release.plots import key_names
from sdcensus.report.release.results import ReleaseAssessment
from sdcensus.report.release.tables import say
from sdcensus.report.release.words import lead, verdict_lines

_WIDE = 110
_HEAD_ROW = 3


def assessment_workbook(assessment: ReleaseAssessment, language: str | None = None) -> bytes:
    """The whole workbook."""
    buffer = BytesIO()
    book = plain_book(library(), buffer, {"in_memory": True})
    formats = SheetFormats(book, language)
    _summary(book, formats, assessment)
    _figure(book, formats, assessment)
    for table in tables.every_table(assessment, language):
        facts_sheet(book, formats, table, _sheet_name(table, language))
    for part in tables.FURTHER:
        for design in assessment.designs:
            for table in tables.further_tables(design, part):
                facts_sheet(book, formats, table, f"{design.name} {table.name}")
    book.close()
    return buffer.getvalue()


def _sheet_name(table: FactTable, language: str | None) -> str:
    own = table.title.words.startswith(f"{tables.AREA}.table.")
    return say(f"sheet.{table.name}", language) if own else table.name


def _summary(book: Any, formats: SheetFormats, assessment: ReleaseAssessment) -> None:
    language = formats.language
    sheet = new_sheet(book, formats, say("sheet.summary", language))
    sheet.set_column(0, 0, _WIDE)
    title = assessment.title.show(language) or assessment.census
    lines: list[tuple[str, bool]] = [
        (say("title", language, title=title), True),
        (lead(assessment, language), False),
    ]
    for design in assessment.designs:
        name = tables.design_name(design, language)
        lines.append((f"{name}: {tables.result_text(design, language)}", True))
        lines += [(line, False) for line in verdict_lines(assessment, design, language)]
    for row, (text, strong) in enumerate(lines, start=2):
        sheet.write_string(row, 0, text, formats.name if strong else formats.text)
        sheet.set_row(row, row_height((text, _WIDE)))


def _figure(book: Any, formats: SheetFormats, assessment: ReleaseAssessment) -> None:
    """Population uniques along the ladder, with shares of the population on a second axis."""
    language = formats.language
    designs = [design for design in assessment.designs if design.ladder]
    if not designs:
        return
    name = say("sheet.figure", language)
    sheet = new_sheet(book, formats, name)
    sheet.write_string(1, 0, say("chart.ladder", language), formats.name)
    order, own = key_names([design.ladder for design in designs], language)
    sheet.set_column(0, 0, 30)
    sheet.set_column(1, 2 * len(designs), 14)
    sheet.write_string(_HEAD_ROW, 0, say("head.key", language), formats.head)
    first, last = _HEAD_ROW + 1, _HEAD_ROW + len(order)
    for row, key in enumerate(order, start=first):
        sheet.write_string(row, 0, key, formats.text)
    chart = book.add_chart({"type": "line"})
    for at, (design, names) in enumerate(zip(designs, own, strict=True)):
        number, part = 1 + at, 1 + len(designs) + at
        label = tables.design_name(design, language)
        sheet.write_string(_HEAD_ROW, number, label, formats.number_head)
        sheet.write_string(_HEAD_ROW, part, f"{label}, %", formats.number_head)
        for key, step in zip(names, design.ladder, strict=True):
            row = first + order.index(key)
            sheet.write_number(row, number, step.population_uniques, formats.whole)
            of_population = tables.share(step.population_uniques, assessment.persons)
            formats.put(sheet, row, part, "share", of_population)
        for column, second in ((number, False), (part, True)):
            series: dict[str, Any] = {
                "name": [name, _HEAD_ROW, column],
                "categories": [name, first, 0, last, 0],
                "values": [name, first, column, last, column],
                "y2_axis": second,
            }
            # The same line once more, to which the second axis belongs.
            series["line"] = {"none": True} if second else {"width": 2}
            chart.add_series(series)
    chart.set_title({"name": say("chart.ladder", language)})
    chart.set_y_axis({"name": say("chart.uniques", language), "min": 0, "num_format": "#,##0"})
    chart.set_y2_axis({"name": say("chart.percent", language), "min": 0, "num_format": "0.00%"})
    chart.set_x_axis({"name": say("chart.keys", language)})
    chart.show_blanks_as("span")
    chart.set_legend(
        {"position": "bottom", "delete_series": [2 * at + 1 for at in range(len(designs))]}
    )
    chart.set_size({"width": 900, "height": 420})
    sheet.insert_chart(last + 2, 0, chart)


# ------------------------------------------------------------------------------ csv


def assessment_tables(
    assessment: ReleaseAssessment, language: str | None = None
) -> Iterator[tuple[str, bytes]]:
    """Every table as csv, by the name of its file; headings are the same in every language."""
    for table in tables.every_table(assessment, language):
        name = "ladder" if table.name == "ladders" else table.name
        yield f"{name}.csv", fact_csv(table, language)
    # A method that is used twice tells two tables of one name.
    times: Counter[str] = Counter()
    for part in tables.FURTHER:
        for at, design in enumerate(assessment.designs, start=1):
            for table in tables.further_tables(design, part):
                stem = f"design-{at}-{table.name}"
                times[stem] += 1
                again = f"-{times[stem]}" if times[stem] > 1 else ""
                yield f"{stem}{again}.csv", fact_csv(table, language)


def fact_csv(table: FactTable, language: str | None) -> bytes:
    """A table of facts as csv."""
    buffer = StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([_column_name(heading) for heading in table.headings])
    for row in table.rows:
        writer.writerow([_cell(fact, language) for fact in row])
    return buffer.getvalue().encode("utf-8")


def _column_name(heading: str) -> str:
    key = heading.words if isinstance(heading, Sentence) else ""
    return key.rpartition(".")[2] or plain_cell(in_language(heading, FIRST))


def _cell(fact: object, language: str | None) -> object:
    if fact is None:
        return ""
    if isinstance(fact, float):
        return f"{fact:.10g}"
    return plain_cell(in_language(fact, language)) if isinstance(fact, str) else fact
