from __future__ import annotations

import codecs
import csv
from pathlib import Path

import pytest

from sdcensus.ingest.readers import ColumnKind, csvfile
from sdcensus.model.schema.source import FileFormat
from tests.ingest.readers.helpers import opened, refusal, whole


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "persons.csv"


def test_text_stays_as_written_and_empty_or_blank_is_null(file: Path) -> None:
    file.write_bytes(b'ed,age,name\n0412,7,"Ana "\n0413,, \n,"","   "\n')
    assert whole(opened(file)) == {
        "ed": ["0412", "0413", None],
        "age": ["7", None, None],
        "name": ["Ana ", None, None],
    }


def test_all_columns_are_text_and_the_number_of_rows_is_not_known(file: Path) -> None:
    file.write_bytes(b"a,b\n1,2\n")
    reader = opened(file)
    assert [(column.name, column.kind) for column in reader.columns()] == [
        ("a", ColumnKind.TEXT),
        ("b", ColumnKind.TEXT),
    ]
    assert reader.rows() is None
    assert reader.name == "persons.csv"


def test_columns_come_in_the_order_in_which_they_are_asked_for(file: Path) -> None:
    file.write_bytes(b"a,b,c\n1,2,3\n4,5,6\n")
    batches = list(opened(file).batches(["c", "a", "c"]))
    assert batches[0].schema.names == ["c", "a", "c"]
    assert [column.to_pylist() for column in batches[0].columns] == [
        ["3", "6"],
        ["1", "4"],
        ["3", "6"],
    ]


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_the_delimiter_is_found_in_the_header(file: Path, delimiter: str) -> None:
    header = delimiter.join(['"a,;|\tb"', "c", "d"])
    row = delimiter.join(["1,5" if delimiter != "," else "1", "2", "3"])
    file.write_text(f"{header}\n{row}\n", encoding="utf-8", newline="")
    assert whole(opened(file)) == {"a,;|\tb": [row.split(delimiter)[0]], "c": ["2"], "d": ["3"]}


def test_any_other_delimiter_can_be_given(file: Path) -> None:
    file.write_bytes(b"a~b\n1~2\n")
    assert whole(opened(file, delimiter="~")) == {"a": ["1"], "b": ["2"]}


@pytest.mark.parametrize("delimiter", ["", ";;", "\n", '"', "§"])
def test_what_cannot_be_a_delimiter_is_refused(file: Path, delimiter: str) -> None:
    file.write_bytes(b"a,b\n1,2\n")
    assert "cannot be the delimiter" in refusal(file, delimiter=delimiter)


@pytest.mark.parametrize("end", ["\n", "\r\n", "\r"])
@pytest.mark.parametrize("last", [True, False])
def test_line_ends_of_every_system_are_understood(file: Path, end: str, last: bool) -> None:
    text = end.join(["a,b", "1,2", "3,4"]) + (end if last else "")
    file.write_text(text, encoding="utf-8", newline="")
    assert whole(opened(file)) == {"a": ["1", "3"], "b": ["2", "4"]}


def test_quoted_fields_hold_delimiters_quotation_marks_and_line_ends(file: Path) -> None:
    file.write_bytes(b'"a","b\nc"\r\n"1,2","say ""hi"""\r\n"x\r\ny",z\r\n')
    assert whole(opened(file)) == {"a": ["1,2", "x\r\ny"], "b\nc": ['say "hi"', "z"]}


@pytest.mark.parametrize(
    "encoding",
    ["utf-8", "utf-8-sig", "latin-1", "cp1252", "cp850", "utf-16", "utf-16-le", "utf-32", "cp1140"],
)
def test_encodings_give_the_same_text(file: Path, encoding: str) -> None:
    rows = [["año", "nombre"], ["1", "José Müller, Ñandú"], ["2", "Zoë"]]
    with file.open("w", encoding=encoding, newline="") as stream:
        csv.writer(stream).writerows(rows)
    found = whole(opened(file, encoding=encoding))
    assert found == {"año": ["1", "2"], "nombre": ["José Müller, Ñandú", "Zoë"]}


def test_text_survives_every_boundary_between_pieces_that_are_read(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("sdcensus.ingest.readers.transcode._CHUNK", 3)
    rows = [[f"{number}", "ñ€𝄞" * (number % 3)] for number in range(50)]
    for encoding in ("utf-8", "utf-16", "cp1252"):
        written = [[a, b.replace("𝄞", "x")] if encoding == "cp1252" else [a, b] for a, b in rows]
        with file.open("w", encoding=encoding, newline="") as stream:
            csv.writer(stream).writerows([["n", "t"], *written])
        found = whole(opened(file, encoding=encoding))
        assert found["t"] == [text or None for _, text in written]


def test_a_byte_order_mark_is_no_part_of_the_first_name(file: Path) -> None:
    file.write_bytes(codecs.BOM_UTF8 + b"a,b\n1,2\n")
    assert opened(file).names() == ("a", "b")


def test_a_row_may_begin_with_the_character_of_the_mark(file: Path) -> None:
    file.write_text("a,b\n\ufeffx,1\n", encoding="utf-8", newline="")
    assert whole(opened(file)) == {"a": ["\ufeffx"], "b": ["1"]}


def test_only_a_header_means_no_rows(file: Path) -> None:
    for text in (b"a,b", b"a,b\n", b"a,b\r\n\r\n", b"\n\na,b\n\n\n"):
        file.write_bytes(text)
        assert whole(opened(file)) == {"a": [], "b": []}


def test_empty_lines_are_left_out(file: Path) -> None:
    file.write_bytes(b"\na,b\n\n1,2\n\n\n3,4\n\n")
    assert whole(opened(file)) == {"a": ["1", "3"], "b": ["2", "4"]}


def test_a_column_without_a_name_is_passed_over(file: Path) -> None:
    file.write_bytes(b'"",a,\n1,2,3\n')
    assert whole(opened(file)) == {"a": ["2"]}


def test_ten_thousand_columns(file: Path) -> None:
    names = [f"variable_{number}" for number in range(10_000)]
    values = [str(number) for number in range(10_000)]
    file.write_text("\n".join([",".join(names), ",".join(values), ""]), encoding="utf-8")
    reader = opened(file)
    assert reader.names() == tuple(names)
    assert whole(reader, ["variable_9999", "variable_0"]) == {
        "variable_9999": ["9999"],
        "variable_0": ["0"],
    }
    assert [one[0] for one in whole(reader).values()] == values


def test_batches_hold_at_most_the_rows_that_are_asked_for(file: Path) -> None:
    file.write_text("n\n" + "".join(f"{n}\n" for n in range(1000)), encoding="utf-8")
    sizes = [batch.num_rows for batch in opened(file).batches(["n"], rows=300)]
    assert max(sizes) <= 300
    assert sum(sizes) == 1000
    assert whole(opened(file), rows=7)["n"] == [str(n) for n in range(1000)]


def test_a_file_of_many_blocks_is_read_in_order(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csvfile, "_BLOCK", 200)
    rows = [[str(n), f"line\n{n}" if n % 7 == 0 else f"x,{n}"] for n in range(500)]
    with file.open("w", encoding="utf-8", newline="") as stream:
        csv.writer(stream).writerows([["n", "t"], *rows])
    found = whole(opened(file))
    assert found == {"n": [row[0] for row in rows], "t": [row[1] for row in rows]}


def test_several_files_are_read_as_one_whatever_the_order_of_their_columns(tmp_path: Path) -> None:
    first, second = tmp_path / "one.csv", tmp_path / "two.csv"
    first.write_bytes(b"a,b\n1,2\n")
    second.write_bytes(b"b;a\n4;3\n")
    assert whole(opened(first, second)) == {"a": ["1", "3"], "b": ["2", "4"]}


def test_files_with_other_columns_do_not_belong_together(tmp_path: Path) -> None:
    first, second = tmp_path / "one.csv", tmp_path / "two.csv"
    first.write_bytes(b"a,b\n1,2\n")
    second.write_bytes(b"a,c\n1,2\n")
    message = refusal(first, second)
    assert "two.csv" in message
    assert "'b'" in message
    assert "'c'" in message


def test_a_row_with_too_few_or_too_many_fields_is_named_as_a_spreadsheet_numbers_it(
    file: Path,
) -> None:
    file.write_bytes(b'a,b,c\n1,"two\nlines",3\n1,SECRET\n')
    message = refusal(file)
    assert "row 3 has 2 fields, the header has 3" in message
    assert "SECRET" not in message
    file.write_bytes(b"a,b\n1,2\n3,4\n5,6,SECRET\n")
    message = refusal(file, columns=["a"])
    assert "row 4 has 3 fields, the header has 2" in message
    assert "SECRET" not in message


def test_a_file_that_is_cut_off_inside_quotation_marks_is_refused(file: Path) -> None:
    for text in (b'a,b\n1,"two', b'a,b\n1,2\n3,"four\n5,6\n', b'a\n"'):
        file.write_bytes(text)
        assert "ends inside a quoted field" in refusal(file)
    file.write_bytes(b'a,b\n"1,2\n3,4\n')
    assert "every quotation mark is closed" in refusal(file)
    file.write_bytes(b'a,b\n1,"two')
    assert "ends inside a quoted field" in refusal(file, columns=["a"])


def test_a_bad_row_in_a_wrong_encoding_is_still_named(file: Path) -> None:
    file.write_bytes(b"a,b\n1,2\n\xff\xe9\n")
    assert "row 3 has 1 field" in refusal(file)


def test_a_quotation_mark_inside_an_unquoted_field_is_just_a_character(file: Path) -> None:
    file.write_bytes(b'a,b\n5" pipe,x"y"\n')
    assert whole(opened(file)) == {"a": ['5" pipe'], "b": ['x"y"']}


def test_a_quotation_mark_that_swallows_the_file_is_refused(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(csvfile, "_BLOCK", 1 << 16)
    file.write_bytes(b'a,b\n"1,2\n' + b"3,4\n" * 100_000 + b'5,"6\n')
    assert "quotation mark" in refusal(file)


def test_wrong_encoding_is_named_with_place_and_remedy(file: Path) -> None:
    file.write_bytes("a,b\n1,x\n2,José\n".encode("latin-1"))
    message = refusal(file)
    assert "byte 14 (line 3)" in message
    assert 'encoding = "cp1252"' in message
    assert whole(opened(file), ["a"]) == {"a": ["1", "2"]}
    assert whole(opened(file, encoding="cp1252"))["b"] == ["x", "José"]


def test_a_header_in_another_encoding_is_named_too(file: Path) -> None:
    file.write_bytes("año,b\n1,x\n".encode("latin-1"))
    message = refusal(file)
    assert "byte 2 (line 1)" in message


def test_bytes_that_the_encoding_does_not_have_are_named(file: Path) -> None:
    file.write_bytes(b"a,b\n1,2\n3,\x81\n")
    message = refusal(file, encoding="cp1252")
    assert "byte 11 (line 3)" in message
    assert 'encoding = "utf-8"' in message


def test_utf16_read_as_utf8_is_told_to_try_utf16(file: Path) -> None:
    file.write_bytes("a,b\n1,2\n".encode("utf-16"))
    assert 'encoding = "utf-16"' in refusal(file)
    file.write_bytes("a,b\n1,2\n".encode("utf-16-le"))
    assert 'encoding = "utf-16"' in refusal(file)


def test_utf8_with_its_mark_is_not_read_as_something_else(file: Path) -> None:
    file.write_bytes("a,b\n1,é\n".encode("utf-8-sig"))
    assert 'encoding = "utf-8"' in refusal(file, encoding="latin-1")


def test_nul_characters_are_refused(file: Path) -> None:
    for text in (b"a,b\n1,\0\n", b"a\0,b\n1,2\n", b"\0\0\0\0"):
        file.write_bytes(text)
        assert "NUL" in refusal(file)
    file.write_bytes("a,b\n1,\0\n".encode("utf-16"))
    assert "NUL" in refusal(file, encoding="utf-16")


@pytest.mark.parametrize("encoding", ["klingon", "hex", "rot13", "undefined", ""])
def test_what_is_no_text_encoding_is_refused(file: Path, encoding: str) -> None:
    file.write_bytes(b"a,b\n1,2\n")
    assert "encoding" in refusal(file, encoding=encoding)


def test_columns_of_the_same_name_are_refused(file: Path) -> None:
    file.write_bytes(b"a,b, a\n1,2,3\n")
    assert "columns 1 and 3 have the same name 'a'" in refusal(file)


def test_a_header_without_names_is_refused(file: Path) -> None:
    for text in (b"\n\n", b",,\n1,2,3\n", codecs.BOM_UTF8, b" \n"):
        file.write_bytes(text)
        assert "no column names" in refusal(file)


def test_a_header_whose_quotation_marks_do_not_match_is_refused(file: Path) -> None:
    for text in (b'"a,b\n1,2\n', b'"a"x,b\n1,2\n'):
        file.write_bytes(text)
        assert "quotation marks of the header" in refusal(file)


def test_a_column_that_does_not_exist_is_refused_with_the_nearest_names(file: Path) -> None:
    file.write_bytes(b"P05_AGE,sex\n1,2\n")
    message = refusal(file, columns=["P05_AEG"])
    assert message.startswith("persons.csv: There is no column 'P05_AEG'.")
    assert "'P05_AGE'" in message
    assert "at least one" in refusal(file, columns=[])


def test_a_reader_can_be_read_again_and_left_half_way(file: Path) -> None:
    file.write_text("n\n" + "".join(f"{n}\n" for n in range(1000)), encoding="utf-8")
    reader = opened(file)
    half = reader.batches(["n"], rows=10)
    assert next(half).num_rows == 10
    del half
    assert len(whole(reader)["n"]) == 1000
    file.unlink()  # nothing holds the file open


def test_txt_and_tsv_are_csv(tmp_path: Path) -> None:
    for ending in ("txt", "tsv"):
        path = tmp_path / f"persons.{ending}"
        path.write_bytes(b"a\tb\n1\t2\n")
        assert whole(opened(path, format=FileFormat.CSV)) == {"a": ["1"], "b": ["2"]}


def test_the_mark_with_which_dos_ended_texts_is_left_out(file: Path) -> None:
    for encoding in ("utf-8", "cp850"):
        file.write_bytes("a,b\r\nñ,2\r\n\x1a".encode(encoding))
        assert whole(opened(file, encoding=encoding)) == {"a": ["ñ"], "b": ["2"]}
