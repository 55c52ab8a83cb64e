"""Workbooks can be read on paper: no letter below 6 points, headings and labels on all pages."""

from __future__ import annotations

import io
import itertools
import re
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import xlsxwriter
from hypothesis import given, strategies as st

import sdcensus
from sdcensus.documents.plan.document import read_plan
from sdcensus.documents.plan.workbook_form import plan_workbook
from sdcensus.documents.workbooks.files import plain_book
from sdcensus.formats.write import write_delivered
from sdcensus.model.published.delivery import deliver
from sdcensus.model.published.table import Table
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.report.assessment.sheet import evaluation_workbook
from sdcensus.session.assess.assessment import assess
from sdcensus.session.assess.options import AssessOptions
from sdcensus.testing.island import island_cube
from tests.formats.made import SCHEMA
from tests.session.assess.assessed_methods import cell_key

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
#: Of A4, the short and the long side in inches.
SIDES = (8.27, 11.69)


@dataclass(frozen=True)
class Printed:
    """A sheet as a spreadsheet program prints it: all that follows stands in the file.

    Attributes:
        name: The name of the sheet.
        scale: How large it is printed, in percent.
        points: The size of its smallest letters on paper.
        pages: How wide the columns of each page are, in inches on paper.
        room: How much room they have there.
        rows, columns: What is repeated on every page.
    """

    name: str
    scale: int
    points: float
    pages: tuple[float, ...]
    room: float
    rows: str
    columns: str


def printed(content: bytes) -> list[Printed]:
    with zipfile.ZipFile(io.BytesIO(content)) as package:
        parts = {
            name: ElementTree.fromstring(package.read(name))
            for name in package.namelist()
            if name.endswith(".xml")
        }
    styles = parts["xl/styles.xml"]
    fonts = [
        float(size.attrib["val"]) for size in styles.iterfind(f"{MAIN}fonts/{MAIN}font/{MAIN}sz")
    ]
    # Some fonts are those of comments, which are not printed.
    used = {int(form.attrib["fontId"]) for form in styles.iterfind(f"{MAIN}cellXfs/{MAIN}xf")}
    smallest = min(fonts[at] for at in used)
    book = parts["xl/workbook.xml"]
    titles = {
        name.attrib["localSheetId"]: str(name.text)
        for name in book.iter(f"{MAIN}definedName")
        if name.attrib["name"].endswith("Print_Titles")
    }
    return [
        _printed(
            parts[f"xl/worksheets/sheet{at}.xml"],
            sheet.attrib["name"],
            smallest,
            titles.get(str(at - 1), ""),
        )
        for at, sheet in enumerate(book.iter(f"{MAIN}sheet"), start=1)
    ]


def _printed(sheet: ElementTree.Element, name: str, smallest: float, titles: str) -> Printed:
    setup, margins = sheet.find(f"{MAIN}pageSetup"), sheet.find(f"{MAIN}pageMargins")
    assert setup is not None
    assert margins is not None
    fit = sheet.find(f"{MAIN}sheetPr/{MAIN}pageSetUpPr")
    assert fit is None or fit.get("fitToPage") != "1"
    assert setup.attrib["paperSize"] == "9"
    side = SIDES[setup.get("orientation") == "landscape"]
    scale = int(setup.get("scale", "100"))
    widths = [5.0 + 7 * 8.43] * _columns(sheet)
    for column in sheet.iter(f"{MAIN}col"):
        first, last = int(column.attrib["min"]), int(column.attrib["max"])
        for at in range(first - 1, min(last, len(widths))):
            # A width is so many digits of 7 pixels, with 5 pixels around them.
            widths[at] = 7 * float(column.attrib["width"])
    names = re.search(r"\$([A-Z]+):\$([A-Z]+)", titles)
    repeated = 0 if names is None else _number(names[2])
    breaks = [int(brk.attrib["id"]) for brk in sheet.iterfind(f"{MAIN}colBreaks/{MAIN}brk")]
    starts = [0, *breaks, len(widths)]
    pages = []
    for at, (first, end) in enumerate(itertools.pairwise(starts)):
        labels = sum(widths[:repeated]) if at else 0.0
        pages.append((labels + sum(widths[first:end])) / 96 * scale / 100)
    rows = re.search(r"\$([0-9]+):\$([0-9]+)", titles)
    return Printed(
        name,
        scale,
        smallest * scale / 100,
        tuple(pages),
        side - float(margins.attrib["left"]) - float(margins.attrib["right"]),
        "" if rows is None else f"{rows[1]}:{rows[2]}",
        "" if names is None else f"{names[1]}:{names[2]}",
    )


def _columns(sheet: ElementTree.Element) -> int:
    cells = [cell.attrib["r"] for cell in sheet.iter(f"{MAIN}c")]
    return max((_number(re.sub("[0-9]", "", name)) for name in cells), default=0)


def _number(letters: str) -> int:
    number = 0
    for letter in letters:
        number = 26 * number + ord(letter) - ord("A") + 1
    return number


def assert_readable(sheets: Sequence[Printed]) -> None:
    for sheet in sheets:
        assert sheet.points >= 6, sheet
        assert all(page <= sheet.room for page in sheet.pages), sheet
        if len(sheet.pages) > 1:
            assert sheet.columns, sheet
            assert sheet.rows, sheet


def table_content(tmp_path: Path, *by: str) -> bytes:
    spec = TableSpec.build(SCHEMA, by)
    numbers = np.arange(spec.cells).reshape(spec.shape) * 1_000_000
    table = deliver(Table(spec, numbers), name="t", rows=1)
    write_delivered(table, tmp_path, formats=["xlsx"], languages=["en"], labels=True)
    return (tmp_path / "t.xlsx").read_bytes()


def test_a_wide_table_is_broken_by_columns(tmp_path: Path) -> None:
    sheets = printed(table_content(tmp_path, "area@parish+area", "age"))
    assert_readable(sheets)
    assert len(sheets[0].pages) > 3
    assert sheets[0].columns == "A:B"
    assert sheets[0].rows == "4:5"


def test_a_narrow_table_is_one_page_wide_and_not_made_larger(tmp_path: Path) -> None:
    sheet = printed(table_content(tmp_path, "sex"))[0]
    assert (sheet.scale, len(sheet.pages)) == (100, 1)
    assert_readable([sheet])


def test_plans_and_evaluations_are_readable_on_paper(tmp_path: Path) -> None:
    document = tmp_path / "plan.toml"
    lines = [
        'store = "a.store"',
        "[output]",
        'folder = "out"',
        "[[table]]",
        'name = "t"',
        'rows = ["sex"]',
    ]
    document.write_text("\n".join(lines), encoding="utf-8", newline="\n")
    plan = read_plan(document, lambda _: SCHEMA)
    cube = island_cube("area@parish+district", "age")
    method = cell_key()
    report = assess(cube, method.protect(cube), AssessOptions(number=1), method=method)
    for content in (plan_workbook(plan), evaluation_workbook([report.of_counts])):
        assert_readable(printed(content))


@given(
    st.lists(st.integers(1, 110), min_size=1, max_size=60),
    st.integers(0, 4),
    st.sampled_from([8, 9, 11, 14]),
    st.booleans(),
)
def test_any_sheet_is_printed_readably_on_as_few_pages_as_can_be(
    widths: list[int], labels: int, size: int, landscape: bool
) -> None:
    buffer = io.BytesIO()
    book = plain_book(xlsxwriter, buffer, {"in_memory": True})
    style = book.add_format({"font_size": size})
    sheet = book.add_worksheet()
    for at, width in enumerate(widths):
        sheet.set_column(at, at, width)
        sheet.write_number(3, at, 1, style)
    labels = min(labels, len(widths) - 1)
    sheet.freeze_panes(3, labels)
    if landscape:
        sheet.set_landscape()
    book.close()
    (made,) = printed(buffer.getvalue())
    assert made.points >= 6
    assert all(page <= made.room for page in made.pages) or max(widths) > 90
    if len(made.pages) > 1:
        # what is printed larger would need more pages, and no page has room for another column
        assert made.rows == "3:3"
        whole = sum(made.pages) * 100 / made.scale
        assert whole * 6 / min(size, 11) > 0.9 * made.room


def test_no_writer_scales_its_sheets_by_itself() -> None:
    library = Path(sdcensus.__file__).parent
    words = re.compile(r"fit_to_pages|set_print_scale|\.Workbook\(")
    found = [
        path.relative_to(library).as_posix()
        for path in library.rglob("*.py")
        if words.search(path.read_text(encoding="utf-8"))
    ]
    assert found == ["documents/workbooks/printing.py"]


def test_a_sheet_of_very_many_columns_has_as_many_breaks_as_a_sheet_may_have() -> None:
    buffer = io.BytesIO()
    book: Any = plain_book(xlsxwriter, buffer, {"in_memory": True})
    sheet = book.add_worksheet()
    sheet.set_column(0, 16_000, 40)
    for at in (0, 16_000):
        sheet.write_number(0, at, 1)
    sheet.freeze_panes(0, 1)
    book.close()
    (made,) = printed(buffer.getvalue())
    assert len(made.pages) == 1_024
    assert made.points >= 6
