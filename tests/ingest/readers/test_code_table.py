from __future__ import annotations

from pathlib import Path

import pytest
import xlsxwriter

from sdcensus.errors import InputError
from sdcensus.ingest.readers import read_code_table


def _refusal(path: Path, **options: str) -> str:
    with pytest.raises(InputError) as caught:
        read_code_table(path, **options)
    return str(caught.value)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "codes.csv"


def test_rows_have_line_numbers_lower_case_names_and_trimmed_text(file: Path) -> None:
    file.write_text('Code , LABEL\n 01, Male \n\n02,"Fe\nmale"\n03,\n', encoding="utf-8")
    assert read_code_table(file) == [
        (2, {"code": "01", "label": "Male"}),
        (4, {"code": "02", "label": "Fe\nmale"}),
        (6, {"code": "03", "label": ""}),
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_any_usual_delimiter(file: Path, delimiter: str) -> None:
    file.write_text(f"code{delimiter}label\n1{delimiter}x\n", encoding="utf-8")
    assert read_code_table(file) == [(2, {"code": "1", "label": "x"})]


def test_encodings(file: Path) -> None:
    file.write_bytes("code,label\n1,Español\n".encode("cp1252"))
    assert read_code_table(file, encoding="cp1252")[0][1]["label"] == "Español"
    message = _refusal(file)
    assert "byte 18 (line 2)" in message
    assert "cp1252" in message


def test_a_workbook_gives_the_same(tmp_path: Path) -> None:
    path = tmp_path / "codes.xlsx"
    book = xlsxwriter.Workbook(path)
    book.add_worksheet("Notes").write_string(0, 0, "nothing")
    sheet = book.add_worksheet("Codes")
    sheet.write_row(0, 0, ["Code", " Label", "Parent"])
    sheet.write_row(1, 0, [1, "Male "])
    sheet.write_string(3, 0, "007")
    sheet.write_row(3, 1, ["Bond", 2.5])
    book.close()
    assert read_code_table(path, sheet="Codes") == [
        (2, {"code": "1", "label": "Male", "parent": ""}),
        (4, {"code": "007", "label": "Bond", "parent": "2.5"}),
    ]
    assert read_code_table(path) == []
    assert "no sheet 'Code'" in _refusal(path, sheet="Code")


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("code,label\n1\n", "line 2 has 1 fields, the header has 2"),
        ("code,label\n1,a,b\n", "line 2 has a value in column 3"),
        ('code,label\n1,"a\n', "quotation marks of line 2"),
        ('code,label\n1,"a"b\n', "quotation marks of line 2"),
        ("code,Code\n1,2\n", "two columns have the name 'code'"),
        ("\n\n", "no column names"),
        ("code,label\n1,\0\n", "NUL"),
    ],
)
def test_mistakes_are_named_with_their_line(file: Path, text: str, complaint: str) -> None:
    file.write_text(text, encoding="utf-8", newline="")
    message = _refusal(file)
    assert message.startswith("codes.csv")
    assert complaint in message


def test_what_is_no_table_is_refused(tmp_path: Path) -> None:
    assert "no file" in _refusal(tmp_path / "none.csv")
    assert "is a folder" in _refusal(tmp_path)
    path = tmp_path / "codes.xlsx"
    path.write_bytes(b"code,label\n")
    assert "not an Excel file" in _refusal(path)
    path = tmp_path / "codes.csv"
    path.write_bytes(b"PK\x03\x04\x14\x00")
    assert "looks like an Excel workbook" in _refusal(path)
    path.write_bytes(b"")
    assert "is empty" in _refusal(path)
