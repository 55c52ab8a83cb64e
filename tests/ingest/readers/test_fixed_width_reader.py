from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from hypothesis import given, strategies as st

from sdcensus.ingest.readers import ColumnKind, lines
from sdcensus.model.schema.source import FileFormat
from tests.ingest.readers.helpers import opened, refusal, whole

FIXED = FileFormat.FIXED


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "persons.dat"


@pytest.fixture
def layout(tmp_path: Path) -> Path:
    path = tmp_path / "layout.csv"
    path.write_text("name,start,width\ned,1,4\nage,5,3\nname,9,6\n", encoding="utf-8")
    return path


def test_fields_are_cut_out_and_the_blanks_around_them_dropped(file: Path, layout: Path) -> None:
    file.write_bytes(b"0412 37 Ana   \n0413    Zo e  \n     99       \n")
    assert whole(opened(file, format=FIXED, layout=layout)) == {
        "ed": ["0412", "0413", None],
        "age": ["37", None, "99"],
        "name": ["Ana", "Zo e", None],
    }


def test_columns_have_their_width(file: Path, layout: Path) -> None:
    file.write_bytes(b"0412 37 Ana   \n")
    reader = opened(file, format=FIXED, layout=layout)
    assert [(column.name, column.kind, column.width) for column in reader.columns()] == [
        ("ed", ColumnKind.TEXT, 4),
        ("age", ColumnKind.TEXT, 3),
        ("name", ColumnKind.TEXT, 6),
    ]
    assert reader.rows() is None


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends(file: Path, layout: Path, end: str, last: bool) -> None:
    text = f"0412 37 Ana   {end}0413 38 Zoe   " + (end if last else "")
    file.write_bytes(text.encode())
    assert whole(opened(file, format=FIXED, layout=layout))["name"] == ["Ana", "Zoe"]


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "latin-1", "cp1252", "cp850", "utf-16"])
def test_places_are_characters_in_every_encoding(file: Path, layout: Path, encoding: str) -> None:
    text = "0412 37 José  \n0413 38 ÑÑÑÑÑÑ\n0414 39 x     \n"
    file.write_bytes(text.encode(encoding))
    found = whole(opened(file, format=FIXED, layout=layout, encoding=encoding))
    assert found["name"] == ["José", "ÑÑÑÑÑÑ", "x"]
    assert found["ed"] == ["0412", "0413", "0414"]


def test_characters_of_any_size(file: Path, layout: Path) -> None:
    file.write_text("0412 37 a€𝄞é天x\n0413𝄞𝄞𝄞 y     \n", encoding="utf-8", newline="")
    assert whole(opened(file, format=FIXED, layout=layout)) == {
        "ed": ["0412", "0413"],
        "age": ["37", "𝄞𝄞𝄞"],
        "name": ["a€𝄞é天x", "y"],
    }


def test_multi_byte_encodings_are_read_by_characters(file: Path, layout: Path) -> None:
    file.write_bytes("0412 37 天津ｱx  \n".encode("cp932"))
    found = whole(opened(file, format=FIXED, layout=layout, encoding="cp932"))
    assert found["name"] == ["天津ｱx"]


def test_trailing_blanks_may_have_been_cut_away(file: Path, layout: Path) -> None:
    file.write_bytes(b"0412 37 Ana\n0413\n0414 38 Abcdef\n0415 39 B")
    assert whole(opened(file, format=FIXED, layout=layout)) == {
        "ed": ["0412", "0413", "0414", "0415"],
        "age": ["37", None, "38", "39"],
        "name": ["Ana", None, "Abcdef", "B"],
    }


def test_a_short_line_that_ends_in_a_blank_is_cut_off(file: Path, layout: Path) -> None:
    file.write_bytes(b"0412 37 Ana   \n0413 38 \n0414 39 Zoe   \n")
    message = refusal(file, format=FIXED, layout=layout)
    assert "line 2 is cut off" in message
    assert "14 characters" in message


def test_a_last_line_that_alone_is_short_and_has_no_end_is_cut_off(
    file: Path, layout: Path
) -> None:
    file.write_bytes(b"0412 37 Ana   \n0413 38 Abcdef\n0414 39 SEC")
    message = refusal(file, format=FIXED, layout=layout)
    assert "line 3 is cut off" in message
    assert "SEC" not in message


def test_text_beyond_the_layout_is_passed_over(file: Path, layout: Path) -> None:
    file.write_bytes(b"0412 37 Ana   and more\n0413 38 Zoe   \n")
    assert whole(opened(file, format=FIXED, layout=layout))["name"] == ["Ana", "Zoe"]


def test_empty_lines_may_stand_at_the_end_only(file: Path, layout: Path) -> None:
    file.write_bytes(b"0412 37 Ana   \n\r\n\n\x1a")
    assert whole(opened(file, format=FIXED, layout=layout))["ed"] == ["0412"]
    file.write_bytes(b"0412 37 Ana   \n\n0413 37 Ana   \n")
    assert "line 2 is empty" in refusal(file, format=FIXED, layout=layout)


def test_nothing_but_empty_lines_is_no_rows(file: Path, layout: Path) -> None:
    file.write_bytes(b"\n\n")
    assert whole(opened(file, format=FIXED, layout=layout))["ed"] == []


def test_many_blocks_give_the_same_as_one(
    file: Path, layout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    texts = [f"{n:04d}{n % 120:3d} " + ("Ñandú" if n % 9 == 0 else "x") for n in range(700)]
    file.write_text("\n".join(texts) + "\n\n\n", encoding="utf-8", newline="")
    at_once = whole(opened(file, format=FIXED, layout=layout))
    monkeypatch.setattr(lines, "_BLOCK", 50)
    assert whole(opened(file, format=FIXED, layout=layout)) == at_once
    assert at_once["ed"] == [f"{n:04d}" for n in range(700)]
    file.write_text("\n".join([*texts, "", texts[0]]), encoding="utf-8", newline="")
    assert "line 701 is empty" in refusal(file, format=FIXED, layout=layout)


def test_several_files_are_read_as_one(tmp_path: Path, layout: Path) -> None:
    paths = [tmp_path / f"{n}.txt" for n in range(2)]
    for number, path in enumerate(paths):
        path.write_bytes(b"041%d 37 Ana   \n" % number)
    assert whole(opened(*paths, format=FIXED, layout=layout))["ed"] == ["0410", "0411"]


def test_wrong_encoding_names_the_line(file: Path, layout: Path) -> None:
    file.write_bytes(b"0412 37 Ana   \n0413 38 Jos\xe9  \n")
    message = refusal(file, format=FIXED, layout=layout)
    assert "line 2 is not text" in message
    assert "cp1252" in message
    file.write_bytes(b"0412 37 Jos\xe9  \n0413 38 Ana\x81  \n")
    message = refusal(file, format=FIXED, layout=layout, encoding="cp1252")
    assert "line 2 is not text" in message


def test_nul_and_stray_carriage_returns_are_refused(file: Path, layout: Path) -> None:
    file.write_bytes(b"0412 37 An\0   \n")
    assert "NUL" in refusal(file, format=FIXED, layout=layout)
    assert "NUL" in refusal(file, format=FIXED, layout=layout, encoding="latin-1")
    file.write_bytes(b"0411 37 Ana   \n0412 37 Ana   \r0413 37 Zoe   \r")
    assert "line 2 holds a carriage return" in refusal(file, format=FIXED, layout=layout)


def test_a_file_without_line_ends_is_refused(
    file: Path, layout: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(lines, "_BLOCK", 100)
    monkeypatch.setattr(lines, "_LONGEST_LINE", 1000)
    file.write_bytes(b"0412 37 Ana   \n" + b"x" * 5000)
    assert "line 2 is longer" in refusal(file, format=FIXED, layout=layout)


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("name,start\na,1\n", "no column 'width'"),
        ("name,start,width\n", "names no columns"),
        ("name,start,width\na,0,1\n", "line 2: start is '0'"),
        ("name,start,width\na,1,x\n", "line 2: width is 'x'"),
        ("name,start,width\na,1,2\n,3,4\n", "line 3 gives no name"),
        ("name,start,width\na,1,2\na,3,4\n", "line 3 names 'a' a second time"),
    ],
)
def test_mistakes_in_the_layout_are_named(
    file: Path, layout: Path, text: str, complaint: str
) -> None:
    file.write_bytes(b"0412\n")
    layout.write_text(text, encoding="utf-8")
    assert complaint in refusal(file, format=FIXED, layout=layout)


def test_a_layout_is_needed(file: Path) -> None:
    file.write_bytes(b"0412\n")
    assert "needs a layout" in refusal(file, format=FIXED)


@given(
    rows=st.lists(st.tuples(*[st.text("ab é€𝄞\t", max_size=3)] * 3), min_size=1, max_size=20),
    trim=st.booleans(),
)
def test_what_is_laid_out_is_read(rows: list[tuple[str, str, str]], trim: bool) -> None:
    texts = ["|" + "".join(one.ljust(3) for one in row) for row in rows]
    with tempfile.TemporaryDirectory() as folder:
        layout, file = Path(folder) / "layout.csv", Path(folder) / "file.txt"
        layout.write_text("name,start,width\na,2,3\nb,5,3\nc,8,3\n", encoding="utf-8")
        content = "".join((text.rstrip(" ") if trim else text) + "\n" for text in texts)
        file.write_text(content, encoding="utf-8", newline="")
        found = whole(opened(file, format=FIXED, layout=layout))
    for place, name in enumerate("abc"):
        assert found[name] == [row[place].strip(" \t") or None for row in rows]
