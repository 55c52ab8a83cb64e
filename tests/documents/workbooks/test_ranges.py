"""Workbooks that are small as files and huge as sheets are refused before they are read."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest
import xlsxwriter

from sdcensus.documents.plan.document import read_plan
from sdcensus.documents.workbooks.files import read_workbook_file
from sdcensus.documents.workbooks.ranges import check_workbook
from sdcensus.documents.workbooks.small_tables import small_table
from sdcensus.errors import InputError
from sdcensus.formats.fill.package import Package
from sdcensus.ingest.readers.excel import read_sheet

CORNERS = "A1:XFD1048576"
READERS: dict[str, Callable[[Path], object]] = {
    "census": lambda path: read_sheet(path, None),
    "codes": lambda path: small_table(path, what="code list"),
    "plan": lambda path: read_plan(path, lambda _: pytest.fail("the plan was read")),
    "template": Package.open,
}


def far_cells(path: Path) -> Path:
    """The file of 1.5 kB (before the parts that every workbook has) with two far cells."""
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet("Far & away")
        sheet.write(0, 0, "a")
        sheet.write(1_048_575, 16_383, "b")
    return path


def sheet_of(path: Path, rows: str, *, kind: str = "worksheet") -> Path:
    """A workbook whose sheet is written by hand."""
    with xlsxwriter.Workbook(path) as book:
        book.add_worksheet("Data")
    whole = io.BytesIO(path.read_bytes())
    with zipfile.ZipFile(whole) as old, zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as new:
        for name in old.namelist():
            content = old.read(name)
            if name == "xl/worksheets/sheet1.xml":
                head = f'<{kind} xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
                content = f"{head}<sheetData>{rows}</sheetData></{kind}>".encode()
            new.writestr(name, content)
    return path


@pytest.mark.parametrize("name", READERS)
def test_two_far_cells_are_refused_with_file_sheet_range_and_remedy(
    tmp_path: Path, name: str
) -> None:
    path = far_cells(tmp_path / "far.xlsx")
    with pytest.raises(InputError) as refused:
        READERS[name](path)
    text = str(refused.value)
    assert "far.xlsx" in text
    assert "'Far &amp; away'" in text or "'Far & away'" in text
    assert CORNERS in text
    assert "Delete the rows and columns" in text


FAR = 'r="XFD1048576"'


@pytest.mark.parametrize(
    "rows",
    [
        f'<row r="1"><c r="A1"><v>1</v></c></row><row r="1048576"><c {FAR}><v>1</v></c></row>',
        f"<row><c><v>1</v></c></row><row><c s='1' {FAR}><v>1</v></c></row>",
        f'<row><c cm=">" {FAR}><v>1</v></c></row>',
        f'<row><c   t = "n"\n {FAR.lower()} ><v>1</v></c></row>',
        '<row r="1048576"><c><v>1</v></c></row><row r="1"><c r="XFD1"><v>1</v></c></row>',
        '<row r="1048576">' + "<c><v>1</v></c>" * 50 + "</row>",
        f'<x:row xmlns:x="u"><x:c {FAR}/></x:row>',
        " " * 1_048_570 + f"<row><c {FAR}><v>1</v></c></row>",
    ],
)
def test_no_spelling_of_a_far_cell_is_overlooked(tmp_path: Path, rows: str) -> None:
    with pytest.raises(InputError, match=r"uses the range A1:[A-Z]+\d+, "):
        check_workbook(sheet_of(tmp_path / "x.xlsx", rows), name="x.xlsx", largest=1 << 29)


def test_a_sign_that_no_attribute_may_hold_hides_nothing(tmp_path: Path) -> None:
    path = sheet_of(tmp_path / "x.xlsx", f'<row><c t="<" {FAR}/></row>')
    with pytest.raises(InputError, match=r"damaged|uses the range"):
        check_workbook(path, name="x.xlsx", largest=1 << 29)


def test_parts_that_are_huge_when_unpacked_are_refused(tmp_path: Path) -> None:
    """Four gigabytes of spaces would take 4 MB; here 32 MB where 20 are allowed."""
    path = sheet_of(tmp_path / "bomb.xlsx", "")
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as package:
        package.writestr("xl/sharedStrings.xml", b" " * (32 << 20))
    assert path.stat().st_size < 100_000
    with pytest.raises(InputError, match="larger than 20 MB when it is unpacked"):
        check_workbook(path, name="bomb.xlsx", largest=20 << 20)
    check_workbook(path, name="bomb.xlsx", largest=40 << 20)


def test_a_part_that_lies_about_its_size_is_not_believed(tmp_path: Path) -> None:
    path = tmp_path / "liar.xlsx"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("[Content_Types].xml", "<Types/>")
        package.writestr("xl/sharedStrings.xml", b" " * 50_000_000)
    content = path.read_bytes()
    size = struct.pack("<I", 50_000_000)
    assert content.count(size) == 2
    path.write_bytes(content.replace(size, struct.pack("<I", 10)))
    with pytest.raises(InputError, match="larger than 19 MB when it is unpacked"):
        check_workbook(path, name="liar.xlsx", largest=20_000_000)
    with pytest.raises(InputError, match="damaged"):
        check_workbook(path, name="liar.xlsx", largest=100_000_000)


def ods(path: Path, rows: str) -> Path:
    spaces = " ".join(
        f'xmlns:{one}="urn:oasis:names:tc:opendocument:xmlns:{one}:1.0"'
        for one in ("office", "table", "text")
    )
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("mimetype", "application/vnd.oasis.opendocument.spreadsheet")
        package.writestr(
            "content.xml",
            f"<office:document-content {spaces}><office:body><office:spreadsheet>"
            f'<table:table table:name="Data">{rows}</table:table>'
            "</office:spreadsheet></office:body></office:document-content>",
        )
    return path


CELL = '<table:table-cell office:value-type="float" office:value="1"{}/>'


def test_repeated_cells_of_an_ods_are_counted(tmp_path: Path) -> None:
    many = CELL.format(' table:number-columns-repeated="16384"')
    row = f'<table:table-row table:number-rows-repeated="1048576">{many}</table:table-row>'
    with pytest.raises(InputError, match=f"'Data' uses the range {CORNERS}"):
        read_sheet(ods(tmp_path / "x.ods", row), None)
    # What spreadsheet programs write behind the last cell is empty, however often it is repeated.
    empty = (
        '<table:table-row table:number-rows-repeated="1048575">'
        '<table:table-cell table:number-columns-repeated="16384"/></table:table-row>'
    )
    one = f"<table:table-row>{CELL.format('')}</table:table-row>{empty}"
    check_workbook(ods(tmp_path / "y.ods", one), name="y.ods", largest=1 << 29)


def test_full_and_ordinary_sheets_pass(tmp_path: Path) -> None:
    path = tmp_path / "plain.xlsx"
    with xlsxwriter.Workbook(path) as book:
        sheet = book.add_worksheet()
        for row in range(2_000):
            sheet.write_row(row, 0, [row, "x", 1.5])
        sheet.write(200_000, 2, "a note far down")
    assert len(read_sheet(path, None)) == 200_001
    assert read_workbook_file(path, what="plan")


def test_binary_workbooks_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "b.xlsx"
    with zipfile.ZipFile(path, "w") as package:
        package.writestr("xl/workbook.bin", b"")
    with pytest.raises(InputError, match=r"Save it as \.xlsx"):
        read_sheet(path, None)
