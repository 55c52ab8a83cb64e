from __future__ import annotations

import io
import itertools
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import numpy as np
import pytest
import python_calamine
import xlsxwriter

from sdcensus.errors import DocumentError, InputError, OutputError
from sdcensus.formats.fill import Filled, fill_template
from sdcensus.formats.fill.package import calculated_anew
from sdcensus.formats.fill.placeholders import (
    CellReference,
    Chosen,
    Placeholder,
    PlaceholderError,
    parse,
)
from sdcensus.formats.fill.sheet import column_number, split_name
from sdcensus.formats.write import write_delivered
from sdcensus.model.published.delivery import DeliveredTable, deliver, delivered_axis
from sdcensus.model.published.table import Mark, Table
from sdcensus.model.spec.table_spec import TableSpec
from sdcensus.model.text import Text
from sdcensus.testing.island import island_schema

SCHEMA = island_schema()
SPEC = TableSpec.build(SCHEMA, ["area@parish+district", "sex"], name="people")
#: Every cell has a number of its own, so that a wrong cell is seen.
VALUES = 100 + np.arange(SPEC.cells, dtype=np.int64).reshape(SPEC.shape)
NAMES = [(code.code, code.level) for code in SPEC.axes[0].codes]


def number(area: str, sex: str = "_T", level: str | None = None) -> int:
    return int(
        VALUES[SPEC.axes[0].position(area, level), SPEC.axes[1].position(sex)],
    )


@pytest.fixture(scope="module")
def published(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("published")
    flags = np.zeros(SPEC.shape, dtype=np.uint8)
    flags[0, 0] = Mark.WITHHELD.value  # parish P0, sex 0
    values = np.where(flags == 0, VALUES, 0)
    title = Text.of({"en": "People", "es": "Personas"})
    table = deliver(
        Table(SPEC, values, flags, (Text.of("First note."), Text.of("Second & last."))),
        name="people",
        title=title,
        source=Text.of("The Office"),
        date="2026-03-01",
        signs=((Mark.WITHHELD, "x"),),
    )
    write_delivered(table, folder, formats=["csv", "sdmx-csv"], languages=["en"], labels=True)
    axis = delivered_axis(TableSpec.build(SCHEMA, ["sex"]).axes[0])
    marks = np.array([Mark.NONE, Mark.LOW_RELIABILITY, Mark.NOT_AVAILABLE], dtype=np.uint8)
    figures = DeliveredTable(
        name="share.v1",
        title=Text.of("Share"),
        axes=(axis,),
        values=np.array([125, 301, 0], dtype=np.int64),
        marks=marks,
        decimals=1,
    )
    write_delivered(figures, folder, formats=["parquet"], languages=["en"], labels=True)
    return folder


Build = Callable[[Any, Any], None]


def template(path: Path, build: Build) -> Path:
    book = xlsxwriter.Workbook(str(path), {"strings_to_formulas": True})
    build(book, book.add_worksheet("Table 1"))
    book.close()
    return path


def cells(path: Path, sheet: str = "Table 1") -> list[list[Any]]:
    book = python_calamine.CalamineWorkbook.from_path(path)
    return book.get_sheet_by_name(sheet).to_python(skip_empty_area=False)


def parts(path: Path) -> dict[str, bytes]:
    with zipfile.ZipFile(path) as package:
        return {name: package.read(name) for name in package.namelist()}


def filled(tmp_path: Path, published: Path, build: Build, **more: Any) -> Filled:
    source = template(tmp_path / "template.xlsx", build)
    return fill_template(source, published, tmp_path / "filled.xlsx", **more)


def mistakes(tmp_path: Path, published: Path, *texts: str) -> str:
    def build(book: Any, sheet: Any) -> None:
        for row, text in enumerate(texts):
            sheet.write_string(row, 1, text)

    with pytest.raises(DocumentError) as caught:
        filled(tmp_path, published, build)
    assert not (tmp_path / "filled.xlsx").exists()
    return str(caught.value)


# ---------------------------------------------------------------- the grammar


def test_placeholders_are_parsed() -> None:
    assert parse("{a}") == [Placeholder("a")]
    assert parse("{a: x = 1, y@l=@B}") == [
        Placeholder("a", (Chosen("x", "", "1"), Chosen("y", "l", CellReference("B"))))
    ]
    assert parse('{a: x="1, 2}", y=@$C$4, z=@7}') == [
        Placeholder(
            "a",
            (
                Chosen("x", "", "1, 2}"),
                Chosen("y", "", CellReference("C", 4)),
                Chosen("z", "", CellReference("", 7)),
            ),
        )
    ]
    assert parse("by {office}, {{not}} {date: es}") == [
        "by ",
        Placeholder("office"),
        ", {not} ",
        Placeholder("date", (), ("es",)),
    ]
    for text in ["{", "{a", "{}", "{ : x=1}", "{a: x=}", "{a: x=@}", "{a: x=@5A}", "{a {b}}"]:
        with pytest.raises(PlaceholderError):
            parse(text)
    with pytest.raises(PlaceholderError, match="twice"):
        parse("{a: x=1, x=2}")


# ---------------------------------------------------------------- filling


def test_values_texts_signs_and_brackets(tmp_path: Path, published: Path) -> None:
    wanted: list[tuple[str, object]] = [
        ("{people}", number("_T")),
        ("{people: area=P3, sex=1}", number("P3", "1")),
        ("{people: area@district=D1}", number("D1")),
        ("{people: AREA=p3}", number("P3")),
        ("{people: area='P 3'}", number("P3")),
        ("{people: area=P0, sex=0}", "x"),
        ("in all: {people}", f"in all: {number('_T')}"),
        ("{people.title}", "People"),
        ("{people.title: es}", "Personas"),
        ("{people.notes}", "First note.\nSecond & last."),
        ("{people.unit}", "Persons"),
        ("{office}", "The Office"),
        ("As of {date}", "As of 2026-03-01"),
        ("{share.v1: sex=0}", 12.5),
        ("{share.v1: sex=1}", "(30.1)"),
        ("{share.v1}", ":"),
        ("{share.v1.title}", "Share"),
        ("{{braces}} {office}", "{braces} The Office"),
        ("plain < & text", "plain < & text"),
    ]

    def build(book: Any, sheet: Any) -> None:
        for row, (text, _) in enumerate(wanted):
            sheet.write_string(row, 0, text)

    made = filled(tmp_path, published, build)
    assert [row[0] for row in cells(made.path)] == [value for _, value in wanted]
    assert (made.cells, made.tables) == (len(wanted) - 1, ("people", "share.v1"))
    spanish = fill_template(
        tmp_path / "template.xlsx", published, tmp_path / "es.xlsx", language="es"
    )
    assert cells(spanish.path)[7][0] == "Personas"


def block(book: Any, sheet: Any) -> None:
    """A layout as offices have them: codes down and across, styles, formulas, merged heads."""
    money = book.add_format({"num_format": "#,##0", "bold": True, "bg_color": "#FFEE00"})
    sheet.merge_range("B3:C3", "D0", book.add_format({"align": "center"}))
    sheet.write_row(3, 1, ["0", "1", "Total"])
    for row, area in enumerate(["P0", "P1", "P4"], start=4):
        sheet.write(row, 0, area)
        for column in (1, 2, 3):
            sheet.write(row, column, "{people: area=@A, sex=@4}", money)
        sheet.write_formula(row, 4, f"=C{row + 1}+D{row + 1}", money, 0)
    sheet.write(8, 2, "{people: area@district=@3, sex=1}")
    other = book.add_worksheet("Other & more")
    other.write_formula("A1", "='Table 1'!D6*2", None, 0)
    other.write_formula("A2", '="a"&"b"', None, "ab")
    quiet = book.add_worksheet("Quiet")
    quiet.write("A1", "nothing")
    quiet.write_comment("A1", "a comment")
    chart = book.add_chart({"type": "column"})
    chart.add_series({"values": "='Table 1'!$B$5:$B$7"})
    quiet.insert_chart("C3", chart)
    book.define_name("Areas", "='Table 1'!$A$5:$A$7")


def test_a_block_is_filled_by_its_own_headings(tmp_path: Path, published: Path) -> None:
    made = filled(tmp_path, published, block)
    found = cells(made.path)
    for row, area in enumerate(["P0", "P1", "P4"], start=4):
        for column, sex in [(1, "0"), (2, "1"), (3, "_T")]:
            expected: object = number(area, sex)
            assert found[row][column] == ("x" if (area, sex) == ("P0", "0") else expected)
    assert found[8][2] == number("D0", "1")
    assert (made.cells, made.formulas, made.sheets) == (10, 5, ("Table 1",))


def test_nothing_else_changes(tmp_path: Path, published: Path) -> None:
    made = filled(tmp_path, published, block)
    before, after = parts(tmp_path / "template.xlsx"), parts(made.path)
    assert list(before) == list(after)
    different = {name for name in before if before[name] != after[name]}
    # the library that made the template asks for formulas to be computed anew already
    assert different == {"xl/worksheets/sheet1.xml", "xl/worksheets/sheet2.xml"}
    first = after["xl/worksheets/sheet1.xml"]
    assert before["xl/worksheets/sheet1.xml"].count(b' s="') == first.count(b' s="')
    assert b"<f>C5+D5</f>" in first
    assert b"{people" not in first
    # results of formulas that were computed from placeholders are gone
    other = after["xl/worksheets/sheet2.xml"]
    assert b"<v>" not in other
    assert b't="str"' not in other
    assert b'fullCalcOnLoad="1"' in after["xl/workbook.xml"]
    assert (tmp_path / "template.xlsx").read_bytes() != made.path.read_bytes()


def test_the_same_template_makes_the_same_bytes(tmp_path: Path, published: Path) -> None:
    first = filled(tmp_path, published, block).path.read_bytes()
    second = fill_template(tmp_path / "template.xlsx", published, tmp_path / "again.xlsx")
    assert second.path.read_bytes() == first


def test_inline_texts_numbers_and_prefixes(tmp_path: Path, published: Path) -> None:
    """As other programs write sheets: prefixes, inline texts, runs, cells without names."""
    source = template(tmp_path / "plain.xlsx", lambda book, sheet: sheet.write("A1", "x"))
    sheet = (
        '<?xml version="1.0" encoding="UTF-8" standalone="yes"?>\r\n'
        '<x:worksheet xmlns:x="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        '<x:sheetData><x:row r="2">'
        "<x:c r='A2' s='0' t='inlineStr'><x:is><x:r><x:t>{people: </x:t></x:r>"
        "<x:r><x:t>sex=@B}</x:t></x:r><x:rPh sb='0' eb='1'><x:t>no</x:t></x:rPh></x:is></x:c>"
        "<x:c><x:v>1</x:v></x:c><x:c t='inlineStr'><x:is><x:t>{office} ñ</x:t></x:is></x:c>"
        "</x:row></x:sheetData></x:worksheet>"
    )
    path = tmp_path / "template.xlsx"
    with zipfile.ZipFile(path, "w") as package:
        for name, content in parts(source).items():
            mine = sheet.encode() if name == "xl/worksheets/sheet1.xml" else content
            package.writestr(name, mine)
    made = fill_template(path, published, tmp_path / "filled.xlsx")
    assert cells(made.path)[1][:3] == [number("_T", "1"), 1.0, "The Office ñ"]
    written = parts(made.path)["xl/worksheets/sheet1.xml"].decode()
    assert f"<x:c r='A2' s='0'><x:v>{number('_T', '1')}</x:v></x:c>" in written


def test_codes_that_a_sheet_holds_as_numbers(tmp_path: Path) -> None:
    axis = delivered_axis(TableSpec.build(SCHEMA, ["sex"]).axes[0])
    table = DeliveredTable(
        name="t", title=Text(), axes=(axis,), values=np.array([5, 6, 11], dtype=np.int64)
    )
    folder = tmp_path / "published"
    folder.mkdir()
    write_delivered(table, folder, formats=["csv"], languages=["en"], labels=False)
    about = folder / "t.about.json"
    for path in (about, folder / "t.csv"):  # codes 00 and 01, as offices have them
        text = path.read_text(encoding="utf-8")
        text = text.replace('"code": "0"', '"code": "00"').replace('"code": "1"', '"code": "01"')
        text = text.replace("\n0,", "\n00,").replace("\n1,", "\n01,")
        path.write_text(text, encoding="utf-8", newline="\n")

    def build(book: Any, sheet: Any) -> None:
        sheet.write_row(0, 0, [0, 1])
        sheet.write_row(1, 0, ["{t: sex=@1}", "{t: sex=@1}"])

    assert cells(filled(tmp_path, folder, build).path)[1] == [5, 6]


# ---------------------------------------------------------------- what is wrong


def test_every_mistake_names_sheet_and_cell(tmp_path: Path, published: Path) -> None:
    said = mistakes(
        tmp_path,
        published,
        "{peopel}",
        "{people: aera=P1}",
        "{people: area=P9}",
        "{people: area@parsh=P1}",
        "{people: area=@Z}",
        "{people: area=@8}",
        "{people: sex}",
        "{people",
        "{people.titel}",
        "{offce}",
        "{people: area=P1} and {people: area=P8}",
    )
    for expected in [
        "cell B1: There is no published table 'peopel'. Did you mean 'people'",
        "cell B2: There is no axis of this table 'aera'. Did you mean 'area'",
        "cell B3: axis 'area': There is no code 'P9'. Did you mean",
        "cell B4: axis 'area': There is no level 'parsh'. Did you mean 'parish'",
        "cell B5: the cell Z5, which should hold a code, is empty",
        "cell B6: the cell B8, which should hold a code, holds none",
        "cell B7: 'sex' does not say axis=code",
        "cell B8: a placeholder is not closed",
        "cell B9: There is no text of a table 'titel'. Did you mean 'title'",
        "cell B10: There is no published table 'offce'. Did you mean 'office'",
        "cell B11: axis 'area': There is no code 'P8'",
    ]:
        assert f"sheet 'Table 1', {expected}" in said, said


def test_an_axis_without_a_total_must_be_named(tmp_path: Path) -> None:
    spec = TableSpec.build(SCHEMA, ["sex-total"])
    folder = tmp_path / "published"
    folder.mkdir()
    table = deliver(Table(spec, np.array([1, 2], dtype=np.int64)), name="t")
    write_delivered(table, folder, formats=["csv"], languages=["en"], labels=False)
    assert "has no total" in mistakes(tmp_path, folder, "{t}")
    assert "name no date" in mistakes(tmp_path, folder, "{date}")


def test_many_mistakes_are_counted(tmp_path: Path, published: Path) -> None:
    assert "There are 30 more mistakes." in mistakes(tmp_path, published, *["{nothing}"] * 80)


def test_targets_and_sources_are_checked(tmp_path: Path, published: Path) -> None:
    source = template(tmp_path / "t.xlsx", lambda book, sheet: sheet.write("A1", "{people}"))
    before = source.read_bytes()
    with pytest.raises(OutputError, match="already exists"):
        fill_template(source, published, source)
    with pytest.raises(OutputError, match="does not exist"):
        fill_template(source, published, tmp_path / "no" / "f.xlsx")
    with pytest.raises(InputError, match=r"an \.xlsx file"):
        fill_template(source, published, tmp_path / "f.csv")
    with pytest.raises(InputError, match="does not exist"):
        fill_template(source, tmp_path / "nowhere", tmp_path / "f.xlsx")
    with pytest.raises(InputError, match="does not exist"):
        fill_template(tmp_path / "none.xlsx", published, tmp_path / "f.xlsx")
    (tmp_path / "empty").mkdir()
    with pytest.raises(InputError, match="holds no published table"):
        fill_template(source, tmp_path / "empty", tmp_path / "f.xlsx")
    plain = template(tmp_path / "p.xlsx", lambda book, sheet: sheet.write("A1", "text"))
    with pytest.raises(InputError, match="has no placeholder"):
        fill_template(plain, published, tmp_path / "f.xlsx")
    assert source.read_bytes() == before
    assert sorted(one.name for one in tmp_path.iterdir()) == ["empty", "p.xlsx", "t.xlsx"]


@pytest.mark.parametrize(
    ("content", "expected"),
    [
        (b"no zip at all", "no .xlsx workbook"),
        (bytes.fromhex("d0cf11e0a1b11ae1") + bytes(512), "password"),
        (b"", "no .xlsx workbook"),
    ],
)
def test_what_is_no_workbook_is_refused(
    tmp_path: Path, published: Path, content: bytes, expected: str
) -> None:
    path = tmp_path / "t.xlsx"
    path.write_bytes(content)
    with pytest.raises(InputError, match=expected):
        fill_template(path, published, tmp_path / "f.xlsx")


def test_damaged_and_hostile_packages_are_refused(tmp_path: Path, published: Path) -> None:
    good = template(tmp_path / "t.xlsx", lambda book, sheet: sheet.write("A1", "{people}"))
    whole, path = good.read_bytes(), tmp_path / "bad.xlsx"
    entities = b'<!DOCTYPE a [<!ENTITY b "bb">]><worksheet>&b;</worksheet>'
    for part, content in [
        ("xl/worksheets/sheet1.xml", entities),
        ("xl/worksheets/sheet1.xml", b"<worksheet><sheetData>"),
        ("xl/worksheets/sheet1.xml", b'<?xml version="1.0" encoding="latin-1"?><worksheet/>'),
        ("xl/workbook.xml", b"<workbook"),
        ("xl/sharedStrings.xml", entities),
    ]:
        with zipfile.ZipFile(path, "w") as package:
            for name, old in parts(good).items():
                package.writestr(name, content if name == part else old)
        with pytest.raises(InputError):
            fill_template(path, published, tmp_path / "f.xlsx")
    for cut in (len(whole) // 2, len(whole) - 30):
        path.write_bytes(whole[:cut])
        with pytest.raises(InputError):
            fill_template(path, published, tmp_path / "f.xlsx")
    flipped = bytearray(whole)
    with zipfile.ZipFile(io.BytesIO(whole)) as package:
        at = package.getinfo("xl/worksheets/sheet1.xml").header_offset + 80
    flipped[at : at + 8] = b"\xff" * 8
    path.write_bytes(bytes(flipped))
    with pytest.raises(InputError):
        fill_template(path, published, tmp_path / "f.xlsx")
    assert not (tmp_path / "f.xlsx").exists()


def test_the_head_of_an_excel_table_cannot_be_filled(tmp_path: Path, published: Path) -> None:
    def build(book: Any, sheet: Any) -> None:
        sheet.add_table("A1:B3", {"columns": [{"header": "a"}, {"header": "{people}"}]})

    with pytest.raises(DocumentError, match="head of an Excel table"):
        filled(tmp_path, published, build)


@pytest.mark.parametrize(
    ("inside", "expected"),
    [
        ("<sheets/>", '<sheets/><calcPr fullCalcOnLoad="1"/>'),
        ('<calcPr calcId="1"/>', '<calcPr calcId="1" fullCalcOnLoad="1"/>'),
        ('<calcPr fullCalcOnLoad="0" a="1"/>', '<calcPr a="1" fullCalcOnLoad="1"/>'),
        ("<sheets/><extLst/>", '<sheets/><calcPr fullCalcOnLoad="1"/><extLst/>'),
    ],
)
def test_formulas_are_asked_for_anew(inside: str, expected: str) -> None:
    made = calculated_anew(f"<workbook>{inside}</workbook>".encode())
    assert made.decode() == f"<workbook>{expected}</workbook>"


def test_every_cell_of_a_table_can_be_reached(tmp_path: Path, published: Path) -> None:
    places = list(itertools.product(SPEC.axes[0].codes, SPEC.axes[1].codes))

    def build(book: Any, sheet: Any) -> None:
        for row, (area, sex) in enumerate(places):
            level = "" if area.is_total else f"@{area.level}"
            sheet.write_string(row, 0, f"{{people: area{level}={area.code}, sex={sex.code}}}")

    found = [row[0] for row in cells(filled(tmp_path, published, build).path)]
    assert found[1:] == VALUES.reshape(-1).tolist()[1:]
    assert found[0] == "x"


# ---------------------------------------------------------------- what other programs wrote

MAIN = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"


def assert_valid_cells(content: bytes, texts: int) -> None:
    """The rules of ECMA-376 for the cells of a sheet (18.3.1.4): order, kinds, names."""
    for row in ElementTree.fromstring(content).iter(f"{MAIN}row"):
        last = 0
        for cell in row:
            assert cell.tag == f"{MAIN}c"
            assert set(cell.attrib) <= {"r", "s", "t", "cm", "vm", "ph"}
            letters, at = split_name(cell.attrib["r"])
            assert at == int(row.attrib["r"])
            assert column_number(letters) > last
            last = column_number(letters)
            inside = [child.tag.removeprefix(MAIN) for child in cell]
            assert inside == [tag for tag in ("f", "v", "is", "extLst") if tag in inside]
            kind, value = cell.get("t", "n"), cell.findtext(f"{MAIN}v")
            assert ("is" in inside) == (kind == "inlineStr")
            assert not {"is", "v"} <= set(inside)
            if kind == "s":
                assert 0 <= int(value or "") < texts
            elif kind == "n" and value:
                assert float(value) == float(value)
            if "f" in inside:
                assert value is None


def written_by_others(tmp_path: Path, rows: list[str], more: str = "") -> Path:
    """A template whose sheet another program wrote, with a second style and a chain of formulas."""

    def build(book: Any, sheet: Any) -> None:
        sheet.write(0, 0, "{people}", book.add_format({"bold": True}))

    source = template(tmp_path / "plain.xlsx", build)
    numbered = "".join(f'<row r="{at}">{row}</row>' for at, row in enumerate(rows, start=1))
    sheet = (
        '<worksheet xmlns="http://schemas.openxmlformats.org/spreadsheetml/2006/main">'
        f"<sheetData>{numbered}</sheetData>{more}</worksheet>"
    )
    path = tmp_path / "template.xlsx"
    with zipfile.ZipFile(path, "w") as package:
        for name, content in parts(source).items():
            if name == "xl/workbook.xml":
                content = content.replace(b' fullCalcOnLoad="1"', b' calcMode="manual"')
                assert b"fullCalcOnLoad" not in content
            mine = sheet.encode() if name == "xl/worksheets/sheet1.xml" else content
            package.writestr(name, mine)
    return path


#: A formula and its last result, as openpyxl, Excel, LibreOffice and others write them.
RESULTS = {
    "empty": '<c r="B1" s="1"><f>A1*2</f><v /></c>',
    "empty without a space": '<c r="B1" s="1"><f>A1*2</f><v/></c>',
    "empty with two tags": '<c r="B1" s="1"><f>A1*2</f><v></v></c>',
    "empty of two lines": '<c r="B1" s="1">\n<f>A1*2</f>\n<v\n/>\n</c>',
    "none": '<c r="B1" s="1"><f>A1*2</f></c>',
    "number": '<c r="B1" s="1" t="n"><f>A1*2</f><v>7</v></c>',
    "text": '<c r="B1" s="1" t="str"><f>"a > b"&amp;A1</f><v xml:space="preserve"> a &gt;</v></c>',
    "empty text": '<c r="B1" s="1" t="str"><f>A1*2</f><v/></c>',
    "error": '<c r="B1" s="1" t="e"><f>A1*2</f><v>#VALUE!</v></c>',
    "shared": '<c r="B1" s="1"><f t="shared" ref="B1:B2" si="0">A1*2</f><v/></c>',
    "shared again": '<c r="B1" s="1"><f t="shared" si="0"/><v/></c>',
    "always anew": '<c r="B1" s="1"><f ca="1">A1*2</f><v/></c>',
    "array": '<c r="B1" s="1" cm="1"><f t="array" ref="B1:B1">A1*2</f><v/></c>',
}


@pytest.mark.parametrize("result", RESULTS.values(), ids=RESULTS)
def test_formulas_that_other_programs_wrote_stay_whole(
    tmp_path: Path, published: Path, result: str
) -> None:
    first = '<c r="A1" s="1" t="s"><v>0</v></c>'
    rows = [
        f'{first}{result}<c r="C1" s="1"/><c r="D1" t="inlineStr"><is><t>{{office}}</t></is></c>',
        '<c r="A2"><f>B1</f><v></v></c><c r="B2"><v/></c><c r="C2" s="1" />',
    ]
    merged = '<mergeCells count="1"><mergeCell ref="C1:C2"/></mergeCells>'
    path = written_by_others(tmp_path, rows, merged)
    made = fill_template(path, published, tmp_path / "filled.xlsx")
    written = parts(made.path)["xl/worksheets/sheet1.xml"]
    assert_valid_cells(written, texts=1)
    before, after = (
        ElementTree.fromstring(parts(one)["xl/worksheets/sheet1.xml"]) for one in (path, made.path)
    )
    for tag in ("c", "f", "ext", "mergeCell"):
        assert [one.get("s") for one in before.iter(MAIN + tag)] == [
            one.get("s") for one in after.iter(MAIN + tag)
        ]
    assert [one.text for one in before.iter(f"{MAIN}f")] == [
        one.text for one in after.iter(f"{MAIN}f")
    ]
    assert (made.cells, made.formulas) == (2, 2)
    assert b'calcMode="manual" fullCalcOnLoad="1"' in parts(made.path)["xl/workbook.xml"].replace(
        b' calcId="124519"', b""
    )
    found = cells(made.path)[0]
    assert (found[0], found[3]) == (number("_T"), "The Office")


def test_results_that_a_formula_writes_into_other_cells_are_no_placeholders(
    tmp_path: Path, published: Path
) -> None:
    """The formula makes them anew; nothing that is filled there would last."""
    rows = [
        '<c r="A1" t="s"><v>0</v></c>'
        '<c r="B1" t="str"><f t="array" ref="B1:C2">A1:A2</f><v>{people}</v></c>'
        '<c r="C1" s="1" t="str"><v>{people}</v></c>',
        '<c r="A2"><v>3</v></c><c r="B2"><v>3</v></c><c r="C2" t="e"><v>#N/A</v></c>'
        '<c r="D2"><v>4</v></c>',
    ]
    path = written_by_others(tmp_path, rows)
    made = fill_template(path, published, tmp_path / "filled.xlsx")
    assert_valid_cells(parts(made.path)["xl/worksheets/sheet1.xml"], texts=1)
    assert (made.cells, made.formulas) == (1, 1)
    assert cells(made.path) == [[number("_T"), "", "", ""], [3, "", "", 4]]
