"""Code lists in csv and Excel files."""

from __future__ import annotations

from pathlib import Path

import pytest
import xlsxwriter
from hypothesis import given, strategies as st

from sdcensus.documents.schema.code_tables import read_code_table
from sdcensus.errors import DocumentError, InputError, SdcensusError
from sdcensus.model.schema.tree_rows import Node
from sdcensus.model.text import Text


def table_of(tmp_path: Path, content: str | bytes, name: str = "codes.csv") -> Path:
    path = tmp_path / name
    path.write_bytes(content.encode() if isinstance(content, str) else content)
    return path


def test_columns_are_found_by_name_in_any_order_and_case(tmp_path: Path) -> None:
    path = table_of(
        tmp_path,
        "Parent,CODE,Label_ES,notes,Label,Level\n,R,Región,big,Region,region\nR,01,Uno,,One,ed\n",
    )
    table = read_code_table(path)
    assert table.nodes == (
        Node("R", Text((("en", "Region"), ("es", "Región"))), "", "region"),
        Node("01", Text((("en", "One"), ("es", "Uno"))), "R", "ed"),
    )
    assert table.lines == (2, 3)


@pytest.mark.parametrize("delimiter", [",", ";", "\t"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_delimiters_byte_order_marks_and_line_ends(
    tmp_path: Path, delimiter: str, mark: bytes, end: str
) -> None:
    text = end.join([f"code{delimiter}label", f'1{delimiter}"a,b;c"', "", f" 2 {delimiter} two "])
    table = read_code_table(table_of(tmp_path, mark + text.encode()))
    assert [(node.code, node.label.show()) for node in table.nodes] == [
        ("1", "a,b;c"),
        ("2", "two"),
    ]
    assert table.lines == (2, 4)


def test_the_first_language_is_shown_first(tmp_path: Path) -> None:
    path = table_of(tmp_path, "code,label_es,label_fr\n1,Uno,Un\n")
    assert read_code_table(path, language="fr").nodes[0].label.show() == "Un"
    path = table_of(tmp_path, "code,label,label_es\n1,Een,Uno\n")
    assert read_code_table(path, language="nl").nodes[0].label.show("nl") == "Een"


def test_all_mistakes_are_listed_with_their_lines(tmp_path: Path) -> None:
    path = table_of(tmp_path, 'code,label\n1,"two\nlines"\n,no code\n1,again\n2,a,b\n3,c\n')
    with pytest.raises(DocumentError) as caught:
        read_code_table(path)
    assert [mistake.line for mistake in caught.value.mistakes] == [4, 5, 6]
    assert "line 4: The code is missing." in str(caught.value)
    assert "line 5: The code '1' stands on line 2 already." in str(caught.value)
    assert "more fields than the 2 columns" in str(caught.value)
    assert str(path) in str(caught.value)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"\n \n", "is empty"),
        (b"code,label\n", "no codes below"),
        (b"1,Male\n2,Female\n", "no column 'code'"),
        (b"code,label,parnet\n1,a,\n", "Did you mean 'parent'"),
        (b"code,label,label\n1,a,b\n", "two columns 'label'"),
        (b'code,label\n1,"a\n2,b\n', "double quote may be missing"),
        (b"code,label\n1,Espa\xf1a\n", "line 2: .*Save the file as csv UTF-8"),
        (b"code,label\n1,\0\n", "line 2: .*NUL"),
        ("code,label\n1,a\n".encode("utf-16"), "UTF-16"),
        (b"code,label\n1," + b"x" * 200_000 + b"\n", "cannot be read as csv"),
    ],
)
def test_what_is_no_code_list_is_refused_in_plain_words(
    tmp_path: Path, content: bytes, words: str
) -> None:
    with pytest.raises(DocumentError, match=words):
        read_code_table(table_of(tmp_path, content))


def test_a_missing_file_or_a_folder_is_an_input_error(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="does not exist"):
        read_code_table(tmp_path / "no.csv")
    with pytest.raises(InputError, match="is a folder"):
        read_code_table(tmp_path)


def test_very_many_mistakes_are_counted_not_listed(tmp_path: Path) -> None:
    with pytest.raises(DocumentError) as caught:
        read_code_table(table_of(tmp_path, "code,label\n" + ",x\n" * 1000))
    assert len(caught.value.mistakes) == 51
    assert "950 more" in caught.value.mistakes[-1].text


def test_excel_and_csv_give_the_same_code_list(tmp_path: Path) -> None:
    rows: list[list[str | int | float]] = [
        ["code", "label", "parent"],
        ["A", "Group", ""],
        [1, "One", "A"],
        [2.0, "Two", "A"],
        ["007", "Bond", "A"],
    ]
    book = xlsxwriter.Workbook(tmp_path / "codes.xlsx")
    sheet = book.add_worksheet()
    for number, row in enumerate(rows):
        for column, value in enumerate(row):
            sheet.write(number, column, value)
    book.close()
    text = "code,label,parent\nA,Group,\n1,One,A\n2,Two,A\n007,Bond,A\n"
    excel = read_code_table(tmp_path / "codes.xlsx")
    assert excel.nodes == read_code_table(table_of(tmp_path, text)).nodes
    assert excel.lines == (2, 3, 4, 5)


@pytest.mark.parametrize("ending", ["xlsx", "xls", "ods"])
@pytest.mark.parametrize("content", [b"", b"code,label\n1,a\n", b"PK\x03\x04 no zip", b"\xd0\xcf"])
def test_a_broken_excel_file_is_an_input_error(tmp_path: Path, ending: str, content: bytes) -> None:
    with pytest.raises(SdcensusError, match=r"cannot be read as an Excel file|is empty"):
        read_code_table(table_of(tmp_path, content, f"codes.{ending}"))


@given(
    st.one_of(
        st.binary(max_size=200),
        st.text("code,label;\t\"\n parent1A'", max_size=120).map(
            lambda text: f"code,label,parent\n{text}".encode()
        ),
    )
)
def test_any_bytes_give_a_code_list_or_a_clear_error(
    tmp_path_factory: pytest.TempPathFactory, content: bytes
) -> None:
    path = table_of(tmp_path_factory.getbasetemp(), content, "fuzz.csv")
    try:
        table = read_code_table(path)
    except SdcensusError:
        return
    codes = [node.code for node in table.nodes]
    assert len(set(codes)) == len(codes) == len(table.lines)
    assert all(codes)
