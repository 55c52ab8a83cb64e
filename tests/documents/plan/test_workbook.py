from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path

import pytest
import python_calamine
import xlsxwriter
from hypothesis import Phase, given, settings

from sdcensus.documents.plan.document import read_plan
from sdcensus.documents.plan.help import plan_help
from sdcensus.documents.plan.workbook import every_parameter, section_settings
from sdcensus.documents.plan.workbook_form import plan_workbook
from sdcensus.documents.workbooks import files as workbook_files
from sdcensus.errors import DocumentError, InputError
from sdcensus.model.plan.plan import Plan, Protection
from sdcensus.model.schema.schema import Schema
from sdcensus.model.schema.variable import Entity
from sdcensus.model.text import Text
from sdcensus.testing.island import island_schema
from tests.documents.plan.test_document import PLANS

SCHEMA = island_schema()
Sheet = Sequence[Sequence[object]]

PLAN: Sheet = [
    ["Setting", "Value", "remarks"],
    ["store", "census.store", "ours"],
    ["# protection"],
    ["Method", "cell-key"],
    ["strength", "light"],
    ["then", "withhold-sparse-areas"],
    ["mean cell size", 2.5],
    ["key_version", 3.0],
    [],
    ["Folder", "published"],
    ["date", datetime(2026, 3, 1)],
    ["formats", "csv, xlsx"],
    ["notes", True],
    ["evaluation", "no"],
]
TABLES: Sheet = [
    [],
    ["Name", "Title", "units", "population", "Rows", "Columns", "Measure", "comment"],
    ["age-by-parish", "Age", "persons", "age >= 5", "age@class", "area@parish+district, sex"],
    [],
    ["", "", "", "", "", "", "", "only a remark"],
    ["# later", "", "", "", "nonsense"],
    [2021.0, "", "", "", "sex", "", "share(married == 1)", "a remark"],
]


def workbook(path: Path, sheets: Mapping[str, Sheet]) -> Path:
    book = xlsxwriter.Workbook(str(path), {"strings_to_urls": False})
    day = book.add_format({"num_format": "yyyy-mm-dd"})
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        for row, cells in enumerate(rows):
            for column, cell in enumerate(cells):
                if isinstance(cell, datetime):
                    sheet.write_datetime(row, column, cell, day)
                elif cell != "":
                    sheet.write(row, column, cell)
    book.close()
    return path


def schema_of(store: Path) -> Schema:
    return SCHEMA


def mistakes(path: Path) -> str:
    with pytest.raises(DocumentError) as caught:
        read_plan(path, schema_of)
    return str(caught.value)


def changed(sheet: Sheet, before: object, after: object) -> Sheet:
    assert any(before in row for row in sheet)
    return [[after if cell == before else cell for cell in row] for row in sheet]


def test_a_workbook_is_a_plan(tmp_path: Path) -> None:
    plan = read_plan(workbook(tmp_path / "p.xlsx", {"Plan": PLAN, "Tables": TABLES}), schema_of)
    assert plan.store == "census.store"
    assert plan.protect == Protection(
        method="cell-key",
        then=("withhold-sparse-areas",),
        settings=(("strength", "light"), ("key_version", 3), ("mean_cell_size", 2.5)),
    )
    first, second = plan.tables
    assert (first.rows, first.columns) == (("age@class",), ("area@parish+district", "sex"))
    assert (first.title, first.universe, first.of) == (Text.of("Age"), "age >= 5", Entity.PERSON)
    assert (second.name, second.share) == ("2021", "married == 1")
    assert plan.output is not None
    assert plan.output.date == date(2026, 3, 1).isoformat()
    assert plan.output.formats == ("csv", "xlsx")
    assert (plan.output.notes, plan.output.evaluation) == (True, False)
    assert (plan.file, plan.folder) == ("p.xlsx", tmp_path)


def test_indicators_office_and_languages(tmp_path: Path) -> None:
    indicators: Sheet = [
        ["name", "title:en", "kind", "groups", "numerator", "denominator", "per", "decimals"],
        ["masculinity", "Men", "ratio", "area@parish; age@class", "sex == 0", "sex == 1", 1000.0],
    ]
    office: Sheet = [
        ["name", "Office"],
        ["legal basis", "Act 7"],
        ["contact", "us@example.org"],
        ["sign withheld", "x"],
        ["refused", "-"],
    ]
    sheets = {"plan": PLAN, "indicators": indicators, "office": office, "other things": [["x"]]}
    plan = read_plan(workbook(tmp_path / "p.xlsx", sheets), schema_of)
    (made,) = plan.indicators
    assert (made.kind, made.by, made.per) == ("ratio", ("area@parish", "age@class"), 1000)
    assert plan.office.name == Text.of("Office")
    assert plan.office.legal_basis == Text.of("Act 7")
    assert plan.office.symbols == (("withheld", "x"), ("refused", "-"))


def test_a_title_without_a_language_is_in_the_first_that_is_left(tmp_path: Path) -> None:
    rows: Sheet = [["name", "rows", "title", "title (es)"], ["a", "sex", "Sex", "Sexo"]]
    path = workbook(tmp_path / "p.xlsx", {"plan": PLAN, "tables": rows})
    assert read_plan(path).tables[0].title == Text.of({"en": "Sex", "es": "Sexo"})
    rows = [["name", "rows", "title:en", "title"], ["a", "sex", "Sex", "Sexo"]]
    path = workbook(tmp_path / "q.xlsx", {"plan": PLAN, "tables": rows})
    assert "in which language" in mistakes(path)


def test_every_mistake_names_sheet_row_and_cell(tmp_path: Path) -> None:
    plan = changed(changed(PLAN, "light", "lite"), "csv, xlsx", "csv, xslx")
    plan = changed(changed(plan, 2.5, "two"), "no", "perhaps")
    plan = [*changed(plan, "then", "than"), ["folder", "again"], ["", "a value"]]
    tables = changed(changed(TABLES, "age@class", "age@clas"), "age >= 5", "agee >= 5")
    tables = changed(changed(tables, "Columns", "Colums"), 2021.0, "age-by-parish")
    said = mistakes(workbook(tmp_path / "p.xlsx", {"plan": plan, "tables": tables}))
    for expected in [
        "sheet 'plan', row 5, 'strength' (cell B5): There is no strength 'lite'. Did you mean",
        "sheet 'plan', row 6, 'than' (cell B6): There is no setting 'than'. Did you mean 'then'",
        "sheet 'plan', row 7, 'mean cell size' (cell B7): should be a number",
        "sheet 'plan', row 12, 'formats' (cell B12): There is no format 'xslx'. Did you mean",
        "sheet 'plan', row 14, 'evaluation' (cell B14): should be yes or no",
        "sheet 'plan', row 15, 'folder' (cell B15): 'folder' stands there twice",
        "sheet 'plan', row 16 (cell B16): there is a value without the name",
        "sheet 'tables', row 2 (cell F2): There is no column 'Colums'. Did you mean 'columns'",
        "sheet 'tables', row 3, 'population' (cell D3): There is no variable 'agee'",
        "sheet 'tables', row 3, 'Rows' (cell E3): Variable 'age': There is no level 'clas'",
        "sheet 'tables', row 7, 'Name' (cell A7): 'age-by-parish' is the name of table 1",
    ]:
        assert expected in said, said


@pytest.mark.parametrize(
    ("sheets", "expected"),
    [
        ({"tables": TABLES}, "There is no sheet 'plan'"),
        ({"plan": PLAN}, "There is no table"),
        ({"plan": PLAN, "tabels": TABLES}, "There is no sheet of a plan 'tabels'. Did you mean"),
        ({"plan": PLAN, "tables": TABLES, "Table": TABLES}, "two sheets 'tables'"),
        ({"plan": PLAN[2:], "tables": TABLES}, "sheet 'plan': the setting 'store' is missing"),
        ({"plan": [*PLAN, ["secret", "s3cret"]], "tables": TABLES}, "a secret never stands"),
        ({"plan": PLAN, "tables": [["name", "name"], ["a", "b"]]}, "stands there twice"),
        (
            {"plan": PLAN, "tables": [["title", "rows"], ["A", "sex"]]},
            "sheet 'tables', row 2: the setting 'name' is missing",
        ),
    ],
)
def test_bad_workbooks_are_explained(
    tmp_path: Path, sheets: dict[str, Sheet], expected: str
) -> None:
    said = mistakes(workbook(tmp_path / "p.xlsx", sheets))
    assert expected in said
    assert "s3cret" not in said


def test_what_is_no_workbook_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "plan.xlsx"
    with pytest.raises(InputError, match="does not exist"):
        read_plan(path)
    path.write_bytes(b"store,census.store\n")
    with pytest.raises(InputError, match=r"no \.xlsx workbook"):
        read_plan(path)
    path.write_bytes(bytes.fromhex("d0cf11e0a1b11ae1") + bytes(600))
    with pytest.raises(InputError, match="locked with a password"):
        read_plan(path)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as package:
        package.writestr("[Content_Types].xml", "<x/>")
        package.writestr("xl/workbook.xml", bytes(4 * 2**20))
    monkeypatch.setattr(workbook_files, "LARGEST_UNPACKED", 3 * 2**20)
    with pytest.raises(InputError, match="larger than 3 MB"):
        read_plan(path)


def ordered(text: Text) -> Text:
    """All texts of a workbook have the order of its columns."""
    return Text(tuple(sorted(text.by_language)))


def in_one_order(plan: Plan) -> Plan:
    office = replace(
        plan.office, name=ordered(plan.office.name), legal_basis=ordered(plan.office.legal_basis)
    )
    return replace(
        plan,
        office=office,
        tables=tuple(replace(table, title=ordered(table.title)) for table in plan.tables),
        indicators=tuple(
            replace(indicator, title=ordered(indicator.title)) for indicator in plan.indicators
        ),
    )


@settings(phases=[Phase.explicit, Phase.generate])
@given(plan=PLANS)
def test_a_plan_that_is_written_reads_back_equal(
    plan: Plan, tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("plan") / "plan.xlsx"
    path.write_bytes(plan_workbook(plan, comments=("Written for a test.",)))
    assert in_one_order(read_plan(path)) == in_one_order(plan)


def test_the_form_is_the_same_whenever_it_is_made() -> None:
    plan = Plan(store="census.store", programme="eu-2021", mapping="eu-mapping.toml")
    first = plan_workbook(plan)
    assert first == plan_workbook(plan)
    book = python_calamine.CalamineWorkbook.from_filelike(io.BytesIO(first))
    assert book.sheet_names == [
        "plan",
        "tables",
        "indicators",
        "protect",
        "office",
        "help",
        "lists",
    ]
    takes = every_parameter()
    assert set(section_settings(takes)) == {*plan_help("settings"), *takes}


def test_a_title_above_the_headings_is_explained(tmp_path: Path) -> None:
    titled = [["Tables of the census"], *TABLES]
    said = mistakes(workbook(tmp_path / "plan.xlsx", {"plan": PLAN, "tables": titled}))
    assert "the first row has to hold the names of the columns: name, title" in said
    noted = [["# Tables of the census"], *TABLES]
    book = workbook(tmp_path / "noted.xlsx", {"plan": PLAN, "tables": noted})
    assert read_plan(book, schema_of).tables


@pytest.mark.parametrize(("word", "meant"), [("Excel", "xlsx"), ("JSON", "json-stat")])
def test_other_names_of_formats_are_answered_with_ours(
    tmp_path: Path, word: str, meant: str
) -> None:
    plan = changed(PLAN, "csv, xlsx", word)
    said = mistakes(workbook(tmp_path / "plan.xlsx", {"plan": plan, "tables": TABLES}))
    assert f"There is no format '{word}'. Did you mean '{meant}'?" in said


PROTECT: Sheet = [
    ["Name", "method", "base", "remarks"],
    ["legal", "conventional-rounding", 5.0, "as the law says"],
]
LEGAL: Sheet = [
    ["name", "rows", "protect"],
    ["first", "sex", "legal"],
    ["second", "age@class", '{ method = "threshold-and-rounding", threshold = 12 }'],
    ["third", "married"],
]


def test_tables_of_a_workbook_can_have_methods_of_their_own(tmp_path: Path) -> None:
    sheets = {"plan": PLAN, "tables": LEGAL, "protect": PROTECT}
    plan = read_plan(workbook(tmp_path / "plan.xlsx", sheets), schema_of)
    legal = Protection(method="conventional-rounding", settings=(("base", 5),))
    assert plan.protections == (("legal", legal),)
    own = Protection(method="threshold-and-rounding", settings=(("threshold", 12),))
    assert [plan.own_protection(table) for table in plan.tables] == [legal, own, None]


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([["name", "methode"], ["legal", "x"]], "row 1 (cell B1): There is no column 'methode'"),
        ([["name", "method"], ["", "cell-key"]], "row 2 (cell A2): give it a name"),
        ([["name", "method"], ["legal", "cell-kee"]], "sheet 'protect', row 2, 'method' (cell B2)"),
        ([["name", "method", "base"], ["legal", "cell-key", "many"]], "(cell C2): should be a num"),
        ([["name", "method"], ["a", "cell-key"], ["a", "cell-key"]], "'a' stands there twice"),
        ([["name", "method"], ["other", "cell-key"]], "sheet 'protect', row 2: no table says"),
        ([["name", "method"]], "sheet 'tables', row 2, 'protect' (cell C2): there is no section"),
    ],
)
def test_mistakes_of_the_sheet_have_their_place(tmp_path: Path, rows: Sheet, said: str) -> None:
    sheets = {"plan": PLAN, "tables": LEGAL, "protect": rows}
    assert said in mistakes(workbook(tmp_path / "plan.xlsx", sheets))


def test_what_stands_in_braces_is_read_as_in_a_document(tmp_path: Path) -> None:
    tables = [LEGAL[0], ["first", "sex", "{ method = "]]
    said = mistakes(workbook(tmp_path / "plan.xlsx", {"plan": PLAN, "tables": tables}))
    assert "(cell C2): should be a name of the sheet 'protect', or { method" in said
