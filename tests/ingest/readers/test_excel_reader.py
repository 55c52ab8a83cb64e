from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
import xlsxwriter

from sdcensus.ingest.readers import ColumnKind
from tests.ingest.readers.helpers import opened, refusal, whole


def _workbook(path: Path, sheets: Mapping[str, Sequence[Sequence[Any]]]) -> Path:
    book = xlsxwriter.Workbook(path, {"default_date_format": "yyyy-mm-dd hh:mm:ss"})
    for name, rows in sheets.items():
        sheet = book.add_worksheet(name)
        for at, row in enumerate(rows):
            for place, value in enumerate(row):
                if isinstance(value, str):
                    sheet.write_string(at, place, value)
                elif value is not None:
                    sheet.write(at, place, value)
    book.close()
    return path


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "codes.xlsx"


def test_columns_are_integers_decimals_or_text_throughout(file: Path) -> None:
    _workbook(
        file,
        {
            "Persons": [
                ["ed", "age", "weight", "mixed", "flag", "empty"],
                ["0412", 37, 1.5, 3, True, None],
                ["0413", None, 2, "x", False, " "],
                [" ", 0, None, 2.5, None, None],
            ]
        },
    )
    reader = opened(file)
    assert {column.name: column.kind for column in reader.columns()} == {
        "ed": ColumnKind.TEXT,
        "age": ColumnKind.INTEGER,
        "weight": ColumnKind.DECIMAL,
        "mixed": ColumnKind.TEXT,
        "flag": ColumnKind.INTEGER,
        "empty": ColumnKind.INTEGER,
    }
    assert reader.rows() == 3
    assert whole(reader) == {
        "ed": ["0412", "0413", None],
        "age": [37, None, 0],
        "weight": [1.5, 2.0, None],
        "mixed": ["3", "x", "2.5"],
        "flag": [1, 0, None],
        "empty": [None, None, None],
    }


def test_dates_are_iso_text(file: Path) -> None:
    rows: list[list[Any]] = [
        ["d"],
        [datetime.date(2021, 4, 1)],
        [datetime.datetime(2021, 4, 1, 13, 5)],
        [5],
    ]
    _workbook(file, {"A": rows})
    assert whole(opened(file)) == {"d": ["2021-04-01", "2021-04-01T13:05:00", "5"]}


def test_the_sheet_can_be_chosen_and_is_the_first_otherwise(file: Path) -> None:
    _workbook(file, {"One": [["a"], [1]], "Two": [["b"], [2]]})
    assert whole(opened(file)) == {"a": [1]}
    assert whole(opened(file, sheet="Two")) == {"b": [2]}
    message = refusal(file, sheet="Twoo")
    assert "There is no sheet 'Twoo'" in message
    assert "'Two'" in message


def test_empty_rows_and_columns_without_a_name_are_passed_over(file: Path) -> None:
    rows: list[list[Any]] = [
        [None],
        ["a", None, "b"],
        [1, "note", 2],
        [None, None, None],
        [3, None, 4],
    ]
    _workbook(file, {"A": rows})
    assert whole(opened(file)) == {"a": [1, 3], "b": [2, 4]}


def test_only_a_header_means_no_rows(file: Path) -> None:
    _workbook(file, {"A": [["a", "b"]]})
    assert whole(opened(file)) == {"a": [], "b": []}
    assert opened(file).rows() == 0


def test_batches_hold_at_most_the_rows_asked_for(file: Path) -> None:
    _workbook(file, {"A": [["n"], *[[number] for number in range(50)]]})
    assert max(batch.num_rows for batch in opened(file).batches(["n"], rows=8)) == 8
    assert whole(opened(file), rows=8) == {"n": list(range(50))}


def test_several_workbooks_are_read_as_one(tmp_path: Path) -> None:
    first = _workbook(tmp_path / "1.xlsx", {"A": [["a", "b"], [1, 1]]})
    second = _workbook(tmp_path / "2.xlsx", {"A": [["b", "a"], ["x", 2]]})
    assert whole(opened(first, second)) == {"a": [1, 2], "b": ["1", "x"]}


def test_what_is_wrong_is_said(file: Path) -> None:
    _workbook(file, {"A": [["a", "b", "a"], [1, 2, 3]]})
    assert "columns 1 and 3 have the same name 'a'" in refusal(file)
    _workbook(file, {"A": []})
    assert "the sheet is empty" in refusal(file)
    _workbook(file, {"A": [["age"], [1]]})
    assert "'age'" in refusal(file, columns=["aeg"])


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.95])
def test_a_workbook_that_is_cut_off_is_refused(file: Path, kept: float) -> None:
    _workbook(file, {"A": [["a"], *[[number] for number in range(500)]]})
    content = file.read_bytes()
    file.write_bytes(content[: int(len(content) * kept)])
    assert "cannot be read" in refusal(file)


def test_a_zip_archive_that_is_no_workbook_is_refused(file: Path) -> None:
    file.write_bytes(b"PK\x03\x04" + b"\0" * 200)
    assert "cannot be read" in refusal(file)
    for ending in ("xls", "ods"):
        other = file.with_suffix(f".{ending}")
        other.write_bytes(b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1" + b"\1" * 2000)
        assert "cannot be read" in refusal(other)
