"""Delivered workbooks as another program reads them."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from python_calamine import CalamineWorkbook

from sdcensus.formats.shared import sheets as shared
from sdcensus.formats.write import write_delivered, xlsx
from sdcensus.formats.write.xlsx import PageLayout, choose_layout, parts
from sdcensus.model.published.delivery import DeliveredTable
from sdcensus.model.published.table import Mark
from sdcensus.model.text import Text, plain_cell
from tests.formats.made import text
from tests.formats.write.delivered_made import GEO, axis, counts, delivered, published, spec

SEX = axis("SEX", ("T", "M", "F"), labels=("Total", "Men", "Women"), total=0)
AGE = axis("AGE", ("Y0", "Y1"), labels=("Young", "Old"))


def sheets(table: DeliveredTable, folder: Path) -> dict[str, list[list[Any]]]:
    (path,) = write_delivered(table, folder, formats=["xlsx"])
    return read(path)


def read(path: Path) -> dict[str, list[list[Any]]]:
    book = CalamineWorkbook.from_path(path)
    return {
        name: book.get_sheet_by_name(name).to_python(skip_empty_area=False)
        for name in book.sheet_names
    }


def part_of(folder: Path, name: str) -> str:
    with zipfile.ZipFile(folder / "t.xlsx") as archive:
        return archive.read(name).decode()


def test_areas_stand_in_rows_and_the_others_in_nested_columns(tmp_path: Path) -> None:
    one = delivered(SEX, GEO, AGE, unit=text("Persons"))
    found = sheets(one, tmp_path)
    assert list(found) == ["Table", "Notes"]
    assert found["Table"][0][0] == "A title"
    assert found["Table"][1][0] == "Persons. Values are protected. Please read the sheet Notes."
    assert found["Table"][3:] == [
        ["", "", "SEX in words", "T", "T", "M", "M", "F", "F"],
        ["", "", "", "Total", "Total", "Men", "Men", "Women", "Women"],
        ["", "", "AGE in words", "Y0", "Y1", "Y0", "Y1", "Y0", "Y1"],
        ["Code", "Level", "GEO in words", "Young", "Old", "Young", "Old", "Young", "Old"],
        ["NL", "", "Netherlands", 0.0, 1.0, 8.0, 9.0, 16.0, 17.0],
        ["NL1", "part", "North", 2.0, 3.0, 10.0, 11.0, 18.0, 19.0],
        ["NL11", "province", "Groningen", 4.0, 5.0, 12.0, 13.0, 20.0, 21.0],
        ["NL12", "province", "Drenthe", 6.0, 7.0, 14.0, 15.0, 22.0, 23.0],
    ]


def test_the_table_may_say_how_many_axes_stand_in_rows(tmp_path: Path) -> None:
    found = sheets(delivered(SEX, AGE, GEO, rows=2), tmp_path)["Table"]
    assert found[4] == [
        *("Code", "SEX in words", "Code", "AGE in words"),
        *("Netherlands", "North", "Groningen", "Drenthe"),
    ]
    assert found[5] == ["T", "Total", "Y0", "Young", 0.0, 1.0, 2.0, 3.0]
    assert found[8] == ["M", "Men", "Y1", "Old", 12.0, 13.0, 14.0, 15.0]
    (tmp_path / "t.xlsx").unlink()
    found = sheets(delivered(SEX, rows=0, unit=text("Persons")), tmp_path)["Table"]
    assert found[3:] == [
        ["SEX in words", "T", "M", "F"],
        ["", "Total", "Men", "Women"],
        ["Persons", 0.0, 1.0, 2.0],
    ]


@pytest.mark.parametrize("axes", [(), (GEO,), (SEX,)])
def test_a_table_of_one_axis_or_none(tmp_path: Path, axes: Sequence[Any]) -> None:
    one = delivered(*axes)
    found = sheets(one, tmp_path)["Table"]
    assert found[3][-1] == "Value"
    assert [row[-1] for row in found[4:]] == [float(cell) for cell in range(one.cells)]


def test_axes_that_are_too_wide_go_down_the_rows() -> None:
    wide = axis("W", [str(at) for at in range(60)])
    assert choose_layout(delivered(SEX, GEO, wide)) == PageLayout((1, 0), (2,))
    assert choose_layout(delivered(wide, wide_too := replace(wide, column="X"), GEO)) == (
        PageLayout((2, 0), (1,))
    )
    assert choose_layout(delivered(wide, SEX)) == PageLayout((0,), (1,))
    assert choose_layout(delivered(wide_too, GEO, SEX, AGE)) == PageLayout((1, 0), (2, 3))


def test_signs_brackets_and_decimals(tmp_path: Path) -> None:
    one = delivered(
        axis("K", "abcde"),
        values=np.array([12345, 123, 0, 0, 7]),
        marks=np.array([0, 5, 3, 1, 6], dtype=np.uint8),
        decimals=1,
        signs=((Mark.WITHHELD, "×"),),
    )
    found = sheets(one, tmp_path)
    assert [row[-1] for row in found["Table"][4:]] == [1234.5, 12.3, ".", "×", 0.7]
    forms = re.findall(r'formatCode="([^"]*)"', part_of(tmp_path, "xl/styles.xml"))
    assert "#,##0.0" in forms
    assert r"\(#,##0.0\)" in forms
    signs = {row[0]: row[1] for row in found["Notes"] if row[0]}
    assert signs["( )"] == "of low reliability"
    assert signs["."] == "not published for this area"
    assert signs["×"] == "confidential: withheld"
    assert ".." not in signs


def test_notes_source_date_and_making_stand_on_their_own_sheet(tmp_path: Path) -> None:
    one = published(
        counts(spec("area", "sex")).with_notes(text("Use totals.", "Use los totales.")),
        name="t",
        source=text("The office", "La oficina"),
        date="2031-05-01",
    )
    english, spanish = write_delivered(one, tmp_path, formats=["xlsx"], languages=["en", "es"])
    assert (english.name, spanish.name) == ("t.en.xlsx", "t.es.xlsx")
    said = {str(cell) for row in read(spanish)["Notas"] for cell in row}
    assert {"Use los totales.", "La oficina", "2031-05-01", "cell-key", "Personas"} <= said
    assert "Use totals." in {str(cell) for row in read(english)["Notes"] for cell in row}
    assert read(spanish)["Tabla"][4] == ["Código", "Zona", "Hombre", "Mujer", "Total"]


def test_totals_are_bold_and_parts_are_indented(tmp_path: Path) -> None:
    sheets(delivered(GEO, SEX), tmp_path)
    styles = part_of(tmp_path, "xl/styles.xml")
    fonts = re.findall(r"<font>.*?</font>", styles)
    cells = re.findall(r"<xf [^>]*?(?:/>|>.*?</xf>)", styles.split("<cellXfs")[1])
    sheet = part_of(tmp_path, "xl/worksheets/sheet1.xml")

    def style(cell: str) -> str:
        number = re.search(rf'<c r="{cell}" s="(\d+)"', sheet)
        assert number is not None
        return str(cells[int(number[1])])

    def bold(cell: str) -> bool:
        font = re.search(r'fontId="(\d+)"', style(cell))
        assert font is not None
        return "<b/>" in fonts[int(font[1])]

    # Rows 6 to 9 are the country, a part and two provinces; columns D to F are total, men, women.
    assert [bold(f"{column}6") for column in "CDEF"] == [True] * 4
    assert [bold(f"{column}7") for column in "CDEF"] == [False, True, False, False]
    assert 'indent="1"' in style("C8")
    assert "indent" not in style("C7")
    assert 'state="frozen"' in sheet
    assert '<autoFilter ref="A5:C9"/>' in sheet


@pytest.mark.parametrize("held", [10, 100_000])
def test_a_table_goes_on_over_sheets_at_the_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, held: int
) -> None:
    # Seven rows of heads and seven of numbers; five columns of words and five of numbers.
    monkeypatch.setattr(xlsx, "MOST_ROWS", 7 + 7)
    monkeypatch.setattr(xlsx, "MOST_COLUMNS", 5 + 5)
    monkeypatch.setattr(shared, "_HELD", held)
    one = delivered(GEO, AGE, SEX, replace(AGE, column="AGE2"), rows=2)
    found = sheets(one, tmp_path)
    names = [f"Table {at}" for at in range(1, 5)]
    assert list(found) == [*names, "Notes"]
    # What belongs to an area, or to a sex, stays together: six rows of seven, four columns of five.
    assert [len(found[name]) - 7 for name in names] == [6, 6, 2, 2]
    assert [len(found[name][6]) - 5 for name in names] == [4, 2, 4, 2]
    together = [
        [*some[5:], *others[5:]]
        for left, right in (names[:2], names[2:])
        for some, others in zip(found[left][7:], found[right][7:], strict=True)
    ]
    assert together == one.values.reshape(8, 6).astype(float).tolist()
    assert "Sheet 2 of 4." in found["Table 2"][1][0]
    told = {row[0]: row[1] for row in found["Notes"] if row[0]}
    assert told["Table 4"] == "Drenthe × Young … Drenthe × Old; Women × Young … Women × Old"


def test_parts_cover_everything_once() -> None:
    for sizes, most in [((4, 3), 7), ((4, 3), 2), ((5,), 2), ((), 9), ((3, 0), 4), ((2, 3, 4), 9)]:
        axes = [axis(f"A{at}", [str(one) for one in range(size)]) for at, size in enumerate(sizes)]
        made = parts(axes, most)
        assert [one for part in made for one in part] == list(range(int(np.prod(sizes, dtype=int))))
        assert max(map(len, made)) <= most
    three = [axis(f"A{at}", "xyz") for at in range(2)]
    assert parts(three, 7) == [range(6), range(6, 9)]


@given(
    st.lists(
        st.one_of(
            st.sampled_from(["=1+1", "+1", "-2", "@SUM(A1)", "{=A1}", "http://x.y", "1e5", " a "]),
            st.text(st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"]), min_size=1),
        ),
        min_size=1,
        max_size=5,
        unique=True,
    )
)
def test_any_label_is_a_text_that_cannot_become_a_formula(labels: list[str]) -> None:
    one = delivered(axis("K", [f"c{at}" for at in range(len(labels))], labels=labels))
    with TemporaryDirectory() as folder:
        found = sheets(one, Path(folder))["Table"]
        assert "<f>" not in part_of(Path(folder), "xl/worksheets/sheet1.xml")
    assert [row[1] for row in found[4:]] == [plain_cell(label) for label in labels]


def test_a_label_that_no_cell_can_hold_is_cut(tmp_path: Path) -> None:
    found = sheets(delivered(axis("K", ("c",), labels=("x" * 40_000,))), tmp_path)["Table"]
    assert found[4][1] == "x" * 32_766 + "…"


def test_no_clock_is_in_the_file(tmp_path: Path) -> None:
    one = delivered(GEO, SEX, notes=(Text.of("A note."),))
    sheets(one, tmp_path)
    first = (tmp_path / "t.xlsx").read_bytes()
    with zipfile.ZipFile(tmp_path / "t.xlsx") as archive:
        assert {member.date_time[0] for member in archive.infolist()} == {1980}
    (tmp_path / "t.xlsx").unlink()
    sheets(one, tmp_path)
    assert (tmp_path / "t.xlsx").read_bytes() == first
